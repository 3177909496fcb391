//! Part E: informers, their stores and their listeners.

use vgdp_sim::designs::{MoverWatchesCrDelete, Upstream, WatcherWatchesPodDelete};
use vgdp_sim::model::api_server::{DataUpload, Phase, PodPhase};
use vgdp_sim::model::data_mover::{End, Handler, Main, Process};
use vgdp_sim::model::faults::Disturbance as D;
use vgdp_sim::model::node_agent::routine::{Attempt, Op};
use vgdp_sim::model::node_agent::watcher;
use vgdp_sim::model::place::{NodeId, TaskId};
use vgdp_sim::run::observe;
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::Uniform;

use crate::cluster::{A, B, Cluster, DIES, N0};

/// Whether the first is the second with some elements left out.
fn is_subsequence(seen: &[DataUpload], stored: &[DataUpload]) -> bool {
    let mut rest = stored.iter();
    seen.iter().all(|it| rest.any(|other| other == it))
}

/// Of each object, a store shows some of the states that were true, in the order in which they were.
#[test]
fn e1_a_store_shows_a_subsequence_of_what_was_true() {
    let scenario = Scenario::named("anything").expect("a built-in scenario");
    let nodes = || (0..scenario.nodes).map(NodeId);
    let mut shorter = 0;
    for index in 0..200 {
        for t in (0..scenario.tasks).map(TaskId) {
            let mut stored = vec![DataUpload::ABSENT];
            let mut seen: Vec<_> = nodes().map(|_| stored.clone()).collect();
            let mut heard = vec![DataUpload::ABSENT]; // by the handler of its mover
            observe(&scenario, &Upstream, &mut Uniform::new(1, index), &mut |moment| {
                let task = &moment.is.tasks[t];
                stored.push(task.cr);
                stored.dedup();
                for n in nodes() {
                    seen[n.0 as usize].push(task.at[n].cr);
                    seen[n.0 as usize].dedup();
                }
                if task.mover.is_running() && task.mover.handler != Handler::Unlisted {
                    heard.push(task.mover.last);
                    heard.dedup();
                }
            });
            for it in seen.iter().chain([&heard]) {
                assert!(is_subsequence(it, &stored), "run {index}: {it:#?} is not part of {stored:#?}");
            }
            shorter += seen.iter().filter(|it| it.len() < stored.len()).count();
        }
    }
    assert!(shorter > 0, "no run left anything out");
}

/// An informer knows objects by name: a deletion and a new creation between two lists show as one update from the old
/// object to the new one.
#[test]
fn e2_a_new_object_of_the_same_name_shows_as_an_update_of_the_old_one() {
    let mut cluster = Cluster::new(1, 1, &[(D::Cancel, 1), (D::Delete, 1), (D::BreakCrWatch, 1)]);
    cluster.goes(
        "
        user::cancels(a)
        cr_watch::receives(n0)
        cr_watch::receives(n0)
        node_fault::breaks_cr_watch(n0)
        user::deletes(a)
        ",
    );
    cluster.world.shared.budget.allow_creation(A);
    cluster.goes("velero_server::creates(a)");
    cluster.waits_until_it_may("cr_watch::relists(n0)");
    assert!(cluster.known().cr.cancel, "the old object");
    cluster.world.dequeue(N0, A);
    cluster.goes("cr_watch::relists(n0)");
    assert_eq!(cluster.known().cr, DataUpload { exists: true, ..DataUpload::ABSENT });
    cluster.goes("cr_watch::enqueues(n0)");
    assert_eq!(cluster.world.head_of_queue(N0), Some(A));
    assert!(!cluster.may("cr_watch::enqueues(n0)") && !cluster.may("cr_watch::receives(n0)"));
}

/// Each event of a watch is one notification: two changes in quick succession are handled twice.
#[test]
fn e3_each_event_is_a_notification_of_its_own() {
    let mut cluster = Cluster::started(&[]);
    cluster.goes(
        "
        kubelet::reports_running(a)
        kubelet::reports_running(a)
        pod_watch::receives(n0)
        pod_watch::receives(n0)
        pod_events::hears(n0, a)
        pod_events::gets(n0, a)
        pod_events::marks_prepared(n0, a)
        pod_events::hears(n0, a)
        ",
    );
    assert_eq!(cluster.agent().mapping.plan.first(), Op::MarkPrepared, "the cache still says Accepted");
    cluster.goes(
        "
        pod_events::gets(n0, a)
        pod_events::marks_prepared(n0, a)
        ",
    );
    assert_eq!(cluster.agent().mapping.attempt, Attempt::Conflicted);
}

