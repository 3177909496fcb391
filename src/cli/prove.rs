//! `vgdp-sim prove`.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;

use super::arguments::{DesignArg, JobsArg, TicksArg, WidthArg, design, invariant, scenario};
use super::interrupt::interrupted;
use super::memory::{Lacks, lacks};
use super::output::{BROKEN, Failure, INTERRUPTED, OPEN, WRONG_INPUT, complain, keep};
use super::progress::{Progress, ProgressArg};
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::place::{NODES, TASKS};
use vgdp_sim::report::grouped;
use vgdp_sim::report::proof::{Way, json, text, ways};
use vgdp_sim::report::summary::Kept;
use vgdp_sim::scenario::Scenario;
use vgdp_sim::search::{Bounds, Cut, Extent, Proof, prove};

#[derive(Args)]
pub struct ProveArgs {
    /// The scenario.
    #[arg(long, value_name = "NAME", value_parser = scenario)]
    scenario: Scenario,
    /// The design.
    #[arg(long, value_name = "NAME", value_parser = design, default_value = "upstream")]
    design: DesignArg,
    /// Node-agents, instead of what the scenario says.
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=NODES as i64))]
    nodes: Option<u8>,
    /// Uploads, instead of what the scenario says.
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=TASKS as i64))]
    tasks: Option<u8>,
    /// The small form: caches and enqueue-only listeners move in one step, and transfers report no progress.
    #[arg(long)]
    small: bool,
    #[command(flatten)]
    ticks: TicksArg,
    /// The highest price, at the most that of the scenario [default: that of the scenario].
    #[arg(long)]
    price: Option<u8>,
    /// The most worlds that this may visit for a price; ten million take about a gigabyte.
    #[arg(long, value_name = "N", default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1..=MOST))]
    max_worlds: u64,
    #[command(flatten)]
    jobs: JobsArg,
    /// Tell only of this invariant; may be given several times.
    #[arg(long = "invariant", value_name = "ID", value_parser = invariant)]
    invariants: Vec<usize>,
    /// Print JSON (vgdp-sim/proof/1).
    #[arg(long)]
    json: bool,
    /// Where schedules are written; the directory is made.
    #[arg(long, value_name = "DIR", default_value = "target/vgdp-sim")]
    out: PathBuf,
    #[command(flatten)]
    progress: ProgressArg,
    #[command(flatten)]
    width: WidthArg,
}

/// More worlds than a search can number.
pub const MOST: u64 = 4_000_000_000;

pub fn proves(args: &ProveArgs, out: &mut dyn Write) -> Result<u8, Failure> {
    let DesignArg(design) = args.design;
    let scenario = asked(args)?;
    let mut invariants =
        if args.invariants.is_empty() { (0..INVARIANTS.len()).collect() } else { args.invariants.clone() };
    invariants.sort_unstable();
    invariants.dedup();
    let jobs = args.jobs.count().get();
    let began = Instant::now();
    let name = format!("{} on {}", scenario.name, design.name());
    let progress = Progress::new(args.progress, name, "worlds", None, args.width.columns());
    let told = |price: u8, &Extent { worlds, steps, .. }: &Extent| {
        progress.done_so(worlds, || format!(", price {price}, {steps} steps, {} a second", rate(worlds, began)));
    };
    let bounds = Bounds {
        up_to: args.price.unwrap_or(u8::MAX),
        most_worlds: usize::try_from(args.max_worlds).unwrap_or(usize::MAX),
        jobs,
        stop: Some(interrupted()),
        told: if progress.tells() { Some(&told) } else { None },
    };
    fits(&bounds, &scenario)?;
    let proof = prove(&scenario, design, bounds);
    progress.end(&summary(&proof, began));
    let ways = keeps(ways(&proof, design, &invariants), args);
    let text = if args.json {
        json(&proof, &invariants, &ways)
    } else {
        text(&proof, &invariants, &ways, args.width.columns())
    };
    out.write_all(text.as_bytes())?;
    let whatever = args.invariants.is_empty(); // a livelock breaks none of those that are asked for
    let is_broken = ways.iter().any(|it| whatever || it.0.invariant.is_some());
    Ok(if ways.iter().any(|it| it.1 == Kept::Not) { WRONG_INPUT } else { code(&proof, is_broken) })
}

/// The scenario in the scope and the form that are asked for.
fn asked(args: &ProveArgs) -> Result<Scenario, Failure> {
    let scenario = args.scenario.clone();
    let (nodes, tasks) = (args.nodes.unwrap_or(scenario.nodes), args.tasks.unwrap_or(scenario.tasks));
    let least = scenario.least_nodes();
    if nodes < least {
        return Err(Failure::Input(format!(
            "scenario `{}` ties its volumes to node n{}, so with fewer than {least} nodes no upload would ever start; give --nodes {least} or more",
            scenario.name,
            least - 1
        )));
    }
    let scenario = Scenario { ticks: args.ticks.or(scenario.ticks), ..scenario.scope(nodes, tasks) };
    Ok(if args.small { scenario.small() } else { scenario })
}

/// Refuses a bound for which there is no memory.
fn fits(bounds: &Bounds<'_>, scenario: &Scenario) -> Result<(), Failure> {
    let needed = bounds.memory(scenario);
    let Some(Lacks { free, told }) = lacks(needed) else { return Ok(()) };
    let (worlds, each) = (bounds.most_worlds as u64, needed / bounds.most_worlds as u128);
    Err(Failure::Input(format!(
        "a search of {} worlds, about {each} bytes each, {told}; give --max-worlds {} or fewer",
        grouped(worlds),
        (free / each).max(1)
    )))
}

/// Writes the schedules; complains once where it cannot, and they are printed instead.
fn keeps(ways: Vec<Way>, args: &ProveArgs) -> Vec<(Way, Kept)> {
    let mut kept = Vec::new();
    let mut failed = None;
    for it in ways {
        let is_kept = match keep(&args.out, &it.file_name, &it.file_text) {
            Ok(path) => Kept::At(path.display().to_string()),
            Err(error) => {
                failed.get_or_insert(error);
                Kept::Not
            }
        };
        kept.push((it, is_kept));
    }
    if let Some(error) = failed {
        let dir = args.out.display();
        complain(&format!(
            "`{dir}` cannot be written to: {error}; the schedules are printed; give --out another directory"
        ));
    }
    kept
}

fn code(proof: &Proof, is_broken: bool) -> u8 {
    match proof.partial {
        Some(it) if it.stopped == Cut::Interrupted => INTERRUPTED,
        _ if is_broken => BROKEN,
        Some(_) => OPEN,
        None => 0,
    }
}

/// What is left on the terminal: how long it took, and how much room.
fn summary(proof: &Proof, began: Instant) -> String {
    let partial = proof.partial.map_or(0, |it| it.extent.worlds);
    let worlds = partial + proof.complete.iter().map(|it| it.worlds).sum::<u64>();
    let (seconds, memory) = (began.elapsed().as_secs_f64(), grouped(proof.memory as u64 >> 20));
    let (worlds, rate) = (grouped(worlds), rate(worlds, began));
    format!("{worlds} worlds in {seconds:.1} s, {rate} a second; {memory} MB")
}

fn rate(worlds: u64, began: Instant) -> String {
    grouped(worlds * 1_000 / (began.elapsed().as_millis() as u64).max(1))
}
