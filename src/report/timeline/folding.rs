//! Which steps are shown.

use super::lanes::Lane;
use super::{Change, Line, Story, Style};
use crate::model::place::TaskId;

/// Why a step is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fold {
    /// It changed nothing outside, and nobody missed anything.
    Quiet,
    /// It is about tasks that are not followed.
    OfOthers,
    /// It stands in a column that was not asked for.
    Elsewhere,
}

impl Story {
    /// Why a step is not shown, if it is not.
    ///
    /// What broke an invariant is shown, and what an aside is about. Apart from these a step is shown that changed
    /// something outside its process, or at which somebody missed something.
    pub(super) fn fold(&self, step: usize, style: &Style, marked: &[usize]) -> Option<Fold> {
        let line = &self.lines[step];
        if marked.contains(&step) || self.broken_by(step).next().is_some() {
            return None;
        }
        if style.follow.is_some_and(|t| line.is_of_others_than(t)) {
            return Some(Fold::OfOthers);
        }
        if style.columns.is_some_and(|it| !Lane::of(line.action).is_some_and(|lane| it.contains(lane))) {
            return Some(Fold::Elsewhere);
        }
        let tells = line.changes.iter().any(Change::is_outside) || !line.missed.is_empty();
        (!tells && !style.all).then_some(Fold::Quiet)
    }
}

impl Line {
    /// Whether it is about tasks, and not about `t`.
    fn is_of_others_than(&self, t: TaskId) -> bool {
        let changed = self.changes.iter().filter_map(|it| it.task);
        let missed = self.missed.iter().map(|it| it.task);
        let mut about = self.action.task().into_iter().chain(changed).chain(missed).peekable();
        about.peek().is_some() && about.all(|it| it != t)
    }
}

/// Steps that are not shown, since the last one that was.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Folded {
    pub(super) steps: u64,
    /// Seconds that went by at them.
    pub(super) seconds: u32,
}

impl Folded {
    pub(super) fn add(&mut self, seconds: u32) {
        self.steps += 1;
        self.seconds += seconds;
    }
}
