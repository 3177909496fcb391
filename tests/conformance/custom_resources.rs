//! Part A: custom resources at the API server.

use vgdp_sim::model::api_server::{Answer, DataUpload, Held, Phase};
use vgdp_sim::model::data_mover::Process;
use vgdp_sim::model::faults::Disturbance as D;
use vgdp_sim::model::node_agent::routine::{Attempt, Op};

use crate::cluster::{A, Cluster, N0, N1};

/// The node-agent of the first node hears of the upload and puts its finalizer on it.
const N0_ADDS_THE_FINALIZER: &str = "
    cr_watch::receives(n0)
    cr_watch::enqueues(n0)
    worker::reads(n0, a)
    worker::gets(n0, a)
    worker::adds_finalizer(n0, a)
";

/// It hears of the finalizer and decides to accept the upload.
const N0_READS_IT_AGAIN: &str = "
    cr_watch::receives(n0)
    cr_watch::enqueues(n0)
    worker::reads(n0, a)
";

/// The newest version of the first upload, in somebody's hands.
fn newest(cluster: &Cluster) -> Held {
    Held { cr: cluster.cr(), current: true }
}

/// An upload that is being deleted and held only by Velero's finalizer.
fn terminating() -> Cluster {
    let mut cluster = Cluster::new(1, 1, &[(D::Delete, 1)]);
    cluster.goes(N0_ADDS_THE_FINALIZER).goes("user::deletes(a)");
    cluster
}

/// An upload that was deleted, cancelled for that reason, and from which the finalizer is about to be dropped.
fn about_to_go() -> Cluster {
    let mut cluster = terminating();
    cluster.goes(
        "
        cr_watch::receives(n0)
        cr_watch::receives(n0)
        cr_watch::enqueues(n0)
        worker::reads(n0, a)
        worker::gets(n0, a)
        worker::sets_cancel(n0, a)
        cr_watch::receives(n0)
        cr_watch::enqueues(n0)
        worker::reads(n0, a)
        worker::forces_cancel(n0, a)
        worker::deletes_pod(n0, a)
        worker::deletes_volume(n0, a)
        worker::cleans_up(n0, a)
        cr_watch::receives(n0)
        cr_watch::enqueues(n0)
        worker::reads(n0, a)
        worker::gets(n0, a)
        ",
    );
    cluster
}

/// Every change makes a new version, so a copy read before is no longer the newest; a change of another object does
/// not matter to it, since versions are only compared for equality.
#[test]
fn a1_every_change_of_an_object_outdates_the_copies_of_it() {
    let mut cluster = Cluster::new(1, 2, &[(D::Cancel, 2)]);
    cluster.goes(
        "
        cr_watch::receives(n0)
        cr_watch::enqueues(n0)
        worker::reads(n0, a)
        worker::gets(n0, a)
        user::cancels(b)
        ",
    );
    assert!(cluster.agent().worker.held.current);
    cluster.goes("user::cancels(a)");
    assert!(!cluster.agent().worker.held.current);

    // The same in a callback.
    let mut cluster = Cluster::transferring(&[(D::Cancel, 1)]);
    cluster.until(|w| w.tasks[A].mover.process == Process::Ended && w.tasks[A].watcher.stopped).goes(
        "
        kubelet::reports_exit(a)
        pod_watch::receives(n0)
        watcher::is_sent_pod(n0, a)
        watcher::hears_pod(n0, a)
        callback::gets(n0, a)
        ",
    );
    assert!(cluster.task().watcher.routine.held.current);
    cluster.goes("user::cancels(a)");
    assert!(!cluster.task().watcher.routine.held.current);
}

/// A PUT names the version that it was made from; if that is not the stored one any more, nothing is written.
#[test]
fn a2_a_put_of_an_outdated_copy_conflicts_and_writes_nothing() {
    let mut cluster = Cluster::new(1, 1, &[(D::Cancel, 1)]);
    cluster.goes(
        "
        cr_watch::receives(n0)
        cr_watch::enqueues(n0)
        worker::reads(n0, a)
        worker::gets(n0, a)
        user::cancels(a)
        ",
    );
    let stored = cluster.cr();
    let unheard = cluster.world.end_of_cr_log();
    cluster.goes("worker::adds_finalizer(n0, a)");
    assert_eq!(cluster.agent().worker.attempt, Attempt::Conflicted);
    assert_eq!(cluster.cr(), stored);
    assert_eq!(cluster.world.end_of_cr_log(), unheard);

    let before = cluster.world;
    let outdated = Held { current: false, ..newest(&cluster) };
    let new = DataUpload { phase: Phase::Accepted, ..stored };
    assert_eq!(cluster.world.put(A, outdated, new), Answer::Conflict);
    assert_eq!(cluster.world.touch(A, outdated), Answer::Conflict);
    assert_eq!(cluster.world, before);
}

