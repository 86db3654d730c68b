//! NVIDIA NVBench's JSON: lists or maps of named things, depending on its age, and numbers as text beside their type.

use super::json::{self, Document};
use super::tally::{SECOND, Tally, label, quoted};
use super::value::{number, text};
use super::{FormatError, Written};
use crate::metric::Metric;
use crate::profile::{Format, Profile};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// States are in lists in benchmarks in a list in the document.
const DEPTH: usize = 4;

/// The newest major version of the file that is known; the oldest files have none.
const VERSION: u64 = 1;

/// A quantity of a state, and where it is told.
struct Quantity {
    name: &'static str,
    metric: fn() -> Metric,
    /// From seconds, or events a second, to the metric's unit.
    scale: f64,
    /// Summaries that name a file with each sample.
    samples: &'static [&'static str],
    /// Summaries that hold the mean, newest first.
    means: &'static [&'static str],
}

const QUANTITIES: [Quantity; 5] = [
    Quantity {
        name: "gpu_time",
        metric: Metric::time,
        scale: SECOND,
        samples: &["nv/json/bin:nv/cold/sample_times"],
        means: &["nv/cold/time/gpu/mean", "Average GPU Time (Cold)"],
    },
    Quantity {
        name: "cpu_time",
        metric: Metric::time,
        scale: SECOND,
        samples: &["nv/json/bin:nv/cpu_only/sample_times"],
        means: &[
            "nv/cold/time/cpu/mean",
            "nv/cpu_only/time/cpu/mean",
            "Average CPU Time (Cold)",
        ],
    },
    Quantity {
        name: "batch_gpu_time",
        metric: Metric::time,
        scale: SECOND,
        samples: &[],
        means: &[
            "nv/batch/time/gpu/mean",
            "Average GPU Time (Hot)",
            "Average GPU Time (Batch)",
        ],
    },
    Quantity {
        name: "items_per_second",
        metric: Metric::rate,
        scale: 1.0,
        samples: &[],
        means: &[
            "nv/cold/bw/item_rate",
            "nv/cpu_only/bw/item_rate",
            "Element Throughput",
        ],
    },
    Quantity {
        name: "bytes_per_second",
        metric: Metric::rate,
        scale: 1.0,
        samples: &[],
        means: &[
            "nv/cold/bw/global/bytes_per_second",
            "nv/cpu_only/bw/global/bytes_per_second",
            "Average Global Memory Throughput",
        ],
    },
];

/// How a benchmark is measured: when samples are enough, and what comes before them.
const PROTOCOL: [&str; 8] = [
    "min_samples",
    "min_time",
    "max_noise",
    "cold_warmup_runs",
    "cold_max_warmup_walltime",
    "batch_target_time",
    "skip_time",
    "timeout",
];

/// How fast the GPU ran meanwhile. It is measured, so no setting, and worth a look where times differ.
const CLOCK: &str = "nv/cold/sm_clock_rate/mean";

/// Other keys of a benchmark that are known.
const OF_BENCHMARK: [&str; 5] = ["name", "index", "devices", "axes", "states"];

/// Other keys of a state that are known.
const OF_STATE: [&str; 9] = [
    "name",
    "index",
    "description",
    "device",
    "type_config_index",
    "axis_values",
    "summaries",
    "is_skipped",
    "skip_reason",
];

