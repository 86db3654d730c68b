//! The beginning of a Markdown text that fits, with everything closed that it opened.

use crate::report::markdown::units;

const REST: &str = "\n_The rest is left out to keep this comment short._\n";
/// Room for what closes an open block and two folds. Chosen.
const CLOSINGS: usize = 160;

/// As many whole lines of a text of the renderer's as `room` units hold, and a line that says that more was there. A
/// text that fits is left as it is.
pub(super) fn cut(text: &str, room: usize) -> String {
    if units(text) <= room {
        return text.to_owned();
    }
    let mut left = room.saturating_sub(units(REST) + CLOSINGS);
    let mut out = String::new();
    let mut folds = 0_usize;
    let mut fence: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let cost = units(line);
        if cost > left {
            break;
        }
        left -= cost;
        out.push_str(line);
        let bare = line.trim();
        let ticks = &bare[..bare.len() - bare.trim_start_matches('`').len()];
        match fence {
            Some(open) if bare == open => fence = None,
            Some(_) => {}
            None if ticks.len() >= 3 => fence = Some(ticks),
            None if bare == "<details>" => folds += 1,
            None if bare == "</details>" => folds = folds.saturating_sub(1),
            None => {}
        }
    }
    if let Some(open) = fence {
        // Indented like the lines of the list item that it is in.
        out.push_str(&format!("  {open}\n"));
    }
    out.push_str(&"\n</details>\n".repeat(folds));
    out.push_str(REST);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{hostile, markdown, sample};
    use proptest::prelude::*;

    #[test]
    fn what_fits_is_left_alone() {
        assert_eq!(cut("short", 5), "short");
    }

    #[test]
    fn what_was_opened_is_closed() {
        let line = "x".repeat(200);
        let text =
            format!("head\n\n<details>\n\n- note:\n\n  ````text\n  ```\n  {line}\n  ````\n\n</details>\n");
        assert_eq!(
            cut(&text, 260),
            format!("head\n\n<details>\n\n- note:\n\n  ````text\n  ```\n  ````\n\n</details>\n{REST}")
        );
    }

    fn lines(text: &str, which: &str) -> usize {
        text.lines().filter(|line| *line == which).count()
    }

    proptest! {
        #[test]
        fn a_cut_keeps_to_its_room_and_leaves_nothing_open(texts in hostile::texts(), room in 500_usize..9_000) {
            let mut report = hostile::report(&texts);
            report.findings.extend(sample::report().findings);
            let text = cut(&markdown::render(&report), room);
            prop_assert!(units(&text) <= room, "{} > {}", units(&text), room);
            prop_assert_eq!(lines(&text, "<details>"), lines(&text, "</details>"));
        }
    }
}
