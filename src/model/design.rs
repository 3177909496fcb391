//! The decisions that Velero takes, each with upstream as its answer.
//!
//! A [`Design`] is upstream plus its difference: whoever proposes a fix writes only the methods that differ. A method
//! gets what that process could know there, and never the world, so a fix cannot cheat. Where a decision changes what
//! is done next, it answers with a [`Plan`] of the actor's own operations.

use super::api_server::{DataUpload, Phase, PodPhase};
use super::data_mover::End;
use super::kind::Kind;
use super::node_agent::routine::{Op, Plan};
use super::node_agent::worker::Own;

/// What a mover's own informer tells its handler of a custom resource of its kind and name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// First sight of it.
    Add(DataUpload),
    /// From one version to the next that was heard of.
    Update(DataUpload, DataUpload),
    /// It is gone; the last version known, which is older than the last there was where a relist found it gone.
    Delete(DataUpload),
}

impl Heard {
    /// The version that it tells of, if there still is one.
    pub fn newest(&self) -> Option<DataUpload> {
        match *self {
            Heard::Add(new) | Heard::Update(_, new) => Some(new),
            Heard::Delete(_) => None,
        }
    }
}

/// What a watcher's pod informer tells its handler of the pod of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodHeard {
    /// It changed, or a relist found it as it was; its phase.
    Update(PodPhase),
    /// It is gone, by an event or by a tombstone.
    Delete,
}

/// How a watcher finishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// `OnDataUploadCompleted`.
    Completed,
    /// `OnDataUploadCancelled`.
    Canceled,
    /// `OnDataUploadFailed`.
    Failed,
}

/// What a watcher knows when its pod has ended or gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The phase of the pod that it was sent last.
    pub phase: PodPhase,
    /// What that pod says of the end.
    pub end: End,
    /// It has heard that the pod is gone.
    pub deleted: bool,
}

/// How the goroutines of a mover hand their result to main.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultSignal {
    /// An unbuffered channel of which main receives once: a second sender blocks for ever.
    Rendezvous,
    /// The first result wins, and nobody blocks.
    FirstWins,
}

/// What a node-agent makes of a change of one of its pods whose upload is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodReaction {
    /// Nothing.
    Nothing,
    /// It marks the upload Prepared.
    Prepare,
    /// It cancels the upload.
    Cancel,
}

/// What a polling mover makes of what it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll {
    /// It goes on to its transfer.
    Go,
    /// It keeps polling.
    Keep,
    /// It exits, as canceled.
    Exit,
}

/// What a mover does with a cancel for which it has no data path yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlyCancel {
    /// Upstream: it reports at once, and crashes on an object that it has not read yet.
    Report,
    /// It remembers, and its data path is cancelled from the start.
    Mark,
}

/// What differs from upstream, decision by decision.
pub trait Design: Sync {
    /// Its name in tables, tokens and on the command line.
    fn name(&self) -> &'static str;