/// For each state the time on the GPU and on the host, the time in batches, and rates: every sample where there is a
/// file with them (`--jsonbin`), the mean otherwise, whose id says so: `copy/T=I32/gpu_time/mean`.
///
/// # Errors
/// [`FormatError::Foreign`] and [`FormatError::Nothing`].
pub(super) fn read(written: Written<'_>) -> Result<Profile, FormatError> {
    let foreign = |found: String| FormatError::Foreign {
        format: Format::Nvbench,
        found,
    };
    let document = json::read(written.bytes, DEPTH).map_err(foreign)?;
    let Document {
        value: root,
        cut,
        incidents,
    } = document;
    let benchmarks = named(root.get("benchmarks"));
    let with_states = benchmarks
        .iter()
        .any(|(_, benchmark)| benchmark.get("states").is_some());
    if !with_states && !cut {
        return Err(foreign("JSON without `benchmarks` that have `states`".to_owned()));
    }
    let mut tally = Tally::new(incidents);
    about(&root, &mut tally);
    let used: Vec<Vec<String>> = benchmarks
        .iter()
        .map(|(_, benchmark)| devices_of(benchmark))
        .collect();
    devices(&root, &used, &mut tally);
    let mut beside = Beside {
        written,
        asked: HashSet::new(),
    };
    for ((name, benchmark), used) in benchmarks.into_iter().zip(used) {
        let protocol: BTreeMap<String, String> = PROTOCOL
            .into_iter()
            .filter_map(|key| Some((key.to_owned(), benchmark.get(key).and_then(text)?)))
            .collect();
        if !tally.record(&format!("{}/", label(name)), protocol) {
            continue;
        }
        unknown(benchmark, &[&PROTOCOL, &OF_BENCHMARK], name, &mut tally);
        for (own_name, state) in named(benchmark.get("states")) {
            let id = id(name, own_name, used.len() > 1, state);
            unknown(state, &[&PROTOCOL, &OF_STATE], &id, &mut tally);
            if state.get("is_skipped").and_then(Value::as_bool) == Some(true) {
                let reason = state.get("skip_reason").and_then(Value::as_str);
                tally.incident(format!(
                    "`{id}` was skipped: {}",
                    quoted(reason.unwrap_or("no reason is told"))
                ));
            } else {
                quantities(&id, state, &mut beside, &mut tally);
            }
        }
    }
    tally.finish(Format::Nvbench)
}

/// Named things, however this version wrote them: a list of objects that hold their name, a map, or `null` for none.
fn named(things: Option<&Value>) -> Vec<(&str, &Value)> {
    match things {
        Some(Value::Array(list)) => list.iter().map(|thing| (own_name(thing), thing)).collect(),
        Some(Value::Object(map)) => map.iter().map(|(name, thing)| (name.as_str(), thing)).collect(),
        _ => Vec::new(),
    }
}

/// A summary's tag, which is older as its name; a state's name, which is older as its description.
fn own_name(thing: &Value) -> &str {
    ["tag", "name", "description"]
        .iter()
        .find_map(|key| thing.get(key)?.as_str())
        .unwrap_or_default()
}

/// One named value of a summary.
fn datum<'a>(summary: &'a Value, name: &str) -> Option<&'a Value> {
    let data = summary
        .get("data")
        .or_else(|| summary.get("values"))
        .unwrap_or(summary);
    let mut data = named(Some(data)).into_iter();
    data.find(|(own_name, _)| *own_name == name)?.1.get("value")
}

/// The version of the file and of the library.
fn about(root: &Value, tally: &mut Tally) {
    let version = root.pointer("/meta/version/json/major").and_then(Value::as_u64);
    if let Some(version) = version.filter(|version| *version > VERSION) {
        tally.incident(format!(
            "the file has version {version}, which is newer than {VERSION}: some of it may be misunderstood"
        ));
    }
    if let Some(library) = root.pointer("/meta/version/nvbench/string") {
        tally.setting("nvbench", library);
    }
    unknown(root, &[&["meta", "devices", "benchmarks"]], "", tally);
}

/// What is told about the devices that were used.
fn devices(root: &Value, used: &[Vec<String>], tally: &mut Tally) {
    let used: BTreeSet<&String> = used.iter().flatten().collect();
    for device in root
        .get("devices")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let Some(id) = device.get("id").and_then(text).filter(|id| used.contains(id)) else {
            continue;
        };
        let prefix = if used.len() == 1 {
            "device".to_owned()
        } else {
            format!("device {}", label(&id))
        };
        for (key, value) in device.as_object().into_iter().flatten() {
            if key != "id" {
                tally.setting(&format!("{prefix}/{}", label(key)), value);
            }
        }
    }
}

