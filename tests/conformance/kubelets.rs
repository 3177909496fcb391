//! Part C: the kubelet, containers, and what becomes of a process's last words.

use vgdp_sim::designs::{PositiveGrace, Upstream};
use vgdp_sim::model::api_server::{Phase, PodPhase};
use vgdp_sim::model::data_mover::{End, Process, Reason, Stage};
use vgdp_sim::model::design::Design;
use vgdp_sim::model::faults::Disturbance as D;
use vgdp_sim::model::node_agent::watcher;

use crate::cluster::{A, COMPLETES, Cluster, DIES};

/// A kubelet that learns of the deletion of a pod, or evicts it, sends SIGTERM, and SIGKILL when the grace is over: 2 s
/// later at the earliest, although the grace is 0.
#[test]
fn c1_sigkill_follows_sigterm_after_the_grace_and_two_seconds_at_least() {
    let upstream: &'static dyn Design = &Upstream;
    for (design, deletion, grace) in [
        (upstream, "user::deletes_pod(a)", 2),
        (upstream, "pod_fault::evicts(a)", 2),
        (&PositiveGrace, "user::deletes_pod(a)", 30),
        (&PositiveGrace, "pod_fault::evicts(a)", 2), // the kubelet evicts with a grace of its own, 1 s
    ] {
        let allows = &[(D::DeletePod, 1), (D::Evict, 1), (D::HangTransfer, 1)];
        let mut cluster = Cluster::transferring_by(design, allows);
        cluster.goes("pod_fault::hangs_transfer(a)");
        assert!(!cluster.may("kubelet::terminates(a)"));
        cluster.goes(deletion);
        assert!(cluster.must("kubelet::terminates(a)"));
        assert!(!cluster.may("kubelet::kills(a)"));
        cluster.goes("kubelet::terminates(a)");
        assert!(cluster.task().mover.terminated && cluster.task().mover.is_running());
        let mut other = cluster;
        assert_eq!(other.waits_until_it_may("kubelet::kills(a)"), grace, "{deletion}");
        assert_eq!(cluster.waits_until_it_must("kubelet::kills(a)"), grace, "{deletion}");
        cluster.goes("kubelet::kills(a)");
        assert_eq!((cluster.task().mover.process, cluster.task().mover.end), (Process::Ended, End::Killed));
    }
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

    // An eviction comes between two status patches of a pod that runs, and the second is written before the kill or not.
    for patch in ["", "kubelet::reports_running(a)"] {
        let mut cluster = Cluster::started(&[(D::Evict, 2)]);
        cluster.goes("kubelet::reports_running(a)").goes("pod_fault::evicts(a)").goes("kubelet::terminates(a)");
        assert!(!cluster.may("kubelet::reports_exit(a)"), "it has not ended");
        cluster.goes(patch);
        cluster.waits_until_it_must("kubelet::kills(a)");
        assert_eq!(cluster.task().pod.phase, PodPhase::Running);
        cluster.goes("kubelet::kills(a)").goes("kubelet::reports_exit(a)");
        assert_eq!((cluster.task().pod.phase, cluster.task().pod.end), (PodPhase::Failed, End::Evicted));
        is_never_left(&mut cluster);
    }

    // A process dies before its pod was ever said to run.
    let mut cluster = Cluster::started(&[(D::KillMover, 1), (D::Evict, 1)]);
    assert_eq!(cluster.task().pod.phase, PodPhase::Pending);
    cluster.goes(DIES);
    assert_eq!((cluster.task().pod.phase, cluster.task().pod.end), (PodPhase::Failed, End::Killed));
    is_never_left(&mut cluster);
}

/// Nobody takes the pod, which has failed, out of that phase within a day, but who deletes it.
fn is_never_left(cluster: &mut Cluster) {
    let end = cluster.seconds + 24 * 60 * 60;
    while cluster.seconds < end && cluster.task().pod.phase.exists() {
        assert_eq!(cluster.task().pod.phase, PodPhase::Failed);
        for step in ["kubelet::starts_container(a)", "kubelet::reports_running(a)", "kubelet::reports_exit(a)"] {
            assert!(!cluster.may(step), "{step}");
        }
        assert!(!cluster.may("pod_fault::evicts(a)"));
        if !cluster.settles().may("clock::passes") {
            break;
        }
        cluster.goes("clock::passes");
    }
}

