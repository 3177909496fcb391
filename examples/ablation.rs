//! How many schedules each policy needs to find a bug: `cargo run --release --example ablation`.
//!
//! The bugs are the planted faults of `tests/planted.rs`, some races of upstream, and some strikes that are possible
//! only for a moment. A cell is the median over several seeds; a dash says that most seeds found nothing within the
//! bound. The last line is the geometric mean of the column, a dash counted as ten times the bound.
//!
//! `-- full` takes some minutes and makes the table of `docs/ablation.md`: 11 seeds, and up to 20,000 schedules each.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use vgdp_sim::designs::Upstream;
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::design::Design;
use vgdp_sim::model::rules::Rule;
use vgdp_sim::run::observe;
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::{POLICIES, PORTFOLIO, Policy};

#[path = "../tests/support/planted.rs"]
#[allow(dead_code)] // it is made for the tests
mod planted;

/// How much is tried.
struct Effort {
    seeds: u64,
    most: u64,
}

/// What is looked for.
struct Bug {
    name: String,
    scenario: Scenario,
    design: &'static dyn Design,
    shows: Shows,
}

/// How a run shows it.
enum Shows {
    /// The invariant of this index is broken.
    Breaks(usize),
    /// A rule fires.
    Fires(Rule),
}

fn bugs() -> Vec<Bug> {
    let invariant = |id| INVARIANTS.iter().position(|it| it.id == id).expect("there is such an invariant");
    let planted = planted::planted().into_iter().map(|it| Bug {
        name: format!("planted: {}", it.id),
        scenario: it.fault.scenario,
        design: it.fault.design,
        shows: Shows::Breaks(invariant(it.id)),
    });
    let races = [
        ("cancel", "slot-leak"),
        ("cancel", "send-blocked"),
        ("normal", "orphan-process"),
        ("normal", "orphan-watcher"),
        ("two-uploads-one-slot", "slow-start"),
        ("kill-fails", "send-blocked-for-ever"),
        ("anything", "starved"),
        ("anything", "mistake-costs-slot"),
    ];
    let upstream = |name| Scenario::named(name).expect("it is built in");
    let races = races.into_iter().map(|(name, id)| Bug {
        name: format!("{name}: {id}"),
        scenario: upstream(name),
        design: &Upstream,
        shows: Shows::Breaks(invariant(id)),
    });
    let strikes = [Rule::PodFaultHangsTransfer, Rule::PodFaultSlowsUploader, Rule::PodFaultFailsTransfer];
    let strikes = strikes.into_iter().map(|rule| Bug {
        name: format!("anything: {}", rule.name()),
        scenario: upstream("anything"),
        design: &Upstream,
        shows: Shows::Fires(rule),
    });
    planted.chain(races).chain(strikes).collect()
}

impl Bug {
    fn shows_in(&self, policy: &dyn Policy, seed: u64, index: u64) -> bool {
        let mut fired = false;
        let report = observe(&self.scenario, self.design, &mut *policy.start(seed, index), &mut |it| {
            fired |= matches!(self.shows, Shows::Fires(rule) if rule == it.action.rule());
        });
        fired || matches!(self.shows, Shows::Breaks(it) if report.broken[it].is_some())
    }

    /// The median number of schedules until it shows; nothing where most seeds do not show it.
    fn schedules(&self, policy: &dyn Policy, effort: &Effort) -> Option<u64> {
        let mut found = Vec::new();
        let mut missed = 0;
        for seed in 1..=effort.seeds {
            match (0..effort.most).find(|&index| self.shows_in(policy, seed, index)) {
                Some(index) => found.push(index + 1),
                None => missed += 1,
            }
            if missed > effort.seeds / 2 {
                return None;
            }
        }
        found.sort_unstable();
        Some(found[effort.seeds as usize / 2])
    }
}

fn main() {
    let is_full = std::env::args().any(|it| it.contains("full"));
    let effort = if is_full { Effort { seeds: 11, most: 20_000 } } else { Effort { seeds: 3, most: 500 } };
    let bugs = bugs();
    let policies: Vec<&dyn Policy> = POLICIES.iter().copied().chain([&PORTFOLIO as &dyn Policy]).collect();
    println!("Median schedules to the bug, {} seeds, at most {} schedules each.\n", effort.seeds, effort.most);
    print!("| bug |");
    for it in &policies {
        print!(" {} |", it.name());
    }
    println!("\n|---|{}", "--:|".repeat(policies.len()));

    let next = AtomicUsize::new(0);
    let work = || {
        let mut rows = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(bug) = bugs.get(index) else { return rows };
            rows.push((index, policies.iter().map(|it| bug.schedules(*it, &effort)).collect::<Vec<_>>()));
        }
    };
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    let mut rows: Vec<(usize, Vec<Option<u64>>)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|it| it.join().expect("no bug makes the search panic")).collect()
    });
    rows.sort_unstable_by_key(|it| it.0);
    for (index, row) in &rows {
        print!("| {} |", bugs[*index].name);
        for it in row {
            print!(" {} |", it.map_or("–".to_owned(), |it| it.to_string()));
        }
        println!();
    }
    print!("| geometric mean |");
    for column in 0..policies.len() {
        let logarithms = rows.iter().map(|(_, row)| (row[column].unwrap_or(10 * effort.most) as f64).ln());
        print!(" {:.0} |", (logarithms.sum::<f64>() / rows.len() as f64).exp());
    }
    println!();
}
