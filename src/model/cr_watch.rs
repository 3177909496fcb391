//! A node-agent's informer of custom resources, and the listener of its controller.

use super::place::{NodeId, TaskId};
use super::rules::Step;
use super::time::Window;
use crate::require;

/// Its cache takes the next version of a custom resource.
///
/// Spec: K8S-5, D1, E1, E6. client-go: `shared_informer.go`, `handleDeltas`.
pub fn receives(step: &mut Step<'_>, n: NodeId) -> Option<()> {
    let now = step.now();
    let stream = &now.nodes[n].crs;
    require!(!stream.broken, stream.seen < now.shared.cr_log.len);

    let merged = step.setup.merges_enqueue;
    let next = step.fires()?;
    let entry = next.shared.cr_log.entries[next.nodes[n].crs.seen as usize];
    next.nodes[n].crs.seen += 1;
    next.tasks[entry.task].at[n].cr = entry.cr;
    if merged {
        next.nodes[n].crs.told += 1;
        next.enqueue(n, entry.task);
    }
    Some(())
}

/// The controller's listener is told of a version and enqueues its key.
///
/// Spec: N1, E6. Velero: `pkg/controller/data_upload_controller.go`, `SetupWithManager`.
pub fn enqueues(step: &mut Step<'_>, n: NodeId) -> Option<()> {
    let now = step.now();
    let stream = now.nodes[n].crs;
    require!(stream.told < stream.seen || stream.relisted != 0);

    let next = step.fires()?;
    if stream.relisted != 0 {
        let t = TaskId(stream.relisted.trailing_zeros() as u8);
        let bit = 1 << t.0;
        if stream.unchanged & bit == 0 {
            next.enqueue(n, t);
        } else {
            next.enqueue_low(n, t);
        }
        next.nodes[n].crs.relisted &= !bit;
        next.nodes[n].crs.unchanged &= !bit;
    } else {
        let t = next.shared.cr_log.entries[stream.told as usize].task;
        next.nodes[n].crs.told += 1;
        next.enqueue(n, t);
    }
    Some(())
}

/// Its broken watch of custom resources lists again: the store is swapped at once, and all that lay between is lost.
///
/// Spec: K8S-5, E4, E9. client-go: `the_real_fifo.go`, `Replace`.
pub fn relists(step: &mut Step<'_>, n: NodeId) -> Option<()> {
    let now = step.now();
    require!(now.nodes[n].crs.broken);
    step.within(now.nodes[n].crs.relist)?;

    let next = step.fires()?;
    for t in next.task_ids() {
        let listed = next.tasks[t].cr;
        let known = next.tasks[t].at[n].cr;
        if known.exists || listed.exists {
            let pending = next.nodes[n].crs.relisted & (1 << t.0) != 0;
            next.nodes[n].crs.relisted |= 1 << t.0;
            if known != listed || next.nodes[n].crs.missed & (1 << t.0) != 0 {
                next.nodes[n].crs.unchanged &= !(1 << t.0);
            } else if !pending {
                next.nodes[n].crs.unchanged |= 1 << t.0;
            }
        }
        next.tasks[t].at[n].cr = listed;
    }
    let end = next.end_of_cr_log();
    let stream = &mut next.nodes[n].crs;
    stream.seen = end;
    stream.told = end;
    stream.missed = 0;
    stream.broken = false;
    stream.relist = Window::OFF;
    Some(())
}