/// A relist swaps the whole store at once, before any handler hears of it; what has vanished comes as a tombstone,
/// which is no update, and what has changed as one update from the last known state.
#[test]
fn e4_a_relist_swaps_the_store_at_once_and_leaves_tombstones() {
    let mut cluster = Cluster::new(2, 2, &[(D::BreakCrWatch, 1), (D::Cancel, 2), (D::Stall, 1)]);
    cluster.settles().goes("node_fault::stalls_cr_watch(n1)     # which keeps the log from being forgotten");
    cluster.goes("node_fault::breaks_cr_watch(n0)").goes("user::cancels(a)").goes("user::cancels(b)");
    cluster.waits_until_it_may("cr_watch::relists(n0)");
    for t in [A, B] {
        cluster.world.dequeue(N0, t);
    }
    cluster.goes("cr_watch::relists(n0)");
    for t in [A, B] {
        assert!(cluster.world.tasks[t].at[N0].cr.cancel);
        assert!(!cluster.world.tasks[t].at[N0].key.is_ready(), "no handler has been told");
    }
    cluster.goes("cr_watch::enqueues(n0)").goes("cr_watch::enqueues(n0)");
    assert!(cluster.world.tasks[A].at[N0].key.is_ready() && cluster.world.tasks[B].at[N0].key.is_ready());
    assert!(!cluster.may("cr_watch::enqueues(n0)"), "each of them once");

    let mut cluster = Cluster::transferring(&[(D::BreakPodWatch, 1), (D::KillMover, 1), (D::DeletePod, 1)]);
    let mut kept = cluster;
    for (it, last) in [(&mut cluster, "user::deletes_pod(a)"), (&mut kept, "")] {
        it.goes("node_fault::breaks_pod_watch(n0)").goes(DIES).goes(last);
        it.waits_until_it_may("pod_watch::relists(n0)");
        it.goes("pod_watch::relists(n0)");
    }
    assert_eq!(cluster.known().pod, PodPhase::Absent);
    assert!(!cluster.may("watcher::is_sent_pod(n0, a)") && !cluster.may("pod_events::hears(n0, a)"));
    assert_eq!(kept.known().pod, PodPhase::Failed);
    assert!(kept.may("watcher::is_sent_pod(n0, a)") && kept.may("pod_events::hears(n0, a)"));

    // Who handles deletions is told of a tombstone as well: of a pod, and of an upload as it was last known.
    let mut cluster = Cluster::transferring_by(&WatcherWatchesPodDelete, &[(D::BreakPodWatch, 1), (D::DeletePod, 1)]);
    cluster.goes("node_fault::breaks_pod_watch(n0)").goes("user::deletes_pod(a)");
    cluster.waits_until_it_may("pod_watch::relists(n0)");
    assert!(!cluster.may("watcher::is_sent_pod(n0, a)"));
    cluster.goes("pod_watch::relists(n0)");
    assert!(cluster.may("watcher::is_sent_pod(n0, a)") && !cluster.may("pod_events::hears(n0, a)"));

    let allows = &[(D::BreakMoverWatch, 1), (D::Delete, 1), (D::StripFinalizer, 1)];
    let mut cluster = Cluster::transferring_by(&MoverWatchesCrDelete, allows);
    cluster.goes(
        "
        pod_fault::breaks_mover_watch(a)
        user::deletes(a)
        user::strips_finalizer(a)
        ",
    );
    cluster.waits_until_it_may("data_mover::relists(a)");
    cluster.goes("data_mover::relists(a)");
    assert!(cluster.task().mover.last.exists && !cluster.task().mover.last.deleting, "as it was last known");
    cluster.goes("data_mover::hears(a)");
    assert!(cluster.task().mover.heard_cancel);
    assert!(!cluster.may("data_mover::hears(a)"), "once");
}

/// A handler may hold an old notification while the store is newer: the mapping hears that a pod runs which the store
/// does not have any more.
#[test]
fn e5_a_handler_may_hold_an_old_notification_while_the_store_is_newer() {
    let mut cluster = Cluster::started(&[(D::DeletePod, 1)]);
    cluster.goes(
        "
        kubelet::reports_running(a)
        user::deletes_pod(a)
        pod_watch::receives(n0)     # it runs
        pod_watch::receives(n0)     # it is being deleted
        pod_watch::receives(n0)     # it is gone
        ",
    );
    assert_eq!(cluster.known().pod, PodPhase::Absent);
    cluster.goes(
        "
        pod_events::hears(n0, a)
        pod_events::gets(n0, a)
        pod_events::marks_prepared(n0, a)
        ",
    );
    assert_eq!(cluster.cr().phase, Phase::Prepared);
}

