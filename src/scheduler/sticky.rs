use super::chooser::{Goroutine, evenly, goroutine};
use super::{Among, Chooser, Draws};
use crate::model::rules::{Action, Enabled};

/// The goroutine that acted last acts again, as long as it may, with a probability that each run draws.
///
/// So in some runs everybody goes far before anybody else moves, as real processes do.
#[derive(Clone, Debug)]
pub struct Sticky {
    /// How likely the same goes on, in sixteenths.
    sixteenths: u32,
    last: Option<Goroutine>,
}

impl Chooser for Sticky {
    fn start(draws: &mut Draws, _: u32) -> Sticky {
        Sticky { sixteenths: draws.below(16), last: None }
    }

    #[inline]
    fn takes(&mut self, action: Action) {
        self.last = Some(goroutine(action));
    }

    fn choose(&mut self, enabled: &Enabled, among: Among, draws: &mut Draws) -> Option<usize> {
        let stays = draws.below(16) < self.sixteenths;
        let again = |it| among.includes(it) && self.last == Some(goroutine(it));
        let same = if stays { evenly(enabled, draws, again) } else { None };
        same.or_else(|| evenly(enabled, draws, |it| among.includes(it)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stream is part of the contract: a seed that found something must find it again.
    #[test]
    fn the_stickiness_of_a_seed_never_changes() {
        let drawn: Vec<u32> = (0..8).map(|index| Sticky::start(&mut Draws::of(7, index), 0).sixteenths).collect();
        assert_eq!(drawn, [2, 2, 11, 10, 15, 8, 5, 2]);
    }
}