/// A PUT of what is stored already succeeds, makes no new version and no event; an outdated copy conflicts first.
#[test]
fn a3_a_put_that_changes_nothing_makes_no_version_and_no_event() {
    let mut cluster = Cluster::new(1, 1, &[]);
    cluster.goes(N0_ADDS_THE_FINALIZER).goes(N0_READS_IT_AGAIN);
    assert!(cluster.agent().worker.held.current, "a copy that a new version would outdate");
    let before = cluster.world;
    let (held, same) = (newest(&cluster), cluster.cr());
    assert_eq!(cluster.world.put(A, held, same), Answer::Written);
    assert_eq!(cluster.world, before);
    assert_eq!(cluster.world.put(A, Held { current: false, ..held }, same), Answer::Conflict);
}

/// A PUT never creates: without an object of that name it gets 404. An object that took the name later is another
/// one, and its version differs as well.
#[test]
fn a4_a_put_on_a_missing_name_is_refused() {
    let mut cluster = Cluster::new(1, 1, &[(D::Delete, 1)]);
    cluster.goes(
        "
        cr_watch::receives(n0)
        cr_watch::enqueues(n0)
        worker::reads(n0, a)
        worker::gets(n0, a)
        user::deletes(a)
        ",
    );
    let before = cluster.world;
    let held = cluster.agent().worker.held;
    assert!(!held.current, "the name is looked at first");
    assert_eq!(cluster.world.put(A, held, DataUpload { finalizer: true, ..held.cr }), Answer::Refused);
    assert_eq!(cluster.world.touch(A, held), Answer::Refused);
    assert_eq!(cluster.world, before);

    cluster.world.shared.budget.allow_creation(A);
    cluster.goes("velero_server::creates(a)");
    let before = cluster.cr();
    cluster.goes("worker::adds_finalizer(n0, a)");
    assert_eq!(cluster.agent().worker.attempt, Attempt::Conflicted);
    assert_eq!(cluster.cr(), before);
}

/// Without a status subresource, status, spec and metadata share one PUT and one version, so a write of the status
/// conflicts with a change of the spec that came before it.
#[test]
fn a5_a_status_write_conflicts_with_an_earlier_change_of_the_spec() {
    let mut cluster = Cluster::new(1, 1, &[(D::Cancel, 1)]);
    cluster.goes(N0_ADDS_THE_FINALIZER).goes(N0_READS_IT_AGAIN).goes(
        "
        user::cancels(a)            # spec
        worker::accepts(n0, a)      # status, from the copy read before
        ",
    );
    assert_eq!(cluster.cr().phase, Phase::New);
    assert!(cluster.cr().cancel);
}

/// DELETE of an object with a finalizer only marks it, which watchers see as a change; a second one changes nothing.
#[test]
fn a8_a_delete_of_an_object_with_a_finalizer_only_marks_it() {
    let mut cluster = terminating();
    assert!(cluster.cr().exists && cluster.cr().deleting && cluster.cr().finalizer);
    let before = cluster.world;
    cluster.world.delete_cr(A);
    assert_eq!(cluster.world, before);

    cluster.goes("cr_watch::receives(n0)");
    assert!(!cluster.known().cr.deleting);
    cluster.goes("cr_watch::receives(n0)");
    assert_eq!(cluster.known().cr, cluster.cr());
    assert!(!cluster.may("cr_watch::receives(n0)"));
}

/// DELETE of an object without a finalizer removes it at once, and watchers see it deleted.
#[test]
fn a9_a_delete_of_an_object_without_a_finalizer_removes_it_at_once() {
    let mut cluster = Cluster::new(1, 1, &[(D::Delete, 1)]);
    cluster.goes("cr_watch::receives(n0)").goes("user::deletes(a)");
    assert_eq!(cluster.cr(), DataUpload::ABSENT);
    assert!(cluster.known().cr.exists);
    cluster.goes("cr_watch::receives(n0)");
    assert_eq!(cluster.known().cr, DataUpload::ABSENT);
    assert!(!cluster.may("cr_watch::receives(n0)"));
}

/// Once an object is being deleted it takes no new finalizer, while spec, status and the removal of finalizers are
/// still allowed.
#[test]
fn a10_a_deleting_object_takes_changes_but_no_new_finalizer() {
    let mut cluster = terminating();
    let (held, stored) = (newest(&cluster), cluster.cr());
    assert_eq!(cluster.world.put(A, held, DataUpload { cancel: true, ..stored }), Answer::Written);
    let (held, stored) = (newest(&cluster), cluster.cr());
    assert_eq!(cluster.world.put(A, held, DataUpload { phase: Phase::Canceled, ..stored }), Answer::Written);
    assert!(cluster.cr().cancel && cluster.cr().phase == Phase::Canceled && cluster.cr().deleting);
    let (held, stored) = (newest(&cluster), cluster.cr());
    assert_eq!(cluster.world.put(A, held, DataUpload { finalizer: false, ..stored }), Answer::Removing);

    // No run comes here: Velero's finalizer is the only one in the model, and an object without it would be gone.
    let mut cluster = terminating();
    let stored = DataUpload { finalizer: false, ..cluster.cr() };
    cluster.world.store(A, stored);
    let before = cluster.world;
    let held = newest(&cluster);
    let finalized = DataUpload { finalizer: true, ..stored };
    assert_eq!(cluster.world.put(A, held, finalized), Answer::Refused);
    assert_eq!(cluster.world.put(A, Held { current: false, ..held }, finalized), Answer::Conflict);
    assert_eq!(cluster.world, before);
}

