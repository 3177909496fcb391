use super::{Fired, Scheduler};
use crate::model::rules::{Action, Class, Enabled};

/// The normal schedule: everybody takes turns, nobody interferes.
///
/// It takes the next enabled action after the last one taken, in cyclic canonical order; the clock only when nobody
/// owes a step, and then to the next boundary; the end of a stall only when the clock cannot move either; operators and faults never. Its whole
/// memory is that last action, so it is fair: whatever stays enabled comes to its turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Normal;

impl Normal {
    /// The normal choice after `turn`.
    #[inline]
    pub fn choose(enabled: &Enabled, turn: Option<Action>) -> Option<usize> {
        let after = |class: Class| {
            let of_class = || enabled.iter().enumerate().filter(move |(_, it)| it.class() == class);
            let next = of_class().find(|&(_, &it)| turn.is_none_or(|turn| it > turn));
            next.or_else(|| of_class().next()).map(|(index, _)| index)
        };
        let clock = || enabled.iter().position(|it| it.class() == Class::Clock); // the boundary comes first
        after(Class::Step).or_else(clock).or_else(|| after(Class::Recovery))
    }
}

impl Scheduler for Normal {
    fn pick(&mut self, enabled: &Enabled, last: Fired) -> Option<usize> {
        Normal::choose(enabled, last.action)
    }
}
