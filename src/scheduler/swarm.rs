use super::{Among, Chooser, Draws};
use crate::model::rules::{Action, Enabled, Rule};

/// Each run draws a weight for every rule, so that in some runs somebody is always late.
#[derive(Clone, Debug)]
pub struct Swarm {
    /// How likely each rule is; the clock has one weight, wherever it moves to.
    weights: [u32; Rule::ALL.len()],
}

impl Swarm {
    /// Weights are the powers of two below this one's.
    const WEIGHTS: u32 = 8;
}

impl Chooser for Swarm {
    fn start(draws: &mut Draws, _: u32) -> Swarm {
        let mut weights = [0; Rule::ALL.len()];
        let stops_short = Rule::ClockStopsShort as usize; // the last rule
        weights[..stops_short].fill_with(|| 1 << draws.below(Swarm::WEIGHTS));
        weights[stops_short] = weights[Rule::ClockPasses as usize];
        Swarm { weights }
    }

    fn choose(&mut self, enabled: &Enabled, among: Among, draws: &mut Draws) -> Option<usize> {
        let weight = |it: &Action| if among.includes(*it) { self.weights[it.rule() as usize] } else { 0 };
        let total: u32 = enabled.iter().map(weight).sum();
        if total == 0 {
            return None;
        }
        let mut left = draws.below(total);
        enabled.iter().position(|it| {
            let weight = weight(it);
            let here = left < weight;
            left = left.saturating_sub(weight);
            here
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stream is part of the contract: a seed that found something must find it again.
    #[test]
    fn the_weights_of_a_seed_never_change() {
        let it = Swarm::start(&mut Draws::of(7, 3), 0);
        assert_eq!(it.weights[..10], [32, 32, 32, 16, 64, 32, 1, 1, 64, 1]);
    }
}
