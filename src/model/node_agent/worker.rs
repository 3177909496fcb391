//! The one worker of a node-agent's `DataUpload` controller: `Reconcile`, decided at the read and then carried out.

use super::super::api_server::{Held, Phase, PodPhase};
use super::super::design::Design;
use super::super::kind::Kind;
use super::super::place::{NodeId, TaskId};
use super::super::rules::{Setup, Step};
use super::super::time::{Age, Obligation};
use super::super::world::World;
use super::routine::{self, Op, Plan, Seat};
use crate::require;

/// For whom the worker of `n` works, or would work next.
pub fn subject(now: &World, n: NodeId) -> Option<TaskId> {
    if now.nodes[n].worker.is_busy() { Some(now.nodes[n].worker.task) } else { now.head_of_queue(n) }
}

/// What the worker knows when it decides.
#[derive(Clone, Copy, Debug)]
pub struct Own {
    /// Its node.
    pub node: NodeId,
    /// The custom resource in its cache.
    pub cr: super::super::api_server::DataUpload,
    /// Whether this node-agent's data path manager has an entry of that name.
    pub tracked: bool,
    /// Since it first saw the cancel.
    pub cancelled: Age,
    /// How long it waits before it forces a cancel in this phase, in seconds.
    pub force_after: u16,
}

/// `Reconcile` as a table: what it decides on what it reads.
///
/// Spec: R0 to R10. Velero: `pkg/controller/data_upload_controller.go`, `Reconcile`.
pub fn decide(design: &dyn Design, kind: Kind, own: &Own) -> Plan {
    let cr = own.cr;
    if !cr.exists {
        return design.on_not_found(own); // R0
    }
    if cr.phase.is_final() {
        return design.on_final(own); // R3
    }
    if !cr.finalizer {
        return Plan::of(&[Op::AddFinalizer]); // R2a
    }
    if cr.deleting && !cr.cancel {
        return design.on_deleting(own); // R2b
    }
    if cr.cancel && own.cancelled.reached(own.force_after) && design.may_force(own) {
        return Plan::FORCED.then(Op::ForgetCancel); // R4
    }
    match cr.phase {
        Phase::New if cr.cancel => Plan::FORCED, // R6a
        Phase::New if !design.may_accept(&cr) => Plan::NONE,
        Phase::New => kind.start(),                                     // R6d to R6g
        Phase::Accepted => Plan::of(&[Op::Peek]),                       // R7
        Phase::Prepared if !cr.node.is(own.node) => Plan::NONE,         // R8a
        Phase::Prepared if cr.cancel => design.on_prepared_cancel(own), // R8b
        Phase::Prepared if own.tracked => Plan::NONE,                   // R8c
        Phase::Prepared if design.reserves_slot_first() => Plan::START_WITH_SLOT,
        Phase::Prepared => Plan::START, // R8d to R8h
        Phase::InProgress if !cr.cancel && !own.tracked && cr.node.is(own.node) => design.on_untracked(own),
        Phase::InProgress if !cr.cancel => Plan::NONE,            // R9a
        Phase::InProgress if !cr.node.is(own.node) => Plan::NONE, // R9b
        Phase::InProgress if !own.tracked => design.on_untracked_cancel(own), // R9c
        Phase::InProgress => design.on_in_progress_cancel(own),   // R9d
        Phase::Canceling => design.on_canceling(own),             // R10
        Phase::Canceled | Phase::Completed | Phase::Failed => Plan::NONE,
    }
}

impl World {
    /// What the worker of `n` knows about `t`.
    pub(super) fn own(&self, setup: &Setup<'_>, n: NodeId, t: TaskId) -> Own {
        let known = &self.tasks[t].at[n];
        Own {
            node: n,
            cr: known.cr,
            tracked: self.tasks[t].watcher.holds_slot_of(n),
            cancelled: known.cancelled,
            force_after: force_after(setup, known.cr.phase),
        }
    }

