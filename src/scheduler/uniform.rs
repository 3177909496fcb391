use super::{Among, Chooser, Draws, Even, Fired, Normal, Scheduler};
use crate::model::rules::Enabled;

/// Chooses uniformly among all that is enabled for a while, operators and faults included; then the normal schedule
/// goes on to rest.
#[derive(Clone, Debug)]
pub struct Uniform {
    draws: Draws,
    left: u32,
}

impl Uniform {
    /// Run `index` of the campaign with seed `seed`.
    pub fn new(seed: u64, index: u64) -> Uniform {
        let mut draws = Draws::of(seed, index);
        let left = draws.length();
        Uniform { draws, left }
    }
}

impl Scheduler for Uniform {
    fn pick(&mut self, enabled: &Enabled, last: Fired) -> Option<usize> {
        if self.left == 0 {
            return Normal::choose(enabled, last.action);
        }
        self.left -= 1;
        Even.choose(enabled, Among::All, &mut self.draws)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stream is part of the contract: a seed that found something must find it again.
    #[test]
    fn the_stream_of_a_seed_never_changes() {
        let mut it = Uniform::new(7, 3);
        let drawn: Vec<u32> = (0..6).map(|_| it.draws.below(1000)).collect();
        assert_eq!((it.left, drawn), (279, vec![662, 674, 504, 785, 736, 88]));
    }
}
