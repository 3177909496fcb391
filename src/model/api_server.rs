//! The API server: custom resources and pods, and what a request does to them.
//!
//! Each request is one atomic step with the real conflict rules. A resource version is one bit: only "is this copy
//! still current?" ever matters to Velero, so a copy says whether it is, and a write clears that bit in all others.

use zerocopy::{FromZeros, Immutable, IntoBytes};

use super::data_mover::{End, Process};
use super::node_agent::routine::{Attempt, Seat};
use super::place::{Host, TaskId};
use super::rules::{Setup, Step};
use super::time::{Age, Obligation};
use super::watch::PodEvent;
use super::world::World;
use crate::require;

/// `status.phase` of a `DataUpload`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, FromZeros, IntoBytes, Immutable)]
#[repr(u8)]
pub enum Phase {
    /// Nobody has accepted it (the phase is empty or `New`).
    New,
    /// A node-agent exposes the snapshot for it.
    Accepted,
    /// Its pod runs and polls; its node-agent may give it a slot.
    Prepared,
    /// Its mover may transfer.
    InProgress,
    /// The owner has told it to cancel; the mover must hear it by itself.
    Canceling,
    /// Final.
    Canceled,
    /// Final.
    Completed,
    /// Final.
    Failed,
}

impl Phase {
    /// All of them, in their order.
    pub const ALL: [Phase; 8] = [
        Phase::New,
        Phase::Accepted,
        Phase::Prepared,
        Phase::InProgress,
        Phase::Canceling,
        Phase::Canceled,
        Phase::Completed,
        Phase::Failed,
    ];

    /// Whether nobody may change it any more.
    #[inline]
    pub const fn is_final(self) -> bool {
        matches!(self, Phase::Canceled | Phase::Completed | Phase::Failed)
    }
}

/// A `DataUpload`: metadata, spec and status share one version, since the CRD has no status subresource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(C)]
pub struct DataUpload {
    /// Whether there is such an object.
    pub exists: bool,
    /// `status.phase`.
    pub phase: Phase,
    /// `spec.cancel`; nothing in Velero clears it.
    pub cancel: bool,
    /// `metadata.deletionTimestamp` is set.
    pub deleting: bool,
    /// Velero's finalizer is present.
    pub finalizer: bool,
    /// `status.node`: the owner, set when it becomes Prepared.
    pub node: Host,
}

impl DataUpload {
    /// No such object.
    pub const ABSENT: DataUpload = DataUpload {
        exists: false,
        phase: Phase::New,
        cancel: false,
        deleting: false,
        finalizer: false,
        node: Host::NOBODY,
    };

    /// Exists and has no final phase.
    #[inline]
    pub const fn is_live(self) -> bool {
        self.exists && !self.phase.is_final()
    }
}

/// A copy of a custom resource that some goroutine holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(C)]
pub struct Held {
    /// What it says.
    pub cr: DataUpload,
    /// Whether its resource version is still the newest.
    pub current: bool,
}

/// `status.phase` of a pod, or that there is no such object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, FromZeros, IntoBytes, Immutable)]
#[repr(u8)]
pub enum PodPhase {
    /// No such object.
    Absent,
    /// Created; perhaps bound to a node.
    Pending,
    /// Pending, and its image cannot be pulled: it cannot recover.
    Unpullable,
    /// The kubelet says that its container runs.
    Running,
    /// The kubelet says that its container exited with 0.
    Succeeded,
    /// The kubelet says that it ended otherwise.
    Failed,
}

impl PodPhase {
    /// Succeeded or Failed: never changes again.
    #[inline]
    pub const fn is_terminal(self) -> bool {
        matches!(self, PodPhase::Succeeded | PodPhase::Failed)
    }

    /// It will never run: it has failed, or cannot be started.
    #[inline]
    pub const fn is_unrecoverable(self) -> bool {
        matches!(self, PodPhase::Failed | PodPhase::Unpullable)
    }

    /// There is such an object.
    #[inline]
    pub const fn exists(self) -> bool {
        !matches!(self, PodPhase::Absent)
    }
}

/// The pod of a task, and the other objects made for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(C)]
pub struct Pod {
    /// `status.phase`.
    pub phase: PodPhase,
    /// `spec.nodeName`; kept after the object is gone, since the process may still be there.
    pub host: Host,
    /// `metadata.deletionTimestamp` is set, and its grace runs.
    pub deleting: bool,
    /// What the terminal phase says of the end; kept for whoever holds a copy of the pod.
    pub end: End,
    /// The backup PVC, which the custom resource owns.
    pub volume: bool,
    /// The backup `VolumeSnapshot` and its content, which nothing owns.
    pub snapshot: bool,
    /// The original `VolumeSnapshot`, from which the others are made, was deleted by a clean-up.
    pub source_gone: bool,
    /// The PUT that emptied the finalizers of the custom resource has passed its check but not yet its delete.
    pub removing: bool,
}

