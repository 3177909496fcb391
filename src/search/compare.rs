use std::fmt;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::sensitivity::{Reach, sensitivities};
use super::{Bounds, Broken, Campaign, Cheapest, Cut, Extent, Finding, Hunt, Partial, Proof, Shard, Sweep};
use super::{Sensitivity, deviate, prove, sweep_until};
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
    /// Each new sweep for a [sensitivity](Cell::sensitivity) has the same bounds.
    pub worlds: usize,
    /// Runs by chance after the sweep.
    pub runs: u64,
    /// The most worlds that a proof visits for each price, after the runs; 0 for no proof. It is made in the scope and
    /// the form of the scenario, or it would say nothing of that: most have far more worlds than this.
    pub proofs: usize,
    /// The seed of those.
    pub seed: u64,
}

impl Default for Effort {
    /// What takes about half a minute on two cores for all that is built in.
    fn default() -> Effort {
        Effort { deviations: 2, worlds: 1_000_000, runs: 1_000, proofs: 0, seed: 1 }
    }
}

impl Effort {
    /// Takes some seconds for all that is built in.
    pub const QUICK: Effort = Effort { deviations: 1, worlds: 200_000, runs: 200, proofs: 0, seed: 1 };
    /// For one scenario and some designs: about two minutes and two gigabytes each, per thread; more where a race does not
    /// replay after a change of an assumption.
    pub const THOROUGH: Effort =
        Effort { deviations: 3, worlds: 10_000_000, runs: 20_000, proofs: 10_000_000, seed: 1 };
    /// The highest [level](Effort::level).
    pub const LEVELS: u8 = 4;

    /// Level 1 is quick, 2 the default, 3 thorough; each beyond tries one more deviation, and ten times as much of all
    /// else.
    ///
    /// # Panics
    ///
    /// Unless it is one of 1 to [`LEVELS`](Effort::LEVELS).
    pub fn level(level: u8) -> Effort {
        assert!((1..=Effort::LEVELS).contains(&level), "there is no level {level}");
        match level {
            1 => Effort::QUICK,
            2 => Effort::default(),
            _ => {
                let Effort { deviations, worlds, runs, proofs, seed } = Effort::THOROUGH;
                let times = 10_usize.pow(u32::from(level - 3));
                Effort {
                    deviations: deviations + level - 3,
                    worlds: worlds * times,
                    runs: runs * times as u64,
                    proofs: proofs * times,
                    seed,
                }
            }
        }
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

/// A violation that only a proof has found, or at a lower price than sweep and chance. No schedule breaks its invariant
/// at a lower price, or, if the proof came as far as that, at this price in fewer steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exposed {
    /// The violation.
    pub cheapest: Cheapest,
    /// The same told by its departures from the normal schedule, if it can be: none can be left out.
    pub deviations: Option<Vec<Deviation>>,
}

/// What is known of an invariant for one scenario and one design.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The cheapest violation within the deviations of the sweep.
    pub swept: Option<Broken>,
    /// A violation that chance has found where the sweep found none, or none at so low a price.
    pub sampled: Option<Sampled>,
    /// A violation that a proof has found where sweep and chance found none, or none at so low a price.
    pub exposed: Option<Exposed>,
    /// Which assumptions about latency the cheapest violation needs, where that is a [race](Cell::race).
    pub sensitivity: Option<Sensitivity>,
}

/// Which search gave an answer, the strongest of those that did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Every reachable world was visited.
    Proof,
    /// Every schedule within some deviations was tried.
    Sweep,
    /// Some runs were made by chance.
    Chance,
    /// Nothing was tried, since the comparison was interrupted.
    Nothing,
}

impl Cell {
    /// Whether any violation was found.
    pub fn is_broken(&self) -> bool {
        self.price().is_some()
    }

    /// The lowest price of a violation.
    pub fn price(&self) -> Option<u8> {
        let swept = self.swept.as_ref().map(|it| it.price);
        let sampled = self.sampled.as_ref().map(|it| it.price);
        self.exposed.as_ref().map(|it| it.cheapest.price).or(sampled).or(swept)
    }

