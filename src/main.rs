//! The command line. It parses, asks the library and prints; every text is made in [`vgdp_sim::report`].

mod cli;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};

use cli::output::{Failure, complain, gives_up};
use cli::{compare, hunt, list, manual, merge, prove, replay, run, scenario, sensitivity};
use vgdp_sim::report::nearest;

/// Deterministic simulation of the cancel/delete handshake of Velero's data movers.
///
/// Without a subcommand it compares: for each scenario and each design it tries every schedule within some deviations
/// from the normal one, then some by chance, and tells for each invariant the cheapest way to break it. The price of a
/// violation is what the outside world had to do wrong for it; price 0 is a race of normal operation.
#[derive(Parser)]
#[command(version, args_conflicts_with_subcommands = true, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    compare: compare::CompareArgs,
}

const EXIT_CODES: &str = "Exit codes: 0 done, and for run, replay and prove no invariant broken; 1 an invariant was broken, or \
    what was compared is not as expected; 2 something is wrong with the arguments or a file, or a hunt or a proof \
    could not write its schedules (it prints what it found all the same); 3 nothing that a scenario allows ever acted, so nothing \
    is shown; 4 a replay diverged; 5 a run came to no rest; 6 a proof found nothing, but stopped at its bound on worlds; \
    130 Ctrl-C ended a search early (what it had found is printed and kept). `explain --help` has its own.";

#[derive(Subcommand)]
enum Command {
    /// Compare designs: the cheapest way to break each invariant, if there is one.
    Compare(Box<compare::CompareArgs>),
    /// Join the shards of one comparison, which `compare --shard I/N --json` made, into what it is as a whole, as JSON.
    Merge(merge::MergeArgs),
    /// Run scenarios many times by chance and write the schedules that broke something.
    Hunt(hunt::HuntArgs),
    /// Visit every reachable world of a small scope: the cheapest way to break each invariant, or that there is none.
    Prove(Box<prove::ProveArgs>),
    /// Make one run and show its timeline and what it broke.
    Run(Box<run::RunArgs>),
    /// Replay a token, a schedule or a regression: how it departs from the normal run, its timeline, and what it broke.
    Replay(replay::ReplayArgs),
    /// Ask which assumptions about latency a violation needs: each is halved and doubled.
    Sensitivity(sensitivity::SensitivityArgs),
    /// Explain a violation: what happens, where no way back is left, and what the same run does with one deviation less.
    Explain(Box<cli::explain::ExplainArgs>),
    /// List what there is.
    List(list::ListArgs),
    /// Check scenario files, or print a built-in scenario as a file to edit.
    Scenario(scenario::ScenarioArgs),
    /// Print a script with which a shell completes these commands.
    Completions(manual::CompletionsArgs),
    /// Print the manual page.
    Man(manual::ManArgs),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(it) => it,
        Err(it) => return explain(&it),
    };
    let out = &mut io::stdout().lock();
    let done = match cli.command {
        None => compare::compares(&cli.compare, out),
        Some(Command::Compare(it)) => compare::compares(&it, out),
        Some(Command::Merge(it)) => merge::merges(&it, out),
        Some(Command::Hunt(it)) => hunt::hunts(&it, out),
        Some(Command::Prove(it)) => prove::proves(&it, out),
        Some(Command::Run(it)) => run::runs(*it, out),
        Some(Command::Replay(it)) => replay::replays(&it, out),
        Some(Command::Sensitivity(it)) => sensitivity::asks(&it, out),
        Some(Command::Explain(it)) => cli::explain::explains(&it, out),
        Some(Command::List(it)) => list::lists(&it, out),
        Some(Command::Scenario(it)) => scenario::scenarios(&it, out),
        Some(Command::Completions(it)) => manual::completes(&it, Cli::command(), out),
        Some(Command::Man(it)) => manual::explains(&it, Cli::command(), out),
    };
    match done.and_then(|code| Ok(out.flush().map(|()| code)?)) {
        Ok(code) => ExitCode::from(code),
        Err(Failure::Output(it)) if it.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(Failure::Output(it)) => complain(&format!("standard output cannot be written: {it}")),
        Err(Failure::Input(it)) => complain(&it),
        Err(Failure::Interrupted(it)) => gives_up(&it),
    }
}

/// Help and version as they are; an error in one paragraph that ends with what to type.
fn explain(it: &clap::Error) -> ExitCode {
    if matches!(it.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let _ = it.print();
        return ExitCode::SUCCESS;
    }
    let text = it.render().to_string();
    let told = text.split("\n\n").filter(|it| !it.trim_start().starts_with("Usage:") && !it.contains("try '--help'"));
    let told: Vec<String> = told.map(|it| it.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let mut told = told.join("; ").trim_start_matches("error: ").trim_end_matches(['.', ';', ' ']).to_owned();
    if let (Some(ContextValue::String(typed)), None) =
        (it.get(ContextKind::InvalidSubcommand), it.get(ContextKind::SuggestedSubcommand))
    {
        let command = Cli::command();
        if let Some(name) = nearest(typed, command.get_subcommands().map(clap::Command::get_name)) {
            told = format!("{told}; did you mean `vgdp-sim {name}`?");
        }
    }
    complain(&format!("{told} (`vgdp-sim --help` shows what there is)"))
}
