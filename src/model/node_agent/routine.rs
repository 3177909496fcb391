//! What a goroutine of a node-agent is in the middle of.
//!
//! A reconcile, a callback and the mapping of a pod event are decided in one place and then carried out one API
//! call at a time. What is left to do is a value, a [`Plan`] of [`Op`]s, so that anything may happen between two of
//! them. The rules that carry an operation out stand in [`worker`](super::worker), [`callback`](super::callback)
//! and [`pod_events`](super::pod_events); what an operation does, whoever does it, stands here.

use zerocopy::{FromZeros, Immutable, IntoBytes};

use super::super::api_server::{Answer, DataUpload, Held, Phase};
use super::super::design::Design;
use super::super::place::{Host, NodeId, TaskId};
use super::super::rules::{Setup, Step};
use super::super::time::{Age, Obligation, Window};
use super::super::world::World;
use super::work_queue::Outcome;
use crate::require;

/// One thing that a goroutine still has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(u8)]
pub enum Op {
    /// Nothing is left.
    End,

    // Get, modify, retry: a cached read, then a versioned update; a conflict starts over after an interval.
    /// R2a.
    AddFinalizer,
    /// R2b and M2: sets cancel.
    SetCancel,
    /// R3.
    DropFinalizer,
    /// M1.
    MarkPrepared,
    /// R8g.
    MarkInProgress,
    /// R9d.
    MarkCanceling,
    /// `OnDataUploadCancelled`.
    MarkCanceled,
    /// `OnDataUploadCompleted`.
    MarkCompleted,
    /// `errorOut`.
    MarkFailed,
    /// `OnDataUploadProgress`.
    ReportProgress,

    // Exclusive update: one versioned update of the copy read at the start, never retried.
    /// R6e.
    Accept,
    /// `tryCancelDataUpload`.
    ForceCancel,
    /// `onPrepareTimeout`.
    TimeOutPrepare,

    // Other calls and waits.
    /// R6d: the volume that a download shall fill.
    FindTarget,
    /// EX, up to the pod.
    Expose,
    /// EX, the pod.
    CreatePod,
    /// R7a.
    Peek,
    /// R8d: the cached read of the pod.
    FindPod,
    /// R8d: the wait for the volume.
    AwaitVolume,
    /// R8e.
    TakeSlot,
    /// W1a to W1d.
    RegisterHandlers,
    /// W1e: the cached read of the pod.
    ReadPod,
    /// W1e: an ended pod is sent.
    SendPod,
    /// R8h.
    StartWatcher,
    /// Closes the watcher and frees the slot.
    CloseDataPath,
    /// The cached read that a callback begins with.
    ReadCr,
    /// CU, first call.
    DeletePod,
    /// CU: the PVC is deleted.
    DeleteVolume,
    /// CU, the rest, after the volume has gone.
    CleanUp,
    /// RB: the strict deletion of the pod.
    RebindDeletePod,
    /// RB: the strict deletion of the restore PVC.
    RebindDeleteVolume,
    /// RB: the target volume is bound to what was restored.
    Rebind,
    /// The deferred `RemoveAsyncBR`, and with it the end of a watcher.
    ReleaseSlot,

    // In memory, at once.
    /// Goes on with [`Plan::COMPLETED`].
    Complete,
    /// Deletes the entry of the map `cancelled`.
    ForgetCancel,
    /// Hands the key of a mapped pod event to the queue.
    EnqueueKey,
    /// Returns `RequeueAfter` 5 s.
    RequeueSoon,
    /// Returns the error.
    Fail,
}

impl Op {
    /// Whether it is a get-modify-retry.
    #[inline]
    pub fn is_modify(self) -> bool {
        (Op::AddFinalizer as u8..=Op::ReportProgress as u8).contains(&(self as u8))
    }

