//! `vgdp-sim replay`.

use std::fs;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use clap::Args;

use super::arguments::{DesignArg, Show, design, scenario};
use super::interrupt::interrupted;
use super::output::{DIVERGED, Failure, code};
use vgdp_sim::designs;
use vgdp_sim::model::design::Design;
use vgdp_sim::report::{Aside, Replayed, Schedule, Story, Token, TokenError, Told, explained, told};
use vgdp_sim::scenario::Scenario;
use vgdp_sim::search::{Cap, explain};

#[derive(Args)]
pub struct ReplayArgs {
    /// A token, or a schedule file; `-` reads either from standard input.
    #[arg(value_name = "TOKEN|FILE")]
    what: PathBuf,
    /// Replay it on this design, instead of the one for which it was made.
    #[arg(long, value_name = "NAME", value_parser = design)]
    design: Option<DesignArg>,
    /// The scenario of the token, where that is not built in: its file.
    #[arg(long, value_name = "FILE", value_parser = scenario)]
    scenario: Option<Scenario>,
    #[command(flatten)]
    show: Show,
}

pub fn replays(args: &ReplayArgs, out: &mut dyn Write) -> Result<u8, Failure> {
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
    if args.scenario.is_some() {
        let what = format!("`{name}` is a schedule, which says itself of which scenario it is; leave out --scenario");
        return Err(Failure::Input(what));
    }
    let schedule: Schedule = text.parse().map_err(|it| Failure::Input(format!("{name}: {it}")))?;
    let style = args.show.style(&schedule.scenario)?;
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
    let token = token(text, args.scenario.as_ref()).map_err(Failure::Input)?;
    let design = match args.design {
        Some(DesignArg(it)) => it,
        None => token.design().map_err(|it| Failure::Input(it.to_string()))?,
    };
    let style = args.show.style(&token.scenario)?;
    let told = Told::tell(&token.scenario, design, &token.deviations);
    out.write_all(told::heading(&token, design, style.width).as_bytes())?;
    out.write_all(told::sentences(&token.deviations, style.width).as_bytes())?;
    writeln!(out)?;
    let asides = [told.asides(), no_return(&told, &token, design)].concat();
    out.write_all(told.story.annotated(&style, &asides).as_bytes())?;
    writeln!(out)?;
    out.write_all(told.story.verdict(&style).as_bytes())?;
    if let Some(text) = told.tell_missed(&token, design, style.width) {
        write!(out, "\n{text}")?;
        return Ok(DIVERGED);
    }
    Ok(code(&told.story))
}

/// The most worlds that a replay visits to find the point of no return: a second or two.
const WORLDS: usize = 250_000;

/// Where no way back is left from the first invariant that is broken, as far as that is soon found.
fn no_return(told: &Told, token: &Token, design: &dyn Design) -> Vec<Aside> {
    let Some((invariant, _)) = told.story.report.violations().next() else { return Vec::new() };
    let cap = Cap { worlds: WORLDS, stop: Some(interrupted()) };
    let it = explain(&token.scenario, design, &token.deviations, invariant, cap);
    it.map_or_else(|_| Vec::new(), |it| explained::asides(&it))
}

fn token(text: &str, scenario: Option<&Scenario>) -> Result<Token, String> {
    let Some(scenario) = scenario else { return Token::read(text).map_err(|it| it.to_string()) };
    Token::read_among(text, std::slice::from_ref(scenario)).map_err(|it| match it {
        TokenError::UnknownScenario { hash } => format!(
            "the token is for another scenario than `{}` (its name has the hash {hash:08x}); give --scenario that one, or leave it out where it is built in",
            scenario.name
        ),
        it => it.to_string(),
    })
}
