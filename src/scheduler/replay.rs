use super::{Fired, Normal, Scheduler};
use crate::model::rules::{Action, Enabled};

/// Takes a list of actions, then goes on as the normal schedule or ends.
///
/// Strict: it stops at the first action that is not enabled. Lenient: it skips such actions.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    actions: &'a [Action],
    at: usize,
    lenient: bool,
    then_normal: bool,
    diverged: Option<usize>,
}

impl<'a> Replay<'a> {
    /// Exactly these actions and no other; the run ends with them, or where one is not enabled.
    pub fn strict(actions: &'a [Action]) -> Replay<'a> {
        Replay { actions, at: 0, lenient: false, then_normal: false, diverged: None }
    }

    /// These actions as far as they are enabled, then the normal schedule to rest.
    pub fn lenient(actions: &'a [Action]) -> Replay<'a> {
        Replay { actions, at: 0, lenient: true, then_normal: true, diverged: None }
    }

    /// Exactly these actions, then the normal schedule to rest.
    pub fn then_normal(actions: &'a [Action]) -> Replay<'a> {
        Replay { actions, at: 0, lenient: false, then_normal: true, diverged: None }
    }

    /// The index of the first action that was not enabled in its turn.
    pub fn diverged(&self) -> Option<usize> {
        self.diverged
    }
}

impl Scheduler for Replay<'_> {
    fn pick(&mut self, enabled: &Enabled, last: Fired) -> Option<usize> {
        while let Some(wanted) = self.actions.get(self.at) {
            if let Some(index) = enabled.iter().position(|it| it == wanted) {
                self.at += 1;
                return Some(index);
            }
            self.diverged.get_or_insert(self.at);
            if !self.lenient {
                return None;
            }
            self.at += 1;
        }
        if self.then_normal { Normal::choose(enabled, last.action) } else { None }
    }
}
