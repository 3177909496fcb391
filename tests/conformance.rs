//! Kubernetes as the model has it: one test for each rule of the semantics that it honours.
//!
//! The rules are numbered by area: A custom resources, B pods, C the kubelet, D watches, E informers, F controllers.
//! They were read from the sources of Kubernetes v0.36 and of controller-runtime v0.24. A test is named after its rule
//! and after what is so; where it says nothing else it starts from the empty cluster and takes steps that a run could
//! take.
//!
//! | rule | who says so, or why the model has no such thing |
//! |---|---|
//! | A1 | `a1_every_change_of_an_object_outdates_the_copies_of_it` |
//! | A2 | `a2_a_put_of_an_outdated_copy_conflicts_and_writes_nothing`; each PUT of the model names a version |
//! | A3 | `a3_a_put_that_changes_nothing_makes_no_version_and_no_event` |
//! | A4 | `a4_a_put_on_a_missing_name_is_refused`; the version stands for the UID |
//! | A5 | `a5_a_status_write_conflicts_with_an_earlier_change_of_the_spec`; nothing in Velero reads the generation |
//! | A6 | left out: the custom resources of Velero have no status subresource |
//! | A7 | left out: nothing in Velero deletes with a precondition |
//! | A8 | `a8_a_delete_of_an_object_with_a_finalizer_only_marks_it` |
//! | A9 | `a9_a_delete_of_an_object_without_a_finalizer_removes_it_at_once` |
//! | A10 | `a10_a_deleting_object_takes_changes_but_no_new_finalizer` |
//! | A11 | `a11_dropping_the_last_finalizer_removes_the_object_and_what_was_written_meanwhile` |
//! | A12 | `a12_dropping_the_finalizer_of_an_object_that_is_not_deleted_is_an_ordinary_update` |
//! | A13 | `a13_a_name_can_be_created_again_only_once_its_object_is_gone`; no scenario uses a name twice |
//! | A14 | `a14_node_agents_race_and_the_first_write_wins` |
//! | B1 | `b1_the_grace_is_the_pods_own_unless_it_is_unbound_or_has_ended` |
//! | B2 | `b2_a_deleted_pod_is_seen_modified_and_then_gone` |
//! | B3 | `b3_a_second_deletion_with_the_same_grace_changes_nothing`; nobody sends a shorter one |
//! | B4 | `b4_any_delete_takes_a_pod_away_at_once` |
//! | B5 | left out: nobody but the kubelet writes to a pod, and only its status |
//! | B6 | `b6_the_garbage_collector_follows_the_owner_in_its_time`; no name is used twice, so no UID is compared |
//! | B7 | `b7_an_owner_held_by_its_finalizer_is_not_gone` |
//! | B8 | left out: an eviction by taint is a delete like any other (B1, B4) |
//! | B9 | left out: no node is lost, so no pod waits for the collection of pods |
//! | B10 | `b10_an_evicted_pod_fails_and_stays` |
//! | B11 | left out: a drain is a delete like any other (B1, B4) |
//! | B12 | `b12_a_process_outlives_its_pod_object` |
//! | C1 | `c1_sigkill_follows_sigterm_after_the_grace_and_two_seconds_at_least` |
//! | C2 | `c2_a_terminal_phase_says_how_the_process_ended_and_is_never_left` |
//! | C3 | `c3_a_pod_that_is_deleted_with_a_grace_ends_before_it_goes` |
//! | C4 | `c4_the_kubelet_tells_the_newest_state_within_ten_seconds_and_only_to_a_pod_that_is_there` |
//! | C5 | `c5_the_kubelet_removes_a_deleted_pod_once_its_end_is_told`; a container that the kubelet lost is left out |
//! | C6 | `c6_a_container_that_cannot_be_killed_runs_on_unknown_to_velero` |
//! | C7 | `c7_a_killed_process_leaves_no_message_so_its_cancel_is_taken_for_a_failure`; memory itself is left out |
//! | C8 | `c8_the_last_words_of_a_process_are_lost_with_its_pod_object`; the size of a message is left out |
//! | C9 | left out: no node is lost; a stalled kubelet and a deleted pod are what Velero would see of it |
//! | C10 | `c10_events_keep_no_order_with_the_status_and_may_be_lost`; aggregation is left out |
//! | D1 | `d1_a_watch_delivers_each_change_in_order_but_keeps_no_order_between_types` |
//! | D2 | left out: a resume below the window looks like any other break that lists again (D7) |
//! | D3 | left out: a restarted API server looks like any other break that lists again (D7) |
//! | D4 | left out: a resume without loss looks like a stalled watch |
//! | D5 | left out: bookmarks only matter to a resume |
//! | D6 | left out: nothing restarts, and no list is older than the one before it |
//! | D7 | `d7_a_broken_watch_lists_again_and_misses_what_lay_between`; a break that resumes looks like a stalled watch |
//! | D8 | `d8_a_node_agent_first_hears_of_a_pod_when_it_is_bound_to_its_node` |
//! | E1 | `e1_a_store_shows_a_subsequence_of_what_was_true` |
//! | E2 | `e2_a_new_object_of_the_same_name_shows_as_an_update_of_the_old_one`; no scenario uses a name twice |
//! | E3 | `e3_each_event_is_a_notification_of_its_own` |
//! | E4 | `e4_a_relist_swaps_the_store_at_once_and_leaves_tombstones` |
//! | E5 | `e5_a_handler_may_hold_an_old_notification_while_the_store_is_newer`; batches are single events |
//! | E6 | `e6_the_store_moves_first_and_each_listener_is_told_in_its_own_time` |
//! | E7 | `e7_a_removed_handler_discards_what_was_waiting_for_it` |
//! | E8 | `e8_a_late_handler_hears_of_what_is_there_as_an_addition` |
//! | E9 | `e9_a_relist_shows_what_has_not_changed_as_an_update`; no run is as long as a resync period |
//! | E10 | `e10_a_panic_in_a_handler_ends_the_process` |
//! | F1 | `f1_reads_come_from_the_cache_even_after_a_write_of_ones_own` |
//! | F2 | `f2_a_key_is_queued_once_and_comes_back_for_what_happened_meanwhile` |
//! | F3 | `f3_priorities_are_raised_and_an_event_replaces_a_delay` |
//! | F4 | `f4_each_controller_has_one_worker` |
//! | F5 | `f5_errors_back_off_and_all_else_forgets_them` |
//! | F6 | left out: `Reconcile` returns no terminal error and does not panic |
//! | F7 | `f7_the_mapping_writes_in_its_listener_and_holds_up_only_that` |
//! | F8 | left out: upstream's controller acts on no deletion but to enqueue its key; who does is told by client-go (E4) |
//! | F9 | `f9_nothing_resyncs_but_some_uploads_are_enqueued_once_a_minute` |
//! | F10 | left out: nothing starts or stops but movers, whose informers list late (E8) |
//! | F11 | left out: Velero does not use it |

