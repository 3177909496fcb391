//! What the helper for tests says where an expectation is not met, and that it says nothing where it is.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Output};

use vgdp_sim::designs::{CloseOnTerminal, PositiveGrace, Upstream, WatcherWatchesPodDelete};
use vgdp_sim::expect::expect;
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::design::Design;
use vgdp_sim::model::time::{Obligation, Span, Times};
use vgdp_sim::report::Token;
use vgdp_sim::run::run;
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::Deviating;
use vgdp_sim::search::{Bounds, prove, sweep};

/// Upstream under a name that is not built in.
struct Mine;

impl Design for Mine {
    fn name(&self) -> &'static str {
        "mine"
    }
}

/// What a panic says.
fn told(it: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(it)).expect_err("an expectation is not met");
    *panic.downcast::<String>().expect("it panics with a text")
}

/// Each of `parts`, one after the other.
#[track_caller]
fn assert_says(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let Some((_, behind)) = rest.split_once(part) else { panic!("{part:?} is missing, or not there, in\n{text}") };
        rest = behind;
    }
}

fn token_in(text: &str) -> &str {
    text.lines().find_map(|it| it.strip_prefix("Token: ")).expect("there is a token")
}

#[test]
fn what_is_expected_and_is_so_says_nothing() {
    expect(&CloseOnTerminal).conforms();
    let it = expect(&CloseOnTerminal).in_scenario("cancel").within(2);
    it.holds("slot-leak").holds("starved").broken_at_price("cancel-unheard", 0);
    expect(&WatcherWatchesPodDelete).in_scenario("pod-deleted").within(1).holds("slot-leak").no_worse_than(&Upstream);
    expect(&WatcherWatchesPodDelete).in_scenario("pod-deleted").hunted(300).holds("slot-leak");
    expect(&Upstream).in_scenario("normal").within(0).holds_all();
    expect(&Upstream).in_scenario("pod-deleted").within(1).broken_at_price("slot-leak", 1);
}

#[test]
fn a_broken_invariant_is_told_whole_and_its_token_replays() {
    let text = told(|| {
        expect(&Upstream).in_scenario("pod-deleted").within(1).holds("slot-leak");
    });
    let token = token_in(&text);
    assert_says(
        &text,
        &[
            "upstream in scenario pod-deleted breaks slot-leak at price 1, and should not within 1 deviation\n",
            "\nRun normally, but:\n  1. after ",
            ": the user deletes the pod\n     (user::deletes_pod(a)).\nThen run normally.\n",
            "\npod-deleted: Somebody deletes the pod of an upload",
            " that changed nothing outside (--all shows them).\n", // folded
            "   D1 --",
            "\nBroken: slot-leak: no slot is held for ever",
            &format!("\nToken: {token}\nTo see it again:\n    vgdp-sim replay {token}\n"),
            "\nTo search again, where `design` is upstream:\n",
            "    expect(&design).in_scenario(\"pod-deleted\").within(1).holds(\"slot-leak\");",
        ],
    );
    let token = Token::read(token).unwrap();
    let report = run(&token.scenario, &Upstream, &mut Deviating::new(&token.deviations));
    assert!(report.violations().any(|it| INVARIANTS[it.0].id == "slot-leak"));
}

/// A design that is not built in cannot be typed, so there is a line instead, and that line tells the same.
#[test]
fn a_design_of_ones_own_is_seen_again_by_a_line() {
    let text = told(|| {
        expect(&Mine).in_scenario("pod-deleted").within(1).holds("slot-leak");
    });
    let token = token_in(&text);
    let line = format!("To see it again, where `design` is mine:\n    expect(&design).survives({token:?});\n");
    assert_says(&text, &[&line]);
    assert!(!text.contains("vgdp-sim replay"), "{text}");

    let again = told(|| expect(&Mine).survives(token));
    assert_says(&again, &["mine does not survive this schedule: it breaks ", " for a, +", "\nRun normally, but:\n"]);
    let story = |text: &str| text[text.find("Run normally").unwrap()..text.find("Token: ").unwrap()].to_owned();
    assert_eq!(story(&again), story(&text));
    expect(&WatcherWatchesPodDelete).survives(token);
}

