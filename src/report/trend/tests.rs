use super::*;
use crate::report::page::unpacked;
use proptest::prelude::*;

#[test]
fn the_terminal_says_what_is_open_first_then_what_was_blessed() {
    insta::assert_snapshot!(text::render(&sample::trend(&[]), &Options::default()));
}

#[test]
fn an_empty_history_says_how_to_begin_one() {
    let empty = Trend {
        commits: Vec::new(),
        series: Vec::new(),
        notes: Vec::new(),
        skipped: Vec::new(),
        ..sample::trend(&[])
    };
    assert_eq!(
        text::render(&empty, &Options::default()),
        "The history holds no measured commit of main.\n`abreast compare HEAD~1 HEAD --keep` begins one.\n"
    );
    for format in [Format::Csv, Format::Html, Format::Svg, Format::Png] {
        assert!(!render(&empty, format).is_empty());
    }
}

#[test]
fn the_table_has_a_line_for_each_level_and_a_cell_for_each_column() {
    let text = String::from_utf8(render(&sample::trend(&[]), Format::Csv)).unwrap();
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<::csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 5 * 60);
    let changes: Vec<&::csv::StringRecord> = rows.iter().filter(|row| !row[15].is_empty()).collect();
    assert_eq!(changes.len(), 4);
    assert_eq!(
        (&changes[1][15], &changes[1][16], &changes[3][21]),
        ("drift", "0.268000", "checks every <index> now")
    );
    insta::assert_snapshot!(text.lines().take(3).collect::<Vec<_>>().join("\n"));
}

fn texts(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{error}: {svg}"));
    let nodes = document.descendants().filter(|node| node.has_tag_name("text"));
    nodes
        .map(|node| node.text().unwrap_or_default().trim().to_owned())
        .collect()
}

#[test]
fn the_overview_shows_what_got_worse_first() {
    let svg = String::from_utf8(render(&sample::trend(&[]), Format::Svg)).unwrap();
    insta::assert_snapshot!(texts(&svg).join("\n"));
}

#[test]
fn a_chart_names_its_scenario_releases_changes_and_breaks() {
    let trend = sample::trend(&[]);
    let names = Names::new(&trend);
    let of = |n: usize| {
        texts(&picture::svg(&chart::Chart::new(
            &trend,
            &trend.series[n],
            &names,
        )))
    };
    insta::assert_snapshot!(of(0).join("\n"));
    assert!(of(4).contains(&"the bench changed".to_owned()), "{:?}", of(4));
}

#[test]
fn pictures_are_the_same_each_time_and_pixels_are_an_image() {
    let trend = sample::trend(&[]);
    assert_eq!(render(&trend, Format::Svg), render(&trend, Format::Svg));
    let image = render(&trend, Format::Png);
    let reader = png::Decoder::new(std::io::Cursor::new(&image))
        .read_info()
        .unwrap();
    assert_eq!(reader.info().width, 1920);
}

#[test]
fn a_folder_has_a_page_a_table_an_overview_and_a_plot_of_each_scenario() {
    let mut names = Vec::new();
    let trend = sample::trend(&["../../etc/passwd", "a b", "\u{202e}"]);
    folder(&trend, |name, content| {
        assert!(!content.is_empty(), "{name}");
        names.push(name.to_owned());
        Ok::<_, ()>(())
    })
    .unwrap();
    assert_eq!(
        names,
        [
            "index.html",
            "trend.csv",
            "overview.svg",
            "overview.png",
            "scenarios/0-etc-passwd.svg",
            "scenarios/0-etc-passwd.png",
            "scenarios/1-a-b.svg",
            "scenarios/1-a-b.png",
            "scenarios/2-u-202e.svg",
            "scenarios/2-u-202e.png"
        ]
    );
}

#[test]
fn the_page_loads_nothing_and_holds_every_level() {
    let page = String::from_utf8(render(&sample::trend(&[]), Format::Html)).unwrap();
    assert!(page.contains("default-src 'none'"));
    let loads = [
        "src=\"http",
        "href=\"http",
        "@import",
        "url(",
        "fetch(",
        "XMLHttpRequest",
        "import(",
    ];
    for load in loads {
        assert!(!page.contains(load), "{load}");
    }
    let data = unpacked(&page);
    let first = &data["series"][0]["stretches"][0];
    assert_eq!(first["level"].as_str().unwrap().split(' ').count(), 60);
    let sum: i64 = first["commits"]
        .as_str()
        .unwrap()
        .split(' ')
        .map(|each| each.parse::<i64>().unwrap())
        .sum();
    assert_eq!(sum, 59);
    assert_eq!(
        data["series"][3]["changes"][0]["blessed"],
        "checks every <index> now"
    );
    assert_eq!(data["series"][4]["stretches"][1]["begins"], "the bench changed");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn whatever_a_bench_is_called_pages_and_pictures_stay_whole(ids in crate::report::hostile::texts()) {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let trend = sample::trend(&ids);
        let svg = String::from_utf8(render(&trend, Format::Svg)).unwrap();
        prop_assert!(roxmltree::Document::parse(&svg).is_ok(), "{}", svg);
        let page = String::from_utf8(render(&trend, Format::Html)).unwrap();
        prop_assert_eq!(page.matches("<script").count(), 3);
        prop_assert_eq!(unpacked(&page)["series"].as_array().unwrap().len(), trend.series.len());
    }
}
