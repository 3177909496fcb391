use std::fmt;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::{Broken, Campaign, Finding, Sweep, deviate, hunt, sweep};
use crate::invariants::COUNT;
use crate::model::design::Design;
use crate::model::place::TaskId;
use crate::model::rules::Action;
use crate::run::run;
use crate::scenario::Scenario;
use crate::scheduler::{Deviating, Deviation, Replay};

/// How much a comparison tries for each scenario and design.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Every schedule within so many deviations from the normal one is tried.
    pub deviations: u8,
    /// The most worlds that a sweep visits; where that is too few, a cell says within how many deviations it was tried.
    pub worlds: usize,
    /// Runs by chance after the sweep.
    pub runs: u64,
    /// The seed of those.
    pub seed: u64,
}

impl Default for Effort {
    /// What takes about half a minute on two cores for all that is built in.
    fn default() -> Effort {
        Effort { deviations: 2, worlds: 1_000_000, runs: 1_000, seed: 1 }
    }
}

/// A violation that only chance has found, or at a lower price than the sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampled {
    /// For which task.
    pub task: TaskId,
    /// What the outside world had to do wrong for it.
    pub price: u8,
    /// Steps until then, in its schedule.
    pub steps: u32,
    /// The run of the hunt that found it.
    pub run: u64,
    /// The actions that bring it about; the normal schedule goes on from there.
    pub schedule: Vec<Action>,
    /// The same told by its departures from the normal schedule, if it can be: none can be left out, but there may be
    /// another way with fewer.
    pub deviations: Option<Vec<Deviation>>,
}

/// What is known of an invariant for one scenario and one design. It is never known to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The cheapest violation within the deviations of the sweep.
    pub swept: Option<Broken>,
    /// A violation that chance has found where the sweep found none, or none at so low a price.
    pub sampled: Option<Sampled>,
}

impl Cell {
    /// Whether any violation was found.
    pub fn is_broken(&self) -> bool {
        self.swept.is_some() || self.sampled.is_some()
    }

    /// The lowest price of a violation.
    pub fn price(&self) -> Option<u8> {
        let swept = self.swept.as_ref().map(|it| it.price);
        self.sampled.as_ref().map(|it| it.price).or(swept)
    }
}

/// What was tried for one scenario and one design, and what that showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Within how many deviations every schedule was tried.
    pub within: u8,
    /// Whether schedules with one more deviation were tried in part.
    pub partial: bool,
    /// Worlds that the sweep visited.
    pub worlds: usize,
    /// Runs by chance that came to no rest: they prove nothing either way.
    pub undecided: u64,
    /// Nothing from outside that the scenario allows ever acted, neither in the sweep nor by chance: it proved nothing.
    pub vacuous: bool,
    /// For each of [`INVARIANTS`](crate::invariants::INVARIANTS) what is known.
    pub cells: Vec<Cell>,
}

/// Designs side by side: for each scenario, design and invariant the cheapest violation that was found.
#[derive(Clone)]
pub struct Comparison<'a> {
    /// How much was tried.
    pub effort: Effort,
    /// The scenarios.
    pub scenarios: Vec<Scenario>,
    /// The designs.
    pub designs: Vec<&'a dyn Design>,
    /// The invariants that are of interest, by their index in [`INVARIANTS`](crate::invariants::INVARIANTS); all were
    /// judged.
    pub invariants: Vec<usize>,
    /// What was found: for each scenario each design, in their order.
    pub pairs: Vec<Pair>,
}

impl Comparison<'_> {
    /// What was found for a scenario and a design, by their indices.
    pub fn pair(&self, scenario: usize, design: usize) -> &Pair {
        assert!(design < self.designs.len(), "there is no such design");
        &self.pairs[scenario * self.designs.len() + design]
    }

    /// Runs by chance that came to no rest, for all together.
    pub fn undecided(&self) -> u64 {
        self.pairs.iter().map(|it| it.undecided).sum()
    }
}

impl fmt::Debug for Comparison<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Comparison { effort, scenarios, designs, invariants, pairs } = self;
        let designs: Vec<&str> = designs.iter().map(|it| it.name()).collect();
        let mut out = f.debug_struct("Comparison");
        out.field("effort", effort).field("scenarios", scenarios).field("designs", &designs);
        out.field("invariants", invariants).field("pairs", pairs).finish()
    }
}

/// Judges each design in each scenario: a sweep within some deviations, then runs by chance for what it left open.
///
/// `jobs` threads share the pairs. What is found does not depend on their number. `done` is told how many pairs are
/// finished each time one is.
///
/// # Panics
///
/// When the scope of a scenario is too large, or its prefix is not enabled.
pub fn compare<'a>(
    scenarios: &[Scenario],
    designs: &[&'a dyn Design],
    effort: Effort,
    jobs: NonZeroUsize,
    done: &(dyn Fn(usize) + Sync),
) -> Comparison<'a> {
    let count = scenarios.len() * designs.len();
    let (begun, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let mut judged = Vec::new();
        loop {
            let index = begun.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return judged;
            }
            judged.push((index, judge(&scenarios[index / designs.len()], designs[index % designs.len()], effort)));
            done(finished.fetch_add(1, Ordering::Relaxed) + 1);
        }
    };
    let mut pairs: Vec<(usize, Pair)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs.get().min(count)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|it| it.join().unwrap_or_else(|it| resume_unwind(it))).collect()
    });
    pairs.sort_unstable_by_key(|it| it.0);
    Comparison {
        effort,
        scenarios: scenarios.to_vec(),
        designs: designs.to_vec(),
        invariants: (0..COUNT).collect(),
        pairs: pairs.into_iter().map(|it| it.1).collect(),
    }
}

fn judge(scenario: &Scenario, design: &dyn Design, effort: Effort) -> Pair {
    let Effort { deviations, worlds, runs, seed } = effort;
    let Sweep { within, worlds, partial, broken, .. } = sweep(scenario, design, deviations, worlds);
    let mut cells = vec![Cell::default(); COUNT];
    for it in broken {
        let invariant = it.invariant;
        cells[invariant].swept = Some(it);
    }
    let campaign = hunt(scenario, design, seed, runs);
    let vacuous = within == 0 && campaign.is_vacuous(scenario); // one deviation tries every act of theirs
    let Campaign { undecided, findings, .. } = campaign;
    for Finding { invariant, task, price, run: index, schedule } in findings {
        let cell = &mut cells[invariant];
        if cell.swept.as_ref().is_none_or(|it| price < it.price) {
            let report = run(scenario, design, &mut Replay::then_normal(&schedule));
            let steps = report.broken[invariant].map_or(0, |it| it.step + 1);
            let deviations = deviate(scenario, design, &schedule, invariant, price).filter(|it| {
                let mut deviating = Deviating::new(it);
                let report = run(scenario, design, &mut deviating);
                report.broken[invariant].is_some_and(|it| it.price <= price) && deviating.missed().is_none()
            });
            cell.sampled = Some(Sampled { task, price, steps, run: index, schedule, deviations });
        }
    }
    Pair { within, partial, worlds, undecided, vacuous, cells }
}