    /// Whether a reconcile of `t` at `n` would now do anything but wait again, live reads included.
    pub fn reconcile_would_act(&self, setup: &Setup<'_>, n: NodeId, t: TaskId) -> bool {
        let own = self.own(setup, n, t);
        let task = &self.tasks[t];
        let leftovers = task.pod.phase.exists() || task.pod.volume || task.pod.snapshot;
        let sees_cancel = own.cr.is_live() && own.cr.cancel && !own.cancelled.has_begun();
        match decide(setup.design, setup.kind, &own).first() {
            Op::End => sees_cancel,
            // On a copy that is not current an exclusive write conflicts and changes nothing.
            Op::Peek => (self.peek(setup, n, t) != Plan::NONE && self.cache_is_current(n, t)) || sees_cancel,
            Op::FindTarget | Op::Accept | Op::ForceCancel => self.cache_is_current(n, t) || sees_cancel,
            Op::FindPod => {
                (task.cr.exists || leftovers)
                    && (!task.at[n].pod.exists() || !task.pod.volume || self.slots_taken(n) < setup.limit(n))
            }
            Op::TakeSlot => self.slots_taken(n) < setup.limit(n),
            Op::ReadCr => task.cr.exists || leftovers || own.tracked,
            Op::CloseDataPath => true,
            _ => task.cr.exists, // what is gone cannot be written
        }
    }

    /// A reconcile of `t` at `n` would now do nothing, and succeed.
    pub(in super::super) fn reconcile_is_over(&self, setup: &Setup<'_>, n: NodeId, t: TaskId) -> bool {
        decide(setup.design, setup.kind, &self.own(setup, n, t)) == Plan::NONE && !self.reconcile_would_act(setup, n, t)
    }

    /// The periodic enqueue takes `t` at `n`.
    pub fn is_enqueued_periodically(&self, setup: &Setup<'_>, n: NodeId, t: TaskId) -> bool {
        setup.design.enqueues_periodically(&self.tasks[t].at[n].cr)
    }

    /// The periodic enqueue of `n` would now bring about anything.
    pub fn periodic_would_act(&self, setup: &Setup<'_>, n: NodeId) -> bool {
        self.task_ids().any(|t| {
            self.is_enqueued_periodically(setup, n, t)
                && !self.tasks[t].at[n].key.is_ready()
                && self.reconcile_would_act(setup, n, t)
        })
    }

    /// There is nothing to start: the upload fails, and a slot that was taken first is given back.
    fn fails_to_start(&mut self, n: NodeId, t: TaskId) {
        let failed = if self.tasks[t].watcher.holds_slot_of(n) {
            Plan::FAILED.after(Plan::of(&[Op::CloseDataPath]))
        } else {
            Plan::FAILED
        };
        self.replan(Seat::Worker(n), failed);
    }

    /// What R7 makes of a live look at the pod.
    fn peek(&self, setup: &Setup<'_>, n: NodeId, t: TaskId) -> Plan {
        let task = &self.tasks[t];
        if !task.pod.phase.exists() {
            let plan = setup.design.on_missing_pod_at_peek(&self.own(setup, n, t));
            if plan != Plan::NONE {
                return plan;
            }
        }
        if task.pod.phase.is_unrecoverable() {
            Plan::FORCED // R7b
        } else if task.accepted.reached(setup.times.span(Obligation::PrepareTimeout).earliest) {
            Plan::of(&[Op::TimeOutPrepare, Op::DeletePod, Op::DeleteVolume, Op::CleanUp]) // R7c
        } else {
            Plan::NONE
        }
    }
}

/// How long after it first saw the cancel a node-agent forces it, in seconds.
pub fn force_after(setup: &Setup<'_>, phase: Phase) -> u16 {
    let obligation =
        if phase == Phase::InProgress { Obligation::ForcedCancelInProgress } else { Obligation::ForcedCancel };
    setup.times.span(obligation).earliest
}

/// It takes the first key of its queue, reads the custom resource from its cache and decides.
///
/// Spec: N4, R0 to R10. Velero: `pkg/controller/data_upload_controller.go`, `Reconcile`.
pub fn reads(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(!now.nodes[n].worker.is_busy(), now.head_of_queue(n) == Some(t));

    let setup = step.setup;
    let next = step.fires()?;
    let low = next.dequeue(n, t);
    let plan = decide(setup.design, setup.kind, &next.own(setup, n, t));
    let current = next.cache_is_current(n, t);
    let known = &mut next.tasks[t].at[n];
    let cr = known.cr;
    if cr.phase.is_final() {
        known.cancelled = Age::NONE; // R3
    } else if cr.cancel && !known.cancelled.has_begun() && plan.first() != Op::AddFinalizer {
        known.cancelled = Age::NEW; // R4
    }
    next.begin(Seat::Worker(n), t, Held { cr, current }, plan, low);
    Some(())
}

