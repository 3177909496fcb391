//! Scenario files: what they say, what is refused and how, and that whatever was found in one replays.

use std::collections::BTreeSet;

use serde_json::Value;

use vgdp_sim::designs::Upstream;
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::api_server::Phase;
use vgdp_sim::model::faults::Disturbance;
use vgdp_sim::model::kind::Kind;
use vgdp_sim::model::place::NodeId;
use vgdp_sim::model::time::{Obligation, Span, Ticks, Times};
use vgdp_sim::report::{Replayed, Schedule, Then, Token, TokenError};
use vgdp_sim::run::run;
use vgdp_sim::scenario::{NoScenario, Scenario};
use vgdp_sim::scheduler::{PORTFOLIO, Policy as _};
use vgdp_sim::search::{hunt, sweep};

const SCHEMA: &str = include_str!("../schemas/scenario.schema.json");

/// A scenario that says everything.
const FULL: &str = r#"{
  "schema": "vgdp-sim/scenario/1",
  "name": "two-downloads",
  "sentence": "Two \"slow\" downloads; their user is in a hurry.",
  "kind": "DataDownload",
  "nodes": 3,
  "tasks": 2,
  "limit": 2,
  "price": 1,
  "allows": {
    "Cancel": 2,
    "DeletePod": 1
  },
  "only_while": {
    "Cancel": ["Prepared", "InProgress"]
  },
  "volumes_at": "n2",
  "latencies": {
    "ContainerStart": { "earliest": 1, "latest": 60 },
    "GarbageCollection": { "earliest": 5, "latest": null },
    "PrepareTimeout": { "earliest": 600, "latest": null }
  },
  "ticks": "Fine",
  "reports_progress": false,
  "merges_enqueue": true
}
"#;

/// The least that a scenario says.
fn small(more: &str) -> String {
    format!(
        "{{\n  \"schema\": \"vgdp-sim/scenario/1\",\n  \"name\": \"mine\",\n  \"sentence\": \"It is mine.\"{more}\n}}\n"
    )
}

fn schema() -> jsonschema::Validator {
    let schema = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    jsonschema::validator_for(&schema).expect("the schema is one")
}

fn is_valid(schema: &jsonschema::Validator, text: &str) -> bool {
    schema.is_valid(&serde_json::from_str(text).expect("it is JSON"))
}

#[test]
fn a_file_says_everything_that_a_scenario_has() {
    let span = |earliest, latest| Span { earliest, latest };
    let times = Times::default()
        .with(Obligation::ContainerStart, span(1, Some(60)))
        .with(Obligation::GarbageCollection, span(5, None))
        .with(Obligation::PrepareTimeout, span(600, None));
    let scenario = Scenario {
        name: "two-downloads",
        sentence: "Two \"slow\" downloads; their user is in a hurry.",
        kind: Kind::DataDownload,
        nodes: 3,
        tasks: 2,
        limit: 2,
        price: 1,
        allows: &[(Disturbance::Cancel, 2), (Disturbance::DeletePod, 1)],
        only_while: &[(Disturbance::Cancel, &[Phase::Prepared, Phase::InProgress])],
        volumes_at: Some(NodeId(2)),
        times,
        ticks: Ticks::Fine,
        reports_progress: false,
        merges_enqueue: true,
    };
    assert_eq!(Scenario::read(FULL), Ok(scenario.clone()));
    assert_eq!(scenario.to_json(), FULL);
    assert!(is_valid(&schema(), FULL));
}

#[test]
fn what_is_left_out_is_as_in_the_normal_scenario() {
    let normal = Scenario { name: "mine", sentence: "It is mine.", ..Scenario::default() };
    assert_eq!(Scenario::read(&small("")), Ok(normal));
    let relist = Scenario::read(&small(",\n  \"latencies\": { \"Relist\": { \"latest\": 60 } }")).unwrap();
    assert_eq!(relist.times.span(Obligation::Relist), Span { earliest: 1, latest: Some(60) });
}

