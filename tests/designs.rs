//! Designs: the built-in ones are fit to be judged, and stacks tell where their members contradict each other.

use vgdp_sim::designs::{
    BUILT_IN, CloseOnTerminal, LevelTriggeredCancel, MoverWatchesCrDelete, Stack, Upstream, named,
};
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::api_server::{DataUpload, Phase, PodPhase};
use vgdp_sim::model::design::{Design, EarlyCancel, Ended, Finish, Heard, PodHeard, PodReaction, Poll, ResultSignal};
use vgdp_sim::model::kind::Kind;
use vgdp_sim::model::node_agent::routine::{Op, Plan};
use vgdp_sim::model::node_agent::worker::Own;
use vgdp_sim::run::observe;
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::Placed;
use vgdp_sim::search::{NonConformance, conforms, record, sweep};

#[test]
fn the_built_in_designs_conform() {
    for &it in BUILT_IN {
        assert_eq!(conforms(it), Ok(()), "{}", it.name());
        assert!(!it.sentence().is_empty(), "{}", it.name());
        assert_eq!(named(it.name()).unwrap().name(), it.name());
    }
}

/// What is upstream in all but name runs as upstream does.
#[test]
fn a_design_without_a_difference_is_upstream() {
    let scenario = Scenario::named("anything").unwrap();
    for index in 0..200 {
        let upstream = record(&scenario, &Upstream, &mut Placed::new(4, index));
        let alias = record(&scenario, named("no-reaction").unwrap(), &mut Placed::new(4, index));
        assert_eq!(upstream, alias);
    }
}

struct Shouts;

impl Design for Shouts {
    fn name(&self) -> &'static str {
        "Shouts!"
    }
}

struct Forgets(std::sync::atomic::AtomicU32);

impl Design for Forgets {
    fn name(&self) -> &'static str {
        "forgets"
    }

    fn may_force(&self, _own: &Own) -> bool {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed).is_multiple_of(3)
    }
}

struct Overreaches;

impl Design for Overreaches {
    fn name(&self) -> &'static str {
        "overreaches"
    }

    fn on_in_progress_cancel(&self, _own: &Own) -> Plan {
        Plan::of(&[Op::MarkPrepared])
    }
}

struct NeverDrops;

impl Design for NeverDrops {
    fn name(&self) -> &'static str {
        "never-finishes"
    }

    fn may_start(&self, _fresh: &DataUpload) -> bool {
        false
    }
}

#[test]
fn a_design_that_cannot_be_judged_is_told_why() {
    assert!(matches!(conforms(&Shouts), Err(NonConformance::Name { .. })));
    assert!(matches!(conforms(&Forgets(0.into())), Err(NonConformance::Impure { .. })));
    assert!(matches!(conforms(&Overreaches), Err(NonConformance::Stuck { op: Op::MarkPrepared, .. })));
    let error = conforms(&NeverDrops).unwrap_err();
    assert!(error.to_string().contains("never-finishes"), "{error}");
}

struct DeafMover;

impl Design for DeafMover {
    fn name(&self) -> &'static str {
        "deaf-mover"
    }

    fn mover_hears(&self, _heard: &Heard) -> bool {
        false
    }
}

#[test]
fn a_stack_does_what_its_members_do() {
    let scenario = Scenario::named("cancel").unwrap();
    let members: [&dyn Design; 2] = [&CloseOnTerminal, &LevelTriggeredCancel];
    let both = Stack::new("both", &members);
    let alone = Stack::new("alone", &members[..1]);
    assert_eq!(conforms(&both), Ok(()));
    for index in 0..200 {
        let stacked = record(&scenario, &alone, &mut Placed::new(4, index));
        assert_eq!(stacked, record(&scenario, &CloseOnTerminal, &mut Placed::new(4, index)));
    }
    assert_eq!(both.conflicts(), []);
}

struct ShortGrace;

impl Design for ShortGrace {
    fn name(&self) -> &'static str {
        "short-grace"
    }

    fn pod_grace(&self) -> u16 {
        5
    }
}