/// It reads the custom resource again, for a write that it repeats on conflict.
///
/// Spec: GMR. Velero: `pkg/controller/data_upload_controller.go`, `UpdateDataUploadWithRetry`.
pub fn gets(step: &mut Step<'_>, n: NodeId, _: TaskId) -> Option<()> {
    routine::gets(step, Seat::Worker(n))
}

/// It adds the finalizer.
///
/// Spec: R2a. Velero: `pkg/controller/data_upload_controller.go`, `Reconcile`.
pub fn adds_finalizer(step: &mut Step<'_>, n: NodeId, _: TaskId) -> Option<()> {
    routine::modifies(step, Seat::Worker(n), Op::AddFinalizer)
}

/// It turns the deletion of a running upload into a cancel.
///
/// Spec: R2b. Velero: `pkg/controller/data_upload_controller.go`, `Reconcile`.
pub fn sets_cancel(step: &mut Step<'_>, n: NodeId, _: TaskId) -> Option<()> {
    routine::modifies(step, Seat::Worker(n), Op::SetCancel)
}

/// It drops the finalizer of a final upload.
///
/// Spec: R3. Velero: `pkg/controller/data_upload_controller.go`, `Reconcile`.
pub fn drops_finalizer(step: &mut Step<'_>, n: NodeId, _: TaskId) -> Option<()> {
    routine::modifies(step, Seat::Worker(n), Op::DropFinalizer)
}

/// It finds the volume that a download shall fill.
///
/// Spec: R6d. Velero: `pkg/controller/data_download_controller.go`, `Reconcile`.
pub fn finds_target(step: &mut Step<'_>, n: NodeId, _: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.nodes[n].worker.plan.first() == Op::FindTarget);

    let next = step.fires()?;
    next.advance(Seat::Worker(n));
    Some(())
}

/// It accepts the upload, unless somebody changed it first.
///
/// Spec: R6e. Velero: `pkg/controller/data_upload_controller.go`, `acceptDataUpload`.
pub fn accepts(step: &mut Step<'_>, n: NodeId, _: TaskId) -> Option<()> {
    routine::writes_exclusively(step, Seat::Worker(n), Op::Accept)
}

/// It marks the upload Canceled by force, whoever owns it, unless somebody changed it first.
///
/// Spec: TC, R4, R6a, R7b. Velero: `pkg/controller/data_upload_controller.go`, `tryCancelDataUpload`.
pub fn forces_cancel(step: &mut Step<'_>, n: NodeId, _: TaskId) -> Option<()> {
    routine::writes_exclusively(step, Seat::Worker(n), Op::ForceCancel)
}

/// It fails an upload that was not prepared in time, unless somebody changed it first.
///
/// Spec: PT. Velero: `pkg/controller/data_upload_controller.go`, `onPrepareTimeout`.
pub fn times_out_prepare(step: &mut Step<'_>, n: NodeId, _: TaskId) -> Option<()> {
    routine::writes_exclusively(step, Seat::Worker(n), Op::TimeOutPrepare)
}

/// It has waited for the snapshot and made the objects that the pod needs, whatever became of the upload meanwhile;
/// but where a clean-up has deleted the original snapshot it fails.
///
/// Spec: EX. Velero: `pkg/exposer/csi_snapshot.go`, `Expose`.
pub fn exposes(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.nodes[n].worker.plan.first() == Op::Expose);
    step.within(now.nodes[n].worker.window)?;

    let next = step.fires()?;
    let pod = &mut next.tasks[t].pod;
    if pod.source_gone {
        next.replan(Seat::Worker(n), Plan::FAILED);
    } else {
        pod.snapshot = true;
        pod.volume = true;
        next.advance(Seat::Worker(n));
    }
    Some(())
}

/// It creates the pod, in upstream without another look at the upload.
///
/// Spec: EX, R6g. Velero: `pkg/exposer/csi_snapshot.go`, `createBackupPod`.
pub fn creates_pod(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.nodes[n].worker.plan.first() == Op::CreatePod);

    let rechecks = step.setup.design.rechecks_before_pod();
    let next = step.fires()?;
    if rechecks && !next.tasks[t].cr.is_live() {
        next.replan(Seat::Worker(n), Plan::FAILED);
        return Some(());
    }
    next.tasks[t].pod.phase = PodPhase::Pending;
    next.advance(Seat::Worker(n));
    Some(())
}

