//! One line on a terminal that says how far a search is; nothing where standard error goes elsewhere.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use vgdp_sim::report::grouped;

/// The line of one campaign.
pub struct Progress {
    of: String,
    runs: u64,
    width: usize,
    state: Option<Mutex<State>>,
}

struct State {
    done: u64,
    found: usize,
    shown: Option<Instant>,
}

/// Time between two looks of the line.
const PAUSE: Duration = Duration::from_millis(100);

impl Progress {
    /// The line of a campaign of so many runs, within so many columns.
    pub fn new(of: String, runs: u64, width: usize) -> Progress {
        let state = State { done: 0, found: 0, shown: None };
        Progress { of, runs, width, state: io::stderr().is_terminal().then(|| Mutex::new(state)) }
    }

    /// So many runs are done.
    pub fn done(&self, done: u64) {
        let Some(mut state) = self.state() else { return };
        state.done = state.done.max(done); // threads may report out of order
        self.shows(&mut state);
    }

    /// So many findings are kept.
    pub fn found(&self, found: usize) {
        let Some(mut state) = self.state() else { return };
        state.found = found;
        self.shows(&mut state);
    }

    /// Takes the line away, for others to write.
    pub fn clear(&self) {
        if let Some(mut state) = self.state() {
            state.shown = None;
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }

    fn state(&self) -> Option<MutexGuard<'_, State>> {
        self.state.as_ref().map(|it| it.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn shows(&self, state: &mut State) {
        if state.shown.is_some_and(|it| it.elapsed() < PAUSE) {
            return;
        }
        state.shown = Some(Instant::now());
        let (done, runs, of) = (grouped(state.done), grouped(self.runs), &self.of);
        let line = format!("{of}: {done} of {runs} runs, {} found", state.found);
        let line: String = line.chars().take(self.width - 1).collect(); // a full line would wrap
        let _ = write!(io::stderr(), "\r\x1b[K{line}");
    }
}
