//! A comparison in shards: together they are the whole, byte for byte, and nothing else is taken for it. The files under
//! `deploy/` do what they say.

#![cfg(feature = "cli")]

use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;

use serde_json::Value;

use vgdp_sim::designs::Upstream;
use vgdp_sim::model::design::Design;
use vgdp_sim::scenario::Scenario;
use vgdp_sim::search::{Effort, Shard, compare_shard};

/// A small comparison of four pairs.
const SMALL: [&str; 13] = [
    "compare",
    "--scenario",
    "pod-deleted",
    "--scenario",
    "cancel",
    "--design",
    "upstream",
    "--design",
    "close-on-terminal",
    "--deviations",
    "1",
    "--runs",
    "50",
];

/// The same without a sweep that would act.
const VACUOUS: [&str; 9] =
    ["compare", "--scenario", "pod-deleted", "--design", "upstream", "--deviations", "0", "--runs", "0"];

fn ran(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vgdp-sim")).args(args).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("it prints text")
}

/// What it prints when all is well.
fn printed(args: &[&str]) -> String {
    let it = ran(args);
    assert_eq!((it.status.code(), text(&it.stderr)), (Some(0), ""));
    text(&it.stdout).to_owned()
}

fn whole() -> String {
    printed(&[&SMALL[..], &["--json"]].concat())
}

/// An empty directory of this test's own.
fn fresh_dir(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("shard-{name}"));
    match fs::remove_dir_all(&dir) {
        Err(it) if it.kind() != io::ErrorKind::NotFound => panic!("{}: {it}", dir.display()),
        _ => fs::create_dir_all(&dir).unwrap(),
    }
    dir
}

/// Makes shard `number` of `of` in a file of the directory.
fn shard(dir: &Path, args: &[&str], number: usize, of: usize) -> String {
    let file = dir.join(format!("{number}-of-{of}.json")).to_str().unwrap().to_owned();
    fs::write(&file, printed(&[args, &["--json", "--shard", &format!("{number}/{of}")]].concat())).unwrap();
    file
}

fn shards(dir: &Path, of: usize) -> Vec<String> {
    (1..=of).map(|number| shard(dir, &SMALL, number, of)).collect()
}

fn merged(files: &[&str]) -> Output {
    ran(&[&["merge"], files].concat())
}

/// One paragraph that starts with `error: ` and says each of these.
fn assert_refused(it: &Output, says: &[&str]) {
    let told = text(&it.stderr);
    assert_eq!((it.status.code(), text(&it.stdout)), (Some(2), ""), "{told}");
    assert!(told.starts_with("error: ") && told.trim_end().lines().count() == 1, "{told}");
    for it in says {
        assert!(told.contains(it), "{it:?} is missing in {told}");
    }
}

#[test]
fn shards_in_any_order_are_the_whole() {
    let (dir, whole) = (fresh_dir("orders"), whole());
    for of in [1, 2, 3, 5] {
        let files = shards(&dir, of);
        let mut files: Vec<&str> = files.iter().map(String::as_str).collect();
        for _ in 0..of {
            files.rotate_left(1);
            for files in [files.clone(), files.iter().rev().copied().collect()] {
                let it = merged(&files);
                assert_eq!((it.status.code(), text(&it.stderr)), (Some(0), ""));
                assert!(text(&it.stdout) == whole, "{files:?} are not the whole");
            }
        }
    }
}

#[test]
fn a_shard_says_which_it_is_and_holds_its_pairs_only() {
    let dir = fresh_dir("pairs");
    for (number, pairs) in
        [(1, vec!["pod-deleted upstream", "cancel close-on-terminal"]), (2, vec!["pod-deleted close-on-terminal"])]
    {
        let json = fs::read_to_string(shard(&dir, &SMALL, number, 3)).unwrap();
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["schema"], "vgdp-sim/comparison/1");
        assert_eq!(json["shard"], serde_json::json!({ "number": number, "of": 3 }));
        let scenarios = json["scenarios"].as_object().unwrap();
        let mut held: Vec<String> = Vec::new();
        for (scenario, it) in scenarios {
            held.extend(it["designs"].as_object().unwrap().keys().map(|design| format!("{scenario} {design}")));
        }
        held.sort();
        let mut pairs = pairs;
        pairs.sort_unstable();
        assert_eq!((scenarios.len(), held), (2, pairs.into_iter().map(str::to_owned).collect()));
    }
    let whole: Value = serde_json::from_str(&whole()).unwrap();
    assert!(whole.get("shard").is_none());
}

