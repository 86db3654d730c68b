//! Scripts: what the benches of a commit of the `suite` fixture report.

use super::files::Files;
use std::fmt::Write as _;

/// One bench, to be written into the fixture's `src/script.rs`.
#[derive(Clone)]
pub(crate) struct Bench {
    id: String,
    ns: f64,
    noise: f64,
    drift: f64,
    at_first: (u64, f64),
    act: String,
}

/// A bench that reports `ns` nanoseconds with 1 % noise from process to process.
pub(crate) fn bench(id: &str, ns: f64) -> Bench {
    Bench {
        id: id.to_owned(),
        ns,
        noise: 0.01,
        drift: 0.0,
        at_first: (0, 1.0),
        act: "Report".to_owned(),
    }
}

/// Five benches of 100 µs, `g/a` to `g/e`.
pub(crate) fn five() -> Vec<Bench> {
    ["g/a", "g/b", "g/c", "g/d", "g/e"]
        .map(|id| bench(id, 1e5))
        .to_vec()
}

impl Bench {
    pub(crate) fn times(mut self, factor: f64) -> Self {
        self.ns *= factor;
        self
    }

    pub(crate) fn noise(mut self, fraction: f64) -> Self {
        self.noise = fraction;
        self
    }

    pub(crate) fn drift(mut self, fraction: f64) -> Self {
        self.drift = fraction;
        self
    }

    /// The first `launches` processes take `factor` as long.
    pub(crate) fn at_first(mut self, launches: u64, factor: f64) -> Self {
        self.at_first = (launches, factor);
        self
    }

    /// A variant of the fixture's `Act`, as written in Rust.
    pub(crate) fn act(mut self, act: &str) -> Self {
        act.clone_into(&mut self.act);
        self
    }
}

/// The `suite` fixture with this script.
pub(crate) fn suite(benches: &[Bench]) -> Files {
    Files::suite().with("src/script.rs", source(benches))
}

/// These files, with all times multiplied by a number that each process works out once, as it starts.
pub(crate) fn multiplied(files: Files, factor: &str) -> Files {
    let bench = "benches/scripted.rs";
    files
        .replaced(
            bench,
            "bench.play(iters, WORK)",
            "bench.play(iters, WORK * factor)",
        )
        .replaced(
            bench,
            "fn main() {\n",
            &format!("fn main() {{\n    let factor: f64 = {factor};\n"),
        )
}

/// `src/script.rs`.
pub(crate) fn source(benches: &[Bench]) -> String {
    let mut text = "//! What each bench reports.\n\nuse crate::player::{Act, Bench};\n\n".to_owned();
    text.push_str("pub const SCRIPT: &[Bench] = &[\n");
    for bench in benches {
        let Bench {
            id,
            ns,
            noise,
            drift,
            at_first: (launches, factor),
            act,
        } = bench;
        writeln!(
            text,
            "    Bench {{ id: {id:?}, ns: {ns:?}, noise: {noise:?}, drift: {drift:?}, \
             at_first: ({launches}, {factor:?}), act: Act::{act} }},"
        )
        .unwrap();
    }
    text.push_str("];\n");
    text
}
