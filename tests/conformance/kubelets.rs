//! Part C: the kubelet, containers, and what becomes of a process's last words.

use vgdp_sim::model::api_server::{Phase, PodPhase};
use vgdp_sim::model::data_mover::{End, Process, Reason, Stage};
use vgdp_sim::model::faults::Disturbance as D;
use vgdp_sim::model::node_agent::watcher;

use crate::cluster::{A, Cluster};

/// The transfer is complete and its process about to say so, with all events still to be received.
const COMPLETES: &str = "
    data_mover::transfer_ends_completed(a)
    data_mover::receives_result(a)
    data_mover::records_stopped(a)
    data_mover::writes_event(a)
    data_mover::drains_events(a)
    data_mover::closes_data_path(a)
    data_mover::exits(a)
";

/// A kubelet that learns of the deletion of a pod sends SIGTERM, and SIGKILL 2 s later although the grace is 0.
#[test]
fn c1_sigkill_follows_sigterm_after_two_seconds() {
    let mut cluster = Cluster::transferring(&[(D::DeletePod, 1), (D::HangTransfer, 1)]);
    cluster.goes("pod_fault::hangs_transfer(a)");
    assert!(!cluster.may("kubelet::terminates(a)"));
    cluster.goes("user::deletes_pod(a)");
    assert!(cluster.must("kubelet::terminates(a)"));
    assert!(!cluster.may("kubelet::kills(a)"));
    cluster.goes("kubelet::terminates(a)");
    assert!(cluster.task().mover.terminated && cluster.task().mover.is_running());
    let mut other = cluster;
    assert_eq!(other.waits_until_it_may("kubelet::kills(a)"), 2);
    assert_eq!(cluster.waits_until_it_must("kubelet::kills(a)"), 2);
    cluster.goes("kubelet::kills(a)");
    assert_eq!((cluster.task().mover.process, cluster.task().mover.end), (Process::Ended, End::Killed));
}

/// A pod that is never restarted has succeeded if its process exits with 0 and failed otherwise, and neither phase is
/// ever left again.
#[test]
fn c2_a_terminal_phase_says_how_the_process_ended_and_is_never_left() {
    let mut cluster = Cluster::transferring(&[]);
    cluster.goes(COMPLETES).goes("kubelet::reports_exit(a)");
    assert_eq!((cluster.task().pod.phase, cluster.task().pod.end), (PodPhase::Succeeded, End::Completed));

    let mut cluster = Cluster::transferring(&[(D::TransferFails, 1)]);
    cluster.goes("pod_fault::fails_transfer(a)").until(|w| w.tasks[A].mover.process == Process::Ended);
    cluster.until(|w| w.tasks[A].pod.phase.is_terminal() || !w.tasks[A].pod.phase.exists());
    assert_eq!(cluster.task().pod.end, End::Failed);

    // An eviction comes between two status patches of a pod that runs.
    let mut cluster = Cluster::started(&[(D::Evict, 1)]);
    cluster.goes("kubelet::reports_running(a)").goes("pod_fault::evicts(a)");
    assert!(!cluster.may("kubelet::reports_running(a)"), "Failed would become Running again");
    cluster.until(|w| w.tasks[A].mover.process == Process::Ended);
    assert!(!cluster.may("kubelet::reports_exit(a)"), "it failed already");
}

/// The kubelet patches a pod's status with the newest state only, at least every 10 s; older states are never told,
/// and a pod that is gone is told nothing.
#[test]
fn c4_the_kubelet_tells_the_newest_state_within_ten_seconds_and_only_to_a_pod_that_is_there() {
    let mut cluster = Cluster::started(&[(D::RepositoryFails, 1), (D::DeletePod, 1)]);
    assert_eq!(cluster.task().pod.phase, PodPhase::Pending);
    assert!(cluster.may("kubelet::reports_running(a)"));
    assert_eq!(cluster.waits_until_it_must("kubelet::reports_running(a)"), 10);

    // It still owes a second patch of the running pod when the process ends.
    cluster.goes("kubelet::reports_running(a)").settles().goes("worker::awaits_volume(n0, a)").settles();
    assert!(cluster.may("kubelet::reports_running(a)"));
    cluster.goes("pod_fault::fails_repository(a)").settles();
    assert_eq!(cluster.task().mover.process, Process::Ended);
    assert!(!cluster.may("kubelet::reports_running(a)"));
    let mut reported = cluster;
    assert_eq!(reported.waits_until_it_must("kubelet::reports_exit(a)"), 10);
    reported.goes("kubelet::reports_exit(a)");
    assert_eq!(reported.task().pod.phase, PodPhase::Failed);

    assert!(cluster.may("kubelet::reports_exit(a)"));
    cluster.goes("user::deletes_pod(a)");
    assert!(!cluster.may("kubelet::reports_exit(a)"));

    let mut cluster = Cluster::started(&[(D::DeletePod, 1)]);
    cluster.goes("user::deletes_pod(a)");
    assert!(!cluster.may("kubelet::reports_running(a)"));
}

