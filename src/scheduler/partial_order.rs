use super::chooser::identity;
use super::draws::mixed;
use super::{Among, Chooser, Draws};
use crate::model::place::{NODES, TASKS};
use crate::model::rules::{Action, Enabled};

/// Partial order sampling: each action has a random priority, and the highest goes first. Once an action has been
/// taken, those that share its node or its task draw anew.
///
/// So who is late stays late until somebody has touched what it waits for, and orders that do not matter are not tried
/// more often than others. A priority is drawn by counting: it is a number that looks random, made of the action and of
/// how often something was done at its node and at its task.
#[derive(Clone, Debug)]
pub struct PartialOrder {
    key: u64,
    /// How often something was done at each node, and at none.
    nodes: [u16; NODES + 1],
    /// How often something was done at each task, and at none.
    tasks: [u16; TASKS + 1],
}

impl PartialOrder {
    fn priority(&self, action: Action) -> u64 {
        let node = action.node().map_or(0, |it| u64::from(self.nodes[it.0 as usize + 1]));
        let task = action.task().map_or(0, |it| u64::from(self.tasks[it.0 as usize + 1]));
        let time = u64::from(self.nodes[0]) * u64::from(action.node().is_none() && action.task().is_none());
        mixed(self.key ^ mixed(identity(action)) ^ mixed(node << 32 | task << 16 | time))
    }
}

impl Chooser for PartialOrder {
    fn start(draws: &mut Draws, _: u32) -> PartialOrder {
        PartialOrder { key: draws.any(), nodes: [0; NODES + 1], tasks: [0; TASKS + 1] }
    }

    #[inline]
    fn takes(&mut self, action: Action) {
        let node = action.node().map_or(0, |it| it.0 as usize + 1);
        let task = action.task().map_or(0, |it| it.0 as usize + 1);
        self.nodes[node] = self.nodes[node].wrapping_add(1);
        self.tasks[task] = self.tasks[task].wrapping_add(1);
    }

    fn choose(&mut self, enabled: &Enabled, among: Among, _: &mut Draws) -> Option<usize> {
        let wanted = enabled.iter().enumerate().filter(|(_, it)| among.includes(**it));
        wanted.max_by_key(|(_, it)| self.priority(**it)).map(|it| it.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::place::{NodeId, TaskId};
    use crate::model::rules::Rule;

    fn actions() -> [Action; 4] {
        let (n, t) = (Some(NodeId(1)), Some(TaskId(0)));
        [
            Action::new(Rule::WorkerReads, n, t),
            Action::new(Rule::CrWatchReceives, n, None),
            Action::new(Rule::DataMoverPolls, None, t),
            Action::new(Rule::CrWatchReceives, Some(NodeId(0)), None),
        ]
        .map(|it| it.expect("the rule has such places"))
    }

    /// The priorities are part of the contract: a seed that found something must find it again.
    #[test]
    fn the_priorities_of_a_seed_never_change() {
        let it = PartialOrder::start(&mut Draws::of(7, 3), 0);
        assert_eq!(actions().map(|action| it.priority(action) >> 48), [23_683, 37_307, 55_274, 24_425]);
        assert_eq!(it.priority(Action::clock()) >> 48, 7_657);
    }

    /// What shares no place with the action that was taken keeps its priority.
    #[test]
    fn an_action_draws_anew_for_its_neighbours_only() {
        let mut it = PartialOrder::start(&mut Draws::of(7, 3), 0);
        let before = actions().map(|action| it.priority(action));
        it.takes(actions()[1]);
        let after = actions().map(|action| it.priority(action));
        let kept: Vec<bool> = before.iter().zip(&after).map(|(before, after)| before == after).collect();
        assert_eq!(kept, [false, false, true, true]);
        let clock = it.priority(Action::clock());
        it.takes(actions()[0]);
        assert_eq!(it.priority(Action::clock()), clock);
        it.takes(Action::clock());
        assert_ne!(it.priority(Action::clock()), clock);
        assert_eq!(it.priority(actions()[3]), after[3]);
    }
}
