//! Keeps what a child writes to its standard output.

use super::{AFTERMATH, Finished, Launch, ProcessError, Runner, command, move_to, start_error};
use std::io::Read;
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Instant;

/// Most bytes that are kept; more than that means that something is missing. Chosen: far more than the longest profile.
pub const MOST_OUTPUT: usize = 64 << 20;

impl Runner {
    /// Runs to the end and keeps what it writes to standard output, up to little more than [`MOST_OUTPUT`]; standard
    /// error goes to the tail.
    ///
    /// # Errors
    /// As [`Runner::run`].
    pub fn run_captured(&self, launch: &Launch) -> Result<(Finished, Vec<u8>), ProcessError> {
        let mut child = command(launch)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| start_error(launch, error))?;
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            let unconnected = std::io::Error::other("its output is not connected");
            return Err(start_error(launch, unconnected));
        };
        move_to(launch.processor, &child);
        let pieces = pieces(stdout);
        let finished = self.attend(launch, child, stderr, |_| ())?;
        let mut output = Vec::new();
        // Ends with the output, or soon if a descendant keeps it open.
        let deadline = Instant::now() + AFTERMATH;
        while let Ok(piece) = pieces.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            output.extend(piece);
        }
        Ok((finished, output))
    }
}

/// Reads everything, for whoever listens, piece by piece; what is too much is read and dropped, so that the child never
/// blocks.
fn pieces(mut source: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        let mut kept = 0;
        while let Ok(n @ 1..) = source.read(&mut buffer) {
            if kept <= MOST_OUTPUT {
                kept += n;
                let _ = sender.send(buffer[..n].to_vec());
            }
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(script: &str) -> (Finished, Vec<u8>) {
        let launch = Launch {
            program: "sh".into(),
            args: vec!["-c".into(), script.into()],
            cwd: "/".into(),
            ..Launch::default()
        };
        Runner::unleashed().run_captured(&launch).unwrap()
    }

    #[test]
    fn standard_output_is_kept_as_it_is_and_errors_are_in_the_tail() {
        let (finished, output) = captured("printf 'a\\n\\0b'; echo oops >&2; exit 3");
        assert_eq!(output, b"a\n\0b");
        assert_eq!(
            (finished.tail.as_str(), finished.ending.is_success()),
            ("oops\n", false)
        );
    }

    #[test]
    fn endless_output_is_kept_up_to_a_limit_and_blocks_nobody() {
        let (finished, output) = captured("head -c 80000000 /dev/zero");
        assert!(finished.ending.is_success());
        assert!(
            (MOST_OUTPUT + 1..MOST_OUTPUT + 100_000).contains(&output.len()),
            "{}",
            output.len()
        );
    }

    #[test]
    fn what_was_written_is_there_although_a_descendant_keeps_the_output_open() {
        // For twenty seconds, unless nobody waits for them.
        let talker = "for n in $(seq 100); do echo more; sleep 0.2; done";
        let (_, output) = captured(&format!("echo one; setsid sh -c '{talker}' &"));
        let lines = output.split(|byte| *byte == b'\n');
        assert!(output.starts_with(b"one\n"), "{output:?}");
        assert!(lines.count() < 90, "{output:?}");
    }
}
