//! `vgdp-sim sensitivity`.

use std::io::Write;

use clap::Args;

use super::arguments::{WidthArg, invariant};
use super::given::{Given, GivenArgs};
use super::output::{DIVERGED, Failure};
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::report::{Token, Told, sensitivity as report, told};
use vgdp_sim::search::sensitivity;

#[derive(Args)]
pub struct SensitivityArgs {
    #[command(flatten)]
    given: GivenArgs,
    /// Only for this invariant, instead of all that it breaks.
    #[arg(long, value_name = "ID", value_parser = invariant)]
    invariant: Option<usize>,
    /// The most worlds that each sweep may visit.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    worlds: usize,
    #[command(flatten)]
    width: WidthArg,
}

pub fn asks(args: &SensitivityArgs, out: &mut dyn Write) -> Result<u8, Failure> {
    let (Given::Token(token), design) = args.given.read()? else {
        return Err(Failure::Input(
            "a schedule file has no deviations to be found again; give a token, as `vgdp-sim compare --tokens` prints them"
                .to_owned(),
        ));
    };
    let width = args.width.columns();
    let Token { scenario, deviations, .. } = &token;
    let told = Told::tell(scenario, design, deviations);
    out.write_all(told::heading(&token, design, width).as_bytes())?;
    if let Some(text) = told.tell_missed(&token, design, width) {
        write!(out, "\n{text}")?;
        return Ok(DIVERGED);
    }
    let broken: Vec<usize> = told.story.report.violations().map(|it| it.0).collect();
    if let Some(id) = args.invariant.filter(|it| !broken.contains(it)).map(|it| INVARIANTS[it].id) {
        let broken: Vec<&str> = broken.iter().map(|it| INVARIANTS[*it].id).collect();
        let broken = if broken.is_empty() { "nothing".to_owned() } else { broken.join(", ") };
        return Err(Failure::Input(format!(
            "the token does not break {id} on {}, but {broken}; leave out --invariant to ask for all that it breaks",
            design.name()
        )));
    }
    if broken.is_empty() {
        writeln!(out, "It breaks nothing.")?;
    }
    for invariant in broken.into_iter().filter(|it| args.invariant.is_none_or(|asked| asked == *it)) {
        if let Some(it) = sensitivity(scenario, design, invariant, deviations, args.worlds) {
            write!(out, "\n{}", report::details(scenario, &it, width))?;
        }
    }
    Ok(0)
}
