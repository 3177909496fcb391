//! What `explain` writes for other programs: each format says the same run, within the limits of whoever shows it.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde_json::Value;

use vgdp_sim::designs::{CloseOnTerminal, Upstream};
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::report::summary::Kept;
use vgdp_sim::report::{Tokens, explained, itf, json, junit, markdown, mermaid, page, proof};
use vgdp_sim::scenario::Scenario;
use vgdp_sim::search::{
    Bounds, Cap, Comparison, Effort, Explained, Livelock, Proof, Sampled, compare, explain, prove, sweep,
};

/// A cheap explanation of each invariant that upstream breaks in a scenario within two deviations.
fn all(scenario: &str) -> Vec<Explained<'static>> {
    let scenario = Scenario::named(scenario).unwrap();
    let found = sweep(&scenario, &Upstream, 2, 1_000_000);
    let explained = found.broken.iter().map(|it| {
        explain(&scenario, &Upstream, &it.deviations, it.invariant, Cap::worlds(2_000)).expect("it is broken")
    });
    explained.collect()
}

fn each(check: impl Fn(&Explained<'_>)) {
    for scenario in ["cancel", "pod-deleted", "download-cancel"] {
        let all = all(scenario);
        assert!(!all.is_empty());
        all.iter().for_each(&check);
    }
}

fn value(json: &str) -> Value {
    serde_json::from_str(json).expect("it is JSON")
}

#[test]
fn the_json_keeps_to_its_schema() {
    let schema = jsonschema::validator_for(&value(include_str!("../schemas/explained.schema.json"))).unwrap();
    each(|it| {
        let json = value(&explained::json(it));
        let errors: Vec<String> = schema.iter_errors(&json).map(|it| format!("{}: {it}", it.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    });
    let mut other = value(&explained::json(&all("pod-deleted")[0]));
    other["verdict"]["price"] = "none".into();
    assert!(!schema.is_valid(&other), "the schema lets anything pass");
}

#[test]
fn the_itf_trace_has_every_variable_in_every_state() {
    each(|it| {
        let trace = value(&itf::text(it));
        let vars: BTreeSet<&str> = trace["vars"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        let states = trace["states"].as_array().unwrap();
        assert_eq!(states.len(), it.run.steps.len() + 1);
        for (index, state) in states.iter().enumerate() {
            let state = state.as_object().unwrap();
            let names: BTreeSet<&str> = state.keys().map(String::as_str).filter(|it| *it != "#meta").collect();
            assert_eq!((names, &state["#meta"]["index"]), (vars.clone(), &Value::from(index)));
            let action = if index == 0 { "init".to_owned() } else { it.run.steps[index - 1].action.to_string() };
            assert_eq!(state["action"], action.as_str());
        }
        let phase = |state: &Value| state["a_phase"].as_str().unwrap().to_owned();
        let phases: BTreeSet<String> = states.iter().map(phase).collect();
        assert!(phases.len() > 3, "{phases:?}");
    });
}

#[test]
fn a_diagram_names_whom_it_draws_and_stays_within_the_limits() {
    each(|it| {
        let text = mermaid::text(it);
        assert!(text.len() < 50_000);
        let known: BTreeSet<&str> =
            text.lines().filter_map(|it| it.trim().strip_prefix("participant ")?.split(' ').next()).collect();
        let mut arrows = 0;
        for line in text.lines().map(str::trim) {
            let Some((who, rest)) = line.split_once("->>").or_else(|| line.split_once("-x")) else { continue };
            if line.starts_with("Note") {
                continue;
            }
            let whom = rest.split(':').next().unwrap();
            assert!(known.contains(who) && known.contains(whom), "{line}");
            arrows += 1;
        }
        assert!(arrows > 3 && arrows <= mermaid::MOST, "{text}");
        for number in 1..=it.run.deviations.len() {
            assert!(text.contains(&format!(": Deviation {number}: ")), "{text}");
        }
        assert!(text.contains(" is broken for "), "{text}");
    });
}

#[test]
fn a_story_for_a_pull_request_is_short_enough_and_says_how_to_replay_it() {
    each(|it| {
        let text = markdown::text(it);
        assert!(text.len() < markdown::LIMIT);
        assert!(text.contains(&format!("```sh\n{}\n```", explained::command(it))), "{text}");
        assert_eq!(text.matches("```").count() % 2, 0);
        let rows: Vec<&str> = text.lines().filter(|it| it.starts_with("| ")).collect();
        assert!(rows.len() > 5 && rows.iter().all(|it| it.replace("\\|", "").matches('|').count() == 4), "{text}");
    });
}

#[test]
fn a_page_is_small_loads_nothing_and_holds_the_json() {
    each(|it| {
        let text = page::case(it, "");
        assert!(text.len() < 100_000 + 4_000 * it.run.steps.len(), "{} bytes", text.len());
        for loads in ["http:", "https:", "src=", "<link", "@import", "url("] {
            assert!(!text.contains(loads), "{loads}");
        }
        let (_, data) = text.split_once("id=\"data\">").expect("it has data");
        let (data, _) = data.split_once("</script>").expect("the data ends");
        assert_eq!(value(data), value(&explained::json(it)));
    });
}

fn compared() -> Comparison<'static> {
    let scenarios = ["pod-deleted", "normal"].map(|it| Scenario::named(it).unwrap());
    let effort = Effort { deviations: 1, worlds: 100_000, runs: 0, ..Effort::default() };
    compare(&scenarios, &[&Upstream, &CloseOnTerminal], effort, NonZeroUsize::MIN, None, &|_| {})
}

/// How often each cell of the comparison is broken.
fn broken(it: &Comparison<'_>) -> usize {
    it.pairs.iter().flat_map(|it| &it.cells).filter(|it| it.is_broken()).count()
}

#[test]
fn the_json_of_a_comparison_keeps_to_its_schema() {
    let schema = jsonschema::validator_for(&value(include_str!("../schemas/comparison.schema.json"))).unwrap();
    let effort = Effort { deviations: 0, worlds: 100_000, runs: 200, proofs: 20_000, ..Effort::default() };
    let scenarios = [Scenario::named("pod-deleted").unwrap()];
    let by_chance = compare(&scenarios, &[&Upstream], effort, NonZeroUsize::MIN, None, &|_| {});
    for it in [compared(), by_chance] {
        let json = value(&json::text(&it));
        let errors: Vec<String> = schema.iter_errors(&json).map(|it| format!("{}: {it}", it.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?}");
        let mut other = json;
        other["effort"]["seed"] = "one".into();
        assert!(!schema.is_valid(&other), "the schema lets anything pass");
    }
}

/// Of a search that came to its end, of one that did not, and with a livelock.
#[test]
fn the_json_of_a_proof_keeps_to_its_schema() {
    let schema = jsonschema::validator_for(&value(include_str!("../schemas/proof.schema.json"))).unwrap();
    let invariants: Vec<usize> = (0..INVARIANTS.len()).collect();
    let shown = |proof: &Proof| {
        let ways = proof::ways(proof, &Upstream, &invariants).into_iter().map(|it| (it, Kept::Not)).collect::<Vec<_>>();
        value(&proof::json(proof, &invariants, &ways))
    };
    let small = Scenario::named("normal").unwrap().scope(1, 1).small();
    let whole = prove(&small, &Upstream, Bounds::default());
    let early =
        prove(&Scenario::named("cancel").unwrap(), &Upstream, Bounds { most_worlds: 200_000, ..Bounds::default() });
    let again = whole.broken[0].schedule.clone();
    let livelock = Some(Livelock { price: 0, schedule: again[1..].to_vec(), cycle: again[..1].to_vec() });
    let endless = Proof { livelock, ..whole.clone() };
    let all = [whole, early, endless].map(|it| shown(&it));
    for json in &all {
        let errors: Vec<String> = schema.iter_errors(json).map(|it| format!("{}: {it}", it.instance_path())).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
    let answers = |json: &Value| -> BTreeSet<String> {
        json["invariants"].as_object().unwrap().values().map(|it| it["answer"].as_str().unwrap().to_owned()).collect()
    };
    let seen: BTreeSet<String> = all.iter().flat_map(answers).collect();
    assert_eq!(seen, ["broken", "open", "proved"].map(str::to_owned).into(), "not all of it was tried");

    let mut other = all[0].clone();
    other["invariants"]["stuck"]["answer"] = "broken".into();
    assert!(!schema.is_valid(&other), "what is broken has a schedule");
    let mut other = all[1].clone();
    other["partial"]["why"] = "tired".into();
    assert!(!schema.is_valid(&other), "the schema lets anything pass");
}

#[test]
fn junit_has_a_test_for_each_cell_and_a_failure_for_each_violation() {
    let it = compared();
    let text = junit::text(&it);
    let cells = it.pairs.len() * INVARIANTS.len();
    let head =
        format!("<testsuites name=\"vgdp-sim compare\" tests=\"{cells}\" failures=\"{}\" errors=\"0\"", broken(&it));
    assert!(text.contains(&head), "{head}\n{text}");
    assert_eq!((text.matches("<testcase ").count(), text.matches("<failure ").count()), (cells, broken(&it)));
    assert!(
        text.contains(">vgdp-sim replay vgdp1-") && text.contains(">none within 1 deviation</system-out>"),
        "{text}"
    );
    for element in ["testsuites", "testsuite", "testcase", "failure", "system-out"] {
        let opened = text.matches(&format!("<{element}>")).count() + text.matches(&format!("<{element} ")).count();
        assert_eq!(opened, text.matches(&format!("</{element}>")).count(), "{element}");
    }
}

/// What stands beside a price shows a violation at that price, not a dearer one that is easier to tell.
#[test]
fn the_way_that_is_shown_is_that_of_the_cheapest_violation() {
    let mut it = compared();
    let leak = INVARIANTS.iter().position(|it| it.id == "slot-leak").unwrap();
    let cell = &mut it.pairs[0].cells[leak];
    let swept = cell.swept.as_ref().expect("a pod that is deleted leaks a slot");
    assert_eq!(swept.price, 1);
    let (task, steps) = (swept.task, swept.steps);
    cell.sampled = Some(Sampled { task, price: 0, steps, run: 7, schedule: Vec::new(), deviations: None });
    let text = junit::text(&it);
    let failure =
        text.lines().find(|it| it.contains("slot-leak is broken at price 0")).expect("it is the lowest price");
    assert!(failure.contains("vgdp-sim run ") && failure.contains(" --run 7"), "{failure}");
    let is_leak = |it: &page::Case<'_>| (it.scenario, it.design, it.invariant) == (0, 0, leak);
    assert!(!page::cases(&it, Tokens::First).iter().any(is_leak), "no page tells what no deviations tell");
}

#[test]
fn the_page_of_a_comparison_links_each_case_that_has_a_page() {
    let it = compared();
    let cases = page::cases(&it, Tokens::First);
    assert!(!cases.is_empty() && cases.iter().all(|it| it.design == 0));
    assert_eq!(page::cases(&it, Tokens::All).len(), broken(&it));
    let has_page = |s, d, i| cases.iter().any(|it| (it.scenario, it.design, it.invariant) == (s, d, i));
    let text = page::index(&it, &has_page);
    assert_eq!(text.matches("<a href=").count(), cases.len());
    for case in &cases {
        let name = page::case_name(&it, case.scenario, case.design, case.invariant);
        assert_eq!(text.matches(&format!("<a href=\"{name}\">")).count(), 1, "{name}");
    }
    for loads in ["http:", "https:", "src=", "<link", "@import", "url("] {
        assert!(!text.contains(loads), "{loads}");
    }
}

/// A browser, if there is one here.
fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = env::var_os("PATH")?;
    env::split_paths(&path).flat_map(|dir| names.map(|name| dir.join(name))).find(|it| it.is_file())
}

/// Whether the page, at that step, shows each fact as the JSON has it.
fn check_step(browser: &Path, file: &Path, json: &Value, step: usize) {
    let url = format!("file://{}#step={step}", file.display());
    let it = Command::new(browser).args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", &url]).output();
    let dom = String::from_utf8(it.expect("the browser starts").stdout).unwrap();
    let steps = json["run"]["steps"].as_array().unwrap();
    let mut facts: Vec<(&str, &str)> = Vec::new();
    for it in json["run"]["start"].as_array().unwrap() {
        facts.push((it["name"].as_str().unwrap(), it["value"].as_str().unwrap()));
    }
    for change in steps[..=step].iter().flat_map(|it| it["changes"].as_array().unwrap()) {
        let (name, is) = (change["name"].as_str().unwrap(), change["is"].as_str().unwrap());
        match facts.iter_mut().find(|it| it.0 == name) {
            Some(it) => it.1 = is,
            None => facts.push((name, is)),
        }
    }
    assert!(dom.contains(&format!("<strong>Step {step}, ")), "the page does not stand at step {step}");
    let rows: Vec<&str> = dom.split("data-fact=\"").skip(1).collect();
    assert!(rows.len() > 5, "{} facts", rows.len());
    for row in rows {
        let (name, rest) = row.split_once('"').unwrap();
        let cell = rest.split_once("<td class=\"value\">").unwrap().1.split("</td>").next().unwrap();
        let shown = cell.replace("<mark>", "").replace("</mark>", "").replace("&gt;", ">").replace("&amp;", "&");
        let is = facts.iter().find(|it| it.0 == name).map_or("", |it| it.1);
        assert_eq!((name, shown.as_str()), (name, is), "step {step}");
    }
}

/// In a real browser the page shows at each step what the JSON says.
#[test]
#[ignore = "needs Chromium: cargo test --test formats -- --ignored"]
fn a_browser_shows_what_the_json_says() {
    let browser = browser().expect("install chromium");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("case.html");
    let it = &all("pod-deleted")[0];
    fs::write(&file, page::case(it, "")).unwrap();
    let json = value(&explained::json(it));
    let last = it.run.steps.len() - 1;
    for step in [0, it.run.made[0], it.violation.step as usize, last].into_iter().chain((10..last).step_by(25)) {
        check_step(&browser, &file, &json, step);
    }
}
