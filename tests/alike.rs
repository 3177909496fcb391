//! How many of the worlds of a scope can be told apart by what may still happen.
//!
//! Two worlds are alike where the same actions may be taken, over the same times, break the same, and lead to worlds that
//! are alike. What tells such worlds apart cannot matter any more. Where there are many of them, something can be
//! forgotten that is not, and every search has that many worlds less once it is; where a change leaves fewer that can be
//! told apart, it has forgotten something that mattered.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use vgdp_sim::designs::Upstream;
use vgdp_sim::invariants::{INVARIANTS, Kind};
use vgdp_sim::model::rules::{Action, Enabled, Setup};
use vgdp_sim::model::world::World;
use vgdp_sim::scenario::Scenario;

#[path = "support/start.rs"]
mod start;

use start::start;

/// The worlds of a scope, by number.
struct Graph {
    /// 64 bits of what can be seen of each.
    looks: Vec<u64>,
    /// For each, 64 bits of each action and of what is seen of it, and to which world it leads.
    edges: Vec<Vec<(u64, u32)>>,
}

impl Graph {
    fn of(scenario: &Scenario) -> Graph {
        let (setup, start) = start(scenario, &Upstream);
        let mut numbers = HashMap::from([(bits(start.bytes()), 0)]);
        let mut open = VecDeque::from([start]);
        let mut graph = Graph { looks: Vec::new(), edges: Vec::new() };
        let mut enabled = Enabled::default();
        while let Some(mut was) = open.pop_front() {
            was.enabled(&setup, &mut enabled);
            graph.looks.push(look(&was, &setup, &enabled));
            let edges = enabled.iter().map(|&action| {
                let mut is = was;
                let seconds = is.seconds_of(&setup, action);
                assert!(is.fire(&setup, action));
                let new = numbers.len() as u32;
                let number = *numbers.entry(bits(is.bytes())).or_insert_with(|| {
                    open.push_back(is);
                    new
                });
                (bits((action, seconds, broken(&was, action, &is))), number)
            });
            graph.edges.push(edges.collect());
        }
        graph
    }

    /// How many of them can be told apart: at first by how they look, then by where they lead, for as long as that
    /// tells more apart.
    fn classes(&self) -> usize {
        let mut classes = numbered(self.looks.iter().copied());
        loop {
            let finer = numbered(self.edges.iter().zip(&classes.0).map(|(edges, class)| {
                let mut ahead: Vec<(u64, u32)> =
                    edges.iter().map(|&(seen, to)| (seen, classes.0[to as usize])).collect();
                ahead.sort_unstable();
                bits((class, ahead))
            }));
            if finer.1 == classes.1 {
                return finer.1;
            }
            classes = finer;
        }
    }
}

/// Equal things get equal numbers; also how many numbers there are.
fn numbered(things: impl Iterator<Item = u64>) -> (Vec<u32>, usize) {
    let mut numbers = HashMap::new();
    let all = things.map(|it| {
        let new = numbers.len() as u32;
        *numbers.entry(it).or_insert(new)
    });
    (all.collect(), numbers.len())
}

/// Whether it is at rest, and what fails to hold that must hold there or within a time.
fn look(world: &World, setup: &Setup<'_>, enabled: &Enabled) -> u64 {
    let is_at_rest = enabled.is_at_rest();
    let broken = INVARIANTS.iter().map(|it| match it.broken {
        Kind::Within(_, broken) => world.task_ids().any(|t| broken(world, setup, t)),
        Kind::AtRest(broken) => is_at_rest && world.task_ids().any(|t| broken(world, setup, t)),
        Kind::Step(_) => false,
    });
    bits((is_at_rest, broken.collect::<Vec<bool>>()))
}

/// What must hold over a step and does not.
fn broken(was: &World, action: Action, is: &World) -> Vec<bool> {
    let broken = INVARIANTS.iter().map(|it| match it.broken {
        Kind::Step(broken) => is.task_ids().any(|t| broken(was, action, is, t)),
        _ => false,
    });
    broken.collect()
}

fn bits(it: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    it.hash(&mut hasher);
    hasher.finish()
}

/// Worlds at price 0, and how many of them can be told apart.
fn alike(scenario: Scenario) -> (usize, usize) {
    let graph = Graph::of(&Scenario { price: 0, ..scenario.scope(1, 1) });
    (graph.looks.len(), graph.classes())
}

#[test]
fn what_tells_worlds_apart_but_cannot_matter() {
    let normal = Scenario::named("normal").unwrap();
    assert_eq!(alike(normal.small()), (123_480, 69_151));
}

/// Under a minute and two gigabytes: `cargo test --release --test alike -- --ignored`.
#[test]
#[ignore = "takes two gigabytes"]
fn what_tells_worlds_apart_but_cannot_matter_in_larger_scopes() {
    let named = |name| Scenario::named(name).unwrap();
    assert_eq!(alike(named("cancel").small()), (1_003_326, 365_200));
    assert_eq!(alike(named("normal")), (3_162_910, 956_618));
}

/// By where they lead, and not by where they stand.
#[test]
fn worlds_that_look_alike_are_told_apart_by_where_they_lead() {
    let graph = Graph { looks: vec![0, 0, 0, 1], edges: vec![vec![(7, 1)], vec![(7, 3)], vec![(8, 3)], vec![]] };
    assert_eq!(graph.classes(), 4);
    let graph = Graph { looks: vec![0, 0, 0, 1], edges: vec![vec![(7, 3)], vec![(7, 3)], vec![(7, 3)], vec![]] };
    assert_eq!(graph.classes(), 2);
}
