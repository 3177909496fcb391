//! Designs side by side: what is found, what is said of it, and that it is what was recorded.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::available_parallelism;

use serde_json::Value;

use vgdp_sim::designs::{self, CloseOnTerminal, NoReaction, Upstream};
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::design::Design;
use vgdp_sim::model::time::Obligation;
use vgdp_sim::report::comparison::{files, run_command, tables, token};
use vgdp_sim::report::{Expected, Replayed, Schedule, Token, Tokens, Told, expected, json, junit, page};
use vgdp_sim::run::run;
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::{Placed, Replay};
use vgdp_sim::search::{By, Cell, Change, Comparison, Effort, Trial, compare, sensitivity};

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
    compare(&scenarios, designs, effort, jobs(threads), None, &|_| {})
}

/// One deviation and some runs: enough to find something in each way.
fn quick() -> Effort {
    Effort { deviations: 1, runs: 200, ..Effort::default() }
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
    let effort = Effort { worlds: 2_000, runs: 0, ..Effort::default() };
    let it = compared(&["cancel"], &[&Upstream], effort, 1);
    assert!(it.pair(0, 0).is_partial() && it.pair(0, 0).within < 2);
    let within = it.pair(0, 0).within;
    assert!(expected::text(&it).contains(&format!("cancel upstream stuck none within {within}\n")));
    let text = tables(&it, Tokens::First, 100);
    assert!(text.contains(&format!("and with {} in part", within + 1)), "{text}");
    assert!(text.contains(&format!("-{within} ")) || text.contains(&format!("None within {within} dev")), "{text}");
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

/// A scope so small that each world can be visited; in it `orphan-watcher` is broken and `stuck` is not.
fn proved(effort: Effort) -> Comparison<'static> {
    let scenario = Scenario::named("normal").unwrap().scope(1, 1).small();
    compare(&[scenario], &[&Upstream, &CloseOnTerminal], effort, jobs(2), None, &|_| {})
}

#[test]
fn a_proof_gives_the_answer_where_it_visits_every_world() {
    let effort = Effort { deviations: 1, runs: 0, proofs: 200_000, ..Effort::default() };
    let it = proved(effort);
    let (pair, stuck, orphan) = (it.pair(0, 0), index_of("stuck"), index_of("orphan-watcher"));
    assert!(pair.is_whole() && !pair.cells[stuck].is_broken());
    assert_eq!((pair.by(stuck), pair.by(orphan)), (By::Proof, By::Proof));
    let exposed = pair.cells[orphan].exposed.as_ref().expect("one deviation is not enough");
    let report = run(&it.scenarios[0], &Upstream, &mut Replay::strict(&exposed.cheapest.schedule));
    assert_eq!(report.broken[orphan].map(|it| it.step + 1), Some(exposed.cheapest.steps));
    let text = tables(&it, Tokens::First, 1_000);
    assert!(text.contains("stuck none") && text.contains("!0"), "{text}");
    assert!(
        text.contains("all 123,480 worlds up to price 0") || text.contains(" to 123,480 worlds up to price 0"),
        "{text}"
    );
    assert!(!text.contains("None within"), "{text}");
    assert!(expected::text(&it).contains("normal upstream stuck none up to price 0, proved\n"));
    let document: Value = serde_json::from_str(&json::text(&it)).unwrap();
    let upstream = &document["scenarios"]["normal"]["designs"]["upstream"];
    assert_eq!(upstream["proof"]["complete"]["worlds"], 123_480);
    assert_eq!(upstream["invariants"]["stuck"]["by"], "proof");
    assert_eq!(upstream["invariants"]["orphan-watcher"]["proof"]["price"], 0);
    assert_eq!(expected::text(&it).parse::<Expected>().unwrap().differences(&it), [""; 0]);
}

