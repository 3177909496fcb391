//! The command line. It parses, asks the library and prints; every text is made in [`vgdp_sim::report`].

use std::env;
use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use vgdp_sim::designs;
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::design::Design;
use vgdp_sim::model::place::{NODES, TASKS};
use vgdp_sim::report::summary::{self, Hunted, Kept};
use vgdp_sim::report::{
    Expected, Replayed, Schedule, Story, Style, Then, Token, Tokens, Told, comparison, expected, json, nearest, tables,
    told,
};
use vgdp_sim::run::Ended;
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::{Normal, PORTFOLIO, Placed, Policy as _, Scheduler, Uniform};
use vgdp_sim::search::{Comparison, Effort, compare, hunt};

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
    compare: CompareArgs,
}

const EXIT_CODES: &str = "Exit codes: 0 done, and for run and replay no invariant broken; 1 an invariant was broken, or \
    what was compared is not as expected; 2 something is wrong with the arguments or a file; 3 nothing that a scenario \
    allows ever acted, so nothing is shown; 4 a replay diverged; 5 a run \
    came to no rest.";

#[derive(Subcommand)]
enum Command {
    /// Compare designs: the cheapest way to break each invariant, if there is one.
    Compare(Box<CompareArgs>),
    /// Run scenarios many times by chance and write the schedules that broke something.
    Hunt(HuntArgs),
    /// Make one run and show its timeline and what it broke.
    Run(Box<RunArgs>),
    /// Replay a token or a schedule file: how it departs from the normal run, its timeline, and what it broke.
    Replay(ReplayArgs),
    /// List what there is.
    List(ListArgs),
}

#[derive(Args)]
struct CompareArgs {
    /// Only this scenario; may be given several times.
    #[arg(long = "scenario", value_name = "NAME", value_parser = scenario)]
    scenarios: Vec<Scenario>,
    /// Only this design; may be given several times.
    #[arg(long = "design", value_name = "NAME", value_parser = design)]
    designs: Vec<DesignArg>,
    /// Show only this invariant; may be given several times.
    #[arg(long = "invariant", value_name = "ID", value_parser = invariant)]
    invariants: Vec<usize>,
    /// Try every schedule with so many deviations from the normal one [default: 2].
    #[arg(long, value_name = "K")]
    deviations: Option<u8>,
    /// The most worlds that this may visit for a scenario and a design [default: 1000000].
    #[arg(long, value_name = "N")]
    worlds: Option<usize>,
    /// Then make so many runs by chance [default: 1000].
    #[arg(long, value_name = "N")]
    runs: Option<u64>,
    /// The seed of all random choices [default: 1].
    #[arg(long)]
    seed: Option<u64>,
    /// Threads [default: as many as there are cores]; what is found does not depend on it.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Print JSON (vgdp-sim/comparison/1).
    #[arg(long, conflicts_with = "tokens")]
    json: bool,
    /// Print how each design is broken, not only the first.
    #[arg(long)]
    tokens: bool,
    /// Compare with a recorded table, as it was made unless told otherwise, and print only what differs.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "tokens"])]
    expect: Option<PathBuf>,
    /// Record the table in this file.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Write a schedule for each violation into this directory, which is made.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Columns of the output [default: $COLUMNS, or 80 on a terminal, or 120].
    #[arg(long, value_parser = clap::value_parser!(u16).range(40..=1000))]
    width: Option<u16>,
}

#[derive(Args)]
struct HuntArgs {
    /// The seed of all random choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Runs of each scenario.
    #[arg(long, default_value_t = RUNS, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// Hunt only this scenario; may be given several times.
    #[arg(long = "scenario", value_name = "NAME", value_parser = scenario)]
    scenarios: Vec<Scenario>,
    /// The design.
    #[arg(long, value_name = "NAME", value_parser = design, default_value = "upstream")]
    design: DesignArg,
    /// Where schedules are written; the directory is made.
    #[arg(long, value_name = "DIR", default_value = "target/vgdp-sim")]
    out: PathBuf,
    /// Columns of the output [default: $COLUMNS, or 80 on a terminal, or 120].
    #[arg(long, value_parser = clap::value_parser!(u16).range(40..=1000))]
    width: Option<u16>,
}

/// Runs of each scenario unless told otherwise: all scenarios together take some ten seconds on one core.
const RUNS: u64 = 20_000;

