//! A node-agent's informer of events, and the handler of a watcher behind it.

use super::data_mover::Stage;
use super::place::{NodeId, TaskId};
use super::rules::Step;
use crate::require;

/// It takes the next event about a mover, and the watcher's handler sends it on.
///
/// Spec: W1c, C10. Velero: `pkg/datapath/micro_service_watcher.go`, `Init`.
pub fn receives(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.tasks[t].watcher.listens_on(n));
    let reason = now.tasks[t].mover.events.next(Stage::Written)?;

    let next = step.fires()?;
    next.tasks[t].mover.events.moves(reason, Stage::Sent);
    Some(())
}
