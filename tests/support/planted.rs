//! Faults planted on purpose: a design that is wrong in one way, or a time that is too long, for each invariant.

use vgdp_sim::designs::{CloseOnForcedCancel, OwnerFinalizes, Upstream, WatcherWatchesPodDelete};
use vgdp_sim::model::api_server::{DataUpload, Phase};
use vgdp_sim::model::data_mover::{End, Handler};
use vgdp_sim::model::design::{Design, Ended, Finish, Heard, PodHeard};
use vgdp_sim::model::faults::Disturbance as D;
use vgdp_sim::model::node_agent::routine::{Op, Plan};
use vgdp_sim::model::node_agent::worker::Own;
use vgdp_sim::model::place::TaskId;
use vgdp_sim::model::rules::Rule;
use vgdp_sim::model::time::{Obligation, Span, Times};
use vgdp_sim::run::Moment;
use vgdp_sim::scenario::Scenario;

/// An invariant, what breaks it, and what puts it to the test.
pub struct Planted {
    /// The invariant.
    pub id: &'static str,
    /// Where the fault is.
    pub fault: Trial,
    /// Invariants that the run which shows the fault does not break: they tell it from its neighbours.
    pub spares: &'static [&'static str],
    /// Where the invariant holds.
    pub sound: Trial,
    /// What puts it to the test there.
    pub occasion: Occasion,
}

/// A scenario under a design.
pub struct Trial {
    pub scenario: Scenario,
    pub design: &'static dyn Design,
}

