//! How fast random schedules are, beside two tools that people use: `cargo bench --bench hunt`.
//!
//! Machines are noisy, so what counts are the ratios within one round; the medians of all rounds are printed.
//!
//! *stateright* simulates the same model: the same rules, each choice as likely as any other, until rest. It checks what
//! must hold at a step and at rest; ours also checks what must hold within a time. Its traces end at the first world
//! that comes twice, so steps are compared, not runs.
//!
//! *shuttle* runs code, not a model, so it gets a toy: as many threads as a run has goroutines that act, which together
//! yield as often as a run has steps, and do nothing else. What shuttle pays for a choice is comparable with what we pay for
//! one, the work between two choices is not: ours is the protocol and its invariants, the toy's is nothing at all.

use std::time::Instant;

use vgdp_sim::designs::Upstream;
use vgdp_sim::model::rules::Enabled;
use vgdp_sim::run::run;
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::{Draws, Fired, Scheduler};

#[path = "../tests/support/stateright_model.rs"]
mod stateright_model;

use stateright_model::simulated;

const ROUNDS: usize = 5;
const RUNS: u64 = 400;
/// Goroutines that act in a run of two nodes and two tasks.
const ACTORS: u64 = 20;

/// Each action is as likely as any other, to the end.
struct Evenly(Draws);

impl Scheduler for Evenly {
    fn pick(&mut self, enabled: &Enabled, _: Fired) -> Option<usize> {
        Some(self.0.below(enabled.len() as u32) as usize)
    }
}

fn main() {
    println!(
        "{:<16} {:>10} {:>10} {:>12} {:>14} {:>16}",
        "scenario", "steps/run", "ns/step", "schedules/s", "vs stateright", "vs shuttle (toy)"
    );
    compare::<2, 1>("normal");
    compare::<2, 2>("normal");
    compare::<2, 1>("cancel");
}

fn compare<const N: usize, const T: usize>(name: &str) {
    let scenario = Scenario::named(name).expect("built in").scope(N as u8, T as u8);
    let mut rounds = Vec::new();
    for round in 0..ROUNDS as u64 {
        let (seconds, steps) = timed(|| {
            let evenly = |index| u64::from(run(&scenario, &Upstream, &mut Evenly(Draws::of(round, index))).steps);
            (0..RUNS).map(evenly).sum::<u64>()
        });
        let ours = seconds / steps as f64;
        let (theirs, states) = timed(|| simulated::<N, T>(&scenario, &Upstream, round, steps as usize));
        let each = steps / RUNS / ACTORS;
        let (toys, ()) = timed(|| shuttle::check_random(move || toy(each), RUNS as usize));
        rounds.push((steps / RUNS, ours, seconds, theirs / states as f64 / ours, toys / seconds));
    }
    let median = |of: fn(&(u64, f64, f64, f64, f64)) -> f64| {
        let mut all: Vec<f64> = rounds.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    println!(
        "{:<16} {:>10} {:>10.0} {:>12.0} {:>14.2} {:>16.2}",
        format!("{name} {N}x{T}"),
        rounds[0].0,
        median(|it| it.1) * 1e9,
        RUNS as f64 / median(|it| it.2),
        median(|it| it.3),
        median(|it| it.4),
    );
}

/// Threads that take turns, and nothing else.
fn toy(each: u64) {
    let actors: Vec<_> = (0..ACTORS)
        .map(|_| {
            shuttle::thread::spawn(move || {
                for _ in 0..each {
                    shuttle::thread::yield_now();
                }
            })
        })
        .collect();
    for it in actors {
        it.join().expect("nobody panics");
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let it = work();
    (start.elapsed().as_secs_f64(), it)
}
