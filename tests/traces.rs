//! The reference traces: what a faithful model must be able to do, as transcripts.
//!
//! First what upstream's design intends, then the known races. The comment above a test is its story; the outcome
//! says what the story costs and which invariants it breaks. How to read a transcript is said in [`support`].

mod support;

use support::{Outcome, breaks, check, holds, scope};

// What is intended.

/// An upload runs from its creation to its end, and nobody interferes.
#[test]
fn an_upload_completes() {
    check(
        &scope(2, 1),
        "
        = a is New
        ... until worker::adds_finalizer(n0, a)
        = a is New, finalizer
        ... until worker::accepts(n0, a)
        = a is Accepted, finalizer
        ... until worker::accepts(n1, a)           # loses: its copy is no longer current
        ... until worker::exposes(n0, a)
        ... until worker::creates_pod(n0, a)
        = pod a is Pending
        ... until kube_scheduler::binds(n0, a)
        = pod a is Pending on n0
        ... until kubelet::starts_container(a)
        ... until kubelet::reports_running(a)
        = pod a is Running on n0
        ... until pod_events::marks_prepared(n0, a)
        = a is Prepared, finalizer, owner n0

        ... until worker::finds_pod(n0, a)
        ... until worker::awaits_volume(n0, a)
        = n0 holds no slot
        ... until worker::takes_slot(n0, a)
        = n0 holds a slot for a
        ... until worker::registers_handlers(n0, a)
        ... until worker::reads_pod(n0, a)
        = data_mover::polls(a) may not happen      # it waits for InProgress
        ... until worker::marks_in_progress(n0, a)
        = a is InProgress, finalizer, owner n0
        ... until worker::starts_watcher(n0, a)
        = watcher a is Watching

        ... until data_mover::polls(a)
        ... until data_mover::creates_data_path(a)
        ... until data_mover::begins_opening(a)    # the repository
        ... until data_mover::starts_transfer(a)
        = transfer a is Running
        data_mover::records_started(a)
        data_mover::transfer_reports_progress(a)
        data_mover::transfer_ends_completed(a)
        = transfer a is Sending
        data_mover::receives_result(a)
        data_mover::records_stopped(a)
        data_mover::writes_event(a)                # Started
        ... until watcher::hears_event(n0, a)
        ... until watcher::hears_event(n0, a)      # Progress
        ... until callback::reports_progress(n0, a)
        ... until watcher::hears_event(n0, a)      # Stopped
        ... until data_mover::exits(a)
        = mover a is ended, Completed
        ... until kubelet::reports_exit(a)
        = pod a is Succeeded on n0
        = a is InProgress, finalizer, owner n0

        ... until watcher::hears_pod(n0, a)
        = watcher a is Reporting                   # nothing to wait for: it has seen Started and Stopped
        ... until callback::reports_progress(n0, a)
        ... until callback::deletes_pod(n0, a)
        = pod a is Absent
        ... until callback::cleans_up(n0, a)
        ... until callback::marks_completed(n0, a)
        = a is Completed, finalizer, owner n0
        = n0 holds a slot for a
        ... until callback::releases_slot(n0, a)
        = n0 holds no slot
        ... to rest
        = a is Completed, owner n0
        = watcher a is None
        ",
        &holds(0),
    );
}

/// How a running upload comes to be cancelled, up to where its transfer has to say how it ended.
const CANCELLED_WHILE_RUNNING: &str = "
    ... until data_mover::starts_transfer(a)
    data_mover::records_started(a)
    data_mover::transfer_ends_*(a) waits
    ... until watcher::hears_event(n0, a)          # Started
    user::cancels(a)
    = a is InProgress, cancel, finalizer, owner n0
    data_mover::hears(a)                           # the edge
    ... until worker::marks_canceling(n0, a)
    = a is Canceling, cancel, finalizer, owner n0
    data_mover::transfer_ends_*(a) goes on
    ";

