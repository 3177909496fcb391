//! At least a million schedules of upstream, spread over the built-in scenarios, in each `cargo test`.
//!
//! The seed is `VGDP_SIM_SEED`, a number or a commit hash, or else 1. It is always printed, and so is each finding with
//! the one command that runs exactly its schedule again.

#[path = "support/failing.rs"]
mod failing;

use std::collections::BTreeMap;
use std::io::Write;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use failing::Failing;
use vgdp_sim::designs::{CloseOnForcedCancel, Upstream};
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::faults::Disturbance;
use vgdp_sim::report::command_of_run;
use vgdp_sim::run::Ended;
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::{PORTFOLIO, Policy, Scheduler};
use vgdp_sim::search::{Answer, Campaign, Finding, Hunt, Vacuous, hunt, seed};

/// Schedules that a `cargo test` explores, at least.
const SCHEDULES: u64 = 1_000_000;

/// What a reading of Velero predicts and a campaign must find: the scenario, the invariant, and the highest price.
const HAZARDS: &[(&str, &str, u8)] = &[
    ("normal", "phase-regresses", 0),
    ("normal", "orphan-pod", 0),
    ("cancel", "slot-leak", 0),
    ("cancel", "cancel-unheard", 0),
    ("cancel", "crash", 0),
    ("cancel", "send-blocked", 0),
    ("cancel", "orphan-watcher", 0),
    ("cancel-while-starting", "slot-leak", 0),
    ("forced-cancel-by-owner", "slot-leak", 0),
    ("forced-cancel-by-other-node", "slot-leak", 0),
    ("cr-deleted", "mistake-costs-slot", 1),
    ("finalizer-stripped", "slot-leak", 2),
    ("pod-deleted", "slot-leak", 1),
    ("kill-fails", "slot-leak", 2),
    ("double-trigger", "slot-leak", 2),
    ("watch-broken", "slot-leak", 2),
    ("two-uploads-one-slot", "starved", 0),
    ("two-uploads-one-slot", "slow-start", 0),
    ("download-cancel", "slot-leak", 0),
    ("download-pod-deleted", "slot-leak", 1),
];

/// Two threads, or as many as there are if that is more.
fn jobs() -> NonZeroUsize {
    let two = NonZeroUsize::new(2).expect("it is not 0");
    std::thread::available_parallelism().map_or(two, |it| it.max(two))
}

/// The seed that was asked for.
fn asked_seed() -> u64 {
    match std::env::var("VGDP_SIM_SEED") {
        Ok(text) => seed(&text).unwrap_or_else(|| panic!("VGDP_SIM_SEED is `{text}`; write a number or a commit hash")),
        Err(_) => 1,
    }
}

/// A line that the test harness does not keep to itself.
fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}"); // nobody is left to be told if this fails
}

/// The scenarios as they are, but what takes too long for many schedules in the smallest scope.
fn small() -> Vec<Scenario> {
    let all = Scenario::built_in().into_iter();
    all.map(|it| if it.name == "anything" { it.scope(1, 1) } else { it }).collect()
}

/// A million schedules: what is known to be wrong is found, nothing stays undecided, and whoever may strike does.
#[test]
fn a_million_schedules_find_the_known_hazards() {
    let (seed, start, scenarios) = (asked_seed(), Instant::now(), small());
    tell(&format!("VGDP_SIM_SEED={seed}"));
    let runs = SCHEDULES.div_ceil(scenarios.len() as u64);
    let mut found = BTreeMap::new();
    let mut total = 0;
    for scenario in &scenarios {
        let campaign = Hunt { jobs: jobs(), ..Hunt::default() }.run(scenario, &Upstream, seed, runs);
        total += campaign.runs;
        for Finding { invariant, price, run, .. } in &campaign.findings {
            let again = command_of_run(scenario, &Upstream, &PORTFOLIO, seed, *run).expect("all is built in");
            let id = INVARIANTS[*invariant].id;
            tell(&format!("{id:<22} price {price}  seed {seed} run {run:<6} {again}"));
            found.insert((scenario.name, id), *price);
        }
        let (once, of) = campaign.risk();
        tell(&format!(
            "{}: {} edges, {once} of them in one of {of} runs",
            scenario.name,
            campaign.coverage.edges.len()
        ));
        assert_eq!(campaign.undecided, 0, "{}", unrest(scenario, seed, runs));
        let idle: Vec<Disturbance> = campaign.coverage.never_struck(scenario).collect();
        assert_eq!(idle, [], "{}: seed {seed}", scenario.name);
    }
    tell(&format!("{total} schedules in {:.1} s", start.elapsed().as_secs_f32()));
    assert!(total >= SCHEDULES);
    let is_missing = |(name, id, most): &&(&str, &str, u8)| found.get(&(*name, *id)).is_none_or(|it| it > most);
    let missing: Vec<_> = HAZARDS.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "not found with seed {seed}: {missing:?}");
}

