use std::fmt;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use super::bugs::bugs;
use super::coverage::Watch;
use super::{Bug, Coverage, record, shrink};
use crate::invariants::{COUNT, INVARIANTS, Kind};
use crate::model::design::Design;
use crate::model::faults::Disturbance;
use crate::model::place::TaskId;
use crate::model::rules::Action;
use crate::run::{Ended, observe, run};
use crate::scenario::Scenario;
use crate::scheduler::{PORTFOLIO, Policy, Replay};

/// A schedule that breaks an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which invariant: its index in [`INVARIANTS`].
    pub invariant: usize,
    /// For which task.
    pub task: TaskId,
    /// What the outside world had to do wrong for it.
    pub price: u8,
    /// The run of the campaign that found it.
    pub run: u64,
    /// The actions that bring it about; the normal schedule goes on from there.
    pub schedule: Vec<Action>,
}

/// What a campaign of random runs showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Campaign {
    /// How many runs it had: fewer than were asked for where [`Hunt::stop`] has ended it.
    pub runs: u64,
    /// Steps of all runs together.
    pub steps: u64,
    /// Runs that came to no rest within their bounds, or that whoever chose has ended: they prove nothing either way.
    pub undecided: u64,
    /// Runs in which an operator or a fault acted.
    pub struck: u64,
    /// In how many runs each invariant was broken.
    pub broken: [u64; COUNT],
    /// For each invariant that was broken its cheapest violation, shrunk.
    pub findings: Vec<Finding>,
    /// The first failing runs of each invariant told apart by what they need, as far as [`Hunt::samples`] asks for
    /// that.
    pub bugs: Vec<Bug>,
    /// What it came to see.
    pub coverage: Coverage,
    /// Why its silence says little, where it does.
    pub vacuous: Vec<Vacuous>,
}

/// Why the silence of a campaign says little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vacuous {
    /// No run came to rest.
    NeverAtRest,
    /// The scenario allows it, and it never struck.
    NeverStruck(Disturbance),
    /// The harm of which this invariant speaks was never there, not for a moment.
    NeverTested(usize),
}

/// What a campaign says of an invariant. It never says that it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// So many runs broke it.
    Broken(u64),
    /// No run broke it, but so many came to no rest, where it would have been judged.
    Undecided(u64),
    /// None of so many runs broke it.
    NoneIn(u64),
}

impl Campaign {
    /// What it says of the invariant of this index. A run without rest decides nothing about what must hold in time or
    /// at rest.
    pub fn answer(&self, invariant: usize) -> Answer {
        let awaits_rest = !matches!(INVARIANTS[invariant].broken, Kind::Step(_));
        match self.broken[invariant] {
            0 if awaits_rest && (self.undecided > 0 || self.runs == 0) => Answer::Undecided(self.undecided),
            0 => Answer::NoneIn(self.runs),
            runs => Answer::Broken(runs),
        }
    }

    /// Whether it proved nothing: the scenario allows operators or faults to act, and none did in any run.
    pub fn is_vacuous(&self, scenario: &Scenario) -> bool {
        !scenario.allows.is_empty() && self.struck == 0
    }

    /// How likely the next run shows an [`Edge`](super::Edge) that none has shown, by Good and Turing: the number of
    /// edges that a single run has shown, to the number of runs. It is an estimate, and no run is worth more than its
    /// policy.
    pub fn risk(&self) -> (u64, u64) {
        (self.coverage.seen_once(), self.runs)
    }
}

impl fmt::Display for Vacuous {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Vacuous::NeverAtRest => f.write_str("no run came to rest"),
            Vacuous::NeverStruck(it) => write!(f, "this never happened: {}", it.what()),
            Vacuous::NeverTested(it) => write!(f, "{} was never put to the test", INVARIANTS[*it].id),
        }
    }
}

/// How to hunt.
#[derive(Clone, Copy)]
pub struct Hunt<'a> {
    /// Who chooses in each run.
    pub policy: &'a dyn Policy,
    /// Threads that share the runs. What comes of them is the same for any number.
    pub jobs: NonZeroUsize,
    /// How many failing runs of each invariant, the first ones, are told apart as [bugs](Campaign::bugs). Each takes
    /// some hundred runs more.
    pub samples: usize,
    /// Told of each violation that is cheaper than all found so far for its invariant, or as cheap and of an earlier
    /// run, as soon as it is shrunk: a long campaign that is cut short leaves what it found. It is never called twice
    /// at a time, and what comes last for an invariant is what the campaign ends with.
    pub found: Option<&'a (dyn Fn(&Finding) + Sync)>,
    /// Told how many runs are done each time some more are, by whichever thread has done them.
    pub done: Option<&'a (dyn Fn(u64) + Sync)>,
    /// Ends the campaign soon after somebody sets it. What was begun is finished, and begun in order: the campaign is
    /// then the same as if no more runs than it has had been asked for.
    pub stop: Option<&'a AtomicBool>,
}