/// The user cancels a running upload, the mover hears it, and the upload is Canceled.
#[test]
fn a_running_upload_is_canceled() {
    let end = "
        data_mover::transfer_ends_canceled(a)
        ... until data_mover::exits(a)
        = mover a is ended, Canceled
        ... until kubelet::reports_exit(a)
        = pod a is Failed on n0
        ... until watcher::hears_pod(n0, a)
        ... until callback::deletes_pod(n0, a)
        ... until callback::cleans_up(n0, a)
        ... until callback::marks_canceled(n0, a)
        = n0 holds a slot for a
        ... until callback::releases_slot(n0, a)
        ... until worker::drops_finalizer(n0, a)
        ... to rest
        = a is Canceled, cancel, owner n0
        = n0 holds no slot
        ";
    check(&scope(2, 1), &[CANCELLED_WHILE_RUNNING, end].concat(), &holds(0));
}

/// The cancel comes too late: the transfer was done before it heeded it, and the guards accept Completed.
#[test]
fn a_cancelled_upload_may_complete() {
    let end = "
        data_mover::transfer_ends_completed(a)
        ... until kubelet::reports_exit(a)
        = pod a is Succeeded on n0
        ... to rest
        = a is Completed, cancel, owner n0
        = n0 holds no slot
        ";
    check(&scope(2, 1), &[CANCELLED_WHILE_RUNNING, end].concat(), &holds(0));
}

/// The cancel surfaces in the uploader as an error that is not the cancel error, and the guards accept Failed.
#[test]
fn a_cancelled_upload_may_fail() {
    let end = "
        data_mover::transfer_ends_failed(a)
        ... until data_mover::exits(a)
        = mover a is ended, Failed
        ... until callback::marks_failed(n0, a)
        ... to rest
        = a is Failed, cancel, owner n0
        = n0 holds no slot
        ";
    check(&scope(2, 1), &[CANCELLED_WHILE_RUNNING, end].concat(), &holds(0));
}

/// An upload that nobody has accepted is cancelled by whichever node-agent comes first.
#[test]
fn a_cancel_in_new_is_forced_by_any_node() {
    check(
        &scope(2, 1),
        "
        worker::reads(n0, a) waits
        user::cancels(a)
        ... until worker::adds_finalizer(n1, a)
        = a is New, cancel, finalizer
        ... 0 s until worker::forces_cancel(n1, a)
        = a is Canceled, cancel, finalizer
        worker::reads(n0, a) goes on
        ... to rest
        = a is Canceled, cancel
        = pod a is Absent
        ",
        &holds(0),
    );
}

/// A cancel that comes while the pod is being prepared changes nothing for five minutes; then it is forced.
#[test]
fn a_cancel_in_accepted_waits_for_five_minutes() {
    check(
        &scope(2, 1),
        "
        kubelet::starts_container(a) waits
        ... until kube_scheduler::binds(n0, a)
        user::cancels(a)
        ... 300 s until worker::forces_cancel(n0, a)
        = a is Canceled, cancel, finalizer
        = pod a is Pending on n0                   # the phase first, the clean-up after
        ... until worker::deletes_pod(n0, a)
        kubelet::starts_container(a) goes on
        ... to rest
        = a is Canceled, cancel
        = mover a is not started
        ",
        &holds(0),
    );
}

/// A cancel that comes while the pod is being prepared is acted on as soon as the pod runs.
#[test]
fn a_cancel_in_accepted_takes_effect_in_prepared() {
    check(
        &scope(2, 1),
        "
        ... until kube_scheduler::binds(n0, a)
        user::cancels(a)
        ... until pod_events::marks_prepared(n0, a)
        = a is Prepared, cancel, finalizer, owner n0
        ... until worker::reads_cr(n0, a)          # the callback, in the worker
        = n0 holds no slot
        ... until worker::deletes_pod(n0, a)
        ... until worker::marks_canceled(n0, a)
        = a is Canceled, cancel, finalizer, owner n0
        ... to rest
        = a is Canceled, cancel, owner n0
        = mover a is ended, Failed                 # SIGTERM ended its poll
        ",
        &holds(0),
    );
}

