//! How much of a comment is left.

/// Room in a comment, in UTF-16 code units: never fewer than characters, so whichever of the two a server counts,
/// the text fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Budget(usize);

impl Budget {
    /// Room for this many units.
    pub(super) fn new(units: usize) -> Self {
        Self(units)
    }

    /// Takes room for a text that is there in any case.
    pub(super) fn spend(&mut self, text: &str) {
        self.0 = self.0.saturating_sub(units(text));
    }

    /// Takes room for a text if there is enough.
    pub(super) fn afford(&mut self, text: &str) -> bool {
        let cost = units(text);
        let enough = cost <= self.0;
        if enough {
            self.0 -= cost;
        }
        enough
    }

    /// At most `units` of what is left, to be spent apart; give the rest back with [`Budget::merge`].
    pub(super) fn split(&mut self, units: usize) -> Self {
        let part = units.min(self.0);
        self.0 -= part;
        Self(part)
    }

    /// Takes back what a part did not need.
    pub(super) fn merge(&mut self, part: Self) {
        self.0 += part.0;
    }
}

/// Length of a text in UTF-16 code units.
#[must_use]
pub fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_never_overdrawn() {
        let mut budget = Budget::new(10);
        assert!(budget.afford("🔴🔴🔴"));
        assert!(!budget.afford("12345"));
        let mut part = budget.split(100);
        assert_eq!((budget, part), (Budget(0), Budget(4)));
        assert!(part.afford("a"));
        budget.merge(part);
        assert_eq!(budget, Budget(3));
        budget.spend("far more than there is");
        assert_eq!(budget, Budget(0));
    }
}