#[test]
fn a_shard_with_schedules_writes_those_of_its_pairs() {
    let dir = fresh_dir("out");
    let out = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let names = |name: &str| -> Vec<String> {
        let names = fs::read_dir(dir.join(name)).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    };
    printed(&[&SMALL[..], &["--json", "--out", &out("whole")]].concat());
    for shard in ["1/2", "2/2"] {
        printed(&[&SMALL[..], &["--json", "--shard", shard, "--out", &out("shards")]].concat());
    }
    assert!(!names("whole").is_empty());
    assert_eq!(names("shards"), names("whole"));
}

#[test]
fn the_exit_code_is_that_of_the_whole() {
    let dir = fresh_dir("code");
    let whole = ran(&[&VACUOUS[..], &["--json"]].concat());
    assert_eq!(whole.status.code(), Some(3));
    let shard = ran(&[&VACUOUS[..], &["--json", "--shard", "1/1"]].concat());
    assert_eq!((shard.status.code(), &shard.stderr), (Some(3), &whole.stderr));
    let file = dir.join("1.json");
    fs::write(&file, &shard.stdout).unwrap();
    let it = merged(&[file.to_str().unwrap()]);
    assert_eq!((it.status.code(), it.stdout, text(&it.stderr)), (Some(3), whole.stdout, text(&whole.stderr)));

    // No built-in scenario has a run without rest.
    let undecided = text(&shard.stdout).replace("\"undecided\": 0", "\"undecided\": 2");
    fs::write(&file, undecided).unwrap();
    assert_eq!(merged(&[file.to_str().unwrap()]).status.code(), Some(5));
}

#[test]
fn what_is_no_shard_is_refused() {
    for wrong in ["0/3", "4/3", "0/0", "3", "a/b", "1/", "-1/3", "1/3/3", "1/5000000000"] {
        let it = ran(&[&SMALL[..], &["--json", &format!("--shard={wrong}")]].concat());
        assert_refused(&it, &[wrong, "as 2/3 for the second of three"]);
    }
    assert_refused(&ran(&[&SMALL[..], &["--shard", "1/2"]].concat()), &["`--shard 1/2 --json`"]);
    for more in [["--expect", "x"], ["--record", "x"]] {
        assert_refused(&ran(&[&SMALL[..], &["--shard", "1/2"], &more].concat()), &["--shard", more[0]]);
    }
    assert_refused(&ran(&[&SMALL[..], &["--shard", "1/2", "--tokens"]].concat()), &["--shard", "--tokens"]);
}

/// Until it listens, a signal would end it in another way.
#[cfg(target_os = "linux")]
fn listens(pid: u32) -> bool {
    const SIGTERM: u64 = 1 << (15 - 1);
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let caught = status.lines().find_map(|it| it.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(caught.trim(), 16).unwrap() & SIGTERM != 0
}

#[cfg(target_os = "linux")]
#[test]
fn a_shard_that_is_cut_short_prints_nothing() {
    let endless = [&SMALL[..9], &["--deviations", "1", "--runs", "1000000000", "--json", "--shard", "1/4"]].concat();
    let mut command = Command::new(env!("CARGO_BIN_EXE_vgdp-sim"));
    let child = command
        .args(endless)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while !listens(child.id()) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let it = child.wait_with_output().unwrap();
    assert_eq!((it.status.code(), text(&it.stdout)), (Some(130), ""));
    assert!(text(&it.stderr).starts_with("interrupted: shard 1/4 is cut short"), "{}", text(&it.stderr));
}

#[test]
fn only_what_a_shard_holds_counts_as_interrupted() {
    let scenarios = Scenario::built_in();
    let designs: [&dyn Design; 2] = [&Upstream, &Upstream];
    let interrupted = |shard: Option<Shard>| {
        let stop = AtomicBool::new(true);
        let jobs = NonZeroUsize::MIN;
        compare_shard(&scenarios, &designs, Effort::QUICK, shard, jobs, Some(&stop), &|_| ()).interrupted()
    };
    let pairs = scenarios.len() * designs.len();
    assert_eq!(interrupted(None), pairs);
    let of_four = (1..=4).map(|it| interrupted(Shard::new(it, 4)));
    assert_eq!(
        of_four.collect::<Vec<_>>(),
        (1..=4).map(|it| Shard::new(it, 4).unwrap().share(pairs)).collect::<Vec<_>>()
    );
    assert_eq!(interrupted(Shard::new(99, 99)), 0);
}

/// Changes a file's text, and complains where that changes nothing.
fn changed(dir: &Path, name: &str, file: &str, was: &str, is: &str) -> String {
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains(was), "{was} is not in {file}");
    let path = dir.join(name).to_str().unwrap().to_owned();
    fs::write(&path, text.replacen(was, is, 1)).unwrap();
    path
}

