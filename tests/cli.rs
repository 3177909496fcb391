//! The command line as a user meets it: what it prints, what it writes, how it exits.

#![cfg(feature = "cli")]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::rules::Rule;
use vgdp_sim::model::time::Obligation;
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::POLICIES;

/// What a run of the program left behind.
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vgdp-sim"));
    command.args(args).env_remove("COLUMNS").env_remove("NO_COLOR").env_remove("VGDP_SIM_SEED");
    command
}

fn ran(mut command: Command) -> Ran {
    let it = command.output().expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("it prints text");
    Ran { code: it.status.code(), out: text(it.stdout), err: text(it.stderr) }
}

fn vgdp_sim(args: &[&str]) -> Ran {
    ran(command(args))
}

/// The same with something on standard input.
fn with_input(args: &[&str], input: &str) -> Ran {
    let mut command = command(args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let it = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).expect("it prints text");
    Ran { code: it.status.code(), out: text(it.stdout), err: text(it.stderr) }
}

/// A directory of this test's own, which does not exist yet.
fn fresh_dir(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-{name}"));
    match fs::remove_dir_all(&dir) {
        Err(it) if it.kind() != io::ErrorKind::NotFound => panic!("{}: {it}", dir.display()),
        _ => dir,
    }
}

/// Hunts in a scenario that is sure to be broken and returns what was printed and the schedules that were written.
fn hunted(name: &str) -> (Ran, Vec<PathBuf>) {
    let dir = fresh_dir(name);
    let out = dir.to_str().unwrap();
    let ran = vgdp_sim(&["hunt", "--scenario", "pod-deleted", "--runs", "300", "--seed", "1", "--out", out]);
    let mut files: Vec<PathBuf> = fs::read_dir(&dir).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    (ran, files)
}

/// One paragraph that starts with `error: ` and says each of these.
fn assert_refused(ran: &Ran, says: &[&str]) {
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.starts_with("error: ") && ran.err.trim_end().lines().count() == 1, "{}", ran.err);
    for it in says {
        assert!(ran.err.contains(it), "{it:?} is missing in {}", ran.err);
    }
}

#[test]
fn each_list_names_what_there_is() {
    let names: [(&str, Vec<String>); 5] = [
        ("scenarios", Scenario::built_in().iter().map(|it| it.name.to_owned()).collect()),
        ("invariants", INVARIANTS.iter().map(|it| it.id.to_owned()).collect()),
        ("rules", Rule::ALL.iter().map(|it| it.name().to_owned()).collect()),
        ("policies", POLICIES.iter().map(|it| it.name().to_owned()).chain(["portfolio".to_owned()]).collect()),
        ("assumptions", Obligation::ALL.iter().map(|it| format!("{it:?}")).collect()),
    ];
    for (topic, names) in names {
        let it = vgdp_sim(&["list", topic]);
        assert_eq!((it.code, it.err.as_str()), (Some(0), ""));
        for name in names {
            assert!(it.out.lines().any(|line| line == name), "{topic} lacks {name}");
        }
    }
    assert!(vgdp_sim(&["list", "prices"]).out.contains("Price 0, over at once: the user sets spec.cancel."));
    assert!(vgdp_sim(&["list", "rules"]).out.contains("Velero: `pkg/datapath/manager.go`"));
}

#[test]
fn lists_stay_within_the_columns_of_the_terminal() {
    for topic in ["scenarios", "invariants", "rules", "assumptions", "prices", "policies"] {
        let mut command = command(&["list", topic]);
        command.env("COLUMNS", "80");
        let it = ran(command);
        let longest = it.out.lines().max_by_key(|line| line.chars().count()).unwrap();
        let words = longest.split_whitespace().count();
        assert!(longest.chars().count() <= 80 || words == 1, "{topic}: {longest}");
    }
}

/// The default command on a scenario that takes no time.
const QUICK: [&str; 8] =
    ["--scenario", "pod-deleted", "--design", "upstream", "--design", "close-on-terminal", "--runs", "200"];

fn compared(more: &[&str]) -> Ran {
    vgdp_sim(&[&QUICK, more].concat())
}

/// The token that is printed for an invariant of upstream.
fn token_of(id: &str) -> String {
    let it = compared(&["--deviations", "1"]);
    let line = it.out.lines().find(|it| it.contains("vgdp1-") && it.contains(id)).expect("it is broken");
    line.split_whitespace().next().unwrap().to_owned()
}

