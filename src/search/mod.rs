//! Searching for schedules that break an invariant.

mod bugs;
mod compare;
mod conforms;
mod coverage;
mod deviate;
mod explain;
mod hunt;
mod prove;
mod seed;
mod sensitivity;
mod shrink;
mod sweep;

pub use bugs::Bug;
pub use compare::{Cell, Comparison, Effort, Pair, Sampled, compare};
pub use conforms::{NonConformance, conforms};
pub use coverage::{Coverage, Edge, Seen, disturbance};
pub use deviate::deviate;
pub use explain::{
    Cap, Difference, Explained, NoReturn, Recording, Rescue, Stopped, Taken, Twin, Unexplained, explain,
};
pub use hunt::{Answer, Campaign, Finding, Hunt, Vacuous, hunt};
pub use prove::{Bounds, Cheapest, Extent, Livelock, Partial, Proof, prove};
pub use seed::seed;
pub use sensitivity::{Change, Fate, Sensitivity, Trial, sensitivity};
pub use shrink::shrink;
pub use sweep::{Broken, Sweep, sweep};

use crate::model::design::Design;
use crate::model::rules::Action;
use crate::run::{Report, observe};
use crate::scenario::Scenario;
use crate::scheduler::Scheduler;

/// Runs once more and writes down what is done, without the scenario's prefix.
pub fn record(scenario: &Scenario, design: &dyn Design, scheduler: &mut dyn Scheduler) -> (Report, Vec<Action>) {
    let mut actions = Vec::new();
    let report = observe(scenario, design, scheduler, &mut |it| actions.push(it.action));
    actions.drain(..scenario.prefix().count());
    (report, actions)
}
