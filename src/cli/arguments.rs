//! What the commands' arguments have in common: names of built-in things, and how to show.

use std::env;
use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::thread;

use clap::Args;

use super::output::Failure;
use vgdp_sim::designs;
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::design::Design;
use vgdp_sim::model::place::{TASKS, TaskId};
use vgdp_sim::model::time::Ticks;
use vgdp_sim::report::{Lanes, Style, nearest};
use vgdp_sim::scenario::{NoScenario, Scenario};
use vgdp_sim::scheduler::{Policy, policy_named};
use vgdp_sim::search;

/// A built-in design, as an argument.
#[derive(Clone, Copy)]
pub struct DesignArg(pub &'static dyn Design);

pub fn design(name: &str) -> Result<DesignArg, String> {
    designs::named(name).map(DesignArg).map_err(|it| it.to_string())
}

pub fn invariant(id: &str) -> Result<usize, String> {
    INVARIANTS.iter().position(|it| it.id == id).ok_or_else(|| {
        let nearest = nearest(id, INVARIANTS.iter().map(|it| it.id)).unwrap_or_default();
        format!("no invariant is called `{id}`; did you mean `{nearest}`? (`vgdp-sim list invariants` shows them all)")
    })
}

pub fn scenario(name_or_file: &str) -> Result<Scenario, NoScenario> {
    Scenario::meant_by(name_or_file)
}

/// To which instants the clock moves.
#[derive(Args, Clone, Copy)]
pub struct TicksArg {
    /// To which instants the clock moves: `boundaries` of windows, or `fine`, which adds 2 s and 60 s before each.
    #[arg(long = "ticks", value_name = "TICKS", value_parser = ticks)]
    asked: Option<Ticks>,
}

impl TicksArg {
    /// These ticks, or `otherwise` where none were asked for.
    pub fn or(self, otherwise: Ticks) -> Ticks {
        self.asked.unwrap_or(otherwise)
    }
}

fn ticks(name: &str) -> Result<Ticks, String> {
    Ticks::ALL.into_iter().find(|it| it.name() == name).ok_or_else(|| {
        let nearest = nearest(name, Ticks::ALL.into_iter().map(Ticks::name)).unwrap_or_default();
        format!("the clock has no ticks called `{name}`; write `--ticks {nearest}`")
    })
}

/// A built-in policy, as an argument.
#[derive(Clone, Copy)]
pub struct PolicyArg(pub &'static dyn Policy);

pub fn policy(name: &str) -> Result<PolicyArg, String> {
    let policy = policy_named(name).map(PolicyArg);
    policy.map_err(|it| format!("{it} (`vgdp-sim list policies` shows them all)"))
}

pub fn seed(text: &str) -> Result<u64, String> {
    search::seed(text).ok_or_else(|| "it is neither a number nor a commit hash; write `--seed 1`".to_owned())
}

/// The seed that was asked for: by an option, else by the environment, else 1.
pub fn asked_seed(option: Option<u64>) -> Result<u64, Failure> {
    const NAME: &str = "VGDP_SIM_SEED";
    let set = || env::var(NAME).ok().filter(|it| !it.trim().is_empty());
    match option.map_or_else(set, |it| Some(it.to_string())) {
        Some(text) => search::seed(&text).ok_or_else(|| {
            Failure::Input(format!(
                "the environment variable {NAME} is `{text}`, neither a number nor a commit hash; unset it, or give --seed"
            ))
        }),
        None => Ok(1),
    }
}

/// Threads.
#[derive(Args, Clone, Copy)]
pub struct JobsArg {
    /// Threads [default: as many as there are cores]; what is found does not depend on it.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
}

impl JobsArg {
    /// How many, and as many as there are cores where nobody has asked.
    pub fn count(self) -> NonZeroUsize {
        self.jobs.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
    }
}

/// The columns of what is printed.
#[derive(Args, Clone, Copy)]
pub struct WidthArg {
    /// Columns of the output [default: $COLUMNS, or 80 on a terminal, or 120].
    #[arg(long, value_parser = clap::value_parser!(u16).range(40..=1000))]
    width: Option<u16>,
}

impl WidthArg {
    /// How many: those asked for, or of the terminal, or 120.
    pub fn columns(self) -> usize {
        width(self.width)
    }
}

#[derive(Args)]
pub struct Show {
    /// Show also the steps that changed nothing outside, and what only actors know.
    #[arg(long)]
    all: bool,
    /// Show what each rule does and which function of Velero or Kubernetes it was read from.
    #[arg(long, short)]
    verbose: bool,
    /// Show only steps about this task: its upload, its pod, its mover, and what node-agents do for it.
    #[arg(long, value_name = "TASK", value_parser = task)]
    follow: Option<TaskId>,
    /// Show only these columns, with commas between: user, srv, api, node-agents (or n0, ...), kub, movers (or a, ...).
    #[arg(long, value_name = "LIST")]
    columns: Option<Lanes>,
    #[command(flatten)]
    width: WidthArg,
}

impl Show {
    /// How to show a run of `scenario`.
    pub fn style(&self, scenario: &Scenario) -> Result<Style, Failure> {
        let Show { all, verbose, follow, columns, width: asked } = *self;
        let style = Style { width: asked.columns(), colour: colour(), all, verbose, follow, columns };
        style.fits(scenario).map(|()| style).map_err(|it| Failure::Input(it.to_string()))
    }
}

fn task(name: &str) -> Result<TaskId, String> {
    let all = || (0..TASKS as u8).map(TaskId);
    all().find(|it| it.to_string() == name).ok_or_else(|| {
        let names: Vec<String> = all().map(|it| it.to_string()).collect();
        let nearest = nearest(name, names.iter().map(String::as_str)).unwrap_or_default();
        format!("no task is called `{name}`; did you mean `{nearest}`? (tasks are {})", names.join(", "))
    })
}

pub fn width(asked: Option<u16>) -> usize {
    let terminal = io::stdout().is_terminal();
    let columns = || env::var("COLUMNS").ok()?.parse::<usize>().ok().filter(|it| (40..=1000).contains(it));
    asked.map(usize::from).or_else(columns).unwrap_or(if terminal { 80 } else { 120 })
}

pub fn colour() -> bool {
    io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|it| it.is_empty())
}
