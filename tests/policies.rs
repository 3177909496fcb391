//! The policies: whose turn it is, that a seed is enough, and that each is worth its place.

#[path = "support/failing.rs"]
mod failing;

use std::collections::BTreeSet;

use failing::Failing;
use vgdp_sim::designs::Upstream;
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::rules::{Class, Enabled, Rule};
use vgdp_sim::run::{Ended, observe, run};
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::{Fired, POLICIES, PORTFOLIO, Placed, Policy, Scheduler, Swarm, Uniform, policy_named};
use vgdp_sim::search::record;

/// All of them, and all in turn.
fn all() -> impl Iterator<Item = &'static dyn Policy> {
    POLICIES.iter().copied().chain([&PORTFOLIO as &dyn Policy])
}

/// The same seed and index give the same run; another of either gives another.
#[test]
fn a_seed_and_an_index_make_a_run() {
    let scenario = Scenario::named("anything").unwrap();
    for policy in all() {
        let actions = |seed, index| record(&scenario, &Upstream, &mut *policy.start(seed, index)).1;
        let distinct: BTreeSet<_> = (0..20).map(|index| actions(9, index)).collect();
        assert_eq!(distinct.len(), 20, "{}", policy.name());
        for index in 0..20 {
            assert_eq!(actions(9, index), actions(9, index), "{}", policy.name());
            assert_ne!(actions(9, index), actions(10, index), "{}", policy.name());
        }
    }
}

/// No policy can keep a run from its rest.
#[test]
fn every_run_comes_to_rest() {
    for scenario in Scenario::built_in() {
        for policy in all() {
            for index in 0..100 {
                let report = run(&scenario, &Upstream, &mut *policy.start(4, index));
                let failing = Failing { scenario: &scenario, design: &Upstream, policy, seed: 4, run: index };
                assert_eq!(report.ended, Ended::AtRest, "{}", failing.failed("it comes to no rest"));
            }
        }
    }
}

/// No two policies make the same runs under two names.
#[test]
fn policies_differ() {
    let scenario = Scenario::named("cancel").unwrap();
    let runs: BTreeSet<_> = POLICIES.iter().map(|it| record(&scenario, &Upstream, &mut *it.start(5, 1)).1).collect();
    assert_eq!(runs.len(), POLICIES.len());
}

/// Each is found under its name, and a misspelt one is pointed out.
#[test]
fn a_policy_has_a_name() {
    for policy in all() {
        assert_eq!(policy_named(policy.name()).unwrap().name(), policy.name());
        assert!(!policy.sentence().is_empty());
    }
    let error = policy_named("placed-swam").err().unwrap().to_string();
    assert_eq!(error, "no policy is called `placed-swam`; did you mean `placed-swarm`?");
}

/// The portfolio takes turns by the index of the run, so a run alone is the run of its campaign.
#[test]
fn the_portfolio_takes_turns() {
    let scenario = Scenario::named("cancel").unwrap();
    let count = PORTFOLIO.0.len() as u64;
    for index in 0..3 * count {
        let policy = PORTFOLIO.0[(index % count) as usize];
        assert_eq!(PORTFOLIO.at(index).name(), policy.name());
        let once = record(&scenario, &Upstream, &mut *policy.start(1, index));
        assert_eq!(once, record(&scenario, &Upstream, &mut *PORTFOLIO.start(1, index)));
    }
}

/// Two policies are the schedulers of that name.
#[test]
fn policies_are_schedulers_with_a_name() {
    let scenario = Scenario::named("anything").unwrap();
    for index in 0..20 {
        let by_name = |name: &str| record(&scenario, &Upstream, &mut *policy_named(name).unwrap().start(2, index));
        assert_eq!(by_name("placed-swarm"), record(&scenario, &Upstream, &mut Placed::new(2, index)));
        assert_eq!(by_name("placed-swarm"), record(&scenario, &Upstream, &mut Placed::<Swarm>::over(2, index)));
        assert_eq!(by_name("uniform"), record(&scenario, &Upstream, &mut Uniform::new(2, index)));
    }
}

/// What is possible only for a few steps is struck by the keen, and hardly ever by who places strikes beforehand.
#[test]
fn the_keen_strike_what_is_possible_only_for_a_moment() {
    let scenario = Scenario::named("anything").unwrap();
    let strikes = |policy: &str| {
        let policy = policy_named(policy).unwrap();
        let mut strikes = 0;
        for index in 0..600 {
            observe(&scenario, &Upstream, &mut *policy.start(1, index), &mut |it| {
                strikes += u32::from(it.action.rule() == Rule::PodFaultHangsTransfer);
            });
        }
        strikes
    };
    let (keen, placed) = (strikes("keen-swarm"), strikes("placed-swarm"));
    assert!(keen >= 3 && keen > 3 * placed, "{keen} and {placed}");
}

/// Placing strikes finds what a uniform choice, which spends them at once, does not.
#[test]
fn placed_strikes_find_what_uniform_ones_do_not() {
    let scenario = Scenario::named("cancel").unwrap();
    let crash = INVARIANTS.iter().position(|it| it.id == "crash").unwrap();
    for policy in all() {
        let is_found =
            (0..1_500).any(|index| run(&scenario, &Upstream, &mut *policy.start(1, index)).broken[crash].is_some());
        assert_eq!(is_found, policy.name() != "uniform", "{}", policy.name());
    }
}

/// Watches how often the goroutine that acted last acts again, though another could.
struct Repeats<'a> {
    inner: &'a mut dyn Scheduler,
    again: u32,
    of: u32,
}

impl Scheduler for Repeats<'_> {
    fn pick(&mut self, enabled: &Enabled, last: Fired) -> Option<usize> {
        let index = self.inner.pick(enabled, last)?;
        let goroutine =
            |it: &vgdp_sim::model::rules::Action| (it.rule().name().split("::").next().unwrap(), it.node(), it.task());
        let steps = || enabled.iter().filter(|it| it.class() == Class::Step);
        if let Some(last) = last.action
            && steps().any(|it| goroutine(it) == goroutine(&last))
            && steps().any(|it| goroutine(it) != goroutine(&last))
        {
            self.again += u32::from(goroutine(&enabled[index]) == goroutine(&last));
            self.of += 1;
        }
        Some(index)
    }
}

/// Who is sticky stays with one goroutine more often than who chooses evenly.
#[test]
fn the_sticky_stay() {
    let scenario = Scenario::named("normal").unwrap();
    let share = |name: &str| {
        let (mut again, mut of) = (0, 0);
        for index in 0..300 {
            let mut inner = policy_named(name).unwrap().start(1, index);
            let mut repeats = Repeats { inner: &mut *inner, again: 0, of: 0 };
            run(&scenario, &Upstream, &mut repeats);
            (again, of) = (again + repeats.again, of + repeats.of);
        }
        assert!(of > 1_000, "{of}");
        100 * again / of
    };
    let (sticky, even) = (share("placed-sticky"), share("placed-uniform"));
    assert!(sticky > even + 10, "{sticky} % and {even} %");
}