/// Numbers of the devices that a benchmark ran on.
fn devices_of(benchmark: &Value) -> Vec<String> {
    let devices = benchmark.get("devices").and_then(Value::as_array);
    devices.into_iter().flatten().filter_map(text).collect()
}

/// The benchmark, the values of its axes, and the device where there are `several`.
fn id(name: &str, own_name: &str, several: bool, state: &Value) -> String {
    let device = state.get("device").and_then(text);
    let device = device
        .filter(|_| several)
        .map(|device| format!("Device={device}"));
    let axes = named(state.get("axis_values")).into_iter().map(|(axis, value)| {
        let value = value.get("value").and_then(text);
        format!("{axis}={}", value.as_deref().unwrap_or("null"))
    });
    let point: Vec<String> = device.into_iter().chain(axes).collect();
    let name = label(name);
    match (point.is_empty(), own_name) {
        (false, _) => format!("{name}/{}", label(&point.join(","))),
        (true, own_name) if !own_name.is_empty() && state.get("axis_values").is_none() => {
            format!("{name}/{}", label(own_name))
        }
        (true, _) => name,
    }
}

/// Everything that one state measured.
fn quantities(id: &str, state: &Value, beside: &mut Beside<'_>, tally: &mut Tally) {
    let summaries = named(state.get("summaries"));
    let find = |tags: &[&str]| {
        let mut tags = tags.iter();
        tags.find_map(|wanted| summaries.iter().find(|(tag, _)| tag == wanted))
            .map(|(_, summary)| *summary)
    };
    for quantity in &QUANTITIES {
        let reading = format!("{id}/{}", quantity.name);
        let samples = find(quantity.samples).and_then(|summary| samples(&reading, summary, beside, tally));
        if let Some(samples) = samples {
            for sample in samples {
                tally.add(&reading, (quantity.metric)(), f64::from(sample) * quantity.scale);
            }
        } else if let Some(mean) = find(quantity.means).and_then(|summary| datum(summary, "value")) {
            // What is no number, as after no sample at all, was `null` before it was text.
            let mean = number(mean).unwrap_or(f64::NAN);
            let reading = format!("{reading}/mean");
            tally.add(&reading, (quantity.metric)(), mean * quantity.scale);
        }
    }
    for (tag, summary) in &summaries {
        let value = datum(summary, "value").unwrap_or(summary);
        if *tag == CLOCK {
            tally.unknown(format!("{id}/sm_clock_rate"), value.clone());
        } else if !is_own(tag) {
            tally.unknown(format!("{id}/{tag}"), value.clone());
        }
    }
}

/// The samples of a summary in seconds: little-endian `f32` in a file of their own. Absent, with an incident, if they
/// cannot be this state's. What does not tell how many there are names no file that is looked for.
fn samples(reading: &str, summary: &Value, beside: &mut Beside<'_>, tally: &mut Tally) -> Option<Vec<f32>> {
    let name = datum(summary, "filename")?.as_str()?;
    let file = quoted(name);
    let told = datum(summary, "size")
        .and_then(text)
        .and_then(|size| size.parse::<usize>().ok());
    let Some(told) = told else {
        tally.incident(format!(
            "how many samples of `{reading}` are in `{file}` is not told: their mean was read"
        ));
        return None;
    };
    let Some(bytes) = beside.read(name) else {
        tally.incident(format!(
            "the samples of `{reading}` are not there (`{file}`): their mean was read"
        ));
        return None;
    };
    let (samples, rest) = bytes.as_chunks::<4>();
    if samples.len() > told {
        tally.incident(format!(
            "`{file}` holds {} samples where `{reading}` has {told}: it is from another run, and the mean was read",
            samples.len()
        ));
        return None;
    }
    if samples.len() < told || !rest.is_empty() {
        tally.incident(format!(
            "`{file}` is cut off: {} of {told} samples were read",
            samples.len()
        ));
    }
    (!samples.is_empty()).then(|| samples.iter().copied().map(f32::from_le_bytes).collect())
}

