//! The steady window of a generation: from when each token was known to the time of one (docs/decode.md).

/// Fewest intervals in a window whose 99th percentile is told: with fewer it is the largest and nothing else.
const FOR_P99: usize = 100;

/// What the window of one generation says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Steady {
    /// Mean of the intervals, in nanoseconds: what they took together, divided by how many they are. Above zero.
    pub(super) token_ns: f64,
    /// Their median, in nanoseconds; zero where most tokens became known together with the one before.
    pub(super) p50_ns: f64,
    /// Their 99th percentile, in nanoseconds; absent with fewer than a hundred of them.
    pub(super) p99_ns: Option<f64>,
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
            p99_ns: (intervals.len() >= FOR_P99)
                .then(|| quantile(&intervals, 0.99))
                .flatten(),
        })
    }

    /// Tokens a second.
    pub(super) fn rate(self) -> f64 {
        1e9 / self.token_ns
    }
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
        let steady = Steady::of(&[50, 60, 100, 110, 122, 130], 3).unwrap();
        assert_eq!(
            steady,
            Steady {
                token_ns: 10.0,
                p50_ns: 10.0,
                p99_ns: None
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
    fn a_hundred_intervals_have_a_99th_percentile_and_99_have_none() {
        // Intervals 1, 2, 3, ...: numpy.quantile(range(1, 101), 0.99) is 99.01.
        let times: Vec<u64> = (0..=100u64).map(|n| n * (n + 1) / 2).collect();
        let p99 = Steady::of(&times, 1).unwrap().p99_ns.unwrap();
        assert!((p99 - 99.01).abs() < 1e-9, "{p99}");
        assert_eq!(Steady::of(&times, 2).unwrap().p99_ns, None);
    }
}