#[test]
fn a_contradictory_stack_names_the_decision_the_designs_and_the_situation() {
    let scenario = Scenario::named("cr-deleted").unwrap();
    let members: [&dyn Design; 2] = [&MoverWatchesCrDelete, &DeafMover];
    let both = Stack::new("both", &members);
    for index in 0..2_000 {
        vgdp_sim::run::run(&scenario, &both, &mut Placed::new(4, index));
    }
    // A mover that hears of nothing differs from upstream where there is an edge, one that hears of removals where
    // the upload is gone: they never answer the same question with two differences.
    assert_eq!(both.conflicts(), []);

    let members: [&dyn Design; 2] = [&ShortGrace, &vgdp_sim::designs::PositiveGrace];
    let contradictory = Stack::new("contradictory", &members);
    for index in 0..200 {
        vgdp_sim::run::run(&scenario, &contradictory, &mut Placed::new(4, index));
    }
    let conflicts = contradictory.conflicts();
    assert_eq!(conflicts.len(), 1);
    let text = conflicts[0].to_string();
    assert!(text.contains("pod_grace") && text.contains("short-grace") && text.contains("positive-grace"), "{text}");
}

/// A design for each decision that upstream would take otherwise: no decision point is idle.
macro_rules! otherwise {
    ($($design:ident: $name:literal, $scenario:literal, fn $decision:ident($($of:pat_param => $type:ty),*) -> $answer:ty $body:block)*) => {
        $(
            struct $design;

            impl Design for $design {
                fn name(&self) -> &'static str {
                    $name
                }

                fn $decision(&self, $($of: $type),*) -> $answer $body
            }
        )*

        #[test]
        fn each_decision_makes_a_difference() {
            $(
                let scenario = Scenario::named($scenario).unwrap();
                let differs = (0..4_000).any(|index| {
                    let upstream = record(&scenario, &Upstream, &mut Placed::new(4, index));
                    upstream != record(&scenario, &$design, &mut Placed::new(4, index))
                });
                assert!(differs, "{} changes nothing in {}", stringify!($decision), $scenario);
            )*
        }
    };
}

otherwise! {
    OnNotFound: "on-not-found", "finalizer-stripped", fn on_not_found(_ => &Own) -> Plan { Plan::of(&[Op::CloseDataPath]) }
    OnDeleting: "on-deleting", "cr-deleted", fn on_deleting(_ => &Own) -> Plan { Plan::NONE }
    OnFinal: "on-final", "normal", fn on_final(_ => &Own) -> Plan { Plan::NONE }
    MayForce: "may-force", "cancel", fn may_force(_ => &Own) -> bool { false }
    OnForced: "on-forced", "cancel", fn on_forced(_ => &Own) -> Plan { Plan::of(&[Op::CloseDataPath]) }
    MayAccept: "may-accept", "normal", fn may_accept(_ => &DataUpload) -> bool { false }
    Rechecks: "rechecks", "normal", fn rechecks_before_pod() -> bool { true }
    OnMissingPod: "on-missing-pod", "normal", fn on_missing_pod_at_peek(_ => &Own) -> Plan { Plan::FAILED }
    OnPreparedCancel: "on-prepared-cancel", "cancel", fn on_prepared_cancel(_ => &Own) -> Plan { Plan::FORCED }
    OnUntrackedCancel: "on-untracked-cancel", "double-trigger", fn on_untracked_cancel(_ => &Own) -> Plan { Plan::NONE }
    OnInProgressCancel: "on-in-progress-cancel", "cancel", fn on_in_progress_cancel(_ => &Own) -> Plan { Plan::NONE }
    OnCanceling: "on-canceling", "cancel", fn on_canceling(_ => &Own) -> Plan { Plan::FORCED }
    ReservesFirst: "reserves-first", "normal", fn reserves_slot_first() -> bool { true }
    OnUntracked: "on-untracked", "download-pod-deleted", fn on_untracked(_ => &Own) -> Plan { Plan::FORCED }
    MayStart: "may-start", "cancel", fn may_start(fresh => &DataUpload) -> bool { !fresh.cancel && !fresh.phase.is_final() }
    MayPrepare: "may-prepare", "normal", fn may_prepare(fresh => &DataUpload) -> bool { fresh.phase == Phase::Accepted }
    Enqueues: "enqueues", "cancel", fn enqueues_periodically(_ => &DataUpload) -> bool { false }
    OnPodEvent: "on-pod-event", "normal", fn on_pod_event(_ => PodPhase) -> PodReaction { PodReaction::Nothing }
    WatcherHears: "watcher-hears", "normal", fn watcher_hears(_ => PodHeard) -> bool { false }
    WatcherOutcome: "watcher-outcome", "normal", fn watcher_outcome(_ => &Ended) -> Finish { Finish::Failed }
    EpilogWait: "epilog-wait", "kill-fails", fn epilog_wait(_ => u16) -> u16 { 10 }
    Finishes: "finishes", "normal", fn finishes(_ => Kind, _ => Finish) -> Plan { Plan::of(&[Op::ReleaseSlot]) }
    MoverPolls: "mover-polls", "cancel", fn mover_polls(found => Option<&DataUpload>) -> Poll {
        match found {
            Some(cr) if cr.phase == Phase::InProgress => Poll::Go,
            Some(cr) if !cr.cancel && !cr.phase.is_final() => Poll::Keep,
            _ => Poll::Exit,
        }
    }
    CancelsEarly: "cancels-early", "cancel", fn mover_cancels_early() -> EarlyCancel { EarlyCancel::Mark }
    MoverHears: "mover-hears", "cancel", fn mover_hears(_ => &Heard) -> bool { false }
    Signal: "signal", "cancel", fn result_signal() -> ResultSignal { ResultSignal::FirstWins }
    Grace: "grace", "normal", fn pod_grace() -> u16 { 10 }
}

