//! What there is to run, as [proptest] draws and shrinks it. Only with the feature `proptest`.
//!
//! A search of this crate looks for broken invariants. Somebody who writes a design, a scheduler or a report has
//! properties of another kind, which must hold for any scenario and any schedule. Here is "any":
//!
//! ```
//! use proptest::prelude::*;
//! use vgdp_sim::designs::Upstream;
//! use vgdp_sim::run::{Ended, run};
//! use vgdp_sim::strategies::{scenarios, schedules};
//!
//! // In a test this would have its `#[test]`; the macro makes it a function.
//! proptest! {
//!     fn every_run_comes_to_rest(scenario in scenarios(), schedule in schedules()) {
//!         let report = run(&scenario, &Upstream, &mut *schedule.scheduler());
//!         prop_assert_eq!(report.ended, Ended::AtRest);
//!     }
//! }
//! every_run_comes_to_rest();
//! ```
//!
//! What shrinks becomes more normal: fewer nodes and uploads, a smaller budget, fewer departures from the normal
//! schedule. How proptest draws is its own affair and may change with its version, so a case that is worth keeping is
//! kept as a [`Token`] or a [`Schedule`](crate::report::Schedule), not as a seed of proptest.

use std::fmt;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::designs;
use crate::event::Event;
use crate::model::design::Design;
use crate::model::faults::Disturbance;
use crate::model::kind::Kind;
use crate::model::place::{NODES, NodeId, TASKS, TaskId};
use crate::model::rules::{Action, Class, Enabled, Rule};
use crate::report::Token;
use crate::scenario::Scenario;
use crate::scheduler::{Departure, Deviation, Fired, Normal, POLICIES, PORTFOLIO, Point, Policy, Scheduler, Until};

/// What operators and faults may do together, and what it may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The price of all together.
    pub price: u8,
    /// How often each may act.
    pub allows: &'static [(Disturbance, u8)],
}

/// Up to three disturbances that may act once or twice each, for a price of at most 3. It shrinks to none.
///
/// A scenario lives for ever, so each value that is drawn keeps some bytes of memory until the process ends.
pub fn budgets() -> impl Strategy<Value = Budget> {
    let counts = vec(1..=2_u8, 3);
    let allows = (subsequence(Disturbance::ALL, 0..=3), counts).prop_map(|(what, counts)| {
        let all: Vec<(Disturbance, u8)> = what.into_iter().zip(counts).collect();
        &*all.leak()
    });
    (0..=3_u8, allows).prop_map(|(price, allows)| Budget { price, allows })
}

/// A [built-in](Scenario::built_in) scenario, as it is.
pub fn built_in_scenarios() -> impl Strategy<Value = Scenario> {
    select(Scenario::built_in())
}

/// A scenario of one or two nodes and one or two uploads with any [budget](budgets), called `normal` like the built-in
/// scenario that it would be with none.
pub fn small_scenarios() -> impl Strategy<Value = Scenario> {
    let kinds = select(vec![Kind::DataUpload, Kind::DataDownload]);
    let size = (1..=2_u8, 1..=2_u8, 1..=2_u8);
    (size, budgets(), kinds, any::<bool>(), any::<bool>()).prop_map(
        |((nodes, tasks, limit), Budget { price, allows }, kind, is_quiet, merges_enqueue)| Scenario {
            nodes,
            tasks,
            limit,
            price,
            allows,
            kind,
            reports_progress: !is_quiet,
            merges_enqueue,
            ..Scenario::default()
        },
    )
}

/// A [built-in](built_in_scenarios) or a [small](small_scenarios) scenario.
pub fn scenarios() -> impl Strategy<Value = Scenario> {
    prop_oneof![small_scenarios(), built_in_scenarios()]
}

/// A way to make one run of any scenario.
#[derive(Clone, PartialEq, Eq)]
pub enum Way {
    /// As in a campaign.
    Chance {
        /// The name of the policy.
        policy: &'static str,
        /// The seed of the campaign.
        seed: u64,
        /// The run.
        run: u64,
    },
    /// Pick by pick. A 0 takes what the normal schedule takes, *n* takes the *n*-th of what is enabled, counted round
    /// and round; after the last pick the normal schedule goes on to rest.
    Picks(Vec<u8>),
}

