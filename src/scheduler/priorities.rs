use super::chooser::{Goroutine, evenly, goroutine};
use super::draws::mixed;
use super::{Among, Chooser, Draws};
use crate::model::rules::{Action, Enabled};

/// Probabilistic concurrency testing: each goroutine has a random priority, and the highest that can act does. At up to
/// nine steps, drawn beforehand, the goroutine that has just acted falls behind all others.
///
/// A race that needs *d* orderings is found with a probability that depends on *d* and hardly on the length of the run.
#[derive(Clone, Debug)]
pub struct Priorities {
    key: u64,
    /// Steps so far.
    steps: u32,
    /// At which steps somebody falls behind, in their order; those that never come are first.
    falls: [u32; Priorities::FALLS],
    /// Who fell behind at each of them.
    fallen: [Option<Goroutine>; Priorities::FALLS],
}

impl Priorities {
    /// One less than the most orderings that a run is made for.
    const FALLS: usize = 9;
    /// Steps are counted from 1.
    const NEVER: u32 = 0;

    /// Those that have fallen behind come after all others, the last of them last.
    fn priority(&self, action: Action) -> (usize, u64) {
        let it = goroutine(action);
        let fallen = self.fallen.iter().rposition(|fallen| *fallen == Some(it));
        (fallen.map_or(Priorities::FALLS, |rank| Priorities::FALLS - 1 - rank), mixed(self.key ^ mixed(it)))
    }
}

impl Chooser for Priorities {
    fn start(draws: &mut Draws, length: u32) -> Priorities {
        let key = draws.any();
        let count = 1 + draws.below(Priorities::FALLS as u32);
        let mut falls = [Priorities::NEVER; Priorities::FALLS];
        for it in falls.iter_mut().take(count as usize) {
            *it = 1 + draws.below(length);
        }
        falls.sort_unstable();
        Priorities { key, steps: 0, falls, fallen: [None; Priorities::FALLS] }
    }

    fn takes(&mut self, action: Action) {
        self.steps += 1;
        if let Ok(at) = self.falls.binary_search(&self.steps) {
            self.fallen[at] = Some(goroutine(action));
        }
    }

    fn choose(&mut self, enabled: &Enabled, among: Among, draws: &mut Draws) -> Option<usize> {
        let wanted = enabled.iter().filter(|it| among.includes(**it));
        let first = wanted.max_by_key(|it| self.priority(**it)).map(|it| goroutine(*it))?;
        evenly(enabled, draws, |it| among.includes(it) && goroutine(it) == first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::place::{NodeId, TaskId};
    use crate::model::rules::Rule;

    /// The priorities are part of the contract: a seed that found something must find it again.
    #[test]
    fn the_priorities_of_a_seed_never_change() {
        let it = Priorities::start(&mut Draws::of(7, 3), 100);
        let reads = Action::new(Rule::WorkerReads, Some(NodeId(1)), Some(TaskId(0))).expect("it has such places");
        assert_eq!(it.falls, [0, 0, 1, 5, 9, 51, 74, 76, 79]);
        assert_eq!((it.priority(reads).0, it.priority(reads).1 >> 48), (9, 29_857));
    }

    /// Whoever acts at a step that was drawn falls behind all others, and behind those that fell before.
    #[test]
    fn who_falls_comes_last() {
        let at = |rule, n, t| Action::new(rule, n, t).expect("it has such places");
        let (n, t) = (Some(NodeId(0)), Some(TaskId(0)));
        let (reads, polls, hears) =
            (at(Rule::WorkerReads, n, t), at(Rule::DataMoverPolls, None, t), at(Rule::CrWatchReceives, n, None));
        let mut it = Priorities::start(&mut Draws::of(7, 3), 100);
        it.falls = [0, 0, 0, 0, 0, 0, 0, 2, 3];
        for action in [hears, reads, polls] {
            it.takes(action);
        }
        assert!(it.priority(hears) > it.priority(reads) && it.priority(reads) > it.priority(polls));
        assert!(it.priority(at(Rule::WorkerGets, n, t)) < it.priority(hears), "a goroutine falls, not an action");
    }
}
