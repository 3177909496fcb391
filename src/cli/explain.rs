//! `vgdp-sim explain`.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::arguments::{Show, invariant};
use super::given::{Given, GivenArgs};
use super::interrupt::interrupted;
use super::output::{BROKEN, DIVERGED, Failure, INTERRUPTED, written};
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::design::Design;
use vgdp_sim::report::{Replayed, Schedule, Token, Told, explained, itf, markdown, mermaid, page};
use vgdp_sim::run::run;
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::Deviating;
use vgdp_sim::search::{Cap, Explained, Stopped, Unexplained, deviate, explain};

const EXIT_CODES: &str = "Exit codes: 0 explained; 1 the schedule does not break the invariant, or breaks none; 2 \
    something is wrong with the arguments or the file; 4 the schedule diverged, so it is another run; 130 Ctrl-C ended \
    the search for the point of no return, and the rest is explained.";

#[derive(Args)]
#[command(after_help = EXIT_CODES)]
pub struct ExplainArgs {
    #[command(flatten)]
    given: GivenArgs,
    /// Explain why this invariant is broken [default: the one that a schedule names, or the first that is broken, in the
    /// order of `list invariants`].
    #[arg(long, value_name = "ID", value_parser = invariant)]
    invariant: Option<usize>,
    /// The most worlds that are visited to find the point of no return.
    #[arg(long, value_name = "N", default_value_t = Cap::DEFAULT)]
    max_worlds: usize,
    /// What is written.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Show the timeline as well, after the text.
    #[arg(long)]
    timeline: bool,
    /// Write to this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    show: Show,
}

/// What an explanation is written as.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A story for people.
    Text,
    /// A story for a pull request, with a sequence diagram.
    Markdown,
    /// The sequence diagram alone.
    Mermaid,
    /// A page for a browser: one file, which loads nothing.
    Html,
    /// JSON (vgdp-sim/explained/1).
    Json,
    /// The run in the Informal Trace Format, for the viewers of Apalache and Quint.
    Itf,
}

/// A schedule told by its deviations, and what it is about.
struct Asked {
    token: Token,
    design: &'static dyn Design,
    invariant: usize,
}

/// What is to be explained, or why there is nothing: the exit code and a paragraph.
type Answer = Result<Asked, (u8, String)>;

pub fn explains(args: &ExplainArgs, out: &mut dyn Write) -> Result<u8, Failure> {
    let asked = match asked(args)? {
        Ok(it) => it,
        Err((code, why)) => return Ok(tells(&why, code)),
    };
    let Asked { token, design, invariant } = asked;
    let Token { scenario, deviations, .. } = &token;
    let cap = Cap { worlds: args.max_worlds, stop: Some(interrupted()) };
    let it = match explain(scenario, design, deviations, invariant, cap) {
        Ok(it) => it,
        Err(Unexplained::Missed(_)) => {
            let style = args.show.style(scenario)?;
            let told = Told::tell(scenario, design, deviations);
            let text = told.tell_missed(&token, design, style.width).unwrap_or_default();
            return Ok(tells(&text, DIVERGED));
        }
        Err(Unexplained::Holds) => return Ok(tells(&holds(scenario, design, &[], Some(invariant)), BROKEN)),
    };
    let text = shown(args, &it)?;
    match &args.output {
        Some(path) => written(path, &text, "--output")?,
        None => out.write_all(text.as_bytes())?,
    }
    Ok(if it.no_return.stopped == Some(Stopped::Interrupted) { INTERRUPTED } else { 0 })
}

fn shown(args: &ExplainArgs, it: &Explained<'_>) -> Result<String, Failure> {
    Ok(match args.format {
        Format::Markdown => markdown::text(it),
        Format::Mermaid => mermaid::text(it),
        Format::Html => page::case(it, ""),
        Format::Json => explained::json(it),
        Format::Itf => itf::text(it),
        Format::Text => {
            let style = args.show.style(&it.scenario)?;
            let mut text = explained::text(it, style.width);
            if args.timeline {
                let told = Told::tell(&it.scenario, it.design, &it.run.deviations);
                let asides = [told.asides(), explained::asides(it)].concat();
                text.push('\n');
                text.push_str(&told.story.annotated(&style, &asides));
            }
            text
        }
    })
}