/// It looks at the pod of an accepted upload and at the time since it was accepted.
///
/// Spec: R7a to R7c. Velero: `pkg/exposer/csi_snapshot.go`, `PeekExposed`.
pub fn peeks(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.nodes[n].worker.plan.first() == Op::Peek);

    let setup = step.setup;
    let next = step.fires()?;
    let plan = next.peek(setup, n, t);
    next.replan(Seat::Worker(n), plan);
    Some(())
}

/// It looks for the pod of a prepared upload in its cache; without one the upload fails.
///
/// Spec: R8d. Velero: `pkg/exposer/csi_snapshot.go`, `GetExposed`.
pub fn finds_pod(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.nodes[n].worker.plan.first() == Op::FindPod);

    let next = step.fires()?;
    if next.tasks[t].at[n].pod.exists() {
        next.advance(Seat::Worker(n));
    } else {
        next.fails_to_start(n, t);
    }
    Some(())
}

/// It looks for the volume of the pod; a volume that is gone fails the upload.
///
/// Velero polls for the PVC to be bound, up to 10 min. Here the pod has run, so its PVC is bound or gone.
///
/// Spec: R8d. Velero: `pkg/util/kube/pvc_pv.go`, `WaitPVCBound`.
pub fn awaits_volume(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.nodes[n].worker.plan.first() == Op::AwaitVolume);

    let next = step.fires()?;
    if next.tasks[t].pod.volume {
        next.advance(Seat::Worker(n));
    } else {
        next.fails_to_start(n, t);
    }
    Some(())
}

/// It takes a slot and makes a watcher, or comes again in 5 s where none is free.
///
/// Spec: R8e, T1. Velero: `pkg/datapath/manager.go`, `CreateMicroServiceBRWatcher`.
pub fn takes_slot(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.nodes[n].worker.plan.first() == Op::TakeSlot);

    let limit = step.setup.limit(n);
    let next = step.fires()?;
    if next.slots_taken(n) < limit {
        next.tasks[t].watcher.is_created(n);
        next.advance(Seat::Worker(n));
    } else {
        next.replan(Seat::Worker(n), Plan::of(&[Op::RequeueSoon]));
    }
    Some(())
}

/// It registers the watcher's handlers of events and pods.
///
/// Spec: W1a to W1d. Velero: `pkg/datapath/micro_service_watcher.go`, `Init`.
pub fn registers_handlers(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.nodes[n].worker.plan.first() == Op::RegisterHandlers);

    let next = step.fires()?;
    let seen = next.nodes[n].pods.seen();
    next.tasks[t].watcher.registers(seen);
    next.advance(Seat::Worker(n));
    Some(())
}

/// It looks for the pod once more, now that the handlers stand.
///
/// Spec: W1e. Velero: `pkg/datapath/micro_service_watcher.go`, `reEnsureThisPod`.
pub fn reads_pod(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.nodes[n].worker.plan.first() == Op::ReadPod);

    let next = step.fires()?;
    let phase = next.tasks[t].at[n].pod;
    if phase.is_terminal() {
        next.tasks[t].watcher.last = phase;
        next.advance(Seat::Worker(n));
    } else if phase.exists() {
        next.advance(Seat::Worker(n));
        next.advance(Seat::Worker(n)); // nothing to send
    } else {
        next.replan(
            Seat::Worker(n),
            Plan::of(&[Op::CloseDataPath, Op::DeletePod, Op::DeleteVolume, Op::CleanUp, Op::MarkFailed, Op::Fail]),
        );
    }
    Some(())
}

/// It hands a pod that had ended to the watcher; with `podCh` full it blocks there.
///
/// Spec: W1e, HZ-67. Velero: `pkg/datapath/micro_service_watcher.go`, `Init`.
pub fn sends_pod(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.nodes[n].worker.plan.first() == Op::SendPod, now.tasks[t].watcher.has_room_for_pod());

    let next = step.fires()?;
    next.tasks[t].watcher.is_sent_pod();
    next.advance(Seat::Worker(n));
    Some(())
}