impl Default for Hunt<'_> {
    /// One thread, and the portfolio of policies.
    fn default() -> Self {
        Hunt { policy: &PORTFOLIO, jobs: NonZeroUsize::MIN, samples: 0, found: None, done: None, stop: None }
    }
}

impl fmt::Debug for Hunt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Hunt { policy, jobs, samples, found, done, stop } = self;
        let mut out = f.debug_struct("Hunt");
        out.field("policy", policy).field("jobs", jobs).field("samples", samples).field("found", &found.is_some());
        out.field("done", &done.is_some()).field("stop", stop).finish()
    }
}

/// Runs a scenario `runs` times by chance and keeps the cheapest violation of each invariant: the lowest price, then
/// the first run.
///
/// A sample proves nothing about what it did not find. [`Hunt`] is the form with options.
pub fn hunt(scenario: &Scenario, design: &dyn Design, seed: u64, runs: u64) -> Campaign {
    Hunt::default().run(scenario, design, seed, runs)
}

/// Runs that a thread takes at a time.
const CHUNK: u64 = 64;
/// The first runs of a campaign, in which each step is asked for the harm of each invariant.
const ASKED: u64 = 1_024;

/// The price of a violation and its run: the least is the best.
type Best = (u8, u64);

/// What one thread has seen.
struct Tally {
    steps: u64,
    undecided: u64,
    struck: u64,
    broken: [u64; COUNT],
    cheapest: [Option<Best>; COUNT],
    /// The first failing runs of each invariant, in their order.
    failing: Vec<Vec<u64>>,
    watch: Watch,
}

/// What the threads of a campaign share.
struct Shared<'a> {
    /// How many runs are asked for.
    runs: u64,
    /// How many runs some thread has begun.
    begun: AtomicU64,
    /// How many of them are done.
    done: AtomicU64,
    found: &'a Found,
}

/// The cheapest finding of each invariant so far, for all threads.
type Found = Mutex<Vec<Option<(Best, Finding)>>>;