/// Marking an early cancel instead of reporting it is what stops the crash.
#[test]
fn a_mover_that_marks_an_early_cancel_does_not_crash() {
    let scenario = Scenario::named("cancel").unwrap();
    let crashes = |design: &dyn Design| {
        sweep(&scenario, design, 2, 3_000_000).broken.iter().any(|it| INVARIANTS[it.invariant].id == "crash")
    };
    assert!(crashes(&Upstream));
    assert!(!crashes(&CancelsEarly));
    assert_eq!(conforms(&CancelsEarly), Ok(()));
    assert_eq!(conforms(&ReservesFirst), Ok(()));
}

/// The Delete handler of the discussion's test plan: a direct object and a tombstone alike, by its last known phase.
/// Another upload's deletion never reaches it, and an object of another kind cannot exist in a stream of one kind.
#[test]
fn the_delete_handler_acts_on_the_last_known_phase_in_progress() {
    for phase in Phase::ALL {
        let last = DataUpload { exists: true, phase, ..DataUpload::ABSENT };
        for design in [named("mover-watches-cr-delete").unwrap(), named("mover-watches-cr-delete-guarded").unwrap()] {
            assert_eq!(design.mover_hears(&Heard::Delete(last)), phase == Phase::InProgress, "{phase:?}");
            assert!(!design.mover_hears(&Heard::Add(last)));
            assert!(!design.mover_hears(&Heard::Update(last, last)));
        }
        assert!(!Upstream.mover_hears(&Heard::Delete(last)));
    }
}

/// Neither the removal of another upload nor a relist that shows the own one unchanged cancels a mover.
#[test]
fn a_mover_hears_only_of_its_own_upload() {
    let scenario = Scenario { tasks: 2, ..Scenario::named("finalizer-stripped").unwrap() };
    let mut removals = 0;
    for index in 0..4_000 {
        observe(&scenario, &MoverWatchesCrDelete, &mut Placed::new(8, index), &mut |it| {
            for t in it.is.task_ids() {
                if it.is.tasks[t].mover.heard_removal && !it.was.tasks[t].mover.heard_removal {
                    removals += 1;
                    assert_eq!(it.action.task(), Some(t));
                    assert!(!it.was.tasks[t].cr.exists, "{t} is still there");
                }
            }
        });
    }
    assert!(removals > 0, "no removal was heard");
}
