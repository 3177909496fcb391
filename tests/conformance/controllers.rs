//! Part F: the client, the queue and the worker of a controller.

use vgdp_sim::model::api_server::Phase;
use vgdp_sim::model::faults::Disturbance as D;
use vgdp_sim::model::node_agent::routine::{Attempt, Op};
use vgdp_sim::model::node_agent::work_queue::Outcome;
use vgdp_sim::model::place::TaskId;
use vgdp_sim::model::time::Obligation;

use crate::cluster::{A, B, C, COMPLETES, Cluster, N0, N1};

/// Hands all ready keys of the first node to nobody, and says in which order they came.
fn drained(cluster: &mut Cluster) -> Vec<TaskId> {
    std::iter::from_fn(|| {
        let t = cluster.world.head_of_queue(N0)?;
        cluster.world.dequeue(N0, t);
        Some(t)
    })
    .collect()
}

/// Reads come from the cache, writes go to the API server, and nobody waits for a write of its own to come back; the
/// mover's poll alone reads the API server.
#[test]
fn f1_reads_come_from_the_cache_even_after_a_write_of_ones_own() {
    let mut cluster = Cluster::new(1, 1, &[(D::Cancel, 1)]);
    cluster.goes(
        "
        user::cancels(a)
        cr_watch::receives(n0)
        cr_watch::receives(n0)
        cr_watch::enqueues(n0)
        worker::reads(n0, a)
        worker::gets(n0, a)
        worker::adds_finalizer(n0, a)
        ",
    );
    assert!(cluster.cr().finalizer && !cluster.known().cr.finalizer);
    cluster.goes(
        "
        cr_watch::enqueues(n0)          # the cancel brings it back
        worker::reads(n0, a)
        worker::gets(n0, a)             # still without the finalizer
        worker::adds_finalizer(n0, a)
        ",
    );
    assert_eq!(cluster.agent().worker.attempt, Attempt::Conflicted);
    assert!(!cluster.may("worker::gets(n0, a)"), "until the cache moves it would read the same again");
    cluster.goes("cr_watch::receives(n0)").goes("worker::gets(n0, a)");
    assert!(!cluster.agent().worker.is_busy(), "its finalizer is there");

    let mut cluster = Cluster::started(&[]);
    cluster.goes("data_mover::begins_polling(a)").goes("kubelet::reports_running(a)");
    assert_eq!(cluster.waits_until_it_may("worker::awaits_volume(n0, a)"), 0);
    assert!(!cluster.may("data_mover::polls(a)"));
    cluster.goes(
        "
        worker::awaits_volume(n0, a)
        worker::takes_slot(n0, a)
        worker::registers_handlers(n0, a)
        worker::reads_pod(n0, a)
        worker::gets(n0, a)
        worker::marks_in_progress(n0, a)
        data_mover::polls(a)            # its informer has not even listed
        data_mover::lists(a)
        ",
    );
}

/// The queue holds a key once; what happens while its key is being processed brings it back once more afterwards.
#[test]
fn f2_a_key_is_queued_once_and_comes_back_for_what_happened_meanwhile() {
    let mut cluster = Cluster::new(1, 1, &[(D::Cancel, 1)]);
    cluster.goes(
        "
        user::cancels(a)
        cr_watch::receives(n0)
        cr_watch::receives(n0)
        cr_watch::enqueues(n0)
        cr_watch::enqueues(n0)
        worker::reads(n0, a)
        ",
    );
    assert_eq!(cluster.world.head_of_queue(N0), None, "two events, one key");
    cluster.goes(
        "
        worker::gets(n0, a)
        worker::adds_finalizer(n0, a)
        ",
    );
    cluster.goes("cr_watch::receives(n0)").goes("cr_watch::enqueues(n0)").goes("worker::reads(n0, a)");
    assert!(cluster.agent().worker.is_busy());

    cluster.world.enqueue(N0, A);
    cluster.world.enqueue(N0, A);
    assert!(!cluster.may("worker::reads(n0, a)"), "no second worker takes it");
    cluster.goes(
        "
        worker::forces_cancel(n0, a)
        worker::deletes_pod(n0, a)
        worker::deletes_volume(n0, a)
        worker::cleans_up(n0, a)
        worker::reads(n0, a)            # what happened meanwhile
        ",
    );
    assert_eq!(cluster.world.head_of_queue(N0), None);
}

