//! Searching for schedules that break an invariant.

mod bugs;
mod compare;
mod conforms;
mod coverage;
mod deviate;
mod explain;
mod fingerprint;
mod hunt;
mod prove;
mod seed;
mod sensitivity;
mod shard;
mod shrink;
mod sweep;

pub use bugs::Bug;
pub use compare::{By, Cell, Comparison, Effort, Exposed, Pair, Proved, Sampled, compare, compare_shard};
pub use conforms::{NonConformance, conforms};
pub use coverage::{Coverage, Edge, Seen, disturbance};
pub use deviate::deviate;
pub use explain::{
    Cap, Difference, Explained, NoReturn, Recording, Rescue, Stopped, Taken, Twin, Unexplained, explain,
};
pub use hunt::{Answer, Campaign, Finding, Hunt, Vacuous, hunt};
pub use prove::{Bounds, Cheapest, Extent, Livelock, Partial, Proof, Told, prove};
pub use seed::seed;
pub use sensitivity::{Change, Fate, Sensitivity, Trial, sensitivity};
pub use shard::{Shard, ShardError};
pub use shrink::shrink;
pub use sweep::{Broken, Sweep, sweep, sweep_until};

use crate::model::design::Design;
use crate::model::rules::Action;
use crate::run::{Report, observe};
use crate::scenario::Scenario;
use crate::scheduler::Scheduler;

/// Why a sweep or a proof was cut short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It met its bound on worlds; with a higher one it gets farther.
    AtWorlds,
    /// A schedule took [more steps than a run may](crate::run::STEPS) and came to no rest; no bound helps there.
    AtSteps,
    /// Somebody asked it to end.
    Interrupted,
}

/// Runs once more and writes down what is done, without the scenario's prefix.
pub fn record(scenario: &Scenario, design: &dyn Design, scheduler: &mut dyn Scheduler) -> (Report, Vec<Action>) {
    let mut actions = Vec::new();
    let report = observe(scenario, design, scheduler, &mut |it| actions.push(it.action));
    actions.drain(..scenario.prefix().count());
    (report, actions)
}
