//! The garbage collector of Kubernetes.

use super::place::TaskId;
use super::rules::Step;
use crate::require;

/// It deletes what a gone custom resource owned: its pod and its PVC.
///
/// Spec: K5, B6. Kubernetes: `garbagecollector.go`, `attemptToDeleteItem`.
pub fn collects(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    let task = &now.tasks[t];
    require!(now.has_garbage(t));
    step.within(task.garbage)?;
    step.waits_for(step.now().pod_log_has_room(t))?;

    let setup = step.setup;
    let next = step.fires()?;
    next.delete_pod(setup, t);
    next.tasks[t].pod.volume = false;
    Some(())
}
