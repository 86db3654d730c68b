//! A report as a section of a comment: with a name, in less room, and what is read once is folded away.

use super::budget::Budget;
use super::escape::prose;
use super::{RESERVE, all, blind_spots, changed, details, failures, head, method, sides, time, verdict_line};
use crate::report::label::Labels;
use crate::report::{Report, sentence};
use crate::verdict::Verdict;

/// Where a section stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// Its name in the verdict line: Markdown.
    pub title: &'a str,
    /// How to measure the same again: Markdown; absent where nobody can.
    pub again: Option<&'a str>,
    /// UTF-16 code units that it may have.
    pub room: usize,
}

/// The section, within about its room: from 4,000 units on it keeps to that, and below it holds little but the verdict.
#[must_use]
pub fn section(report: &Report, place: &Place<'_>) -> String {
    let labels = Labels::new(report);
    let mut budget = Budget::new(place.room.saturating_sub(RESERVE));
    let head = head(report, Some(place.title), &mut budget);
    let again = place
        .again
        .map(|again| format!("**On another machine:** {again}\n\n"));
    let how = [method(report), time(report), again.unwrap_or_default()].concat();
    let how = details("How it was measured", &how);
    budget.spend(&how);
    let blind_spots = blind_spots(report, &mut budget);
    let changed = changed(report, &labels, &mut budget);
    let failures = failures(report, &labels, &mut budget);
    let all = all(report, &labels, &mut budget);
    unbroken(&[head, changed, all, failures, blind_spots, how].concat())
}

/// A report in which nothing changed, in two lines.
#[must_use]
pub fn brief(report: &Report, title: &str) -> String {
    let headline = sentence::headline(report);
    let words = match headline.verdict {
        Verdict::Unchanged | Verdict::Identical => "no change",
        _ => "no change was shown",
    };
    let verdict = verdict_line(headline.icon(), Some(title), words);
    format!("{verdict}{}. {}", prose(&headline.text), sides(report))
}

