//! `vgdp-sim run`.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::arguments::{DesignArg, Show, TicksArg, design, scenario};
use super::output::{Failure, code, written};
use vgdp_sim::model::place::{NODES, TASKS};
use vgdp_sim::model::time::Ticks;
use vgdp_sim::report::{Schedule, Story, Then};
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::{Normal, PORTFOLIO, Placed, Policy as _, Scheduler, Uniform};

#[derive(Args)]
pub struct RunArgs {
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
    #[command(flatten)]
    ticks: TicksArg,
    /// Who chooses what happens next.
    #[arg(long, value_enum, default_value_t = Policy::Portfolio)]
    schedule: Policy,
    /// Write the schedule of the run to this file; `-` prints it after the timeline.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    #[command(flatten)]
    show: Show,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Policy {
    /// Chance, by the policy whose turn the run is in a hunt.
    Portfolio,
    /// Chance, uniformly among all that is enabled.
    Uniform,
    /// Chance, with operators and faults spread over the whole run.
    Placed,
    /// No chance: everybody takes turns and nobody interferes.
    Normal,
}

pub fn runs(args: RunArgs, out: &mut dyn Write) -> Result<u8, Failure> {
    let RunArgs { scenario, design: DesignArg(design), seed, run, nodes, tasks, ticks, schedule, save, show } = args;
    let (nodes, tasks) = (nodes.unwrap_or(scenario.nodes), tasks.unwrap_or(scenario.tasks));
    let scenario = Scenario { ticks: ticks.or(Ticks::default()), ..scenario.scope(nodes, tasks) };
    let mut scheduler: Box<dyn Scheduler> = match schedule {
        Policy::Portfolio => PORTFOLIO.start(seed, run),
        Policy::Uniform => Box::new(Uniform::new(seed, run)),
        Policy::Placed => Box::new(Placed::new(seed, run)),
        Policy::Normal => Box::new(Normal),
    };
    let style = show.style(&scenario)?;
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
