use rand_chacha::ChaCha8Rng;

use super::{Fired, Normal, Scheduler, uniform};
use crate::model::rules::{Action, Class, Enabled, Rule};

/// Chooses beforehand at which visible change operators and faults strike, and by chance among all else in between;
/// then the normal schedule goes on to rest.
///
/// Operators and faults are enabled nearly always, so a uniform choice spends them in the first steps of a run.
/// Placing them over the whole run finds most races orders of magnitude sooner. The chance among the rest is not
/// uniform either: each run draws a weight for every rule, so that in some runs somebody is always late.
#[derive(Clone, Debug)]
pub struct Placed {
    rng: ChaCha8Rng,
    /// Steps that are still chosen by chance.
    left: u32,
    /// Visible changes so far.
    changes: u32,
    /// At which of them somebody strikes, and after how many more steps; latest first.
    strikes: [(u32, u32); Placed::STRIKES],
    /// How likely each rule is, as a weight.
    weights: [u32; Rule::ALL.len()],
}

impl Placed {
    /// The most strikes of a run.
    const STRIKES: usize = 4;
    /// Visible changes over which strikes are spread, at the least; a normal task makes about a dozen.
    const CHANGES: u32 = 8;
    /// A strike comes fewer steps after its visible change than the powers of two below this one's: nothing changes
    /// visibly while a mover transfers.
    const DELAYS: u32 = 7;
    /// No strike.
    const NEVER: (u32, u32) = (u32::MAX, 0);
    /// Weights are the powers of two below this one's.
    const WEIGHTS: u32 = 8;

    /// Run `index` of the campaign with seed `seed`.
    pub fn new(seed: u64, index: u64) -> Placed {
        let mut rng = uniform::stream(seed, index);
        let left = uniform::length(&mut rng);
        let changes = Placed::CHANGES << uniform::below(&mut rng, 3);
        let count = 1 + uniform::below(&mut rng, Placed::STRIKES as u32);
        let mut strikes = [Placed::NEVER; Placed::STRIKES];
        for it in strikes.iter_mut().take(count as usize) {
            let delay = 1 << uniform::below(&mut rng, Placed::DELAYS);
            *it = (uniform::below(&mut rng, changes), uniform::below(&mut rng, delay));
        }
        strikes.sort_unstable_by(|a, b| b.cmp(a));
        let weights = [0; Rule::ALL.len()].map(|_: u32| 1 << uniform::below(&mut rng, Placed::WEIGHTS));
        Placed { rng, left, changes: 0, strikes, weights }
    }

    fn choose(&mut self, enabled: &Enabled, wanted: impl Fn(Class) -> bool) -> Option<usize> {
        let weight = |it: &Action| if wanted(it.class()) { self.weights[it.rule() as usize] } else { 0 };
        let total: u32 = enabled.iter().map(weight).sum();
        if total == 0 {
            return None;
        }
        let mut drawn = uniform::below(&mut self.rng, total);
        enabled.iter().position(|it| {
            let weight = if wanted(it.class()) { self.weights[it.rule() as usize] } else { 0 };
            let here = drawn < weight;
            drawn = drawn.saturating_sub(weight);
            here
        })
    }
}

impl Scheduler for Placed {
    fn pick(&mut self, enabled: &Enabled, last: Fired) -> Option<usize> {
        self.changes += u32::from(last.changed);
        if self.left == 0 {
            return Normal::choose(enabled, last.action);
        }
        self.left -= 1;
        if let Some(next) = self.strikes.iter().rposition(|it| it.0 <= self.changes) {
            if self.strikes[next].1 > 0 {
                self.strikes[next].1 -= 1;
            } else if let Some(strike) = self.choose(enabled, |it| matches!(it, Class::Operator | Class::Fault)) {
                self.strikes[next] = Placed::NEVER;
                self.strikes.sort_unstable_by(|a, b| b.cmp(a));
                return Some(strike);
            }
        }
        self.choose(enabled, |it| matches!(it, Class::Step | Class::Clock | Class::Recovery))
    }
}
