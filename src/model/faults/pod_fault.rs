//! What may go wrong with a pod and the process in it.

use super::super::api_server::PodPhase;
use super::super::data_mover::{self, End, Main, Outcome, Process, Transfer};
use super::super::place::TaskId;
use super::super::rules::Step;
use super::super::time::{Obligation, Window};
use super::Disturbance;
use crate::require;

/// It breaks a mover's watch of custom resources in a way that forces a relist.
///
/// Spec: K8S-5, D7. client-go: `reflector.go`, `handleAnyWatch`.
pub fn breaks_mover_watch(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    require!(step.now().tasks[t].mover.is_listening());
    let relist = step.window(Obligation::Relist);
    let next = step.spends(Disturbance::BreakMoverWatch)?;
    next.tasks[t].mover.watch_broken = true;
    next.tasks[t].mover.relist = relist;
    Some(())
}

/// It lets the kubelet evict the pod: the process is killed, then the pod has failed, and the object stays.
///
/// Spec: K3, B10. Kubernetes: `eviction_manager.go`, `evictPod`.
pub fn evicts(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let task = &step.now().tasks[t];
    require!(task.pod.phase == PodPhase::Running, task.mover.is_running(), !task.kubelet.evicting);
    let next = step.spends(Disturbance::Evict)?;
    next.tasks[t].kubelet.evicting = true;
    Some(())
}

/// It kills the mover process, which leaves no message.
///
/// Spec: K2, C7. Kubernetes: the kernel's out-of-memory killer.
pub fn kills_mover(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    require!(step.now().tasks[t].mover.is_running());
    let patch = step.window(Obligation::StatusPatch);
    let next = step.spends(Disturbance::KillMover)?;
    next.end_process(t, End::Killed, patch);
    Some(())
}

/// It keeps the image of the pod from being pulled, and the pod's status says so.
///
/// Spec: M2, R7a. Kubernetes: `image_manager.go`, `EnsureImageExists`.
pub fn spoils_image(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    let task = &now.tasks[t];
    require!(task.pod.phase == PodPhase::Pending, task.pod.host.node().is_some(), !task.pod.deleting);
    require!(task.mover.process == Process::None, now.pod_log_has_room(t));
    let next = step.spends(Disturbance::SpoilImage)?;
    next.tasks[t].kubelet.start = Window::OFF;
    next.patch_pod(t, PodPhase::Unpullable);
    Some(())
}

/// It lets the repository refuse to open, so that the mover ends without Started or Stopped.
///
/// Spec: P8, HZ-26. Velero: `pkg/datapath/data_path.go`, `Init`.
pub fn fails_repository(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    require!(step.now().tasks[t].mover.main == Main::Opening);
    let next = step.spends(Disturbance::RepositoryFails)?;
    next.tasks[t].mover.main = Main::Draining;
    next.tasks[t].mover.window = Window::OFF;
    Some(())
}

/// It lets the transfer fail.
///
/// Spec: P9. Velero: `pkg/datamover/backup_micro_service.go`, `OnDataUploadFailed`.
pub fn fails_transfer(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    require!(step.now().tasks[t].mover.transfer == Transfer::Running);
    let setup = step.setup;
    let next = step.spends(Disturbance::TransferFails)?;
    data_mover::ends_transfer(next, setup, t, Outcome::Failed);
    Some(())
}

/// It makes the transfer hang for ever.
///
/// Spec: HZ-08. Velero: `pkg/uploader/provider/kopia.go`, `RunBackup`.
pub fn hangs_transfer(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.tasks[t].mover.is_transferring(), !now.tasks[t].mover.hung);
    let next = step.spends(Disturbance::HangTransfer)?;
    next.tasks[t].mover.hung = true;
    next.tasks[t].mover.stopping = Window::OFF;
    Some(())
}

/// It makes the container impossible to kill.
///
/// Spec: K4, C6, HZ-07. Kubernetes: `kuberuntime_container.go`, `killContainer`.
pub fn makes_unkillable(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let task = &step.now().tasks[t];
    require!(task.mover.is_running(), !task.kubelet.unkillable);
    let next = step.spends(Disturbance::Unkillable)?;
    next.tasks[t].kubelet.unkillable = true;
    Some(())
}

/// It keeps the container from ever starting.
///
/// Spec: K1; a volume that cannot be attached, for one. Kubernetes: `kuberuntime_manager.go`, `SyncPod`.
pub fn never_starts(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let task = &step.now().tasks[t];
    require!(task.pod.phase == PodPhase::Pending, task.mover.process == Process::None, !task.kubelet.never_starts);
    let next = step.spends(Disturbance::NeverStart)?;
    next.tasks[t].kubelet.never_starts = true;
    Some(())
}

/// It makes the transfer slow to heed a cancel.
///
/// Spec: P15, HZ-14. Velero: `pkg/uploader/provider/kopia.go`, `RunBackup`.
pub fn slows_uploader(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.tasks[t].mover.is_transferring(), !now.tasks[t].mover.slow);
    let next = step.spends(Disturbance::SlowUploader)?;
    next.tasks[t].mover.slow = true;
    next.tasks[t].mover.stopping = Window::OFF;
    Some(())
}

/// It stalls the kubelet, as far as one pod is concerned, however long.
pub fn stalls_kubelet(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    require!(step.now().shared.stalls.kubelets & (1 << t.0) == 0);

    let next = step.spends(Disturbance::Stall)?;
    next.shared.stalls.kubelets |= 1 << t.0;
    Some(())
}

/// It stalls a mover, however long.
pub fn stalls_mover(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    require!(step.now().shared.stalls.movers & (1 << t.0) == 0);

    let next = step.spends(Disturbance::Stall)?;
    next.shared.stalls.movers |= 1 << t.0;
    Some(())
}