#[test]
fn the_default_command_compares() {
    let it = compared(&["--deviations", "1"]);
    assert_eq!((it.code, it.err.as_str()), (Some(0), ""));
    assert!(it.out.contains("\nupstream           1·1") && it.out.contains("\nclose-on-terminal  -"), "{}", it.out);
    assert_eq!(vgdp_sim(&[&["compare"], &QUICK[..], &["--deviations", "1"]].concat()).out, it.out);
    for jobs in ["1", "3"] {
        assert_eq!(compared(&["--deviations", "1", "--jobs", jobs]).out, it.out);
    }
    let all = compared(&["--deviations", "1", "--tokens"]);
    assert!(all.out.contains("To see how close-on-terminal is broken"), "{}", all.out);
    let one = compared(&["--deviations", "1", "--invariant", "slot-leak"]);
    assert!(one.out.contains("slot-") && !one.out.contains("orphan"), "{}", one.out);
}

#[test]
fn json_is_json_and_nothing_else() {
    let it = compared(&["--deviations", "1", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&it.out).unwrap();
    assert_eq!((it.code, &document["schema"]), (Some(0), &serde_json::Value::from("vgdp-sim/comparison/1")));
}

#[test]
fn a_table_is_recorded_and_compared_with_and_differences_are_an_error() {
    let dir = fresh_dir("expect");
    fs::create_dir_all(&dir).unwrap();
    let file = dir.join("expected.txt");
    let path = file.to_str().unwrap();
    let it = compared(&["--deviations", "1", "--record", path]);
    assert_eq!(it.code, Some(0), "{}", it.err);

    // What it was made of is in the file.
    let it = vgdp_sim(&["--expect", path]);
    assert_eq!((it.code, it.out.as_str(), it.err.as_str()), (Some(0), "", ""));

    let text = fs::read_to_string(&file).unwrap();
    let was = "pod-deleted upstream slot-leak broken price 1 deviations 1";
    let is = "pod-deleted upstream slot-leak none within 1";
    assert!(text.contains(was), "{text}");
    fs::write(&file, text.replace(was, is)).unwrap();
    let it = vgdp_sim(&["--expect", path]);
    assert_eq!(it.code, Some(1), "{}", it.err);
    assert!(it.out.starts_with(&format!("- {is}\n+ {was}\n{path}: not as recorded")), "{}", it.out);

    fs::write(&file, "hello").unwrap();
    assert_refused(&vgdp_sim(&["--expect", path]), &["line 1: `hello`", "--record"]);
}

#[test]
fn a_comparison_writes_schedules_where_it_is_told_to() {
    let dir = fresh_dir("compare-out");
    let it = compared(&["--deviations", "1", "--invariant", "slot-leak", "--out", dir.to_str().unwrap()]);
    assert_eq!(it.code, Some(0), "{}", it.err);
    let file = dir.join("pod-deleted-upstream-slot-leak.schedule");
    let replay = vgdp_sim(&["replay", file.to_str().unwrap()]);
    assert_eq!(replay.code, Some(1), "{}", replay.err);
    assert!(replay.out.contains("Broken: slot-leak:"), "{}", replay.out);
}

#[test]
fn a_token_is_told_then_replayed() {
    let token = token_of("slot-leak");
    let it = vgdp_sim(&["replay", &token]);
    assert_eq!((it.code, it.err.as_str()), (Some(1), ""));
    let (story, timeline) = it.out.split_once("\npod-deleted: ").expect("the timeline follows");
    assert!(story.contains("Run normally, but:\n  1. after ") && story.contains("the user deletes the pod"), "{story}");
    assert!(timeline.contains("   D1 ---") && timeline.contains("--- the user deletes the pod (user"), "{timeline}");
    assert!(timeline.contains("Broken: slot-leak:"), "{timeline}");
    assert_eq!(with_input(&["replay", "-"], &format!("{token}\n")).out, it.out);
}

#[test]
fn a_token_is_tried_on_another_design() {
    let it = vgdp_sim(&["replay", &token_of("slot-leak"), "--design", "watcher-watches-pod-delete"]);
    assert_eq!(it.code, Some(0), "{}", it.out);
    assert!(it.out.starts_with("A schedule of upstream in scenario pod-deleted, here on watcher-watches-pod-delete."));
    assert!(it.out.contains("No invariant was broken in this run."), "{}", it.out);
}

/// A pod that is not made cannot be deleted, so the place of the deviation never comes.
#[test]
fn a_token_whose_place_never_comes_diverges() {
    let scenario = Scenario::named("pod-deleted").unwrap();
    let found = vgdp_sim::search::sweep(&scenario, &vgdp_sim::designs::Upstream, 1, 1_000_000);
    let leak = found.broken.into_iter().find(|it| it.price == 1).unwrap();
    let normal = Scenario::named("normal").unwrap();
    let token = vgdp_sim::report::Token::new(&normal, &vgdp_sim::designs::Upstream, &leak.deviations).to_string();
    let it = vgdp_sim(&["replay", &token]);
    assert_eq!(it.code, Some(4), "{}", it.err);
    assert!(it.out.contains("Diverged: deviation 1 was not made"), "{}", it.out);
}

#[test]
fn a_token_that_cannot_be_read_is_refused_with_what_to_do() {
    let token = token_of("slot-leak");
    assert_refused(&vgdp_sim(&["replay", &token[..token.len() - 3]]), &["cut short, by 3", "copy it once more"]);
    assert_refused(&vgdp_sim(&["replay", &token.replace("vgdp1", "vgdp2")]), &["version 2"]);
    assert_refused(&vgdp_sim(&["replay", &format!("{token}!")]), &["`!` is in no token"]);
    let last = if token.ends_with('0') { "1" } else { "0" };
    assert_refused(&vgdp_sim(&["replay", &format!("{}{last}", &token[..token.len() - 1])]), &["damaged"]);
}

#[test]
fn a_hunt_writes_schedules_that_replay_and_name_their_invariant() {
    let (ran, files) = hunted("hunt");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.contains("of 300 runs") && !ran.out.contains(" holds"), "{}", ran.out);
    assert!(!files.is_empty(), "{}", ran.out);
    for file in files {
        let path = file.to_str().unwrap();
        let id = file.file_stem().unwrap().to_str().unwrap().strip_prefix("pod-deleted-").unwrap();
        assert!(ran.out.lines().any(|it| it.starts_with(&format!("  {id} "))), "{}", ran.out);
        let replay = vgdp_sim(&["replay", path]);
        assert_eq!(replay.code, Some(1), "{}", replay.err);
        assert!(replay.out.contains(&format!("Broken: {id}:")), "{}", replay.out);
        let through_a_pipe = with_input(&["replay", "-"], &fs::read_to_string(&file).unwrap());
        assert_eq!((through_a_pipe.code, &through_a_pipe.out), (Some(1), &replay.out));
    }
}

