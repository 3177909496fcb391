//! `vgdp-sim run`.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::arguments::{DesignArg, PolicyArg, Show, TicksArg, asked_seed, design, policy, scenario, seed};
use super::output::{Failure, code, written};
use vgdp_sim::model::place::{NODES, TASKS};
use vgdp_sim::report::summary::Quest;
use vgdp_sim::report::{Story, told};
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::{Normal, Scheduler};

#[derive(Args)]
pub struct RunArgs {
    /// The scenario: the name of a built-in one, or a file (`./mine.json`).
    #[arg(long, value_name = "NAME|FILE", value_parser = scenario)]
    scenario: Scenario,
    /// The design.
    #[arg(long, value_name = "NAME", value_parser = design, default_value = "upstream")]
    design: DesignArg,
    /// The seed of the campaign: a number, or a commit hash [default: $VGDP_SIM_SEED, or 1].
    #[arg(long, value_parser = seed)]
    seed: Option<u64>,
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
    /// Who chooses what happens next: a policy of `vgdp-sim list policies`, or `normal`, which leaves nothing to
    /// chance: everybody takes turns and nobody interferes.
    #[arg(long, value_name = "NAME", value_parser = who, default_value = "portfolio")]
    policy: Who,
    /// Write the run to this file, to be edited and replayed: what it broke, its story, its schedule; `-` prints it after
    /// the timeline.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    #[command(flatten)]
    show: Show,
}

/// Who chooses.
#[derive(Clone, Copy)]
enum Who {
    Normal,
    Chance(PolicyArg),
}

fn who(name: &str) -> Result<Who, String> {
    if name == "normal" { Ok(Who::Normal) } else { policy(name).map(Who::Chance) }
}

pub fn runs(args: RunArgs, out: &mut dyn Write) -> Result<u8, Failure> {
    let RunArgs { scenario, design: DesignArg(design), seed, run, nodes, tasks, ticks, policy, save, show } = args;
    let (nodes, tasks) = (nodes.unwrap_or(scenario.nodes), tasks.unwrap_or(scenario.tasks));
    let scenario = Scenario { ticks: ticks.or(scenario.ticks), ..scenario.scope(nodes, tasks) };
    let style = show.style(&scenario)?;
    let (made_by, mut scheduler): (String, Box<dyn Scheduler>) = match policy {
        Who::Normal => {
            let (scenario, design) = (scenario.argument(), design.name());
            (format!("vgdp-sim run --design {design} --scenario {scenario} --policy normal"), Box::new(Normal))
        }
        Who::Chance(PolicyArg(policy)) => {
            let seed = asked_seed(seed)?;
            let quest = Quest { scenario: &scenario, design, policy, seed, runs: run };
            out.write_all(quest.heading_of_run(run, style.width).as_bytes())?;
            (quest.command(run), policy.start(seed, run))
        }
    };
    let story = Story::tell(&scenario, design, &mut *scheduler);
    out.write_all(story.timeline(&style, None).as_bytes())?;
    writeln!(out)?;
    out.write_all(story.verdict(&style).as_bytes())?;
    if let Some(path) = save {
        let text = told::saved(&story, design, &made_by);
        if path.as_os_str() == "-" {
            write!(out, "\n{text}")?;
        } else {
            written(&path, &text, "--save")?;
            writeln!(out, "\nThe schedule is in {}.", path.display())?;
        }
    }
    Ok(code(&story))
}
