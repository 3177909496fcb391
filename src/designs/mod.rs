//! Upstream's rivals: each is the home of one opinion, and nothing else in this crate depends on it.
//!
//! They are written as anybody outside would write theirs: by implementing [`Design`] with what differs.

mod close_on_forced_cancel;
mod close_on_terminal;
mod level_triggered_cancel;
mod mover_watches_cr_delete;
mod no_reaction;
mod owner_finalizes;
mod positive_grace;
mod watcher_watches_pod_delete;

pub use close_on_forced_cancel::CloseOnForcedCancel;
pub use close_on_terminal::CloseOnTerminal;
pub use level_triggered_cancel::LevelTriggeredCancel;
pub use mover_watches_cr_delete::{MoverWatchesCrDelete, MoverWatchesCrDeleteGuarded};
pub use no_reaction::NoReaction;
pub use owner_finalizes::OwnerFinalizes;
pub use positive_grace::PositiveGrace;
pub use watcher_watches_pod_delete::WatcherWatchesPodDelete;

pub use crate::model::design::Upstream;

use crate::model::design::Design;

/// The built-in designs, upstream first.
pub static BUILT_IN: &[&dyn Design] = &[
    &Upstream,
    &CloseOnForcedCancel,
    &OwnerFinalizes,
    &CloseOnTerminal,
    &MoverWatchesCrDelete,
    &MoverWatchesCrDeleteGuarded,
    &WatcherWatchesPodDelete,
    &NoReaction,
    &PositiveGrace,
    &LevelTriggeredCancel,
];