    /// What it makes of `cr`, at node `n`; `None` where its function declines.
    pub fn wanted(self, design: &dyn Design, cr: DataUpload, n: NodeId) -> Option<DataUpload> {
        let unless_final = |phase| (!cr.phase.is_final()).then_some(DataUpload { phase, ..cr });
        match self {
            Op::AddFinalizer => (!cr.finalizer).then_some(DataUpload { finalizer: true, ..cr }),
            Op::SetCancel => (!cr.cancel).then_some(DataUpload { cancel: true, ..cr }),
            Op::DropFinalizer => cr.finalizer.then_some(DataUpload { finalizer: false, ..cr }),
            Op::MarkPrepared => {
                design.may_prepare(&cr).then_some(DataUpload { phase: Phase::Prepared, node: Host::at(n), ..cr })
            }
            Op::MarkInProgress => design.may_start(&cr).then_some(DataUpload { phase: Phase::InProgress, ..cr }),
            Op::MarkCanceling => unless_final(Phase::Canceling),
            Op::MarkCanceled => unless_final(Phase::Canceled),
            Op::MarkCompleted => unless_final(Phase::Completed),
            Op::MarkFailed => unless_final(Phase::Failed),
            Op::ReportProgress => Some(cr),
            Op::Accept => Some(DataUpload { phase: Phase::Accepted, ..cr }),
            Op::ForceCancel => Some(DataUpload { phase: Phase::Canceled, ..cr }),
            Op::TimeOutPrepare => Some(DataUpload { phase: Phase::Failed, ..cr }),
            _ => unreachable!("{self:?} writes nothing"),
        }
    }
}

/// The most operations that a plan has room for.
pub const PLAN: usize = 8;

/// What is left to do, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(transparent)]
pub struct Plan([Op; PLAN]);

impl Plan {
    /// Nothing.
    pub const NONE: Plan = Plan([Op::End; PLAN]);

    /// TC: a cancel by force. The phase first, the clean-up after.
    pub const FORCED: Plan = Plan::of(&[Op::ForceCancel, Op::DeletePod, Op::DeleteVolume, Op::CleanUp]);

    /// `errorOut`: the clean-up first, the phase after, and the error returned.
    pub const FAILED: Plan = Plan::of(&[Op::DeletePod, Op::DeleteVolume, Op::CleanUp, Op::MarkFailed, Op::Fail]);

    /// `OnDataUploadCancelled`, called by the worker itself.
    pub const CANCELLED: Plan = Plan::of(&[
        Op::ReadCr,
        Op::DeletePod,
        Op::DeleteVolume,
        Op::CleanUp,
        Op::MarkCanceled,
        Op::ForgetCancel,
        Op::ReleaseSlot,
    ]);

    /// The end of `OnDataUploadCompleted`: clean-up, status, slot.
    pub const COMPLETED: Plan =
        Plan::of(&[Op::DeletePod, Op::DeleteVolume, Op::CleanUp, Op::MarkCompleted, Op::ReleaseSlot]);

    /// The same with the slot taken first.
    pub const START_WITH_SLOT: Plan = Plan::of(&[
        Op::TakeSlot,
        Op::FindPod,
        Op::AwaitVolume,
        Op::RegisterHandlers,
        Op::ReadPod,
        Op::SendPod,
        Op::MarkInProgress,
        Op::StartWatcher,
    ]);

    /// R8d to R8h: from a prepared upload to a running watcher.
    pub const START: Plan = Plan::of(&[
        Op::FindPod,
        Op::AwaitVolume,
        Op::TakeSlot,
        Op::RegisterHandlers,
        Op::ReadPod,
        Op::SendPod,
        Op::MarkInProgress,
        Op::StartWatcher,
    ]);

    /// This, and then `op`.
    ///
    /// # Panics
    ///
    /// When the plan has no room for it.
    #[must_use]
    pub const fn then(mut self, op: Op) -> Plan {
        let mut i = 0;
        while !matches!(self.0[i], Op::End) {
            i += 1;
        }
        self.0[i] = op;
        self
    }

    /// `first`, and then this.
    #[must_use]
    pub(super) fn after(self, first: Plan) -> Plan {
        self.0.into_iter().take_while(|&it| it != Op::End).fold(first, Plan::then)
    }

    /// These, in this order.
    pub const fn of(ops: &[Op]) -> Plan {
        let mut plan = Plan::NONE;
        let mut i = 0;
        while i < ops.len() {
            plan.0[i] = ops[i];
            i += 1;
        }
        plan
    }

    /// What comes next.
    #[inline]
    pub const fn first(&self) -> Op {
        self.0[0]
    }