#[test]
fn a_hunt_shows_the_slot_leak_step_by_step() {
    let (ran, _) = hunted("slot-leak");
    let (_, timeline) = ran.out.split_once("The cheapest slot leak, step by step").expect("pods were deleted");
    assert!(
        timeline.contains("user::deletes_pod(a)") && timeline.contains("! slot-leak is broken for a"),
        "{timeline}"
    );
}

/// For each invariant that a hunt says was broken, and each command that it prints below it.
fn commands(out: &str) -> Vec<(String, Vec<String>)> {
    let (mut ids, mut commands) = (Vec::new(), Vec::new());
    for line in out.lines() {
        if let Some(arguments) = line.strip_prefix("    vgdp-sim ") {
            let arguments: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
            commands.extend(ids.iter().map(|(id, _): &(String, bool)| (id.clone(), arguments.clone())));
            for it in &mut ids {
                it.1 = true;
            }
        } else if line.starts_with("  ") && line.contains("  price ") {
            ids.retain(|it| !it.1); // whose commands have come
            ids.push((line.split_whitespace().next().unwrap().to_owned(), false));
        }
    }
    commands
}

/// Whatever a hunt prints shows the same invariant broken when somebody types it.
#[test]
fn what_a_hunt_prints_is_typed_and_breaks_the_same() {
    for options in [
        &["--scenario", "pod-deleted"][..],
        &["--scenario", "cancel", "--policy", "keen-starving", "--design", "close-on-forced-cancel"],
    ] {
        let dir = fresh_dir("typed");
        let hunt = ["hunt", "--seed", "7", "--runs", "400", "--out", dir.to_str().unwrap()];
        let ran = vgdp_sim(&[&hunt[..], options].concat());
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        assert!(ran.out.starts_with("Seed 7, 400 runs of each scenario, "), "{}", ran.out);
        let commands = commands(&ran.out);
        for kind in ["run", "replay"] {
            assert!(commands.iter().filter(|it| it.1[0] == kind).count() > 2, "{}", ran.out);
        }
        for (id, arguments) in commands {
            let again = vgdp_sim(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!((again.code, again.err.as_str()), (Some(1), ""), "{arguments:?}");
            assert!(again.out.contains(&format!("Broken: {id}:")), "{id} {arguments:?}: {}", again.out);
        }
    }
}

/// A file for each finding, a complaint for those that could not be made, and everything on standard output.
#[test]
fn what_cannot_be_written_is_printed_all_the_same() {
    let file = fresh_dir("not-a-directory");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "in the way").unwrap();
    let path = file.to_str().unwrap();
    let ran = vgdp_sim(&["hunt", "--scenario", "pod-deleted", "--runs", "300", "--out", path]);
    fs::remove_file(&file).unwrap();
    assert_refused(&ran, &[path, "not a directory", "--out another directory"]);
    let (kept, _) = hunted("kept");
    let below = |it: &Ran| it.out.split_once("\n\n").unwrap().1.to_owned();
    assert_eq!(below(&ran), below(&kept));
}