#[test]
fn each_built_in_scenario_is_read_back_as_it_was_written() {
    let schema = schema();
    for scenario in Scenario::built_in() {
        let text = scenario.to_json();
        assert_eq!(Scenario::read(&text), Ok(scenario), "{text}");
        assert!(is_valid(&schema, &text), "{text}");
    }
}

/// What the schema lists is what there is.
#[test]
fn the_schema_names_what_there_is() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let keys = |path: &str| -> BTreeSet<String> {
        schema.pointer(path).and_then(Value::as_object).expect(path).keys().cloned().collect()
    };
    let named = |all: Vec<String>| all.into_iter().collect::<BTreeSet<_>>();
    let disturbances = named(Disturbance::ALL.iter().map(|it| format!("{it:?}")).collect());
    assert_eq!(keys("/properties/allows/properties"), disturbances);
    let obligations = named(Obligation::ALL.iter().map(|it| format!("{it:?}")).collect());
    assert_eq!(keys("/properties/latencies/properties"), obligations);
    let written: Value = serde_json::from_str(FULL).unwrap();
    let members = written.as_object().unwrap().keys().cloned().chain(["$schema".to_owned()]).collect();
    assert_eq!(keys("/properties"), members);
    for (name, it) in schema["properties"].as_object().unwrap() {
        let Some(default) = it.get("default") else { continue };
        let normal: Value = serde_json::from_str(&Scenario::default().to_json()).unwrap();
        assert_eq!(default, &normal[name], "{name}");
    }
}

/// Each mistake: what is written, whether the schema sees it as well, and what the program says.
#[test]
fn a_mistake_is_pointed_out_with_what_to_write() {
    let schema = schema();
    let same_bounds = r#""Epilog": { "earliest": 10 }"#;
    let mistakes: [(&str, bool, &str); 24] = [
        ("\"nods\": 1", true, "line 5, column 4: a scenario has no `nods`; did you mean `nodes`?"),
        ("\"nodes\": 4", true, "line 5, column 12: `nodes` is a whole number from 1 to 3; write `\"nodes\": 3`, say"),
        ("\"tasks\": 0", true, "line 5, column 12: `tasks` is a whole number from 1 to 4; write `\"tasks\": 1`, say"),
        (
            "\"limit\": -7",
            true,
            "line 5, column 12: `limit` is a whole number from 1 to 255; write `\"limit\": 1`, say",
        ),
        (
            "\"price\": \"1\"",
            true,
            "line 5, column 12: `price` is a whole number from 0 to 255; write `\"price\": 0`, say",
        ),
        ("\"kind\": \"Upload\"", true, "line 5, column 11: no kind is called `Upload`; did you mean `DataUpload`?"),
        ("\"name\": \"mine\"", false, "line 5, column 4: `name` is given a second time; leave out one of them"),
        ("\"reports_progress\": 1", true, "line 5, column 23: `reports_progress` is `true` or `false`; write"),
        (
            "\"volumes_at\": \"n9\"",
            true,
            "line 5, column 17: no node is called `n9`; did you mean `n0`? (There are n0, n1, n2.)",
        ),
        (
            "\"volumes_at\": \"n2\"",
            false,
            "line 5, column 17: the scenario has 2 node(s), from `n0` on; write one of those",
        ),
        ("\"allows\": []", true, "line 5, column 13: `allows` is an object; write `\"allows\": { \"Cancel\": 1 }`"),
        (
            "\"allows\": { \"Cancle\": 1 }",
            true,
            "line 5, column 16: no disturbance is called `Cancle`; did you mean `Cancel`?",
        ),
        (
            "\"allows\": { \"Cancel\": 999 }",
            true,
            "line 5, column 25: `Cancel` is a whole number from 0 to 255; write `\"Cancel\": 255`",
        ),
        (
            "\"allows\": { \"DeletePod\": 1 }",
            false,
            "line 5, column 28: `DeletePod` costs 1, and the price of the scenario is 0, so it never happens; write `\"price\": 1`",
        ),
        (
            "\"only_while\": { \"Evict\": [\"New\"] }",
            true,
            "line 5, column 20: `Evict` asks for no phase, only `Cancel`, `Delete`, `StripFinalizer`, `DeletePod` do",
        ),
        (
            "\"only_while\": { \"Cancel\": [\"New\"] }",
            false,
            "line 5, column 29: the scenario does not allow `Cancel`; write `\"allows\": { \"Cancel\": 1 }`",
        ),
        ("\"only_while\": { \"Cancel\": [] }", true, "line 5, column 29: no phase is given, so `Cancel` never happens"),
        (
            "\"only_while\": { \"Cancel\": [\"Canceled\", \"Done\"] }",
            true,
            "line 5, column 42: no phase is called `Done`; did you mean `New`?",
        ),
        (
            "\"latencies\": { \"Relists\": {} }",
            true,
            "line 5, column 19: no assumption is called `Relists`; did you mean `Relist`?",
        ),
        (
            "\"latencies\": { \"Relist\": { \"last\": 1 } }",
            true,
            "line 5, column 31: `Relist` has no `last`; did you mean `latest`?",
        ),
        (
            "\"latencies\": { \"Relist\": { \"latest\": 65535 } }",
            true,
            "line 5, column 40: `latest` is a whole number from 0 to 65534; write `\"latest\": 65534`",
        ),
        (
            "\"latencies\": { \"Relist\": { \"latest\": 0 } }",
            false,
            "line 5, column 28: `Relist` ends, at 0 s, before it begins, at 1 s; write `\"latest\": 1` or more",
        ),
        (
            "\"latencies\": { \"ForcedCancel\": { \"latest\": 400 } }",
            true,
            "line 5, column 34: `ForcedCancel` is from when on something may be done, no later than 7200 s",
        ),
        (
            &format!("\"latencies\": {{ {same_bounds} }}"),
            false,
            "line 5, column 28: `Epilog` is exact; write `\"Epilog\": { \"earliest\": 10, \"latest\": 10 }`",
        ),
    ];
    for (written, by_schema, told) in mistakes {
        let text = small(&format!(",\n  {written}"));
        let error = Scenario::read(&text).expect_err(written).to_string();
        assert!(error.starts_with(told), "{written}: {error}");
        assert_eq!(is_valid(&schema, &text), !by_schema, "{written}");
    }
}

