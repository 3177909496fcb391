//! Part B: pods at the API server, and the garbage collector.

use vgdp_sim::model::api_server::{Answer, DataUpload, Held, PodPhase};
use vgdp_sim::model::faults::Disturbance as D;

use crate::cluster::{A, Cluster};

/// With a grace of 0 a DELETE is two steps of the storage: watchers see the pod modified, its phase untouched, and
/// then gone.
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

/// A kubelet that runs out of resources fails the pod and kills its process, but leaves the object where it is.
#[test]
fn b10_an_evicted_pod_fails_and_stays() {
    let mut cluster = Cluster::transferring(&[(D::Evict, 1), (D::HangTransfer, 1)]);
    cluster.goes("pod_fault::hangs_transfer(a)").goes("pod_fault::evicts(a)");
    assert_eq!(cluster.task().pod.phase, PodPhase::Failed);
    cluster.goes("pod_watch::receives(n0)");
    assert_eq!(cluster.known().pod, PodPhase::Failed);
    assert!(!cluster.may("pod_watch::receives(n0)"), "no deletion follows");
    cluster.goes("kubelet::terminates(a)");
    assert!(cluster.may("watcher::is_sent_pod(n0, a)"), "Velero hears of it");
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