/// Ready keys come first in, first out within their priority, which is the highest that was asked for; a key that is
/// raised goes to the end of the higher one. An immediate event replaces a pending delay, and the key keeps the place
/// that it had among those that wait; one whose delay is over comes last. A delay does not hold back a ready key.
#[test]
fn f3_priorities_are_raised_and_an_event_replaces_a_delay() {
    let mut cluster = Cluster::new(1, 3, &[]);
    for t in [C, A, B, C, A] {
        cluster.world.enqueue(N0, t);
    }
    assert_eq!(drained(&mut cluster), [C, A, B]);

    cluster.world.enqueue_low(N0, A);
    cluster.world.enqueue(N0, B);
    cluster.world.enqueue(N0, A);
    cluster.world.enqueue(N0, C);
    assert_eq!(drained(&mut cluster), [B, A, C]);

    cluster.world.enqueue(N0, A);
    cluster.world.enqueue_low(N0, C);
    cluster.world.enqueue_low(N0, A);
    cluster.world.enqueue(N0, B);
    assert_eq!(drained(&mut cluster), [A, B, C]);

    // A key that waits for a delay, or is being processed, has a priority to keep as well.
    for not_yet_ready in [true, false] {
        if not_yet_ready {
            cluster.world.finish_key(N0, A, Outcome::RequeueSoon, false);
            cluster.world.enqueue_low(N0, A);
        } else {
            cluster.world.enqueue_low(N0, A);
            cluster.world.finish_key(N0, A, Outcome::RequeueSoon, false);
        }
        cluster.world.enqueue(N0, B);
        assert_eq!(drained(&mut cluster), [A, B]);
    }

    // A key that waits keeps its place when an event comes first, unless its priority is raised.
    for (low, event_is_low, order) in
        [(false, false, [A, B, C]), (false, true, [A, B, C]), (true, false, [B, C, A]), (true, true, [B, C, A])]
    {
        cluster.world.finish_key(N0, A, Outcome::RequeueSoon, low);
        cluster.world.enqueue(N0, B);
        cluster.world.enqueue(N0, C);
        if event_is_low {
            cluster.world.enqueue_low(N0, A);
        } else {
            cluster.world.enqueue(N0, A);
        }
        assert_eq!(drained(&mut cluster), order, "from low {low} by low {event_is_low}");
    }
    cluster.world.finish_key(N0, A, Outcome::RequeueSoon, true);
    cluster.world.enqueue_low(N0, B);
    cluster.world.enqueue_low(N0, A);
    assert_eq!(drained(&mut cluster), [A, B], "its place among the low ones");

    // One whose delay is over has come after all that are ready.
    let mut due = Cluster::new(1, 3, &[]);
    due.goes("cr_watch::receives(n0)").goes("cr_watch::receives(n0)");
    due.world.finish_key(N0, A, Outcome::RequeueSoon, false);
    due.world.enqueue(N0, B);
    due.goes("work_queue::falls_due(n0, a)");
    assert_eq!(drained(&mut due), [B, A]);

    let is_delayed = |cluster: &Cluster| cluster.known().key.is_delayed();
    cluster.world.finish_key(N0, A, Outcome::RequeueSoon, false);
    assert!(is_delayed(&cluster) && !cluster.known().key.is_ready());
    cluster.world.enqueue(N0, A);
    assert!(!is_delayed(&cluster), "the timer will not fire later");
    cluster.world.finish_key(N0, A, Outcome::RequeueSoon, false);
    assert!(!is_delayed(&cluster) && cluster.known().key.is_ready());
}

/// A controller has one worker; those of different node-agents work side by side.
#[test]
fn f4_each_controller_has_one_worker() {
    let mut cluster = Cluster::new(2, 2, &[]);
    for n in ["n0", "n1"] {
        for step in ["cr_watch::receives", "cr_watch::receives", "cr_watch::enqueues", "cr_watch::enqueues"] {
            cluster.goes(&format!("{step}({n})"));
        }
    }
    assert!(!cluster.may("worker::reads(n0, b)"));
    cluster.goes("worker::reads(n0, a)");
    assert_eq!(cluster.world.head_of_queue(N0), Some(B));
    assert!(!cluster.may("worker::reads(n0, b)"));
    cluster.goes("worker::reads(n1, a)");
    cluster.goes("worker::gets(n0, a)").goes("worker::adds_finalizer(n0, a)").goes("worker::reads(n0, b)");
    assert!(cluster.world.nodes[N0].worker.is_busy() && cluster.world.nodes[N1].worker.is_busy());
}

/// An error brings a key back after 5 ms, doubled with each failure in a row up to 1,000 s; a requeue after a fixed time
/// and a success both forget the failures, and only the former brings the key back.
#[test]
fn f5_errors_back_off_and_all_else_forgets_them() {
    let mut cluster = Cluster::new(1, 1, &[]);
    let mut ends = |outcome| {
        cluster.world.enqueue(N0, A);
        let low = cluster.world.dequeue(N0, A);
        cluster.world.finish_key(N0, A, outcome, low);
        let key = cluster.known().key;
        key.is_delayed().then(|| key.obligation())
    };
    let round = |obligation: Option<Obligation>| Some(obligation);
    for failures in 1..=30_u32 {
        let milliseconds = 5_u64 << (failures - 1).min(20);
        let expected = match milliseconds {
            ..1_000 => None,
            1_000..30_000 => Some(Obligation::ShortBackoff),
            _ => Some(Obligation::LongBackoff),
        };
        assert_eq!(ends(Outcome::Error), round(expected), "after {failures} failures");
    }
    assert_eq!(ends(Outcome::RequeueSoon), round(Some(Obligation::SlotRequeue)));
    assert_eq!(ends(Outcome::Error), round(None));
    for _ in 0..20 {
        ends(Outcome::Error);
    }
    assert_eq!(ends(Outcome::Done), None);
    assert_eq!(ends(Outcome::Error), round(None));

    // A requeue is a poll: it is owed from when it would matter, here once a slot is free.
    assert_eq!(Obligation::SlotRequeue.span().latest, Some(5));
    assert_eq!(Obligation::LongBackoff.span().latest, Some(1_000));
}

