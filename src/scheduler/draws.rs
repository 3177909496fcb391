use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The random numbers of one run.
///
/// The stream is `ChaCha8` with the seed in its first eight bytes, and the run's index as its stream. How a number
/// below a bound is drawn is fixed here, since a dependency's way may change under a seed. There are no floats.
#[derive(Clone, Debug)]
pub struct Draws(ChaCha8Rng);

impl Draws {
    /// Those of run `index` of the campaign with seed `seed`.
    pub fn of(seed: u64, index: u64) -> Draws {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(bytes);
        rng.set_stream(index);
        Draws(rng)
    }

    /// A number below `bound`, which is not 0, by multiplying and shifting; the bias is below `bound` / 2^32.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.0.next_u32()) * u64::from(bound)) >> 32) as u32
    }

    /// Any number.
    pub fn any(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// How many steps of a run are chosen by chance.
    pub fn length(&mut self) -> u32 {
        const MIN: u32 = 30;
        const MAX: u32 = 400;
        MIN + self.below(MAX - MIN)
    }
}

/// A number that looks random, and is always the same for the same `number`: the finalizer of `SplitMix64`.
#[inline]
pub(super) fn mixed(number: u64) -> u64 {
    let mut it = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    it = (it ^ (it >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    it = (it ^ (it >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    it ^ (it >> 31)
}

/// The first `until` bytes of a name as a number, by FNV-1a: it stays the same when other names come and go.
pub(super) const fn hashed(name: &str, until: usize) -> u32 {
    let bytes = name.as_bytes();
    let mut hash: u32 = 0x811C_9DC5;
    let mut at = 0;
    while at < until {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stream is part of the contract: a seed that found something must find it again.
    #[test]
    fn the_stream_of_a_seed_never_changes() {
        let mut it = Draws::of(7, 3);
        let drawn: Vec<u32> = (0..6).map(|_| it.below(1000)).collect();
        assert_eq!(drawn, [674, 662, 674, 504, 785, 736]);
        assert_eq!(it.any(), 797_418_020_992_249_550);
        assert_eq!((mixed(0), mixed(1)), (0xE220_A839_7B1D_CDAF, 0x910A_2DEC_8902_5CC1));
        assert_eq!(hashed("worker::reads", 6), 0x95CE_3757);
    }

    /// Every number below the bound comes, about as often as any other.
    #[test]
    fn numbers_below_a_bound_are_spread_over_it() {
        let mut it = Draws::of(1, 0);
        let mut counts = [0_u32; 7];
        for _ in 0..7_000 {
            counts[it.below(7) as usize] += 1;
        }
        assert!(counts.iter().all(|it| (850..1150).contains(it)), "{counts:?}");
    }
}