/// A cancel that the owner sees before it has started the upload is carried out by its worker, without a watcher.
#[test]
fn a_cancel_in_prepared_is_carried_out_by_the_worker() {
    check(
        &scope(2, 1),
        "
        ... until pod_events::marks_prepared(n0, a)
        user::cancels(a)
        ... until worker::reads_cr(n0, a)
        = a is Prepared, cancel, finalizer, owner n0
        ... until worker::deletes_pod(n0, a)
        ... until worker::cleans_up(n0, a)
        ... until worker::marks_canceled(n0, a)
        ... until worker::releases_slot(n0, a)     # there was none
        ... to rest
        = a is Canceled, cancel, owner n0
        = n0 holds no slot
        ",
        &holds(0),
    );
}

/// The deletion of a running upload becomes a cancel; once that is done the finalizer goes, and the object with it.
#[test]
fn a_deleted_upload_is_canceled_and_goes() {
    check(
        &scope(2, 1),
        "
        ... until data_mover::starts_transfer(a)
        data_mover::transfer_ends_*(a) waits
        user::deletes(a)
        = a is InProgress, deleting, finalizer, owner n0
        ... until worker::sets_cancel(n0, a)
        = a is InProgress, cancel, deleting, finalizer, owner n0
        data_mover::hears(a)
        ... until worker::marks_canceling(n0, a)
        data_mover::transfer_ends_canceled(a)
        data_mover::transfer_ends_*(a) goes on
        ... until callback::marks_canceled(n0, a)
        = a is Canceled, cancel, deleting, finalizer, owner n0
        ... until worker::drops_finalizer(n0, a)
        ... until api_server::removes(a)
        = a is gone
        ... to rest
        = pod a is Absent
        = n0 holds no slot
        ",
        &holds(1),
    );
}

/// A container that does not start within half an hour fails its upload.
#[test]
fn a_prepare_that_takes_too_long_fails() {
    check(
        &scope(2, 1),
        "
        ... until worker::accepts(n0, a)
        kubelet::starts_container(a) waits
        ... 1800 s until worker::times_out_prepare(n0, a)
        = a is Failed, finalizer
        ... until worker::deletes_pod(n0, a)
        kubelet::starts_container(a) goes on
        ... to rest
        = a is Failed
        ",
        &holds(0),
    );
}

/// Two uploads, one slot: the second asks again within five seconds of the first one's end, and gets it.
#[test]
fn the_second_upload_waits_for_the_slot() {
    check(
        &scope(1, 2),
        "
        data_mover::transfer_ends_*(a) waits
        work_queue::falls_due(n0, b) waits
        ... until worker::takes_slot(n0, b)
        = n0 holds a slot for a
        = b is Prepared, finalizer, owner n0
        data_mover::transfer_ends_*(a) goes on
        ... until callback::releases_slot(n0, a)
        = n0 holds no slot
        ... 5 s until clock::passes                # the requeue is due now, and not before
        = clock::passes may not happen
        work_queue::falls_due(n0, b) goes on
        ... until worker::takes_slot(n0, b)
        = n0 holds a slot for b
        ... to rest
        = a is Completed, owner n0
        = b is Completed, owner n0
        ",
        &holds(0),
    );
}

/// The kubelet evicts the pod of a running upload. Its mover gives up at once but does not get out in its 2 s; only
/// when it has been killed does the pod say Failed. The watcher sees that, and the upload fails.
#[test]
fn an_evicted_mover_fails_its_upload() {
    check(
        &scope(2, 1),
        "
        ... until data_mover::starts_transfer(a)
        data_mover::transfer_ends_*(a) waits
        pod_fault::evicts(a)
        ... until kubelet::terminates(a)
        ... until data_mover::stops_on_signal(a)
        ... 2 s until kubelet::kills(a)
        = mover a is ended, Killed
        = pod a is Running on n0                   # the kubelet says so only now
        data_mover::transfer_ends_*(a) goes on
        ... until kubelet::reports_exit(a)
        = pod a is Failed on n0
        = pod a says Evicted
        ... until watcher::hears_pod(n0, a)
        = a is InProgress, finalizer, owner n0
        ... until callback::marks_failed(n0, a)
        = n0 holds a slot for a
        ... until callback::releases_slot(n0, a)
        ... to rest
        = a is Failed, owner n0
        = n0 holds no slot
        ",
        &holds(1),
    );
}