#[path = "conformance/cluster.rs"]
mod cluster;
#[path = "conformance/controllers.rs"]
mod controllers;
#[path = "conformance/custom_resources.rs"]
mod custom_resources;
#[path = "conformance/informers.rs"]
mod informers;
#[path = "conformance/kubelets.rs"]
mod kubelets;
#[path = "conformance/pods.rs"]
mod pods;
#[path = "conformance/watches.rs"]
mod watches;

use std::collections::BTreeSet;

/// How many rules each area has.
const RULES: [(char, usize); 6] = [('A', 14), ('B', 12), ('C', 10), ('D', 8), ('E', 10), ('F', 11)];

const SOURCES: [&str; 6] = [
    include_str!("conformance/custom_resources.rs"),
    include_str!("conformance/pods.rs"),
    include_str!("conformance/kubelets.rs"),
    include_str!("conformance/watches.rs"),
    include_str!("conformance/informers.rs"),
    include_str!("conformance/controllers.rs"),
];

/// The rows of the table above: a rule, and what is said of it.
fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    include_str!("conformance.rs")
        .lines()
        .filter_map(|line| line.strip_prefix("//! | ")?.strip_suffix(" |")?.split_once(" | "))
        .skip(1)
}

/// The table has each rule once and in order.
#[test]
fn the_table_has_each_rule_once() {
    let named: Vec<_> = rows().map(|(rule, _)| rule.to_owned()).collect();
    let all: Vec<_> =
        RULES.iter().flat_map(|&(area, count)| (1..=count).map(move |number| format!("{area}{number}"))).collect();
    assert_eq!(named, all);
}

/// A rule is left out for a reason or has one test, which is named after it; each test stands in the table.
#[test]
fn each_rule_is_tested_or_left_out() {
    let mut tested = BTreeSet::new();
    for (rule, said) in rows() {
        let prefix = format!("{}_", rule.to_lowercase());
        let tests: Vec<_> = said.split('`').skip(1).step_by(2).filter(|it| it.starts_with(&prefix)).collect();
        assert_eq!(tests.len(), usize::from(!said.starts_with("left out: ")), "{rule}: {said}");
        tested.extend(tests);
    }
    let written: BTreeSet<_> = SOURCES
        .iter()
        .flat_map(|it| it.split("#[test]\nfn ").skip(1))
        .filter_map(|it| it.split_once('(').map(|(name, _)| name))
        .collect();
    assert_eq!(tested, written);
}
