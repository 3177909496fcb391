//! Who chooses what happens next.
//!
//! A scheduler is an oracle that never sees what it schedules: it is shown what is enabled and what the last action
//! was. So chance, enumeration, replay and patience are all schedulers, and none can cheat.

mod chooser;
mod course;
mod draws;
mod even;
mod following;
mod normal;
mod partial_order;
mod placed;
mod policy;
mod priorities;
mod replay;
mod starving;
mod sticky;
mod swarm;
mod uniform;

pub use chooser::{Among, Chooser};
pub(crate) use course::{Course, WAITS};
pub use course::{Departure, Deviating, Deviation, Point, Track, Until};
pub use draws::Draws;
pub use even::Even;
pub(crate) use following::Following;
pub use normal::{Normal, Turn};
pub use partial_order::PartialOrder;
pub use placed::Placed;
pub use policy::{POLICIES, PORTFOLIO, Policy, Portfolio, UnknownPolicy, policy_named};
pub use priorities::Priorities;
pub use replay::Replay;
pub use starving::Starving;
pub use sticky::Sticky;
pub use swarm::Swarm;
pub use uniform::Uniform;

use crate::event::Event;
use crate::model::rules::{Action, Enabled};

/// What happened last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fired {
    /// The action; `None` before the first.
    pub action: Option<Action>,
    /// How many API objects it changed: what an outsider could see of it.
    pub changed: u8,
    /// What changed visibly, if anything did.
    pub event: Option<Event>,
}

/// A source of choice.
pub trait Scheduler {
    /// Chooses one of `enabled`, which is never empty, by its index; `None` ends the run here.
    fn pick(&mut self, enabled: &Enabled, last: Fired) -> Option<usize>;
}
