use super::chooser::{evenly, family};
use super::draws::mixed;
use super::{Among, Chooser, Draws};
use crate::model::rules::{Action, Enabled};

/// Up to a step that each run draws, some kinds of action have to wait until nobody else can act, time included.
///
/// A kind is what begins with the same word, such as all ways in which a transfer ends: so in some runs transfers take
/// their time and run side by side, and in some a cache lags for long.
#[derive(Clone, Debug)]
pub struct Starving {
    key: u64,
    /// Steps for which they still have to wait.
    left: u32,
    /// One kind in so many waits.
    of: u64,
}

impl Starving {
    fn waits(&self, action: Action) -> bool {
        self.left > 0 && mixed(self.key ^ mixed(family(action))).is_multiple_of(self.of)
    }
}

impl Chooser for Starving {
    fn start(draws: &mut Draws, length: u32) -> Starving {
        Starving { key: draws.any(), left: draws.below(length), of: 4 << draws.below(3) }
    }

    #[inline]
    fn takes(&mut self, _: Action) {
        self.left = self.left.saturating_sub(1);
    }

    fn choose(&mut self, enabled: &Enabled, among: Among, draws: &mut Draws) -> Option<usize> {
        evenly(enabled, draws, |it| among.includes(it) && !self.waits(it))
            .or_else(|| evenly(enabled, draws, |it| among.includes(it)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::place::TaskId;
    use crate::model::rules::Rule;

    /// The stream is part of the contract: a seed that found something must find it again.
    #[test]
    fn who_waits_by_a_seed_never_changes() {
        let it = Starving::start(&mut Draws::of(7, 3), 100);
        assert_eq!((it.key >> 48, it.left, it.of), (43_445, 67, 8));
    }

    /// All ways in which a transfer ends wait together, and not for ever.
    #[test]
    fn a_kind_waits_as_a_whole() {
        let at = |rule| Action::new(rule, None, Some(TaskId(0))).expect("it has such a place");
        let ends = [
            Rule::DataMoverTransferEndsCanceled,
            Rule::DataMoverTransferEndsCompleted,
            Rule::DataMoverTransferEndsFailed,
        ];
        let mut waited = 0;
        for index in 0..100 {
            let mut it = Starving::start(&mut Draws::of(1, index), 100);
            let waits = it.waits(at(ends[0]));
            assert!(ends.iter().all(|rule| it.waits(at(*rule)) == waits));
            waited += u32::from(waits);
            (0..100).for_each(|_| it.takes(at(ends[0])));
            assert!(!it.waits(at(ends[0])));
        }
        assert!((5..50).contains(&waited), "{waited}");
    }
}
