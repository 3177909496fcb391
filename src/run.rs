//! The one loop: what is enabled, a choice, a step, a check.
//!
//! It records nothing. A run that found something is run again to record, again to shrink, again to print.

use crate::event::Event;
use crate::invariants::{COUNT, INVARIANTS, Kind};
use crate::model::design::Design;
use crate::model::place::{TASKS, TaskId};
use crate::model::rules::{Action, Class, Enabled, Setup};
use crate::model::world::World;
use crate::scenario::Scenario;
use crate::scheduler::{Fired, Scheduler};

/// The most steps that a run may take; a run that needs more is undecided, never a pass.
pub const STEPS: u32 = 20_000;
/// The most steps that may happen within one instant; more is undecided.
pub const STEPS_OF_AN_INSTANT: u32 = 2_000;

/// Where an invariant was first broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Steps taken before: the run's action of this index broke it.
    pub step: u32,
    /// For which task.
    pub task: TaskId,
    /// Seconds since the start.
    pub time: u32,
    /// What the outside world had done wrong by then.
    pub price: u8,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// At rest, with nothing left to do for whoever chose.
    AtRest,
    /// Whoever chose ended it before rest.
    Stopped,
    /// Too many steps.
    Undecided,
}

/// What a run found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// How it ended.
    pub ended: Ended,
    /// Steps that it took.
    pub steps: u32,
    /// Seconds that went by.
    pub time: u32,
    /// How often an operator or a fault acted.
    pub strikes: u32,
    /// Where each invariant was first broken, in the order of [`INVARIANTS`].
    pub broken: [Option<Violation>; COUNT],
}

impl Report {
    /// The indices of the invariants that were broken.
    pub fn violations(&self) -> impl Iterator<Item = (usize, Violation)> + '_ {
        self.broken.iter().enumerate().filter_map(|(index, it)| it.map(|it| (index, it)))
    }
}

/// What a step was, for whoever watches a run.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// Its index.
    pub step: u32,
    /// Seconds since the start, after it.
    pub time: u32,
    /// What was done.
    pub action: Action,
    /// The world before.
    pub was: &'a World,
    /// The world after.
    pub is: &'a World,
}

/// Watches how long each invariant with a time has been broken; it lives beside the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Monitors {
    seconds: [[u16; TASKS]; COUNT],
}

/// Runs a scenario from the empty cluster: its prefix, then what `scheduler` chooses.
///
/// # Panics
///
/// When the scope of the scenario is too large, or its prefix is not enabled.
pub fn run(scenario: &Scenario, design: &dyn Design, scheduler: &mut dyn Scheduler) -> Report {
    observe(scenario, design, scheduler, &mut |_| {})
}