impl Way {
    /// Whoever chooses so.
    ///
    /// # Panics
    ///
    /// When it names a policy that is not built in.
    pub fn scheduler(&self) -> Box<dyn Scheduler> {
        match self {
            Way::Chance { policy, seed, run } => {
                crate::scheduler::policy_named(policy).expect("it is built in").start(*seed, *run)
            }
            Way::Picks(picks) => Box::new(Picks { picks: picks.clone(), at: 0 }),
        }
    }
}

impl fmt::Debug for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Way::Chance { policy, seed, run } => write!(f, "run {run} of seed {seed}, policy {policy}"),
            Way::Picks(picks) => {
                let odd = picks.iter().enumerate().filter(|it| *it.1 > 0);
                write!(f, "normal but for {:?}", odd.collect::<Vec<_>>())
            }
        }
    }
}

struct Picks {
    picks: Vec<u8>,
    at: usize,
}

impl Scheduler for Picks {
    fn pick(&mut self, enabled: &Enabled, last: Fired) -> Option<usize> {
        let pick = self.picks.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        match usize::from(pick).checked_sub(1) {
            Some(pick) => Some(pick % enabled.len()),
            None => Normal::choose(enabled, last.action),
        }
    }
}

/// A run of any built-in policy: it shrinks to run 0 of seed 0 of the portfolio.
pub fn runs() -> impl Strategy<Value = Way> {
    let names: Vec<&'static str> = [PORTFOLIO.name()].into_iter().chain(POLICIES.iter().map(|it| it.name())).collect();
    (select(names), any::<u64>(), 0..1_000_000_u64).prop_map(|(policy, seed, run)| Way::Chance { policy, seed, run })
}

/// Up to so many picks, one in eight of them off the normal schedule: it shrinks to fewer and more normal picks.
pub fn picks(most: usize) -> impl Strategy<Value = Way> {
    let pick = prop_oneof![7 => Just(0_u8), 1 => 0..=32_u8];
    vec(pick, 0..=most).prop_map(Way::Picks)
}

/// Picks or a run.
pub fn schedules() -> impl Strategy<Value = Way> {
    prop_oneof![picks(200), runs()]
}

/// A deviation of which a token of that scope may speak. Whether its place ever comes is another matter.
///
/// # Panics
///
/// When there are no nodes or tasks, or more than there is room for.
pub fn deviations(nodes: u8, tasks: u8) -> impl Strategy<Value = Deviation> {
    assert!((1..=NODES).contains(&usize::from(nodes)) && (1..=TASKS).contains(&usize::from(tasks)));
    let places = move || {
        let nodes = (0..nodes).map(|it| Some(NodeId(it))).chain([None]);
        nodes.flat_map(move |n| (0..tasks).map(|it| Some(TaskId(it))).chain([None]).map(move |t| (n, t)))
    };
    let of_rule = move |rule: &Rule| places().filter_map(|(n, t)| Action::new(*rule, n, t)).collect::<Vec<_>>();
    let actions: Vec<Action> = Rule::ALL.iter().flat_map(of_rule).collect();
    let events: Vec<Event> = (0..tasks).map(TaskId).flat_map(Event::all).collect();
    let nth = || prop_oneof![3 => Just(1_u8), 1 => 1..=u8::MAX];
    let departure = prop_oneof![
        select(actions.clone()).prop_map(|it| match it.class() {
            Class::Operator | Class::Fault => Departure::Does(it),
            Class::Step | Class::Clock | Class::Recovery => Departure::First(it),
        }),
        Just(Departure::Waits(Until::Last)),
        Just(Departure::Waits(Until::LastInInstant)),
        select(events.clone()).prop_map(|it| Departure::Waits(Until::Event(it))),
    ];
    let (after, next) = (prop::option::of((select(events), nth())), prop::option::of(select(actions)));
    (after, next, nth(), departure)
        .prop_map(|(after, next, nth, departure)| Deviation { point: Point { after, next, nth }, departure })
}

/// A token for any built-in scenario in any scope and any built-in design, with up to six deviations.
pub fn tokens() -> impl Strategy<Value = Token> {
    let design = select(designs::BUILT_IN.iter().map(|it| it.name()).collect::<Vec<_>>());
    let scope = (built_in_scenarios(), 1..=NODES as u8, 1..=TASKS as u8);
    (scope, design).prop_flat_map(|((scenario, nodes, tasks), design)| {
        let scenario = scenario.scope(nodes, tasks);
        vec(deviations(nodes, tasks), 0..=6).prop_map(move |deviations| {
            let design: &dyn Design = designs::named(design).expect("it is built in");
            Token::new(&scenario, design, &deviations)
        })
    })
}
