//! The decisions that Velero takes, each with upstream as its answer.
//!
//! A [`Design`] is upstream plus its difference: whoever proposes a fix writes only the methods that differ. A method
//! gets what that process could know there, and never the world, so a fix cannot cheat. Where a decision changes what
//! is done next, it answers with a [`Plan`] of the actor's own operations.

use super::api_server::{DataUpload, Phase, PodPhase};
use super::data_mover::End;
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
