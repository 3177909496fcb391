//! The callbacks of a watcher, which run in its goroutine.

use super::super::place::{NodeId, TaskId};
use super::super::rules::Step;
use super::routine::{self, Op, Plan, Seat};
use super::watcher::Stage;
use crate::require;

/// Its watcher was told to end: what it still had to call fails, and it returns.
///
/// Spec: W6, B4a, 7.3. Velero: `pkg/datapath/micro_service_watcher.go`, `Close`.
pub fn is_cut_short(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    let watcher = &now.tasks[t].watcher;
    require!(watcher.closing, watcher.routine.plan.first() != Op::ReleaseSlot);

    let next = step.fires()?;
    if next.tasks[t].watcher.stage == Stage::Reporting {
        next.replan(Seat::Callback(n, t), Plan::of(&[Op::ReleaseSlot]));
    } else {
        next.replan(Seat::Callback(n, t), Plan::NONE);
    }
    Some(())
}

/// It reads the upload that its mover served; without one it only frees the slot.
///
/// Spec: 2.G. Velero: `pkg/controller/data_upload_controller.go`, `OnDataUploadCompleted`, `OnDataUploadFailed`, `OnDataUploadCancelled`.
pub fn reads_cr(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    routine::reads_cr(step, Seat::Callback(n, t))
}

/// It reads the upload again, for a write that it repeats on conflict.
///
/// Spec: GMR. Velero: `pkg/controller/data_upload_controller.go`, `UpdateDataUploadWithRetry`.
pub fn gets(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    routine::gets(step, Seat::Callback(n, t))
}

/// It reports the progress, final or not.
///
/// Spec: CBprogress. Velero: `pkg/controller/data_upload_controller.go`, `OnDataUploadProgress`.
pub fn reports_progress(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    routine::modifies(step, Seat::Callback(n, t), Op::ReportProgress)
}

/// It deletes the pod, by name.
///
/// Spec: CU. Velero: `pkg/exposer/csi_snapshot.go`, `CleanUp`.
pub fn deletes_pod(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    routine::deletes_pod(step, Seat::Callback(n, t))
}

/// It deletes the PVC.
///
/// Spec: CU. Velero: `pkg/util/kube/pvc_pv.go`, `DeletePVAndPVCIfAny`.
pub fn deletes_volume(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    routine::deletes_volume(step, Seat::Callback(n, t))
}

/// It has waited for the volume to go and deletes the snapshots.
///
/// Spec: CU. Velero: `pkg/exposer/csi_snapshot.go`, `CleanUp`.
pub fn cleans_up(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    routine::cleans_up(step, Seat::Callback(n, t))
}

/// The rebind deletes the pod, and fails where that is gone already: the callback returns, without status and clean-up.
///
/// Spec: RB, HZ-42. Velero: `pkg/exposer/generic_restore.go`, `RebindVolume`.
pub fn rebind_deletes_pod(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.tasks[t].watcher.routine.plan.first() == Op::RebindDeletePod);
    step.waits_for(step.now().pod_log_has_room(t))?;

    let setup = step.setup;
    let next = step.fires()?;
    if next.tasks[t].pod.phase.exists() {
        next.delete_pod(setup, t);
        next.advance(Seat::Callback(n, t));
    } else {
        next.replan(Seat::Callback(n, t), Plan::of(&[Op::ReleaseSlot]));
    }
    Some(())
}

/// The rebind deletes the restore PVC, and fails where that is gone already.
///
/// Spec: RB, HZ-42. Velero: `pkg/exposer/generic_restore.go`, `RebindVolume`.
pub fn rebind_deletes_volume(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.tasks[t].watcher.routine.plan.first() == Op::RebindDeleteVolume);

    let next = step.fires()?;
    if std::mem::take(&mut next.tasks[t].pod.volume) {
        next.advance(Seat::Callback(n, t));
    } else {
        next.replan(Seat::Callback(n, t), Plan::of(&[Op::ReleaseSlot]));
    }
    Some(())
}

/// The rebind has bound the target volume to what was restored.
///
/// Spec: RB. Velero: `pkg/exposer/generic_restore.go`, `RebindVolume`.
pub fn rebinds(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.tasks[t].watcher.routine.plan.first() == Op::Rebind);
    step.within(now.tasks[t].watcher.routine.window)?;

    let next = step.fires()?;
    next.advance(Seat::Callback(n, t));
    Some(())
}

/// It marks the upload Completed.
///
/// Spec: CBcompleted. Velero: `pkg/controller/data_upload_controller.go`, `OnDataUploadCompleted`.
pub fn marks_completed(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    routine::modifies(step, Seat::Callback(n, t), Op::MarkCompleted)
}

/// It marks the upload Canceled.
///
/// Spec: CBcancelled. Velero: `pkg/controller/data_upload_controller.go`, `OnDataUploadCancelled`.
pub fn marks_canceled(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    routine::modifies(step, Seat::Callback(n, t), Op::MarkCanceled)
}

/// It marks the upload Failed.
///
/// Spec: CBfailed, EO. Velero: `pkg/controller/data_upload_controller.go`, `OnDataUploadFailed`.
pub fn marks_failed(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    routine::modifies(step, Seat::Callback(n, t), Op::MarkFailed)
}

/// It returns: the slot is freed, by name, and the watcher's goroutine ends.
///
/// Spec: T2, 2.G. Velero: `pkg/datapath/manager.go`, `RemoveAsyncBR`.
pub fn releases_slot(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    routine::releases_slot(step, Seat::Callback(n, t))
}
