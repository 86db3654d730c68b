//! The walls of the house: which room may see which, and what may not be said where (ARCHITECTURE.md).
//!
//! Rust lets every module of a crate import every other. This reads the sources token by token, so that comments,
//! strings and test code do not count, and prints each line that goes through a wall.
#![expect(clippy::disallowed_methods, reason = "reads the sources")]

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Every room with what it may see: rooms, or single names of a room. A room stands below everything it sees, so the
/// arrows cannot form a circle.
#[rustfmt::skip]
const ARROWS: &[(&str, &[&str])] = &[
    // Nouns.
    ("units", &[]),
    ("last_words", &[]),
    ("layout", &[]),
    ("metric", &[]),
    ("profile", &["metric"]),
    ("revision", &[]),
    ("verdict", &[]),
    ("digest", &[]),
    ("inside", &[]),
    ("run_files", &[]),
    ("claim", &[]),
    ("pull_request", &[]),
    ("workflows", &[]),
    ("bundle", &["digest", "inside"]),
    ("scenario", &["metric"]),
    ("program", &["inside", "metric", "profile", "units"]),
    ("plan", &["program", "revision", "scenario", "units"]),
    ("recording", &["inside", "layout", "plan", "profile", "revision", "scenario"]),
    ("launch", &["metric", "profile", "recording", "revision", "scenario"]),
    ("slot", &["last_words", "layout", "recording", "revision", "scenario"]),
    ("build", &["recording", "scenario"]),
    ("difference", &["build", "recording"]),
    ("bench_source", &["recording"]),
    ("schedule", &["recording", "revision", "scenario"]),
    // Right of the waist: decides, touches nothing. Of a report `judge` sees what it holds, never how it is written.
    ("stats", &[]),
    ("comparison", &["layout", "recording", "revision", "scenario", "stats"]),
    ("history", &["metric", "recording::Host", "scenario", "stats", "units", "verdict"]),
    ("report", &["history", "metric", "recording", "revision", "scenario", "units", "verdict"]),
    ("judge", &["claim", "comparison", "layout::LAYOUTS", "metric", "plan", "profile", "recording", "revision", "scenario", "stats", "units",
        "verdict", "report::Change", "report::Curve", "report::Elapsed", "report::Finding", "report::Method", "report::Report"]),
    ("kept", &["history", "metric", "recording", "report", "revision", "scenario", "stats", "verdict"]),
    ("bisection", &[]),
    ("injection", &[]),
    ("imported", &["launch", "layout", "profile", "recording", "revision", "scenario", "units"]),
    ("qualification", &["comparison", "judge::account::SLOWED", "judge::ruling::PLACE", "metric", "recording", "report", "revision", "scenario",
        "stats", "units", "verdict"]),
    ("comment", &["digest", "pull_request", "report", "verdict"]),
    ("exit", &["qualification", "recording", "report::Report", "verdict"]),
    ("config", &["claim", "exit::FailOn", "plan", "program", "run_files", "units"]),
    // Left of the waist: each touches one outside thing, and decides nothing.
    ("edge::clock", &[]),
    ("edge::process", &[]),
    ("edge::view", &[]),
    ("edge::terminal", &["report::Options"]),
    ("edge::machine", &["recording"]),
    ("edge::store", &["recording"]),
    ("edge::archive", &["bundle", "digest"]),
    ("edge::fleet", &["plan"]),
    ("edge::format", &["metric", "profile"]),
    ("edge::history", &["history"]),
    ("edge::home", &["digest", "recording", "revision"]),
    ("edge::quiet", &["edge::process"]),
    ("edge::criterion", &["edge::process", "last_words", "recording"]),
    ("edge::callgrind", &["edge::criterion", "edge::process", "last_words"]),
    ("edge::cargo", &["edge::process", "build", "last_words", "layout", "plan", "program", "recording", "scenario"]),
    ("edge::git", &["edge::process", "history", "revision"]),
    ("edge::github", &["pull_request"]),
    ("edge::tree", &["edge::git", "inside", "revision"]),
    ("edge", &[]),
    // Put the edges together, or say what happens next.
    ("measure", &["edge::store", "judge", "layout", "plan", "recording", "revision", "scenario", "schedule", "slot", "stats"]),
    ("lab", &["edge", "inside", "last_words", "launch", "layout", "measure::Lab", "measure::LabError", "metric", "plan",
        "profile", "program", "recording", "revision", "scenario", "slot"]),
    ("workshop", &["edge", "bench_source", "build", "bundle", "difference", "layout", "plan", "program", "recording",
        "revision", "run_files", "scenario"]),
    ("pipeline", &["edge", "bisection", "comment", "config", "digest", "exit::Exit", "exit::FailOn", "history", "imported", "injection", "inside", "judge", "kept", "lab", "measure", "plan",
        "profile", "pull_request", "qualification", "revision",
        "recording", "report", "units", "verdict",
        "workflows", "workshop"]),
    ("cli", &["edge", "config", "exit", "history", "pipeline", "profile", "qualification", "report", "units", "workflows"]),
    ("lib", &[]),
    ("main", &["cli"]),
    ("bin", &["cli"]),
];

