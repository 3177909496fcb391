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
mod stack;
mod watcher_watches_pod_delete;

pub use close_on_forced_cancel::CloseOnForcedCancel;
pub use close_on_terminal::CloseOnTerminal;
pub use level_triggered_cancel::LevelTriggeredCancel;
pub use mover_watches_cr_delete::{MoverWatchesCrDelete, MoverWatchesCrDeleteGuarded};
pub use no_reaction::NoReaction;
pub use owner_finalizes::OwnerFinalizes;
pub use positive_grace::PositiveGrace;
pub use stack::{Conflict, Stack};
pub use watcher_watches_pod_delete::WatcherWatchesPodDelete;

pub use crate::model::design::Upstream;

use crate::model::design::Design;

/// A design that nobody has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no design is called `{name}`; did you mean `{nearest}`? (`vgdp-sim list designs` shows them all)")]
pub struct UnknownDesign {
    name: String,
    nearest: &'static str,
}

/// The built-in design of that name.
///
/// # Errors
///
/// When there is none; the error names the nearest.
pub fn named(name: &str) -> Result<&'static dyn Design, UnknownDesign> {
    if let Some(it) = BUILT_IN.iter().find(|it| it.name() == name) {
        return Ok(*it);
    }
    let nearest = crate::report::nearest(name, BUILT_IN.iter().map(|it| it.name())).unwrap_or("upstream");
    Err(UnknownDesign { name: name.to_owned(), nearest })
}

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