/// The store moves before its listeners are told, and each listener is told in its own time: one that is late, or
/// blocked, delays no other.
#[test]
fn e6_the_store_moves_first_and_each_listener_is_told_in_its_own_time() {
    let mut cluster = Cluster::new(1, 1, &[(D::Cancel, 1)]);
    cluster.goes("cr_watch::receives(n0)");
    assert!(cluster.known().cr.exists);
    assert_eq!(cluster.world.head_of_queue(N0), None);
    cluster.goes("user::cancels(a)").goes("cr_watch::receives(n0)").goes("cr_watch::enqueues(n0)");
    assert_eq!(cluster.world.head_of_queue(N0), Some(A));
    assert!(cluster.known().cr.cancel && cluster.may("cr_watch::enqueues(n0)"), "told of the creation only");

    let failed = || {
        let mut cluster = Cluster::transferring(&[(D::KillMover, 1), (D::BreakPodWatch, 4)]);
        cluster.goes(DIES).goes("pod_watch::receives(n0)");
        cluster
    };
    failed().goes("pod_events::hears(n0, a)").goes("watcher::is_sent_pod(n0, a)");
    failed().goes("watcher::is_sent_pod(n0, a)").goes("pod_events::hears(n0, a)");

    // A watcher that has heard of the end receives no more pods: its channel takes two, and then its handler blocks.
    let mut cluster = failed();
    cluster.settles();
    assert_eq!(cluster.task().watcher.stage, watcher::Stage::Epilog);
    for sent in 1..=4 {
        cluster.goes("node_fault::breaks_pod_watch(n0)");
        cluster.waits_until_it_may("pod_watch::relists(n0)");
        cluster.goes("pod_watch::relists(n0)");
        assert!(cluster.may("pod_events::hears(n0, a)"), "the other listener is told");
        assert_eq!(cluster.may("watcher::is_sent_pod(n0, a)"), sent <= 3);
        cluster.settles();
        assert_eq!(cluster.task().watcher.is_blocked(), sent > 2);
    }
}

/// A handler that is removed hears nothing more, not even what was already waiting for it.
#[test]
fn e7_a_removed_handler_discards_what_was_waiting_for_it() {
    let mut cluster = Cluster::transferring(&[]);
    cluster.until(|w| w.tasks[A].mover.process == Process::Ended && w.tasks[A].watcher.stopped);
    cluster.goes(
        "
        kubelet::reports_exit(a)
        pod_watch::receives(n0)
        watcher::is_sent_pod(n0, a)
        watcher::hears_pod(n0, a)
        callback::gets(n0, a)
        callback::reports_progress(n0, a)
        callback::reads_cr(n0, a)
        callback::deletes_pod(n0, a)
        pod_watch::receives(n0)         # succeeded, and being deleted
        ",
    );
    assert!(cluster.may("watcher::is_sent_pod(n0, a)"));
    cluster.goes(
        "
        callback::deletes_volume(n0, a)
        callback::cleans_up(n0, a)
        cr_watch::receives(n0)          # the progress
        callback::gets(n0, a)
        callback::marks_completed(n0, a)
        callback::releases_slot(n0, a)
        ",
    );
    assert!(!cluster.may("watcher::is_sent_pod(n0, a)"));
}

/// A handler that comes late is told of all that is there as additions, so it misses what came before as an update: a
/// mover does not hear of a cancel, nor a watcher of the end of its pod, unless it looks for itself.
#[test]
fn e8_a_late_handler_hears_of_what_is_there_as_an_addition() {
    let mut cluster = Cluster::started(&[(D::Cancel, 1)]);
    cluster.goes("kubelet::reports_running(a)").settles();
    assert_eq!(cluster.cr().phase, Phase::InProgress);
    let mut in_time = cluster;
    cluster.goes("user::cancels(a)").goes("data_mover::lists(a)");
    assert!(!cluster.may("data_mover::hears(a)"));
    cluster.settles();
    assert!(!cluster.task().mover.heard_cancel);
    in_time.goes("data_mover::lists(a)").goes("user::cancels(a)");
    assert!(in_time.may("data_mover::hears(a)"));

    let mut cluster = Cluster::started(&[(D::KillMover, 1)]);
    cluster.goes("kubelet::reports_running(a)").waits_until_it_may("worker::awaits_volume(n0, a)");
    cluster.goes(DIES).goes(
        "
        pod_watch::receives(n0)
        worker::awaits_volume(n0, a)
        worker::takes_slot(n0, a)
        worker::registers_handlers(n0, a)
        ",
    );
    assert!(!cluster.may("watcher::is_sent_pod(n0, a)"));
    cluster.settles();
    assert_eq!(cluster.task().watcher.stage, watcher::Stage::Epilog, "it looked for itself");
}

