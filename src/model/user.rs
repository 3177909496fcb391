//! Users and operators: they may act, and never must.

use super::api_server::DataUpload;
use super::faults::Disturbance;
use super::place::TaskId;
use super::rules::Step;
use crate::require;

/// The user cancels the upload.
///
/// Spec: U1.
pub fn cancels(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.tasks[t].cr.is_live(), !now.tasks[t].cr.cancel, now.cr_log_has_room());
    require!(step.setup.permits(Disturbance::Cancel, step.now().tasks[t].cr.phase));

    let next = step.spends(Disturbance::Cancel)?;
    let stored = next.tasks[t].cr;
    next.store(t, DataUpload { cancel: true, ..stored });
    Some(())
}

/// The user deletes an upload that is not final.
///
/// Spec: U2, K8S-2.
pub fn deletes(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.tasks[t].cr.is_live(), !now.tasks[t].cr.deleting, now.cr_log_has_room());
    require!(step.setup.permits(Disturbance::Delete, step.now().tasks[t].cr.phase));

    let next = step.spends(Disturbance::Delete)?;
    next.delete_cr(t);
    Some(())
}

/// The user strips the finalizer; an upload that is being deleted is gone with it.
///
/// Spec: U3, K8S-2, A12.
pub fn strips_finalizer(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    let stored = now.tasks[t].cr;
    require!(stored.is_live(), stored.finalizer, now.cr_log_has_room());
    require!(step.setup.permits(Disturbance::StripFinalizer, step.now().tasks[t].cr.phase));

    let next = step.spends(Disturbance::StripFinalizer)?;
    if stored.deleting {
        next.store(t, DataUpload::ABSENT);
    } else {
        next.store(t, DataUpload { finalizer: false, ..stored });
    }
    Some(())
}

/// The user deletes an upload that is final, as the deletion of its backup does.
///
/// Spec: U2, U6, S7, K8S-2.
pub fn deletes_finished(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    let stored = now.tasks[t].cr;
    require!(stored.exists, stored.phase.is_final(), !stored.deleting, now.cr_log_has_room());

    let next = step.spends(Disturbance::DeleteFinished)?;
    next.delete_cr(t);
    Some(())
}

/// The user deletes the pod. Its grace is 0, so it is gone at once, forced or not.
///
/// Spec: U4, K8S-1, B4.
pub fn deletes_pod(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.tasks[t].pod.phase.exists(), !now.tasks[t].pod.deleting, now.pod_log_has_room(t));
    require!(step.setup.permits(Disturbance::DeletePod, step.now().tasks[t].cr.phase));

    let setup = step.setup;
    let next = step.spends(Disturbance::DeletePod)?;
    next.delete_pod(setup, t);
    Some(())
}
