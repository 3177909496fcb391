//! Part D: the path from the API server to those who watch.

use vgdp_sim::model::api_server::{Phase, PodPhase};
use vgdp_sim::model::faults::Disturbance as D;

use crate::cluster::{A, Cluster, DIES, N0, N1};

/// While a watch lives it delivers each change of its type, in order and without a gap; between two types there is
/// no order.
#[test]
fn d1_a_watch_delivers_each_change_in_order_but_keeps_no_order_between_types() {
    let mut cluster = Cluster::new(2, 1, &[(D::Cancel, 1)]);
    let mut stored = vec![cluster.cr()];
    for write in [
        "
        cr_watch::receives(n0)
        cr_watch::enqueues(n0)
        worker::reads(n0, a)
        worker::gets(n0, a)
        worker::adds_finalizer(n0, a)
        ",
        "
        cr_watch::receives(n0)
        cr_watch::enqueues(n0)
        worker::reads(n0, a)
        worker::accepts(n0, a)
        ",
        "
        user::cancels(a)
        ",
    ] {
        cluster.goes(write);
        stored.push(cluster.cr());
    }
    for version in stored {
        cluster.goes("cr_watch::receives(n1)");
        assert_eq!(cluster.world.tasks[A].at[N1].cr, version);
    }
    assert!(!cluster.may("cr_watch::receives(n1)"));

    let mut cluster = Cluster::transferring(&[(D::Cancel, 1), (D::DeletePod, 1)]);
    cluster.goes("user::cancels(a)").goes("user::deletes_pod(a)");
    assert!(cluster.may("cr_watch::receives(n0)"));
    cluster.goes("pod_watch::receives(n0)").goes("pod_watch::receives(n0)");
    assert_eq!(cluster.known().pod, PodPhase::Absent);
    assert!(!cluster.known().cr.cancel, "what came last was seen first");
}

/// A watch that breaks badly lists again after a backoff of 1 s to 30 s, and what lay between is never seen.
#[test]
fn d7_a_broken_watch_lists_again_and_misses_what_lay_between() {
    let mut cluster = Cluster::transferring(&[(D::BreakCrWatch, 1), (D::Cancel, 1), (D::Delete, 1)]);
    let known = cluster.known().cr;
    cluster.goes(
        "
        node_fault::breaks_cr_watch(n0)
        user::cancels(a)
        user::deletes(a)
        ",
    );
    assert!(!cluster.may("cr_watch::receives(n0)") && !cluster.may("cr_watch::relists(n0)"));
    let mut other = cluster;
    assert_eq!(other.waits_until_it_may("cr_watch::relists(n0)"), 1);
    assert_eq!(cluster.waits_until_it_must("cr_watch::relists(n0)"), 30);
    assert_eq!(cluster.known().cr, known);
    cluster.goes("cr_watch::relists(n0)");
    assert_eq!(cluster.known().cr, cluster.cr());
    assert!(!cluster.may("cr_watch::receives(n0)"), "cancelled and not yet deleted was never seen");

    // What was under way when the watch broke is lost as well.
    let mut cluster = Cluster::transferring(&[(D::BreakPodWatch, 1), (D::KillMover, 1), (D::DeletePod, 1)]);
    cluster.goes(DIES).goes(
        "
        node_fault::breaks_pod_watch(n0)
        user::deletes_pod(a)
        ",
    );
    assert!(!cluster.may("pod_watch::receives(n0)"));
    assert_eq!(cluster.waits_until_it_must("pod_watch::relists(n0)"), 30);
    assert_eq!(cluster.known().pod, PodPhase::Running);
    cluster.goes("pod_watch::relists(n0)");
    assert_eq!(cluster.known().pod, PodPhase::Absent);
    assert!(!cluster.may("watcher::is_sent_pod(n0, a)"), "Failed was never seen");

    // A mover's watch is no better: the cancel and what its owner made of it come as one change, which is no edge.
    let mut cluster = Cluster::transferring(&[(D::BreakMoverWatch, 1), (D::Cancel, 1)]);
    let mut whole = cluster;
    whole.goes("user::cancels(a)").settles();
    assert!(whole.task().mover.heard_cancel);
    cluster.goes("pod_fault::breaks_mover_watch(a)").goes("user::cancels(a)").settles();
    assert_eq!(cluster.cr().phase, Phase::Canceling);
    assert!(!cluster.may("data_mover::hears(a)") && !cluster.may("data_mover::relists(a)"));
    let mut other = cluster;
    assert_eq!(other.waits_until_it_may("data_mover::relists(a)"), 1);
    assert_eq!(cluster.waits_until_it_must("data_mover::relists(a)"), 30);
    cluster.goes("data_mover::relists(a)").goes("data_mover::hears(a)");
    assert_eq!(cluster.task().mover.last, cluster.cr());
    assert!(!cluster.task().mover.heard_cancel && !cluster.may("data_mover::hears(a)"));
}

/// A node-agent watches the pods of its node: it first hears of one when that is bound, as an addition, and never of
/// another node's. A pod that it first sees Running is an addition too, which the mapping of pod events drops.
#[test]
fn d8_a_node_agent_first_hears_of_a_pod_when_it_is_bound_to_its_node() {
    let mut cluster = Cluster::new(2, 1, &[(D::BreakPodWatch, 2)]);
    cluster.goes(
        "
        cr_watch::receives(n0)
        cr_watch::enqueues(n0)
        worker::reads(n0, a)
        worker::gets(n0, a)
        worker::adds_finalizer(n0, a)
        cr_watch::receives(n0)
        cr_watch::enqueues(n0)
        worker::reads(n0, a)
        worker::accepts(n0, a)
        ",
    );
    cluster.waits_until_it_may("worker::exposes(n0, a)");
    cluster.goes("worker::exposes(n0, a)").goes("worker::creates_pod(n0, a)");
    assert_eq!(cluster.task().pod.phase, PodPhase::Pending);
    assert!(!cluster.may("pod_watch::receives(n0)") && !cluster.may("pod_watch::receives(n1)"));
    let mut unbound = cluster;

    cluster.goes("kube_scheduler::binds(n1, a)");
    assert!(!cluster.may("pod_watch::receives(n0)"));
    cluster.goes("pod_watch::receives(n1)");
    assert_eq!([N0, N1].map(|n| cluster.task().at[n].pod), [PodPhase::Absent, PodPhase::Pending]);

    unbound.goes("node_fault::breaks_pod_watch(n0)").goes("node_fault::breaks_pod_watch(n1)");
    unbound.goes("kube_scheduler::binds(n1, a)");
    unbound.waits_until_it_may("kubelet::starts_container(a)");
    unbound.goes(
        "
        kubelet::starts_container(a)
        kubelet::reports_running(a)
        kubelet::reports_running(a)
        pod_watch::relists(n0)
        pod_watch::relists(n1)
        ",
    );
    assert_eq!([N0, N1].map(|n| unbound.task().at[n].pod), [PodPhase::Absent, PodPhase::Running]);
    assert!(!unbound.may("pod_events::hears(n1, a)"));
    assert_eq!(unbound.settles().cr().phase, Phase::Accepted);
}
