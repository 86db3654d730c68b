//! What a process said about its own end: the few lines of its output that a reader of a report needs.

/// Most lines that are kept. Chosen: a panic message and what it was about.
const LINES: usize = 4;

/// The panic message, without the backtrace that may follow it, else the last lines; joined by ` | `. Empty if nothing
/// was said.
#[must_use]
pub fn last_words(output: &str) -> String {
    let lines: Vec<&str> = output
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("note: "))
        .collect();
    let panic = lines.iter().rposition(|line| line.contains(" panicked at "));
    let first = panic.unwrap_or(lines.len().saturating_sub(LINES));
    let telling: Vec<&str> = lines[first..]
        .iter()
        .copied()
        .take(LINES)
        .take_while(|line| *line != "stack backtrace:")
        .collect();
    telling.join(" | ")
}

/// A sentence about a process with its last words behind it, if there are some.
#[must_use]
pub fn with_last_words(what: &str, output: &str) -> String {
    match last_words(output) {
        words if words.is_empty() => what.to_owned(),
        words => format!("{what}: {words}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told_by_its_message_and_not_by_its_backtrace() {
        let frames: String = (0..30).map(|n| format!("  {n}: some::frame\n")).collect();
        let output = format!(
            "Benchmarking\nthread 'main' panicked at x.rs:1:\nboom\nstack backtrace:\n{frames}note: Some details\n"
        );
        assert_eq!(last_words(&output), "thread 'main' panicked at x.rs:1: | boom");
    }

    #[test]
    fn without_a_panic_the_last_lines_count() {
        assert_eq!(
            last_words("1\n2\n\n3\n 4\n5\nnote: run with `RUST_BACKTRACE=1`\n"),
            "2 | 3 | 4 | 5"
        );
        assert_eq!(last_words("\n \n"), "");
    }
}
