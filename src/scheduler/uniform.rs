use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::{Fired, Normal, Scheduler};
use crate::model::rules::Enabled;

/// Chooses uniformly among all that is enabled for a while, operators and faults included; then the normal schedule
/// goes on to rest.
///
/// The stream is `ChaCha8` with the seed in its first eight bytes, and the run's index as its stream. How a number below
/// a bound is drawn is fixed here, since a dependency's way may change under a seed.
#[derive(Clone, Debug)]
pub struct Uniform {
    rng: ChaCha8Rng,
    left: u32,
}

impl Uniform {
    /// Run `index` of the campaign with seed `seed`.
    pub fn new(seed: u64, index: u64) -> Uniform {
        let mut rng = stream(seed, index);
        let left = length(&mut rng);
        Uniform { rng, left }
    }
}

/// The random numbers of run `index` of the campaign with seed `seed`.
pub(super) fn stream(seed: u64, index: u64) -> ChaCha8Rng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut rng = ChaCha8Rng::from_seed(bytes);
    rng.set_stream(index);
    rng
}

/// How many steps of a run are chosen by chance.
pub(super) fn length(rng: &mut ChaCha8Rng) -> u32 {
    const MIN: u32 = 30;
    const MAX: u32 = 400;
    MIN + below(rng, MAX - MIN)
}

/// A number below `bound`, which is not 0, by multiplying and shifting; the bias is below `bound` / 2^32.
pub(super) fn below(rng: &mut ChaCha8Rng, bound: u32) -> u32 {
    ((u64::from(rng.next_u32()) * u64::from(bound)) >> 32) as u32
}

impl Scheduler for Uniform {
    fn pick(&mut self, enabled: &Enabled, last: Fired) -> Option<usize> {
        if self.left == 0 {
            return Normal::choose(enabled, last.action);
        }
        self.left -= 1;
        Some(below(&mut self.rng, enabled.len() as u32) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stream is part of the contract: a seed that found something must find it again.
    #[test]
    fn the_stream_of_a_seed_never_changes() {
        let mut it = Uniform::new(7, 3);
        let drawn: Vec<u32> = (0..6).map(|_| below(&mut it.rng, 1000)).collect();
        assert_eq!((it.left, drawn), (279, vec![662, 674, 504, 785, 736, 88]));
    }
}
