//! How long a step takes, with and without the invariants, and how many complete runs fit into a second: `cargo bench
//! --bench steps`.
//!
//! Machines are noisy, so what counts are the ratios within one run: each round measures both, and the medians of all
//! rounds are printed. A round runs the same schedules.
//!
//! `steps count` and `steps count bare` only run twenty schedules of two nodes and two tasks, for a tool that counts
//! instructions, and print how many steps that was; `docs/performance.md` has what was counted.

use std::time::Instant;

use vgdp_sim::designs::Upstream;
use vgdp_sim::model::rules::Enabled;
use vgdp_sim::model::touched::Touched;
use vgdp_sim::model::world::World;
use vgdp_sim::run::run;
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::{Fired, Placed, Scheduler};

const ROUNDS: usize = 15;
const RUNS: u64 = 400;
const COUNTED: u64 = 20;

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let two = Scenario { allows: &[], ..Scenario::named("normal").expect("built in").scope(2, 2) };
    if asked.iter().any(|it| it == "count") {
        let is_bare = asked.iter().any(|it| it == "bare");
        let steps = if is_bare { bare_steps(&two, COUNTED) } else { all_steps(&two, COUNTED) };
        return println!("{steps} steps");
    }
    println!(
        "{:<24} {:>10} {:>10} {:>12} {:>12} {:>8} {:>10}",
        "scenario", "bytes", "steps/run", "ns, all", "ns, bare", "ratio", "runs/s"
    );
    for name in ["normal", "cancel", "two-uploads-one-slot", "anything"] {
        let scenario = Scenario::named(name).expect("built in");
        measure(&scenario, "");
    }
    measure(&two, " 2x2");
}

fn all_steps(scenario: &Scenario, runs: u64) -> u64 {
    (0..runs).map(|index| u64::from(run(scenario, &Upstream, &mut Placed::new(1, index)).steps)).sum()
}

fn bare_steps(scenario: &Scenario, runs: u64) -> u64 {
    (0..runs).map(|index| bare(scenario, &mut Placed::new(1, index))).sum()
}

fn measure(scenario: &Scenario, suffix: &str) {
    let mut rounds: Vec<(f64, f64)> = Vec::new();
    let mut steps = 0;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        steps = all_steps(scenario, RUNS);
        let checked = start.elapsed().as_nanos() as f64 / steps as f64;
        let start = Instant::now();
        let bare = bare_steps(scenario, RUNS);
        rounds.push((checked, start.elapsed().as_nanos() as f64 / bare as f64));
    }
    let median = |mut it: Vec<f64>| {
        it.sort_by(f64::total_cmp);
        it[it.len() / 2]
    };
    let checked = median(rounds.iter().map(|it| it.0).collect());
    let bare = median(rounds.iter().map(|it| it.1).collect());
    let ratio = median(rounds.iter().map(|it| it.0 / it.1).collect());
    let bytes = scenario.empty_cluster().expect("a built-in scope").size();
    let name = format!("{}{suffix}", scenario.name);
    let each = steps as f64 / RUNS as f64;
    let runs = 1e9 / (checked * each);
    println!("{name:<24} {bytes:>10} {each:>10.0} {checked:>12.0} {bare:>12.0} {ratio:>8.2} {runs:>10.0}");
}

/// The loop without invariants; placing by visible change needs nothing but the count of changed objects.
fn bare(scenario: &Scenario, scheduler: &mut dyn Scheduler) -> u64 {
    let setup = scenario.setup(&Upstream);
    let mut world = scenario.empty_cluster().expect("a built-in scope");
    let mut touched = Touched::NOTHING;
    let mut enabled = Enabled::default();
    let mut last = Fired::default();
    let mut steps = 0;
    for action in scenario.prefix() {
        world.fire(&setup, action);
    }
    let mut was = world;
    loop {
        world.enabled_since(&setup, touched, &mut enabled);
        if enabled.is_empty() || steps == 20_000 {
            return steps;
        }
        let Some(index) = scheduler.pick(&enabled, last) else { return steps };
        touched.copy(&world, &mut was);
        touched = world.fire_since(&was, &setup, enabled[index]).expect("it is enabled");
        let phase = |world: &World| -> u32 { world.task_ids().map(|t| world.tasks[t].cr.phase as u32).sum() };
        let changed = u8::from(touched.objects() && phase(&was) != phase(&world));
        last = Fired { action: Some(enabled[index]), changed, event: None };
        steps += 1;
    }
}