    /// The departures that bring the cheapest violation about, where it can be told by any.
    pub fn deviations(&self) -> Option<&[Deviation]> {
        match self {
            Cell { exposed: Some(it), .. } => it.deviations.as_deref(),
            Cell { sampled: Some(it), .. } => it.deviations.as_deref(),
            Cell { swept, .. } => swept.as_ref().map(|it| it.deviations.as_slice()),
        }
    }

    /// The same, where nothing has to go wrong for it.
    pub fn race(&self) -> Option<&[Deviation]> {
        self.deviations().filter(|_| self.price() == Some(0))
    }

    /// Whether it is broken in normal operation, whichever assumption about latency is halved or doubled.
    pub fn is_robust(&self) -> bool {
        self.sensitivity.as_ref().is_some_and(Sensitivity::is_robust)
    }

    /// Nobody waited to hear which assumptions a race needs.
    fn is_unasked(&self) -> bool {
        self.race().is_some() && self.sensitivity.is_none()
    }
}

/// How far a proof came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proved {
    /// The highest price up to which all worlds were visited, and what there is up to it.
    pub complete: Option<(u8, Extent)>,
    /// Where it stopped early.
    pub partial: Option<Partial>,
}

/// What was tried for one scenario and one design, and what that showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Within how many deviations every schedule was tried.
    pub within: u8,
    /// Why the sweep stopped early, if it did: then schedules with one more deviation were tried in part.
    pub stopped: Option<Cut>,
    /// Worlds that the sweep visited.
    pub worlds: usize,
    /// Runs by chance; fewer than were asked for where the comparison was interrupted.
    pub runs: u64,
    /// Runs by chance that came to no rest: they prove nothing either way.
    pub undecided: u64,
    /// Nothing from outside that the scenario allows ever acted, neither in the sweep nor by chance: it proved nothing.
    pub vacuous: bool,
    /// How far a proof came, if one was made.
    pub proved: Option<Proved>,
    /// For each of [`INVARIANTS`](crate::invariants::INVARIANTS) what is known.
    pub cells: Vec<Cell>,
}

impl Pair {
    /// Nothing was tried.
    fn untried() -> Pair {
        Pair {
            within: 0,
            stopped: Some(Cut::Interrupted),
            worlds: 0,
            runs: 0,
            undecided: 0,
            vacuous: false,
            proved: None,
            cells: vec![Cell::default(); COUNT],
        }
    }

    /// Whether the sweep stopped early.
    pub fn is_partial(&self) -> bool {
        self.stopped.is_some()
    }

    /// Which search gave the answer for an invariant, by its index: the lowest price, or that none was found.
    pub fn by(&self, invariant: usize) -> By {
        let Cell { swept, sampled, exposed, sensitivity: _ } = &self.cells[invariant];
        if exposed.is_some() || (swept.is_none() && sampled.is_none() && self.is_whole()) {
            By::Proof
        } else if sampled.is_some() {
            By::Chance
        } else if swept.is_some() || self.within > 0 {
            By::Sweep
        } else if self.runs > 0 {
            By::Chance
        } else if self.worlds > 0 {
            By::Sweep
        } else {
            By::Nothing
        }
    }

    /// Whether a proof has visited all worlds, up to the price of the scenario.
    pub fn is_whole(&self) -> bool {
        self.proved.is_some_and(|it| it.partial.is_none())
    }
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
    /// The part of it that was tried, where that is not the whole.
    pub shard: Option<Shard>,
    /// What was found: for each scenario each design, in their order; nothing for those of other shards.
    pub pairs: Vec<Pair>,
}

