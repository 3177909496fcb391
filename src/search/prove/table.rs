//! What a search remembers of the worlds that it has met: 64 bits of each.

pub(super) use crate::search::fingerprint::{fingerprint, mixed};

/// A search is divided by the first bits of the fingerprints, always into as many parts: so what it finds does not
/// depend on how many threads share them.
pub(super) const PARTS: usize = 1 << PART_BITS;
const PART_BITS: u32 = 4;

/// The key of what is remembered beside a world of an invariant and a task; it belongs to the same part as the world.
#[inline]
pub(super) fn beside(fingerprint: u64, invariant: u8, t: u8) -> u64 {
    const REST: u64 = u64::MAX >> PART_BITS;
    let mixed = mixed(fingerprint, u64::from(invariant) << 8 | u64::from(t));
    (fingerprint & !REST) | (mixed & REST).max(1)
}

/// The part to which a fingerprint belongs.
#[inline]
pub(super) fn part(fingerprint: u64) -> usize {
    (fingerprint >> (64 - PART_BITS)) as usize
}

/// Values by fingerprint, with open addressing.
///
/// The home of a fingerprint grows with it, so that growing goes through the old and the new places in order, and the
/// size need not be a power of two: at most three places in four are taken, at least every second once it has grown.
#[derive(Debug)]
pub(super) struct Table<V> {
    keys: Vec<u64>,
    values: Vec<V>,
    len: usize,
}

impl<V: Copy + Default> Default for Table<V> {
    fn default() -> Table<V> {
        Table::with_places(Table::<V>::LEAST)
    }
}

impl<V: Copy + Default> Table<V> {
    const LEAST: usize = 1 << 8;

    fn with_places(places: usize) -> Table<V> {
        Table { keys: vec![0; places], values: vec![V::default(); places], len: 0 }
    }

    /// Bytes that it takes.
    pub(super) fn size(&self) -> usize {
        self.keys.len() * (size_of::<u64>() + size_of::<V>())
    }

    #[inline]
    fn home(&self, key: u64) -> usize {
        ((u128::from(key << PART_BITS) * self.keys.len() as u128) >> 64) as usize
    }

    /// What stands at the home of a key. To look at many homes before the keys are looked up lets the memory fetch them
    /// side by side.
    #[inline]
    pub(super) fn touch(&self, key: u64) -> u64 {
        self.keys[self.home(key)]
    }

    /// The place of a key, or the free place where it would be.
    #[inline]
    fn place(&self, key: u64) -> (usize, bool) {
        let mut at = self.home(key);
        loop {
            let found = self.keys[at];
            if found == key {
                return (at, true);
            }
            if found == 0 {
                return (at, false);
            }
            at = if at + 1 == self.keys.len() { 0 } else { at + 1 };
        }
    }

    #[inline]
    pub(super) fn contains(&self, key: u64) -> bool {
        self.place(key).1
    }

    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<V> {
        let (at, found) = self.place(key);
        found.then(|| self.values[at])
    }

    /// Sets the value of a key; returns whether the key is new.
    pub(super) fn insert(&mut self, key: u64, value: V) -> bool {
        if self.len * 4 >= self.keys.len() * 3 {
            self.grow();
        }
        let (at, found) = self.place(key);
        self.keys[at] = key;
        self.values[at] = value;
        self.len += usize::from(!found);
        !found
    }

    fn grow(&mut self) {
        let mut larger = Table::with_places(self.keys.len() / 2 * 3);
        for (&key, &value) in self.keys.iter().zip(&self.values).filter(|it| *it.0 != 0) {
            let at = larger.place(key).0;
            larger.keys[at] = key;
            larger.values[at] = value;
        }
        larger.len = self.len;
        *self = larger;
    }

    /// Forgets all keys, and what it no longer needs of its room.
    pub(super) fn clear(&mut self) {
        if self.len * 8 < self.keys.len() {
            *self = Table::with_places((self.len * 2).max(Table::<V>::LEAST));
        } else {
            self.keys.fill(0);
            self.len = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_keeps_what_it_was_given() {
        let mut table = Table::default();
        let keys: Vec<u64> = (0..10_000_u64).map(|it| mixed(it, 7)).collect();
        for (value, &key) in keys.iter().enumerate() {
            assert!(!table.contains(key));
            assert!(table.insert(key, value as u16));
            assert!(!table.insert(key, value as u16));
        }
        assert_eq!(table.len, keys.len());
        assert!(keys.iter().enumerate().all(|(value, &key)| table.get(key) == Some(value as u16)));
        assert!(table.size() <= keys.len() * 2 * 10 + 10 * Table::<u16>::LEAST);
        table.clear();
        assert!(table.len == 0 && keys.iter().all(|&key| !table.contains(key)));
    }
}
