//! The table of rules as a whole.

use vgdp_sim::designs::{BUILT_IN, Upstream};
use vgdp_sim::model::rules::{Class, Enabled, Rule};
use vgdp_sim::model::time::Ticks;
use vgdp_sim::run::observe;
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::{Placed, Uniform};

/// Canonical order is the order of names, so that inserting a rule changes no other's place; the clock comes last.
#[test]
fn rules_are_sorted_by_name() {
    let names: Vec<&str> = Rule::ALL.iter().map(|it| it.name()).filter(|it| !it.starts_with("clock::")).collect();
    assert!(names.is_sorted(), "{names:?}");
    assert_eq!(Rule::ALL.last_chunk(), Some(&[Rule::ClockPasses, Rule::ClockStopsShort]));
}

/// What is enabled comes out in canonical order, each action once.
#[test]
fn enabled_actions_come_in_canonical_order() {
    let scenario = Scenario::named("anything").unwrap();
    let setup = scenario.setup(&Upstream);
    let mut enabled = Enabled::default();
    for index in 0..200 {
        observe(&scenario, &Upstream, &mut Placed::new(5, index), &mut |it| {
            it.is.clone().enabled(&setup, &mut enabled);
            assert!(enabled.is_sorted_by(|a, b| a < b), "{enabled:?}");
        });
    }
}

/// A rule that asks and a rule that fires are one function: what is enabled can be done, what is not changes nothing.
#[test]
fn what_is_enabled_fires_and_what_is_not_changes_nothing() {
    let scenario = Scenario::named("anything").unwrap();
    let setup = scenario.setup(&Upstream);
    let mut enabled = Enabled::default();
    for index in 0..50 {
        let mut seen = Vec::new();
        observe(&scenario, &Upstream, &mut Uniform::new(6, index), &mut |it| {
            let mut world = *it.is;
            world.enabled(&setup, &mut enabled);
            assert_eq!(world, *it.is, "asking changed the world");
            for &action in enabled.iter() {
                assert!({ *it.is }.fire(&setup, action), "{action}");
            }
            for &action in &seen {
                if !enabled.contains(&action) && action != vgdp_sim::model::rules::Action::clock() {
                    assert!(!world.fire(&setup, action), "{action}");
                    assert_eq!(world, *it.is, "{action} is not enabled and changed the world");
                }
            }
            seen.push(it.action);
        });
    }
}

/// Each rule fires in some run of some scenario, with some design: upstream never closes a watcher that runs, and gives
/// pods no grace.
#[test]
fn no_rule_is_dead() {
    let mut fired = [false; Rule::ALL.len()];
    let anything = Scenario::named("anything").unwrap();
    let small = anything.clone().scope(2, 1);
    let fine = Scenario { ticks: Ticks::Fine, ..Scenario::default() };
    for scenario in Scenario::built_in().iter().chain([&small, &anything.scope(1, 2), &fine]) {
        for index in 0..8_000 {
            let design = BUILT_IN[index as usize % BUILT_IN.len()];
            observe(scenario, design, &mut Placed::new(2, index), &mut |it| fired[it.action.rule() as usize] = true);
        }
    }
    let dead: Vec<&str> = Rule::ALL.iter().filter(|it| !fired[**it as usize]).map(|it| it.name()).collect();
    assert_eq!(dead, [""; 0]);
}

/// The same seed gives the same run.
#[test]
fn a_seed_gives_the_same_run_twice() {
    let scenario = Scenario::named("anything").unwrap();
    for index in 0..20 {
        let once = vgdp_sim::search::record(&scenario, &Upstream, &mut Placed::new(9, index));
        assert_eq!(once, vgdp_sim::search::record(&scenario, &Upstream, &mut Placed::new(9, index)));
    }
}

/// Operators and faults have a class of their own, so that a schedule can leave them out.
#[test]
fn operators_and_faults_are_told_apart() {
    for &rule in Rule::ALL {
        let class = match rule.actor() {
            "user" => Class::Operator,
            "clock" => Class::Clock,
            "fault" if rule.name().contains("recovery") => Class::Recovery,
            "fault" => Class::Fault,
            _ => Class::Step,
        };
        assert_eq!(rule.class(), class, "{}", rule.name());
    }
}