/// What must come up in a run before its silence says anything.
pub enum Occasion {
    /// For what must hold in time or at rest: it does not hold at some moment, and then it does again.
    Passes,
    /// For what must hold over each step: a step of this kind, which might have broken it.
    Step(fn(&Moment<'_>, TaskId) -> bool),
}

impl Trial {
    /// Nobody interferes.
    fn normal(design: &'static dyn Design) -> Trial {
        Trial::of("normal", design)
    }

    /// The built-in scenario of that name.
    fn of(scenario: &str, design: &'static dyn Design) -> Trial {
        Trial { scenario: Scenario::named(scenario).expect("it is built in"), design }
    }

    /// Two nodes, one upload, and these disturbances.
    fn with(price: u8, allows: &'static [(D, u8)], design: &'static dyn Design) -> Trial {
        let Trial { scenario, .. } = Trial::normal(design);
        Trial { scenario: Scenario { price, allows, ..scenario }, design }
    }

    /// The same with other times.
    fn timed(self, times: Times) -> Trial {
        Trial { scenario: Scenario { times, ..self.scenario }, ..self }
    }
}

// The planted faults: upstream, but wrong in one way.

fn takes_start_for_cancel(heard: &Heard) -> bool {
    heard.newest().is_some_and(|cr| cr.phase == Phase::InProgress)
}

/// Designs that differ from upstream in the methods given.
macro_rules! wrong {
    ($($(#[doc = $doc:literal])* $name:ident { $($method:item)* })*) => {
        $($(#[doc = $doc])* struct $name;

        impl Design for $name {
            fn name(&self) -> &'static str {
                stringify!($name)
            }

            $($method)*
        })*
    };
}

wrong! {
    /// The watcher is never woken.
    DeafWatcher {
        fn watcher_hears(&self, _: PodHeard) -> bool { false }
    }

    /// The watcher takes every end for a failure.
    Pessimist {
        fn watcher_outcome(&self, _: &Ended) -> Finish { Finish::Failed }
    }

    /// The mover takes the removal of its upload for a cancel.
    MindsTheRemoval {
        fn mover_hears(&self, heard: &Heard) -> bool { matches!(heard, Heard::Delete(_)) }
    }

    /// The mover never hears of a cancel.
    DeafMover {
        fn mover_hears(&self, _: &Heard) -> bool { false }
    }

    /// The mover hears of a cancel whenever, also before it has anything to cancel.
    HastyMover {
        fn mover_hears(&self, heard: &Heard) -> bool { heard.newest().is_some_and(|cr| cr.cancel) }
    }

    /// The mover takes being started for a cancel.
    ConfusedMover {
        fn mover_hears(&self, heard: &Heard) -> bool { takes_start_for_cancel(heard) }
    }

    /// The same, and nobody forces a cancel, which would end that mover.
    LonelyMover {
        fn mover_hears(&self, heard: &Heard) -> bool { takes_start_for_cancel(heard) }

        fn may_force(&self, _: &Own) -> bool { false }
    }

    /// Nobody forces a cancel.
    Patient {
        fn may_force(&self, _: &Own) -> bool { false }
    }

    /// The owner frees the slot as soon as it sees the cancel, while the mover has still to hear of it.
    FreesTheSlotFirst {
        fn on_in_progress_cancel(&self, _: &Own) -> Plan { Plan::of(&[Op::CloseDataPath, Op::MarkCanceling]) }
    }

    /// The owner frees the slot when it sees the cancel, and that is all that comes of it.
    ForgetsTheMover {
        fn on_in_progress_cancel(&self, _: &Own) -> Plan { Plan::of(&[Op::CloseDataPath]) }

        fn on_untracked_cancel(&self, _: &Own) -> Plan { Plan::NONE }

        fn mover_hears(&self, _: &Heard) -> bool { false }
    }

    /// The owner carries out the cancel of a running upload by itself, past its watcher.
    PassesOverTheWatcher {
        fn on_in_progress_cancel(&self, _: &Own) -> Plan { Plan::CANCELLED }
    }

    /// The owner takes a running upload back, since one that is only prepared is simple to cancel.
    TakesItBack {
        fn on_in_progress_cancel(&self, _: &Own) -> Plan { Plan::of(&[Op::MarkPrepared]) }
    }

    /// Whoever marks an upload Prepared or InProgress does not look whether it is over.
    Unguarded {
        fn may_prepare(&self, _: &DataUpload) -> bool { true }

        fn may_start(&self, _: &DataUpload) -> bool { true }
    }

    /// The owner never finds an upload fit to start.
    NeverStarts {
        fn may_start(&self, _: &DataUpload) -> bool { false }
    }

    /// Only an upload that is accepted becomes Prepared.
    Guarded {
        fn may_prepare(&self, fresh: &DataUpload) -> bool { fresh.phase == Phase::Accepted }
    }

    /// The cancel of a prepared upload cleans nothing up.
    CleansNothing {
        fn on_prepared_cancel(&self, _: &Own) -> Plan { Plan::of(&[Op::MarkCanceled]) }
    }

    /// The cancel of a prepared upload leaves its pod.
    LeavesThePod {
        fn on_prepared_cancel(&self, _: &Own) -> Plan {
            Plan::of(&[Op::DeleteVolume, Op::CleanUp, Op::MarkCanceled])
        }
    }

    /// The cancel of a prepared upload leaves its volume and snapshot.
    LeavesTheObjects {
        fn on_prepared_cancel(&self, _: &Own) -> Plan { Plan::of(&[Op::DeletePod, Op::MarkCanceled]) }
    }

    /// Nobody drops the finalizer.
    KeepsTheFinalizer {
        fn on_final(&self, _: &Own) -> Plan { Plan::NONE }
    }
}

/// The user cancels an upload whose transfer is slow to heed that.
const SLOW: &[(D, u8)] = &[(D::Cancel, 1), (D::SlowUploader, 1)];

/// One planted fault for each invariant, in their order.
#[allow(clippy::too_many_lines)] // a table
pub fn planted() -> Vec<Planted> {
    use Occasion::{Passes, Step};

    let it = |id, fault, spares, sound, occasion| Planted { id, fault, spares, sound, occasion };
    let slow_epilog = Times::default().with(Obligation::Epilog, Span { earliest: 600, latest: Some(600) });
    let quick_stop = Times::default().with(Obligation::TransferStop, Span { earliest: 0, latest: Some(5) });
    let slow_garbage = Times::default().with(Obligation::GarbageCollection, Span { earliest: 600, latest: Some(600) });
    vec![
        it("slot-leak", Trial::normal(&DeafWatcher), &[], Trial::normal(&Upstream), Passes),
        it(
            "slot-late",
            Trial::of("cancel", &WatcherWatchesPodDelete).timed(slow_epilog),
            &["slot-leak"],
            Trial::of("cancel", &WatcherWatchesPodDelete),
            Passes,
        ),
        it(
            "slot-early",
            Trial::of("cancel", &FreesTheSlotFirst),
            &[],
            Trial::of("cancel", &CloseOnForcedCancel),
            Passes,
        ),
        it(
            "over-limit",
            Trial::of("two-uploads-one-slot", &ForgetsTheMover),
            &[],
            Trial::of("two-uploads-one-slot", &FreesTheSlotFirst).timed(quick_stop),
            Passes,
        ),
        it("cancel-late", Trial::of("cancel", &Patient), &[], Trial::of("cancel", &Upstream), Passes),
        it(
            "cancel-unheard",
            Trial::of("cancel", &DeafMover),
            &[],
            Trial::with(1, SLOW, &Upstream),
            Step(|it, t| is_forced(it, t) && it.is.tasks[t].mover.is_running() && it.is.tasks[t].mover.heard_cancel),
        ),
        it("stuck", Trial::of("pod-deleted", &Patient), &[], Trial::of("pod-deleted", &Upstream), Passes),
        it(
            "starved",
            Trial::of("two-uploads-one-slot", &DeafWatcher),
            &[],
            Trial::of("two-uploads-one-slot", &Upstream),
            Passes,
        ),
        it("slow-start", Trial::normal(&NeverStarts), &["starved"], Trial::normal(&Upstream), Passes),
        it(
            "outcome-false",
            Trial::normal(&Pessimist),
            &[],
            Trial::normal(&Upstream),
            Step(|it, t| {
                it.was.tasks[t].pod.end == End::Completed && it.was.tasks[t].cr.phase != it.is.tasks[t].cr.phase
            }),
        ),
        it(
            "stranger-acts",
            Trial::of("cancel", &DeafMover),
            &[],
            Trial::with(1, SLOW, &OwnerFinalizes),
            Step(|it, t| is_forced(it, t) && it.is.tasks[t].mover.is_transferring()),
        ),
        it(
            "final-changes",
            Trial::of("cancel", &Unguarded),
            &[],
            Trial::of("cancel", &Upstream),
            Step(|it, t| {
                it.action.rule() == Rule::PodEventsMarksPrepared
                    && it.action.task() == Some(t)
                    && it.was.tasks[t].cr.phase.is_final()
            }),
        ),
        it(
            "phase-regresses",
            Trial::of("cancel", &TakesItBack),
            &[],
            Trial::normal(&Guarded),
            Step(|it, t| {
                it.action.rule() == Rule::PodEventsMarksPrepared
                    && it.action.task() == Some(t)
                    && it.was.tasks[t].cr.phase == Phase::InProgress
            }),
        ),
        it(
            "crash",
            Trial::of("cancel", &HastyMover),
            &[],
            Trial::of("cancel", &Upstream),
            Step(|it, t| !it.was.tasks[t].mover.heard_cancel && it.is.tasks[t].mover.heard_cancel),
        ),
        it("send-blocked", Trial::normal(&ConfusedMover), &["send-blocked-for-ever"], Trial::normal(&Upstream), Passes),
        it(
            "send-blocked-for-ever",
            Trial::normal(&LonelyMover),
            &[],
            Trial::of("cancel", &Upstream),
            Step(|it, t| {
                it.was.tasks[t].mover.handler == Handler::Sending && it.is.tasks[t].mover.handler != Handler::Sending
            }),
        ),
        it("orphan-process", Trial::of("cancel", &CleansNothing), &[], Trial::of("cancel", &Upstream), Passes),
        it(
            "orphan-watcher",
            Trial::of("cancel", &PassesOverTheWatcher),
            &["slot-leak", "slot-late"],
            Trial::normal(&Upstream),
            Passes,
        ),
        it(
            "orphan-pod",
            Trial::of("cancel", &LeavesThePod),
            &["orphan-objects"],
            Trial::of("cancel", &Upstream),
            Passes,
        ),
        it(
            "orphan-objects",
            Trial::of("cancel", &LeavesTheObjects),
            &["orphan-pod", "orphan-process"],
            Trial::of("cancel", &Upstream),
            Passes,
        ),
        it(
            "finalizer-stuck",
            Trial::of("cr-deleted", &KeepsTheFinalizer),
            &[],
            Trial::of("cr-deleted", &Upstream),
            Passes,
        ),
        it(
            "removal-cancels",
            Trial::of("finalizer-stripped", &MindsTheRemoval),
            &[],
            Trial::of("finalizer-stripped", &Upstream),
            Step(|it, t| {
                it.action.rule() == Rule::DataMoverHears
                    && it.action.task() == Some(t)
                    && it.was.tasks[t].mover.last.exists
                    && it.is.tasks[t].mover.is_running()
                    && !it.is.tasks[t].mover.last.exists
            }),
        ),
        it(
            "removal-kills",
            Trial::of("finalizer-stripped", &DeafMover), // and the garbage collector, which is nobody's decision
            &["removal-cancels"],
            Trial::of("finalizer-stripped", &DeafMover).timed(slow_garbage),
            Step(|it, t| {
                it.action.rule() == Rule::DataMoverExits
                    && it.action.task() == Some(t)
                    && !it.was.tasks[t].cr.exists
                    && it.is.tasks[t].mover.end == End::Completed
            }),
        ),
        it("watcher-outlives-pod", Trial::normal(&DeafWatcher), &[], Trial::normal(&Upstream), Passes),
        it(
            "mistake-costs-slot",
            Trial::of("cr-deleted", &DeafWatcher),
            &[],
            Trial::of("cr-deleted", &Upstream),
            Passes,
        ),
    ]
}

/// Somebody forces the cancel of `t`.
fn is_forced(it: &Moment<'_>, t: TaskId) -> bool {
    it.action.rule() == Rule::WorkerForcesCancel && it.was.tasks[t].cr.is_live() && !it.is.tasks[t].cr.is_live()
}