/// Threads share the work, and nobody can see how.
#[test]
fn any_number_of_jobs_hunts_the_same() {
    let dir = fresh_dir("jobs");
    let hunt = |jobs| {
        let out = dir.to_str().unwrap();
        let ran = vgdp_sim(&["hunt", "--scenario", "cancel", "--runs", "1000", "--jobs", jobs, "--out", out]);
        let files = fs::read_dir(&dir).unwrap().map(|it| it.unwrap().path());
        let mut files: Vec<_> = files.map(|it| (it.clone(), fs::read_to_string(it).unwrap())).collect();
        files.sort();
        (ran.code, ran.out, ran.err, files)
    };
    let one = hunt("1");
    assert!(one.3.len() > 3 && one.1.contains(" bugs\n"), "{}", one.1);
    assert_eq!(one, hunt("2"));
    assert_eq!(one, hunt("5"));
}

/// The seed comes from the option, else from the environment, else it is 1; it may be a commit, and it is always told.
#[test]
fn a_seed_may_be_a_commit() {
    let dir = fresh_dir("seeds");
    let hunt = ["hunt", "--scenario", "normal", "--runs", "2", "--out", dir.to_str().unwrap()];
    let run = ["run", "--scenario", "normal"];
    for (arguments, before) in [(&hunt[..], "Seed "), (&run[..], "Run 0 of seed ")] {
        let seed = |option: &[&str], variable: Option<&str>| {
            let mut command = command(&[arguments, option].concat());
            command.envs(variable.map(|it| ("VGDP_SIM_SEED", it)));
            ran(command)
        };
        let told = |ran: &Ran| ran.out.strip_prefix(before).unwrap().split(',').next().unwrap().to_owned();
        assert_eq!(told(&seed(&[], None)), "1");
        assert_eq!(told(&seed(&[], Some(""))), "1");
        assert_eq!(told(&seed(&[], Some("25bb43b"))), "39564347");
        assert_eq!(told(&seed(&["--seed", "25bb43b"], None)), "39564347");
        assert_eq!(told(&seed(&["--seed", "3"], Some("main"))), "3");
        assert_refused(&seed(&[], Some("main")), &["VGDP_SIM_SEED is `main`", "unset it, or give --seed"]);
    }
}

