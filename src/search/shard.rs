use std::fmt;
use std::str::FromStr;

/// One of several parts of a comparison, for as many machines: of its pairs of scenario and design, in the order of the
/// scenarios and in each of the designs, shard `i` of `n` holds every `n`th, from the `i`th on. So each pair is in one
/// shard, and each shard has pairs of most scenarios: some of those take far longer than others.
///
/// ```
/// # use vgdp_sim::search::Shard;
/// let shard: Shard = "2/3".parse()?;
/// let held: Vec<usize> = (0..8).filter(|&it| shard.holds(it)).collect();
/// assert_eq!((held, shard.share(8)), (vec![1, 4, 7], 3));
/// assert!("0/3".parse::<Shard>().is_err() && "4/3".parse::<Shard>().is_err());
/// # Ok::<(), vgdp_sim::search::ShardError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard {
    number: u32,
    of: u32,
}

/// A text that names no shard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write which shard of how many, from 1/1 on, as 2/3 for the second of three")]
pub struct ShardError;

impl Shard {
    /// Shard `number` of `of`, counted from 1; there is none unless `1 <= number <= of`.
    pub fn new(number: u32, of: u32) -> Option<Shard> {
        (1..=of).contains(&number).then_some(Shard { number, of })
    }

    /// Which it is, from 1 on.
    pub fn number(self) -> u32 {
        self.number
    }

    /// How many there are.
    pub fn of(self) -> u32 {
        self.of
    }

    /// Whether it holds the pair of that index, from 0 on.
    pub fn holds(self, index: usize) -> bool {
        index as u64 % u64::from(self.of) == u64::from(self.number - 1)
    }

    /// How many of `count` pairs it holds; none, if there are more shards than pairs.
    pub fn share(self, count: usize) -> usize {
        (0..count).filter(|&it| self.holds(it)).count()
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Shard, ShardError> {
        let (number, of) = text.split_once('/').ok_or(ShardError)?;
        let [Ok(number), Ok(of)] = [number, of].map(str::parse) else { return Err(ShardError) };
        Shard::new(number, of).ok_or(ShardError)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}
