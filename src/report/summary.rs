//! What a hunt showed: how often each invariant was broken in each scenario, and the cheapest way to break it.

use std::fmt::{self, Write as _};

use super::schedule::{Schedule, Then};
use super::{counted, duration, grouped, paragraph};
use crate::designs::Upstream;
use crate::invariants::{COUNT, INVARIANTS};
use crate::model::design::Design;
use crate::model::time::Ticks;
use crate::run::{Violation, run};
use crate::scenario::Scenario;
use crate::scheduler::Replay;
use crate::search::{Campaign, Finding};

/// A scenario that was hunted, and what that showed.
#[derive(Clone)]
pub struct Hunted {
    /// The scenario.
    pub scenario: Scenario,
    /// The design.
    pub design: &'static dyn Design,
    /// The seed of the campaign.
    pub seed: u64,
    /// What it showed.
    pub campaign: Campaign,
}

impl fmt::Debug for Hunted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Hunted { scenario, design, seed, campaign } = self;
        let mut out = f.debug_struct("Hunted");
        out.field("scenario", scenario).field("design", &design.name()).field("seed", seed);
        out.field("campaign", campaign).finish()
    }
}

impl Hunted {
    fn finding(&self, invariant: usize) -> Option<&Finding> {
        self.campaign.findings.iter().find(|it| it.invariant == invariant)
    }
}

/// What was done, and how to read what it showed.
pub fn heading(runs: u64, seed: u64, width: usize) -> String {
    let text = format!(
        "{} of each scenario by chance, seed {seed}. The price of a violation is what the outside world had to do wrong for it; price 0 is a race of normal operation. What was not found may still be there.",
        counted(runs, "run")
    );
    paragraph(&text, 0, width) + "\n"
}

/// For each scenario, which invariants were broken and in how many runs. What was not broken was not found, no more.
pub fn counts(hunted: &[Hunted], width: usize) -> String {
    let mut out = String::new();
    let ids = INVARIANTS.iter().map(|it| it.id.len()).max().unwrap_or(0);
    for it in hunted {
        let Campaign { runs, steps: _, undecided, broken, .. } = &it.campaign;
        let runs = grouped(*runs);
        let Scenario { name, sentence, ticks, .. } = &it.scenario;
        let how = if *ticks == Ticks::default() { String::new() } else { format!(" ({})", ticks.what()) };
        out.push_str(&paragraph(&format!("{name}: {sentence}{how}"), 0, width));
        let mut none = Vec::new();
        for (index, invariant) in INVARIANTS.iter().enumerate() {
            match it.finding(index) {
                Some(finding) => {
                    let count = grouped(broken[index]);
                    let (id, price, most) = (invariant.id, finding.price, runs.len());
                    let _ = writeln!(out, "  {id:<ids$}  price {price} in {count:>most$} of {runs} runs");
                }
                None => none.push(invariant.id),
            }
        }
        if none.len() == COUNT {
            out.push_str(&paragraph(&format!("none of the {COUNT} invariants was broken in {runs} runs"), 2, width));
        } else if !none.is_empty() {
            out.push_str(&paragraph(&format!("none in {runs} runs: {}", none.join(", ")), 2, width));
        }
        if *undecided > 0 {
            let text = format!("undecided: {} came to no rest", counted(*undecided, "run"));
            out.push_str(&paragraph(&text, 2, width));
        }
    }
    out
}

/// The cheapest violation of an invariant that any scenario showed.
#[derive(Clone, Copy, Debug)]
pub struct Cheapest<'a> {
    /// Where it was found.
    pub hunted: &'a Hunted,
    /// What was found.
    pub finding: &'a Finding,
    /// Where its schedule breaks the invariant; nothing if it does not, which is a bug of this crate.
    pub violation: Option<Violation>,
}

/// For each invariant that was broken anywhere its cheapest finding: by price, then by length, then by scenario.
pub fn cheapest(hunted: &[Hunted]) -> Vec<Cheapest<'_>> {
    let of_invariant = |index| {
        let all = hunted.iter().filter_map(|hunted| Some((hunted, hunted.finding(index)?)));
        all.min_by_key(|(_, it)| (it.price, it.schedule.len()))
    };
    (0..COUNT)
        .filter_map(of_invariant)
        .map(|(hunted, finding)| {
            let report = run(&hunted.scenario, hunted.design, &mut Replay::then_normal(&finding.schedule));
            Cheapest { hunted, finding, violation: report.broken[finding.invariant] }
        })
        .collect()
}

/// What became of the schedule of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It was written to this path.
    At(String),
    /// It could not be written, for this reason.
    Not(String),
}