/// Ctrl-C: what was begun is finished, what was found is printed and kept, and it is the hunt of so many runs.
#[cfg(unix)]
#[test]
fn a_hunt_that_is_interrupted_tells_what_it_found() {
    let dir = fresh_dir("interrupted");
    let out = dir.to_str().unwrap();
    let hunt = |runs: &str| {
        let hunt = ["hunt", "--scenario", "pod-deleted", "--scenario", "cancel", "--out", out, "--runs", runs];
        command(&hunt)
    };
    let mut hunt_all = hunt("1000000000");
    let child = hunt_all.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while fs::read_dir(&dir).map_or(0, Iterator::count) < 2 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let it = child.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8(it.stdout).unwrap(), String::from_utf8(it.stderr).unwrap());
    assert_eq!((it.status.code(), err.as_str()), (Some(130), ""), "{out}");

    let stopped = out.rsplit_once("\n\n").expect("it ends with a paragraph").1;
    let stopped = stopped.split_whitespace().collect::<Vec<_>>().join(" ");
    let runs = stopped.strip_prefix("Stopped by Ctrl-C: pod-deleted after its first ").expect("it says so");
    assert!(runs.ends_with(" of 1,000,000,000 runs; not begun: cancel."), "{stopped}");
    let runs = runs.split(' ').next().unwrap().replace(',', "");
    let shorter = ran(hunt(&runs));
    let block = |text: &str| text.split_once("\npod-deleted: ").unwrap().1.split_once("\n\n").unwrap().0.to_owned();
    assert_eq!(block(&out), block(&shorter.out));
    assert!(!commands(&out).is_empty());
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let ((one, _), (two, _)) = (hunted("bytes"), hunted("bytes"));
    assert_eq!(one.out, two.out);
    let args = ["run", "--scenario", "anything", "--seed", "7", "--run", "3", "--all", "--verbose"];
    assert_eq!(vgdp_sim(&args).out, vgdp_sim(&args).out);
    let other = ["run", "--scenario", "anything", "--seed", "8", "--run", "3", "--all", "--verbose"];
    assert_ne!(vgdp_sim(&args).out, vgdp_sim(&other).out);
}

#[test]
fn a_run_saves_a_schedule_that_ends_in_the_same_verdict() {
    let dir = fresh_dir("save");
    fs::create_dir_all(&dir).unwrap();
    let file = dir.join("run.schedule");
    let path = file.to_str().unwrap();
    for policy in ["uniform", "portfolio", "normal"] {
        let run = ["run", "--scenario", "anything", "--run", "4", "--policy", policy, "--save", path];
        let run = vgdp_sim(&run);
        let replay = vgdp_sim(&["replay", path]);
        let verdict = |it: &Ran| it.out.split("\nAt rest").nth(1).unwrap_or(&it.out).lines().next().map(str::to_owned);
        assert_eq!((run.code, verdict(&run)), (replay.code, verdict(&replay)), "{policy}: {}", replay.err);
    }
}

/// The lines of a timeline that show a step.
fn steps(out: &str) -> Vec<&str> {
    out.lines().filter(|it| it.get(1..5).is_some_and(|it| it.trim().parse::<usize>().is_ok())).collect()
}

#[test]
fn a_task_is_followed_and_columns_are_chosen() {
    let run = |more: &[&str]| {
        let run = ["run", "--scenario", "two-uploads-one-slot", "--policy", "normal", "--width", "120"];
        let it = vgdp_sim(&[&run, more].concat());
        assert_eq!(it.err, "");
        it.out
    };
    let (all, followed) = (run(&[]), run(&["--follow", "b"]));
    let of = |out: &str, task: &str| steps(out).iter().filter(|it| it.contains(task)).count();
    assert_eq!(of(&all, "(n0, b)"), of(&followed, "(n0, b)"));
    assert!(of(&all, "(n0, a)") > 0 && of(&followed, "(n0, a)") == 0, "{followed}");
    assert!(followed.contains(" about others than b."), "{followed}");

    let chosen = run(&["--columns", "movers,kubelet"]);
    assert!(chosen.contains("\nColumns: kub = kubelet; a, b = movers.\n"), "{chosen}");
    assert!(steps(&chosen).iter().all(|it| it.contains("data_mover::") || it.contains("kubelet::")), "{chosen}");
}

#[test]
fn downloads_and_large_scopes_have_columns_too() {
    for width in ["80", "120"] {
        let it = vgdp_sim(&["run", "--scenario", "download-cancel", "--policy", "normal", "--width", width]);
        assert!(it.out.contains("callback::rebind_deletes_pod(") && it.out.contains("\n step "), "{}", it.out);
        let large = ["run", "--scenario", "anything", "--nodes", "3", "--tasks", "4", "--policy", "normal"];
        let it = vgdp_sim(&[&large[..], &["--width", width]].concat());
        assert!(it.out.contains(" srv api n0 n1 n2 kub a b c d\n"), "{}", it.out);
    }
}

