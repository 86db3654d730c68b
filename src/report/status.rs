//! The first cell of a row: one icon and one word for a verdict and its flag.

use super::Finding;
use crate::verdict::{Flag, Verdict};
use unicode_width::UnicodeWidthStr;

/// Icon of a row.
#[must_use]
pub fn icon(finding: &Finding) -> &'static str {
    of(finding.verdict, finding.flag).0
}

/// Word of a row. It says everything the icon says: icons and colours are never needed to understand.
#[must_use]
pub fn word(finding: &Finding) -> &'static str {
    of(finding.verdict, finding.flag).1
}

/// Icon and word of a verdict with its flag. The flag matters only where the verdict leaves a choice.
#[must_use]
pub fn of(verdict: Verdict, flag: Flag) -> (&'static str, &'static str) {
    match verdict {
        Verdict::Regressed if flag == Flag::Alert => ("🔴", "alert"),
        Verdict::Regressed => ("⚠️", "warn"),
        Verdict::Improved => ("🟢", "faster"),
        Verdict::Unchanged => ("✅", "unchanged"),
        Verdict::Unclear => ("❔", "unclear"),
        Verdict::Identical => ("🟰", "identical"),
        Verdict::New => ("🆕", "new"),
        Verdict::Removed => ("🗑️", "removed"),
        Verdict::Failed => ("❌", "failed"),
        Verdict::NotComparable => ("⛔", "not comparable"),
    }
}

/// The verdict in a sentence that counts rows: `3 not comparable`.
#[must_use]
pub fn counted(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::NotComparable => "not comparable",
        other => other.as_str(),
    }
}

/// An icon for a terminal, two cells wide. U+FE0F asks for the picture form of a character whose width terminals then
/// disagree about (⚠️ and 🗑️ take one or two cells); without it all of them agree on one, and a space makes it two.
#[must_use]
pub fn terminal_icon(icon: &str) -> String {
    let icon = icon.replace('\u{fe0f}', "");
    if icon.width() < 2 { icon + " " } else { icon }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_regression_depends_on_its_flag() {
        assert_eq!(of(Verdict::Regressed, Flag::Alert), ("🔴", "alert"));
        assert_eq!(of(Verdict::Regressed, Flag::Warn), ("⚠️", "warn"));
        assert_eq!(of(Verdict::Unclear, Flag::Alert), ("❔", "unclear"));
    }

    #[test]
    fn terminal_icons_are_two_cells_wide_in_every_terminal() {
        for verdict in Verdict::ALL {
            let icon = terminal_icon(of(verdict, Flag::None).0);
            assert!(!icon.contains('\u{fe0f}'));
            assert_eq!(icon.width(), 2, "{icon}");
        }
    }
}
