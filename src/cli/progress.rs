//! How far a search is, on standard error: one line on a terminal that is written over, one JSON object a line for programs
//! that ask for it, and nothing elsewhere.
//!
//! Such an object has `event` (`progress`, `found` or `end`), `search` (which one, in words), `unit` (what is counted), `done`,
//! `most` (or null where nobody knows) and `found` (distinct findings so far). Events of progress come at most ten times a
//! second, the others always.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde_json::json;

use vgdp_sim::report::grouped;

#[derive(Args, Clone, Copy)]
pub struct ProgressArg {
    /// How standard error tells how far it is: `auto`, a line on a terminal and nothing elsewhere; `json`, an object a
    /// line; or `never`.
    #[arg(long, value_enum, value_name = "HOW", default_value_t = How::Auto)]
    progress: How,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum How {
    Auto,
    Json,
    Never,
}

/// The progress of one search.
pub struct Progress {
    search: String,
    unit: &'static str,
    most: Option<u64>,
    width: usize,
    is_json: bool,
    state: Option<Mutex<State>>,
}

struct State {
    done: u64,
    found: u64,
    also: String,
    shown: Option<Instant>,
}

/// Time between two looks of the line.
const PAUSE: Duration = Duration::from_millis(100);

impl Progress {
    /// Of a search that does `most` of a unit, as far as anybody knows; a line stays within so many columns.
    pub fn new(arg: ProgressArg, search: String, unit: &'static str, most: Option<u64>, width: usize) -> Progress {
        let is_json = arg.progress == How::Json;
        let tells = is_json || (arg.progress == How::Auto && io::stderr().is_terminal());
        let state = State { done: 0, found: 0, also: String::new(), shown: None };
        Progress { search, unit, most, width, is_json, state: tells.then(|| Mutex::new(state)) }
    }

    /// Whether anybody is told.
    pub fn tells(&self) -> bool {
        self.state.is_some()
    }

    /// So many are done.
    pub fn done(&self, done: u64) {
        self.done_so(done, String::new);
    }

    /// So many are done, and what else is to be said of that in the line.
    pub fn done_so(&self, done: u64, also: impl FnOnce() -> String) {
        let Some(mut state) = self.state() else { return };
        state.done = state.done.max(done); // threads may report out of order
        if state.shown.is_none_or(|it| it.elapsed() >= PAUSE) {
            state.also = also();
            self.shows(&mut state, "progress");
        }
    }

    /// So many findings are kept.
    pub fn found(&self, found: u64) {
        let Some(mut state) = self.state() else { return };
        state.found = found;
        self.shows(&mut state, "found");
    }

    /// Takes the line away, for others to write.
    pub fn clear(&self) {
        if let Some(mut state) = self.state().filter(|_| !self.is_json) {
            state.shown = None;
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }

    /// It is over; `says` what is to be left in place of the line, if anything.
    pub fn end(&self, says: &str) {
        self.clear();
        let Some(mut state) = self.state() else { return };
        if self.is_json {
            self.shows(&mut state, "end");
        } else if !says.is_empty() {
            let _ = writeln!(io::stderr(), "{says}");
        }
    }

    fn state(&self) -> Option<MutexGuard<'_, State>> {
        self.state.as_ref().map(|it| it.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn shows(&self, state: &mut State, event: &str) {
        state.shown = Some(Instant::now());
        let Progress { search, unit, most, .. } = self;
        let State { done, found, also, .. } = state;
        if self.is_json {
            let object = json!({
                "event": event, "search": search, "unit": unit, "done": done, "most": most, "found": found
            });
            let _ = writeln!(io::stderr(), "{object}");
            return;
        }
        let of = most.map_or_else(String::new, |it| format!(" of {}", grouped(it)));
        let found = if *found > 0 { format!(", {found} found") } else { String::new() };
        let line = format!("{search}: {}{of} {unit}{found}{also}", grouped(*done));
        let line: String = line.chars().take(self.width - 1).collect(); // a full line would wrap
        let _ = write!(io::stderr(), "\r\x1b[K{line}");
    }
}