/// Tables whose numbers stay beside their units on a telephone. Rows begin at the margin, and nothing else begins like
/// them; in ids a bar is escaped, so none of theirs ends a cell.
fn unbroken(text: &str) -> String {
    let cell = |(n, cell): (usize, &str)| match n {
        // The id, as it is.
        1 => cell.to_owned(),
        _ => cell.replace(' ', "\u{a0}"),
    };
    let line = |line: &str| match line.strip_prefix("| ").and_then(|row| row.strip_suffix(" |\n")) {
        Some(row) => {
            let cells: Vec<String> = row.split(" | ").enumerate().map(cell).collect();
            format!("| {} |\n", cells.join(" | "))
        }
        None => line.to_owned(),
    };
    text.split_inclusive('\n').map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    const PLACE: Place<'static> = Place {
        title: "`linux`",
        again: Some("`abreast compare a b`"),
        room: 60_000,
    };

    #[test]
    fn the_sample_as_a_section() {
        // A right-to-left override would reverse this file in an editor, and nobody could see the spaces.
        let text = section(&sample::report(), &PLACE).replace('\u{202e}', "<RLO>");
        insta::assert_snapshot!(text.replace('\u{a0}', "~"), @r##"
        ### 🔴 `linux`: 2 regressed, 1 improved, 2 unchanged, 3 unclear, 1 identical, 1 new, 1 removed, 1 failed, 1 not comparable of 13 scenarios

        Base `main` (1a1a1a1a1a) → head `working tree` (f0f0f0f0f0)

        **The sides differ in more than the code:**

        - lock serde: 1.0.227 → 1.0.228
        - flags RUSTFLAGS: only head has it, -C target-cpu=native

        **About this run:**

        - bench target `kernels/cuda` was not run: needs feature cuda

        | Status | Scenario | Base | Head | Change | ± | Detectable |
        | :-- | :-- | --: | --: | --: | --: | --: |
        | 🔴~alert | `matmul/f32/8x1024x1024` | 1.05~ms | 1.18~ms | +12.3~% | 0.6~% | 1.0~% |
        | ⚠️~warn | ``add\|`f16`/*1_000*`` | 402~ns | 416~ns | +3.4~% | 1.1~% | 1.8~% |
        | 🟢~faster | `logits/penalty` | 1.00~µs | 810~ns | −19.0~% | 1.8~% | 3.2~% |

        - 🔴 `matmul/f32/8x1024x1024`: fresh processes confirm it with +11.8 %; instructions did not change: layout suspected
        - 🟢 `logits/penalty`: fresh processes confirm it with −20.0 %

        <details>
        <summary>Full table (13 scenarios)</summary>

        | Status | Scenario | Base | Head | Change | ± | Detectable |
        | :-- | :-- | --: | --: | --: | --: | --: |
        | 🔴~alert | `matmul/f32/8x1024x1024` | 1.05~ms | 1.18~ms | +12.3~% | 0.6~% | 1.0~% |
        | ❔~unclear | `gather/bf16` | 12.3~µs | 13.0~µs | +5.2~% | 3.1~% | 5.0~% |
        | ⚠️~warn | ``add\|`f16`/*1_000*`` | 402~ns | 416~ns | +3.4~% | 1.1~% | 1.8~% |
        | ❔~unclear | `reduce_mean/<script>` | 88.0~ms | 89.0~ms | +1.1~% | 6.1~% | 9.8~% |
        | ✅~unchanged | `add/f32/a_very_long_parameter_list/with_many_parts/and_another_one/rows=4096,cols=1024` | 1.23~µs | 1.24~µs | +0.3~% | 0.8~% | 1.3~% |
        | ✅~unchanged | `add/f32/1` | 1.50~ns | 1.50~ns | 0.0~% | 0.0~% | 0.0~% |
        | 🟢~faster | `logits/penalty` | 1.00~µs | 810~ns | −19.0~% | 1.8~% | 3.2~% |
        | ⛔~not~comparable | `sampling/top_p` | 1.50~µs | 3.10~µs | – | – | – |
        | ❌~failed | `kv_cache/pages\n@everyone` | 0.402~ns | – | – | – | – |
        | ❔~unclear | `matmul/hang` | – | – | – | – | – |
        | 🟰~identical | `tokenize/日本 µ` | 2.00~s | 2.00~s | – | – | – |
        | 🆕~new | `grammar/\u{202e}mask\u{20}` | – | 31.4~ns | – | – | – |
        | 🗑️~removed | `grammar/old` | 30.9~ns | – | – | – | – |

        - ❔ `gather/bf16`: not confirmed: +5.2 % at first, +0.3 % with fresh processes
        - ❔ `reduce_mean/<script>`: needs about 208 rounds to show 2 %

        </details>

        <details>
        <summary>Could not be compared: 1 failed, 1 not comparable</summary>

        - ⛔ `sampling/top_p`: bench source changed: benches/ops.rs:41
        - ❌ `kv_cache/pages\n@everyone`: head crashed in round 3:

          ````text
          thread 'main' panicked at src/kv.rs:12:
            index out of bounds </details> ```
          ````

        </details>

        **What this run cannot catch:**

        - 3 changed files are not reached by any bench: src/io.rs, src/net.rs and 1 more
        - changes below 6.1 % in the 3 unclear rows
        - anything on a GPU: this machine has none

        <details>
        <summary>How it was measured</summary>

        **Host:** AMD EPYC 7B13, 2 cores, 8 GiB, Debian 12, kernel 6.1.0, x86\_64, governor performance

        **Method:** 16 paired rounds, floor from 32 null pairs, family 5 %, judged 6 of 11, smallest detectable 1.4 % median, running second costs +0.3 %, seed 7. A row is flagged if its interval excludes zero, its change is at least 2 % and 1 ns and above the row's own noise floor, and fresh processes repeat it; alert from 10 %; an unchanged row may hide up to 5 %.

        **Time:** 4 min 12 s: checkout 0.40 s, build base 58 s, build head 0.15 s, measuring 3 min 11 s

        **On another machine:** `abreast compare a b`

        </details>
        "##);
    }

    #[test]
    fn numbers_stay_beside_their_units_and_ids_are_as_they_were() {
        assert_eq!(
            unbroken("| 🔴 alert | `a \\| b c` | 1 ms |\n  | in a block |\ntext | text\n| cut"),
            "| 🔴\u{a0}alert | `a \\| b c` | 1\u{a0}ms |\n  | in a block |\ntext | text\n| cut"
        );
    }
}