#[test]
fn shards_that_are_missing_or_there_twice_are_refused() {
    let dir = fresh_dir("missing");
    let files = shards(&dir, 3);
    let [a, b, c] = [0, 1, 2].map(|it| files[it].as_str());
    assert_refused(&merged(&[a, c]), &[a, "one of 3 shards", "1 missing, the first 2/3", "--shard 2/3 --json"]);
    assert_refused(&merged(&[b]), &[b, "2 missing, the first 1/3", "--shard 1/3 --json"]);
    assert_refused(&merged(&[b, a]), &[b, "1 missing, the first 3/3", "--shard 3/3 --json"]);
    let copy = dir.join("copy.json");
    fs::copy(b, &copy).unwrap();
    let copy = copy.to_str().unwrap();
    assert_refused(&merged(&[a, b, copy, c]), &[b, copy, "both are shard 2/3"]);
    assert_refused(&merged(&[a, b, c, a]), &["both are shard 1/3"]);
    assert_refused(&merged(&[]), &["<FILE>", "--help"]);
}

#[test]
fn shards_of_different_comparisons_are_refused() {
    let dir = fresh_dir("differs");
    let first = shard(&dir, &SMALL, 1, 2);
    let second = shard(&fresh_dir("differs/b"), &SMALL, 2, 2);
    let differs = |file: &str, what: &str| {
        assert_refused(&merged(&[&first, file]), &[&first, file, "different comparisons", what]);
        assert_refused(&merged(&[file, &first]), &[&first, file, "different comparisons", what]);
    };
    let with =
        |name: &str, more: &[&str]| shard(&fresh_dir(&format!("differs/{name}")), &[&SMALL[..], more].concat(), 2, 2);
    differs(&with("seed", &["--seed", "2"]), "`effort`");
    differs(&with("worlds", &["--worlds", "100000"]), "`effort`");
    differs(&with("invariant", &["--invariant", "slot-leak"]), "`invariants`");
    differs(&with("design", &["--design", "positive-grace"]), "`designs`");
    differs(&with("scenario", &["--scenario", "normal"]), "`scenarios`");
    differs(&with("ticks", &["--ticks", "fine"]), "`ticks` of the scenario pod-deleted");
    differs(&shard(&dir, &SMALL, 2, 3), "how many shards there are");
    let version = concat!("\"version\": \"", env!("CARGO_PKG_VERSION"), "\"");
    differs(&changed(&dir, "version.json", &second, version, "\"version\": \"9.9.9\""), "`version`");
    differs(&changed(&dir, "price.json", &second, "\"nodes\": 2", "\"nodes\": 1"), "`nodes` of the scenario");
}