#[test]
fn the_normal_schedule_breaks_nothing_in_the_normal_scenario() {
    let it = vgdp_sim(&["run", "--scenario", "normal", "--policy", "normal"]);
    assert_eq!(it.code, Some(0), "{}", it.out);
    assert!(it.out.contains("a.phase InProgress -> Completed"), "{}", it.out);
    assert!(it.out.ends_with("No invariant was broken in this run.\n"), "{}", it.out);
}

#[test]
fn a_schedule_that_diverges_says_where_and_what_was_enabled() {
    let it = with_input(&["replay", "-"], "scenario: cancel\n\nuser::cancels(a)\nuser::cancels(a)\n");
    assert_eq!(it.code, Some(4), "{}", it.err);
    assert!(it.out.contains("line 4: `user::cancels(a)` is not enabled"), "{}", it.out);
    assert!(it.out.contains("\n  cr_watch::receives(n0)\n"), "{}", it.out);
}

/// A way in which upstream leaks a slot.
const REGRESSION: &str = "regressions/slot-leak-cancel.json";

#[test]
fn a_regression_is_replayed_and_explained() {
    let it = vgdp_sim(&["replay", REGRESSION]);
    assert!(it.code == Some(1) && it.out.contains("\nBroken: slot-leak: "), "{}{}", it.out, it.err);
    let cured = vgdp_sim(&["replay", REGRESSION, "--design", "close-on-terminal"]);
    assert!(
        cured.out.contains("The schedule is one for slot-leak, which was not broken in this run."),
        "{}",
        cured.out
    );
    let it = vgdp_sim(&["explain", REGRESSION]);
    assert!(it.code == Some(0) && it.out.contains("slot-leak"), "{}{}", it.out, it.err);

    let text = include_str!("../regressions/slot-leak-cancel.json");
    let (before, rest) = text.split_once("worker::gets(n1, a)").expect("an action");
    let line = before.lines().count();
    let it = with_input(&["replay", "-"], &format!("{before}user::cancels(a){rest}"));
    assert!(it.code == Some(4) && it.out.contains("Diverged at standard input, line "), "{}{}", it.out, it.err);
    let it = with_input(&["replay", "-"], &format!("{before}worker::get(n1, a){rest}"));
    assert_refused(&it, &[&format!("standard input: line {line}: "), "`worker::get`", "did you mean `worker::gets`?"]);
    let it = with_input(&["replay", "-"], &text.replace("\"cancel\"", "\"cancle\""));
    assert_refused(&it, &["line 2: ", "`cancle`", "write `scenario: cancel`"]);
}

/// Which JSON it is, or what it lacks, and what to give instead.
#[test]
fn json_that_is_no_regression_is_refused() {
    let refused = |json: &str, says: &str| {
        for command in ["replay", "explain"] {
            let it = with_input(&[command, "-"], json);
            assert_refused(&it, &["standard input: this is JSON and tells no schedule: ", says, "give a token"]);
        }
    };
    refused("{ \"schema\": \"vgdp-sim/comparison/1\" }", "it is `vgdp-sim/comparison/1`");
    refused("{ \"scenario\": \"cancel\" }", "missing field `schedule`");
    refused("{ \"scenario\": \"cancel\", \"schedule\": 3 }", "expected a sequence");
    refused("{ \"scenario\": ", "line 1");
}