    /// What it changes, in one sentence.
    fn sentence(&self) -> &'static str {
        ""
    }

    /// R0: the worker finds no custom resource in its cache.
    fn on_not_found(&self, _own: &Own) -> Plan {
        Plan::NONE
    }

    /// R2b: the upload is being deleted and not cancelled.
    fn on_deleting(&self, _own: &Own) -> Plan {
        Plan::of(&[Op::SetCancel])
    }

    /// R3: the upload is final; its finalizer may be gone already.
    fn on_final(&self, own: &Own) -> Plan {
        if own.cr.finalizer { Plan::of(&[Op::DropFinalizer]) } else { Plan::NONE }
    }

    /// R4: whether this node-agent may force the cancel, once its delay is over.
    fn may_force(&self, _own: &Own) -> bool {
        true
    }

    /// TC: what follows the status write of a forced cancel, before the clean-up.
    fn on_forced(&self, _own: &Own) -> Plan {
        Plan::NONE
    }

    /// R6e: whether a new upload may be accepted, by the copy that was read.
    fn may_accept(&self, _fresh: &DataUpload) -> bool {
        true
    }

    /// R7a: an accepted upload has no pod when the worker looks; it may still be exposed somewhere.
    fn on_missing_pod_at_peek(&self, _own: &Own) -> Plan {
        Plan::NONE
    }

    /// R8d: whether the slot is taken before the pod is looked for, and given back if there is none.
    fn reserves_slot_first(&self) -> bool {
        false
    }

    /// R9a: the upload is in progress and not cancelled, and this node owns it but has no data path.
    fn on_untracked(&self, _own: &Own) -> Plan {
        Plan::NONE
    }

    /// M: what is made of a change of a pod whose upload is accepted.
    fn on_pod_event(&self, pod: PodPhase) -> PodReaction {
        match pod {
            PodPhase::Running => PodReaction::Prepare,
            PodPhase::Failed | PodPhase::Unpullable => PodReaction::Cancel,
            PodPhase::Absent | PodPhase::Pending | PodPhase::Succeeded => PodReaction::Nothing,
        }
    }

    /// EX: whether the worker looks at the upload again before it creates the pod, and gives up where it is over.
    fn rechecks_before_pod(&self) -> bool {
        false
    }

    /// R8b: the upload is prepared and cancelled, and this node owns it.
    fn on_prepared_cancel(&self, _own: &Own) -> Plan {
        Plan::CANCELLED
    }

    /// R9c: the upload is in progress and cancelled, and this node owns it but has no data path.
    fn on_untracked_cancel(&self, _own: &Own) -> Plan {
        Plan::CANCELLED
    }

    /// R9d: the upload is in progress and cancelled, and this node has its data path.
    fn on_in_progress_cancel(&self, _own: &Own) -> Plan {
        Plan::of(&[Op::MarkCanceling])
    }

    /// R10: the upload is canceling.
    fn on_canceling(&self, _own: &Own) -> Plan {
        Plan::NONE
    }

    /// R8g: whether the upload may be marked InProgress, by the copy of each attempt; if not, the data path is closed.
    fn may_start(&self, fresh: &DataUpload) -> bool {
        !fresh.phase.is_final()
    }

    /// M1: whether the upload may be marked Prepared, by the copy of each attempt.
    fn may_prepare(&self, fresh: &DataUpload) -> bool {
        !fresh.phase.is_final()
    }

    /// N2: whether the periodic enqueue takes it.
    fn enqueues_periodically(&self, cr: &DataUpload) -> bool {
        cr.exists
            && (cr.phase == Phase::Accepted
                || (cr.cancel && !cr.phase.is_final())
                || (cr.phase.is_final() && cr.deleting))
    }

    /// W1d: whether the watcher is woken.
    fn watcher_hears(&self, heard: PodHeard) -> bool {
        matches!(heard, PodHeard::Update(phase) if phase.is_terminal())
    }

    /// W2: how the watcher finishes.
    fn watcher_outcome(&self, ended: &Ended) -> Finish {
        match (ended.phase, ended.end) {
            (PodPhase::Succeeded, _) => Finish::Completed,
            (_, End::Canceled) => Finish::Canceled,
            _ => Finish::Failed,
        }
    }

    /// W2: how long the watcher waits for the events of an ended pod, in seconds from the last; at least 1.
    fn epilog_wait(&self, upstream: u16) -> u16 {
        upstream
    }

    /// 2.G: what a callback does, in order; it ends by releasing the slot.
    fn finishes(&self, kind: Kind, finish: Finish) -> Plan {
        match finish {
            Finish::Completed => kind.completed(),
            Finish::Canceled => Plan::CANCELLED,
            Finish::Failed => {
                Plan::of(&[Op::ReadCr, Op::DeletePod, Op::DeleteVolume, Op::CleanUp, Op::MarkFailed, Op::ReleaseSlot])
            }
        }
    }

    /// P6: what the mover makes of its poll; `None` where its custom resource is gone.
    fn mover_polls(&self, found: Option<&DataUpload>) -> Poll {
        if found.is_some_and(|cr| cr.phase == Phase::InProgress) { Poll::Go } else { Poll::Keep }
    }

    /// C1: what the mover does with a cancel for which it has no data path that can be cancelled.
    fn mover_cancels_early(&self) -> EarlyCancel {
        EarlyCancel::Report
    }

    /// P5: whether the mover cancels.
    fn mover_hears(&self, heard: &Heard) -> bool {
        matches!(heard, Heard::Update(old, new) if new.phase == Phase::InProgress && new.cancel && !old.cancel)
    }

    /// P11: how results reach main.
    fn result_signal(&self) -> ResultSignal {
        ResultSignal::Rendezvous
    }

    /// K8S-1: `terminationGracePeriodSeconds` of mover pods.
    fn pod_grace(&self) -> u16 {
        0
    }
}

/// Velero main at the pinned commit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Upstream;

impl Design for Upstream {
    fn name(&self) -> &'static str {
        "upstream"
    }

    fn sentence(&self) -> &'static str {
        "Velero main at d2241ad: nothing is changed."
    }
}
