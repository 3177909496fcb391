//! A plain breadth-first count of every reachable world of a small scope.
//!
//! That it ends at all is the proof that worlds recur: nothing in a world grows without bound. The numbers pin the size
//! of the model; a change of one is a change of what is modelled, and its commit says which.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use vgdp_sim::designs::Upstream;
use vgdp_sim::invariants::{INVARIANTS, Kind};
use vgdp_sim::model::rules::Enabled;
use vgdp_sim::model::world::World;
use vgdp_sim::scenario::Scenario;

#[path = "support/start.rs"]
mod start;

use start::start;

/// What there is in a scope.
#[derive(Debug, PartialEq, Eq)]
struct Count {
    /// Worlds, told apart by 64 bits of a hash: the odds that two share them are below one in 10^6 here.
    worlds: usize,
    /// Actions out of them.
    actions: u64,
    /// Invariants that must hold at a step or at rest, and do not.
    broken: Vec<&'static str>,
}

fn fingerprint(world: &World) -> u64 {
    let mut hasher = DefaultHasher::new();
    world.bytes().hash(&mut hasher);
    hasher.finish()
}

fn count(scenario: &Scenario) -> Count {
    let (setup, start) = start(scenario, &Upstream);
    let mut seen = HashSet::from([fingerprint(&start)]);
    let mut level = vec![start];
    let mut actions = 0;
    let mut broken = HashSet::new();
    let mut enabled = Enabled::default();
    while !level.is_empty() {
        let mut next = Vec::new();
        for was in &mut level {
            was.enabled(&setup, &mut enabled);
            for it in INVARIANTS {
                if let Kind::AtRest(breaks) = it.broken
                    && enabled.is_at_rest()
                    && was.task_ids().any(|t| breaks(was, &setup, t))
                {
                    broken.insert(it.id);
                }
            }
            for &action in enabled.iter() {
                actions += 1;
                let mut is = *was;
                assert!(is.fire(&setup, action));
                for it in INVARIANTS {
                    if let Kind::Step(breaks) = it.broken
                        && was.task_ids().any(|t| breaks(was, action, &is, t))
                    {
                        broken.insert(it.id);
                    }
                }
                if seen.insert(fingerprint(&is)) {
                    next.push(is);
                }
            }
        }
        level = next;
    }
    let mut broken: Vec<&str> = broken.into_iter().collect();
    broken.sort_unstable();
    Count { worlds: seen.len(), actions, broken }
}

/// A scope in its smallest form: caches and enqueue-only listeners move in one step, and no progress is reported.
fn small(name: &str, nodes: u8, tasks: u8) -> Scenario {
    Scenario { merges_enqueue: true, reports_progress: false, ..Scenario::named(name).unwrap().scope(nodes, tasks) }
}

#[test]
fn normal_with_one_node() {
    let broken = vec!["orphan-watcher", "phase-regresses"];
    assert_eq!(count(&small("normal", 1, 1)), Count { worlds: 123_480, actions: 531_233, broken });
}

#[test]
fn cancel_with_one_node() {
    let broken = vec!["cancel-unheard", "crash", "orphan-watcher", "phase-regresses", "slot-leak"];
    assert_eq!(count(&small("cancel", 1, 1)), Count { worlds: 1_003_326, actions: 4_955_185, broken });
}

#[test]
fn normal_with_two_nodes() {
    let broken = vec!["orphan-objects", "orphan-pod", "orphan-process", "orphan-watcher", "phase-regresses"];
    assert_eq!(count(&small("normal", 2, 1)), Count { worlds: 3_100_536, actions: 17_602_960, broken });
}

/// Minutes and gigabytes: `cargo test --release --test breadth_first -- --ignored`. What dominates is the cancel, which
/// may fall anywhere into the normal run (3,100,536 worlds) and then meets every age of the forced cancel's clock on both nodes.
#[test]
#[ignore = "takes minutes and gigabytes"]
fn cancel_with_two_nodes() {
    let broken = vec![
        "cancel-unheard",
        "crash",
        "orphan-objects",
        "orphan-pod",
        "orphan-process",
        "orphan-watcher",
        "phase-regresses",
        "slot-leak",
        "stranger-acts",
    ];
    assert_eq!(count(&small("cancel", 2, 1)), Count { worlds: 67_572_686, actions: 426_676_483, broken });
}

/// What moves in one step to save worlds changes no verdict.
#[test]
fn merging_the_enqueue_changes_no_verdict() {
    let merged = small("cancel", 1, 1);
    let apart = Scenario { merges_enqueue: false, ..merged.clone() };
    let (merged, apart) = (count(&merged), count(&apart));
    assert_eq!(merged.broken, apart.broken);
    assert!(merged.worlds < apart.worlds, "{} worlds merged, {} apart", merged.worlds, apart.worlds);
}
