//! Designs side by side: what is found, what is said of it, and that it is what was recorded.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use serde_json::Value;

use vgdp_sim::designs::{self, CloseOnTerminal, NoReaction, Upstream};
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::design::Design;
use vgdp_sim::report::comparison::{files, run_command, tables, token};
use vgdp_sim::report::{Expected, Replayed, Schedule, Token, Tokens, Told, expected, json};
use vgdp_sim::run::run;
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::{Placed, Replay};
use vgdp_sim::search::{Comparison, Effort, compare};

const RECORDED: &str = include_str!("expected/compare.txt");

fn jobs(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).unwrap()
}

fn compared(
    scenarios: &[&str],
    designs: &[&'static dyn Design],
    effort: Effort,
    threads: usize,
) -> Comparison<'static> {
    let scenarios: Vec<Scenario> = scenarios.iter().map(|it| Scenario::named(it).unwrap()).collect();
    compare(&scenarios, designs, effort, jobs(threads), &|_| {})
}

/// One deviation and some runs: enough to find something in each way.
fn quick() -> Effort {
    Effort { deviations: 1, worlds: 1_000_000, runs: 200, seed: 1 }
}

fn index_of(id: &str) -> usize {
    INVARIANTS.iter().position(|it| it.id == id).unwrap()
}

/// What the project is for, as a table under version control. When it changes, the commit says why:
/// `vgdp-sim compare --expect tests/expected/compare.txt --record tests/expected/compare.txt` records it anew.
#[test]
fn the_recorded_comparison_is_what_is_found() {
    let recorded: Expected = RECORDED.parse().unwrap();
    let threads = available_parallelism().map_or(1, NonZeroUsize::get);
    let designs: Vec<_> = recorded.designs().into_iter().map(|it| designs::named(it).unwrap()).collect();
    let it = compared(&recorded.scenarios(), &designs, recorded.effort, threads);
    let differences = recorded.differences(&it);
    assert!(differences.is_empty(), "not as recorded:\n{}", differences.join("\n"));
}

/// `anything` is left out: two deviations of it are too many for a test.
#[test]
fn the_recorded_comparison_leaves_nothing_out() {
    let recorded: Expected = RECORDED.parse().unwrap();
    let scenarios: Vec<&str> = Scenario::built_in().iter().map(|it| it.name).filter(|it| *it != "anything").collect();
    let designs: Vec<&str> = designs::BUILT_IN.iter().map(|it| it.name()).collect();
    let invariants: Vec<&str> = INVARIANTS.iter().map(|it| it.id).collect();
    assert_eq!(recorded.scenarios(), scenarios);
    assert_eq!(recorded.designs(), designs);
    assert_eq!(recorded.invariants(), invariants);
}

#[test]
fn the_number_of_jobs_changes_no_byte() {
    let texts = |threads| {
        let it = compared(&["pod-deleted", "cancel", "normal"], designs::BUILT_IN, quick(), threads);
        [tables(&it, Tokens::All, 100), json::text(&it), expected::text(&it)]
    };
    let one = texts(1);
    assert!([2, 5, 64].map(texts).iter().all(|it| *it == one));
}

/// It is upstream as a position, so nothing may tell them apart.
#[test]
fn no_reaction_is_upstream() {
    let it = compared(&["pod-deleted", "cancel"], &[&Upstream, &NoReaction], quick(), 2);
    for scenario in 0..2 {
        assert_eq!(it.pair(scenario, 0), it.pair(scenario, 1));
    }
}

#[test]
fn every_violation_of_a_sweep_replays_from_its_token() {
    let effort = Effort { deviations: 2, runs: 0, ..quick() };
    let it = compared(&["cancel", "pod-deleted"], &[&Upstream, &CloseOnTerminal], effort, 2);
    let mut count = 0;
    for s in 0..2 {
        for d in 0..2 {
            for (invariant, cell) in it.pair(s, d).cells.iter().enumerate() {
                let Some(broken) = &cell.swept else { continue };
                let token = Token::read(&token(&it, s, d, &broken.deviations)).unwrap();
                let design = token.design().unwrap();
                assert_eq!((token.scenario.name, design.name()), (it.scenarios[s].name, it.designs[d].name()));
                let told = Told::tell(&token.scenario, design, &token.deviations);
                let violation = told.story.report.broken[invariant].expect("it is broken again");
                assert_eq!(told.missed(), None);
                assert_eq!((violation.price, violation.step + 1), (broken.price, broken.steps));
                count += 1;
            }
        }
    }
    assert!(count > 10, "{count}");
}

#[test]
fn what_chance_found_is_what_a_sweep_did_not_and_replays_in_both_ways() {
    let effort = Effort { deviations: 0, ..quick() };
    let it = compared(&["cancel"], &[&Upstream], effort, 1);
    let pair = it.pair(0, 0);
    let sampled: Vec<_> = pair.cells.iter().enumerate().filter_map(|(i, it)| Some((i, it.sampled.as_ref()?))).collect();
    assert!(pair.cells.iter().all(|it| it.swept.is_none()) && !sampled.is_empty());
    for (invariant, sampled) in sampled {
        let report = run(&it.scenarios[0], &Upstream, &mut Replay::then_normal(&sampled.schedule));
        let violation = report.broken[invariant].expect("its schedule breaks it");
        assert_eq!(violation.step + 1, sampled.steps);
        let report = run(&it.scenarios[0], &Upstream, &mut Placed::new(effort.seed, sampled.run));
        assert_eq!(report.broken[invariant].map(|it| it.price), Some(sampled.price));
        if let Some(deviations) = &sampled.deviations {
            let told = Told::tell(&it.scenarios[0], &Upstream, deviations);
            assert_eq!(told.missed(), None);
            assert!(told.story.report.broken[invariant].is_some_and(|it| it.price <= sampled.price));
        }
        let command = format!("vgdp-sim run --design upstream --scenario cancel --seed 1 --run {}", sampled.run);
        assert_eq!(run_command(&it, 0, 0, sampled), command);
    }
}

