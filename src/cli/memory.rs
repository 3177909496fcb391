//! Whether there is memory for a search, before it begins.

use std::fs;

use vgdp_sim::report::grouped;

/// More than there is room for.
pub struct Lacks {
    /// Bytes that are free.
    pub free: u128,
    /// What it may take, and what is free, for people.
    pub told: String,
}

/// What is lacking, if a search may take so many bytes and so many are not free; nothing where the system does not say.
pub fn lacks(needed: u128) -> Option<Lacks> {
    let free = free().filter(|it| needed > *it)?;
    let mb = |bytes: u128| grouped(u64::try_from(bytes >> 20).unwrap_or(u64::MAX));
    Some(Lacks { free, told: format!("may take {} MB, and {} MB are free", mb(needed), mb(free)) })
}

/// Bytes that are free for a new process, where the system says so.
fn free() -> Option<u128> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|it| it.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u128>().ok().map(|it| it << 10)
}
