//! The guide keeps its word: what it quotes stands there, its files are sound, and its commands print what it shows.
//!
//! Its other code is compiled and run with the documentation, and `examples/my_fix.rs` is tested here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use vgdp_sim::scenario::Scenario;

#[allow(dead_code)] // here nobody calls its `main`
#[path = "../examples/my_fix.rs"]
mod my_fix;

const GUIDE: &str = include_str!("../docs/guide.md");

/// The blocks of code: what follows the fence, and what stands between the fences.
fn blocks() -> Vec<(&'static str, &'static str)> {
    let parts: Vec<&str> = GUIDE.split("```").collect();
    assert!(parts.len() % 2 == 1, "a fence is not closed");
    parts.into_iter().skip(1).step_by(2).map(|it| it.split_once('\n').expect("a fence ends its line")).collect()
}

fn blocks_of(kind: &str) -> Vec<&'static str> {
    let of = blocks().into_iter().filter(|it| it.0 == kind).map(|it| it.1).collect::<Vec<_>>();
    assert!(!of.is_empty(), "the guide has no block of {kind}");
    of
}

/// A directory with the scenario files of the guide.
fn directory() -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guide");
    fs::create_dir_all(&dir).unwrap();
    for text in blocks_of("json") {
        let scenario = Scenario::read(text).unwrap_or_else(|it| panic!("{it}\n{text}"));
        fs::write(dir.join(format!("{}.json", scenario.name)), text).unwrap();
    }
    dir
}

/// What a command of the guide prints, errors included.
fn printed(command: &str, dir: &Path) -> String {
    if command == "cargo run --release --example my_fix" {
        return my_fix::verdict().expect("it can be judged");
    }
    let args = command.strip_prefix("vgdp-sim ").unwrap_or_else(|| panic!("`{command}` is no command of this crate"));
    let mut program = Command::new(env!("CARGO_BIN_EXE_vgdp-sim"));
    let it = program.args(args.split(' ')).env("COLUMNS", "100").current_dir(dir).output().expect("it starts");
    String::from_utf8([it.stdout, it.stderr].concat()).expect("it prints text")
}

/// Whether `text` is what is `shown`, in which a line of three dots stands for any lines.
fn is_shown(shown: &[&str], text: &[&str]) -> bool {
    let bare = |it: &&str| it.trim_end().to_owned();
    match shown {
        [] => text.iter().all(|it| it.trim().is_empty()),
        ["...", rest @ ..] => (0..=text.len()).any(|it| is_shown(rest, &text[it..])),
        [first, rest @ ..] => text.first().is_some_and(|it| bare(it) == bare(first) && is_shown(rest, &text[1..])),
    }
}

#[test]
fn the_commands_print_what_is_shown() {
    let dir = directory();
    for block in blocks_of("console") {
        for command in block.split("$ ").skip(1) {
            let (command, shown) = command.split_once('\n').expect("a command has a line");
            let text = printed(command, &dir);
            let (shown, lines): (Vec<&str>, Vec<&str>) = (shown.trim_end().lines().collect(), text.lines().collect());
            assert!(is_shown(&shown, &lines), "`{command}` prints\n{text}");
        }
    }
}

#[test]
fn the_quotations_stand_where_they_are_taken_from() {
    for block in blocks_of("rust,ignore") {
        let (file, quoted) = block.split_once('\n').expect("a quotation begins with its file");
        let file = file.strip_prefix("// ").expect("the file is a comment");
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).expect(file);
        let bare = |text: &str| text.trim_end().lines().map(|it| it.trim().to_owned()).collect::<Vec<_>>();
        let (text, quoted) = (bare(&text), bare(quoted));
        assert!(text.windows(quoted.len()).any(|it| it == quoted), "not in {file}:\n{}", quoted.join("\n"));
    }
}

#[test]
fn all_code_is_run_or_compared() {
    for (kind, text) in blocks() {
        assert!(["rust", "rust,ignore", "console", "json"].contains(&kind), "{kind} is not checked:\n{text}");
    }
}