/// What the API server answers to a PUT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Done.
    Written,
    /// Checked; the object is removed in a moment (A11).
    Removing,
    /// 409: the copy is not current.
    Conflict,
    /// 404, or 422 for a finalizer added to a deleting object.
    Refused,
}

impl World {
    /// The check that each PUT passes first: the name (A4), the version (A2), then what may not change (A10).
    pub fn put(&mut self, t: TaskId, held: Held, new: DataUpload) -> Answer {
        let stored = self.tasks[t].cr;
        if !stored.exists {
            Answer::Refused
        } else if !held.current {
            Answer::Conflict
        } else if stored.deleting && new.finalizer && !stored.finalizer {
            Answer::Refused
        } else if new == stored {
            Answer::Written // A3: nothing changes, no new version, no event
        } else if stored.deleting && stored.finalizer && !new.finalizer {
            self.tasks[t].pod.removing = true;
            Answer::Removing
        } else {
            self.store(t, new);
            Answer::Written
        }
    }

    /// A PUT that changes bytes which the model does not keep: a progress report, say.
    pub fn touch(&mut self, t: TaskId, held: Held) -> Answer {
        if !self.tasks[t].cr.exists {
            Answer::Refused
        } else if held.current {
            self.store(t, self.tasks[t].cr);
            Answer::Written
        } else {
            Answer::Conflict
        }
    }

    /// Stores a new version and tells it to the watches.
    pub fn store(&mut self, t: TaskId, new: DataUpload) {
        self.tasks[t].cr = new;
        for n in self.node_ids() {
            self.nodes[n].worker.outdate(t);
            self.nodes[n].mapping.outdate(t);
        }
        self.tasks[t].watcher.routine.outdate(t);
        self.log_cr(t, new);
    }

    /// DELETE of a custom resource: with a finalizer it stays (A8), without one it goes (A9).
    pub fn delete_cr(&mut self, t: TaskId) {
        let stored = self.tasks[t].cr;
        if stored.finalizer {
            if !stored.deleting {
                self.store(t, DataUpload { deleting: true, ..stored });
            }
        } else {
            self.store(t, DataUpload::ABSENT);
        }
    }

    /// DELETE of a pod. With a grace of 0, which is Velero's, the object goes at once and no terminal phase is ever
    /// published; watchers see it modified, then deleted (B2, B4). With more it stays until the kubelet has reported
    /// the end, unless it is unscheduled or has ended (B1). Needs room for two entries.
    pub fn delete_pod(&mut self, setup: &Setup<'_>, t: TaskId) {
        let Pod { phase, host, deleting, .. } = self.tasks[t].pod;
        if !phase.exists() {
            return;
        }
        if setup.design.pod_grace() > 0 && host != Host::NOBODY && !phase.is_terminal() {
            if !deleting {
                self.tasks[t].pod.deleting = true;
                if self.tasks[t].mover.process == Process::None {
                    self.tasks[t].kubelet.never_runs(setup.times.window(Obligation::StatusPatch));
                }
                self.log_pod(t, phase, PodEvent::Modified);
            }
            return;
        }
        self.log_pod(t, phase, PodEvent::Modified);
        self.remove_pod(t);
    }

    /// The object of a pod goes. Needs room for one entry.
    pub(super) fn remove_pod(&mut self, t: TaskId) {
        self.tasks[t].pod.phase = PodPhase::Absent;
        self.tasks[t].pod.deleting = false;
        self.tasks[t].kubelet.forgets_pod();
        self.log_pod(t, PodPhase::Absent, PodEvent::Deleted);
    }

    /// A change of a pod's status. Needs room for one entry.
    pub fn patch_pod(&mut self, t: TaskId, phase: PodPhase) {
        self.tasks[t].pod.phase = phase;
        self.log_pod(t, phase, PodEvent::Modified);
    }
}

/// It removes the custom resource whose last finalizer was dropped, whatever was written to it since the check.
///
/// Spec: K8S-2, A11. Kubernetes: `store.go`, `deleteWithoutFinalizers`.
pub fn removes(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.tasks[t].pod.removing);
    step.waits_for(step.now().cr_log_has_room())?;

    let next = step.fires()?;
    next.tasks[t].pod.removing = false;
    next.store(t, DataUpload::ABSENT);
    for n in next.node_ids() {
        for seat in [Seat::Worker(n), Seat::Mapping(n)] {
            if next.routine(seat).task == t && next.routine(seat).attempt == Attempt::Waiting {
                next.advance(seat);
            }
        }
    }
    Some(())
}

impl World {
    /// The custom resource is gone and something it owned is not.
    pub fn has_garbage(&self, t: TaskId) -> bool {
        let task = &self.tasks[t];
        !task.cr.exists && ((task.pod.phase.exists() && !task.pod.deleting) || task.pod.volume)
    }

    /// The custom resource is accepted: its prepare timeout begins.
    pub fn begin_preparing(&mut self, t: TaskId) {
        self.tasks[t].accepted = Age::NEW;
    }
}
