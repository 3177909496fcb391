use std::fmt::Debug;
use std::hash::Hash;

use super::{Fired, Scheduler};
use crate::model::rules::{Action, Class, Enabled};

/// Whose turn it is: all that a normal schedule remembers.
///
/// The last action taken is enough for that, so it is implemented for `Option<Action>`. Any other fair order would make
/// another normal schedule, with other deviations from it.
pub trait Turn: Copy + Debug + Default + Eq + Hash {
    /// Whose turn it is among these, which come in canonical order with their indices; returns an index.
    fn among(&self, actions: impl Iterator<Item = (usize, Action)> + Clone) -> Option<usize>;

    /// An action was taken.
    fn passes(&mut self, action: Action);
}

impl Turn for Option<Action> {
    /// The next one after the last, in cyclic canonical order.
    #[inline]
    fn among(&self, mut actions: impl Iterator<Item = (usize, Action)> + Clone) -> Option<usize> {
        let first = actions.clone().next();
        actions.find(|it| self.is_none_or(|last| it.1 > last)).or(first).map(|it| it.0)
    }

    #[inline]
    fn passes(&mut self, action: Action) {
        *self = Some(action);
    }
}

/// The normal schedule: everybody takes turns, nobody interferes.
///
/// It takes the next enabled action after the last one taken, in cyclic canonical order; the clock only when nobody
/// owes a step, and then to the next boundary; the end of a stall only when the clock cannot move either; operators and faults never. Its whole
/// memory is that last action, so it is fair: whatever stays enabled comes to its turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Normal;

impl Normal {
    /// The normal choice, by whose turn it is.
    #[inline]
    pub fn choose<T: Turn>(enabled: &Enabled, turn: T) -> Option<usize> {
        let of = |class| turn.among(enabled.iter().copied().enumerate().filter(move |it| it.1.class() == class));
        let clock = || enabled.iter().position(|it| it.class() == Class::Clock); // the boundary comes first
        of(Class::Step).or_else(clock).or_else(|| of(Class::Recovery))
    }
}

impl Scheduler for Normal {
    fn pick(&mut self, enabled: &Enabled, last: Fired) -> Option<usize> {
        Normal::choose(enabled, last.action)
    }
}
