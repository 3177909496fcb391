use super::{record, shrink};
use crate::invariants::COUNT;
use crate::model::design::Design;
use crate::model::place::TaskId;
use crate::model::rules::Action;
use crate::run::{Ended, run};
use crate::scenario::Scenario;
use crate::scheduler::Placed;

/// A schedule that breaks an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which invariant: its index in [`INVARIANTS`](crate::invariants::INVARIANTS).
    pub invariant: usize,
    /// For which task.
    pub task: TaskId,
    /// What the outside world had to do wrong for it.
    pub price: u8,
    /// The run of the campaign that found it.
    pub run: u64,
    /// The actions that bring it about; the normal schedule goes on from there.
    pub schedule: Vec<Action>,
}

/// What a campaign of random runs showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Campaign {
    /// How many runs it had.
    pub runs: u64,
    /// Steps of all runs together.
    pub steps: u64,
    /// Runs that came to no rest within their bounds: they prove nothing either way.
    pub undecided: u64,
    /// Runs in which an operator or a fault acted.
    pub struck: u64,
    /// In how many runs each invariant was broken.
    pub broken: [u64; COUNT],
    /// For each invariant that was broken its cheapest violation, shrunk.
    pub findings: Vec<Finding>,
}

/// Runs a scenario `runs` times by chance and keeps the cheapest violation of each invariant: the lowest price, then the first run.
///
/// A sample proves nothing about what it did not find.
pub fn hunt(scenario: &Scenario, design: &dyn Design, seed: u64, runs: u64) -> Campaign {
    let mut campaign = Campaign { runs, steps: 0, undecided: 0, struck: 0, broken: [0; COUNT], findings: Vec::new() };
    let mut cheapest: [Option<(u8, u64)>; COUNT] = [None; COUNT];
    for index in 0..runs {
        let report = run(scenario, design, &mut Placed::new(seed, index));
        campaign.steps += u64::from(report.steps);
        campaign.undecided += u64::from(report.ended == Ended::Undecided);
        campaign.struck += u64::from(report.strikes > 0);
        for (invariant, violation) in report.violations() {
            campaign.broken[invariant] += 1;
            let best = cheapest[invariant].get_or_insert((violation.price, index));
            *best = (*best).min((violation.price, index));
        }
    }
    for (invariant, it) in cheapest.iter().enumerate() {
        if let Some((price, index)) = *it {
            let (report, actions) = record(scenario, design, &mut Placed::new(seed, index));
            let violation = report.broken[invariant].expect("the same run finds the same");
            let prefix = scenario.prefix().count();
            let until = &actions[..(violation.step as usize + 1).saturating_sub(prefix).min(actions.len())];
            let schedule = shrink(scenario, design, until, invariant, price);
            campaign.findings.push(Finding { invariant, task: violation.task, price, run: index, schedule });
        }
    }
    campaign
}

impl Campaign {
    /// Whether it proved nothing: the scenario allows operators or faults to act, and none did in any run.
    pub fn is_vacuous(&self, scenario: &Scenario) -> bool {
        !scenario.allows.is_empty() && self.struck == 0
    }
}