    fn pop(&mut self) {
        self.0.copy_within(1.., 0);
        self.0[PLAN - 1] = Op::End;
    }
}

/// How far a get-modify-retry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(u8)]
pub enum Attempt {
    /// Not begun.
    Begin,
    /// It has read a copy and will write it.
    Got,
    /// The write met a conflict: it reads again after an interval.
    Conflicted,
    /// The write passed its check; the server removes the object before it answers.
    Waiting,
}

/// A goroutine of a node-agent: idle, or in the middle of a plan for one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(C)]
pub struct Routine {
    /// For whom.
    pub task: TaskId,
    /// How far its get-modify-retry is.
    pub attempt: Attempt,
    /// The key that it works on had the low priority.
    pub(crate) low: bool,
    /// The copy of the custom resource that it holds.
    pub held: Held,
    /// What is left to do.
    pub plan: Plan,
    /// When a wait ends.
    pub window: Window,
}

impl Routine {
    /// Nothing to do.
    pub const IDLE: Routine = Routine {
        task: TaskId(0),
        attempt: Attempt::Begin,
        low: false,
        held: Held { cr: DataUpload::ABSENT, current: false },
        plan: Plan::NONE,
        window: Window::OFF,
    };

    /// Whether it is in the middle of something.
    #[inline]
    pub fn is_busy(&self) -> bool {
        self.plan.first() != Op::End
    }

    /// Its copy of the custom resource of `t`, if it holds one, is no longer the newest.
    #[inline]
    pub(in super::super) fn outdate(&mut self, t: TaskId) {
        if self.task == t {
            self.held.current = false;
        }
    }
}

/// Which goroutine of which node-agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seat {
    /// The controller's worker.
    Worker(NodeId),
    /// The mapping of pod events.
    Mapping(NodeId),
    /// The watcher of a task, in a callback.
    Callback(NodeId, TaskId),
}

impl Seat {
    /// On which node.
    #[inline]
    pub fn node(self) -> NodeId {
        let (Seat::Worker(n) | Seat::Mapping(n) | Seat::Callback(n, _)) = self;
        n
    }
}

impl World {
    /// What the goroutine is in the middle of.
    #[inline]
    pub fn routine(&self, seat: Seat) -> &Routine {
        match seat {
            Seat::Worker(n) => &self.nodes[n].worker,
            Seat::Mapping(n) => &self.nodes[n].mapping,
            Seat::Callback(_, t) => &self.tasks[t].watcher.routine,
        }
    }

    /// What the goroutine is in the middle of.
    #[inline]
    pub fn routine_mut(&mut self, seat: Seat) -> &mut Routine {
        match seat {
            Seat::Worker(n) => &mut self.nodes[n].worker,
            Seat::Mapping(n) => &mut self.nodes[n].mapping,
            Seat::Callback(_, t) => &mut self.tasks[t].watcher.routine,
        }
    }

    /// The goroutine begins to carry out `plan` for `t`, holding the copy `held`.
    pub(super) fn begin(&mut self, seat: Seat, t: TaskId, held: Held, plan: Plan, low: bool) {
        *self.routine_mut(seat) = Routine { task: t, low, held, plan, ..Routine::IDLE };
        self.settle_plan(seat);
    }

    /// The first operation of the goroutine is done.
    pub(in super::super) fn advance(&mut self, seat: Seat) {
        self.routine_mut(seat).plan.pop();
        self.routine_mut(seat).attempt = Attempt::Begin;
        self.routine_mut(seat).window = Window::OFF;
        self.settle_plan(seat);
    }

    /// The goroutine drops what it had left and carries out `plan` instead.
    pub(in super::super) fn replan(&mut self, seat: Seat, plan: Plan) {
        self.routine_mut(seat).plan = plan;
        self.routine_mut(seat).attempt = Attempt::Begin;
        self.routine_mut(seat).window = Window::OFF;
        self.settle_plan(seat);
    }