/// A proof that stops early shows nothing about what it did not find.
#[test]
fn a_proof_that_stops_early_claims_nothing() {
    let effort = Effort { deviations: 1, runs: 50, proofs: 50_000, ..Effort::default() };
    let it = proved(effort);
    let stuck = index_of("stuck");
    assert!(!it.pair(0, 0).is_whole());
    assert_eq!(it.pair(0, 0).by(stuck), By::Sweep);
    let text = tables(&it, Tokens::First, 1_000);
    assert!(
        text.contains("A proof of price 0 stopped at its bound of 50,000 worlds: every schedule of up to "),
        "{text}"
    );
    assert!(!text.contains("stuck none"), "{text}");
    assert!(expected::text(&it).contains("normal upstream stuck none within 1\n"));
}

/// Which search gave an answer stands in the cell, and below the table what the marks say.
#[test]
fn the_marks_say_which_search_it_was() {
    let effort = Effort { deviations: 1, worlds: 5_000, ..quick() };
    let it = compared(&["pod-deleted", "cancel"], &[&Upstream, &CloseOnTerminal], effort, 2);
    let text = tables(&it, Tokens::First, 120);
    let (table, legend) = text.rsplit_once("\n\n").expect("the legend comes last");
    for (mark, says) in [("~", "only chance found it"), ("-", "none found")] {
        assert!(table.contains(mark) && legend.contains(says), "{mark}: {text}");
    }
    assert!(!legend.contains("only a proof") && !legend.contains("not tried"), "{text}");
    assert!(
        (0..2).all(|s| (0..2).all(|d| INVARIANTS.iter().enumerate().all(|(i, _)| it.pair(s, d).by(i) != By::Nothing)))
    );
}

/// The cell of an invariant for upstream, alone in its table; the list below says what it needs.
fn cell_and_list(all: &Comparison<'_>, id: &str) -> (String, String) {
    let only = Comparison { invariants: vec![index_of(id)], ..all.clone() };
    let text = tables(&only, Tokens::First, 120);
    let cell = text.lines().find_map(|it| it.strip_prefix("upstream ")).expect("its row").trim().to_owned();
    let (_, list) = text.split_once(" by chance, seed 1.").or(text.split_once(" worlds a design.")).unwrap();
    (cell, list.split("\n\n").next().unwrap().to_owned())
}

fn changes<'a>(trials: impl Iterator<Item = &'a Trial>) -> Vec<(Obligation, Change)> {
    trials.map(|it| (it.assumption, it.change)).collect()
}

/// Where containers start in half the time an upload regresses no more, with so few deviations.
#[test]
fn only_a_race_that_needs_no_assumption_is_marked() {
    let effort = Effort { runs: 0, ..Effort::default() };
    let it = compared(&["two-uploads-one-slot"], &[&Upstream], effort, 1);
    let of = |id: &str| it.pair(0, 0).cells[index_of(id)].clone();
    let (leak, regresses) = (of("slot-leak"), of("phase-regresses"));
    let asked = regresses.sensitivity.as_ref().expect("it is a race");
    assert_eq!(changes(asked.needs()), [(Obligation::ContainerStart, Change::Halved)]);
    assert!(leak.is_robust() && !regresses.is_robust() && asked.open().next().is_none());

    let needs = "phase-regresses (needs ContainerStart not to be halved)";
    let (cell, list) = cell_and_list(&it, "phase-regresses");
    assert!(cell == "0·2" && list.contains(needs), "{cell}: {list}");
    let (cell, list) = cell_and_list(&it, "slot-leak");
    assert!(cell == "0·2*" && list.ends_with("  slot-leak"), "{cell}: {list}");
    let text = tables(&it, Tokens::First, 1_000);
    assert!(text.contains("\n0·2*  robust: ") && text.contains(" Without the * it needs one"), "{text}");

    let document: Value = serde_json::from_str(&json::text(&it)).unwrap();
    let upstream = &document["scenarios"]["two-uploads-one-slot"]["designs"]["upstream"]["invariants"];
    let asked = &upstream["phase-regresses"]["sensitivity"];
    assert_eq!((&asked["robust"], &asked["needs"][0]["change"]), (&Value::from(false), &Value::from("halved")));
    assert_eq!(upstream["slot-leak"]["sensitivity"]["robust"], true);
    assert!(junit::text(&it).contains("\nneeds ContainerStart not to be halved</failure>"));
    let page = page::index(&it, &|_, _, _| false);
    assert!(page.contains("; robust\">0·2*</td>"), "{page}");
    assert!(page.contains("; needs ContainerStart not to be halved\">0·2</td>"), "{page}");
}

