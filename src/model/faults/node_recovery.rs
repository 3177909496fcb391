//! What heals at a node.

use super::super::place::NodeId;
use super::super::rules::Step;
use crate::require;

/// It ends the stall of a node-agent.
///
/// A stall ends when nobody else owes a step, or before.
pub fn heals_agent(step: &mut Step<'_>, n: NodeId) -> Option<()> {
    require!(step.now().shared.stalls.agents & (1 << n.0) != 0);
    step.in_its_time();

    let next = step.fires()?;
    next.shared.stalls.agents &= !(1 << n.0);
    Some(())
}

/// It ends the stall of a node-agent's watch of custom resources.
///
/// A stall ends when nobody else owes a step, or before.
pub fn heals_cr_watch(step: &mut Step<'_>, n: NodeId) -> Option<()> {
    require!(step.now().shared.stalls.cr_watches & (1 << n.0) != 0);
    step.in_its_time();

    let next = step.fires()?;
    next.shared.stalls.cr_watches &= !(1 << n.0);
    Some(())
}

/// It ends the stall of a node-agent's watch of pods.
///
/// A stall ends when nobody else owes a step, or before.
pub fn heals_pod_watch(step: &mut Step<'_>, n: NodeId) -> Option<()> {
    require!(step.now().shared.stalls.pod_watches & (1 << n.0) != 0);
    step.in_its_time();

    let next = step.fires()?;
    next.shared.stalls.pod_watches &= !(1 << n.0);
    Some(())
}