/// A container that cannot be killed stays, and with its pod gone nobody but a reader of the kubelet's events could
/// know.
#[test]
fn c6_a_container_that_cannot_be_killed_runs_on_unknown_to_velero() {
    let mut cluster = Cluster::transferring(&[(D::DeletePod, 1), (D::HangTransfer, 1), (D::Unkillable, 1)]);
    cluster.goes(
        "
        pod_fault::hangs_transfer(a)
        pod_fault::makes_unkillable(a)
        user::deletes_pod(a)
        ",
    );
    while cluster.seconds < 24 * 60 * 60 && cluster.settles().may("clock::passes") {
        assert!(!cluster.may("kubelet::terminates(a)") && !cluster.may("kubelet::kills(a)"));
        cluster.goes("clock::passes");
    }
    assert!(cluster.task().mover.is_transferring() && !cluster.task().mover.terminated);
    assert_eq!(cluster.known().pod, PodPhase::Absent);
    assert_eq!(cluster.task().watcher.stage, watcher::Stage::Watching, "its watcher heard of nothing");
}

/// A killed process leaves no message, so whoever reads the pod cannot know that it was about to cancel.
#[test]
fn c7_a_killed_process_leaves_no_message_so_its_cancel_is_taken_for_a_failure() {
    let mut cluster = Cluster::transferring(&[(D::Cancel, 1), (D::SlowUploader, 1), (D::Evict, 1)]);
    cluster.goes("pod_fault::slows_uploader(a)").goes("user::cancels(a)").settles();
    assert!(cluster.task().mover.heard_cancel);
    assert_eq!(cluster.cr().phase, Phase::Canceling);
    cluster.goes("pod_fault::evicts(a)");
    cluster.waits_until_it_must("kubelet::kills(a)");
    cluster.goes("kubelet::kills(a)");
    assert_eq!(cluster.task().mover.end, End::Killed);
    cluster.until(|w| w.tasks[A].cr.phase.is_final());
    assert_eq!(cluster.cr().phase, Phase::Failed);
}

/// The message of a process can only be read in its pod's status, so it is lost with the object.
#[test]
fn c8_the_last_words_of_a_process_are_lost_with_its_pod_object() {
    let mut cluster = Cluster::transferring(&[(D::DeletePod, 1)]);
    cluster.goes(COMPLETES);
    assert_eq!(cluster.task().mover.end, End::Completed);
    cluster.goes("user::deletes_pod(a)");
    assert!(!cluster.may("kubelet::reports_exit(a)"));
    while cluster.seconds < 60 * 60 && cluster.settles().may("clock::passes") {
        cluster.goes("clock::passes");
    }
    assert_eq!(cluster.task().pod.end, End::None);
    assert_eq!(cluster.task().watcher.stage, watcher::Stage::Watching, "nobody ever told it");
    assert!(cluster.cr().is_live());
}

/// The events of a mover are objects of their own: they come before or after the pod's last status, or not at all.
#[test]
fn c10_events_keep_no_order_with_the_status_and_may_be_lost() {
    let mut cluster = Cluster::transferring(&[]);
    cluster.goes(COMPLETES).goes("kubelet::reports_exit(a)");
    assert!(cluster.may("event_watch::receives(n0, a)") && cluster.may("pod_watch::receives(n0)"));
    let mut event_first = cluster;
    event_first.goes(
        "
        event_watch::receives(n0, a)
        watcher::hears_event(n0, a)
        ",
    );
    assert!(event_first.task().watcher.stopped);
    assert_eq!(event_first.task().watcher.stage, watcher::Stage::Watching);
    cluster.goes(
        "
        pod_watch::receives(n0)
        watcher::is_sent_pod(n0, a)
        watcher::hears_pod(n0, a)
        ",
    );
    assert!(!cluster.task().watcher.stopped);
    assert_eq!(cluster.task().watcher.stage, watcher::Stage::Epilog, "it waits for the event");

    // A mover that wakes up just before it is killed records an event and cannot write it any more.
    let mut cluster = Cluster::transferring(&[(D::DeletePod, 1), (D::Stall, 1)]);
    cluster.goes("pod_fault::stalls_mover(a)").goes("user::deletes_pod(a)");
    cluster.waits_until_it_must("kubelet::kills(a)");
    cluster.goes(
        "
        pod_recovery::heals_mover(a)
        data_mover::stops_on_signal(a)
        data_mover::records_stopped(a)
        ",
    );
    assert_eq!(cluster.task().mover.events.stage(Reason::Stopped), Stage::Recorded);
    cluster.goes("kubelet::kills(a)");
    assert_eq!(cluster.task().mover.events.stage(Reason::Stopped), Stage::None);
    assert!(!cluster.may("event_watch::receives(n0, a)"));
}