/// Whatever is left out of a file, it is a scenario that the schema takes as well, or an error that lies within the text.
#[test]
fn no_text_makes_it_panic() {
    let schema = schema();
    let (mut good, mut bad) = (0, 0);
    for length in 1..8 {
        for at in 0..FULL.len() - length {
            let text = [&FULL[..at], &FULL[at + length..]].concat();
            match Scenario::read(&text) {
                Ok(it) => {
                    assert!(is_valid(&schema, &text), "{text}");
                    assert_eq!(Scenario::read(&it.to_json()), Ok(it), "{text}");
                    good += 1;
                }
                Err(it) => {
                    let line = text.split('\n').nth(it.line - 1).unwrap_or_else(|| panic!("{it}\n{text}"));
                    assert!((1..=line.len() + 1).contains(&it.column), "{it}\n{text}");
                    bad += 1;
                }
            }
        }
    }
    assert!(good > 500 && bad > 3_000, "{good} good, {bad} bad");
}

#[test]
fn a_name_may_be_written_with_an_escape() {
    let odd = small(",\n  \"task\\u0073\": 2");
    assert_eq!(Scenario::read(&odd).map(|it| it.tasks), Ok(2));
    let error = Scenario::read(&odd.replace("0073", "0074")).unwrap_err().to_string();
    assert!(error.starts_with("line 5, column 17: a scenario has no `taskt`; did you mean `tasks`?"), "{error}");
}

