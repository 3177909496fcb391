//! How a command ends: its exit code, its one paragraph of error, and what it leaves on disk.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use vgdp_sim::report::Story;
use vgdp_sim::run::Ended;

/// An invariant was broken, or something is not as expected.
pub const BROKEN: u8 = 1;
/// The user has something to put right.
pub const WRONG_INPUT: u8 = 2;
/// Nothing that a scenario allows ever acted: a pass would be vacuous.
pub const VACUOUS: u8 = 3;
/// A replay went another way than its schedule.
pub const DIVERGED: u8 = 4;
/// Ctrl-C ended it early; what it had found is printed and kept.
pub const INTERRUPTED: u8 = 130;
/// A run came to no rest.
pub const UNDECIDED: u8 = 5;
/// A proof stopped at its bound on worlds and found nothing by then.
pub const OPEN: u8 = 6;

/// Why it ends early.
pub enum Failure {
    /// Standard output is closed or full.
    Output(io::Error),
    /// The user has something to put right.
    Input(String),
    /// Ctrl-C came before there was anything to print.
    Interrupted(String),
}

impl From<io::Error> for Failure {
    fn from(it: io::Error) -> Failure {
        Failure::Output(it)
    }
}

/// One paragraph on standard error.
pub fn complain(what: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "error: {what}"); // nobody is left to be told if this fails
    ExitCode::from(WRONG_INPUT)
}

/// The same after Ctrl-C.
pub fn gives_up(what: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "interrupted: {what}");
    ExitCode::from(INTERRUPTED)
}

pub fn code(story: &Story) -> u8 {
    if story.broke_anything() {
        BROKEN
    } else if story.report.ended == Ended::Undecided {
        UNDECIDED
    } else {
        0
    }
}

/// A scenario in which nothing acted shows nothing: says so, and what to type next.
pub fn tell_vacuous(scenarios: &[&str], option: &str) {
    if !scenarios.is_empty() {
        let names = scenarios.join(", ");
        eprintln!(
            "vgdp-sim: nothing that these scenarios allow ever acted, so they show nothing: {names}; give a larger {option}"
        );
    }
}

/// Writes a file of that name into `dir`, which is made: as a whole, or not at all.
pub fn keep(dir: &Path, name: &str, text: &str) -> io::Result<PathBuf> {
    if dir.exists() && !dir.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into()); // the system would say that it exists
    }
    fs::create_dir_all(dir)?;
    let (part, path) = (dir.join(format!("{name}.part")), dir.join(name));
    let written = fs::write(&part, text).and_then(|()| fs::rename(&part, &path));
    if written.is_err() {
        let _ = fs::remove_file(&part); // what is left of it would replay as another schedule
    }
    written.map(|()| path)
}

pub fn written(path: &Path, text: &str, option: &str) -> Result<(), Failure> {
    let name = path.display();
    fs::write(path, text)
        .map_err(|it| Failure::Input(format!("`{name}` cannot be written: {it}; give {option} another file")))
}
