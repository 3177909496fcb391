//! The one loop: what is enabled, a choice, a step, a check.
//!
//! It records nothing. A run that found something is run again to record, again to shrink, again to print.

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
struct Monitors {
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
    let mut monitors = Monitors { seconds: [[0; TASKS]; COUNT] };
    let mut report = Report { ended: Ended::AtRest, steps: 0, time: 0, broken: [None; COUNT] };
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
                check_at_rest(&world, &setup, &mut report, full_price);
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
        let seconds = if action.class() == Class::Clock {
            instant = 0;
            world.seconds_ahead(&setup)
        } else {
            instant += 1;
            0
        };
        let fired = world.fire(&setup, action);
        assert!(fired, "{action} is not enabled here");
        report.time += u32::from(seconds);
        check_step(&was, action, &world, &setup, seconds, &mut monitors, &mut report, full_price);
        last = Fired { action: Some(action), changed: changed(&was, &world) };
        watch(&Moment { step: report.steps, time: report.time, action, was: &was, is: &world });
        report.steps += 1;
    }
    report
}

/// How many API objects differ.
fn changed(was: &World, is: &World) -> u8 {
    is.task_ids()
        .map(|t| {
            let (was, is) = (&was.tasks[t], &is.tasks[t]);
            u8::from(was.cr != is.cr) + u8::from(was.pod.phase != is.pod.phase)
        })
        .sum()
}

#[allow(clippy::too_many_arguments)]
fn check_step(
    was: &World,
    action: Action,
    is: &World,
    setup: &Setup<'_>,
    seconds: u16,
    monitors: &mut Monitors,
    report: &mut Report,
    full_price: u8,
) {
    for (index, invariant) in INVARIANTS.iter().enumerate() {
        if report.broken[index].is_some() {
            continue;
        }
        for t in is.task_ids() {
            let broken = match invariant.broken {
                Kind::Step(breaks) => breaks(was, action, is, t),
                Kind::Within(limit, broken) => {
                    let counted = &mut monitors.seconds[index][t.0 as usize];
                    if broken(is, setup, t) {
                        if !is.is_passing() {
                            *counted = counted.saturating_add(seconds);
                        }
                    } else {
                        *counted = 0;
                    }
                    *counted > limit
                }
                Kind::AtRest(_) => false,
            };
            if broken {
                report.note(index, t, is, full_price, report.steps);
                break;
            }
        }
    }
}

/// At rest nothing changes any more, so what must hold within a time and does not will not.
fn check_at_rest(world: &World, setup: &Setup<'_>, report: &mut Report, full_price: u8) {
    for (index, invariant) in INVARIANTS.iter().enumerate() {
        if let Kind::AtRest(broken) | Kind::Within(_, broken) = invariant.broken
            && report.broken[index].is_none()
            && let Some(t) = world.task_ids().find(|&t| broken(world, setup, t))
        {
            report.note(index, t, world, full_price, report.steps.saturating_sub(1)); // the last action led here
        }
    }
}

impl Report {
    fn note(&mut self, index: usize, task: TaskId, world: &World, full_price: u8, step: u32) {
        let price = full_price - world.shared.budget.price_left();
        self.broken[index] = Some(Violation { step, task, time: self.time, price });
    }
}