impl Comparison<'_> {
    /// What was found for a scenario and a design, by their indices.
    pub fn pair(&self, scenario: usize, design: usize) -> &Pair {
        assert!(design < self.designs.len(), "there is no such design");
        &self.pairs[scenario * self.designs.len() + design]
    }

    /// Whether this is the shard, or the whole, to which a scenario and a design belong, by their indices.
    pub fn holds(&self, scenario: usize, design: usize) -> bool {
        self.shard.is_none_or(|it| it.holds(scenario * self.designs.len() + design))
    }

    /// How many pairs were not tried to the end, since the comparison was interrupted.
    pub fn interrupted(&self) -> usize {
        let partial = |it: &Pair| it.proved.and_then(|it| it.partial).map(|it| it.stopped);
        let is_cut = |it: &&Pair| {
            let ends = [it.stopped, partial(it)];
            ends.contains(&Some(Cut::Interrupted))
                || it.runs < self.effort.runs
                || it.cells.iter().any(Cell::is_unasked)
        };
        let held = |index| self.shard.is_none_or(|it| it.holds(index));
        self.pairs.iter().enumerate().filter(|(index, _)| held(*index)).filter(|(_, it)| is_cut(it)).count()
    }

    /// Runs by chance that came to no rest, for all together.
    pub fn undecided(&self) -> u64 {
        self.pairs.iter().map(|it| it.undecided).sum()
    }
}

impl fmt::Debug for Comparison<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Comparison { effort, scenarios, designs, invariants, shard, pairs } = self;
        let designs: Vec<&str> = designs.iter().map(|it| it.name()).collect();
        let mut out = f.debug_struct("Comparison");
        out.field("effort", effort).field("scenarios", scenarios).field("designs", &designs);
        out.field("invariants", invariants).field("shard", shard).field("pairs", pairs).finish()
    }
}

/// Judges each design in each scenario: a sweep within some deviations, then runs by chance, then a proof where the effort
/// has worlds for one. Of each race that this finds it asks [which assumptions](super::sensitivity()) it needs: its
/// deviations are replayed, and only where they fail is searched anew, within the deviations and the worlds of the effort.
///
/// `jobs` threads share the pairs. What is found does not depend on their number. `done` is told how many pairs are
/// finished each time one is. Once `stop` is true what was begun ends early, and says how far it came.
///
/// # Panics
///
/// When the scope of a scenario is too large, or its prefix is not enabled.
pub fn compare<'a>(
    scenarios: &[Scenario],
    designs: &[&'a dyn Design],
    effort: Effort,
    jobs: NonZeroUsize,
    stop: Option<&AtomicBool>,
    done: &(dyn Fn(usize) + Sync),
) -> Comparison<'a> {
    compare_shard(scenarios, designs, effort, None, jobs, stop, done)
}

/// The same for the pairs of a shard only; the others are left untried. [`json`](crate::report::json) writes what it holds,
/// and [`merge`](crate::report::merge) joins that.
///
/// # Panics
///
/// When the scope of a scenario is too large, or its prefix is not enabled.
pub fn compare_shard<'a>(
    scenarios: &[Scenario],
    designs: &[&'a dyn Design],
    effort: Effort,
    shard: Option<Shard>,
    jobs: NonZeroUsize,
    stop: Option<&AtomicBool>,
    done: &(dyn Fn(usize) + Sync),
) -> Comparison<'a> {
    let count = scenarios.len() * designs.len();
    let held: Vec<usize> = (0..count).filter(|&it| shard.is_none_or(|shard| shard.holds(it))).collect();
    let (begun, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let mut judged = Vec::new();
        loop {
            let Some(&index) = held.get(begun.fetch_add(1, Ordering::Relaxed)) else { return judged };
            judged
                .push((index, judge(&scenarios[index / designs.len()], designs[index % designs.len()], effort, stop)));
            done(finished.fetch_add(1, Ordering::Relaxed) + 1);
        }
    };
    let judged: Vec<(usize, Pair)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs.get().min(held.len())).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|it| it.join().unwrap_or_else(|it| resume_unwind(it))).collect()
    });
    let mut pairs = vec![Pair::untried(); count];
    for (index, it) in judged {
        pairs[index] = it;
    }
    Comparison {
        effort,
        scenarios: scenarios.to_vec(),
        designs: designs.to_vec(),
        invariants: (0..COUNT).collect(),
        shard,
        pairs,
    }
}