/// The mapping of pod events runs in its listener's goroutine and repeats its writes there: until it is done that
/// listener hears nothing, and nobody else waits.
#[test]
fn f7_the_mapping_writes_in_its_listener_and_holds_up_only_that() {
    let mut cluster = Cluster::new(1, 2, &[(D::Cancel, 1), (D::Stall, 1)]);
    cluster.until(|w| w.tasks[A].pod.phase.exists()).goes("pod_fault::stalls_kubelet(a)");
    cluster.until(|w| w.tasks[B].mover.is_running()).goes(
        "
        pod_recovery::heals_kubelet(a)
        kubelet::starts_container(a)
        kubelet::reports_running(a)
        kubelet::reports_running(a)
        kubelet::reports_running(b)
        pod_watch::receives(n0)
        pod_watch::receives(n0)
        pod_watch::receives(n0)
        pod_events::hears(n0, a)
        pod_events::gets(n0, a)
        user::cancels(a)
        pod_events::marks_prepared(n0, a)   # a conflict
        ",
    );
    assert_eq!(cluster.agent().mapping.attempt, Attempt::Conflicted);
    cluster.goes(
        "
        cr_watch::receives(n0)
        cr_watch::enqueues(n0)
        worker::reads(n0, a)
        ",
    );
    assert!(!cluster.may("pod_events::hears(n0, a)") && !cluster.may("pod_events::hears(n0, b)"));
    cluster.goes(
        "
        pod_events::gets(n0, a)
        pod_events::marks_prepared(n0, a)
        cr_watch::receives(n0)
        pod_events::hears(n0, a)            # its second update
        pod_events::hears(n0, b)
        ",
    );
    assert_eq!(cluster.cr().phase, Phase::Prepared);
}

/// There is as good as no resync; Velero's own enqueue comes once a minute instead, for uploads that are accepted, or
/// cancelled and not final, or final and being deleted.
#[test]
fn f9_nothing_resyncs_but_some_uploads_are_enqueued_once_a_minute() {
    let mut cluster = Cluster::started(&[(D::Cancel, 1), (D::Stall, 1)]);
    assert_eq!(cluster.known().cr.phase, Phase::Accepted);
    assert!(cluster.world.is_enqueued_periodically(&cluster.setup, N0, A));
    cluster.goes("pod_fault::stalls_kubelet(a)").goes("user::cancels(a)").settles();
    assert!(!cluster.may("periodic_enqueue::enqueues(n0)"), "it would do nothing yet");
    let mut other = cluster;
    assert_eq!(other.waits_until_it_may("periodic_enqueue::enqueues(n0)"), 5 * 60);
    assert_eq!(cluster.waits_until_it_must("periodic_enqueue::enqueues(n0)"), 6 * 60);
    cluster.goes("periodic_enqueue::enqueues(n0)").goes("worker::reads(n0, a)");
    assert_eq!(cluster.agent().worker.plan.first(), Op::ForceCancel);

    let mut cluster = Cluster::transferring(&[(D::Cancel, 1)]);
    assert!(!cluster.world.is_enqueued_periodically(&cluster.setup, N0, A), "in progress");
    cluster.goes("user::cancels(a)").settles();
    assert!(cluster.world.is_enqueued_periodically(&cluster.setup, N0, A), "cancelled and not final");
    cluster.until(|w| w.tasks[A].at[N0].cr.phase.is_final());
    assert!(!cluster.world.is_enqueued_periodically(&cluster.setup, N0, A), "final");

    let mut cluster = Cluster::transferring(&[(D::DeleteFinished, 1)]);
    cluster.goes(COMPLETES).waits_until_it_may("callback::releases_slot(n0, a)");
    cluster.goes("cr_watch::receives(n0)");
    assert!(cluster.known().cr.phase.is_final() && cluster.known().cr.finalizer);
    assert!(!cluster.world.is_enqueued_periodically(&cluster.setup, N0, A), "final");
    cluster.goes("user::deletes_finished(a)").goes("cr_watch::receives(n0)");
    assert!(cluster.world.is_enqueued_periodically(&cluster.setup, N0, A), "final and being deleted");
}
