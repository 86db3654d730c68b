//! What was asked of the device, counted.

/// Counts since the device was opened. All are numbers of calls, except the two of bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Steps that were captured, however many segments they have.
    pub captures: u64,
    /// Steps that were replayed.
    pub replays: u64,
    /// Steps that were to be captured and could not be.
    pub fallbacks: u64,
    /// Graphs that captured steps consist of.
    pub segments: u64,
    /// Nodes that run eagerly between the segments of a captured step.
    pub seams: u64,
    /// Times the host waited for the stream, those within an upload or a download included.
    pub syncs: u64,
    /// Pieces of device memory that were allocated.
    pub allocations: u64,
    /// Pieces of device memory that were freed.
    pub frees: u64,
    /// Copies from the host to the device.
    pub h2d_calls: u64,
    /// Bytes of those.
    pub h2d_bytes: u64,
    /// Copies from the device to the host.
    pub d2h_calls: u64,
    /// Bytes of those.
    pub d2h_bytes: u64,
}

impl Counters {
    /// What was counted after `earlier`; 0 for a count that was higher then.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            captures: self.captures.saturating_sub(earlier.captures),
            replays: self.replays.saturating_sub(earlier.replays),
            fallbacks: self.fallbacks.saturating_sub(earlier.fallbacks),
            segments: self.segments.saturating_sub(earlier.segments),
            seams: self.seams.saturating_sub(earlier.seams),
            syncs: self.syncs.saturating_sub(earlier.syncs),
            allocations: self.allocations.saturating_sub(earlier.allocations),
            frees: self.frees.saturating_sub(earlier.frees),
            h2d_calls: self.h2d_calls.saturating_sub(earlier.h2d_calls),
            h2d_bytes: self.h2d_bytes.saturating_sub(earlier.h2d_bytes),
            d2h_calls: self.d2h_calls.saturating_sub(earlier.d2h_calls),
            d2h_bytes: self.d2h_bytes.saturating_sub(earlier.d2h_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_what_came_after() {
        let earlier = Counters {
            replays: 3,
            h2d_bytes: 10,
            ..Counters::default()
        };
        let now = Counters {
            replays: 5,
            h2d_bytes: 10,
            syncs: 1,
            ..Counters::default()
        };
        let wanted = Counters {
            replays: 2,
            syncs: 1,
            ..Counters::default()
        };
        assert_eq!(now.since(earlier), wanted);
    }
}
