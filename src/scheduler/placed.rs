use super::chooser::evenly;
use super::{Among, Chooser, Draws, Fired, Normal, Scheduler, Swarm};
use crate::model::rules::{Enabled, Rule};

/// Chooses beforehand at which visible change operators and faults strike, and lets another choose by chance among all
/// else in between; then the normal schedule goes on to rest.
///
/// Operators and faults are enabled nearly always, so a uniform choice spends them in the first steps of a run.
/// Placing them over the whole run finds most races orders of magnitude sooner, whoever chooses in between.
#[derive(Clone, Debug)]
pub struct Placed<C = Swarm> {
    draws: Draws,
    /// Steps that are still chosen by chance.
    left: u32,
    /// Visible changes so far.
    changes: u32,
    /// At which of them somebody strikes, and after how many more steps; latest first.
    strikes: [(u32, u32); STRIKES],
    keen: Option<Keen>,
    chooser: C,
}

/// Strikes where there is a chance that was not there before.
#[derive(Clone, Debug)]
struct Keen {
    /// It takes one chance in so many.
    of: u32,
    /// What operators and faults could do at the last step, one bit for each rule.
    could: [u128; 2],
}

/// The most strikes of a run.
const STRIKES: usize = 4;
/// Visible changes over which strikes are spread, at the least; a normal task makes about a dozen.
const CHANGES: u32 = 8;
/// A strike comes fewer steps after its visible change than the powers of two below this one's: nothing changes
/// visibly while a mover transfers.
const DELAYS: u32 = 7;
/// One chance is taken in up to so many powers of two.
const CHANCES: u32 = 4;
/// No strike.
const NEVER: (u32, u32) = (u32::MAX, 0);

impl Placed {
    /// Run `index` of the campaign with seed `seed`, with weights for rules.
    pub fn new(seed: u64, index: u64) -> Placed {
        Placed::over(seed, index)
    }
}

impl<C: Chooser> Placed<C> {
    /// Run `index` of the campaign with seed `seed`.
    pub fn over(seed: u64, index: u64) -> Placed<C> {
        let mut draws = Draws::of(seed, index);
        let left = draws.length();
        let changes = CHANGES << draws.below(3);
        let count = 1 + draws.below(STRIKES as u32);
        let mut strikes = [NEVER; STRIKES];
        for it in strikes.iter_mut().take(count as usize) {
            let delay = 1 << draws.below(DELAYS);
            *it = (draws.below(changes), draws.below(delay));
        }
        strikes.sort_unstable_by(|a, b| b.cmp(a));
        let chooser = C::start(&mut draws, left);
        Placed { draws, left, changes: 0, strikes, keen: None, chooser }
    }

    /// The same, and operators and faults also strike where they could not before: what is possible only for a few
    /// steps is hardly ever hit by a strike that is placed beforehand.
    pub fn keen_over(seed: u64, index: u64) -> Placed<C> {
        let mut it = Placed::over(seed, index);
        let of = 2 << it.draws.below(CHANCES);
        it.keen = Some(Keen { of, could: [0; 2] });
        it
    }
}

impl Keen {
    fn strikes(&mut self, enabled: &Enabled, draws: &mut Draws) -> Option<usize> {
        let bit = |rule: Rule| (rule as usize / 128, 1_u128 << (rule as usize % 128));
        let mut can = [0; 2];
        for it in enabled.iter().filter(|it| Among::Outside.includes(**it)) {
            let (word, bit) = bit(it.rule());
            can[word] |= bit;
        }
        let could = std::mem::replace(&mut self.could, can);
        if can[0] & !could[0] == 0 && can[1] & !could[1] == 0 || draws.below(self.of) > 0 {
            return None;
        }
        evenly(enabled, draws, |it| {
            let (word, bit) = bit(it.rule());
            Among::Outside.includes(it) && could[word] & bit == 0
        })
    }
}

impl<C: Chooser> Scheduler for Placed<C> {
    fn pick(&mut self, enabled: &Enabled, last: Fired) -> Option<usize> {
        self.changes += u32::from(last.changed);
        if self.left == 0 {
            return Normal::choose(enabled, last.action);
        }
        self.left -= 1;
        if let Some(action) = last.action {
            self.chooser.takes(action);
        }
        if let Some(keen) = &mut self.keen
            && let Some(strike) = keen.strikes(enabled, &mut self.draws)
        {
            return Some(strike);
        }
        if let Some(next) = self.strikes.iter().rposition(|it| it.0 <= self.changes) {
            if self.strikes[next].1 > 0 {
                self.strikes[next].1 -= 1;
            } else if let Some(strike) = self.chooser.choose(enabled, Among::Outside, &mut self.draws) {
                self.strikes[next] = NEVER;
                self.strikes.sort_unstable_by(|a, b| b.cmp(a));
                return Some(strike);
            }
        }
        self.chooser.choose(enabled, Among::Inside, &mut self.draws)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::Even;

    /// The stream is part of the contract: a seed that found something must find it again.
    #[test]
    fn the_strikes_of_a_seed_never_change() {
        let it = Placed::<Even>::over(7, 3);
        assert_eq!((it.left, it.strikes), (279, [NEVER, (12, 5), (3, 0), (0, 0)]));
        let mut it = Placed::new(7, 3);
        assert_eq!(it.strikes, Placed::<Even>::over(7, 3).strikes);
        assert_eq!(it.draws.below(1_000), 464);
        let keen = Placed::<Even>::keen_over(7, 3);
        assert_eq!((keen.strikes, keen.keen.map(|it| it.of)), (it.strikes, Some(8)));
    }
}
