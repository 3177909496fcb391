//! The watcher of a running mover, and the slot that is held for it.
//!
//! The data path manager is a map from a name to a watcher. A slot is an entry of that map; the watcher's goroutine
//! has a life of its own and may outlive its entry. A `DataUpload` has one owner for life, so a task has at most one
//! watcher.

use zerocopy::{FromZeros, Immutable, IntoBytes};

use super::super::api_server::{DataUpload, Held, PodPhase};
use super::super::design::Ended;
use super::super::place::{Host, NodeId, TaskId};
use super::super::rules::{Setup, Step};
use super::super::time::{Obligation, Span, Window};
use super::super::world::World;
use super::routine::{Op, Plan, Routine, Seat};
use crate::require;

/// How far the watcher is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, FromZeros, IntoBytes, Immutable)]
#[repr(u8)]
pub enum Stage {
    /// There is none.
    None,
    /// Made; hears nothing yet.
    Created,
    /// Its handlers stand; it has no goroutine yet.
    Registered,
    /// Its goroutine waits for the pod to end: without a time-out, without another look at anything.
    Watching,
    /// The pod has ended; it waits for the Started and Stopped events.
    Epilog,
    /// It carries out a callback, after which it is gone.
    Reporting,
}

/// A watcher and the slot held for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(C)]
pub struct Watcher {
    /// The node it runs on.
    pub(crate) home: Host,
    /// The data path manager of that node has an entry for it: the slot.
    pub(crate) tracked: bool,
    /// How far it is.
    pub stage: Stage,
    /// Pod updates that its handler has been told of, in its node's pod log.
    pub(crate) told: u8,
    /// Ended pods in `podCh`; its capacity is [`Watcher::POD_CH`].
    pub(crate) pod_ch: u8,
    /// It is told to end.
    pub closing: bool,
    /// Its handler has heard that the pod is gone.
    pub(crate) deleted: bool,
    /// Its handler is blocked on `podCh`, with a pod in hand.
    pub(crate) in_hand: bool,
    /// It has handled the Started event.
    pub started: bool,
    /// It has handled the Stopped event.
    pub stopped: bool,
    /// The phase of the ended pod that it has taken.
    pub last: PodPhase,
    /// What a callback is in the middle of.
    pub routine: Routine,
    /// The end of its wait for events.
    pub epilog: Window,
}

impl Watcher {
    /// No watcher, no slot.
    pub const NONE: Watcher = Watcher {
        home: Host::NOBODY,
        tracked: false,
        stage: Stage::None,
        told: 0,
        pod_ch: 0,
        closing: false,
        deleted: false,
        in_hand: false,
        started: false,
        stopped: false,
        last: PodPhase::Absent,
        routine: Routine::IDLE,
        epilog: Window::OFF,
    };

    /// The capacity of `podCh`.
    pub const POD_CH: u8 = 2;

    /// Whether a slot of node `n` is held for it.
    #[inline]
    pub fn holds_slot_of(&self, n: NodeId) -> bool {
        self.tracked && self.home.is(n)
    }

    /// Whether a slot is held for it.
    #[inline]
    pub fn holds_slot(&self) -> bool {
        self.tracked
    }

    /// The node it runs on, if there is a watcher.
    #[inline]
    pub fn home(&self) -> Option<NodeId> {
        self.home.node()
    }

    /// Whether its handlers stand on node `n`.
    #[inline]
    pub fn listens_on(&self, n: NodeId) -> bool {
        self.stage >= Stage::Registered && self.home.is(n)
    }

    /// Whether its goroutine runs.
    #[inline]
    pub fn runs(&self) -> bool {
        self.stage >= Stage::Watching
    }

    /// Room in `podCh`.
    #[inline]
    pub fn has_room_for_pod(&self) -> bool {
        self.pod_ch < Watcher::POD_CH
    }

    pub(super) fn is_created(&mut self, n: NodeId) {
        assert!(self.stage == Stage::None, "a second watcher for one task does not fit into the world");
        *self = Watcher { home: Host::at(n), tracked: true, stage: Stage::Created, ..Watcher::NONE };
    }

    pub(super) fn registers(&mut self, seen: u8) {
        self.stage = Stage::Registered;
        self.told = seen;
    }

    pub(super) fn is_sent_pod(&mut self) {
        self.pod_ch += 1;
    }

    /// Whether its pod handler is blocked on `podCh`.
    #[inline]
    pub fn is_blocked(&self) -> bool {
        self.in_hand
    }

    pub(super) fn starts(&mut self) {
        self.stage = Stage::Watching;
    }
}

impl World {
    /// The watcher of `t` is gone, and its slot with it. Nobody hears any more what the mover has told.
    pub(super) fn loses_watcher(&mut self, t: TaskId) {
        self.tasks[t].watcher = Watcher::NONE;
        self.tasks[t].mover.events.pass_unheard();
    }

    /// Node `n` frees the slot of `t`, if it holds one; a watcher that still runs goes on without it.
    pub(super) fn loses_slot_of(&mut self, n: NodeId, t: TaskId) {
        let watcher = &mut self.tasks[t].watcher;
        watcher.tracked &= !watcher.home.is(n);
    }
}

