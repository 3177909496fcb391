//! How long a step takes, with and without the invariants: `cargo bench`.
//!
//! Machines are noisy, so what counts are the ratios within one run: each round measures both, and the medians of all
//! rounds are printed. A round runs the same schedules.

use std::time::Instant;

use vgdp_sim::designs::Upstream;
use vgdp_sim::model::rules::Enabled;
use vgdp_sim::run::run;
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::{Fired, Placed, Scheduler};

const ROUNDS: usize = 15;
const RUNS: u64 = 400;

fn main() {
    println!(
        "{:<24} {:>10} {:>10} {:>12} {:>12} {:>8}",
        "scenario", "bytes", "steps/run", "ns, all", "ns, bare", "ratio"
    );
    for name in ["normal", "cancel", "two-uploads-one-slot", "anything"] {
        let scenario = Scenario::named(name).expect("built in");
        measure(&scenario, "");
    }
    let two = Scenario { allows: &[], ..Scenario::named("normal").expect("built in").scope(2, 2) };
    measure(&two, " 2x2");
}

fn measure(scenario: &Scenario, suffix: &str) {
    let mut rounds: Vec<(f64, f64)> = Vec::new();
    let mut steps = 0;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        steps = (0..RUNS).map(|index| u64::from(run(scenario, &Upstream, &mut Placed::new(1, index)).steps)).sum();
        let checked = start.elapsed().as_nanos() as f64 / steps as f64;
        let start = Instant::now();
        let bare_steps: u64 = (0..RUNS).map(|index| bare(scenario, &mut Placed::new(1, index))).sum();
        rounds.push((checked, start.elapsed().as_nanos() as f64 / bare_steps as f64));
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
    println!("{name:<24} {bytes:>10} {:>10} {checked:>12.0} {bare:>12.0} {ratio:>8.2}", steps / RUNS);
}

/// The loop without invariants; placing by visible change needs nothing but the count of changed objects.
fn bare(scenario: &Scenario, scheduler: &mut dyn Scheduler) -> u64 {
    let setup = scenario.setup(&Upstream);
    let mut world = scenario.empty_cluster().expect("a built-in scope");
    let mut enabled = Enabled::default();
    let mut last = Fired::default();
    let mut steps = 0;
    for action in scenario.prefix() {
        world.fire(&setup, action);
    }
    loop {
        world.enabled(&setup, &mut enabled);
        if enabled.is_empty() || steps == 20_000 {
            return steps;
        }
        let Some(index) = scheduler.pick(&enabled, last) else { return steps };
        let before: u32 = world.task_ids().map(|t| u32::from(world.tasks[t].cr.phase as u8)).sum();
        world.fire(&setup, enabled[index]);
        let after: u32 = world.task_ids().map(|t| u32::from(world.tasks[t].cr.phase as u8)).sum();
        last = Fired { action: Some(enabled[index]), changed: u8::from(before != after), event: None };
        steps += 1;
    }
}
