//! `vgdp-sim hunt`.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;

use super::arguments::{DesignArg, TicksArg, colour, design, scenario, width};
use super::output::{Failure, VACUOUS, keep, tell_vacuous};
use vgdp_sim::model::time::Ticks;
use vgdp_sim::report::summary::{self, Hunted, Kept};
use vgdp_sim::report::{Replayed, Story, Style};
use vgdp_sim::scenario::Scenario;
use vgdp_sim::search::hunt;

#[derive(Args)]
pub struct HuntArgs {
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
    #[command(flatten)]
    ticks: TicksArg,
    /// Where schedules are written; the directory is made.
    #[arg(long, value_name = "DIR", default_value = "target/vgdp-sim")]
    out: PathBuf,
    /// Columns of the output [default: $COLUMNS, or 80 on a terminal, or 120].
    #[arg(long, value_parser = clap::value_parser!(u16).range(40..=1000))]
    width: Option<u16>,
}

/// Runs of each scenario unless told otherwise: all scenarios together take some ten seconds on one core.
const RUNS: u64 = 20_000;

pub fn hunts(args: &HuntArgs, out: &mut dyn Write) -> Result<u8, Failure> {
    let DesignArg(design) = args.design;
    let scenarios = if args.scenarios.is_empty() { Scenario::built_in() } else { args.scenarios.clone() };
    let ticks = args.ticks.or(Ticks::default());
    let scenarios: Vec<Scenario> = scenarios.into_iter().map(|it| Scenario { ticks, ..it }).collect();
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
        let style = Style { width, colour: colour(), ..Style::default() };
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
