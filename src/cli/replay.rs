//! `vgdp-sim replay`.

use std::io::Write;

use clap::Args;

use super::arguments::Show;
use super::given::{Given, GivenArgs};
use super::interrupt::interrupted;
use super::output::{DIVERGED, Failure, code};
use vgdp_sim::model::design::Design;
use vgdp_sim::report::{Aside, Replayed, Schedule, Story, Token, Told, explained, told};
use vgdp_sim::search::{Cap, explain};

#[derive(Args)]
pub struct ReplayArgs {
    #[command(flatten)]
    given: GivenArgs,
    #[command(flatten)]
    show: Show,
}

pub fn replays(args: &ReplayArgs, out: &mut dyn Write) -> Result<u8, Failure> {
    match args.given.read()? {
        (Given::Token(token), design) => replays_token(&token, design, args, out),
        (Given::Schedule(schedule, name), design) => replays_schedule(&schedule, &name, design, args, out),
    }
}

fn replays_schedule(
    schedule: &Schedule,
    name: &str,
    design: &dyn Design,
    args: &ReplayArgs,
    out: &mut dyn Write,
) -> Result<u8, Failure> {
    let style = args.show.style(&schedule.scenario)?;
    let mut replay = Replayed::new(schedule);
    let story = Story::tell(&schedule.scenario, design, &mut replay);
    out.write_all(story.timeline(&style, Some(schedule.actions.len())).as_bytes())?;
    writeln!(out)?;
    if let Some(it) = replay.divergence(&story.report) {
        out.write_all(schedule.tell_divergence(&it, name, style.width).as_bytes())?;
        return Ok(DIVERGED);
    }
    out.write_all(story.verdict(&style).as_bytes())?;
    if let Some(text) = schedule.tell_expectation(&story.report, style.width) {
        out.write_all(text.as_bytes())?;
    }
    Ok(code(&story))
}

fn replays_token(token: &Token, design: &dyn Design, args: &ReplayArgs, out: &mut dyn Write) -> Result<u8, Failure> {
    let style = args.show.style(&token.scenario)?;
    let told = Told::tell(&token.scenario, design, &token.deviations);
    out.write_all(told::heading(token, design, style.width).as_bytes())?;
    out.write_all(told::sentences(&token.deviations, style.width).as_bytes())?;
    writeln!(out)?;
    let asides = [told.asides(), no_return(&told, token, design)].concat();
    out.write_all(told.story.annotated(&style, &asides).as_bytes())?;
    writeln!(out)?;
    out.write_all(told.story.verdict(&style).as_bytes())?;
    if let Some(text) = told.tell_missed(token, design, style.width) {
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
