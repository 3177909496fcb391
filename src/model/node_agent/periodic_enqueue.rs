//! The periodic enqueue of the `DataUpload` controller: a poll, owed only while it would bring about anything.

use super::super::place::NodeId;
use super::super::rules::Step;
use super::super::time::{Obligation, Window};
use crate::require;

/// Once a minute it enqueues what must not be forgotten: accepted, or cancelled and not final, or final and being deleted.
///
/// Spec: N2. Velero: `pkg/util/kube/periodical_enqueue_source.go`, `Start`; `pkg/controller/data_upload_controller.go`, `SetupWithManager`.
pub fn enqueues(step: &mut Step<'_>, n: NodeId) -> Option<()> {
    let now = step.now();
    let window = now.nodes[n].periodic;
    // Its window runs exactly while it would act; one without bounds cannot be told from none.
    let tells = !step.window(Obligation::PeriodicEnqueue).is_off();
    require!(if tells { !window.is_off() } else { now.periodic_would_act(step.setup, n) });
    step.within(window)?;

    let setup = step.setup;
    let next = step.fires()?;
    for t in next.task_ids() {
        if next.is_enqueued_periodically(setup, n, t)
            && !next.tasks[t].at[n].key.is_ready()
            && next.reconcile_would_act(setup, n, t)
        {
            next.enqueue(n, t);
        }
    }
    next.nodes[n].periodic = Window::OFF;
    Some(())
}