/// It marks the upload InProgress, without another look at its cancel.
///
/// Spec: R8g. Velero: `pkg/controller/data_upload_controller.go`, `Reconcile`.
pub fn marks_in_progress(step: &mut Step<'_>, n: NodeId, _: TaskId) -> Option<()> {
    routine::modifies(step, Seat::Worker(n), Op::MarkInProgress)
}

/// It starts the watcher.
///
/// Spec: R8h. Velero: `pkg/datapath/micro_service_watcher.go`, `StartBackup`.
pub fn starts_watcher(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.nodes[n].worker.plan.first() == Op::StartWatcher);

    let next = step.fires()?;
    next.tasks[t].watcher.starts();
    next.advance(Seat::Worker(n));
    Some(())
}

/// It closes the watcher of that name, if there is one: one that runs is told to end and waited for. Then the slot is free.
///
/// Spec: W6. Velero: `pkg/controller/data_upload_controller.go`, `closeDataPath`.
pub fn closes_data_path(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.nodes[n].worker.plan.first() == Op::CloseDataPath);
    let watcher = &now.tasks[t].watcher;
    let here = watcher.holds_slot_of(n);
    require!(!(here && watcher.runs() && watcher.closing));

    let next = step.fires()?;
    if here && next.tasks[t].watcher.runs() {
        next.tasks[t].watcher.closing = true; // and waits for its goroutine
    } else {
        if here {
            next.loses_watcher(t);
        }
        next.advance(Seat::Worker(n));
    }
    Some(())
}

/// It marks the running upload as canceling; the mover must hear of the cancel by itself.
///
/// Spec: R9d. Velero: `pkg/controller/data_upload_controller.go`, `Reconcile`.
pub fn marks_canceling(step: &mut Step<'_>, n: NodeId, _: TaskId) -> Option<()> {
    routine::modifies(step, Seat::Worker(n), Op::MarkCanceling)
}

/// It reads the upload that it is about to mark Canceled.
///
/// Spec: R8b, R9c. Velero: `pkg/controller/data_upload_controller.go`, `OnDataUploadCancelled`.
pub fn reads_cr(step: &mut Step<'_>, n: NodeId, _: TaskId) -> Option<()> {
    routine::reads_cr(step, Seat::Worker(n))
}

/// It deletes the pod, by name.
///
/// Spec: CU. Velero: `pkg/exposer/csi_snapshot.go`, `CleanUp`.
pub fn deletes_pod(step: &mut Step<'_>, n: NodeId, _: TaskId) -> Option<()> {
    routine::deletes_pod(step, Seat::Worker(n))
}

/// It deletes the PVC.
///
/// Spec: CU. Velero: `pkg/util/kube/pvc_pv.go`, `DeletePVAndPVCIfAny`.
pub fn deletes_volume(step: &mut Step<'_>, n: NodeId, _: TaskId) -> Option<()> {
    routine::deletes_volume(step, Seat::Worker(n))
}

/// It has waited for the volume to go and deletes the snapshots.
///
/// Spec: CU. Velero: `pkg/exposer/csi_snapshot.go`, `CleanUp`.
pub fn cleans_up(step: &mut Step<'_>, n: NodeId, _: TaskId) -> Option<()> {
    routine::cleans_up(step, Seat::Worker(n))
}

/// It marks the upload Canceled after the clean-up.
///
/// Spec: R8b, R9c. Velero: `pkg/controller/data_upload_controller.go`, `OnDataUploadCancelled`.
pub fn marks_canceled(step: &mut Step<'_>, n: NodeId, _: TaskId) -> Option<()> {
    routine::modifies(step, Seat::Worker(n), Op::MarkCanceled)
}

/// It marks the upload Failed after the clean-up.
///
/// Spec: EO. Velero: `pkg/controller/data_upload_controller.go`, `errorOut`.
pub fn marks_failed(step: &mut Step<'_>, n: NodeId, _: TaskId) -> Option<()> {
    routine::modifies(step, Seat::Worker(n), Op::MarkFailed)
}

/// It frees the slot, by name, whether or not a watcher still runs.
///
/// Spec: T2, R8b, R9c. Velero: `pkg/datapath/manager.go`, `RemoveAsyncBR`.
pub fn releases_slot(step: &mut Step<'_>, n: NodeId, _: TaskId) -> Option<()> {
    routine::releases_slot(step, Seat::Worker(n))
}