/// One paragraph on standard error: there is nothing to explain.
fn tells(why: &str, code: u8) -> u8 {
    let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
    let _ = writeln!(io::stderr(), "vgdp-sim: {why}"); // nobody is left to be told if this fails
    code
}

fn asked(args: &ExplainArgs) -> Result<Answer, Failure> {
    Ok(match args.given.read()? {
        (Given::Token(token), design) => of_token(token, design, args),
        (Given::Schedule(schedule, name), design) => of_schedule(&schedule, &name, design, args),
    })
}

fn of_token(token: Token, design: &'static dyn Design, args: &ExplainArgs) -> Answer {
    let mut scheduler = Deviating::new(&token.deviations);
    let report = run(&token.scenario, design, &mut scheduler);
    let broken: Vec<usize> = report.violations().map(|it| it.0).collect();
    // A run that went another way than the token says is told so when it is explained.
    let diverged = scheduler.missed().map(|_| 0);
    match wanted(args.invariant, None, &broken).or(diverged) {
        Some(invariant) => Ok(Asked { token, design, invariant }),
        None => Err((BROKEN, holds(&token.scenario, design, &broken, args.invariant))),
    }
}

/// A schedule is told by its deviations: that may be a shorter run, with the same invariant broken at no higher price.
fn of_schedule(schedule: &Schedule, name: &str, design: &'static dyn Design, args: &ExplainArgs) -> Answer {
    let scenario = schedule.scenario.clone();
    let mut replay = Replayed::new(schedule);
    let report = run(&scenario, design, &mut replay);
    if let Some(it) = replay.divergence(&report) {
        return Err((DIVERGED, schedule.tell_divergence(&it, name, usize::MAX)));
    }
    let broken: Vec<usize> = report.violations().map(|it| it.0).collect();
    let Some(invariant) = wanted(args.invariant, schedule.invariant, &broken) else {
        return Err((BROKEN, holds(&scenario, design, &broken, args.invariant)));
    };
    let price = report.broken[invariant].expect("it is broken").price;
    match deviate(&scenario, design, &schedule.actions, invariant, price) {
        Some(deviations) => Ok(Asked { token: Token::new(&scenario, design, &deviations), design, invariant }),
        None => Err((
            DIVERGED,
            format!(
                "The schedule breaks {}, but it cannot be told by its deviations from the normal run, so there is nothing to leave out; `vgdp-sim replay {name}` shows it step by step.",
                INVARIANTS[invariant].id
            ),
        )),
    }
}

/// Which invariant is explained: the one that was asked for, the one for which a schedule was found, or the first.
fn wanted(asked: Option<usize>, found_for: Option<usize>, broken: &[usize]) -> Option<usize> {
    let named = |it: &usize| broken.contains(it);
    match asked {
        Some(it) => Some(it).filter(named),
        None => found_for.filter(named).or(broken.first().copied()),
    }
}

/// There is nothing to explain: what is so instead, and what to type.
fn holds(scenario: &Scenario, design: &dyn Design, broken: &[usize], asked: Option<usize>) -> String {
    let (name, scenario) = (design.name(), scenario.name);
    let others: Vec<&str> = broken.iter().map(|it| INVARIANTS[*it].id).collect();
    match asked {
        Some(it) if !others.is_empty() => format!(
            "On {name} this schedule does not break {}, so there is nothing to explain; it breaks {}: give one of these to --invariant.",
            INVARIANTS[it].id,
            others.join(", ")
        ),
        _ => format!(
            "On {name} this schedule breaks no invariant, so there is nothing to explain. That does not say that {name} is sound; `vgdp-sim compare --scenario {scenario} --design {name} --tokens` searches for schedules that break it."
        ),
    }
}