/// The first run of a campaign that comes to no rest, and how to see it again.
fn unrest(scenario: &Scenario, seed: u64, runs: u64) -> String {
    let comes_to_rest = |run| vgdp_sim::run::run(scenario, &Upstream, &mut *PORTFOLIO.start(seed, run)).ended;
    let run = (0..runs).find(|&run| comes_to_rest(run) != Ended::AtRest).expect("one is undecided");
    failing(scenario, seed, run).failed("it comes to no rest")
}

/// A run of upstream by the portfolio.
fn failing(scenario: &Scenario, seed: u64, run: u64) -> Failing<'_> {
    Failing { scenario, design: &Upstream, policy: &PORTFOLIO, seed, run }
}

/// The command of a finding takes the portfolio's turn of that run, and no other state.
#[test]
fn a_finding_runs_again_from_its_seed_and_its_run() {
    let scenario = Scenario::named("cancel").unwrap();
    let campaign = hunt(&scenario, &Upstream, asked_seed(), 5_000);
    assert!(!campaign.findings.is_empty());
    for it in &campaign.findings {
        let report = vgdp_sim::run::run(&scenario, &Upstream, &mut *PORTFOLIO.start(asked_seed(), it.run));
        assert!(
            report.broken[it.invariant].is_some(),
            "{}",
            failing(&scenario, asked_seed(), it.run).broke(it.invariant)
        );
    }
}

/// Any number of threads finds the same: counts, findings, bugs, coverage.
#[test]
fn one_job_and_several_make_the_same_campaign() {
    for name in ["cancel", "anything"] {
        let scenario = Scenario::named(name).unwrap();
        let campaign = |jobs| {
            let jobs = NonZeroUsize::new(jobs).unwrap();
            let campaign = Hunt { jobs, samples: 3, ..Hunt::default() }.run(&scenario, &Upstream, asked_seed(), 2_000);
            assert!(!campaign.findings.is_empty() && !campaign.bugs.is_empty());
            campaign
        };
        let one = campaign(1);
        assert_eq!(one, campaign(2), "{name}");
        assert_eq!(one, campaign(5), "{name}");
        assert_eq!(format!("{one:?}"), format!("{:?}", campaign(2)));
    }
}

/// The simple form is the form with options, left as they are.
#[test]
fn a_hunt_is_a_hunt_without_options() {
    let scenario = Scenario::named("pod-deleted").unwrap();
    assert_eq!(hunt(&scenario, &Upstream, 3, 300), Hunt::default().run(&scenario, &Upstream, 3, 300));
}

/// Each finding is told before the campaign ends, and the last that is told of an invariant is what the campaign keeps.
#[test]
fn findings_are_told_as_they_come() {
    let scenario = Scenario::named("cancel").unwrap();
    for jobs in [1, 3] {
        let told: Mutex<Vec<Finding>> = Mutex::default();
        let found = |it: &Finding| told.lock().unwrap().push(it.clone());
        let jobs = NonZeroUsize::new(jobs).unwrap();
        let campaign = Hunt { jobs, found: Some(&found), ..Hunt::default() }.run(&scenario, &Upstream, 1, 2_000);
        let told = told.into_inner().unwrap();
        for it in &campaign.findings {
            assert_eq!(told.iter().rfind(|told| told.invariant == it.invariant), Some(it));
        }
        assert!(told.iter().all(|it| campaign.findings.iter().any(|kept| kept.invariant == it.invariant)));
        assert_eq!(campaign, hunt(&scenario, &Upstream, 1, 2_000));
    }
}

/// The runs of a campaign that crash the mover are many, and one bug: its price, its first deviations and its sample.
#[test]
fn failing_runs_are_few_bugs() {
    let scenario = Scenario::named("cancel").unwrap();
    let campaign = Hunt { samples: 12, jobs: jobs(), ..Hunt::default() }.run(&scenario, &Upstream, 1, 4_000);
    for id in ["crash", "slot-leak"] {
        let invariant = INVARIANTS.iter().position(|it| it.id == id).unwrap();
        let bugs: Vec<_> = campaign.bugs.iter().filter(|it| it.invariant == invariant).collect();
        let sampled: u64 = bugs.iter().map(|it| it.runs.len() as u64).sum();
        assert!((1..=12).contains(&sampled) && sampled <= campaign.broken[invariant], "{id}: {sampled}");
        assert!((1..=3).contains(&bugs.len()) && (bugs.len() as u64) < sampled, "{id}: {bugs:#?}");
        for it in bugs {
            let mut deviating = vgdp_sim::scheduler::Deviating::lenient(&it.deviations);
            let report = vgdp_sim::run::run(&scenario, &Upstream, &mut deviating);
            let is_broken = report.broken[invariant].is_some_and(|violation| violation.price <= it.price);
            assert!(is_broken, "{it:#?}: {}", failing(&scenario, 1, it.run).broke(invariant));
        }
    }
}

