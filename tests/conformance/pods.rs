//! Part B: pods at the API server, and the garbage collector.

use vgdp_sim::designs::{PositiveGrace, Upstream};
use vgdp_sim::model::api_server::{Answer, DataUpload, Held, PodPhase};
use vgdp_sim::model::data_mover::End;
use vgdp_sim::model::design::Design;
use vgdp_sim::model::faults::Disturbance as D;

use crate::cluster::{A, COMPLETES, Cluster};

/// The grace of a deletion is the one in the pod's spec, but 0 if the pod is bound to no node or has ended.
#[test]
fn b1_the_grace_is_the_pods_own_unless_it_is_unbound_or_has_ended() {
    let upstream: &'static dyn Design = &Upstream;
    for (design, stays) in [(upstream, false), (&PositiveGrace, true)] {
        let allows = &[(D::DeletePod, 1)];
        let mut runs = Cluster::transferring_by(design, allows);
        runs.goes("user::deletes_pod(a)");
        assert_eq!((runs.task().pod.phase.exists(), runs.task().pod.deleting), (stays, stays));

        let mut bound = Cluster::by(design, 1, 1, allows);
        bound.waits_until_it_may("kube_scheduler::binds(n0, a)");
        let mut unbound = bound;
        unbound.goes("user::deletes_pod(a)");
        assert_eq!(unbound.task().pod.phase, PodPhase::Absent);
        bound.goes("kube_scheduler::binds(n0, a)").goes("user::deletes_pod(a)");
        assert_eq!(bound.task().pod.phase.exists(), stays);

        let mut ended = Cluster::transferring_by(design, allows);
        ended.goes(COMPLETES);
        let mut not_yet_told = ended;
        not_yet_told.goes("user::deletes_pod(a)");
        assert_eq!(not_yet_told.task().pod.phase.exists(), stays);
        ended.goes("kubelet::reports_exit(a)").goes("user::deletes_pod(a)");
        assert_eq!(ended.task().pod.phase, PodPhase::Absent);
    }
}

/// With a grace of 0 a DELETE is two steps of the storage: watchers see the pod modified, its phase untouched, and
/// then gone. With more it is the first of the two; the other comes from the kubelet, in its time.
#[test]
fn b2_a_deleted_pod_is_seen_modified_and_then_gone() {
    let mut cluster = Cluster::transferring(&[(D::DeletePod, 1)]);
    cluster.goes("user::deletes_pod(a)");
    assert_eq!(cluster.task().pod.phase, PodPhase::Absent);
    cluster.goes("pod_watch::receives(n0)");
    assert_eq!(cluster.known().pod, PodPhase::Running);
    assert!(cluster.may("pod_events::hears(n0, a)"), "the first of the two is an update like any other");
    cluster.goes("pod_watch::receives(n0)");
    assert_eq!(cluster.known().pod, PodPhase::Absent);
    assert!(!cluster.may("pod_watch::receives(n0)"));

    let mut cluster = Cluster::transferring_by(&PositiveGrace, &[(D::DeletePod, 1), (D::HangTransfer, 1)]);
    cluster.goes("pod_fault::hangs_transfer(a)").goes("user::deletes_pod(a)");
    cluster.goes("pod_watch::receives(n0)");
    assert_eq!(cluster.known().pod, PodPhase::Running);
    assert!(cluster.may("pod_events::hears(n0, a)"));
    assert!(!cluster.may("pod_watch::receives(n0)"));
    cluster.waits_until_it_may("kubelet::removes_pod(a)");
    assert!(cluster.task().pod.phase.exists());
    cluster.settles();
    assert_eq!(cluster.known().pod, PodPhase::Absent);
}

/// A second deletion may only shorten the grace; one with the same grace changes nothing, whoever sends it.
#[test]
fn b3_a_second_deletion_with_the_same_grace_changes_nothing() {
    let allows = &[(D::DeletePod, 2), (D::HangTransfer, 1), (D::Delete, 1), (D::StripFinalizer, 1)];
    let mut cluster = Cluster::transferring_by(&PositiveGrace, allows);
    cluster.goes("pod_fault::hangs_transfer(a)").goes("user::deletes_pod(a)");
    let before = cluster.world;
    let setup = cluster.setup;
    cluster.world.delete_pod(&setup, A);
    assert_eq!(cluster.world, before);
    assert!(!cluster.may("user::deletes_pod(a)"));

    // The garbage collector comes when the grace of the first deletion is over, and it does not begin again.
    cluster.goes("kubelet::terminates(a)").goes("user::deletes(a)").goes("user::strips_finalizer(a)");
    assert_eq!(cluster.waits_until_it_must("garbage_collector::collects(a)"), 30);
    cluster.goes("garbage_collector::collects(a)");
    assert!(cluster.task().pod.deleting && !cluster.task().pod.volume);
    assert!(cluster.must("kubelet::kills(a)"));
}