impl Cheapest<'_> {
    /// The id of its invariant.
    pub fn id(&self) -> &'static str {
        INVARIANTS[self.finding.invariant].id
    }

    /// Its schedule, which the normal schedule completes.
    pub fn schedule(&self) -> Schedule {
        let Finding { invariant, schedule, .. } = self.finding;
        Schedule::new(
            self.hunted.scenario.clone(),
            self.hunted.design,
            Some(*invariant),
            Then::Normal,
            schedule.clone(),
        )
    }

    /// A name for the file of its schedule.
    pub fn file_name(&self) -> String {
        let (scenario, design) = (self.hunted.scenario.name, self.hunted.design.name());
        let of = if design == Upstream.name() { String::new() } else { format!("-{design}") };
        format!("{scenario}{of}-{}.schedule", self.id())
    }

    /// The text of that file: what it is, how it was found, and the schedule.
    pub fn file_text(&self) -> String {
        let Finding { invariant, price, run, .. } = self.finding;
        format!(
            "# {}: {}.\n# Broken at price {price}. Found by `{}`, then shrunk.\n{}",
            self.id(),
            INVARIANTS[*invariant].sentence,
            command_of_run(&self.hunted.scenario, self.hunted.design, self.hunted.seed, *run),
            self.schedule()
        )
    }

    /// What it is, what it costs, and how to see it.
    pub fn describe(&self, kept: &Kept, width: usize) -> String {
        let Finding { invariant, price, schedule, .. } = self.finding;
        let mut out = paragraph(&format!("{}: {}", self.id(), INVARIANTS[*invariant].sentence), 0, width);
        let what = match self.violation {
            Some(it) => format!(
                "scenario {}, price {price}, broken for {} after {} and {}; {} of them are in its schedule",
                self.hunted.scenario.name,
                it.task,
                counted(u64::from(it.step) + 1, "step"),
                duration(it.time),
                grouped(schedule.len() as u64),
            ),
            None => format!(
                "scenario {}, price {price}; but its schedule does not break it again, which is a bug of this program",
                self.hunted.scenario.name
            ),
        };
        out.push_str(&paragraph(&what, 2, width));
        match kept {
            Kept::At(path) => {
                let _ = writeln!(out, "  vgdp-sim replay {}", quoted(path));
            }
            Kept::Not(reason) => {
                out.push_str(&paragraph(
                    &format!("the schedule could not be written ({reason}); it is this:"),
                    2,
                    width,
                ));
                for line in self.file_text().lines() {
                    out.push_str(format!("    {line}").trim_end());
                    out.push('\n');
                }
            }
        }
        out
    }
}

/// What to type to see a run of a hunt.
pub(crate) fn command_of_run(scenario: &Scenario, design: &dyn Design, seed: u64, run: u64) -> String {
    let design = design.name();
    let of = if design == Upstream.name() { String::new() } else { format!(" --design {design}") };
    let ticks = if scenario.ticks == Ticks::default() { "" } else { " --ticks fine" };
    format!("vgdp-sim run --scenario {}{of}{ticks} --seed {seed} --run {run}", scenario.name)
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let plain = |it: char| it.is_alphanumeric() || "/._-+,:@%".contains(it);
    if !path.is_empty() && path.chars().all(plain) && !path.starts_with('-') {
        path.to_owned()
    } else if path.starts_with('-') {
        quoted(&format!("./{path}"))
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::hunt;

    fn hunted(name: &str, runs: u64) -> Hunted {
        let scenario = Scenario::named(name).unwrap();
        Hunted { campaign: hunt(&scenario, &Upstream, 1, runs), scenario, design: &Upstream, seed: 1 }
    }

    #[test]
    fn a_sample_never_says_that_an_invariant_holds() {
        let text = counts(&[hunted("normal", 5), hunted("cancel", 5)], 80);
        assert!(text.contains("in 5 runs") && !text.contains("hold"));
    }

    #[test]
    fn undecided_runs_are_reported() {
        let mut it = hunted("normal", 5);
        it.campaign.undecided = 1;
        assert!(counts(&[it], 80).contains("undecided: 1 run came to no rest"));
    }

    #[test]
    fn the_cheapest_finding_of_each_invariant_replays() {
        let hunted = [hunted("pod-deleted", 300), hunted("anything", 300)];
        let all = cheapest(&hunted);
        assert!(!all.is_empty());
        for it in all {
            assert!(it.violation.is_some_and(|violation| violation.price <= it.finding.price), "{}", it.id());
            assert_eq!(it.file_text().parse::<Schedule>().map(|it| it.actions), Ok(it.finding.schedule.clone()));
        }
    }

    #[test]
    fn a_path_is_quoted_where_a_shell_would_break_it() {
        assert_eq!(quoted("target/vgdp-sim/a.schedule"), "target/vgdp-sim/a.schedule");
        assert_eq!(quoted("it's here"), r"'it'\''s here'");
        assert_eq!(quoted("-x"), "./-x");
    }
}