/// Files beside the first one.
struct Beside<'a> {
    written: Written<'a>,
    /// Names that were asked for. A file belongs to one state: who names it again is given nothing, or else few bytes
    /// could fill the memory.
    asked: HashSet<String>,
}

impl Beside<'_> {
    /// NVBench writes names as seen from where it ran. So if the JSON was written to another folder, or was moved, only
    /// the last folder and the file are as they were.
    fn read(&mut self, name: &str) -> Option<Vec<u8>> {
        self.once(name).or_else(|| {
            let (at, _) = name.rmatch_indices(['/', '\\']).nth(1)?;
            self.once(&name[at + 1..])
        })
    }

    fn once(&mut self, name: &str) -> Option<Vec<u8>> {
        let is_new = self.asked.insert(name.to_owned());
        is_new.then(|| (self.written.beside)(name))?
    }
}

/// Whether a summary is one of NVBench's own: sizes, spreads, clocks and the like.
fn is_own(tag: &str) -> bool {
    ["nv/cold/", "nv/batch/", "nv/cpu_only/", "nv/json/"]
        .iter()
        .any(|prefix| tag.starts_with(prefix))
        || ["(Cold)", "(Hot)", "(Batch)"]
            .iter()
            .any(|suffix| tag.ends_with(suffix))
        || tag == "Percent Peak Global Memory Throughput"
        || QUANTITIES.iter().any(|quantity| quantity.means.contains(&tag))
}

