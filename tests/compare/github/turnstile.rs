//! Waiting for others in place of waiting for a while: whoever waits goes on when nobody works any more.
//!
//! A job that wrote looks again after longer than another job takes from reading to writing. Here that is exact: it looks
//! again when each of the others has written, too, or has ended.

use std::sync::{Arc, Condvar, Mutex};

/// The gate.
pub(crate) struct Turnstile {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    working: usize,
    waiting: usize,
    /// How often all went on.
    turns: u64,
}

/// One who works, waits now and then, and is done when this is dropped.
pub(crate) struct Passer(Arc<Turnstile>);

impl Turnstile {
    /// For so many who work.
    pub(crate) fn new(working: usize) -> Self {
        Self {
            state: Mutex::new(State {
                working,
                waiting: 0,
                turns: 0,
            }),
            changed: Condvar::new(),
        }
    }

    /// One of them.
    pub(crate) fn passer(self: &Arc<Self>) -> Passer {
        Passer(Arc::clone(self))
    }

    fn turn(&self, state: &mut State) {
        if state.working == 0 {
            state.working = std::mem::take(&mut state.waiting);
            state.turns += 1;
            self.changed.notify_all();
        }
    }
}

impl Passer {
    /// Waits until nobody works.
    pub(crate) fn wait(&self) {
        let mut state = self.0.state.lock().unwrap();
        let turn = state.turns;
        state.working -= 1;
        state.waiting += 1;
        self.0.turn(&mut state);
        while state.turns == turn {
            state = self.0.changed.wait(state).unwrap();
        }
    }
}

impl Drop for Passer {
    fn drop(&mut self) {
        if let Ok(mut state) = self.0.state.lock() {
            state.working -= 1;
            self.0.turn(&mut state);
        }
    }
}
