//! The kubelet of the pod's node: it starts the container, says so, and ends it.

use zerocopy::{FromZeros, Immutable, IntoBytes};

use super::api_server::PodPhase;
use super::data_mover::{End, Handler, Main, Process};
use super::place::TaskId;
use super::rules::Step;
use super::time::{Obligation, Window};
use crate::require;

/// What the kubelet is doing about one pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(C)]
pub struct Kubelet {
    /// Status patches that it still owes while the container runs.
    pub(crate) patches: u8,
    /// A fault: it never starts the container.
    pub never_starts: bool,
    /// It evicts the pod: it kills the process and then says so.
    pub evicting: bool,
    /// A fault: the runtime cannot kill the container; no signal reaches its process.
    pub unkillable: bool,
    /// When the container may start.
    pub start: Window,
    /// When the next status patch must be written.
    pub patch: Window,
    /// When SIGKILL follows SIGTERM.
    pub kill: Window,
}

impl Kubelet {
    /// The pod object is gone: there is nothing to report to, and nothing to start.
    pub(super) fn forgets_pod(&mut self) {
        self.patches = 0;
        self.start = Window::OFF;
        self.patch = Window::OFF;
        self.never_starts = false;
        self.evicting = false;
    }

    /// The pod is being deleted before its container was started, which it will not be now: that is reported.
    pub(super) fn never_runs(&mut self, patch: Window) {
        self.start = Window::OFF;
        self.patch = patch;
    }

    /// The process has ended: only the end is left to report, if the pod is there and has no terminal phase.
    pub(super) fn sees_exit(&mut self, patch: Window, phase: PodPhase) {
        self.patches = 0;
        self.kill = Window::OFF;
        let owed = phase.exists() && !phase.is_terminal();
        self.patch = if owed { patch } else { Window::OFF };
    }
}

/// It starts the container, and with it the mover process.
///
/// Spec: K1. Kubernetes: `kuberuntime_manager.go`, `SyncPod`.
pub fn starts_container(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    let task = &now.tasks[t];
    require!(task.pod.phase == PodPhase::Pending, task.pod.host.node().is_some(), !task.pod.deleting);
    require!(task.mover.process == Process::None, !task.kubelet.never_starts, task.pod.volume);
    step.within(task.kubelet.start)?;

    let boot = step.window(Obligation::MoverBoot);
    let patch = step.window(Obligation::StatusPatch);
    let next = step.fires()?;
    let task = &mut next.tasks[t];
    task.kubelet.start = Window::OFF;
    task.kubelet.patch = patch;
    task.kubelet.patches = 2;
    task.mover.process = Process::Running;
    task.mover.main = Main::Booting;
    task.mover.handler = Handler::Unlisted;
    task.mover.window = boot;
    task.mover.listing = boot;
    Some(())
}

/// It patches the pod's status while the container runs: Running, and once more for a condition.
///
/// Spec: K1, C4. Kubernetes: `status_manager.go`, `syncPod`.
pub fn reports_running(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    let task = &now.tasks[t];
    require!(task.kubelet.patches > 0, task.mover.process == Process::Running);
    step.within(task.kubelet.patch)?;
    step.waits_for(step.now().pod_log_has_room(t))?;

    let patch = step.window(Obligation::StatusPatch);
    let next = step.fires()?;
    let kubelet = &mut next.tasks[t].kubelet;
    kubelet.patches -= 1;
    kubelet.patch = if kubelet.patches > 0 { patch } else { Window::OFF };
    next.patch_pod(t, PodPhase::Running);
    Some(())
}

/// It patches the pod's status after the container has exited, if the pod is still there.
///
/// An eviction delays the terminal phase until the process has ended, and adds its message where that left none.
///
/// Spec: K2, K3, C4. Kubernetes: `status_manager.go`, `syncPod`, `mergePodStatus`.
pub fn reports_exit(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    let task = &now.tasks[t];
    let never_ran = task.mover.process == Process::None && task.pod.deleting;
    require!(task.mover.process == Process::Ended || never_ran, task.pod.phase.exists(), !task.pod.phase.is_terminal());
    step.within(task.kubelet.patch)?;
    step.waits_for(step.now().pod_log_has_room(t))?;

    let next = step.fires()?;
    let evicted = std::mem::take(&mut next.tasks[t].kubelet.evicting);
    let end = match next.tasks[t].mover.end {
        End::Killed | End::Crashed if evicted => End::Evicted, // the kubelet's own message
        End::None => End::Killed,                              // it never ran: exit code 137, no message
        end => end,
    };
    next.tasks[t].kubelet.patch = Window::OFF;
    next.tasks[t].pod.end = end;
    next.patch_pod(t, if end == End::Completed { PodPhase::Succeeded } else { PodPhase::Failed });
    Some(())
}

/// The pod is gone from the API server, or evicted, and it sends SIGTERM to the process.
///
/// Spec: K4, C1, P2. Kubernetes: `kuberuntime_container.go`, `killContainer`.
pub fn terminates(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    let task = &now.tasks[t];
    require!(task.mover.is_running(), !task.mover.terminated, !task.kubelet.unkillable);
    require!(!task.pod.phase.exists() || task.pod.deleting || task.kubelet.evicting);

    let minimum = step.window(Obligation::Sigkill);
    let grace = step.setup.design.pod_grace();
    let kill = if task.pod.deleting { minimum.or_after(grace) } else { minimum }; // an eviction allows 1 s
    let next = step.fires()?;
    next.tasks[t].mover.terminated = true;
    next.tasks[t].mover.cancelled = true;
    next.tasks[t].kubelet.kill = kill;
    Some(())
}

/// It deletes the object of a pod whose grace was used, once its end is reported.
///
/// Spec: C3, C5. Kubernetes: `status_manager.go`, `canBeDeleted`.
pub fn removes_pod(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    let task = &now.tasks[t];
    require!(task.pod.deleting, task.pod.phase.is_terminal());
    step.waits_for(step.now().pod_log_has_room(t))?;

    let next = step.fires()?;
    next.remove_pod(t);
    Some(())
}

/// It kills the process, which had its 2 s, or its grace.
///
/// Spec: K4, C1. Kubernetes: `kuberuntime_container.go`, `killContainer`.
pub fn kills(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    let task = &now.tasks[t];
    require!(task.mover.is_running(), task.mover.terminated, !task.kubelet.unkillable);
    step.within(task.kubelet.kill)?;

    let patch = step.window(Obligation::StatusPatch);
    let next = step.fires()?;
    next.end_process(t, End::Killed, patch);
    Some(())
}
