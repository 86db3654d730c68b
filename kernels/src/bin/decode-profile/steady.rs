//! The arithmetic of a steady window.

use std::time::Duration;

/// What one generation says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Steady {
    /// Time to the first token: the prompt, and the first token that follows from it.
    pub(crate) prefill_ms: f64,
    /// Intervals in the window: tokens `skip` to the last.
    pub(crate) decode_tokens: usize,
    /// How long they took.
    pub(crate) decode_wall_ms: f64,
}

impl Steady {
    /// The window after `skip` tokens, from the time of token `skip - 1` to that of the last; absent if no interval is
    /// in it, or `skip` is 0.
    pub(crate) fn of(times: &[Duration], skip: usize) -> Option<Self> {
        let first = times.first()?;
        let (last, start) = (times.last()?, times.get(skip.checked_sub(1)?)?);
        let decode_tokens = times.len() - skip;
        (decode_tokens > 0).then(|| Self {
            prefill_ms: ms(*first),
            decode_tokens,
            decode_wall_ms: ms(*last - *start),
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 tokens")]
    pub(crate) fn ms_per_token(self) -> f64 {
        self.decode_wall_ms / self.decode_tokens as f64
    }

    pub(crate) fn tokens_per_second(self) -> f64 {
        1e3 / self.ms_per_token()
    }
}

pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The middle one; of an even number the upper of the two in the middle, as the format of these lines has always had
/// it.
pub(crate) fn upper_median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_has_one_interval_for_each_token_after_the_skipped_ones() {
        let times: Vec<Duration> = [50, 60, 100, 110, 120, 130].map(Duration::from_millis).to_vec();
        let steady = Steady::of(&times, 3).unwrap();
        assert_eq!(steady.decode_tokens, 3);
        assert!((steady.prefill_ms - 50.0).abs() < 1e-9);
        assert!((steady.ms_per_token() - 10.0).abs() < 1e-9);
        assert!((steady.tokens_per_second() - 100.0).abs() < 1e-9);
    }

    #[test]
    fn there_is_no_window_without_an_interval() {
        let times: Vec<Duration> = [50, 60].map(Duration::from_millis).to_vec();
        assert_eq!(Steady::of(&times, 2), None);
        assert_eq!(Steady::of(&times, 0), None);
        assert_eq!(Steady::of(&times, 9), None);
        assert_eq!(Steady::of(&[], 1), None);
    }

    #[test]
    fn of_two_the_larger_is_the_median() {
        assert_eq!(upper_median(vec![1.0, 2.0]), Some(2.0));
        assert_eq!(upper_median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(upper_median(Vec::new()), None);
    }
}
