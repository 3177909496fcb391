//! `vgdp-sim compare`, and `vgdp-sim` alone.

use std::fs;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;

use super::arguments::{DesignArg, JobsArg, TicksArg, WidthArg, design, invariant, scenario};
use super::interrupt::interrupted;
use super::memory::{Lacks, lacks};
use super::output::{BROKEN, Failure, INTERRUPTED, UNDECIDED, VACUOUS, keep, tell_vacuous, written};
use super::progress::{Progress, ProgressArg};
use super::prove::MOST;
use vgdp_sim::designs;
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::design::Design;
use vgdp_sim::report::{Expected, Tokens, comparison, expected, grouped, json, junit, page};
use vgdp_sim::scenario::Scenario;
use vgdp_sim::search::{Bounds, Cap, Comparison, Effort, Shard, compare_shard, explain};

#[derive(Args)]
pub struct CompareArgs {
    /// Only this scenario, by name or as a file (`./mine.json`); may be given several times.
    #[arg(long = "scenario", value_name = "NAME|FILE", value_parser = scenario)]
    scenarios: Vec<Scenario>,
    /// Only this design; may be given several times.
    #[arg(long = "design", value_name = "NAME", value_parser = design)]
    designs: Vec<DesignArg>,
    /// Show only this invariant; may be given several times.
    #[arg(long = "invariant", value_name = "ID", value_parser = invariant)]
    invariants: Vec<usize>,
    #[command(flatten)]
    ticks: TicksArg,
    /// How much to try: quick, normal or thorough, or a level from 1 to 4, each some ten times the one before; the
    /// four options below override what it says [default: normal].
    #[arg(long, value_name = "LEVEL", value_parser = effort)]
    effort: Option<Effort>,
    /// Try every schedule with so many deviations from the normal one [default: 2].
    #[arg(long, value_name = "K")]
    deviations: Option<u8>,
    /// The most worlds that this may visit for a scenario and a design, and as many again after each change of an
    /// assumption with which a race does not replay [default: 1000000].
    #[arg(long, value_name = "N")]
    worlds: Option<NonZeroUsize>,
    /// Then make so many runs by chance [default: 1000].
    #[arg(long, value_name = "N")]
    runs: Option<u64>,
    /// Then prove what can be proved by visiting so many worlds, about 70 to 130 bytes each and in each
    /// thread; 0 for no proof. Most scenarios have more than any machine has room for [default: 0].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=MOST))]
    proofs: Option<u64>,
    /// The seed of all random choices [default: 1].
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    jobs: JobsArg,
    /// Print JSON (vgdp-sim/comparison/1).
    #[arg(long, conflicts_with = "tokens")]
    json: bool,
    /// Try only every Nth pair of scenario and design, from the Ith on, as one of N machines; `vgdp-sim merge` joins
    /// what they print. Needs --json, and takes --out but nothing else that is made of a whole comparison.
    #[arg(long, value_name = "I/N", conflicts_with_all = ["expect", "record", "tokens", "html", "junit"])]
    shard: Option<Shard>,
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
    /// Write a page for a browser into this directory, which is made: `index.html`, and a page for each violation of the
    /// first design, or of all with --tokens.
    #[arg(long, value_name = "DIR")]
    html: Option<PathBuf>,
    /// Write JUnit XML to this file: a test for each cell.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    #[command(flatten)]
    progress: ProgressArg,
    #[command(flatten)]
    width: WidthArg,
}

/// What was asked for, and where nothing was, what a recorded table was made of, and else everything.
struct Asked {
    scenarios: Vec<Scenario>,
    designs: Vec<&'static dyn Design>,
    invariants: Vec<usize>,
    effort: Effort,
}

impl CompareArgs {
    /// Of which designs the ways to break them are shown.
    fn whose(&self) -> Tokens {
        if self.tokens { Tokens::All } else { Tokens::First }
    }

    fn asked(&self, recorded: Option<&Expected>) -> Result<Asked, String> {
        let scenarios: Vec<Scenario> = match recorded.map(Expected::scenarios).filter(|it| !it.is_empty()) {
            _ if !self.scenarios.is_empty() => self.scenarios.clone(),
            Some(names) => {
                names.into_iter().map(|it| scenario(it).map_err(|it| it.to_string())).collect::<Result<_, _>>()?
            }
            None => Scenario::built_in(),
        };
        let ticks = |it: &Scenario| self.ticks.or(recorded.map_or(it.ticks, |it| it.ticks));
        let scenarios = scenarios.into_iter().map(|it| Scenario { ticks: ticks(&it), ..it }).collect();
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
        let default = self.effort.or(recorded.map(|it| it.effort)).unwrap_or_default();
        let effort = Effort {
            deviations: self.deviations.unwrap_or(default.deviations),
            worlds: self.worlds.map_or(default.worlds, NonZeroUsize::get),
            runs: self.runs.unwrap_or(default.runs),
            proofs: self.proofs.map_or(default.proofs, |it| usize::try_from(it).unwrap_or(usize::MAX)),
            seed: self.seed.unwrap_or(default.seed),
        };
        Ok(Asked { scenarios, designs, invariants, effort })
    }
}

fn effort(level: &str) -> Result<Effort, String> {
    let level = match level {
        "quick" => Some(1),
        "normal" => Some(2),
        "thorough" => Some(3),
        _ => level.parse().ok().filter(|it| (1..=Effort::LEVELS).contains(it)),
    };
    level
        .map(Effort::level)
        .ok_or_else(|| format!("write quick, normal, thorough or a level from 1 to {}", Effort::LEVELS))
}