    /// Does what needs no step of its own: what happens in memory, and the end.
    fn settle_plan(&mut self, seat: Seat) {
        let n = seat.node();
        let Routine { task: t, low, .. } = *self.routine(seat);
        let outcome = loop {
            match self.routine(seat).plan.first() {
                Op::End => break Outcome::Done,
                Op::Fail => break Outcome::Error,
                Op::RequeueSoon => break Outcome::RequeueSoon,
                Op::ForgetCancel => self.tasks[t].at[n].cancelled = Age::NONE,
                Op::EnqueueKey => self.enqueue(n, t),
                Op::Complete => {
                    self.routine_mut(seat).plan = Plan::COMPLETED;
                    return;
                }
                _ => return,
            }
            self.routine_mut(seat).plan.pop();
        };
        *self.routine_mut(seat) = Routine::IDLE;
        if let Seat::Worker(n) = seat {
            self.finish_key(n, t, outcome, low);
        }
    }

    /// An operation ended with an error that is no conflict, or its function declined: what follows.
    fn fails(&mut self, seat: Seat, op: Op) {
        match (seat, op) {
            (Seat::Worker(_), Op::MarkInProgress) => self.replan(seat, Plan::of(&[Op::CloseDataPath, Op::RequeueSoon])),
            (_, Op::MarkFailed | Op::MarkCompleted | Op::ReportProgress) => self.advance(seat), // only logged
            (_, Op::MarkCanceled) => {
                self.routine_mut(seat).plan.pop(); // only logged, but the map `cancelled` keeps its entry
                self.advance(seat);
            }
            (Seat::Worker(_), _) => self.replan(seat, Plan::of(&[Op::Fail])),
            (Seat::Mapping(_) | Seat::Callback(..), _) => self.replan(seat, Plan::NONE),
        }
    }
}

/// The goroutine's next operation is `op`, for the task that this returns.
#[inline]
fn at(now: &World, seat: Seat, op: Op) -> Option<TaskId> {
    let routine = now.routine(seat);
    (routine.plan.first() == op).then_some(routine.task)
}

/// A get-modify-retry reads the cache, for the first time or after a conflict.
///
/// After a conflict it is a poll: it reads again once the cache has moved.
pub(super) fn gets(step: &mut Step<'_>, seat: Seat) -> Option<()> {
    let now = step.now();
    let n = seat.node();
    let Routine { task: t, attempt, held, plan, .. } = *now.routine(seat);
    let cached = now.tasks[t].at[n].cr;
    require!(plan.first().is_modify());
    match attempt {
        Attempt::Begin => {}
        Attempt::Conflicted => require!(cached != held.cr || now.cache_is_current(n, t)),
        Attempt::Got | Attempt::Waiting => return None,
    }

    let design = step.setup.design;
    let next = step.fires()?;
    if !cached.exists {
        next.fails(seat, plan.first());
    } else if plan.first().wanted(design, cached, n).is_some() {
        let current = next.cache_is_current(n, t);
        let routine = next.routine_mut(seat);
        routine.held = Held { cr: cached, current };
        routine.attempt = Attempt::Got;
    } else if plan.first() == Op::MarkInProgress {
        next.replan(seat, Plan::of(&[Op::CloseDataPath]));
    } else {
        next.advance(seat);
    }
    Some(())
}

/// A get-modify-retry writes what it made of its copy.
pub(super) fn modifies(step: &mut Step<'_>, seat: Seat, op: Op) -> Option<()> {
    let now = step.now();
    let t = at(now, seat, op)?;
    require!(now.routine(seat).attempt == Attempt::Got);
    step.waits_for(!step.now().routine(seat).held.current || step.now().cr_log_has_room())?;

    let design = step.setup.design;
    let next = step.fires()?;
    let held = next.routine(seat).held;
    let answer = if op == Op::ReportProgress {
        next.touch(t, held)
    } else {
        let wanted = op.wanted(design, held.cr, seat.node()).expect("the function declined when it read");
        next.put(t, held, wanted)
    };
    match answer {
        Answer::Written => next.advance(seat),
        Answer::Removing => next.routine_mut(seat).attempt = Attempt::Waiting,
        Answer::Conflict => next.routine_mut(seat).attempt = Attempt::Conflicted,
        Answer::Refused => next.fails(seat, op),
    }
    Some(())
}