#[derive(Args)]
struct RunArgs {
    /// The scenario.
    #[arg(long, value_name = "NAME", value_parser = scenario)]
    scenario: Scenario,
    /// The design.
    #[arg(long, value_name = "NAME", value_parser = design, default_value = "upstream")]
    design: DesignArg,
    /// The seed of the campaign.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Which run of the campaign.
    #[arg(long, default_value_t = 0)]
    run: u64,
    /// Node-agents, instead of what the scenario says.
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=NODES as i64))]
    nodes: Option<u8>,
    /// Uploads, instead of what the scenario says.
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=TASKS as i64))]
    tasks: Option<u8>,
    /// Who chooses what happens next.
    #[arg(long, value_enum, default_value_t = Policy::Portfolio)]
    schedule: Policy,
    /// Write the schedule of the run to this file; `-` prints it after the timeline.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    #[command(flatten)]
    show: Show,
}

/// A built-in design, as an argument.
#[derive(Clone, Copy)]
struct DesignArg(&'static dyn Design);

fn design(name: &str) -> Result<DesignArg, String> {
    designs::named(name).map(DesignArg).map_err(|it| it.to_string())
}

fn invariant(id: &str) -> Result<usize, String> {
    INVARIANTS.iter().position(|it| it.id == id).ok_or_else(|| {
        let nearest = nearest(id, INVARIANTS.iter().map(|it| it.id)).unwrap_or_default();
        format!("no invariant is called `{id}`; did you mean `{nearest}`? (`vgdp-sim list invariants` shows them all)")
    })
}

#[derive(Clone, Copy, ValueEnum)]
enum Policy {
    /// Chance, by the policy whose turn the run is in a hunt.
    Portfolio,
    /// Chance, uniformly among all that is enabled.
    Uniform,
    /// Chance, with operators and faults spread over the whole run.
    Placed,
    /// No chance: everybody takes turns and nobody interferes.
    Normal,
}

#[derive(Args)]
struct ReplayArgs {
    /// A token, or a schedule file; `-` reads either from standard input.
    #[arg(value_name = "TOKEN|FILE")]
    what: PathBuf,
    /// Replay it on this design, instead of the one for which it was made.
    #[arg(long, value_name = "NAME", value_parser = design)]
    design: Option<DesignArg>,
    #[command(flatten)]
    show: Show,
}

#[derive(Args)]
struct Show {
    /// Show also the steps that changed nothing outside, and what actors know.
    #[arg(long)]
    all: bool,
    /// Show what each rule does and which function of Velero or Kubernetes it was read from.
    #[arg(long, short)]
    verbose: bool,
    /// Columns of the output [default: $COLUMNS, or 80 on a terminal, or 120].
    #[arg(long, value_parser = clap::value_parser!(u16).range(40..=1000))]
    width: Option<u16>,
}

#[derive(Args)]
struct ListArgs {
    /// What to list.
    #[arg(value_enum)]
    topic: Topic,
    /// Columns of the output [default: $COLUMNS, or 80 on a terminal, or 120].
    #[arg(long, value_parser = clap::value_parser!(u16).range(40..=1000))]
    width: Option<u16>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Topic {
    /// Where runs start and what may happen to them.
    Scenarios,
    /// What must hold.
    Invariants,
    /// Every way in which the world can change.
    Rules,
    /// How long things take, and who says so.
    Assumptions,
    /// What the outside world may do and what it costs.
    Prices,
    /// Which designs can be run.
    Designs,
}

fn scenario(name: &str) -> Result<Scenario, vgdp_sim::scenario::UnknownScenario> {
    Scenario::named(name)
}

/// An invariant was broken, or something is not as expected.
const BROKEN: u8 = 1;
/// The user has something to put right.
const WRONG_INPUT: u8 = 2;
/// Nothing that a scenario allows ever acted: a pass would be vacuous.
const VACUOUS: u8 = 3;
/// A replay went another way than its schedule.
const DIVERGED: u8 = 4;
/// A run came to no rest.
const UNDECIDED: u8 = 5;

/// Why it ends early.
enum Failure {
    /// Standard output is closed or full.
    Output(io::Error),
    /// The user has something to put right.
    Input(String),
}

impl From<io::Error> for Failure {
    fn from(it: io::Error) -> Failure {
        Failure::Output(it)
    }
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(it) => it,
        Err(it) => return explain(&it),
    };
    let out = &mut io::stdout().lock();
    let done = match cli.command {
        None => compares(&cli.compare, out),
        Some(Command::Compare(it)) => compares(&it, out),
        Some(Command::Hunt(it)) => hunts(&it, out),
        Some(Command::Run(it)) => runs(*it, out),
        Some(Command::Replay(it)) => replays(&it, out),
        Some(Command::List(it)) => lists(&it, out),
    };
    match done.and_then(|code| Ok(out.flush().map(|()| code)?)) {
        Ok(code) => ExitCode::from(code),
        Err(Failure::Output(it)) if it.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(Failure::Output(it)) => complain(&format!("standard output cannot be written: {it}")),
        Err(Failure::Input(it)) => complain(&it),
    }
}

/// One paragraph on standard error.
fn complain(what: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "error: {what}"); // nobody is left to be told if this fails
    ExitCode::from(WRONG_INPUT)
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

fn width(asked: Option<u16>) -> usize {
    let terminal = io::stdout().is_terminal();
    let columns = || env::var("COLUMNS").ok()?.parse::<usize>().ok().filter(|it| (40..=1000).contains(it));
    asked.map(usize::from).or_else(columns).unwrap_or(if terminal { 80 } else { 120 })
}

fn colour() -> bool {
    io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|it| it.is_empty())
}

