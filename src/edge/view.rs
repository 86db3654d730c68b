//! What a person watches while the tool works: bars on standard error, redrawn only between slots. Where standard error
//! is no terminal, as in CI, a line now and then says the same.
//!
//! Drawing wakes up a terminal emulator on the same machine, so nothing is drawn while a slot runs: there are no
//! ticking spinners, and measuring calls [`View`] only when no measured process is alive.
#![expect(clippy::disallowed_methods, reason = "progress is told by the clock")]

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::Write as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The live view of one run.
#[derive(Debug)]
pub struct View {
    bar: ProgressBar,
    talk: Talk,
    /// What was last said in place of a bar, and when; absent if nothing is to be said.
    told: Option<Mutex<(String, Instant)>>,
}

/// How often progress is told where there is no bar.
const BETWEEN_LINES: Duration = Duration::from_secs(30);

/// How much is said on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Talk {
    /// Errors only.
    Quiet,
    /// What happens, and progress.
    Normal,
    /// Also each step's details.
    Verbose,
}

impl View {
    /// A view that says this much; with `progress` false, or if standard error is no terminal, it draws no bars.
    #[must_use]
    pub fn new(talk: Talk, progress: bool) -> Self {
        let target = if progress && talk > Talk::Quiet {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        let tells = progress && talk > Talk::Quiet && bar.is_hidden();
        Self {
            told: tells.then(|| Mutex::new((String::new(), Instant::now()))),
            bar,
            talk,
        }
    }

    /// Says a line that stays.
    pub fn say(&self, line: &str) {
        if self.talk > Talk::Quiet {
            self.print(line);
        }
    }

    /// Says a line that stays, if details are wanted.
    pub fn detail(&self, line: &str) {
        if self.talk == Talk::Verbose {
            self.print(line);
        }
    }

    /// Shows a step of unknown length.
    pub fn step(&self, message: &str) {
        self.style("{msg}");
        self.bar.set_length(0);
        self.bar.set_message(message.to_owned());
        self.bar.tick();
        self.tell(message, message);
    }

    /// Shows how far a build has come.
    pub fn building(&self, side: &str, done: usize, of: Option<usize>, package: &str) {
        self.style("{prefix} [{bar:30}] {pos}/{len} {wide_msg}");
        let of = of.unwrap_or(done).max(done);
        self.bar.set_length(of as u64);
        self.bar.set_prefix(format!("building {side}"));
        self.bar.set_message(package.to_owned());
        self.bar.set_position(done as u64);
        self.bar.tick();
        self.tell(
            &format!("building {side}"),
            &format!("building {side}: {done} of {of}, {package}"),
        );
    }

    /// Shows how far measuring has come; `spent` and `of` in seconds, the words say the rest.
    pub fn measuring(&self, spent_s: f64, of_s: Option<f64>, words: &str) {
        match of_s {
            Some(of_s) => {
                self.style("measuring [{bar:30}] {wide_msg}");
                self.bar.set_length(per_mille(of_s, of_s));
                self.bar.set_position(per_mille(spent_s, of_s));
            }
            None => self.style("measuring {wide_msg}"),
        }
        self.bar.set_message(words.to_owned());
        self.bar.tick();
        self.tell("measuring", &format!("measuring: {words}"));
    }

    /// Removes the bar.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn style(&self, template: &str) {
        // A bar that was removed stays hidden until it begins anew.
        if self.bar.is_finished() {
            self.bar.reset();
        }
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("=> "));
        }
    }

    /// Says how far a stage has come if it is new, or was long not heard of.
    fn tell(&self, stage: &str, line: &str) {
        let Some(Ok(mut told)) = self.told.as_ref().map(Mutex::lock) else {
            return;
        };
        if told.0 != stage || told.1.elapsed() >= BETWEEN_LINES {
            *told = (stage.to_owned(), Instant::now());
            self.print(line);
        }
    }

    /// If nobody listens on standard error any more, that is no reason to stop.
    fn print(&self, line: &str) {
        self.bar.suspend(|| {
            let _ = writeln!(std::io::stderr(), "{line}");
        });
    }
}

fn per_mille(part: f64, whole: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within 0..=1000"
    )]
    let scaled = if whole > 0.0 {
        (part / whole * 1e3).clamp(0.0, 1e3) as u64
    } else {
        0
    };
    scaled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_removed_bar_is_shown_again() {
        let view = View::new(Talk::Normal, true);
        view.step("one");
        view.clear();
        assert!(view.bar.is_finished());
        view.building("head", 1, None, "p");
        assert!(!view.bar.is_finished());
    }
}