pub fn compares(args: &CompareArgs, out: &mut dyn Write) -> Result<u8, Failure> {
    if let (Some(shard), false) = (args.shard, args.json) {
        return Err(Failure::Input(format!(
            "a shard is printed as JSON, for `vgdp-sim merge` to join with the others; write `--shard {shard} --json`"
        )));
    }
    let recorded = args.expect.as_deref().map(expectation).transpose()?;
    let Asked { scenarios, designs, invariants, effort } = args.asked(recorded.as_ref()).map_err(Failure::Input)?;
    let jobs = args.jobs.count();
    fits(&scenarios, designs.len(), effort, args.shard, jobs)?;
    let count = scenarios.len() * designs.len();
    let count = args.shard.map_or(count, |it| it.share(count)) as u64;
    let progress = Progress::new(args.progress, "comparison".to_owned(), "pairs", Some(count), args.width.columns());
    progress.done(0);
    let done = |it| progress.done(it as u64);
    let compared = compare_shard(&scenarios, &designs, effort, args.shard, jobs, Some(interrupted()), &done);
    progress.end("");
    let compared = Comparison { invariants, ..compared };
    let is_cut = compared.interrupted() > 0;
    if let (true, Some(shard)) = (is_cut, args.shard) {
        return Err(Failure::Interrupted(format!("shard {shard} is cut short, so nothing is printed; run it again")));
    }
    if is_cut && (args.record.is_some() || args.expect.is_some()) {
        return Err(Failure::Interrupted(
            "a comparison that is cut short is neither recorded nor compared with a recorded one; run it again"
                .to_owned(),
        ));
    }
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
    if let Some(path) = &args.junit {
        written(path, &junit::text(&compared), "--junit")?;
    }
    if let Some(dir) = &args.html {
        pages(&compared, args.whose(), dir)?;
    }
    let width = args.width.columns();
    let vacuous: Vec<&str> = compared
        .scenarios
        .iter()
        .zip(compared.pairs.chunks(compared.designs.len().max(1)))
        .filter(|(_, pairs)| pairs.iter().any(|it| it.vacuous))
        .map(|(scenario, _)| scenario.name)
        .collect();
    tell_vacuous(&vacuous, "--deviations or --runs");
    let mut code = if is_cut {
        INTERRUPTED
    } else if compared.undecided() > 0 {
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
        _ => out.write_all(comparison::tables(&compared, args.whose(), width).as_bytes())?,
    }
    Ok(code)
}

/// Refuses proofs for which there is no memory, of which each thread makes one at a time. A sweep needs less room for as
/// many worlds, and none runs in that thread while the proof does.
fn fits(
    scenarios: &[Scenario],
    designs: usize,
    effort: Effort,
    shard: Option<Shard>,
    jobs: NonZeroUsize,
) -> Result<(), Failure> {
    let bounds = Bounds { most_worlds: effort.proofs, ..Bounds::default() };
    let held = (0..scenarios.len() * designs).filter(|it| shard.is_none_or(|shard| shard.holds(*it)));
    let mut needed: Vec<u128> = held.map(|it| bounds.memory(&scenarios[it / designs])).collect();
    needed.sort_unstable_by(|a, b| b.cmp(a));
    needed.truncate(jobs.get());
    let all: u128 = needed.iter().sum();
    let Some(Lacks { free, told }) = lacks(all) else { return Ok(()) };
    let (count, worlds) = (needed.len(), effort.proofs as u128);
    let fewer = if count > 1 && needed[0] <= free { "--jobs 1, or " } else { "" };
    Err(Failure::Input(format!(
        "{} of {} worlds, about {} bytes each, {told}; give {fewer}--proofs {} or fewer",
        if count == 1 { "a proof".to_owned() } else { format!("{count} proofs at a time, each") },
        grouped(effort.proofs as u64),
        needed[0] / worlds,
        (free * worlds / all).max(1)
    )))
}

/// The most worlds that are visited to find the point of no return of a page, of which there may be hundreds.
const WORLDS_A_PAGE: usize = 20_000;

fn pages(compared: &Comparison<'_>, whose: Tokens, dir: &Path) -> Result<(), Failure> {
    let keeps = |name: &str, text: &str| {
        let error =
            |it| format!("`{name}` cannot be written to `{}`: {it}; give --html another directory", dir.display());
        keep(dir, name, text).map_err(|it| Failure::Input(error(it)))
    };
    let mut made = Vec::new();
    for page::Case { scenario, design, invariant, deviations } in page::cases(compared, whose) {
        let cap = Cap { worlds: WORLDS_A_PAGE, stop: Some(interrupted()) };
        let (of, by) = (&compared.scenarios[scenario], compared.designs[design]);
        if let Ok(it) = explain(of, by, deviations, invariant, cap) {
            let crumb = "<a href=\"index.html\">All designs compared</a>";
            keeps(&page::case_name(compared, scenario, design, invariant), &page::case(&it, crumb))?;
            made.push((scenario, design, invariant));
        }
    }
    keeps("index.html", &page::index(compared, &|s, d, i| made.contains(&(s, d, i))))?;
    Ok(())
}

fn expectation(path: &Path) -> Result<Expected, Failure> {
    let name = path.display();
    let text = fs::read_to_string(path).map_err(|it| {
        Failure::Input(format!("`{name}` cannot be read: {it}; `vgdp-sim compare --record {name}` makes it"))
    })?;
    text.parse().map_err(|it| Failure::Input(format!("{name}: {it}")))
}