impl Show {
    fn style(&self) -> Style {
        Style { width: width(self.width), colour: colour(), all: self.all, verbose: self.verbose }
    }
}

/// What was asked for, and where nothing was, what a recorded table was made of, and else everything.
struct Asked {
    scenarios: Vec<Scenario>,
    designs: Vec<&'static dyn Design>,
    invariants: Vec<usize>,
    effort: Effort,
}

impl CompareArgs {
    fn asked(&self, recorded: Option<&Expected>) -> Result<Asked, String> {
        let scenarios = match recorded.map(Expected::scenarios).filter(|it| !it.is_empty()) {
            _ if !self.scenarios.is_empty() => self.scenarios.clone(),
            Some(names) => {
                names.into_iter().map(|it| scenario(it).map_err(|it| it.to_string())).collect::<Result<_, _>>()?
            }
            None => Scenario::built_in(),
        };
        let designs = match recorded.map(Expected::designs).filter(|it| !it.is_empty()) {
            _ if !self.designs.is_empty() => self.designs.iter().map(|it| it.0).collect(),
            Some(names) => names.into_iter().map(|it| design(it).map(|it| it.0)).collect::<Result<_, _>>()?,
            None => designs::BUILT_IN.to_vec(),
        };
        let mut invariants = match recorded.map(Expected::invariants).filter(|it| !it.is_empty()) {
            _ if !self.invariants.is_empty() => self.invariants.clone(),
            Some(names) => names.into_iter().map(invariant).collect::<Result<_, _>>()?,
            None => (0..INVARIANTS.len()).collect(),
        };
        invariants.sort_unstable();
        invariants.dedup();
        let default = recorded.map_or_else(Effort::default, |it| it.effort);
        let effort = Effort {
            deviations: self.deviations.unwrap_or(default.deviations),
            worlds: self.worlds.unwrap_or(default.worlds),
            runs: self.runs.unwrap_or(default.runs),
            seed: self.seed.unwrap_or(default.seed),
        };
        Ok(Asked { scenarios, designs, invariants, effort })
    }
}

