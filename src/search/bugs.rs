use super::{deviate, record};
use crate::event::Event;
use crate::model::design::Design;
use crate::run::observe;
use crate::scenario::Scenario;
use crate::scheduler::{Deviating, Deviation, Policy};

/// Failing runs that are one bug: what each of them needs, told by its fewest departures from the normal schedule,
/// breaks the same invariant and looks the same from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bug {
    /// Which invariant: its index in [`INVARIANTS`](crate::invariants::INVARIANTS).
    pub invariant: usize,
    /// The lowest price of these runs.
    pub price: u8,
    /// Which of the runs that were looked at it is.
    pub runs: Vec<u64>,
    /// The one of them that shows it with the fewest deviations, the first of these.
    pub run: u64,
    /// The departures from the normal schedule that bring it about; none can be left out.
    pub deviations: Vec<Deviation>,
}

/// What an outsider sees of the task until its invariant is broken: the minimal schedules of one race tell one story,
/// whatever else happens out of turn.
fn story(scenario: &Scenario, design: &dyn Design, invariant: usize, deviations: &[Deviation]) -> Vec<u128> {
    let mut story = Vec::new();
    let report = observe(scenario, design, &mut Deviating::lenient(deviations), &mut |it| {
        story.extend(Event::between(it.was, it.is).map(|event| (it.step, event)));
    });
    let Some(broken) = report.broken[invariant] else { return Vec::new() };
    let until = story.into_iter().take_while(|it| it.0 <= broken.step).map(|it| it.1);
    until.filter(|it| it.task() == broken.task).map(of_any_task).collect()
}

/// The event, whichever task it is of.
fn of_any_task(it: Event) -> u128 {
    it.bit() >> (u32::from(it.task().0) * 32)
}

/// Tells these runs, which break `invariant`, apart by what each of them needs.
pub(super) fn bugs(
    scenario: &Scenario,
    design: &dyn Design,
    policy: &dyn Policy,
    seed: u64,
    invariant: usize,
    runs: &[u64],
) -> Vec<Bug> {
    let prefix = scenario.prefix().count();
    let mut bugs: Vec<(Vec<u128>, Bug)> = Vec::new();
    for &run in runs {
        let (report, actions) = record(scenario, design, &mut *policy.start(seed, run));
        let Some(violation) = report.broken[invariant] else { continue };
        let until = &actions[..(violation.step as usize + 1).saturating_sub(prefix).min(actions.len())];
        let price = violation.price;
        let Some(deviations) = deviate(scenario, design, until, invariant, price) else { continue };
        let story = story(scenario, design, invariant, &deviations);
        if let Some((_, it)) = bugs.iter_mut().find(|it| it.0 == story) {
            it.runs.push(run);
            it.price = it.price.min(price);
            if deviations.len() < it.deviations.len() {
                (it.run, it.deviations) = (run, deviations);
            }
        } else {
            bugs.push((story, Bug { invariant, price, runs: vec![run], run, deviations }));
        }
    }
    bugs.into_iter().map(|it| it.1).collect()
}
