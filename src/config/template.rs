//! The settings file that `abreast init` writes.

use super::known::flags;

/// A settings file with every key, its meaning and its default, all commented out.
#[must_use]
pub fn template() -> String {
    let mut text = String::from(
        "# Settings of abreast for this repository. Every key has the name of a command-line flag, and a flag wins\n\
         # over its key. Everything is commented out: these are the defaults, or examples where there is none.\n",
    );
    let mut heading = String::new();
    for argument in flags() {
        let name = argument.get_long().unwrap_or_default();
        let section = argument.get_help_heading().unwrap_or_default();
        if section != heading {
            section.clone_into(&mut heading);
            text.push_str(&format!("\n# --- {heading} ---\n"));
        }
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        text.push_str(&format!("\n# {help}\n# {name} = {}\n", example(name)));
    }
    text.push_str(PROGRAM);
    text
}

/// Programs have no flags, and stand at the end: whatever follows a table in TOML belongs to it.
const PROGRAM: &str = r#"
# --- Programs ---

# A program that measures itself is measured like a bench (one table for each, below everything else):
#     [[program]]
#     name = "engine"
#     build = ["cargo", "build", "--release", "--bin", "engine"]
#     run = ["target/release/engine", "--json"]
#     format = "llama-bench"
# Further keys: env, folder, timeout, metrics, launches.
"#;

fn example(key: &str) -> &'static str {
    match key {
        "package" | "bench" => "[\"name\"]",
        "filter" => "\"^parse/\"",
        "features" => "[\"simd\"]",
        "all-features"
        | "no-default-features"
        | "measure-identical"
        | "no-confirm"
        | "no-layout-check"
        | "instructions"
        | "relink-control" => "false",
        "profile" => "\"bench\"",
        "toolchain" => "\"stable\"",
        "harness" => "\"own\"",
        "run-files" => "[\"testdata/**\"]",
        "budget" => "\"10m\"",
        "rounds" => "32",
        "timeout" => "\"60s\"",
        "seed" => "1",
        "shard" => "\"1/2\"",
        "threshold" => "\"2%\"",
        "margin" => "\"5%\"",
        "alert" => "\"10%\"",
        "floor-ns" => "1.0",
        "claim" => "[\"engine/ms_per_token=-4.0%\"]",
        "fail-on" => "[\"never\"]",
        _ => "\"\"",
    }
}
