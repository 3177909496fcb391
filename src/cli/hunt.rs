//! `vgdp-sim hunt`.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use clap::Args;

use super::arguments::{
    DesignArg, JobsArg, PolicyArg, TicksArg, WidthArg, asked_seed, colour, design, policy, scenario, seed,
};
use super::interrupt::interrupted;
use super::output::{Failure, INTERRUPTED, VACUOUS, WRONG_INPUT, complain, keep, tell_vacuous};
use super::progress::{Progress, ProgressArg};
use vgdp_sim::report::summary::{self, Hunted, Kept, Lead, Quest};
use vgdp_sim::report::{Replayed, Story, Style};
use vgdp_sim::scenario::Scenario;
use vgdp_sim::search::{Finding, Hunt};

#[derive(Args)]
pub struct HuntArgs {
    /// The seed of all random choices: a number, or a commit hash [default: $VGDP_SIM_SEED, or 1].
    #[arg(long, value_parser = seed)]
    seed: Option<u64>,
    /// Runs of each scenario.
    #[arg(long, value_name = "N", default_value_t = RUNS, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// Hunt only this scenario, by name or as a file (`./mine.json`); may be given several times.
    #[arg(long = "scenario", value_name = "NAME|FILE", value_parser = scenario)]
    scenarios: Vec<Scenario>,
    /// The design.
    #[arg(long, value_name = "NAME", value_parser = design, default_value = "upstream")]
    design: DesignArg,
    #[command(flatten)]
    ticks: TicksArg,
    /// Who chooses in each run: one of `vgdp-sim list policies`.
    #[arg(long, value_name = "NAME", value_parser = policy, default_value = "portfolio")]
    policy: PolicyArg,
    #[command(flatten)]
    jobs: JobsArg,
    /// The first so many failing runs of each invariant are told apart by what they need.
    #[arg(long, value_name = "N", default_value_t = SAMPLES)]
    bugs: u16,
    /// Where schedules are written; the directory is made.
    #[arg(long, value_name = "DIR", default_value = "target/vgdp-sim")]
    out: PathBuf,
    #[command(flatten)]
    progress: ProgressArg,
    #[command(flatten)]
    width: WidthArg,
}

/// Runs of each scenario unless told otherwise: all scenarios together take less than half a minute on one core.
const RUNS: u64 = 20_000;
/// Failing runs of each invariant that are told apart unless told otherwise.
const SAMPLES: u16 = 4;

pub fn hunts(args: &HuntArgs, out: &mut dyn Write) -> Result<u8, Failure> {
    let (DesignArg(design), PolicyArg(policy), runs) = (args.design, args.policy, args.runs);
    let (seed, stop) = (asked_seed(args.seed)?, interrupted());
    let scenarios = if args.scenarios.is_empty() { Scenario::built_in() } else { args.scenarios.clone() };
    let scenarios: Vec<Scenario> =
        scenarios.into_iter().map(|it| Scenario { ticks: args.ticks.or(it.ticks), ..it }).collect();
    let quests: Vec<Quest> = scenarios.iter().map(|scenario| Quest { scenario, design, policy, seed, runs }).collect();
    let width = args.width.columns();
    out.write_all(quests[0].heading(width).as_bytes())?;
    writeln!(out, "Each schedule is also written to {}.", args.out.display())?;
    out.flush()?;

    let hunter = Hunter { args, width, could_keep: AtomicBool::new(true) };
    let mut results = Vec::new();
    for (index, &quest) in quests.iter().enumerate() {
        let it = hunter.hunts(quest, &format!("{} of {}", index + 1, quests.len()));
        if it.campaign.runs > 0 {
            out.write_all(summary::of_scenario(&it, width).as_bytes())?;
            out.flush()?;
            results.push(it);
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    if let Some(it) = summary::cheapest(&results, "slot-leak") {
        let style = Style { width, colour: colour(), ..Style::default() };
        let story = Story::tell(&it.schedule.scenario, design, &mut Replayed::new(&it.schedule));
        writeln!(out, "\nThe cheapest slot leak, step by step\n")?;
        out.write_all(story.timeline(&style, Some(it.schedule.actions.len())).as_bytes())?;
        writeln!(out)?;
        out.write_all(story.verdict(&style).as_bytes())?;
    }
    let left: Vec<&str> = scenarios[results.len()..].iter().map(|it| it.name).collect();
    let vacuous = results.iter().filter(|it| it.campaign.is_vacuous(it.quest.scenario));
    let vacuous: Vec<&str> = vacuous.map(|it| it.quest.scenario.name).collect();
    if !left.is_empty() || results.iter().any(|it| it.campaign.runs < runs) {
        out.write_all(summary::stopped(&results, &left, width).as_bytes())?;
        return Ok(INTERRUPTED);
    }
    tell_vacuous(&vacuous, "--runs");
    Ok(match (hunter.could_keep.into_inner(), vacuous.is_empty()) {
        (false, _) => WRONG_INPUT,
        (true, false) => VACUOUS,
        (true, true) => 0,
    })
}

/// Hunts, and keeps what it finds as it finds it.
struct Hunter<'a> {
    args: &'a HuntArgs,
    width: usize,
    /// Whether every schedule has been written so far.
    could_keep: AtomicBool,
}

impl Hunter<'_> {
    fn hunts<'q>(&self, quest: Quest<'q>, at: &str) -> Hunted<'q> {
        let Quest { scenario, design, policy, seed, runs } = quest;
        let jobs = self.args.jobs.count();
        let leads: Mutex<BTreeMap<usize, (Lead, Kept)>> = Mutex::default();
        let progress =
            Progress::new(self.args.progress, format!("{}, {at}", scenario.name), "runs", Some(runs), self.width);
        let found = |it: &Finding| {
            let lead = quest.lead(it);
            let kept = self.keeps(&lead, &progress);
            let mut leads = leads.lock().unwrap_or_else(PoisonError::into_inner);
            leads.insert(it.invariant, (lead, kept));
            progress.found(leads.len() as u64);
        };
        let done = |runs| progress.done(runs);
        let samples = usize::from(self.args.bugs);
        let hunt = Hunt { policy, jobs, samples, found: Some(&found), done: Some(&done), stop: Some(interrupted()) };
        let campaign = hunt.run(scenario, design, seed, runs);
        progress.end("");
        let leads = leads.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect();
        Hunted { quest, campaign, leads }
    }

    /// Writes the schedule of a finding; complains the first time that it cannot.
    fn keeps(&self, lead: &Lead, progress: &Progress) -> Kept {
        let dir = &self.args.out;
        match keep(dir, &lead.file_name(), &lead.file_text()) {
            Ok(path) => Kept::At(path.display().to_string()),
            Err(error) => {
                if self.could_keep.swap(false, Ordering::Relaxed) {
                    progress.clear();
                    complain(&format!(
                        "`{}` cannot be written to: {error}; all that is found is printed, but to keep it as well, stop this with Ctrl-C and give --out another directory",
                        dir.display()
                    ));
                }
                Kept::Not
            }
        }
    }
}