#[test]
fn a_scenario_of_ones_own_is_named_as_it_was_given() {
    let mine = Scenario { name: "my-pods", ..Scenario::named("pod-deleted").unwrap() };
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("expected-pods.json");
    std::fs::write(&file, mine.to_json()).unwrap();
    let file = file.to_str().unwrap();
    let text = told(|| {
        expect(&Upstream).in_scenario(file).within(1).holds("slot-leak");
    });
    let token = token_in(&text);
    assert_says(&text, &[&format!("    vgdp-sim replay {token} --scenario {file}\n")]);
    assert_says(&told(|| expect(&Upstream).survives(token)), &["the token is for a scenario that is not built in"]);
    assert_says(&told(|| expect(&Upstream).in_scenario(file).survives(token)), &["does not survive this schedule"]);

    let text = told(|| {
        expect(&Upstream).given(mine.clone()).within(1).holds("slot-leak");
    });
    let again = format!("    expect(&design).given(scenario).within(1).survives({token:?});\n");
    assert_says(&text, &["where `design` is upstream:\n", &again]);
    assert_says(&told(|| drop(expect(&Upstream).in_scenario("cancle"))), &["did you mean `cancel`?"]);
}

#[test]
fn everything_that_is_broken_is_named_and_the_cheapest_is_told() {
    let text = told(|| {
        expect(&Upstream).in_scenario("cancel").within(2).holds_all();
    });
    let found = sweep(&Scenario::named("cancel").unwrap(), &Upstream, 2, 1_000_000).broken;
    let named: Vec<String> =
        found.iter().map(|it| format!("{} at price {}", INVARIANTS[it.invariant].id, it.price)).collect();
    let named = format!("breaks {}, and should break nothing within 2 deviations; the cheapest", named.join(", "));
    assert_says(&text, &["upstream in scenario cancel ", &named]);
    let fewest = found.iter().min_by_key(|it| (it.price, it.deviations.len())).unwrap();
    assert_eq!(Token::read(token_in(&text)).unwrap().deviations, fewest.deviations);
}

#[test]
fn another_price_is_not_the_expected_one() {
    let text = told(|| {
        expect(&Upstream).in_scenario("pod-deleted").within(1).broken_at_price("slot-leak", 0);
    });
    assert_says(&text, &["breaks slot-leak at price 1, and should at price 0 within 1 deviation\n", "Token: "]);
    let text = told(|| {
        expect(&WatcherWatchesPodDelete).in_scenario("pod-deleted").within(1).broken_at_price("slot-leak", 1);
    });
    let name = WatcherWatchesPodDelete.name();
    let headline =
        format!("{name} does not break slot-leak in scenario pod-deleted, and should at price 1 within 1 deviation");
    assert_says(&text, &[&headline, "To search again", ".broken_at_price(\"slot-leak\", 1);"]);
}

#[test]
fn a_design_is_held_against_another() {
    expect(&Mine).in_scenario("pod-deleted").within(1).no_worse_than(&Upstream);
    let text = told(|| {
        expect(&Mine).in_scenario("pod-deleted").within(1).no_worse_than(&WatcherWatchesPodDelete);
    });
    let other = WatcherWatchesPodDelete.name();
    assert_says(
        &text,
        &["mine in scenario pod-deleted breaks ", &format!(", and {other} does not within 1 deviation\n")],
    );
}