/// The spec of a mover's pod says grace 0, so any plain DELETE takes the object away at once, and no terminal phase is
/// ever published, whoever deletes.
#[test]
fn b4_any_delete_takes_a_pod_away_at_once() {
    let by_the_user = "
        user::deletes_pod(a)
    ";
    let by_the_garbage_collector = "
        user::deletes(a)
        user::strips_finalizer(a)
        garbage_collector::collects(a)
    ";
    for deletion in [by_the_user, by_the_garbage_collector] {
        let mut cluster = Cluster::transferring(&[(D::DeletePod, 1), (D::Delete, 1), (D::StripFinalizer, 1)]);
        cluster.goes(deletion);
        assert_eq!(cluster.task().pod.phase, PodPhase::Absent);
        while cluster.may("pod_watch::receives(n0)") {
            assert!(!cluster.known().pod.is_terminal());
            cluster.goes("pod_watch::receives(n0)");
        }
        assert_eq!(cluster.known().pod, PodPhase::Absent);
    }

    // By the clean-up of a cancel that is forced after 5 minutes.
    let mut cluster = Cluster::started(&[(D::Cancel, 1), (D::Stall, 1)]);
    cluster.goes("pod_fault::stalls_kubelet(a)").goes("user::cancels(a)");
    cluster.waits_until_it_may("worker::deletes_pod(n0, a)");
    assert_eq!(cluster.task().pod.phase, PodPhase::Pending);
    cluster.goes("worker::deletes_pod(n0, a)");
    assert_eq!(cluster.task().pod.phase, PodPhase::Absent);
    assert!(cluster.task().mover.is_running());
}

/// Some time after the owner is gone, and not before, the garbage collector deletes what it owned: the pod and its
/// PVC, but not the snapshot, which nothing owns.
#[test]
fn b6_the_garbage_collector_follows_the_owner_in_its_time() {
    let mut cluster = Cluster::transferring(&[(D::Delete, 1), (D::StripFinalizer, 1)]);
    assert!(!cluster.may("garbage_collector::collects(a)"));
    cluster.goes("user::deletes(a)").goes("user::strips_finalizer(a)");
    assert!(cluster.may("garbage_collector::collects(a)"));
    assert!(!cluster.must("garbage_collector::collects(a)"));
    assert_eq!(cluster.waits_until_it_must("garbage_collector::collects(a)"), 30);
    assert!(cluster.task().pod.phase.exists());
    cluster.goes("garbage_collector::collects(a)");
    let pod = cluster.task().pod;
    assert_eq!((pod.phase, pod.volume, pod.snapshot), (PodPhase::Absent, false, true));

    // Its deletion has the grace of the pod's spec.
    let mut cluster = Cluster::transferring_by(&PositiveGrace, &[(D::Delete, 1), (D::StripFinalizer, 1)]);
    cluster.goes("user::deletes(a)").goes("user::strips_finalizer(a)").goes("garbage_collector::collects(a)");
    assert!(cluster.task().pod.phase.exists() && cluster.task().pod.deleting);
    assert!(!cluster.may("garbage_collector::collects(a)"), "once");
}

/// An owner that is held by its finalizer is not gone: the garbage collector waits until the object is really removed.
#[test]
fn b7_an_owner_held_by_its_finalizer_is_not_gone() {
    let mut cluster = Cluster::transferring(&[(D::Delete, 1)]);
    cluster.goes("user::deletes(a)");
    assert!(!cluster.may("garbage_collector::collects(a)"));
    let stored = cluster.cr();
    let answer = cluster.world.put(A, Held { cr: stored, current: true }, DataUpload { finalizer: false, ..stored });
    assert_eq!(answer, Answer::Removing);
    assert!(!cluster.may("garbage_collector::collects(a)"));
    cluster.goes("api_server::removes(a)");
    assert!(cluster.may("garbage_collector::collects(a)"));
}

/// A kubelet that runs out of resources kills the process of a pod and then fails the pod, but leaves the object where
/// it is.
#[test]
fn b10_an_evicted_pod_fails_and_stays() {
    let mut cluster = Cluster::transferring(&[(D::Evict, 1), (D::HangTransfer, 1)]);
    cluster.goes("pod_fault::hangs_transfer(a)").goes("pod_fault::evicts(a)");
    assert_eq!(cluster.task().pod.phase, PodPhase::Running, "its process does");
    cluster.goes("kubelet::terminates(a)");
    cluster.waits_until_it_must("kubelet::kills(a)");
    cluster.goes("kubelet::kills(a)").goes("kubelet::reports_exit(a)");
    assert_eq!((cluster.task().pod.phase, cluster.task().pod.end), (PodPhase::Failed, End::Evicted));
    cluster.goes("pod_watch::receives(n0)");
    assert_eq!(cluster.known().pod, PodPhase::Failed);
    assert!(!cluster.may("pod_watch::receives(n0)"), "no deletion follows");
    assert!(cluster.may("watcher::is_sent_pod(n0, a)"), "Velero hears of it");

    // A process that ends by itself has the last word.
    let mut cluster = Cluster::started(&[(D::Evict, 1)]);
    cluster.goes(
        "
        kubelet::reports_running(a)
        data_mover::begins_polling(a)
        pod_fault::evicts(a)
        kubelet::terminates(a)
        data_mover::stops_on_signal(a)
        data_mover::drains_events(a)
        data_mover::closes_data_path(a)
        data_mover::exits(a)
        kubelet::reports_exit(a)
        ",
    );
    assert_eq!((cluster.task().pod.phase, cluster.task().pod.end), (PodPhase::Failed, End::Failed));
}

/// What is gone from the API server may still run: nobody but the kubelet can end the process, and it may take its
/// time.
#[test]
fn b12_a_process_outlives_its_pod_object() {
    let mut cluster = Cluster::transferring(&[(D::DeletePod, 1), (D::Stall, 1)]);
    cluster.goes("pod_fault::stalls_kubelet(a)").goes("user::deletes_pod(a)").settles();
    assert_eq!(cluster.task().pod.phase, PodPhase::Absent);
    assert_eq!(cluster.known().pod, PodPhase::Absent);
    assert!(cluster.task().mover.is_transferring() && !cluster.task().mover.terminated);
    cluster.goes("pod_recovery::heals_kubelet(a)");
    assert!(cluster.may("kubelet::terminates(a)"));
}