fn compares(args: &CompareArgs, out: &mut dyn Write) -> Result<u8, Failure> {
    let recorded = args.expect.as_deref().map(expectation).transpose()?;
    let Asked { scenarios, designs, invariants, effort } = args.asked(recorded.as_ref()).map_err(Failure::Input)?;
    let jobs = args.jobs.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let shows_progress = io::stderr().is_terminal();
    let count = scenarios.len() * designs.len();
    let progress = |done: usize| {
        if shows_progress {
            let _ = write!(io::stderr(), "\r\x1b[K{done} of {count} pairs of scenario and design");
        }
    };
    progress(0);
    let compared = compare(&scenarios, &designs, effort, jobs, &progress);
    if shows_progress {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
    let compared = Comparison { invariants, ..compared };
    if let Some(path) = &args.record {
        written(path, &expected::text(&compared), "--record")?;
    }
    if let Some(dir) = &args.out {
        for (name, text) in comparison::files(&compared) {
            keep(dir, &name, &text).map_err(|it| {
                let dir = dir.display();
                Failure::Input(format!("`{name}` cannot be written to `{dir}`: {it}; give --out another directory"))
            })?;
        }
    }
    let width = width(args.width);
    let vacuous: Vec<&str> = compared
        .scenarios
        .iter()
        .zip(compared.pairs.chunks(compared.designs.len().max(1)))
        .filter(|(_, pairs)| pairs.iter().any(|it| it.vacuous))
        .map(|(scenario, _)| scenario.name)
        .collect();
    tell_vacuous(&vacuous, "--deviations or --runs");
    let mut code = if compared.undecided() > 0 {
        UNDECIDED
    } else if vacuous.is_empty() {
        0
    } else {
        VACUOUS
    };
    match (&recorded, &args.expect) {
        (Some(recorded), Some(path)) => {
            let differences = recorded.differences(&compared);
            for it in &differences {
                writeln!(out, "{it}")?;
            }
            if !differences.is_empty() {
                let path = path.display();
                writeln!(
                    out,
                    "{path}: not as recorded; `vgdp-sim compare --expect {path} --record {path}` records it anew."
                )?;
                code = BROKEN;
            }
        }
        _ if args.json => out.write_all(json::text(&compared).as_bytes())?,
        _ => {
            let tokens = if args.tokens { Tokens::All } else { Tokens::First };
            out.write_all(comparison::tables(&compared, tokens, width).as_bytes())?;
        }
    }
    Ok(code)
}

fn expectation(path: &Path) -> Result<Expected, Failure> {
    let name = path.display();
    let text = fs::read_to_string(path).map_err(|it| {
        Failure::Input(format!("`{name}` cannot be read: {it}; `vgdp-sim compare --record {name}` makes it"))
    })?;
    text.parse().map_err(|it| Failure::Input(format!("{name}: {it}")))
}

fn written(path: &Path, text: &str, option: &str) -> Result<(), Failure> {
    let name = path.display();
    fs::write(path, text)
        .map_err(|it| Failure::Input(format!("`{name}` cannot be written: {it}; give {option} another file")))
}

fn hunts(args: &HuntArgs, out: &mut dyn Write) -> Result<u8, Failure> {
    let DesignArg(design) = args.design;
    let scenarios = if args.scenarios.is_empty() { Scenario::built_in() } else { args.scenarios.clone() };
    let width = width(args.width);
    let shows_progress = io::stderr().is_terminal();
    let mut hunted = Vec::new();
    for (index, scenario) in scenarios.iter().enumerate() {
        if shows_progress {
            let (at, of) = (index + 1, scenarios.len());
            let _ = write!(io::stderr(), "\r\x1b[Khunting {at} of {of}: {}", scenario.name);
        }
        hunted.push(Hunted {
            scenario: scenario.clone(),
            seed: args.seed,
            design,
            campaign: hunt(scenario, design, args.seed, args.runs),
        });
    }
    if shows_progress {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
    out.write_all(summary::heading(args.runs, args.seed, width).as_bytes())?;
    out.write_all(summary::counts(&hunted, width).as_bytes())?;

    let cheapest = summary::cheapest(&hunted);
    if !cheapest.is_empty() {
        writeln!(out, "\nThe cheapest way to break each of them\n")?;
    }
    for it in &cheapest {
        let kept = match keep(&args.out, &it.file_name(), &it.file_text()) {
            Ok(path) => Kept::At(path.display().to_string()),
            Err(error) => Kept::Not(format!("{}: {error}", args.out.display())),
        };
        out.write_all(it.describe(&kept, width).as_bytes())?;
    }
    if let Some(it) = cheapest.iter().find(|it| it.id() == "slot-leak") {
        let style = Style { width, colour: colour(), all: false, verbose: false };
        let schedule = it.schedule();
        let story = Story::tell(&schedule.scenario, design, &mut Replayed::new(&schedule));
        writeln!(out, "\nThe cheapest slot leak, step by step\n")?;
        out.write_all(story.timeline(&style, Some(schedule.actions.len())).as_bytes())?;
        writeln!(out)?;
        out.write_all(story.verdict(&style).as_bytes())?;
    }
    let vacuous: Vec<&str> =
        hunted.iter().filter(|it| it.campaign.is_vacuous(&it.scenario)).map(|it| it.scenario.name).collect();
    tell_vacuous(&vacuous, "--runs");
    Ok(if vacuous.is_empty() { 0 } else { VACUOUS })
}

/// A scenario in which nothing acted shows nothing: says so, and what to type next.
fn tell_vacuous(scenarios: &[&str], option: &str) {
    if !scenarios.is_empty() {
        let names = scenarios.join(", ");
        eprintln!(
            "vgdp-sim: nothing that these scenarios allow ever acted, so they show nothing: {names}; give a larger {option}"
        );
    }
}

fn keep(dir: &Path, name: &str, text: &str) -> io::Result<PathBuf> {
    fs::create_dir_all(dir)?;
    let path = dir.join(name);
    fs::write(&path, text)?;
    Ok(path)
}

fn runs(args: RunArgs, out: &mut dyn Write) -> Result<u8, Failure> {
    let RunArgs { scenario, design: DesignArg(design), seed, run, nodes, tasks, schedule, save, show } = args;
    let (nodes, tasks) = (nodes.unwrap_or(scenario.nodes), tasks.unwrap_or(scenario.tasks));
    let scenario = scenario.scope(nodes, tasks);
    let mut scheduler: Box<dyn Scheduler> = match schedule {
        Policy::Portfolio => PORTFOLIO.start(seed, run),
        Policy::Uniform => Box::new(Uniform::new(seed, run)),
        Policy::Placed => Box::new(Placed::new(seed, run)),
        Policy::Normal => Box::new(Normal),
    };
    let style = show.style();
    let story = Story::tell(&scenario, design, &mut *scheduler);
    out.write_all(story.timeline(&style, None).as_bytes())?;
    writeln!(out)?;
    out.write_all(story.verdict(&style).as_bytes())?;
    if let Some(path) = save {
        let invariant = story.report.violations().next().map(|it| it.0);
        let text = Schedule::new(scenario, design, invariant, Then::Stop, story.schedule()).to_string();
        if path.as_os_str() == "-" {
            write!(out, "\n{text}")?;
        } else {
            written(&path, &text, "--save")?;
            writeln!(out, "\nThe schedule is in {}.", path.display())?;
        }
    }
    Ok(code(&story))
}

fn code(story: &Story) -> u8 {
    if story.broke_anything() {
        BROKEN
    } else if story.report.ended == Ended::Undecided {
        UNDECIDED
    } else {
        0
    }
}

fn replays(args: &ReplayArgs, out: &mut dyn Write) -> Result<u8, Failure> {
    let is_piped = args.what.as_os_str() == "-";
    let name = if is_piped { "standard input".to_owned() } else { args.what.display().to_string() };
    if !is_piped && Token::is_meant_by(&name) && !args.what.exists() {
        return replays_token(&name, args, out);
    }
    let text = if is_piped {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(&args.what)
    };
    let text = text.map_err(|it| {
        Failure::Input(format!(
            "`{name}` cannot be read: {it}; `vgdp-sim` prints tokens to replay, and `vgdp-sim hunt` writes schedules"
        ))
    })?;
    if Token::is_meant_by(&text) {
        return replays_token(text.trim(), args, out);
    }
    let schedule: Schedule = text.parse().map_err(|it| Failure::Input(format!("{name}: {it}")))?;
    let style = args.show.style();
    let mut replay = Replayed::new(&schedule);
    let design = match args.design {
        Some(DesignArg(it)) => it,
        None => designs::named(schedule.design).expect("a schedule names a built-in design"),
    };
    let story = Story::tell(&schedule.scenario, design, &mut replay);
    out.write_all(story.timeline(&style, Some(schedule.actions.len())).as_bytes())?;
    writeln!(out)?;
    if let Some(it) = replay.divergence(&story.report) {
        out.write_all(schedule.tell_divergence(&it, &name, style.width).as_bytes())?;
        return Ok(DIVERGED);
    }
    out.write_all(story.verdict(&style).as_bytes())?;
    if let Some(text) = schedule.tell_expectation(&story.report, style.width) {
        out.write_all(text.as_bytes())?;
    }
    Ok(code(&story))
}

fn replays_token(text: &str, args: &ReplayArgs, out: &mut dyn Write) -> Result<u8, Failure> {
    let token = Token::read(text).map_err(|it| Failure::Input(it.to_string()))?;
    let design = match args.design {
        Some(DesignArg(it)) => it,
        None => token.design().map_err(|it| Failure::Input(it.to_string()))?,
    };
    let style = args.show.style();
    let told = Told::tell(&token.scenario, design, &token.deviations);
    out.write_all(told::heading(&token, design, style.width).as_bytes())?;
    out.write_all(told::sentences(&token.deviations, style.width).as_bytes())?;
    writeln!(out)?;
    out.write_all(told.story.annotated(&style, &told.asides()).as_bytes())?;
    writeln!(out)?;
    out.write_all(told.story.verdict(&style).as_bytes())?;
    if let Some(text) = told.tell_missed(&token, design, style.width) {
        write!(out, "\n{text}")?;
        return Ok(DIVERGED);
    }
    Ok(code(&told.story))
}

fn lists(args: &ListArgs, out: &mut dyn Write) -> Result<u8, Failure> {
    let width = width(args.width);
    let text = match args.topic {
        Topic::Scenarios => tables::scenarios(width),
        Topic::Invariants => tables::invariants(width),
        Topic::Rules => tables::rules(width),
        Topic::Assumptions => tables::assumptions(width),
        Topic::Prices => tables::prices(width),
        Topic::Designs => tables::designs(width),
    };
    out.write_all(text.as_bytes())?;
    Ok(0)
}