#[test]
fn unknown_names_are_refused_with_the_nearest() {
    assert_refused(&vgdp_sim(&["--scenario", "cancle"]), &["`cancle`", "did you mean `cancel`?", "list scenarios"]);
    assert_refused(&vgdp_sim(&["run", "--scenario", "anythin"]), &["did you mean `anything`?"]);
    assert_refused(&vgdp_sim(&["--design", "upstraem"]), &["did you mean `upstream`?", "list designs"]);
    assert_refused(&vgdp_sim(&["--invariant", "slot-leek"]), &["did you mean `slot-leak`?", "list invariants"]);
    let run = ["run", "--scenario", "cancel"];
    let asked = |more: &[&str]| vgdp_sim(&[&run, more].concat());
    assert_refused(&asked(&["--columns", "kublet,a"]), &["`kublet`", "did you mean `kubelet`?", "node-agents"]);
    assert_refused(&asked(&["--columns", "n2"]), &["no `n2` here", "scenario cancel has user, srv, api, n0, n1"]);
    assert_refused(&asked(&["--follow", "e"]), &["no task is called `e`", "tasks are a, b, c, d"]);
    assert_refused(&asked(&["--follow", "b"]), &["no `b` here: scenario cancel has a", "--follow"]);
    assert_refused(&vgdp_sim(&["rnu"]), &["did you mean `vgdp-sim run`?"]);
    assert_refused(&vgdp_sim(&["list", "rulez"]), &["'rulez'", "'rules'"]);
    assert_refused(&vgdp_sim(&["run", "--scenario", "cancel", "--polcy", "normal"]), &["'--policy'"]);
    for command in [&["hunt"][..], &["run", "--scenario", "cancel"]] {
        let says = ["`placed-swam`", "did you mean `placed-swarm`?", "list policies"];
        assert_refused(&vgdp_sim(&[command, &["--policy", "placed-swam"]].concat()), &says);
        let says = ["'main'", "neither a number nor a commit hash", "`--seed 1`"];
        assert_refused(&vgdp_sim(&[command, &["--seed", "main"]].concat()), &says);
    }
    assert_refused(
        &with_input(&["replay", "-"], "scenario: cancel\nworker::read(n0, a)\n"),
        &["standard input: line 2", "`worker::read`", "did you mean `worker::reads`?"],
    );
    assert_refused(
        &with_input(&["replay", "-"], "scenario: cancel\nworker::reads(n0, c)\n"),
        &["`c` is neither a node (n0 to n1) nor a task (a)"],
    );
}

/// Beforehand, not after an hour.
#[cfg(target_os = "linux")]
#[test]
fn a_proof_for_which_there_is_no_memory_is_refused() {
    let one = ["--scenario", "cancel", "--design", "upstream"];
    let it = vgdp_sim(&[&["prove"], &one[..], &["--max-worlds", "4000000000"]].concat());
    assert_refused(&it, &["a search of 4,000,000,000 worlds, about ", " MB are free; give --max-worlds "]);
    let it = vgdp_sim(&[&one[..], &["--proofs", "4000000000"]].concat());
    assert_refused(&it, &["a proof of 4,000,000,000 worlds, about ", " MB are free; give --proofs "]);
    let it = vgdp_sim(&["--proofs", "4000000000", "--jobs", "3"]);
    assert_refused(&it, &["3 proofs at a time, each of 4,000,000,000 worlds, about ", " MB are free; give --proofs "]);
    let it = vgdp_sim(&["--proofs", "4000000000", "--jobs", "300", "--shard", "1/75", "--json"]);
    assert_refused(&it, &["2 proofs at a time, each of "]);
    let few = it.err.trim_end().rsplit_once("--proofs ").unwrap().1.split(' ').next().unwrap().to_owned();
    assert!(few.parse::<u64>().is_ok_and(|it| (1_000..4_000_000_000).contains(&it)), "{few}");
}

#[test]
fn bad_input_is_refused_with_what_to_do() {
    assert_refused(&vgdp_sim(&["replay", "no-such-file"]), &["`no-such-file` cannot be read"]);
    assert_refused(&vgdp_sim(&["run"]), &["--scenario", "--help"]);
    assert_refused(&vgdp_sim(&["run", "--scenario", "cancel", "--nodes", "4"]), &["'4'", "1..=3"]);
    assert_refused(&vgdp_sim(&["hunt", "--runs", "0"]), &["'0'"]);
    assert_refused(&vgdp_sim(&["--jobs", "0"]), &["'0'"]);
    assert_refused(&vgdp_sim(&["--expect", "no-such-file"]), &["`no-such-file` cannot be read", "--record"]);
    assert_refused(&vgdp_sim(&["--json", "--tokens"]), &["'--json'", "'--tokens'"]);
    assert_refused(&with_input(&["replay", "-"], ""), &["write `scenario: cancel`"]);
}

/// The output is longer than a pipe holds, so the program is still writing when nobody reads any more.
#[test]
fn a_closed_pipe_ends_it_quietly() {
    let args = [
        "run",
        "--scenario",
        "anything",
        "--nodes",
        "3",
        "--tasks",
        "4",
        "--policy",
        "normal",
        "--all",
        "--verbose",
        "--width",
        "60",
    ];
    assert!(vgdp_sim(&args).out.len() > 1 << 16, "the output fits into a pipe");
    let mut child = command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let it = child.wait_with_output().unwrap();
    assert!(first.starts_with("anything: "));
    assert_eq!((it.status.code(), String::from_utf8(it.stderr).unwrap().as_str()), (Some(0), ""));
}