#[test]
fn a_bound_on_worlds_is_owned_up_to() {
    let effort = Effort { deviations: 2, worlds: 2_000, runs: 0, seed: 1 };
    let it = compared(&["cancel"], &[&Upstream], effort, 1);
    assert!(it.pair(0, 0).partial && it.pair(0, 0).within < 2);
    let within = it.pair(0, 0).within;
    assert!(expected::text(&it).contains(&format!("cancel upstream stuck none within {within}\n")));
    let text = tables(&it, Tokens::First, 100);
    assert!(text.contains(&format!("and with {} in part", within + 1)), "{text}");
    assert!(!text.contains("None within 2"), "{text}");
}

#[test]
fn a_table_stays_within_its_width_and_never_says_that_something_holds() {
    let names = ["normal", "cancel", "pod-deleted", "two-uploads-one-slot"];
    let it = compared(&names, designs::BUILT_IN, quick(), 2);
    for width in [80, 120] {
        let text = tables(&it, Tokens::All, width);
        let longest = text.lines().max_by_key(|it| it.chars().count()).unwrap();
        let is_command = longest.starts_with("  vgdp-sim ") || longest.starts_with("  vgdp1-"); // these never break
        assert!(longest.chars().count() <= width || is_command, "{width}: {longest}");
        assert!(!text.contains(" hold"), "{text}");
        for design in designs::BUILT_IN {
            assert!(text.lines().any(|it| it.split_whitespace().next() == Some(design.name())), "{}", design.name());
        }
    }
}

/// Every invariant is accounted for once in each part: in a column, beside one, in a line, or as not broken.
#[test]
fn no_invariant_is_lost_between_the_table_and_the_lines_below() {
    let all = compared(&["pod-deleted"], &[&Upstream, &CloseOnTerminal], quick(), 2);
    for (invariant, it) in INVARIANTS.iter().enumerate() {
        let only = Comparison { invariants: vec![invariant], ..all.clone() };
        let text = tables(&only, Tokens::First, 1_000);
        let (same, none) =
            (text.contains(&format!("design: {} ", it.id)), text.contains(&format!("design: {}.", it.id)));
        let words: Vec<&str> = it.id.split_inclusive('-').collect();
        let in_table = text.contains("\ndesign  ") && words.iter().all(|it| text.contains(it));
        assert_eq!(u8::from(same) + u8::from(none) + u8::from(in_table), 1, "{}: {text}", it.id);
    }
}

#[test]
fn json_has_ids_as_keys_and_says_the_same_as_the_table() {
    let it = compared(&["pod-deleted"], &[&Upstream, &CloseOnTerminal], quick(), 2);
    let text = json::text(&it);
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["schema"], json::SCHEMA);
    assert_eq!(document["effort"]["deviations"], 1);
    assert_eq!(document["invariants"]["slot-leak"]["sentence"], INVARIANTS[index_of("slot-leak")].sentence);
    let scenario = &document["scenarios"]["pod-deleted"];
    assert_eq!((&scenario["nodes"], &scenario["price"]), (&Value::from(2), &Value::from(1)));
    for (d, name) in ["upstream", "close-on-terminal"].into_iter().enumerate() {
        let of_design = &scenario["designs"][name];
        let pair = it.pair(0, d);
        assert_eq!(of_design["worlds"], pair.worlds);
        for (cell, invariant) in pair.cells.iter().zip(INVARIANTS) {
            let found = &of_design["invariants"][invariant.id];
            assert_eq!(found["broken"], cell.is_broken());
            assert_eq!(found["price"], cell.price().map_or(Value::Null, Value::from));
            if let Some(swept) = &cell.swept {
                assert_eq!(found["sweep"]["token"], token(&it, 0, d, &swept.deviations));
                assert_eq!(found["sweep"]["deviations"][0], swept.deviations[0].to_string());
            }
            let schedule = found["chance"]["schedule"].as_array().map(Vec::len);
            assert_eq!(schedule, cell.sampled.as_ref().map(|it| it.schedule.len()));
        }
    }
    let at = |id: &str| text.find(&format!("\"{id}\"")).unwrap();
    assert!(INVARIANTS.windows(2).all(|it| at(it[0].id) < at(it[1].id)), "the order is that of the tables");
}

#[test]
fn every_file_is_a_schedule_that_breaks_its_invariant() {
    let it = compared(&["pod-deleted"], &[&Upstream, &CloseOnTerminal], quick(), 2);
    let files = files(&it);
    let broken = |it: &vgdp_sim::search::Cell| usize::from(it.swept.is_some()) + usize::from(it.sampled.is_some());
    let count: usize = (0..2).map(|d| it.pair(0, d).cells.iter().map(broken).sum::<usize>()).sum();
    assert_eq!(files.len(), count);
    assert!(files.iter().any(|it| it.0.contains("by-chance")) && files.iter().any(|it| !it.0.contains("by-chance")));
    for (name, text) in files {
        let schedule: Schedule = text.parse().unwrap_or_else(|it| panic!("{name}: {it}"));
        let design = designs::named(schedule.design).unwrap();
        let mut replay = Replayed::new(&schedule);
        let report = run(&schedule.scenario, design, &mut replay);
        assert_eq!(replay.divergence(&report), None, "{name}");
        assert!(report.broken[schedule.invariant.unwrap()].is_some(), "{name}");
    }
}