/// What a test says when it fails on a schedule is enough to make the schedule again.
#[test]
fn a_failing_test_says_how_to_see_it_again() {
    let scenario = Scenario::named("cancel").unwrap();
    let leak = INVARIANTS.iter().position(|it| it.id == "slot-leak").unwrap();
    let found = hunt(&scenario, &Upstream, 1, 1_000).findings.into_iter().find(|it| it.invariant == leak).unwrap();
    let text = failing(&scenario, 1, found.run).broke(leak);
    let run = found.run;
    assert!(text.starts_with("slot-leak is broken for a at price 0\n  scenario cancel "), "{text}");
    assert!(text.contains(&format!("design upstream, policy portfolio, seed 1, run {run}\n")), "{text}");
    assert!(
        text.contains(&format!("\n  vgdp-sim run --design upstream --scenario cancel --seed 1 --run {run}\n")),
        "{text}"
    );
    let token = text.split_once("vgdp-sim replay ").expect("deviations tell it").1;
    let token = vgdp_sim::report::Token::read(token).unwrap();
    let mut deviating = vgdp_sim::scheduler::Deviating::new(&token.deviations);
    assert!(vgdp_sim::run::run(&token.scenario, &Upstream, &mut deviating).broken[leak].is_some());

    let other = Scenario { name: "dear", price: 3, ..scenario.clone() };
    let text = failing(&other, 1, run).failed("it is another");
    assert!(text.starts_with("it is another\n") && text.contains(" --scenario ./dear.json --seed 1 "), "{text}");
}

/// A campaign that is stopped is the campaign of as many runs as it had, whoever made them.
#[test]
fn a_stopped_campaign_is_a_shorter_one() {
    let scenario = Scenario::named("cancel").unwrap();
    for jobs in [1, 3] {
        let stop = AtomicBool::new(false);
        let stops = |done| stop.store(done >= 700, Ordering::Relaxed);
        let jobs = NonZeroUsize::new(jobs).unwrap();
        let hunt = Hunt { jobs, samples: 2, done: Some(&stops), stop: Some(&stop), ..Hunt::default() };
        let campaign = hunt.run(&scenario, &Upstream, 1, 1_000_000);
        assert!((700..2_000).contains(&campaign.runs), "{}", campaign.runs);
        let whole = Hunt { samples: 2, ..Hunt::default() }.run(&scenario, &Upstream, 1, campaign.runs);
        assert_eq!(campaign, whole);

        let none = hunt.run(&scenario, &Upstream, 1, 1_000_000);
        assert_eq!((none.runs, none.answer(0)), (0, Answer::Undecided(0)), "it was stopped before");
    }
}

/// Who is told how many runs are done hears of the last.
#[test]
fn runs_are_told_as_they_are_done() {
    let scenario = Scenario::named("normal").unwrap();
    let told: Mutex<Vec<u64>> = Mutex::default();
    let tell = |done| told.lock().unwrap().push(done);
    Hunt { jobs: jobs(), done: Some(&tell), ..Hunt::default() }.run(&scenario, &Upstream, 1, 300);
    let mut told = told.into_inner().unwrap();
    told.sort_unstable();
    assert!(told.len() > 3 && told.last() == Some(&300), "{told:?}");
}

/// Somebody who ends each run at once.
struct Quitter;

impl Policy for Quitter {
    fn name(&self) -> &'static str {
        "quitter"
    }

    fn start(&self, _: u64, _: u64) -> Box<dyn Scheduler> {
        struct Quits;
        impl Scheduler for Quits {
            fn pick(&mut self, _: &vgdp_sim::model::rules::Enabled, _: vgdp_sim::scheduler::Fired) -> Option<usize> {
                None
            }
        }
        Box::new(Quits)
    }
}

/// A campaign that comes to no rest and strikes nobody says so, and decides nothing about what is judged at rest.
#[test]
fn a_campaign_that_proves_nothing_says_so() {
    let scenario = Scenario::named("pod-deleted").unwrap();
    let campaign = Hunt { policy: &Quitter, ..Hunt::default() }.run(&scenario, &Upstream, 1, 10);
    assert!(campaign.is_vacuous(&scenario) && campaign.vacuous.contains(&Vacuous::NeverAtRest));
    assert!(campaign.vacuous.contains(&Vacuous::NeverStruck(Disturbance::DeletePod)));
    let answers = |id: &str| campaign.answer(INVARIANTS.iter().position(|it| it.id == id).unwrap());
    assert_eq!(answers("slot-leak"), Answer::Undecided(10));
    assert_eq!(answers("crash"), Answer::NoneIn(10));

    let campaign: Campaign = hunt(&scenario, &CloseOnForcedCancel, 1, 500);
    assert!(!campaign.vacuous.contains(&Vacuous::NeverAtRest));
    assert!(!campaign.vacuous.contains(&Vacuous::NeverStruck(Disturbance::DeletePod)));
    assert!(campaign.vacuous.iter().any(|it| matches!(it, Vacuous::NeverTested(_))));
    let answer = |id: &str| campaign.answer(INVARIANTS.iter().position(|it| it.id == id).unwrap());
    assert_eq!(answer("final-changes"), Answer::NoneIn(500));
    assert!(matches!(answer("slot-leak"), Answer::Broken(_)));
}