#[test]
fn what_is_missing_or_no_json_is_pointed_out() {
    let error = |text: &str| Scenario::read(text).expect_err(text).to_string();
    assert!(error("").starts_with("line 1, column 1: this is no JSON: EOF"), "{}", error(""));
    assert!(
        error("[1]")
            .starts_with("line 1, column 1: a scenario is an object; write `{ \"schema\": \"vgdp-sim/scenario/1\"")
    );
    assert!(
        error(" {}")
            .starts_with("line 1, column 2: the scenario has no `schema`; write `\"schema\": \"vgdp-sim/scenario/1\"`")
    );
    assert!(error(&small(",")).starts_with("line 5, column 1: this is no JSON"), "{}", error(&small(",")));
    let other = small("").replace("scenario/1", "scenario/2");
    assert!(error(&other).starts_with("line 2, column 13: this program reads `vgdp-sim/scenario/1`"));
    let named = small("").replace("mine\"", "My scenario\"");
    assert!(error(&named).starts_with("line 3, column 11: a name is lower-case words and digits joined by `-`"));
}

/// A token and a table tell a scenario by its name, so a name means one thing.
#[test]
fn the_name_of_a_built_in_scenario_is_taken() {
    let cancel = Scenario::named("cancel").unwrap();
    let other = Scenario { limit: 2, ..cancel.clone() }.to_json();
    let error = Scenario::read(&other).unwrap_err().to_string();
    assert!(error.starts_with("line 3, column 11: `cancel` is built in, and this scenario is another one"), "{error}");
    assert!(error.ends_with("such as `\"name\": \"my-cancel\"`"), "{error}");
    assert_eq!(Scenario::read(&cancel.clone().scope(1, 1).to_json()), Ok(cancel.scope(1, 1)));
}

#[test]
fn an_argument_with_a_separator_or_an_ending_is_a_file() {
    assert_eq!(Scenario::meant_by("cancel"), Ok(Scenario::named("cancel").unwrap()));
    for file in ["./no-such-file", "no-such-file.json"] {
        let Err(NoScenario::Unreadable { .. }) = Scenario::meant_by(file) else { panic!("{file} is a file") };
    }
    let error = Scenario::meant_by("mine").unwrap_err().to_string();
    assert!(error.contains("a file of yours is given as `./mine.json`"), "{error}");
}

/// A scenario of one's own behaves as the same scenario in code: what is found in it replays, as a schedule and as a token.
#[test]
fn what_is_found_in_a_file_replays() {
    let text = Scenario { name: "my-pods", ..Scenario::named("pod-deleted").unwrap() }.to_json();
    let mine = Scenario::read(&text).unwrap();
    assert_eq!(mine.argument(), "./my-pods.json");
    let built_in = Scenario::named("pod-deleted").unwrap();
    let found = sweep(&mine, &Upstream, 1, 1_000_000);
    assert_eq!(found, sweep(&built_in, &Upstream, 1, 1_000_000));

    let leak = found.broken.iter().find(|it| it.price == 1).expect("a pod that is deleted breaks something");
    let token = Token::new(&mine, &Upstream, &leak.deviations).to_string();
    assert!(matches!(Token::read(&token), Err(TokenError::UnknownScenario { .. })));
    let told = Token::read(&token).unwrap_err().to_string();
    assert!(told.contains("give its file as well, with `--scenario FILE`"), "{told}");
    let read = Token::read_among(&token, std::slice::from_ref(&mine)).unwrap();
    assert_eq!((read.scenario, read.deviations), (mine.clone(), leak.deviations.clone()));

    for it in &hunt(&mine, &Upstream, 1, 100).findings {
        let schedule = Schedule::new(mine.clone(), &Upstream, Some(it.invariant), Then::Normal, it.schedule.clone());
        let schedule: Schedule = schedule.to_string().parse().unwrap();
        assert_eq!(schedule.scenario, mine);
        let mut replay = Replayed::new(&schedule);
        let report = run(&schedule.scenario, &Upstream, &mut replay);
        assert!(report.broken[it.invariant].is_some() && replay.divergence(&report).is_none());
    }
}

#[cfg(feature = "cli")]
mod command_line {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use super::*;

    struct Ran {
        code: Option<i32>,
        out: String,
        err: String,
    }

    fn vgdp_sim(args: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vgdp-sim"));
        let it = command.args(args).env_remove("COLUMNS").output().expect("the program starts");
        let text = |bytes| String::from_utf8(bytes).expect("it prints text");
        Ran { code: it.status.code(), out: text(it.stdout), err: text(it.stderr) }
    }