#[test]
fn what_compare_has_not_written_is_refused() {
    let dir = fresh_dir("changed");
    let file = shard(&dir, &SMALL, 1, 1);
    let file = file.as_str();
    let written = |name: &str, text: &str| {
        let path = dir.join(name).to_str().unwrap().to_owned();
        fs::write(&path, text).unwrap();
        path
    };
    let refused = |file: &str, what: &str| assert_refused(&merged(&[file]), &[file, what, "--json"]);
    let json = fs::read_to_string(file).unwrap();
    refused(&written("empty.json", ""), "is not JSON");
    refused(&written("cut.json", &json[..json.len() / 2]), "is not JSON");
    refused(&written("more.json", &format!("{json}{json}")), "is not JSON");
    refused(&written("list.json", "[]"), "has no object");
    refused(&written("other.json", "{}"), "has no schema");
    refused(&written("proof.json", "{ \"schema\": \"vgdp-sim/proof/1\" }"), "has the schema `vgdp-sim/proof/1`");
    refused(&written("whole.json", &whole()), "is a whole comparison");
    refused(dir.join("none.json").to_str().unwrap(), "cannot be read");
    let bytes = dir.join("bytes.json");
    fs::write(&bytes, [0xff, 0xfe, 0x7b, 0]).unwrap();
    refused(bytes.to_str().unwrap(), "is no text");

    let edited = |was: &str, is: &str, what: &str| refused(&changed(&dir, "edited.json", file, was, is), what);
    edited("\"number\": 1", "\"number\": 2", "there is no such `shard`");
    edited("\"number\": 1", "\"number\": 0", "there is no such `shard`");
    edited("\"of\": 1", "\"of\": 2", "it does not have the designs of shard 1/2 in the scenario pod-deleted");
    edited("\"vacuous\": false", "\"vacuous\": null", "what it says of pod-deleted and upstream is incomplete");
    edited("\"designs\": {", "\"designers\": {", "it has no `designs`");
    edited("\"scenarios\": {", "\"scenes\": {", "it has no `scenarios`");
}

/// What `deploy/` would run, here.
#[cfg(unix)]
mod deployed {
    use super::*;
    use std::ffi::OsString;

    const JOB: &str = include_str!("../deploy/kubernetes.yaml");
    const MERGE_JOB: &str = include_str!("../deploy/kubernetes-merge.yaml");
    const WORKFLOW: &str = include_str!("../deploy/github-actions.yaml");

    /// The scripts of a manifest: what follows a `|`, as far as it is indented more.
    fn scripts(manifest: &str) -> Vec<String> {
        let mut scripts = Vec::new();
        let mut lines = manifest.lines().peekable();
        while let Some(line) = lines.next() {
            if line.ends_with(" |") {
                let indent = |it: &str| it.len() - it.trim_start().len();
                let mut script = String::new();
                while let Some(it) = lines.next_if(|it| indent(it) > indent(line)) {
                    script += it.trim();
                    script.push('\n');
                }
                scripts.push(script);
            }
        }
        scripts
    }

    fn only(manifest: &str) -> String {
        let [script] = &scripts(manifest)[..] else { panic!("there is one script") };
        script.clone()
    }