fn judge(scenario: &Scenario, design: &dyn Design, effort: Effort, stop: Option<&AtomicBool>) -> Pair {
    let is_stopped = || stop.is_some_and(|it| it.load(Ordering::Relaxed));
    if is_stopped() {
        return Pair::untried();
    }
    let Effort { deviations, worlds, runs, proofs, seed } = effort;
    let swept = sweep_until(scenario, design, deviations, worlds, stop);
    let Sweep { within, worlds, stopped, broken, .. } = swept;
    let mut cells = vec![Cell::default(); COUNT];
    for it in broken {
        let invariant = it.invariant;
        cells[invariant].swept = Some(it);
    }
    let campaign = Hunt { stop, ..Hunt::default() }.run(scenario, design, seed, runs);
    let Campaign { runs, undecided, ref findings, .. } = campaign;
    for it in findings {
        let cell = &mut cells[it.invariant];
        if cell.price().is_none_or(|price| it.price < price) {
            cell.sampled = Some(sampled(scenario, design, it));
        }
    }
    let bounds = Bounds { most_worlds: proofs, stop, ..Bounds::default() };
    let proof = (proofs > 0 && !is_stopped()).then(|| prove(scenario, design, bounds));
    for it in proof.iter().flat_map(|it| &it.broken) {
        let cell = &mut cells[it.invariant];
        if cell.price().is_none_or(|price| it.price < price) {
            let deviations = told(scenario, design, &it.schedule, it.invariant, it.price);
            cell.exposed = Some(Exposed { cheapest: it.clone(), deviations });
        }
    }
    let proved = proof.map(|Proof { complete, partial, .. }| Proved {
        complete: complete.last().map(|it| (complete.len() as u8 - 1, *it)),
        partial,
    });
    let races = cells.iter().enumerate().filter_map(|(invariant, it)| Some((invariant, it.race()?)));
    let races: Vec<(usize, &[Deviation])> = races.collect();
    let asked = sensitivities(scenario, design, 0, &races, Reach { deviations, worlds: effort.worlds, stop });
    // Who did not wait is told what is known all the same, but nothing that is open for no other reason.
    for it in asked.into_iter().filter(|it| !is_stopped() || it.open().next().is_none()) {
        let invariant = it.invariant;
        cells[invariant].sensitivity = Some(it);
    }
    // One deviation tries every act of an operator or a fault, and so does a proof that came to its end.
    let acted = within > 0 || is_stopped() || proved.is_some_and(|it| it.partial.is_none());
    let vacuous = !acted && campaign.is_vacuous(scenario);
    Pair { within, stopped, worlds, runs, undecided, vacuous, proved, cells }
}

fn sampled(scenario: &Scenario, design: &dyn Design, finding: &Finding) -> Sampled {
    let Finding { invariant, task, price, run: index, ref schedule } = *finding;
    let report = run(scenario, design, &mut Replay::then_normal(schedule));
    let steps = report.broken[invariant].map_or(0, |it| it.step + 1);
    let deviations = told(scenario, design, schedule, invariant, price);
    Sampled { task, price, steps, run: index, schedule: schedule.clone(), deviations }
}

/// A schedule told by its deviations, where that is the same violation and misses none of them.
fn told(
    scenario: &Scenario,
    design: &dyn Design,
    schedule: &[Action],
    invariant: usize,
    price: u8,
) -> Option<Vec<Deviation>> {
    deviate(scenario, design, schedule, invariant, price).filter(|it| {
        let mut deviating = Deviating::new(it);
        let report = run(scenario, design, &mut deviating);
        report.broken[invariant].is_some_and(|it| it.price <= price) && deviating.missed().is_none()
    })
}