/// The same, shown to `watch` step by step.
///
/// # Panics
///
/// When the scope of the scenario is too large, or its prefix is not enabled.
pub fn observe(
    scenario: &Scenario,
    design: &dyn Design,
    scheduler: &mut dyn Scheduler,
    watch: &mut dyn FnMut(&Moment<'_>),
) -> Report {
    let setup = scenario.setup(design);
    let mut world = scenario.empty_cluster().expect("the scope of a scenario is checked when it is made");
    let mut enabled = Enabled::default();
    let mut monitors = Monitors::NONE;
    let mut report = Report { ended: Ended::AtRest, steps: 0, time: 0, strikes: 0, broken: [None; COUNT] };
    let full_price = world.shared.budget.price_left();
    let mut prefix = scenario.prefix();
    let mut last = Fired::default();
    let mut instant = 0;
    loop {
        let action = if let Some(action) = prefix.next() {
            action
        } else {
            world.enabled(&setup, &mut enabled);
            if enabled.is_at_rest() && !world.is_passing() {
                let step = report.steps.saturating_sub(1); // the last action led here
                check_at_rest(&world, &setup, |index, t| report.note(index, t, &world, full_price, step));
            }
            if enabled.is_empty() {
                break;
            }
            let Some(index) = scheduler.pick(&enabled, last) else {
                report.ended = if enabled.is_at_rest() { Ended::AtRest } else { Ended::Stopped };
                break;
            };
            enabled[index]
        };
        if report.steps == STEPS || instant == STEPS_OF_AN_INSTANT {
            report.ended = Ended::Undecided;
            break;
        }
        let was = world;
        let seconds = world.seconds_of(&setup, action);
        instant = if action.class() == Class::Clock { 0 } else { instant + 1 };
        let fired = world.fire(&setup, action);
        let name = design.name();
        assert!(
            fired,
            "{action} is not enabled here; if it was a moment ago: is `{name}` a function of its arguments?"
        );
        report.time += u32::from(seconds);
        report.strikes += u32::from(matches!(action.class(), Class::Operator | Class::Fault));
        let step = report.steps;
        monitors
            .check(&was, action, &world, &setup, seconds, |index, t| report.note(index, t, &world, full_price, step));
        let event = Event::between(&was, &world);
        let changed = if event.is_some() { Event::objects(&was, &world) } else { 0 };
        last = Fired { action: Some(action), changed, event };
        watch(&Moment { step: report.steps, time: report.time, action, was: &was, is: &world });
        report.steps += 1;
    }
    report
}

impl Monitors {
    /// Nothing is broken yet.
    pub(crate) const NONE: Monitors = Monitors { seconds: [[0; TASKS]; COUNT] };

    /// Checks a step that took `seconds`, and tells what it broke.
    pub(crate) fn check(
        &mut self,
        was: &World,
        action: Action,
        is: &World,
        setup: &Setup<'_>,
        seconds: u16,
        mut broke: impl FnMut(usize, TaskId),
    ) {
        if seconds == 0 && is.task_ids().all(|t| was.tasks[t].looks_like(&is.tasks[t])) {
            return; // no answer can have changed, and no time has gone by
        }
        for (index, invariant) in INVARIANTS.iter().enumerate() {
            for t in is.task_ids() {
                let broken = match invariant.broken {
                    Kind::Step(breaks) => breaks(was, action, is, t),
                    Kind::Within(limit, broken) => {
                        let counted = &mut self.seconds[index][t.0 as usize];
                        if broken(is, setup, t) {
                            if seconds > 0 && !is.is_passing() {
                                *counted = counted.saturating_add(seconds).min(limit + 1);
                            }
                        } else {
                            *counted = 0;
                        }
                        *counted > limit
                    }
                    Kind::AtRest(_) => false,
                };
                if broken {
                    broke(index, t);
                }
            }
        }
    }

    /// What has been broken for some time, but not too long: it matters for what comes.
    pub(crate) fn pending(&self) -> impl Iterator<Item = (u8, u8, u16)> + '_ {
        let all = self.seconds.iter().enumerate();
        all.flat_map(|(index, tasks)| {
            let tasks = tasks.iter().enumerate().filter(|(_, seconds)| **seconds > 0);
            tasks.map(move |(t, &seconds)| (index as u8, t as u8, seconds))
        })
    }
}

/// Checks a world at rest. Nothing changes any more, so what must hold within a time and does not will not.
pub(crate) fn check_at_rest(world: &World, setup: &Setup<'_>, mut broke: impl FnMut(usize, TaskId)) {
    for (index, invariant) in INVARIANTS.iter().enumerate() {
        if let Kind::AtRest(broken) | Kind::Within(_, broken) = invariant.broken
            && let Some(t) = world.task_ids().find(|&t| broken(world, setup, t))
        {
            broke(index, t);
        }
    }
}

impl Report {
    fn note(&mut self, index: usize, task: TaskId, world: &World, full_price: u8, step: u32) {
        let price = full_price - world.shared.budget.price_left();
        let time = self.time;
        self.broken[index].get_or_insert(Violation { step, task, time, price });
    }
}