    /// What follows a key, without a comment.
    fn value<'a>(manifest: &'a str, key: &str) -> &'a str {
        let line = manifest.lines().find_map(|it| it.trim().strip_prefix(key)?.strip_prefix(": "));
        let line = line.unwrap_or_else(|| panic!("there is no {key}"));
        line.split(" #").next().unwrap().trim().trim_matches('"')
    }

    /// A script as its manifest has it, with that much to do and in that directory; `args` is what it is to do instead.
    fn here(script: &str, results: &Path, args: &[&str]) -> String {
        const ALL: &str = "vgdp-sim compare --effort thorough ";
        assert_eq!(script.matches("vgdp-sim ").count(), 1, "{script}");
        let results = results.to_str().unwrap();
        let script = script.replace(ALL, &format!("vgdp-sim {} ", args.join(" ")));
        script.replace("/results", results).replace("/dev/termination-log", &format!("{results}/termination-log"))
    }

    /// The exit code of a script, which finds the program on its path.
    fn code(flags: &[&str], script: &str, dir: &Path, env: &[(&str, &str)]) -> Option<i32> {
        let program = Path::new(env!("CARGO_BIN_EXE_vgdp-sim")).parent().unwrap();
        let mut path = OsString::from(program);
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut sh = Command::new("sh");
        sh.args(flags).args(["-c", script]).current_dir(dir).env("PATH", path).envs(env.iter().copied());
        let it = sh.output().expect("there is a shell");
        fs::write(dir.join("log"), it.stdout).unwrap();
        it.status.code()
    }

    #[test]
    fn the_job_makes_shards_that_merge() {
        let dir = fresh_dir("job");
        let count = value(JOB, "completions");
        assert_eq!(value(JOB, "completionMode"), "Indexed");
        assert!(JOB.contains(&format!("- name: SHARDS\n              value: \"{count}\"\n")));
        let count: usize = count.parse().unwrap();
        let script = here(&only(JOB), &dir, &SMALL);
        for index in 0..count {
            let env = [("JOB_COMPLETION_INDEX", &*index.to_string()), ("SHARDS", &*count.to_string())];
            assert_eq!(code(&[], &script, &dir, &env), Some(0));
        }
        assert_eq!(code(&[], &here(&only(MERGE_JOB), &dir, &[]), &dir, &[]), Some(0));
        for it in ["log", "comparison.json"] {
            assert!(fs::read_to_string(dir.join(it)).unwrap() == whole(), "{it}");
        }
        assert_eq!(fs::read_to_string(dir.join("termination-log")).unwrap(), "");

        // Vacuous or not, a shard is kept; one that has failed leaves nothing that merges.
        let env = [("JOB_COMPLETION_INDEX", "0"), ("SHARDS", "1")];
        assert_eq!(code(&[], &here(&only(JOB), &dir, &VACUOUS), &dir, &env), Some(0));
        assert_eq!(code(&[], &here(&only(MERGE_JOB), &dir, &[]), &dir, &[]), Some(2));
        assert!(fs::read_to_string(dir.join("termination-log")).unwrap().starts_with("error: "));
        let dir = fresh_dir("job-fails");
        assert_eq!(code(&[], &here(&only(JOB), &dir, &["compare", "--design", "none"]), &dir, &env), Some(2));
        assert!(!dir.join("shard-1.json").exists());
    }

    #[test]
    fn the_workflow_makes_shards_that_merge() {
        let dir = fresh_dir("workflow");
        let shards: Vec<&str> = value(WORKFLOW, "shard").trim_matches(['[', ']']).split(", ").collect();
        let numbers: Vec<String> = (1..=shards.len()).map(|it| it.to_string()).collect();
        assert_eq!(shards, numbers);
        let [compare, merge] = &scripts(WORKFLOW)[..] else { panic!("there are two scripts") };
        let script = |number: &str, of: &str, args: &[&str]| {
            let script = here(compare, &dir, args).replace("${{ matrix.shard }}", number);
            let script = script.replace("${{ strategy.job-total }}", of);
            assert!(!script.contains("${{"), "{script}");
            script
        };
        let of = shards.len().to_string();
        for number in shards {
            assert_eq!(code(&["-e"], &script(number, &of, &SMALL), &dir, &[]), Some(0));
        }
        assert_eq!(code(&["-e"], &here(merge, &dir, &[]), &dir, &[]), Some(0));
        assert!(fs::read_to_string(dir.join("comparison.json")).unwrap() == whole());
        assert_eq!(code(&["-e"], &script("1", "1", &VACUOUS), &dir, &[]), Some(0));
        assert_eq!(code(&["-e"], &script("1", "1", &["compare", "--design", "none"]), &dir, &[]), Some(1));
    }

    /// The commands of the page and of the files are of this program as they stand.
    #[test]
    fn each_command_parses() {
        let page = include_str!("../docs/scale.md");
        let commands: Vec<&str> = [JOB, MERGE_JOB, WORKFLOW, page]
            .into_iter()
            .flat_map(str::lines)
            .filter_map(|it| it.trim().strip_prefix("vgdp-sim "))
            .map(|it| it.split(['>', '#']).next().unwrap().trim_end_matches(" 2").trim())
            .collect();
        assert_eq!(commands.len(), 8, "{commands:?}");
        for command in commands {
            let command = command.replace("$((JOB_COMPLETION_INDEX + 1))/$SHARDS", "1/8");
            let command = command.replace("${{ matrix.shard }}/${{ strategy.job-total }}", "1/8");
            let mut args: Vec<&str> = command.split_whitespace().collect();
            args.push("--help"); // whatever stands before it is parsed first
            let it = ran(&args);
            assert_eq!(it.status.code(), Some(0), "{command}: {}", text(&it.stderr));
        }
    }
}