/// The answer is that of `vgdp-sim sensitivity`, which asks of one finding at a time.
#[test]
fn findings_are_asked_together_as_each_alone() {
    let effort = Effort { deviations: 1, runs: 0, ..Effort::default() };
    let it = compared(&["two-uploads-one-slot"], &[&Upstream, &CloseOnTerminal], effort, 2);
    let mut count = 0;
    for d in 0..2 {
        for (invariant, cell) in it.pair(0, d).cells.iter().enumerate() {
            let Some(race) = cell.race() else { continue };
            let alone = sensitivity(&it.scenarios[0], it.designs[d], invariant, race, effort.worlds);
            assert!(alone.as_ref().is_some_and(|it| it.trials.len() > 10));
            assert_eq!(cell.sensitivity, alone, "{}", INVARIANTS[invariant].id);
            count += 1;
        }
    }
    assert!(count > 3, "{count}");
}

/// Nothing is searched anew beyond the deviations of the effort: what was not found there may be there or not.
#[test]
fn what_is_not_known_is_not_marked() {
    let effort = Effort { deviations: 0, ..quick() };
    let mut it = compared(&["two-uploads-one-slot"], &[&Upstream], effort, 1);
    let open = |cell: &Cell| cell.sensitivity.as_ref().is_some_and(|it| it.open().next().is_some());
    let open = it.pair(0, 0).cells.iter().position(open).expect("some do not replay");
    let (cell, list) = cell_and_list(&it, INVARIANTS[open].id);
    assert!(cell.starts_with("~0·") && !cell.ends_with('*') && list.contains(" (may need "), "{cell}: {list}");

    it.pairs[0].cells[open].sensitivity = None;
    assert_eq!(it.interrupted(), 1, "who asks gets an answer, if he waits for it");
    it.pairs[0].cells[open].sampled.as_mut().expect("chance found it").deviations = None;
    let (cell, list) = cell_and_list(&it, INVARIANTS[open].id);
    assert!(cell == "~0" && list.contains(" (not asked what it needs)"), "{cell}: {list}");
    assert_eq!(it.interrupted(), 0, "there was nothing to ask");
}

/// What was finished is shown; what was not is not passed off as clean.
#[test]
fn an_interrupted_comparison_shows_what_was_finished() {
    let scenarios = ["normal", "pod-deleted"].map(|it| Scenario::named(it).unwrap());
    let stop = AtomicBool::new(false);
    let done = |count: usize| stop.store(count >= 1, Ordering::Relaxed);
    let effort = Effort { runs: 20, deviations: 1, ..Effort::default() };
    let it = compare(&scenarios, &[&Upstream, &CloseOnTerminal], effort, jobs(1), Some(&stop), &done);
    assert_eq!(it.interrupted(), 3);
    let whole = compared(&["normal"], &[&Upstream], effort, 1);
    assert_eq!(it.pair(0, 0), whole.pair(0, 0));
    assert_eq!(it.pair(1, 1).by(0), By::Nothing);
    let text = tables(&it, Tokens::First, 120);
    for says in ["Nothing was tried", "?", "Interrupted: of 4 pairs of scenario and design 3 were not", "not tried."] {
        assert!(text.contains(says), "{says}: {text}");
    }
    assert!(!text.contains("None within 1 deviation"), "{text}");
}

#[test]
fn each_level_of_effort_tries_more() {
    let levels: Vec<Effort> = (1..=Effort::LEVELS).map(Effort::level).collect();
    assert_eq!(levels[1], Effort::default());
    for pair in levels.windows(2) {
        let [less, more] = [pair[0], pair[1]];
        assert!(less.deviations < more.deviations && less.worlds < more.worlds && less.runs < more.runs);
        assert!(less.proofs < more.proofs || more.proofs == 0);
    }
}