#[test]
fn nothing_is_coloured_unless_a_terminal_reads_it() {
    assert!(!vgdp_sim(&["run", "--scenario", "anything"]).out.contains('\u{1b}'));
}

#[test]
fn a_comparison_in_which_nothing_acted_is_vacuous() {
    let quiet =
        vgdp_sim(&["compare", "--scenario", "pod-deleted", "--design", "upstream", "--deviations", "0", "--runs", "0"]);
    assert_eq!(quiet.code, Some(3), "{}", quiet.err);
    assert!(quiet.err.contains("pod-deleted") && quiet.err.contains("--deviations or --runs"), "{}", quiet.err);
    let normal =
        vgdp_sim(&["compare", "--scenario", "normal", "--design", "upstream", "--deviations", "0", "--runs", "0"]);
    assert_eq!(normal.code, Some(0), "nothing is allowed, so nothing is missing");
}

#[test]
fn shells_complete_and_man_explains_each_command() {
    let bash = vgdp_sim(&["completions", "bash"]);
    assert!(bash.code == Some(0) && bash.out.contains("replay"), "{}", bash.err);
    let page = vgdp_sim(&["man"]).out;
    assert!(page.contains(".TH vgdp-sim 1") && page.contains("vgdp\\-sim\\-hunt(1)"), "{page}");
    let dir = fresh_dir("man");
    assert_eq!(vgdp_sim(&["man", "--out", dir.to_str().unwrap()]).code, Some(0));
    assert!(fs::read_to_string(dir.join("vgdp-sim-hunt.1")).unwrap().contains("\\-\\-seed"));
}

/// The example on the page about timelines is what the program prints.
#[test]
fn the_page_about_timelines_shows_a_real_one() {
    let page = include_str!("../docs/reading.md");
    let blocks: Vec<&str> =
        page.split("```text\n").skip(1).map(|it| it.split_once("```").expect("it ends").0).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let (command, shown) = block.split_once('\n').expect("a command and what it prints");
        let args = command.strip_prefix("$ vgdp-sim ").expect("a command");
        let it = vgdp_sim(&args.split(' ').collect::<Vec<_>>());
        for part in shown.split("[...]\n") {
            assert!(it.out.contains(part), "docs/reading.md: `{command}` prints\n{}\nand not\n{part}", it.out);
        }
    }
}

/// The run that the README names is one that shows what it is about.
#[test]
fn the_run_of_the_readme_leaks_a_slot() {
    let line = include_str!("../README.md").lines().find_map(|it| it.strip_prefix("vgdp-sim run "));
    let arguments = line.and_then(|it| it.split('#').next()).expect("the README shows a run").split_whitespace();
    let it = vgdp_sim(&["run"].into_iter().chain(arguments).collect::<Vec<_>>());
    assert_eq!((it.code, it.out.contains("Broken: slot-leak:")), (Some(1), true), "{}", it.out);
}

/// Programs are told how far a search is, an object a line, and people get the same output as without that.
#[test]
fn progress_is_told_to_programs_that_ask_for_it() {
    let dir = fresh_dir("progress");
    let hunt = ["hunt", "--scenario", "pod-deleted", "--runs", "300", "--out", dir.to_str().unwrap()];
    let prove = ["prove", "--scenario", "normal", "--nodes", "1", "--small", "--out", dir.to_str().unwrap()];
    let compare = ["--scenario", "normal", "--design", "upstream", "--deviations", "1", "--runs", "0"];
    for (args, unit) in [(&hunt[..], "runs"), (&prove, "worlds"), (&compare, "pairs")] {
        let (quiet, told) = (vgdp_sim(args), vgdp_sim(&[args, &["--progress", "json"]].concat()));
        assert_eq!((quiet.err.as_str(), &quiet.out, quiet.code), ("", &told.out, told.code));
        let events: Vec<serde_json::Value> =
            told.err.lines().map(|it| serde_json::from_str(it).unwrap_or_else(|_| panic!("{it}"))).collect();
        assert!(events.iter().all(|it| it["unit"] == unit && it["done"].is_u64()), "{}", told.err);
        assert_eq!(events.last().expect("there is one at the end")["event"], "end");
    }
}