/// Keeps the keys of an object that are in none of the lists.
fn unknown(thing: &Value, known: &[&[&str]], path: &str, tally: &mut Tally) {
    for (key, value) in thing.as_object().into_iter().flatten() {
        if !known.iter().any(|known| known.contains(&key.as_str())) {
            let path = if path.is_empty() {
                key.clone()
            } else {
                format!("{path}/{key}")
            };
            tally.unknown(path, value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tally::testing::{alone, cut_anywhere, readings, settings, unknown};
    use super::*;
    use crate::metric::Unit;

    const LISTS: &[u8] = include_bytes!("../../../tests/fixtures/formats/nvbench/lists-2021.json");
    const MAPS: &[u8] = include_bytes!("../../../tests/fixtures/formats/nvbench/maps-2021.json");
    const VERSION_1: &[u8] = include_bytes!("../../../tests/fixtures/formats/nvbench/version-1.json");
    const SAMPLES: &[u8] = include_bytes!("../../../tests/fixtures/formats/nvbench/samples.json");
    const TIMES: &[u8] = include_bytes!("../../../tests/fixtures/formats/nvbench/samples.json-bin/0.bin");
    const CUT: &[u8] = include_bytes!("../../../tests/fixtures/formats/nvbench/cut.json");

    const MOVED: &str = "samples.json-bin/0.bin";
    const AS_WRITTEN: &str = "out/samples.json-bin/0.bin";

    /// Reads the file with samples, where the file with times is at `name`.
    fn with_times(name: &str, times: &[u8]) -> Profile {
        read(Written {
            bytes: SAMPLES,
            beside: &|asked: &str| (asked == name).then(|| times.to_vec()),
        })
        .unwrap()
    }

    #[test]
    fn numbers_are_read_although_they_are_text() {
        let profile = alone(read, VERSION_1).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                (
                    "softmax/Device=0,T=F16,Columns=4096/gpu_time/mean",
                    Unit::Ns,
                    vec![61_035.156_25]
                ),
                (
                    "softmax/Device=0,T=F16,Columns=4096/cpu_time/mean",
                    Unit::Ns,
                    vec![122_070.312_5]
                ),
                (
                    "softmax/Device=0,T=F16,Columns=4096/batch_gpu_time/mean",
                    Unit::Ns,
                    vec![30_517.578_125]
                ),
                (
                    "softmax/Device=0,T=F16,Columns=4096/bytes_per_second/mean",
                    Unit::PerSecond,
                    vec![4.398e12]
                ),
            ]
        );
    }

    #[test]
    fn a_state_that_was_skipped_and_one_without_samples_are_incidents() {
        let profile = alone(read, VERSION_1).unwrap();
        assert_eq!(
            profile.incidents,
            [
                "`softmax/Device=1,T=F16,Columns=4096` was skipped: Deadlock detected: missing \
                 nvbench::exec_tag::sync?",
                "1 of 1 values of `throttled/gpu_time/mean` left out: no numbers above zero",
            ]
        );
    }

    #[test]
    fn the_devices_that_were_used_and_how_samples_were_taken_are_settings() {
        let profile = alone(read, VERSION_1).unwrap();
        assert_eq!(
            settings(&profile),
            [
                ("device 0/ecc_state", "true"),
                ("device 0/name", "NVIDIA H200"),
                ("device 0/sm_default_clock_rate", "1980000000"),
                ("device 0/sm_version", "900"),
                ("device 1/ecc_state", "false"),
                ("device 1/name", "NVIDIA H200"),
                ("device 1/sm_default_clock_rate", "1980000000"),
                ("device 1/sm_version", "900"),
                ("nvbench", "0.1.0"),
                ("softmax/max_noise", "0.005"),
                ("softmax/min_samples", "10"),
                ("softmax/min_time", "0.5"),
                ("softmax/skip_time", "-1"),
                ("softmax/timeout", "15"),
                ("throttled/max_noise", "0.005"),
                ("throttled/min_samples", "10"),
                ("throttled/min_time", "0.5"),
                ("throttled/skip_time", "-1"),
                ("throttled/timeout", "15"),
            ]
        );
    }

    #[test]
    fn summaries_and_keys_that_nobody_knows_are_kept() {
        let profile = alone(read, VERSION_1).unwrap();
        assert_eq!(
            unknown(&profile),
            ["softmax/Device=0,T=F16,Columns=4096/softmax/registers"]
        );
        let kept = profile.unknown.values().next().unwrap();
        assert_eq!(kept, &Value::from("40"));
        let profile = with_times(MOVED, TIMES);
        assert_eq!(
            unknown(&profile),
            ["decode/sm_clock_rate", "decode/stream_priority"]
        );
    }

    #[test]
    fn how_fast_the_gpu_ran_is_kept_and_no_setting() {
        let profile = with_times(MOVED, TIMES);
        assert_eq!(profile.unknown["decode/sm_clock_rate"], "1905000000");
        assert!(
            settings(&profile)
                .iter()
                .all(|(key, _)| !key.contains("sm_clock_rate"))
        );
    }

    #[test]
    fn the_oldest_files_have_maps_and_lists_of_plain_numbers() {
        let profile = alone(read, LISTS).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("copy/BlockSize=256/gpu_time/mean", Unit::Ns, vec![488_281.25]),
                ("copy/BlockSize=256/cpu_time/mean", Unit::Ns, vec![976_562.5]),
            ]
        );
        assert_eq!(profile.settings["device/name"], "Tesla V100");
        assert_eq!(unknown(&profile), [""; 0]);
        assert_eq!(
            profile.incidents,
            ["1 of 1 values of `copy/BlockSize=256/batch_gpu_time/mean` left out: no numbers above zero"],
            "what is no number was `null`"
        );
    }

    #[test]
    fn files_between_have_maps_of_everything() {
        let profile = alone(read, MAPS).unwrap();
        assert_eq!(
            readings(&profile),
            vec![
                ("copy/T=I32/gpu_time/mean", Unit::Ns, vec![488_281.25]),
                (
                    "copy/T=I32/items_per_second/mean",
                    Unit::PerSecond,
                    vec![2_097_152_000.0]
                ),
            ]
        );
        assert_eq!(unknown(&profile), [""; 0]);
        assert_eq!(profile.incidents, [""; 0]);
    }

    #[test]
    fn samples_beside_the_file_are_read_in_place_of_their_mean() {
        let times = [953.674_316_406_25, 1_430.511_474_609_375, 1_907.348_632_812_5];
        for name in [AS_WRITTEN, MOVED] {
            let profile = with_times(name, TIMES);
            assert_eq!(
                readings(&profile),
                vec![("decode/gpu_time", Unit::Ns, times.to_vec())],
                "{name}"
            );
            assert_eq!(profile.incidents, [""; 0]);
        }
    }

    #[test]
    fn without_its_samples_the_mean_of_a_state_is_read() {
        let profile = alone(read, SAMPLES).unwrap();
        let mean = [1_430.511_474_609_375];
        assert_eq!(
            readings(&profile),
            vec![("decode/gpu_time/mean", Unit::Ns, mean.to_vec())]
        );
        assert_eq!(
            profile.incidents,
            [
                "the samples of `decode/gpu_time` are not there (`out/samples.json-bin/0.bin`): their mean \
                 was read"
            ]
        );
        let of_another_run = [TIMES, TIMES].concat();
        let profile = with_times(MOVED, &of_another_run);
        assert_eq!(
            readings(&profile),
            vec![("decode/gpu_time/mean", Unit::Ns, mean.to_vec())]
        );
        assert_eq!(
            profile.incidents,
            [
                "`out/samples.json-bin/0.bin` holds 6 samples where `decode/gpu_time` has 3: it is from \
                 another run, and the mean was read"
            ]
        );
    }

    #[test]
    fn a_file_is_asked_for_once_and_only_if_its_size_is_told() {
        let state = |size: &str| {
            format!(
                r#"{{"name": "s", "summaries": [
                {{"tag": "nv/json/bin:nv/cold/sample_times",
                "data": [{{"name": "filename", "value": "t.bin"}}{size}]}},
                {{"tag": "nv/cold/time/gpu/mean", "data": [{{"name": "value", "value": "0.5"}}]}}]}}"#
            )
        };
        let read_with = |states: &[String]| {
            let asked = std::cell::Cell::new(0);
            let text = format!(
                r#"{{"benchmarks": [{{"name": "b", "states": [{}]}}]}}"#,
                states.join(", ")
            );
            let profile = read(Written {
                bytes: text.as_bytes(),
                beside: &|_: &str| {
                    asked.set(asked.get() + 1);
                    Some(1.0_f32.to_le_bytes().to_vec())
                },
            });
            (profile.unwrap(), asked.get())
        };
        let (profile, asked) = read_with(&[state("")]);
        assert_eq!(asked, 0);
        assert_eq!(
            readings(&profile),
            vec![("b/s/gpu_time/mean", Unit::Ns, vec![5e8])]
        );
        assert_eq!(
            profile.incidents,
            ["how many samples of `b/s/gpu_time` are in `t.bin` is not told: their mean was read"]
        );
        let sized = state(r#", {"name": "size", "value": "1"}"#);
        let (profile, asked) = read_with(&[sized.clone(), sized]);
        assert_eq!(asked, 1);
        assert_eq!(
            readings(&profile),
            vec![
                ("b/s/gpu_time", Unit::Ns, vec![1e9]),
                ("b/s/gpu_time/mean", Unit::Ns, vec![5e8]),
            ]
        );
        assert_eq!(
            profile.incidents,
            ["the samples of `b/s/gpu_time` are not there (`t.bin`): their mean was read"]
        );
    }

    #[test]
    fn a_second_benchmark_of_the_same_name_is_left_out_if_it_was_measured_in_another_way() {
        let benchmark = |samples: u32, mean: f64| {
            format!(
                r#"{{"name": "b", "min_samples": {samples}, "states": [{{"summaries": [
                {{"tag": "nv/cold/time/gpu/mean", "data": [{{"name": "value", "value": "{mean}"}}]}}]}}]}}"#
            )
        };
        let benchmarks = [benchmark(10, 0.5), benchmark(20, 0.25), benchmark(10, 1.0)].join(", ");
        let text = format!(r#"{{"benchmarks": [{benchmarks}]}}"#);
        let profile = alone(read, text.as_bytes()).unwrap();
        assert_eq!(
            readings(&profile),
            vec![("b/gpu_time/mean", Unit::Ns, vec![5e8, 1e9])]
        );
        assert_eq!(settings(&profile), [("b/min_samples", "10")]);
        assert_eq!(
            profile.incidents,
            ["a record of `b` was left out: its `min_samples` is 20, and 10 in the first"]
        );
    }

    #[test]
    fn of_samples_that_are_cut_off_the_whole_ones_are_read() {
        let profile = with_times(MOVED, &TIMES[..10]);
        let whole = [953.674_316_406_25, 1_430.511_474_609_375];
        assert_eq!(
            readings(&profile),
            vec![("decode/gpu_time", Unit::Ns, whole.to_vec())]
        );
        assert_eq!(
            profile.incidents,
            ["`out/samples.json-bin/0.bin` is cut off: 2 of 3 samples were read"]
        );
    }

    #[test]
    fn a_file_that_is_cut_off_has_the_states_that_were_whole() {
        let profile = alone(read, CUT).unwrap();
        let ids: Vec<&str> = profile
            .readings
            .iter()
            .map(|reading| reading.id.as_str())
            .collect();
        assert_eq!(
            ids,
            [
                "softmax/Device=0,T=F16,Columns=4096/gpu_time/mean",
                "softmax/Device=0,T=F16,Columns=4096/cpu_time/mean",
                "softmax/Device=0,T=F16,Columns=4096/batch_gpu_time/mean",
                "softmax/Device=0,T=F16,Columns=4096/bytes_per_second/mean",
            ]
        );
        assert_eq!(
            profile.incidents,
            ["the file is cut off: what is whole before its end was read"]
        );
    }

    #[test]
    fn a_file_that_is_cut_off_before_its_first_state_has_measured_nothing() {
        let end = VERSION_1
            .windows(8)
            .position(|part| part == b"\"states\"")
            .unwrap();
        let error = alone(read, &VERSION_1[..end]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "nothing was measured in this nvbench: the file is cut off: what is whole before its end was read"
        );
    }

    #[test]
    fn no_cut_anywhere_breaks_what_is_promised() {
        for file in [LISTS, MAPS, VERSION_1, SAMPLES] {
            cut_anywhere(read, file);
        }
    }

    #[test]
    fn other_json_is_foreign() {
        for other in [
            "{}",
            "[]",
            r#"{"benchmarks": [{"name": "BM", "real_time": 1.0}]}"#,
        ] {
            assert_eq!(
                alone(read, other.as_bytes()).unwrap_err().to_string(),
                "this is no nvbench: JSON without `benchmarks` that have `states`"
            );
        }
        assert_eq!(
            alone(read, b"# decode\n\n| Samples |\n").unwrap_err().to_string(),
            "this is no nvbench: text without JSON in it"
        );
    }

    #[test]
    fn things_of_the_wrong_kind_are_absent() {
        let odd = r#"{"meta": {"version": {"json": {"major": 2}}}, "devices": [7], "benchmarks": {"b": {
            "devices": 1, "states": [3, {"summaries": [{"tag": 5, "data": 1}, {"tag": "nv/cold/time/gpu/mean",
            "data": [{"name": "value", "value": "0.5"}]}]}]}}}"#;
        let profile = alone(read, odd.as_bytes()).unwrap();
        assert_eq!(readings(&profile), vec![("b/gpu_time/mean", Unit::Ns, vec![5e8])]);
        assert_eq!(
            profile.incidents,
            ["the file has version 2, which is newer than 1: some of it may be misunderstood"]
        );
    }
}