/// Its pod handler hears what wakes it and sends the pod on; with `podCh` full it blocks there, pod in hand.
///
/// What comes while it is blocked waits in its buffer; that is cut short here, since a handler that is blocked on a
/// watcher that has left its loops never goes on.
///
/// Spec: W1d, W5. Velero: `pkg/datapath/micro_service_watcher.go`, `Init`.
pub fn is_sent_pod(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    let watcher = &now.tasks[t].watcher;
    let room = watcher.has_room_for_pod();
    let entry = if watcher.in_hand { None } else { now.next_for_watcher(n, t) };
    require!(watcher.listens_on(n), if watcher.in_hand { room } else { entry.is_some() });

    let next = step.fires()?;
    let watcher = &mut next.tasks[t].watcher;
    if let Some(entry) = entry {
        watcher.told += 1;
        if entry.phase.exists() {
            watcher.last = entry.phase;
        } else {
            watcher.deleted = true;
        }
    }
    watcher.in_hand = !room;
    if room {
        watcher.is_sent_pod();
    }
    Some(())
}

/// It was told to end, and ends without a callback.
///
/// Spec: W2, W6. Velero: `pkg/datapath/micro_service_watcher.go`, `startWatch`.
pub fn is_closed(step: &mut Step<'_>, _: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    let watcher = &now.tasks[t].watcher;
    require!(watcher.closing, watcher.runs(), !watcher.routine.is_busy());

    let next = step.fires()?;
    next.tasks[t].watcher.stage = Stage::Created;
    Some(())
}

/// The watcher's wait for events, starting now.
fn epilog(setup: &Setup<'_>) -> Window {
    let upstream = setup.times.span(Obligation::Epilog);
    let seconds = setup.design.epilog_wait(upstream.earliest);
    Window::new(Span { earliest: seconds, latest: Some(seconds) })
}

/// It hears that the pod has ended.
///
/// Spec: W2, loop 1. Velero: `pkg/datapath/micro_service_watcher.go`, `startWatch`.
pub fn hears_pod(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    let watcher = &now.tasks[t].watcher;
    require!(watcher.stage == Stage::Watching, !watcher.routine.is_busy(), watcher.pod_ch > 0);

    let epilog = epilog(step.setup);
    let setup = step.setup;
    let next = step.fires()?;
    next.tasks[t].watcher.pod_ch -= 1;
    next.tasks[t].watcher.stage = Stage::Epilog;
    next.tasks[t].watcher.epilog = epilog;
    next.reports_once_complete(setup, n, t);
    Some(())
}

/// It handles the next event of its mover; the wait for the others starts anew.
///
/// Spec: W2, W3. Velero: `pkg/datapath/micro_service_watcher.go`, `onEvent`.
pub fn hears_event(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    let watcher = &now.tasks[t].watcher;
    require!(matches!(watcher.stage, Stage::Watching | Stage::Epilog), !watcher.routine.is_busy());
    let event = now.tasks[t].mover.events.next_sent()?;

    let epilog = epilog(step.setup);
    let setup = step.setup;
    let next = step.fires()?;
    next.tasks[t].mover.events.is_handled(event);
    let watcher = &mut next.tasks[t].watcher;
    if watcher.stage == Stage::Epilog {
        watcher.epilog = epilog;
    }
    match event {
        super::super::data_mover::Reason::Started => watcher.started = true,
        super::super::data_mover::Reason::Stopped => watcher.stopped = true,
        super::super::data_mover::Reason::Progress => {
            let held = Held { cr: DataUpload::ABSENT, current: false };
            next.begin(Seat::Callback(n, t), t, held, Plan::of(&[Op::ReportProgress]), false);
        }
    }
    next.reports_once_complete(setup, n, t);
    Some(())
}

/// It has waited a minute for Started and Stopped and goes on without them.
///
/// Spec: W2, loop 2. Velero: `pkg/datapath/micro_service_watcher.go`, `startWatch`.
pub fn gives_up_waiting(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    let watcher = &now.tasks[t].watcher;
    require!(watcher.stage == Stage::Epilog, !watcher.routine.is_busy());
    step.within(watcher.epilog)?;

    let setup = step.setup;
    let next = step.fires()?;
    next.reports(setup, n, t);
    Some(())
}

impl World {
    /// Once Started and Stopped have been seen, nothing is left to wait for.
    fn reports_once_complete(&mut self, setup: &Setup<'_>, n: NodeId, t: TaskId) {
        let watcher = &self.tasks[t].watcher;
        if watcher.stage == Stage::Epilog && watcher.started && watcher.stopped && !watcher.routine.is_busy() {
            self.reports(setup, n, t);
        }
    }

    /// It calls back: completed, cancelled or failed, by what the ended pod says.
    fn reports(&mut self, setup: &Setup<'_>, n: NodeId, t: TaskId) {
        let end = self.tasks[t].pod.end;
        let watcher = &mut self.tasks[t].watcher;
        let phase = std::mem::replace(&mut watcher.last, PodPhase::Absent);
        watcher.stage = Stage::Reporting;
        watcher.epilog = Window::OFF;
        let finish = setup.design.watcher_outcome(&Ended { phase, end, deleted: watcher.deleted });
        let plan = setup.design.finishes(setup.kind, finish);
        let held = Held { cr: DataUpload::ABSENT, current: false };
        self.begin(Seat::Callback(n, t), t, held, plan, false);
    }
}
