//! How fast every world is visited, beside stateright on the same model: `cargo bench --bench prove`.
//!
//! Machines are noisy, so what counts are the ratios within one round; the medians of all rounds are printed. The three
//! must count the same worlds. Ours does more: it checks the invariants with a time, looks for livelocks, and keeps the
//! way to every world; of stateright's searches only the breadth-first one does the last.
//!
//! `cargo bench --bench prove -- sizes` prints what there is in the built-in scenarios instead.

use std::time::Instant;

use vgdp_sim::designs::Upstream;
use vgdp_sim::scenario::Scenario;
use vgdp_sim::search::{Bounds, Proof, prove};

#[path = "../tests/support/stateright_model.rs"]
mod stateright_model;

use stateright_model::{By, checked};

const ROUNDS: usize = 3;
/// About five minutes and half a gigabyte at the most.
const MOST_WORLDS: usize = 20_000_000;

fn main() {
    if std::env::args().any(|it| it == "sizes") {
        sizes();
    } else {
        println!(
            "{:<24} {:>12} {:>14} {:>8} {:>8} {:>8} {:>8}",
            "scenario", "worlds", "transitions/s", "bytes", "jobs 2", "vs BFS", "vs DFS"
        );
        compare::<1, 1>("normal");
        compare::<1, 1>("cancel");
        compare::<2, 1>("normal");
    }
}

/// In its smallest form.
fn small(name: &str, nodes: u8) -> Scenario {
    let scenario = Scenario::named(name).expect("built in");
    Scenario { merges_enqueue: true, reports_progress: false, ..scenario.scope(nodes, 1) }
}

fn compare<const N: usize, const T: usize>(name: &str) {
    let scenario = Scenario { price: 0, ..small(name, N as u8) };
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let (ours, proof) = timed(|| prove(&scenario, &Upstream, Bounds::default()));
        let (two, _) = timed(|| prove(&scenario, &Upstream, Bounds { jobs: 2, ..Bounds::default() }));
        let (breadth, found) = timed(|| checked::<N, T>(&scenario, &Upstream, By::Breadth));
        assert_eq!(found.0, proof.complete[0].worlds);
        let (depth, found) = timed(|| checked::<N, T>(&scenario, &Upstream, By::Depth));
        assert_eq!(found.0, proof.complete[0].worlds);
        rounds.push((proof, ours, ours / two, breadth / ours, depth / ours));
    }
    let median = |of: fn(&(Proof, f64, f64, f64, f64)) -> f64| {
        let mut all: Vec<f64> = rounds.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let worlds = rounds[0].0.complete[0].worlds;
    println!(
        "{:<24} {:>12} {:>14.0} {:>8.1} {:>8.2} {:>8.2} {:>8.2}",
        format!("{name} {N}x{T}"),
        worlds,
        rounds[0].0.complete[0].transitions as f64 / median(|it| it.1),
        rounds[0].0.memory as f64 / worlds as f64,
        median(|it| it.2),
        median(|it| it.3),
        median(|it| it.4),
    );
}

fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let it = work();
    (start.elapsed().as_secs_f64(), it)
}

fn sizes() {
    println!(
        "{:<32} {:>5} {:>12} {:>12} {:>8} {:>6} {:>8} {:>6} {:>7}",
        "scenario", "price", "worlds", "transitions", "at rest", "steps", "again", "bytes", "s"
    );
    for scenario in Scenario::built_in().iter().filter(|it| it.tasks == 1 || it.name == "anything") {
        size(scenario.name, 1, 1);
    }
    size("normal", 2, 0);
}

fn size(name: &str, nodes: u8, up_to: u8) {
    let scenario = small(name, nodes);
    for up_to in 0..=up_to.min(scenario.price) {
        let bounds = Bounds { up_to, most_worlds: MOST_WORLDS, ..Bounds::default() };
        let (seconds, proof) = timed(|| prove(&Scenario { price: up_to, ..scenario.clone() }, &Upstream, bounds));
        let all = proof.partial.map(|it| it.extent).or(proof.complete.last().copied()).expect("something was searched");
        println!(
            "{:<32} {up_to:>5} {:>12} {:>12} {:>8} {:>6} {:>8} {:>6.1} {seconds:>7.1}{}",
            format!("{name} {nodes}x1"),
            all.worlds,
            all.transitions,
            all.at_rest,
            all.steps,
            all.again,
            proof.memory as f64 / all.worlds as f64,
            if proof.partial.is_some() { " (stopped)" } else { "" },
        );
    }
}