/// A pod that is deleted with a grace gets its terminal phase before its object goes, so its watcher hears of its end;
/// one with grace 0 does not.
#[test]
fn c3_a_pod_that_is_deleted_with_a_grace_ends_before_it_goes() {
    let seen = |design: &'static dyn Design| {
        let mut cluster = Cluster::transferring_by(design, &[(D::DeletePod, 1)]);
        let mut seen = vec![cluster.known().pod];
        cluster.goes("user::deletes_pod(a)");
        while cluster.known().pod.exists() {
            cluster.waits_until_it_may("pod_watch::receives(n0)");
            cluster.goes("pod_watch::receives(n0)");
            seen.push(cluster.known().pod);
        }
        seen.dedup();
        let has_heard = cluster.settles().task().watcher.stage != watcher::Stage::Watching;
        (seen, has_heard)
    };
    assert_eq!(seen(&PositiveGrace), (vec![PodPhase::Running, PodPhase::Failed, PodPhase::Absent], true));
    assert_eq!(seen(&Upstream), (vec![PodPhase::Running, PodPhase::Absent], false));

    // So does one whose container never started: the kubelet says that it failed before it removes the object.
    let mut cluster = Cluster::by(&PositiveGrace, 1, 1, &[(D::DeletePod, 1)]);
    cluster.waits_until_it_may("kube_scheduler::binds(n0, a)");
    cluster.goes("kube_scheduler::binds(n0, a)").goes("user::deletes_pod(a)");
    assert!(!cluster.may("kubelet::removes_pod(a)") && !cluster.may("kubelet::starts_container(a)"));
    assert_eq!(cluster.waits_until_it_must("kubelet::reports_exit(a)"), 10);
    cluster.goes("kubelet::reports_exit(a)");
    assert_eq!((cluster.task().pod.phase, cluster.task().pod.end), (PodPhase::Failed, End::Killed));
    cluster.goes("kubelet::removes_pod(a)");
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
    cluster.goes("kubelet::reports_running(a)").settles();
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

    // A process that dies at once leaves nothing to tell but its end.
    let mut cluster = Cluster::started(&[(D::KillMover, 1)]);
    cluster.goes("pod_fault::kills_mover(a)");
    assert!(!cluster.may("kubelet::reports_running(a)"), "it never told that it runs");
    assert_eq!(cluster.waits_until_it_must("kubelet::reports_exit(a)"), 10);
    cluster.goes("kubelet::reports_exit(a)").goes("pod_watch::receives(n0)");
    assert_eq!(cluster.known().pod, PodPhase::Failed);

    // An eviction is told with the end of the process, if the pod is there to be told of it.
    let mut cluster = Cluster::started(&[(D::Evict, 1), (D::DeletePod, 1)]);
    cluster.goes("kubelet::reports_running(a)").goes("pod_fault::evicts(a)").goes("kubelet::terminates(a)");
    cluster.waits_until_it_must("kubelet::kills(a)");
    cluster.goes("kubelet::kills(a)");
    assert!(!cluster.may("kubelet::reports_running(a)"), "a state that is over");
    let mut reported = cluster;
    assert_eq!(reported.waits_until_it_must("kubelet::reports_exit(a)"), 10);
    cluster.goes("user::deletes_pod(a)");
    assert!(!cluster.may("kubelet::reports_exit(a)"));
}