impl Hunt<'_> {
    /// Makes a campaign: runs the scenario `runs` times by chance and keeps the cheapest violation of each invariant,
    /// the lowest price, then the first run.
    ///
    /// # Panics
    ///
    /// When the scope of the scenario is too large, or its prefix is not enabled.
    pub fn run(&self, scenario: &Scenario, design: &dyn Design, seed: u64, runs: u64) -> Campaign {
        let found = Mutex::new(vec![None; COUNT]);
        let shared = Shared { runs, begun: AtomicU64::new(0), done: AtomicU64::new(0), found: &found };
        let work = || self.work(scenario, design, seed, &shared);
        let jobs = runs.div_ceil(CHUNK).min(self.jobs.get() as u64);
        let all = if jobs < 2 {
            work()
        } else {
            thread::scope(|scope| {
                let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
                let tallies = threads.into_iter().map(|it| it.join().unwrap_or_else(|it| resume_unwind(it)));
                tallies.reduce(Tally::joined).expect("there are at least two")
            })
        };
        let runs = shared.done.into_inner();
        let mut found = found.into_inner().expect("no thread is left that could have panicked with it");
        let mut findings = Vec::new();
        for (invariant, best) in all.cheapest.iter().enumerate() {
            let Some(best) = *best else { continue };
            let known = found[invariant].take().filter(|it| it.0 == best).map(|it| it.1);
            findings.push(known.unwrap_or_else(|| self.finding(scenario, design, seed, invariant, best)));
        }
        let sampled = |(invariant, failing): (usize, &Vec<u64>)| {
            let first = &failing[..failing.len().min(self.samples)];
            bugs(scenario, design, self.policy, seed, invariant, first)
        };
        let bugs = all.failing.iter().enumerate().flat_map(sampled).collect();
        let Tally { steps, undecided, struck, broken, watch, .. } = all;
        let coverage = watch.coverage(runs.min(ASKED));
        let vacuous = vacuous(scenario, runs, undecided, &coverage);
        Campaign { runs, steps, undecided, struck, broken, findings, bugs, coverage, vacuous }
    }

    /// What one thread does.
    fn work(&self, scenario: &Scenario, design: &dyn Design, seed: u64, shared: &Shared<'_>) -> Tally {
        let setup = scenario.setup(design);
        let mut tally = Tally {
            steps: 0,
            undecided: 0,
            struck: 0,
            broken: [0; COUNT],
            cheapest: [None; COUNT],
            failing: vec![Vec::new(); COUNT],
            watch: Watch::new(),
        };
        while let Some(chunk) = self.next(shared) {
            for index in chunk.clone() {
                let watch = &mut tally.watch;
                let report = observe(scenario, design, &mut *self.policy.start(seed, index), &mut |it| {
                    watch.sees(index, it);
                    if index < ASKED {
                        watch.asks(&setup, it.is);
                    }
                });
                tally.steps += u64::from(report.steps);
                tally.undecided += u64::from(report.ended != Ended::AtRest);
                tally.struck += u64::from(report.strikes > 0);
                for (invariant, violation) in report.violations() {
                    tally.broken[invariant] += 1;
                    if tally.failing[invariant].len() < self.samples {
                        tally.failing[invariant].push(index);
                    }
                    let new = (violation.price, index);
                    if tally.cheapest[invariant].is_none_or(|it| new < it) {
                        tally.cheapest[invariant] = Some(new);
                        self.tells(scenario, design, seed, invariant, new, shared.found);
                    }
                }
            }
            let runs = chunk.end - chunk.start;
            let done = shared.done.fetch_add(runs, Ordering::Relaxed) + runs;
            self.done.inspect(|tell| tell(done));
        }
        tally
    }

    /// The next runs for a thread; nothing where there are no more, or the campaign is stopped.
    fn next(&self, shared: &Shared<'_>) -> Option<Range<u64>> {
        if self.stop.is_some_and(|it| it.load(Ordering::Relaxed)) {
            return None;
        }
        let first = shared.begun.fetch_add(CHUNK, Ordering::Relaxed);
        (first < shared.runs).then(|| first..shared.runs.min(first + CHUNK))
    }

    /// Tells of a violation at once, if no thread has told of a better one.
    fn tells(&self, scenario: &Scenario, design: &dyn Design, seed: u64, invariant: usize, new: Best, found: &Found) {
        let Some(tell) = self.found else { return };
        let mut found = found.lock().expect("a thread that panicked ends the campaign");
        if found[invariant].as_ref().is_none_or(|it| new < it.0) {
            let finding = self.finding(scenario, design, seed, invariant, new);
            tell(&finding);
            found[invariant] = Some((new, finding));
        }
    }

    /// Makes a run once more, and leaves out what its violation does not need.
    fn finding(
        &self,
        scenario: &Scenario,
        design: &dyn Design,
        seed: u64,
        invariant: usize,
        (price, index): Best,
    ) -> Finding {
        let (report, actions) = record(scenario, design, &mut *self.policy.start(seed, index));
        let violation = report.broken[invariant].expect("the same run finds the same");
        let prefix = scenario.prefix().count();
        let until = &actions[..(violation.step as usize + 1).saturating_sub(prefix).min(actions.len())];
        let schedule = shrink(scenario, design, until, invariant, price);
        let shrunk = run(scenario, design, &mut Replay::then_normal(&schedule)).broken[invariant].unwrap_or(violation);
        Finding { invariant, task: shrunk.task, price: shrunk.price, run: index, schedule }
    }
}

impl Tally {
    /// The same as if one thread had seen all of it.
    fn joined(mut self, other: Tally) -> Tally {
        self.steps += other.steps;
        self.undecided += other.undecided;
        self.struck += other.struck;
        self.broken.iter_mut().zip(other.broken).for_each(|(it, more)| *it += more);
        for (it, more) in self.cheapest.iter_mut().zip(other.cheapest) {
            *it = [*it, more].into_iter().flatten().min();
        }
        for (it, more) in self.failing.iter_mut().zip(other.failing) {
            it.extend(more);
            it.sort_unstable();
        }
        self.watch.joins(other.watch);
        self
    }
}

fn vacuous(scenario: &Scenario, runs: u64, undecided: u64, coverage: &Coverage) -> Vec<Vacuous> {
    let no_rest = (runs == undecided).then_some(Vacuous::NeverAtRest);
    let never_struck = coverage.never_struck(scenario).map(Vacuous::NeverStruck);
    let never_tested = (0..COUNT).filter(|it| !coverage.tested[*it]).map(Vacuous::NeverTested);
    no_rest.into_iter().chain(never_struck).chain(never_tested).collect()
}