/// Parts of the standard library that belong to the edges; `main` and `bin` are handed the arguments and the status.
const WORLD: &[&str] = &[
    "std::env",
    "std::fs",
    "std::net",
    "std::os",
    "std::process",
    "std::thread",
];
/// Nor does arithmetic read or wait.
const NOT_IN_STATS: &[&str] = &["std::io", "std::time"];

const LONGEST_FILE: usize = 400;

#[test]
fn the_house_keeps_its_walls() {
    let files = sources("src");
    assert!(files.len() > 50, "only {} sources found", files.len());
    let tests = test_files(&files);
    let broken: Vec<String> = files
        .iter()
        .filter(|(path, _)| !tests.iter().any(|test| path.starts_with(test)))
        .flat_map(|(path, text)| violations(path, text))
        .collect();
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

#[test]
fn the_reference_workload_is_made_of_files_that_can_be_read() {
    let files = sources("kernels/src");
    assert!(files.len() > 50, "only {} sources found", files.len());
    let tests = test_files(&files);
    let broken: Vec<String> = files
        .iter()
        .filter(|(path, _)| !tests.iter().any(|test| path.starts_with(test)))
        .flat_map(|(path, text)| form(path, text))
        .collect();
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

#[test]
fn arrows_cannot_form_a_circle() {
    for (n, (room, seen)) in ARROWS.iter().enumerate() {
        for target in *seen {
            let above = ARROWS[..n].iter().any(|(above, _)| within(target, above));
            assert!(
                above,
                "`{room}` may see `{target}`, which is not above it in the table"
            );
        }
    }
}

#[test]
fn every_rule_notices_what_breaks_it() {
    #[rustfmt::skip]
    let cases = [
        ("src/report/csv.rs", "use crate::stats::quantile::median;", "src/report/csv.rs:2: `report` may not see `stats::quantile::median`"),
        ("src/judge/looks.rs", "use crate::{plan, report::format};", "`judge` may not see `report::format`"),
        ("src/plan.rs", "fn f() -> u8 { g!(crate::judge::x) }", "`plan` may not see `judge::x`"),
        ("src/edge/git/mod.rs", "use super::tree::Tree;", "`edge::git` may not see `edge::tree::Tree`"),
        ("src/lab.rs", "use crate::pipeline::Ask;", "`lab` may not see `pipeline::Ask`"),
        ("src/judge.rs", "mod m { use super::super::edge::store; }", "`judge` may not see `edge::store`"),
        ("src/metric.rs", "use crate::wing::X;", "`metric` may not see `wing::X`"),
        ("src/wing.rs", "", "src/wing.rs:1: `wing` is not in the table of rooms"),
        ("src/stats/student.rs", "use std::time::Duration;", "`stats` may not use `std::time::Duration`"),
        ("src/comparison.rs", "use std::{fs, fmt};", "`comparison` may not use `std::fs`"),
        ("src/plan.rs", "fn f() { unsafe {} }", "src/plan.rs:2: `unsafe`"),
        ("src/plan.rs", "fn f() { g().unwrap() }", "src/plan.rs:2: `unwrap()`"),
        ("src/plan.rs", "#[allow(dead_code)] fn f() {}", "`allow`"),
        ("src/lab.rs", "#![expect(clippy::disallowed_methods)]", "src/lab.rs:2: only src/edge/ touches the world"),
    ];
    for (path, line, expected) in cases {
        let broken = violations(Path::new(path), &format!("//! Doc.\n{line}\n"));
        assert!(
            broken.len() == 1 && broken[0].contains(expected),
            "{line}: {broken:?} instead of {expected}"
        );
    }
    let plan = Path::new("src/plan.rs");
    assert_eq!(
        violations(plan, "// No doc.\n"),
        ["src/plan.rs:1: does not begin with `//!`"]
    );
    let long = format!("//! Doc.\n{}", "\n".repeat(LONGEST_FILE));
    assert_eq!(
        violations(plan, &long),
        ["src/plan.rs: 401 lines before its tests, at most 400"]
    );
}

#[test]
fn what_is_no_code_breaks_no_rule() {
    let innocent = "//! See [`crate::judge`].
        use crate::units::Fraction;
        pub(crate) const TEXT: &str = \"crate::judge unsafe\";
        #[cfg(test)]
        use crate::judge;
        #[expect(clippy::unwrap_used, reason = \"a constant\")]
        fn f() { g().unwrap() }
        #[cfg(test)]
        mod tests { use crate::edge::store; fn t() { x.unwrap() } }";
    assert_eq!(violations(Path::new("src/plan.rs"), innocent), [""; 0]);
    let files = [(PathBuf::from("src/a.rs"), "#[cfg(test)]\nmod tests;\n".to_owned())];
    assert_eq!(
        test_files(&files),
        BTreeSet::from([PathBuf::from("src/a/tests"), PathBuf::from("src/a/tests.rs")])
    );
}

/// What every file has in common: it says what it is for, and is not too long.
fn form(path: &Path, text: &str) -> Vec<String> {
    let shown = path.display();
    let mut broken = Vec::new();
    if !text.starts_with("//!") {
        broken.push(format!("{shown}:1: does not begin with `//!`"));
    }
    let lines = text
        .split("#[cfg(test)]\nmod tests")
        .next()
        .map_or(0, |code| code.lines().count());
    if lines > LONGEST_FILE {
        broken.push(format!(
            "{shown}: {lines} lines before its tests, at most {LONGEST_FILE}"
        ));
    }
    broken
}

/// Everything in one file that a rule forbids, as `path:line: what`.
fn violations(path: &Path, text: &str) -> Vec<String> {
    let shown = path.display();
    let mut broken = form(path, text);
    let module = module(path);
    let own = room(&module);
    let Some((_, seen)) = ARROWS.iter().find(|(room, _)| *room == own) else {
        broken.push(format!("{shown}:1: `{own}` is not in the table of rooms"));
        return broken;
    };
    let code: TokenStream = text.parse().unwrap_or_else(|error| panic!("{shown}: {error}"));
    let mut said = Vec::new();
    read(code, &module, &mut said);
    for (line, what) in said {
        let found = match what {
            Said::Path(path) if path[0] == "std" => {
                let path = path.join("::");
                let stats = own == "stats" && NOT_IN_STATS.iter().any(|part| within(&path, part));
                let world = WORLD.iter().any(|part| within(&path, part));
                let free = own.starts_with("edge") || own == "main" || own == "bin";
                (stats || world && !free).then(|| format!("`{own}` may not use `{path}`"))
            }
            Said::Path(path) if room(&path) == own => None,
            Said::Path(path) => {
                let path = path.join("::");
                let allowed = seen.iter().any(|room| within(&path, room));
                (!allowed).then(|| format!("`{own}` may not see `{path}`"))
            }
            Said::Wall if own.starts_with("edge") => None,
            Said::Wall => Some("only src/edge/ touches the world".to_owned()),
            Said::Word(word) => Some(format!("`{word}`")),
        };
        if let Some(what) = found {
            let source = text.lines().nth(line - 1).unwrap_or_default().trim();
            broken.push(format!("{shown}:{line}: {what}\n    {source}"));
        }
    }
    broken
}

/// What code says that some rule is about.
enum Said {
    /// A path of the crate from its root, or one that begins with `std`.
    Path(Vec<String>),
    /// A lint that guards the world is lifted.
    Wall,
    /// A word that nobody may use.
    Word(&'static str),
}

/// Reads code that is part of the program, item after item.
fn read(code: TokenStream, module: &[String], said: &mut Vec<(usize, Said)>) {
    let tokens: Vec<TokenTree> = code.into_iter().collect();
    let mut n = 0;
    while n < tokens.len() {
        let rest = &tokens[n..];
        n += match rest {
            [TokenTree::Punct(hash), TokenTree::Group(attribute), ..]
                if hash.as_char() == '#' && attribute.to_string().replace(' ', "") == "[cfg(test)]" =>
            {
                length_of_item(rest)
            }
            [TokenTree::Punct(hash), TokenTree::Group(attribute), ..]
                if hash.as_char() == '#' && attribute.to_string().contains("unwrap_used") =>
            {
                length_of_item(rest)
            }
            [
                TokenTree::Ident(name),
                TokenTree::Ident(inner),
                TokenTree::Group(body),
                ..,
            ] if name == "mod" && body.delimiter() == Delimiter::Brace => {
                let inner: Vec<String> = module.iter().cloned().chain([inner.to_string()]).collect();
                read(body.stream(), &inner, said);
                3
            }
            [
                TokenTree::Punct(dot),
                TokenTree::Ident(name),
                TokenTree::Group(arguments),
                ..,
            ] if dot.as_char() == '.' && name == "unwrap" && arguments.stream().is_empty() => {
                said.push((name.span().start().line, Said::Word("unwrap()")));
                3
            }
            [TokenTree::Ident(first), ..] => {
                let line = first.span().start().line;
                match first.to_string().as_str() {
                    "unsafe" => said.push((line, Said::Word("unsafe"))),
                    "allow" => said.push((line, Said::Word("allow"))),
                    _ => {}
                }
                let (paths, length) = paths(rest);
                if paths.iter().flatten().any(|part| part == "disallowed_methods") {
                    said.push((line, Said::Wall));
                }
                said.extend(
                    paths
                        .into_iter()
                        .filter_map(|path| Some((line, Said::Path(resolve(path, module)?)))),
                );
                length.max(1)
            }
            [TokenTree::Group(group), ..] => {
                read(group.stream(), module, said);
                1
            }
            _ => 1,
        };
    }
}

/// Tokens up to the end of the item or statement that begins here.
fn length_of_item(tokens: &[TokenTree]) -> usize {
    let ends = |token: &TokenTree| match token {
        TokenTree::Punct(punct) => punct.as_char() == ';',
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        _ => false,
    };
    tokens.iter().position(ends).map_or(tokens.len(), |end| end + 1)
}

/// The paths `a::b`, or `a::{b, c::d}`, that begin here, and how many tokens they take.
fn paths(tokens: &[TokenTree]) -> (Vec<Vec<String>>, usize) {
    let mut path = Vec::new();
    let mut n = 0;
    loop {
        match tokens.get(n) {
            Some(TokenTree::Ident(name)) => path.push(name.to_string()),
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace && n > 0 => {
                return (branches(&path, group), n + 1);
            }
            _ => return (vec![path], n),
        }
        n += 1;
        let colon =
            |n: usize| matches!(tokens.get(n), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
        if !(colon(n) && colon(n + 1)) {
            return (vec![path], n);
        }
        n += 2;
    }
}

fn branches(stem: &[String], group: &Group) -> Vec<Vec<String>> {
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    let comma = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
    let parts = tokens.split(comma).filter(|part| !part.is_empty());
    parts
        .flat_map(|part| paths(part).0)
        .map(|path| [stem, path.as_slice()].concat())
        .collect()
}

/// A path from the root of the crate, or from `std`; `None` for a name that is neither.
fn resolve(path: Vec<String>, module: &[String]) -> Option<Vec<String>> {
    let up = path.iter().take_while(|part| *part == "super").count();
    let (from, skip) = match path.first()?.as_str() {
        "std" => return (path.len() > 1).then_some(path),
        "crate" | "abreast" => (&[][..], 1),
        "self" => (module, 1),
        "super" => (&module[..module.len().saturating_sub(up)], up),
        _ => return None,
    };
    let resolved = [from, &path[skip..]].concat();
    (path.len() > skip && !resolved.is_empty()).then_some(resolved)
}

/// `src/edge/git/name.rs` is the module `edge::git::name`.
fn module(path: &Path) -> Vec<String> {
    let inside = path.strip_prefix("src").unwrap_or(path).with_extension("");
    let mut parts: Vec<String> = inside
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    parts.retain(|part| part != "mod");
    parts
}

/// The room a path leads to; each edge is a room of its own.
fn room(path: &[String]) -> String {
    let parts = if path[0] == "edge" { 2 } else { 1 };
    path[..path.len().min(parts)].join("::")
}

fn within(path: &str, part: &str) -> bool {
    path.strip_prefix(part)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Files and folders of modules that exist only for tests, as some `#[cfg(test)] mod name;` says.
fn test_files(files: &[(PathBuf, String)]) -> BTreeSet<PathBuf> {
    let mut tests = BTreeSet::new();
    for (path, text) in files {
        for declared in text.split("#[cfg(test)]\n").skip(1) {
            let line = declared.lines().next().unwrap_or_default();
            let name = line
                .rsplit_once("mod ")
                .and_then(|(_, name)| name.strip_suffix(';'));
            let folder = if path.ends_with("mod.rs") {
                path.with_file_name("")
            } else {
                path.with_extension("")
            };
            tests.extend(
                name.into_iter()
                    .flat_map(|name| [folder.join(name), folder.join(format!("{name}.rs"))]),
            );
        }
    }
    tests
}

/// Every source below a folder with its text, paths relative to the package.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(root.join(folder)).sort_by_file_name() {
        let path = entry.expect("sources can be listed").into_path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).expect("sources are text");
            files.push((path.strip_prefix(root).expect("below the root").to_owned(), text));
        }
    }
    files
}
