//! A node-agent's informer of the pods of its node.

use super::api_server::PodPhase;
use super::place::NodeId;
use super::rules::Step;
use super::time::Window;
use super::watch::{POD_LOG, PodEntry, PodEvent};
use crate::require;

/// Its cache takes the next version of one of its pods.
///
/// Spec: K8S-5, D1, D8. client-go: `shared_informer.go`, `handleDeltas`.
pub fn receives(step: &mut Step<'_>, n: NodeId) -> Option<()> {
    let now = step.now();
    let log = &now.nodes[n].pods;
    require!(log.seen < log.len);

    let next = step.fires()?;
    let entry = next.nodes[n].pods.entries[next.nodes[n].pods.seen as usize];
    next.nodes[n].pods.seen += 1;
    next.tasks[entry.task].at[n].pod = entry.phase;
    Some(())
}

/// Its broken watch of pods lists again: a pod that ended and went in between leaves only a tombstone.
///
/// Spec: K8S-5, E4, E9. client-go: `the_real_fifo.go`, `Replace`.
pub fn relists(step: &mut Step<'_>, n: NodeId) -> Option<()> {
    let now = step.now();
    let log = &now.nodes[n].pods;
    require!(log.broken, POD_LOG - log.len as usize >= now.task_ids().count());
    step.within(now.nodes[n].pods.relist)?;

    let next = step.fires()?;
    next.nodes[n].pods.broken = false;
    next.nodes[n].pods.relist = Window::OFF;
    for gone in [true, false] {
        for t in next.task_ids() {
            let listed = if next.tasks[t].pod.host.is(n) { next.tasks[t].pod.phase } else { PodPhase::Absent };
            let known = next.tasks[t].at[n].pod;
            let event = match (known.exists(), listed.exists()) {
                (true, false) if gone => PodEvent::Tombstone,
                (false, true) if !gone => PodEvent::Added,
                (true, true) if !gone && known == listed => PodEvent::Synced,
                (true, true) if !gone => PodEvent::Modified,
                _ => continue,
            };
            next.nodes[n].pods.push(PodEntry { task: t, phase: listed, event });
            next.tasks[t].at[n].pod = listed;
        }
    }
    next.nodes[n].pods.seen = next.nodes[n].pods.len;
    Some(())
}
