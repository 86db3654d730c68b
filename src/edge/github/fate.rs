//! What an answer of GitHub's means: it is one, or one comes later, or never.
//!
//! GitHub says in several ways that there were too many requests: status 429, or 403 with a time to wait, with nothing
//! left of an hour's requests, or with words about a secondary limit. Any other 403 is for good.

use super::request::Reply;
use std::time::Duration;

/// GitHub asks for at least a minute where it tells no time.
const SECONDARY_PAUSE: Duration = Duration::from_secs(60);

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It was answered.
    Answered,
    /// It may be made again, after this time if one is told.
    Later(Option<Duration>),
    /// The token may not.
    Forbidden,
    /// No.
    Refused,
}

/// What an answer means; `now_s` is the time in seconds since 1970, by which GitHub tells when an hour's requests are
/// renewed.
pub(super) fn fate(reply: &Reply, now_s: u64) -> Fate {
    let told = reply.retry_after_s.map(Duration::from_secs);
    match reply.status {
        200..=299 => Fate::Answered,
        403 | 429 if told.is_some() => Fate::Later(told),
        403 | 429 if reply.remaining == Some(0) => {
            // The clocks may differ by a second.
            let reset = reply.reset_s.map(|reset_s| reset_s.saturating_sub(now_s) + 1);
            Fate::Later(Some(reset.map_or(SECONDARY_PAUSE, Duration::from_secs)))
        }
        429 => Fate::Later(Some(SECONDARY_PAUSE)),
        403 if reply.body.contains("secondary rate limit") || reply.body.contains("abuse detection") => {
            Fate::Later(Some(SECONDARY_PAUSE))
        }
        403 => Fate::Forbidden,
        408 | 500..=599 => Fate::Later(told),
        _ => Fate::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(status: u16) -> Reply {
        Reply {
            status,
            ..Reply::default()
        }
    }

    fn later(seconds: u64) -> Fate {
        Fate::Later(Some(Duration::from_secs(seconds)))
    }

    #[test]
    fn answers_failures_and_refusals_are_told_apart_by_status() {
        for (status, expected) in [
            (200, Fate::Answered),
            (201, Fate::Answered),
            (204, Fate::Answered),
            (301, Fate::Refused),
            (401, Fate::Refused),
            (403, Fate::Forbidden),
            (404, Fate::Refused),
            (422, Fate::Refused),
            (500, Fate::Later(None)),
            (503, Fate::Later(None)),
        ] {
            assert_eq!(fate(&reply(status), 0), expected, "{status}");
        }
    }

    #[test]
    fn a_time_that_is_told_is_kept() {
        for status in [403, 429, 503] {
            let told = Reply {
                retry_after_s: Some(7),
                ..reply(status)
            };
            assert_eq!(fate(&told, 0), later(7), "{status}");
        }
    }

    #[test]
    fn an_hour_without_requests_left_is_waited_for() {
        for status in [403, 429] {
            let spent = Reply {
                remaining: Some(0),
                reset_s: Some(1_000),
                ..reply(status)
            };
            assert_eq!(fate(&spent, 990), later(11));
            assert_eq!(fate(&spent, 2_000), later(1));
        }
        let left = Reply {
            remaining: Some(3),
            reset_s: Some(1_000),
            ..reply(403)
        };
        assert_eq!(fate(&left, 990), Fate::Forbidden);
    }

    #[test]
    fn a_secondary_limit_without_a_time_is_a_minute() {
        assert_eq!(fate(&reply(429), 0), later(60));
        let words = Reply {
            body: r#"{"message":"You have exceeded a secondary rate limit."}"#.to_owned(),
            ..reply(403)
        };
        assert_eq!(fate(&words, 0), later(60));
    }
}
