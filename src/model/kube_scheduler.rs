//! The scheduler of Kubernetes.

use super::api_server::PodPhase;
use super::place::{Host, NodeId, TaskId};
use super::rules::Step;
use super::time::Obligation;
use super::watch::PodEvent;
use crate::require;

/// It binds the pod to a node; a pod whose volume is gone stays Pending.
///
/// Spec: K1, D8. Kubernetes: `schedule_one.go`, `bind`.
pub fn binds(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    let pod = now.tasks[t].pod;
    require!(pod.phase == PodPhase::Pending, pod.host == Host::NOBODY, pod.volume);
    require!(step.setup.volumes_at == Host::NOBODY || step.setup.volumes_at.is(n));
    step.waits_for(step.now().nodes[n].pods.has_room())?;

    let start = step.window(Obligation::ContainerStart);
    let next = step.fires()?;
    next.tasks[t].pod.host = Host::at(n);
    next.tasks[t].kubelet.start = start;
    next.log_pod(t, PodPhase::Pending, PodEvent::Added);
    Some(())
}