/// The transfer of an evicted mover heeds its SIGTERM before main does: the mover's last word is the cancel text, and
/// an upload that nobody cancelled ends Canceled.
#[test]
fn an_evicted_mover_may_cancel_its_upload() {
    check(
        &scope(2, 1),
        "
        ... until data_mover::starts_transfer(a)
        data_mover::records_started(a)
        data_mover::transfer_ends_*(a) waits
        = data_mover::transfer_ends_canceled(a) may not happen
        pod_fault::evicts(a)
        kubelet::terminates(a)
        data_mover::transfer_ends_canceled(a)
        data_mover::receives_result(a)
        data_mover::transfer_ends_*(a) goes on
        ... 0 s until data_mover::exits(a)
        = mover a is ended, Canceled
        ... until kubelet::reports_exit(a)
        = pod a is Failed on n0
        = pod a says Canceled                      # the kubelet adds no message of its own
        ... until callback::marks_canceled(n0, a)
        = a is Canceled, finalizer, owner n0
        ... to rest
        = a is Canceled, owner n0
        = n0 holds no slot
        ",
        &holds(1),
    );
}

/// The mover of a running upload runs out of memory: it leaves no message and no Stopped, so its watcher waits a minute
/// for that, and the upload fails.
#[test]
fn a_killed_mover_fails_its_upload_after_a_minute() {
    check(
        &scope(2, 1),
        "
        ... until data_mover::starts_transfer(a)
        data_mover::transfer_ends_*(a) waits
        ... until watcher::hears_event(n0, a)      # Started
        pod_fault::kills_mover(a)
        data_mover::transfer_ends_*(a) goes on
        = mover a is ended, Killed
        = pod a is Running on n0
        ... until kubelet::reports_exit(a)
        = pod a is Failed on n0
        = pod a says Killed
        ... until watcher::hears_pod(n0, a)
        = watcher a is Epilog
        ... 60 s until watcher::gives_up_waiting(n0, a)
        = a is InProgress, finalizer, owner n0
        ... until callback::marks_failed(n0, a)
        = n0 holds a slot for a
        ... to rest
        = a is Failed, owner n0
        = n0 holds no slot
        ",
        &holds(1),
    );
}

/// The image of the pod cannot be pulled: its node cancels the upload, and whoever then looks at the pod forces that
/// at once, five minutes or not.
#[test]
fn a_pod_that_cannot_start_cancels_its_upload() {
    check(
        &scope(2, 1),
        "
        ... until kube_scheduler::binds(n0, a)
        worker::peeks(*, a) waits
        pod_fault::spoils_image(a)
        = pod a is Unpullable on n0
        = kubelet::starts_container(a) may not happen
        ... until pod_events::sets_cancel(n0, a)
        = a is Accepted, cancel, finalizer
        worker::peeks(*, a) goes on
        ... 0 s until worker::forces_cancel(n0, a) # a conflict: it had read the upload before that
        = a is Accepted, cancel, finalizer
        ... 0 s until worker::forces_cancel(n0, a)
        = a is Canceled, cancel, finalizer
        = pod a is Unpullable on n0                # the phase first, the clean-up after
        ... until worker::deletes_pod(n0, a)
        ... to rest
        = a is Canceled, cancel
        = pod a is Absent
        = mover a is not started
        = n0 holds no slot
        ",
        &holds(1),
    );
}

