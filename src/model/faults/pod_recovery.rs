//! What heals with a pod and the process in it.

use super::super::place::TaskId;
use super::super::rules::Step;
use crate::require;

/// It ends the stall of the kubelet, as far as one pod is concerned.
///
/// A stall ends when nobody else owes a step, or before.
pub fn heals_kubelet(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    require!(step.now().shared.stalls.kubelets & (1 << t.0) != 0);
    step.in_its_time();

    let next = step.fires()?;
    next.shared.stalls.kubelets &= !(1 << t.0);
    Some(())
}

/// It ends the stall of a mover.
///
/// A stall ends when nobody else owes a step, or before.
pub fn heals_mover(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    require!(step.now().shared.stalls.movers & (1 << t.0) != 0);
    step.in_its_time();

    let next = step.fires()?;
    next.shared.stalls.movers &= !(1 << t.0);
    Some(())
}