    /// A file of this test's own.
    fn written(name: &str, text: &str) -> PathBuf {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("scenario-files");
        fs::create_dir_all(&dir).unwrap();
        let path = dir.join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn pods(name: &str) -> PathBuf {
        let text = Scenario { name: "my-pods", ..Scenario::named("pod-deleted").unwrap() }.to_json();
        written(name, &text)
    }

    #[test]
    fn a_built_in_scenario_is_shown_as_a_file_that_is_sound() {
        let shown = vgdp_sim(&["scenario", "show", "cancel-while-starting"]);
        assert_eq!((shown.code, shown.out), (Some(0), Scenario::named("cancel-while-starting").unwrap().to_json()));
        let other = vgdp_sim(&["scenario", "show", "cancle"]);
        assert_eq!(other.code, Some(2));
        assert!(other.err.contains("did you mean `cancel`?"), "{}", other.err);
    }

    #[test]
    fn a_check_says_what_a_scenario_is() {
        let file = written("full.json", FULL);
        let file = file.to_str().unwrap();
        let it = vgdp_sim(&["scenario", "check", file]);
        assert_eq!((it.code, it.err.as_str()), (Some(0), ""));
        let told = it.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            told,
            format!(
                "{file}: ok. two-downloads: Two \"slow\" downloads; their user is in a hurry. It has 3 nodes, 2 tasks of \
                 kind DataDownload and 2 slots a node; all volumes are tied to n2. For a price of 1 together it allows: \
                 Cancel x2, price 0, the user sets spec.cancel, only while Prepared or InProgress; DeletePod x1, price \
                 1, the user deletes the pod (a drain, a preemption or a taint eviction looks the same). ContainerStart \
                 takes 1 s to 60 s instead of 1 s or more. GarbageCollection takes 5 s or more instead of 0 s to 30 s. \
                 PrepareTimeout takes 600 s or more instead of 1800 s or more. It has time moving to window boundaries and to 2 s and 60 s before them. Transfers report no progress. Caches and \
                 enqueue-only listeners move in one step."
            )
        );
    }

    #[test]
    fn a_check_tells_what_is_wrong_in_each_file() {
        let (sound, wrong) = (written("sound.json", FULL), written("wrong.json", "{"));
        let (sound, wrong) = (sound.to_str().unwrap(), wrong.to_str().unwrap());
        let it = vgdp_sim(&["scenario", "check", wrong, sound, "no-such-file"]);
        assert_eq!(it.code, Some(2));
        assert!(it.out.starts_with(&format!("{sound}: ok.")), "{}", it.out);
        let errors: Vec<&str> = it.err.lines().collect();
        assert!(errors[0].starts_with(&format!("error: {wrong}: line 1, column 1: this is no JSON")), "{}", it.err);
        assert!(errors[1].starts_with("error: `no-such-file` cannot be read"), "{}", it.err);
    }

    #[test]
    fn each_command_takes_a_file() {
        let file = pods("commands.json");
        let file = file.to_str().unwrap();
        let dir = file.replace("commands.json", "out");
        let hunted = vgdp_sim(&["hunt", "--scenario", file, "--runs", "200", "--out", &dir]);
        assert_eq!(hunted.code, Some(0), "{}", hunted.err);
        assert!(hunted.out.contains("my-pods"), "{}", hunted.out);
        let schedule = format!("{dir}/my-pods-slot-leak.schedule");
        let text = fs::read_to_string(&schedule).unwrap();
        assert!(text.contains("vgdp-sim run --design upstream --scenario ./my-pods.json "), "{text}");
        let replay = vgdp_sim(&["replay", &schedule]);
        assert_eq!(replay.code, Some(1), "{}", replay.err);
        assert!(replay.out.contains("\nBroken: slot-leak:"), "{}", replay.out);
        let run = vgdp_sim(&["run", "--scenario", file, "--policy", "normal"]);
        assert_eq!(run.code, Some(0), "{}", run.err);
        let twice = vgdp_sim(&["replay", &schedule, "--scenario", file]);
        assert_eq!(twice.code, Some(2));
        assert!(twice.err.contains("leave out --scenario"), "{}", twice.err);
    }

