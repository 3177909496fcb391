//! What a test says of a schedule on which it fails: all that it takes to make that schedule again.

use std::fmt::Write as _;

use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::design::Design;
use vgdp_sim::report::{Token, command_of_run};
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::Policy;
use vgdp_sim::search::{deviate, record};

/// A run on which a test fails.
#[derive(Clone, Copy)]
pub struct Failing<'a> {
    pub scenario: &'a Scenario,
    pub design: &'a dyn Design,
    pub policy: &'a dyn Policy,
    pub seed: u64,
    pub run: u64,
}

impl Failing<'_> {
    #[allow(dead_code)] // a test that judges by other claims has no use for it
    /// It broke an invariant, as a token where deviations tell it, or else as a list of actions.
    pub fn broke(self, invariant: usize) -> String {
        let Failing { scenario, design, policy, seed, run } = self;
        let (report, mut actions) = record(scenario, design, &mut *policy.start(seed, run));
        let Some(it) = report.broken[invariant] else {
            return self.failed(&format!("{} is not broken after all", INVARIANTS[invariant].id));
        };
        actions.truncate((it.step as usize + 1).saturating_sub(scenario.prefix().count()));
        let what = format!("{} is broken for {} at price {}", INVARIANTS[invariant].id, it.task, it.price);
        let mut text = self.failed(&what);
        match deviate(scenario, design, &actions, invariant, it.price) {
            Some(it) => _ = write!(text, "\n  vgdp-sim replay {}", Token::new(scenario, design, &it)),
            None => _ = write!(text, "\n  no deviations tell it; it is {actions:?}"),
        }
        text
    }

    /// It failed in another way.
    pub fn failed(self, what: &str) -> String {
        let Failing { scenario, design, policy, seed, run } = self;
        let Scenario { name, nodes, tasks, .. } = scenario;
        let (design_name, policy_name) = (design.name(), policy.name());
        let mut text = format!(
            "{what}\n  scenario {name} ({nodes} nodes, {tasks} tasks), design {design_name}, policy {policy_name}, seed {seed}, run {run}"
        );
        if let Some(it) = command_of_run(scenario, design, policy, seed, run) {
            _ = write!(text, "\n  {it}");
        } else {
            let (_, actions) = record(scenario, design, &mut *policy.start(seed, run));
            _ = write!(
                text,
                "\n  a scenario, design or policy of this test, so no command makes it; it is {actions:?}"
            );
        }
        text
    }
}