/// The pod of a prepared upload is gone before the owner looks for it: the upload fails.
#[test]
fn a_pod_gone_before_its_slot_fails_its_upload() {
    check(
        &scope(2, 1),
        "
        ... until pod_events::marks_prepared(n0, a)
        user::deletes_pod(a)
        pod_watch::receives(n0)                    # modified: it is about to go
        pod_watch::receives(n0)                    # deleted
        ... until worker::finds_pod(n0, a)
        ... until worker::marks_failed(n0, a)
        ... to rest
        = a is Failed, owner n0
        = n0 holds no slot
        ",
        &holds(1),
    );
}

/// The repository cannot be opened: the mover exits without Started or Stopped, so its watcher waits a minute for them.
#[test]
fn a_repository_failure_is_reported_after_a_minute() {
    check(
        &scope(2, 1),
        "
        ... until data_mover::begins_opening(a)
        pod_fault::fails_repository(a)
        ... until watcher::hears_pod(n0, a)
        = mover a is ended, Failed
        = watcher a is Epilog
        ... 60 s until watcher::gives_up_waiting(n0, a)
        ... until callback::marks_failed(n0, a)
        ... to rest
        = a is Failed, owner n0
        = n0 holds no slot
        ",
        &holds(1),
    );
}

// The known races.