#[test]
fn what_was_never_tried_meets_no_expectation() {
    let text = told(|| {
        expect(&PositiveGrace).in_scenario("cancel").hunted(0).holds("crash");
    });
    assert_says(
        &text,
        &["positive-grace breaks crash in scenario cancel is not decided: nothing that the scenario allows"],
    );
    let unknown = told(|| {
        expect(&Upstream).in_scenario("cancel").holds("slot-leek");
    });
    assert_says(&unknown, &["no invariant is called `slot-leek`; did you mean `slot-leak`?"]);
    assert_says(&told(|| drop(expect(&Upstream).in_scenario("cancel").scope(4, 1))), &["do not fit"]);
}

#[test]
fn a_token_that_diverges_decides_nothing() {
    let found = sweep(&Scenario::named("pod-deleted").unwrap(), &Upstream, 1, 1_000_000).broken;
    let leak = found.into_iter().find(|it| it.price == 1).unwrap();
    let elsewhere = Token::new(&Scenario::named("normal").unwrap(), &Upstream, &leak.deviations).to_string();
    assert_says(&told(|| expect(&Upstream).survives(&elsewhere)), &["Diverged: deviation 1 was not made"]);
    assert_says(&told(|| expect(&Upstream).survives("vgdp")), &["a token begins with `vgdp1-`"]);
}

/// The helper expects what the proof has shown.
#[test]
fn a_small_scope_is_proved() {
    let at_once = |times: Times, it| times.with(it, Span { earliest: 1, latest: Some(1) });
    let times =
        [Obligation::ContainerStart, Obligation::MoverBoot, Obligation::StatusPatch, Obligation::RepositoryOpen]
            .into_iter()
            .fold(Times::default(), at_once);
    let pod_deleted = Scenario::named("pod-deleted").unwrap().scope(1, 1);
    let scenario = Scenario { merges_enqueue: true, reports_progress: false, times, ..pod_deleted };
    let proof = prove(&scenario, &Mine, Bounds::default());
    let it = expect(&Mine).given(scenario).proved();
    for (index, invariant) in INVARIANTS.iter().enumerate() {
        match proof.cheapest(index) {
            Some(cheapest) => it.broken_at_price(invariant.id, cheapest.price),
            None => it.holds(invariant.id),
        };
    }
    let cheapest = proof.broken.first().expect("a pod that is deleted breaks something");
    let (id, price) = (INVARIANTS[cheapest.invariant].id, cheapest.price);
    let text = told(|| {
        it.holds(id);
    });
    assert_says(
        &text,
        &[&format!("breaks {id} at price {price}, and should not in any schedule\n"), "Broken: ", ".proved()"],
    );
}

/// What the test below runs in a process of its own, for the sake of the environment.
#[test]
#[ignore = "run by seeds_come_from_the_environment_and_are_printed"]
fn hunts() {
    expect(&Upstream).in_scenario("pod-deleted").hunted(300).holds("slot-leak");
}

fn hunts_with(seed: Option<&str>) -> Output {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "hunts", "--nocapture"]).env_remove("VGDP_SIM_SEED");
    command.envs(seed.map(|it| ("VGDP_SIM_SEED", it))).output().unwrap()
}

#[test]
fn seeds_come_from_the_environment_and_are_printed() {
    let told = |seed| {
        let Output { stdout, stderr, .. } = hunts_with(seed);
        String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap()
    };
    for (typed, seed) in [(None, 1), (Some("7"), 7), (Some("25bb43b"), 0x025b_b43b)] {
        let text = told(typed);
        assert!(
            text.contains(&format!("VGDP_SIM_SEED={seed}: 300 runs of upstream in scenario pod-deleted\n")),
            "{text}"
        );
        assert!(text.contains(&format!("\nTo search again with VGDP_SIM_SEED={seed}, where")), "{text}");
        assert!(text.contains(".in_scenario(\"pod-deleted\").hunted(300).holds(\"slot-leak\");"), "{text}");
    }
    let text = told(Some("main"));
    assert!(text.contains("VGDP_SIM_SEED is `main`, which is neither a number nor the hash of a commit"), "{text}");
}