/// An exclusive update writes what it made of the copy read at the start; a conflict ends the plan.
pub(super) fn writes_exclusively(step: &mut Step<'_>, seat: Seat, op: Op) -> Option<()> {
    let now = step.now();
    let t = at(now, seat, op)?;
    step.waits_for(!step.now().routine(seat).held.current || step.now().cr_log_has_room())?;

    let setup = step.setup;
    let design = setup.design;
    let next = step.fires()?;
    let held = next.routine(seat).held;
    let wanted = op.wanted(design, held.cr, seat.node()).expect("an exclusive update always writes");
    match next.put(t, held, wanted) {
        Answer::Written => {
            if op == Op::Accept {
                next.begin_preparing(t);
            }
            let follows =
                if op == Op::ForceCancel { design.on_forced(&next.own(setup, seat.node(), t)) } else { Plan::NONE };
            next.advance(seat);
            if follows != Plan::NONE {
                let rest = next.routine(seat).plan;
                next.replan(seat, rest.after(follows));
            }
        }
        Answer::Refused if op == Op::Accept => next.replan(seat, Plan::of(&[Op::Fail])),
        Answer::Conflict | Answer::Refused | Answer::Removing => next.replan(seat, Plan::NONE),
    }
    Some(())
}

/// A callback begins with a cached read; without a custom resource it only frees the slot.
pub(super) fn reads_cr(step: &mut Step<'_>, seat: Seat) -> Option<()> {
    let now = step.now();
    let t = at(now, seat, Op::ReadCr)?;

    let next = step.fires()?;
    if next.tasks[t].at[seat.node()].cr.exists {
        next.advance(seat);
    } else {
        next.replan(seat, Plan::of(&[Op::ReleaseSlot]));
    }
    Some(())
}

/// The clean-up deletes the pod, by name.
pub(super) fn deletes_pod(step: &mut Step<'_>, seat: Seat) -> Option<()> {
    let now = step.now();
    let t = at(now, seat, Op::DeletePod)?;
    step.waits_for(step.now().pod_log_has_room(t))?;

    let setup = step.setup;
    let next = step.fires()?;
    next.delete_pod(setup, t);
    next.advance(seat);
    Some(())
}

/// The clean-up deletes the PVC; if there was one it goes on to wait for it and its volume to go.
pub(super) fn deletes_volume(step: &mut Step<'_>, seat: Seat) -> Option<()> {
    let now = step.now();
    let t = at(now, seat, Op::DeleteVolume)?;

    let wait = step.window(Obligation::CleanUp);
    let kind_waits = step.setup.kind.clean_up_waits();
    let next = step.fires()?;
    let waits = std::mem::take(&mut next.tasks[t].pod.volume) && kind_waits;
    next.advance(seat);
    next.routine_mut(seat).window = if waits { wait } else { Window::DUE };
    Some(())
}

/// The clean-up has waited for the volume to go and deletes the snapshots, the original one as well.
pub(super) fn cleans_up(step: &mut Step<'_>, seat: Seat) -> Option<()> {
    let now = step.now();
    let t = at(now, seat, Op::CleanUp)?;
    step.within(now.routine(seat).window)?;

    let source = step.setup.kind.cleans_up_source();
    let next = step.fires()?;
    next.tasks[t].pod.snapshot = false;
    next.tasks[t].pod.source_gone |= source;
    next.advance(seat);
    Some(())
}

/// The callback returns: the slot is freed, by name. In a watcher its goroutine ends as well.
pub(super) fn releases_slot(step: &mut Step<'_>, seat: Seat) -> Option<()> {
    let now = step.now();
    let t = at(now, seat, Op::ReleaseSlot)?;

    let next = step.fires()?;
    next.advance(seat);
    match seat {
        Seat::Callback(..) => next.loses_watcher(t),
        Seat::Worker(n) | Seat::Mapping(n) => next.loses_slot_of(n, t),
    }
    Some(())
}

/// Starts the window of a wait when the wait becomes the next operation.
pub(in super::super) fn starts_waiting(routine: &mut Routine, setup: &Setup<'_>) {
    if routine.window.is_off() && routine.attempt == Attempt::Begin {
        let obligation = match routine.plan.first() {
            Op::Expose => setup.kind.expose(),
            Op::Rebind => Obligation::Rebind,
            _ => return,
        };
        routine.window = setup.times.window(obligation);
    }
}