/// The kubelet removes the object of a pod that is being deleted once the process has ended and the pod's status says
/// so; a pod that nobody deletes stays.
#[test]
fn c5_the_kubelet_removes_a_deleted_pod_once_its_end_is_told() {
    let allows = &[(D::DeletePod, 1), (D::HangTransfer, 1), (D::Unkillable, 1)];
    let mut cluster = Cluster::transferring_by(&PositiveGrace, allows);
    cluster.goes("pod_fault::hangs_transfer(a)");
    let mut unkillable = cluster;
    cluster.goes("user::deletes_pod(a)");
    assert!(!cluster.may("kubelet::removes_pod(a)"));
    cluster.waits_until_it_must("kubelet::kills(a)");
    assert!(!cluster.may("kubelet::removes_pod(a)"));
    cluster.goes("kubelet::kills(a)");
    assert!(!cluster.may("kubelet::removes_pod(a)"));
    cluster.goes("kubelet::reports_exit(a)");
    assert!(cluster.task().pod.phase.is_terminal() && cluster.must("kubelet::removes_pod(a)"));
    cluster.goes("kubelet::removes_pod(a)");
    assert_eq!(cluster.task().pod.phase, PodPhase::Absent);

    unkillable.goes("pod_fault::makes_unkillable(a)").goes("user::deletes_pod(a)");
    while unkillable.seconds < 24 * 60 * 60 && unkillable.settles().may("clock::passes") {
        assert!(!unkillable.may("kubelet::removes_pod(a)"));
        unkillable.goes("clock::passes");
    }
    assert!(unkillable.task().pod.deleting && unkillable.task().pod.phase == PodPhase::Running);

    let mut cluster = Cluster::transferring_by(&PositiveGrace, &[]);
    cluster.goes(COMPLETES).goes("kubelet::reports_exit(a)");
    assert!(!cluster.may("kubelet::removes_pod(a)"));
}

/// A container that cannot be killed stays. With its pod gone nobody but a reader of the kubelet's events could know;
/// if it is evicted, its pod says that it runs for as long as it is there.
#[test]
fn c6_a_container_that_cannot_be_killed_runs_on_unknown_to_velero() {
    for (deletion, known) in [("user::deletes_pod(a)", PodPhase::Absent), ("pod_fault::evicts(a)", PodPhase::Running)] {
        let allows = &[(D::DeletePod, 1), (D::Evict, 1), (D::HangTransfer, 1), (D::Unkillable, 1)];
        let mut cluster = Cluster::transferring(allows);
        cluster.goes("pod_fault::hangs_transfer(a)").goes("pod_fault::makes_unkillable(a)").goes(deletion);
        while cluster.seconds < 24 * 60 * 60 && cluster.settles().may("clock::passes") {
            assert!(!cluster.may("kubelet::terminates(a)") && !cluster.may("kubelet::kills(a)"));
            assert!(!cluster.may("kubelet::reports_exit(a)") && !cluster.known().pod.is_terminal());
            if cluster.task().cr.phase == Phase::InProgress {
                assert_eq!(cluster.known().pod, known, "until Velero's own time-out");
            }
            cluster.goes("clock::passes");
        }
        assert!(cluster.task().mover.is_transferring() && !cluster.task().mover.terminated);
        assert_eq!(cluster.known().pod, PodPhase::Absent);
        assert_eq!(cluster.task().watcher.stage, watcher::Stage::Watching, "its watcher heard of nothing");
    }
}

/// A killed process leaves no message, whether the kubelet or the kernel killed it, so whoever reads the pod cannot
/// know that it was about to cancel.
#[test]
fn c7_a_killed_process_leaves_no_message_so_its_cancel_is_taken_for_a_failure() {
    for (fault, end) in [("pod_fault::evicts(a)", End::Evicted), ("pod_fault::kills_mover(a)", End::Killed)] {
        let allows = &[(D::Cancel, 1), (D::SlowUploader, 1), (D::Evict, 1), (D::KillMover, 1)];
        let mut cluster = Cluster::transferring(allows);
        cluster.goes("pod_fault::slows_uploader(a)").goes("user::cancels(a)").settles();
        assert!(cluster.task().mover.heard_cancel);
        assert_eq!(cluster.cr().phase, Phase::Canceling);
        cluster.goes(fault);
        if cluster.task().mover.is_running() {
            cluster.waits_until_it_must("kubelet::kills(a)");
            cluster.goes("kubelet::kills(a)");
        }
        assert_eq!(cluster.task().mover.end, End::Killed);
        cluster.goes("kubelet::reports_exit(a)");
        assert_eq!((cluster.task().pod.phase, cluster.task().pod.end), (PodPhase::Failed, end));
        cluster.until(|w| w.tasks[A].cr.phase.is_final());
        assert_eq!(cluster.cr().phase, Phase::Failed);
    }
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
