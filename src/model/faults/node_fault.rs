//! What may go wrong at a node.

use super::super::node_agent::routine::{Op, Plan, Seat};
use super::super::place::NodeId;
use super::super::rules::Step;
use super::super::time::Obligation;
use super::Disturbance;
use crate::require;

/// It breaks a node-agent's watch of custom resources in a way that forces a relist.
///
/// Spec: K8S-5, D7. client-go: `reflector.go`, `handleAnyWatch`.
pub fn breaks_cr_watch(step: &mut Step<'_>, n: NodeId) -> Option<()> {
    require!(step.now().cr_watch_is_up(n));
    let relist = step.window(Obligation::Relist);
    let next = step.spends(Disturbance::BreakCrWatch)?;
    next.break_cr_watch(n, relist);
    Some(())
}

/// It breaks a node-agent's watch of pods in a way that forces a relist.
///
/// Spec: K8S-5, D7. client-go: `reflector.go`, `handleAnyWatch`.
pub fn breaks_pod_watch(step: &mut Step<'_>, n: NodeId) -> Option<()> {
    require!(step.now().pod_watch_is_up(n));
    let relist = step.window(Obligation::Relist);
    let next = step.spends(Disturbance::BreakPodWatch)?;
    next.break_pod_watch(n, relist);
    Some(())
}

/// It lets the exposure of a snapshot fail.
///
/// Spec: EX, R6g. Velero: `pkg/exposer/csi_snapshot.go`, `Expose`.
pub fn fails_expose(step: &mut Step<'_>, n: NodeId) -> Option<()> {
    require!(step.now().nodes[n].worker.plan.first() == Op::Expose);
    let next = step.spends(Disturbance::ExposeFails)?;
    next.replan(Seat::Worker(n), Plan::FAILED);
    Some(())
}

/// It stalls a node-agent, however long.
pub fn stalls_agent(step: &mut Step<'_>, n: NodeId) -> Option<()> {
    require!(step.now().shared.stalls.agents & (1 << n.0) == 0);

    let next = step.spends(Disturbance::Stall)?;
    next.shared.stalls.agents |= 1 << n.0;
    Some(())
}

/// It stalls a node-agent's watch of custom resources, however long.
pub fn stalls_cr_watch(step: &mut Step<'_>, n: NodeId) -> Option<()> {
    require!(step.now().shared.stalls.cr_watches & (1 << n.0) == 0);

    let next = step.spends(Disturbance::Stall)?;
    next.shared.stalls.cr_watches |= 1 << n.0;
    Some(())
}

/// It stalls a node-agent's watch of pods, however long.
pub fn stalls_pod_watch(step: &mut Step<'_>, n: NodeId) -> Option<()> {
    require!(step.now().shared.stalls.pod_watches & (1 << n.0) == 0);

    let next = step.spends(Disturbance::Stall)?;
    next.shared.stalls.pod_watches |= 1 << n.0;
    Some(())
}