    #[test]
    fn a_token_of_a_file_needs_the_file() {
        let file = pods("token.json");
        let file = file.to_str().unwrap();
        let args = ["--scenario", file, "--design", "upstream", "--deviations", "1", "--runs", "0"];
        let compared = vgdp_sim(&args);
        let line = compared.out.lines().find(|it| it.contains("vgdp1-") && it.contains("slot-leak")).expect("it leaks");
        let token = line.split_whitespace().next().unwrap();
        let alone = vgdp_sim(&["replay", token]);
        assert_eq!(alone.code, Some(2));
        assert!(alone.err.contains("give its file as well, with `--scenario FILE`"), "{}", alone.err);
        let other = vgdp_sim(&["replay", token, "--scenario", "cancel"]);
        assert_eq!(other.code, Some(2));
        assert!(other.err.contains("is for another scenario than `cancel`"), "{}", other.err);
        let it = vgdp_sim(&["replay", token, "--scenario", file]);
        assert_eq!(it.code, Some(1), "{}", it.err);
        assert!(it.out.starts_with("A schedule of upstream in scenario my-pods.\n"), "{}", it.out);
        assert!(it.out.contains("\nBroken: slot-leak:"), "{}", it.out);
        let it = vgdp_sim(&["explain", token, "--scenario", file, "--invariant", "slot-leak"]);
        assert_eq!(it.code, Some(0), "{}", it.err);
        assert!(it.out.ends_with(&format!("vgdp-sim replay {token} --scenario ./my-pods.json\n")), "{}", it.out);
        let it = vgdp_sim(&["sensitivity", token, "--scenario", file, "--invariant", "slot-leak"]);
        assert_eq!((it.code, it.out.contains("my-pods")), (Some(0), true), "{}", it.err);
    }

    #[test]
    fn a_run_that_is_saved_tells_its_story_and_can_be_edited() {
        let file = pods("saved.json");
        let file = file.to_str().unwrap();
        let saved = file.replace(".json", ".schedule");
        let scenario = Scenario::open(file).unwrap();
        let leak = INVARIANTS.iter().position(|it| it.id == "slot-leak").unwrap();
        let leaks = |it: &u64| run(&scenario, &Upstream, &mut *PORTFOLIO.start(1, *it)).broken[leak].is_some();
        let index = (0..1_000).find(leaks).expect("a pod that is deleted leaks a slot in one of a thousand runs");
        let it = vgdp_sim(&["run", "--scenario", file, "--run", &index.to_string(), "--save", &saved]);
        assert_eq!(it.code, Some(1), "{}", it.err);
        let text = fs::read_to_string(&saved).unwrap();
        let made_by = "# Made by `vgdp-sim run --design upstream --scenario ./my-pods.json";
        assert!(text.starts_with(&format!("{made_by} --seed 1 --run {index}`.\n")), "{text}");
        assert!(text.contains("# Broken: slot-leak: no slot is held for ever"), "{text}");
        assert!(text.contains("# Run normally, but:\n#   1. after "), "{text}");

        let edited = |from: &str, to: &str| {
            assert!(text.contains(from), "{text}");
            fs::write(&saved, text.replacen(from, to, 1)).unwrap();
            vgdp_sim(&["replay", &saved])
        };
        assert_eq!(edited("then: stop", "then: stop").code, Some(1));
        let it = edited("\"DeletePod\": 1", "\"DeletePods\": 1");
        assert!(it.err.contains("saved.schedule: line ") && it.err.contains("did you mean `DeletePod`?"), "{}", it.err);
        let it = edited("user::deletes_pod(a)\n", "user::delete_pod(a)\n");
        assert!(it.err.contains("did you mean `user::deletes_pod`?"), "{}", it.err);
        let it = edited("\"price\": 1", "\"price\": 0");
        assert_eq!(it.code, Some(4), "{}", it.err);
        assert!(it.out.contains("`user::deletes_pod(a)` is not enabled"), "{}", it.out);
    }
}
