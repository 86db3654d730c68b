//! The steady window of a generation: from when each token was known to the time of one (docs/decode.md).

/// Fewest intervals whose 99th percentile is told: with fewer it is one of the ten largest, and as good as chance.
const FOR_P99: usize = 1000;

/// What the window of one generation says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Steady {
    /// Mean of the intervals, in nanoseconds: what they took together, divided by how many they are. Above zero.
    pub(super) token_ns: f64,
    /// Their median, in nanoseconds; zero where most tokens became known together with the one before.
    pub(super) p50_ns: f64,
    /// The intervals themselves, in nanoseconds, ascending.
    pub(super) intervals: Vec<u64>,
}

impl Steady {
    /// The window after the first `skip` tokens. `t_ns` is when each token was known, in nanoseconds since the request,
    /// so the window has the intervals from token `skip - 1` on: as many as tokens that are not skipped.
    ///
    /// Absent if `skip` is 0, no token is left after the skipped ones, a time falls, or all of the window took no time.
    pub(super) fn of(t_ns: &[u64], skip: usize) -> Option<Self> {
        let window = t_ns.get(skip.checked_sub(1)?..)?;
        let mut intervals = window
            .iter()
            .zip(window.iter().skip(1))
            .map(|(from, to)| to.checked_sub(*from))
            .collect::<Option<Vec<u64>>>()?;
        let wall = window.last()?.checked_sub(*window.first()?)?;
        if intervals.is_empty() || wall == 0 {
            return None;
        }
        intervals.sort_unstable();
        #[expect(
            clippy::cast_precision_loss,
            reason = "far less than 2^53 ns, which are 104 days"
        )]
        let token_ns = wall as f64 / intervals.len() as f64;
        Some(Self {
            token_ns,
            p50_ns: quantile(&intervals, 0.5)?,
            intervals,
        })
    }

    /// Tokens a second.
    pub(super) fn rate(&self) -> f64 {
        1e9 / self.token_ns
    }
}

/// The 99th percentile of the intervals of all windows of a launch together, in any order: in nanoseconds, zero where
/// nearly all tokens became known together with the one before. Absent with fewer than a thousand intervals.
pub(super) fn p99_ns(mut intervals: Vec<u64>) -> Option<f64> {
    intervals.sort_unstable();
    (intervals.len() >= FOR_P99)
        .then(|| quantile(&intervals, 0.99))
        .flatten()
}

/// The `p`-quantile of ascending numbers, interpolated between two of them at position `(n - 1) p`: definition 7 of
/// Hyndman & Fan 1996, the default of R and NumPy. Absent for no numbers; `p` is within `0..=1`.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "far less than 2^53, and 0 <= position <= n - 1"
)]
fn quantile(sorted: &[u64], p: f64) -> Option<f64> {
    let position = sorted.len().checked_sub(1)? as f64 * p;
    let below = position.floor() as usize;
    let low = *sorted.get(below)? as f64;
    let high = sorted.get(below + 1).map_or(low, |high| *high as f64);
    Some(low + (position - position.floor()) * (high - low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_has_one_interval_for_each_token_that_is_not_skipped() {
        // The first token after 50, the second after 60; then a pause that belongs to what is skipped.
        let steady = Steady::of(&[50, 60, 100, 110, 122, 130, 140], 3).unwrap();
        assert_eq!(
            steady,
            Steady {
                token_ns: 10.0,
                p50_ns: 10.0,
                intervals: vec![8, 10, 10, 12]
            }
        );
        assert!((steady.rate() - 1e8).abs() < 1e-6);
    }

    #[test]
    fn one_interval_is_a_window() {
        let steady = Steady::of(&[50, 60], 1).unwrap();
        assert!((steady.token_ns - 10.0).abs() < 1e-12);
        assert!((steady.p50_ns - 10.0).abs() < 1e-12);
    }

    #[test]
    fn there_is_no_window_without_an_interval() {
        assert_eq!(
            Steady::of(&[50, 60], 0),
            None,
            "a window begins at a skipped token"
        );
        assert_eq!(Steady::of(&[50, 60], 2), None);
        assert_eq!(Steady::of(&[50, 60], 9), None);
        assert_eq!(Steady::of(&[], 1), None);
    }

    #[test]
    fn there_is_no_window_in_times_that_fall_or_stand_still() {
        assert_eq!(Steady::of(&[50, 60, 55, 70], 1), None);
        assert_eq!(Steady::of(&[50, 50, 50], 1), None);
    }

    #[test]
    fn tokens_that_are_known_together_have_no_time_between_them() {
        let steady = Steady::of(&[10, 10, 10, 10, 30, 30], 1).unwrap();
        assert!((steady.token_ns - 4.0).abs() < 1e-12);
        assert!(steady.p50_ns.abs() < 1e-12);
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_two_in_the_middle() {
        let steady = Steady::of(&[0, 10, 30, 60, 100], 1).unwrap();
        assert!((steady.p50_ns - 25.0).abs() < 1e-12, "of 10, 20, 30, 40");
    }

    #[test]
    fn a_thousand_intervals_have_a_99th_percentile_and_999_have_none() {
        // numpy.quantile(range(1, 1001), 0.99) is 990.01: at 999 * 0.99 = 989.01 from the first.
        let p99 = p99_ns((1..=1000).rev().collect()).unwrap();
        assert!((p99 - 990.01).abs() < 1e-9, "{p99}");
        assert_eq!(p99_ns((1..1000).collect()), None);
        assert_eq!(p99_ns(Vec::new()), None);
    }
}
