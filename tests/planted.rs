//! Each invariant can be broken, and can be kept where something is at stake.
//!
//! For each there is one planted fault: a design that is wrong in one way, or a time that is too long. A bounded search
//! must find the invariant broken by it. A second search must find a run that keeps the invariant although it might
//! have been broken there; without that, an invariant which nothing ever puts to the test would pass for one that
//! holds.

#[path = "support/planted.rs"]
mod table;

use vgdp_sim::invariants::{INVARIANTS, Kind};
use vgdp_sim::model::place::TaskId;
use vgdp_sim::model::rules::{Action, Class, Enabled, Rule, Setup};
use vgdp_sim::model::world::World;
use vgdp_sim::run::{self, Report, observe, run};
use vgdp_sim::scheduler::{Fired, Placed, Scheduler};

use table::{Occasion, Planted, Trial, planted};

/// The most runs of a search.
const RUNS: u64 = 20_000;

/// Chooses as [`Placed`] does, but transfers take their time: the first so many times that one would end, somebody else
/// acts or time goes by instead, as far as that may.
///
/// Left to chance they end within a few steps, and hardly ever run side by side.
struct Unhurried {
    placed: Placed,
    left: usize,
}

impl Unhurried {
    /// How often a transfer does not end yet.
    const TIMES: usize = 30;

    /// Run `index` of a search.
    fn new(index: u64) -> Unhurried {
        Unhurried { placed: Placed::new(1, index), left: Unhurried::TIMES }
    }
}

impl Scheduler for Unhurried {
    fn pick(&mut self, enabled: &Enabled, last: Fired) -> Option<usize> {
        let ends_transfer = |it: &Action| {
            matches!(
                it.rule(),
                Rule::DataMoverTransferEndsCanceled
                    | Rule::DataMoverTransferEndsCompleted
                    | Rule::DataMoverTransferEndsFailed
            )
        };
        let choice = self.placed.pick(enabled, last)?;
        if self.left == 0 || !ends_transfer(&enabled[choice]) {
            return Some(choice);
        }
        self.left -= 1;
        let other = |class| enabled.iter().position(|it| it.class() == class && !ends_transfer(it));
        other(Class::Step).or_else(|| other(Class::Clock)).or(Some(choice))
    }
}

impl Planted {
    /// The first run to rest that breaks the invariant and spares what it should.
    fn is_found(&self) -> Option<u64> {
        let Trial { scenario, design } = &self.fault;
        (0..RUNS).find(|&index| {
            let report = run(scenario, *design, &mut Unhurried::new(index));
            let found = report.ended == run::Ended::AtRest && breaks(&report, self.id);
            found && !self.spares.iter().any(|it| breaks(&report, it))
        })
    }

    /// The first run to rest in which the invariant is put to the test and holds.
    fn holds(&self) -> Option<u64> {
        let Trial { scenario, design } = &self.sound;
        let setup = scenario.setup(*design);
        let question = question(self.id);
        (0..RUNS).find(|&index| {
            let mut tested = false;
            let report = observe(scenario, *design, &mut Unhurried::new(index), &mut |it| {
                tested |= it.was.task_ids().any(|t| match (&self.occasion, question) {
                    (Occasion::Step(comes), _) => comes(it, t),
                    (Occasion::Passes, Some(harm)) => harm(it.was, &setup, t) && !harm(it.is, &setup, t),
                    (Occasion::Passes, None) => panic!("{} is about steps", self.id),
                });
            });
            tested && report.ended == run::Ended::AtRest && !breaks(&report, self.id)
        })
    }
}

fn breaks(report: &Report, id: &str) -> bool {
    report.violations().any(|(index, _)| INVARIANTS[index].id == id)
}

/// What an invariant that is not about steps asks of a world.
fn question(id: &str) -> Option<fn(&World, &Setup<'_>, TaskId) -> bool> {
    match INVARIANTS.iter().find(|it| it.id == id)?.broken {
        Kind::Within(_, harm) | Kind::AtRest(harm) => Some(harm),
        Kind::Step(_) => None,
    }
}

/// Asks each planted fault, and names those for which nothing came of it.
#[track_caller]
fn check(ask: impl Fn(&Planted) -> Option<u64>) {
    let planted = planted();
    let missing: Vec<&str> = planted
        .iter()
        .filter_map(|it| match ask(it) {
            Some(index) => {
                println!("{}: run {index}", it.id);
                None
            }
            None => Some(it.id),
        })
        .collect();
    assert!(missing.is_empty(), "not in {RUNS} runs: {missing:?}");
}

/// No invariant is left out, and none has two.
#[test]
fn there_is_one_planted_fault_for_each_invariant() {
    let ids: Vec<&str> = planted().iter().map(|it| it.id).collect();
    let all: Vec<&str> = INVARIANTS.iter().map(|it| it.id).collect();
    assert_eq!(ids, all);
}

/// No invariant is so weak that nothing breaks it.
#[test]
fn each_planted_fault_is_found() {
    check(Planted::is_found);
}

/// No invariant is so strong that it is broken whenever it matters, and none is kept only because it never does.
#[test]
fn each_invariant_holds_where_it_is_put_to_the_test() {
    check(Planted::holds);
}