/// The slot is lost to a watcher that waits for ever for a pod that is gone; these are broken besides, and no others.
fn leaks(price: u8, besides: &[&'static str]) -> Outcome {
    breaks(price, &[&["orphan-watcher", "slot-late", "slot-leak", "watcher-outlives-pod"], besides].concat())
}

/// HZ-10, HZ-02: the user cancels while the owner starts the upload. The mover saw the edge in Prepared and ignored
/// it, so it transfers on; five minutes later the cancel is forced, which removes the pod without a last word, and
/// the watcher waits for it for ever.
#[test]
fn a_cancel_between_prepared_and_in_progress_leaks_the_slot() {
    check(
        &scope(2, 1),
        "
        ... until worker::takes_slot(n0, a)
        user::cancels(a)
        data_mover::hears(a)                       # Prepared: not for it
        cr_watch::receives(n0) waits
        ... until worker::marks_in_progress(n0, a) # a conflict
        = a is Prepared, cancel, finalizer, owner n0
        cr_watch::receives(n0) goes on
        ... until worker::marks_in_progress(n0, a)
        = a is InProgress, cancel, finalizer, owner n0
        data_mover::polls(a)
        data_mover::hears(a)                       # cancelled before and after: no edge
        data_mover::transfer_ends_*(a) waits
        ... until worker::marks_canceling(n0, a)
        ... until data_mover::starts_transfer(a)
        ... until worker::forces_cancel(n0, a)
        = a is Canceled, cancel, finalizer, owner n0
        = transfer a is Running
        ... until worker::deletes_pod(n0, a)
        ... until kubelet::kills(a)
        data_mover::transfer_ends_*(a) goes on
        ... to rest
        = a is Canceled, cancel, owner n0
        = mover a is ended, Killed
        = watcher a is Watching
        = n0 holds a slot for a
        ",
        &leaks(0, &["cancel-unheard"]),
    );
}

/// HZ-11: the user cancels before the mover's informer has listed. The mover finds the cancel already there, the
/// owner writes Canceling before its first poll, and it polls for `InProgress` until the cancel is forced.
#[test]
fn a_cancel_before_the_mover_has_listed_is_lost() {
    check(
        &scope(2, 1),
        "
        data_mover::lists(a) waits
        data_mover::polls(a) waits
        ... until worker::marks_in_progress(n0, a)
        user::cancels(a)
        ... until worker::marks_canceling(n0, a)
        data_mover::lists(a) goes on
        data_mover::polls(a) goes on
        ... until data_mover::lists(a)             # an addition, which no handler looks at
        = mover a is Polling
        = data_mover::polls(a) may not happen
        ... until worker::forces_cancel(n0, a)
        ... to rest
        = a is Canceled, cancel, owner n0
        = watcher a is Watching
        = n0 holds a slot for a
        ",
        &leaks(0, &["cancel-unheard"]),
    );
}

/// HZ-20: the user cancels while the owner starts the upload, and Canceling outruns the mover's poll, which never
/// sees `InProgress` and goes on for ever.
#[test]
fn canceling_outruns_the_poll() {
    check(
        &scope(2, 1),
        "
        ... until worker::takes_slot(n0, a)
        user::cancels(a)
        data_mover::hears(a)
        data_mover::polls(a) waits
        ... until worker::marks_canceling(n0, a)
        data_mover::polls(a) goes on
        = data_mover::polls(a) may not happen
        ... 300 s until worker::forces_cancel(n0, a)
        = mover a is Polling
        ... to rest
        = mover a is ended, Failed
        = watcher a is Watching
        = n0 holds a slot for a
        ",
        &leaks(0, &["cancel-unheard"]),
    );
}

/// HZ-21: the mover hears of the cancel between `InProgress` and its poll. It records an event about an upload that it
/// does not hold yet and crashes; the upload ends Failed, a minute later, instead of Canceled.
#[test]
fn a_cancel_before_the_poll_crashes_the_mover() {
    check(
        &scope(2, 1),
        "
        data_mover::polls(a) waits
        ... until worker::marks_in_progress(n0, a)
        data_mover::hears(a)                       # InProgress
        user::cancels(a)
        data_mover::hears(a)                       # the edge
        = mover a is ended, Crashed
        data_mover::polls(a) goes on
        ... until watcher::hears_pod(n0, a)
        ... 60 s until watcher::gives_up_waiting(n0, a)
        ... until callback::marks_failed(n0, a)
        ... to rest
        = a is Failed, cancel, owner n0
        = n0 holds no slot
        ",
        &breaks(0, &["crash"]),
    );
}

/// HZ-22: the user cancels between the moment the mover holds its upload and the moment the data path is in its map.
/// The handler reports the cancel itself; main takes that report once the transfer runs and closes the data path; but
/// the transfer has a report of its own, which nobody takes, so neither ever ends.
#[test]
fn a_cancel_before_the_data_path_exists_hangs_the_mover() {
    check(
        &scope(2, 1),
        "
        ... until data_mover::polls(a)
        = mover a is Found
        data_mover::creates_data_path(a) waits
        user::cancels(a)
        ... until data_mover::hears(a)
        = handler a is Sending
        data_mover::creates_data_path(a) goes on
        data_mover::transfer_ends_*(a) waits
        ... until data_mover::starts_transfer(a)
        data_mover::records_started(a)
        data_mover::receives_result(a)
        = handler a is Sent
        ... until data_mover::drains_events(a)
        data_mover::transfer_ends_canceled(a)
        data_mover::transfer_ends_*(a) goes on
        = mover a is Closing
        = transfer a is Sending
        = data_mover::closes_data_path(a) may not happen
        ... until worker::forces_cancel(n0, a)
        = transfer a is Sending
        ... to rest
        = a is Canceled, cancel, owner n0
        = mover a is ended, Killed
        = n0 holds a slot for a
        ",
        &leaks(0, &["send-blocked"]),
    );
}

/// HZ-41: the pod's second Running update is mapped before the cache shows Prepared. Its write conflicts, is tried
/// again, and puts Prepared over `InProgress`; the mover's poll misses `InProgress` and waits for the server's timeout.
#[test]
fn a_late_pod_event_puts_prepared_over_in_progress() {
    check(
        &scope(2, 1),
        "
        kubelet::reports_running(a) waits
        ... until data_mover::lists(a)
        kubelet::reports_running(a)
        ... until pod_events::marks_prepared(n0, a)
        = a is Prepared, finalizer, owner n0
        kubelet::reports_running(a)
        pod_watch::receives(n0)
        pod_events::hears(n0, a)                   # the cache still says Accepted
        pod_events::gets(n0, a)
        pod_events::marks_prepared(n0, a)          # a conflict
        pod_events::gets(n0, a) waits
        data_mover::polls(a) waits
        ... until worker::marks_in_progress(n0, a)
        = a is InProgress, finalizer, owner n0
        ... until worker::starts_watcher(n0, a)
        pod_events::gets(n0, a) goes on
        ... until pod_events::marks_prepared(n0, a)
        = a is Prepared, finalizer, owner n0
        data_mover::polls(a) goes on
        = data_mover::polls(a) may not happen
        ... until velero_server::cancels_operation(a)
        ... until worker::marks_canceled(n0, a)
        ... to rest
        = a is Canceled, cancel, owner n0
        = n0 holds no slot
        = watcher a is Watching                    # for ever
        ",
        &breaks(0, &["orphan-watcher", "phase-regresses", "watcher-outlives-pod"]),
    );
}

/// HZ-01: somebody deletes the pod of a running upload. Its grace is 0, so the object goes without a last word; the
/// watcher, which hears of ends only, waits on, and the upload is `InProgress` until the server gives up after 4 h.
#[test]
fn a_deleted_pod_is_never_noticed() {
    check(
        &scope(2, 1),
        "
        ... until data_mover::starts_transfer(a)
        data_mover::transfer_ends_*(a) waits
        user::deletes_pod(a)
        = pod a is Absent
        ... until kubelet::kills(a)
        data_mover::transfer_ends_*(a) goes on
        ... until velero_server::cancels_operation(a)
        = a is InProgress, cancel, finalizer, owner n0
        ... until worker::marks_canceling(n0, a)
        ... 300 s until worker::forces_cancel(n0, a)
        ... to rest
        = a is Canceled, cancel, owner n0
        = n0 holds a slot for a
        ",
        &leaks(1, &[]),
    );
}

/// HZ-03: somebody deletes a running upload and strips its finalizer. The garbage collector takes the pod before the
/// mover's exit is reported, so the watcher waits for an upload that is gone.
#[test]
fn a_stripped_upload_leaks_the_slot() {
    check(
        &scope(2, 1),
        "
        ... until data_mover::starts_transfer(a)
        data_mover::transfer_ends_*(a) waits
        user::deletes(a)
        ... until worker::marks_canceling(n0, a)
        user::strips_finalizer(a)
        = a is gone
        data_mover::transfer_ends_canceled(a)
        data_mover::transfer_ends_*(a) goes on
        data_mover::exits(a) waits
        ... until garbage_collector::collects(a)
        = pod a is Absent
        data_mover::exits(a) goes on
        ... to rest
        = a is gone
        = mover a is ended, Canceled
        = watcher a is Watching
        = n0 holds a slot for a
        ",
        &leaks(2, &["mistake-costs-slot", "orphan-objects"]),
    );
}

/// The other end of HZ-03: the mover's exit is reported before the garbage collector comes. The callback finds no
/// upload, so it cleans nothing up, but it frees the slot.
#[test]
fn a_stripped_upload_may_free_its_slot() {
    check(
        &scope(2, 1),
        "
        garbage_collector::collects(a) waits
        ... until data_mover::starts_transfer(a)
        data_mover::transfer_ends_*(a) waits
        user::deletes(a)
        ... until worker::marks_canceling(n0, a)
        user::strips_finalizer(a)
        data_mover::transfer_ends_canceled(a)
        data_mover::transfer_ends_*(a) goes on
        ... until watcher::hears_pod(n0, a)
        ... until callback::reads_cr(n0, a)
        = pod a is Failed on n0                    # left to the garbage collector
        ... until callback::releases_slot(n0, a)
        = n0 holds no slot
        garbage_collector::collects(a) goes on
        ... to rest
        = a is gone
        = pod a is Absent
        ",
        &breaks(2, &["orphan-objects"]),
    );
}

/// HZ-05: the node-agent's watch of pods breaks; meanwhile the mover ends and somebody deletes its pod. The relist
/// shows a tombstone, which nobody looks at, and the end of the pod is never seen.
#[test]
fn a_relist_swallows_the_end_of_the_pod() {
    check(
        &scope(2, 1),
        "
        ... until data_mover::starts_transfer(a)
        node_fault::breaks_pod_watch(n0)
        pod_watch::relists(n0) waits
        ... until kubelet::reports_exit(a)
        = pod a is Succeeded on n0
        user::deletes_pod(a)
        pod_watch::relists(n0) goes on
        ... until pod_watch::relists(n0)
        ... until velero_server::cancels_operation(a)
        = a is InProgress, cancel, finalizer, owner n0
        ... to rest
        = a is Canceled, cancel, owner n0
        = mover a is ended, Completed
        = n0 holds a slot for a
        ",
        &leaks(2, &[]),
    );
}

/// HZ-07: the same forced cancel as in HZ-10, but the container cannot be killed: the upload is Canceled and its pod
/// gone, while its process moves data to the end.
#[test]
fn an_unkillable_container_outlives_its_upload() {
    check(
        &scope(2, 1),
        "
        ... until worker::takes_slot(n0, a)
        user::cancels(a)
        data_mover::hears(a)
        data_mover::transfer_ends_*(a) waits
        ... until data_mover::starts_transfer(a)
        pod_fault::makes_unkillable(a)
        ... until worker::forces_cancel(n0, a)
        ... until worker::deletes_pod(n0, a)
        ... until worker::drops_finalizer(n0, a)
        = a is Canceled, cancel, owner n0
        = pod a is Absent
        = transfer a is Running
        = kubelet::terminates(a) may not happen
        = kubelet::kills(a) may not happen
        data_mover::transfer_ends_*(a) goes on
        ... to rest
        = mover a is ended, Completed              # for nobody
        = watcher a is Watching
        = n0 holds a slot for a
        ",
        &leaks(1, &["cancel-unheard"]),
    );
}

/// HZ-25: an upload is deleted and stripped before it was `InProgress`. Its mover does not mind that it is gone and
/// polls on; only the garbage collector ends it.
#[test]
fn a_mover_polls_for_an_upload_that_is_gone() {
    check(
        &scope(2, 1),
        "
        ... until pod_events::marks_prepared(n0, a)
        = mover a is Polling
        user::deletes(a)
        user::strips_finalizer(a)
        = a is gone
        = data_mover::polls(a) may not happen
        ... until garbage_collector::collects(a)
        = mover a is Polling
        ... until data_mover::stops_on_signal(a)
        ... to rest
        = a is gone
        = mover a is ended, Failed
        = n0 holds no slot
        ",
        &breaks(2, &["orphan-objects"]),
    );
}

// A transcript that is wrong is no silent pass.

/// A name that nobody has is an error, not an action that never comes.
#[test]
#[should_panic(expected = "line 1, `worker::acepts(n0, a)`, at 0 s: no action is called `worker::acepts(n0, a)`")]
fn a_misspelt_action_is_pointed_out() {
    check(&scope(1, 1), "worker::acepts(n0, a)", &holds(0));
}

/// An action cannot be taken before it is enabled.
#[test]
#[should_panic(expected = "worker::accepts(n0, a) is not enabled; these are: [")]
fn an_action_out_of_reach_is_pointed_out() {
    check(&scope(1, 1), "worker::accepts(n0, a)", &holds(0));
}

/// Nothing may wait past its deadline without a fault.
#[test]
#[should_panic(expected = "owed, but it waits: [cr_watch::receives(n0)]")]
fn nobody_waits_beyond_an_instant_for_free() {
    check(&scope(1, 1), "cr_watch::receives(n0) waits\n... to rest", &holds(0));
}

/// A fact that does not hold is shown beside those that do.
#[test]
#[should_panic(expected = "\"a is Completed, owner n0\"")]
fn a_false_fact_is_pointed_out() {
    check(&scope(1, 1), "... to rest\n= a is Canceled, owner n0", &holds(0));
}

/// The outcome counts: a story that ends well breaks nothing.
#[test]
#[should_panic(expected = "slot-leak")]
fn a_wrong_outcome_is_pointed_out() {
    check(&scope(1, 1), "... to rest", &breaks(0, &["slot-leak"]));
}
