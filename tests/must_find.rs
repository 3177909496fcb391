//! The hazards that a careful reading of Velero predicts, each found by searching: no world is made by hand.
//!
//! A hazard is told apart by what its run shows on the way to the harm, since several end alike. A test says at which
//! price the faithful model shows it; when one is no longer found, either the model or Velero has changed.

#[path = "support/failing.rs"]
mod failing;

use failing::Failing;
use vgdp_sim::designs::Upstream;
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::api_server::{Phase, PodPhase};
use vgdp_sim::model::data_mover::{End, Handler, Main, Process, Transfer};
use vgdp_sim::model::place::TaskId;
use vgdp_sim::model::rules::Rule;
use vgdp_sim::run::{Moment, Report, observe};
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::policy_named;

/// The upload of every scenario here.
const A: TaskId = TaskId(0);

/// Searches at most `runs` schedules for one in which `shows` returns true at some moment and `then` of the report, at
/// no more than `price`.
fn find(scenario: &str, price: u8, runs: u64, shows: fn(&Moment<'_>) -> bool, then: fn(&Report) -> bool) {
    let scenario = Scenario { price, ..Scenario::named(scenario).unwrap() };
    let policy = policy_named("placed-swarm").expect("it is built in");
    let mut showed = None;
    let found = (0..runs).find(|&index| {
        let mut happened = false;
        let report = observe(&scenario, &Upstream, &mut *policy.start(1, index), &mut |it| happened |= shows(it));
        showed = showed.or(happened.then_some(index));
        happened && then(&report)
    });
    let told = |run, what: &str| Failing { scenario: &scenario, design: &Upstream, policy, seed: 1, run }.failed(what);
    match (found, showed) {
        (Some(run), _) => println!("{}", told(run, &format!("found at price {price} or less"))),
        (None, Some(run)) => panic!("{}", told(run, &format!("in {runs} runs never with that harm; without it first"))),
        (None, None) => panic!("{}", told(0, &format!("not found in {runs} runs, of which the first"))),
    }
}

fn breaks(report: &Report, id: &str) -> bool {
    report.violations().any(|(index, _)| INVARIANTS[index].id == id)
}

fn leaks_a_slot(report: &Report) -> bool {
    breaks(report, "slot-leak")
}

/// The cancel comes after the owner looked for it and before it writes InProgress: the mover never gets an edge, the
/// cancel is forced after five minutes, and the slot is lost.
#[test]
fn hz_10_a_cancel_during_the_start_leads_to_hz_02_a_leaked_slot() {
    find(
        "cancel",
        0,
        40_000,
        |it| {
            it.action.rule() == Rule::WorkerMarksInProgress
                && it.was.tasks[A].cr.cancel
                && it.is.tasks[A].cr.phase == Phase::InProgress
        },
        leaks_a_slot,
    );
}

/// The mover's informer lists only after the cancel: it comes as an addition, which nobody looks at.
#[test]
fn hz_11_a_cancel_before_the_first_list_is_lost() {
    find(
        "cancel",
        0,
        40_000,
        |it| {
            it.action.rule() == Rule::DataMoverLists
                && it.was.tasks[A].cr.cancel
                && matches!(it.was.tasks[A].cr.phase, Phase::InProgress | Phase::Canceling)
        },
        leaks_a_slot,
    );
}

/// Canceling outruns the poll: the mover polls for InProgress until the forced cancel deletes its pod.
#[test]
fn hz_20_canceling_outruns_the_poll() {
    find(
        "cancel",
        0,
        40_000,
        |it| {
            it.action.rule() == Rule::WorkerForcesCancel
                && it.was.tasks[A].cr.phase == Phase::Canceling
                && it.is.tasks[A].cr.phase == Phase::Canceled
                && it.was.tasks[A].mover.main == Main::Polling
        },
        leaks_a_slot,
    );
}

/// The edge of the cancel comes before the poll: the handler records an event about nothing, and the process crashes.
#[test]
fn hz_21_a_cancel_before_the_poll_crashes_the_mover() {
    find(
        "cancel",
        0,
        40_000,
        |it| it.was.tasks[A].mover.main == Main::Polling && it.is.tasks[A].mover.end == End::Crashed,
        |report| breaks(report, "crash"),
    );
}

/// The edge comes between the poll and the data path: its early result is taken for the transfer's, and then the
/// transfer blocks on a send that nobody receives. The forced cancel deletes the pod, and the slot is lost.
#[test]
fn an_early_cancel_is_taken_for_the_result_of_the_transfer() {
    find(
        "cancel",
        0,
        80_000,
        |it| {
            let mover = &it.is.tasks[A].mover;
            mover.main == Main::Closing && mover.transfer == Transfer::Sending && mover.handler != Handler::Sending
        },
        leaks_a_slot,
    );
}

/// Two pod updates back to back and a cache that lags: the second writes Prepared over InProgress.
#[test]
fn hz_41_the_pod_mapping_writes_prepared_over_in_progress() {
    find(
        "normal",
        0,
        40_000,
        |it| {
            it.action.rule() == Rule::PodEventsMarksPrepared
                && it.was.tasks[A].cr.phase == Phase::InProgress
                && it.is.tasks[A].cr.phase == Phase::Prepared
        },
        |report| breaks(report, "phase-regresses"),
    );
}

/// The pod is deleted while its mover transfers. Its grace is 0, so no terminal phase is published.
#[test]
fn hz_01_a_deleted_pod_leaks_its_slot() {
    find(
        "pod-deleted",
        1,
        10_000,
        |it| {
            it.action.rule() == Rule::UserDeletesPod
                && it.was.tasks[A].cr.phase == Phase::InProgress
                && it.was.tasks[A].pod.phase == PodPhase::Running
        },
        leaks_a_slot,
    );
}

/// The upload is deleted and its finalizer stripped while it runs: the garbage collector takes the pod before its end
/// is reported.
#[test]
fn hz_03_a_stripped_finalizer_leaks_the_slot() {
    find(
        "finalizer-stripped",
        2,
        40_000,
        |it| {
            it.action.rule() == Rule::GarbageCollectorCollects
                && it.was.tasks[A].watcher.runs()
                && it.was.tasks[A].pod.phase == PodPhase::Running
        },
        leaks_a_slot,
    );
}

/// The pod's end and its removal both fall into a gap of the watch: the relist leaves only a tombstone.
#[test]
fn hz_05_a_relist_swallows_the_end_of_the_pod() {
    find(
        "watch-broken",
        2,
        40_000,
        |it| {
            let task = &it.was.tasks[A];
            it.action.rule() == Rule::PodWatchRelists
                && task.watcher.runs()
                && !task.pod.phase.exists()
                && task.pod.end != End::None
                && task.at.0.iter().any(|known| known.pod == PodPhase::Running)
        },
        leaks_a_slot,
    );
}

/// The container cannot be killed: after the forced cancel the pod object is gone, the process runs on, and the
/// watcher holds its slot for a pod of which it will never hear again.
#[test]
fn hz_07_an_unkillable_container_outlives_its_upload() {
    find(
        "kill-fails",
        2,
        40_000,
        |it| {
            let task = &it.is.tasks[A];
            task.mover.process == Process::Running
                && task.kubelet.unkillable
                && !task.cr.is_live()
                && !task.pod.phase.exists()
                && task.watcher.holds_slot()
        },
        |_| true,
    );
}