/// The PUT that drops the last finalizer of a deleting object removes it: first a check, then a delete that does not
/// ask for the version. What others write in between is lost, the writer waits for its answer, and watchers never see
/// the object without its finalizer.
#[test]
fn a11_dropping_the_last_finalizer_removes_the_object_and_what_was_written_meanwhile() {
    let mut cluster = about_to_go();
    cluster.goes("worker::drops_finalizer(n0, a)");
    assert!(cluster.cr().exists && cluster.cr().finalizer, "checked, and not deleted yet");
    assert!(cluster.must("api_server::removes(a)"));
    assert_eq!(cluster.agent().worker.attempt, Attempt::Waiting);
    assert!(!cluster.may("cr_watch::receives(n0)"), "watchers see nothing of the check");

    let held = newest(&cluster);
    assert_eq!(cluster.world.touch(A, held), Answer::Written);
    cluster.goes("api_server::removes(a)");
    assert_eq!(cluster.cr(), DataUpload::ABSENT);
    assert!(!cluster.agent().worker.is_busy());

    cluster.goes("cr_watch::receives(n0)    # what was written meanwhile");
    assert!(cluster.known().cr.finalizer);
    cluster.goes("cr_watch::receives(n0)    # the deletion");
    assert_eq!(cluster.known().cr, DataUpload::ABSENT);
    assert!(!cluster.may("cr_watch::receives(n0)"));
}

/// Dropping the finalizer of an object that is not being deleted is an update like any other.
#[test]
fn a12_dropping_the_finalizer_of_an_object_that_is_not_deleted_is_an_ordinary_update() {
    let mut cluster = Cluster::new(1, 1, &[(D::StripFinalizer, 1)]);
    cluster.goes(N0_ADDS_THE_FINALIZER);
    let (held, stored) = (newest(&cluster), cluster.cr());
    let mut other = cluster.world;
    let stripped = DataUpload { finalizer: false, ..stored };
    assert_eq!(other.put(A, held, stripped), Answer::Written);
    assert_eq!(other.tasks[A].cr, stripped);

    cluster.goes("user::strips_finalizer(a)").goes("cr_watch::receives(n0)").goes("cr_watch::receives(n0)");
    assert_eq!(cluster.cr(), stripped);
    assert_eq!(cluster.known().cr, stripped);
    assert!(!cluster.may("api_server::removes(a)"));
}

/// A name is taken until its object is gone, also while that is being deleted; a new object starts from nothing.
#[test]
fn a13_a_name_can_be_created_again_only_once_its_object_is_gone() {
    let mut cluster = about_to_go();
    cluster.world.shared.budget.allow_creation(A);
    assert!(!cluster.may("velero_server::creates(a)"));
    cluster.goes("worker::drops_finalizer(n0, a)");
    assert!(!cluster.may("velero_server::creates(a)"));
    cluster.goes("api_server::removes(a)").goes("velero_server::creates(a)");
    assert_eq!(cluster.cr(), DataUpload { exists: true, ..DataUpload::ABSENT });
}

/// Nobody elects a leader among the node-agents: all of them try, and the version lets one of them win.
#[test]
fn a14_node_agents_race_and_the_first_write_wins() {
    let mut cluster = Cluster::new(2, 1, &[]);
    cluster.goes(N0_ADDS_THE_FINALIZER).goes(N0_READS_IT_AGAIN).goes(
        "
        cr_watch::receives(n1)
        cr_watch::receives(n1)
        cr_watch::enqueues(n1)
        worker::reads(n1, a)
        ",
    );
    for n in [N0, N1] {
        let worker = cluster.world.nodes[n].worker;
        assert!(worker.plan.first() == Op::Accept && worker.held.current);
    }
    cluster.goes("worker::accepts(n1, a)");
    assert_eq!(cluster.cr().phase, Phase::Accepted);
    let after = cluster.cr();
    cluster.goes("worker::accepts(n0, a)");
    assert_eq!(cluster.cr(), after);
    assert!(!cluster.world.nodes[N0].worker.is_busy(), "who loses exposes nothing");
    assert_eq!(cluster.world.nodes[N1].worker.plan.first(), Op::Expose);
}