/// A relist tells every listener of what has not changed as well, as an update from x to x; the queue gives such keys
/// the low priority.
#[test]
fn e9_a_relist_shows_what_has_not_changed_as_an_update() {
    let mut cluster = Cluster::transferring(&[(D::BreakPodWatch, 1)]);
    assert!(!cluster.may("pod_events::hears(n0, a)"));
    cluster.goes("node_fault::breaks_pod_watch(n0)");
    cluster.waits_until_it_may("pod_watch::relists(n0)");
    cluster.goes("pod_watch::relists(n0)");
    assert!(cluster.may("pod_events::hears(n0, a)"));

    let mut cluster = Cluster::new(1, 2, &[(D::BreakCrWatch, 1), (D::Cancel, 1)]);
    cluster.until(|w| w.nodes[N0].worker.plan.first() == Op::Expose);
    cluster.goes("node_fault::breaks_cr_watch(n0)").goes("user::cancels(b)");
    cluster.waits_until_it_may("cr_watch::relists(n0)");
    for t in [A, B] {
        cluster.world.dequeue(N0, t);
    }
    cluster.goes("cr_watch::relists(n0)").goes("cr_watch::enqueues(n0)");
    assert_eq!(cluster.world.head_of_queue(N0), Some(A));
    cluster.goes("cr_watch::enqueues(n0)");
    assert_eq!(cluster.world.head_of_queue(N0), Some(B), "it came later, but it has changed");

    // It broke again, and one had changed, before any listener was told of the first relist.
    let mut cluster = Cluster::new(1, 2, &[(D::BreakCrWatch, 2), (D::Cancel, 1), (D::Stall, 2)]);
    cluster.until(|w| w.nodes[N0].worker.plan.first() == Op::Expose);
    for last in ["", "user::cancels(b)"] {
        cluster.goes("node_fault::breaks_cr_watch(n0)").goes(last).goes("node_fault::stalls_cr_watch(n0)");
        cluster.goes("clock::passes").goes("node_recovery::heals_cr_watch(n0)").goes("cr_watch::relists(n0)");
    }
    for t in [A, B] {
        cluster.world.dequeue(N0, t);
    }
    cluster.goes("cr_watch::enqueues(n0)");
    assert_eq!(cluster.world.head_of_queue(N0), Some(A));
    cluster.goes("cr_watch::enqueues(n0)");
    assert_eq!(cluster.world.head_of_queue(N0), Some(B), "the first relist found it unchanged, the second did not");

    // The change reached the store before the watch broke, but not the listener: then the key is due for that as well.
    let mut cluster = Cluster::new(1, 2, &[(D::BreakCrWatch, 1), (D::Cancel, 1), (D::Stall, 1)]);
    cluster.until(|w| w.nodes[N0].worker.plan.first() == Op::Expose);
    for t in [A, B] {
        cluster.world.dequeue(N0, t);
    }
    cluster.goes(
        "
        user::cancels(b)
        cr_watch::receives(n0)
        node_fault::breaks_cr_watch(n0)
        node_fault::stalls_cr_watch(n0)
        clock::passes
        node_recovery::heals_cr_watch(n0)
        cr_watch::relists(n0)
        cr_watch::enqueues(n0)          # the first upload has not changed
        cr_watch::enqueues(n0)          # the second one has
        ",
    );
    assert_eq!(cluster.world.head_of_queue(N0), Some(B));
}

/// A panic in a handler ends the process: a mover that hears of a cancel before it has read its custom resource
/// crashes, and leaves no message.
#[test]
fn e10_a_panic_in_a_handler_ends_the_process() {
    let mut cluster = Cluster::started(&[(D::Cancel, 1)]);
    cluster.goes("data_mover::lists(a)").goes("kubelet::reports_running(a)").settles().goes("user::cancels(a)");
    assert_eq!(cluster.task().mover.main, Main::Booting);
    cluster.goes("data_mover::hears(a)");
    assert_eq!((cluster.task().mover.process, cluster.task().mover.end), (Process::Ended, End::Crashed));
}
