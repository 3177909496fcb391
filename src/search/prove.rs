//! Every reachable world of a small scope.
//!
//! The search goes through the worlds of price 0, then through those up to price 1, and so on, each time by the number
//! of steps from the start. So the first violation of an invariant is the cheapest, by price and then steps.
//!
//! How long an invariant has been broken is no part of a world. A world is left again when it is met with an invariant
//! that has been broken for longer than ever before there. What is met with less is left out: whatever is broken too long
//! after less is broken too long after more, and no later. So each limit is checked exactly, and the worlds are as many
//! as without such invariants.

mod engine;
mod frontier;
mod livelock;
mod table;

use std::fmt;
use std::sync::atomic::AtomicBool;

use super::Cut;
use crate::model::design::Design;
use crate::model::place::TaskId;
use crate::model::rules::Action;
use crate::scenario::Scenario;

pub use livelock::Livelock;

/// Who is told how far a proof is: at which price, and what it has seen there.
pub type Told<'a> = &'a (dyn Fn(u8, &Extent) + Sync);

/// How far a proof goes.
#[derive(Clone, Copy)]
pub struct Bounds<'a> {
    /// The highest price; a scenario allows no more than its own.
    pub up_to: u8,
    /// The most worlds that it visits for one price, those of lower prices included.
    pub most_worlds: usize,
    /// Threads that share the work. The answer does not depend on them.
    pub jobs: usize,
    /// Ends it early once this is true; what it had covered by then is told as [`Proof::partial`].
    pub stop: Option<&'a AtomicBool>,
    /// Told some ten times a second or more often, by the thread that called.
    pub told: Option<Told<'a>>,
}

impl Default for Bounds<'_> {
    /// All prices, a hundred million worlds, one thread, to the end.
    fn default() -> Self {
        Bounds { up_to: u8::MAX, most_worlds: 100_000_000, jobs: 1, stop: None, told: None }
    }
}

impl Bounds<'_> {
    /// About how many bytes the search may take at the most: what is known of each world, and the worlds themselves
    /// while they wait to be left.
    pub fn memory(&self, scenario: &Scenario) -> u128 {
        (self.most_worlds as u128).saturating_mul(engine::bytes_each(scenario) as u128)
    }
}

impl fmt::Debug for Bounds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bounds { up_to, most_worlds, jobs, stop, told } = self;
        let mut out = f.debug_struct("Bounds");
        out.field("up_to", up_to).field("most_worlds", most_worlds).field("jobs", jobs);
        out.field("stop", stop).field("told", &told.is_some()).finish()
    }
}

/// The cheapest violation of an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cheapest {
    /// Which invariant: its index in [`INVARIANTS`](crate::invariants::INVARIANTS).
    pub invariant: usize,
    /// For which task.
    pub task: TaskId,
    /// What the outside world had to do wrong for it: no violation has a lower price.
    pub price: u8,
    /// Steps until then, the scenario's prefix included: no violation of that price has fewer.
    pub steps: u32,
    /// The actions that bring it about, without the prefix. The last one breaks the invariant, or leads to the world at rest
    /// that does.
    pub schedule: Vec<Action>,
}

/// What there is up to a price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Worlds.
    pub worlds: u64,
    /// Actions out of them.
    pub transitions: u64,
    /// Worlds at rest with no passing fault in force.
    pub at_rest: u64,
    /// How often a world was left again, since an invariant had been broken there for longer than before.
    pub again: u64,
    /// Steps to the farthest world, the scenario's prefix included.
    pub steps: u32,
    /// How often the normal schedule was followed to rest, in search of a livelock.
    pub followed: u64,
}

/// How far a search came that stopped early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partial {
    /// At which price it stopped.
    pub price: u8,
    /// Every schedule up to this price and of up to so many steps was tried, the scenario's prefix included.
    pub steps: u32,
    /// What it had seen by then.
    pub extent: Extent,
    /// Why it stopped.
    pub stopped: Cut,
}

impl Partial {
    /// Whether every schedule up to this price and length was tried.
    pub fn has_tried(&self, price: u8, steps: u32) -> bool {
        (price, steps) <= (self.price, self.steps)
    }
}

/// What an exhaustive search showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// What was searched.
    pub scenario: Scenario,
    /// The name of the design.
    pub design: &'static str,
    /// What there is up to each price that was searched to the end, from price 0.
    pub complete: Vec<Extent>,
    /// Where it stopped early.
    pub partial: Option<Partial>,
    /// The cheapest violation of each invariant that can be broken, in the order of [`INVARIANTS`](crate::invariants::INVARIANTS).
    pub broken: Vec<Cheapest>,
    /// The normal schedule goes on for ever, at the lowest price.
    pub livelock: Option<Livelock>,
    /// Bytes that the visited worlds and the ways to them took at the end, without the frontier.
    pub memory: usize,
}

impl Proof {
    /// Up to which price every schedule was tried; nothing, where not even price 0 was.
    pub fn up_to(&self) -> Option<u8> {
        (self.complete.len() as u8).checked_sub(1)
    }

    /// The cheapest violation of an invariant, by its index.
    pub fn cheapest(&self, invariant: usize) -> Option<&Cheapest> {
        self.broken.iter().find(|it| it.invariant == invariant)
    }

    /// The odds that any two worlds shared their 64 bits, so that one was taken for the other, are one in this many.
    pub fn odds(&self) -> u128 {
        let largest = self.partial.map(|it| it.extent.worlds).max(self.complete.last().map(|it| it.worlds));
        let worlds = u128::from(largest.unwrap_or(0)).max(2);
        (1 << 65) / (worlds * worlds)
    }
}

/// Visits every reachable world, in order of price and then of steps.
///
/// Time moves as the scenario's [ticks](crate::model::time::Ticks) say. Every run of the model is among the schedules
/// that are tried, but not every real alignment of exact timers is a run of the model.
///
/// A livelock is a schedule after which the normal one, in which everybody takes turns, goes on for ever; what only an
/// unfair schedule can keep going is none.
///
/// It stops at a bound on worlds, or when it is told to, with an honest partial answer.
///
/// # Panics
///
/// When the scope of the scenario is too large, or its prefix is not enabled.
pub fn prove(scenario: &Scenario, design: &dyn Design, bounds: Bounds<'_>) -> Proof {
    let mut proof = Proof {
        scenario: scenario.clone(),
        design: design.name(),
        complete: Vec::new(),
        partial: None,
        broken: Vec::new(),
        livelock: None,
        memory: 0,
    };
    for price in 0..=scenario.price.min(bounds.up_to) {
        // The worlds of lower prices are gone through once more: a disturbance may strike in any of them, and to keep
        // them all would take more room than they take time.
        let capped = Scenario { price, ..scenario.clone() };
        let mut search = engine::Search::new(&capped, design, bounds);
        search.spares(&proof.broken, proof.livelock.is_some());
        let went = search.goes();
        proof.broken.extend(search.broken());
        proof.livelock = proof.livelock.or_else(|| search.livelock());
        proof.memory = search.memory();
        let extent = search.extent();
        if let Err((steps, stopped)) = went {
            proof.partial = Some(Partial { price, steps, extent, stopped });
            break;
        }
        proof.complete.push(extent);
    }
    proof.broken.sort_by_key(|it| it.invariant);
    proof
}
