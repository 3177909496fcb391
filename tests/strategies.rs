//! Properties of any scenario, schedule and token, as `vgdp_sim::strategies` draws them.
//!
//! The draws are the same in each run of the tests.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, RngSeed, TestCaseError, TestError, TestRng, TestRunner};

use vgdp_sim::designs::Upstream;
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::report::{Schedule, Then, Token};
use vgdp_sim::run::{Ended, run};
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::Replay;
use vgdp_sim::search::record;
use vgdp_sim::strategies::{Way, budgets, built_in_scenarios, picks, scenarios, schedules, tokens};

/// So many cases, always the same, and no file of failures: a failing case is printed.
fn always(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(always(2_000))]

    /// Whatever a token says, it says it again when it is read, and a person may have shouted it.
    #[test]
    fn a_token_reads_back(token in tokens()) {
        let text = token.to_string();
        prop_assert_eq!(Token::read(&text), Ok(token.clone()));
        prop_assert_eq!(Token::read(&text.to_uppercase()), Ok(token));
    }
}

proptest! {
    #![proptest_config(always(1_000))]

    /// A run is made again by its actions alone, to the last figure of its report, and comes to rest.
    #[test]
    fn a_run_replays(scenario in scenarios(), schedule in schedules()) {
        let (report, actions) = record(&scenario, &Upstream, &mut *schedule.scheduler());
        prop_assert_eq!(report.ended, Ended::AtRest);
        let mut replay = Replay::strict(&actions);
        prop_assert_eq!(run(&scenario, &Upstream, &mut replay), report);
        prop_assert_eq!(replay.diverged(), None);
    }

    /// Nothing costs more than the scenario has to spend.
    #[test]
    fn no_violation_costs_more_than_the_budget(scenario in scenarios(), schedule in schedules()) {
        let report = run(&scenario, &Upstream, &mut *schedule.scheduler());
        for (invariant, violation) in report.violations() {
            prop_assert!(violation.price <= scenario.price, "{}", INVARIANTS[invariant].id);
        }
        prop_assert!(!scenario.allows.is_empty() || report.strikes == 0);
    }

    /// A schedule is read as it was written.
    #[test]
    fn a_schedule_reads_back(scenario in built_in_scenarios(), schedule in schedules()) {
        let (_, actions) = record(&scenario, &Upstream, &mut *schedule.scheduler());
        let schedule = Schedule::new(scenario, &Upstream, None, Then::Stop, actions);
        let read: Schedule = schedule.to_string().parse().expect("it was written here");
        prop_assert_eq!(read, schedule);
    }
}

/// What proptest is left with when it is told that nothing may break.
#[test]
fn a_failing_schedule_shrinks_to_a_few_picks() {
    let scenario = Scenario::named("pod-deleted").unwrap();
    let leak = INVARIANTS.iter().position(|it| it.id == "slot-leak").unwrap();
    let config = ProptestConfig { max_shrink_iters: 20_000, ..always(5_000) };
    let failed = TestRunner::new(config).run(&picks(200), |way| {
        let is_kept = run(&scenario, &Upstream, &mut *way.scheduler()).broken[leak].is_none();
        if is_kept { Ok(()) } else { Err(TestCaseError::fail("a slot leaks")) }
    });
    let Err(TestError::Fail(_, Way::Picks(picks))) = failed else { panic!("no slot leaked: {failed:?}") };
    let departures = picks.iter().filter(|it| **it > 0).count();
    assert!(departures <= 2, "{departures} departures from the normal schedule: {picks:?}");
    assert_eq!(picks.last().map(|it| *it > 0), Some(true), "what follows the last departure is left out: {picks:?}");
}

/// The simplest of all is the normal schedule with nobody who could interfere.
#[test]
fn everything_shrinks_to_the_normal_case() {
    let mut runner = TestRunner::new_with_rng(always(1), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    for _ in 0..50 {
        let mut budget = budgets().new_tree(&mut runner).unwrap();
        while budget.simplify() {}
        let budget = budget.current();
        assert!(budget.price == 0 && budget.allows.is_empty(), "{budget:?}");
        let mut way = picks(200).new_tree(&mut runner).unwrap();
        while way.simplify() {}
        assert_eq!(way.current(), Way::Picks(Vec::new()));
    }
}
