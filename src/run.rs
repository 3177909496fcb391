//! The one loop: what is enabled, a choice, a step, a check.
//!
//! It records nothing. A run that found something is run again to record, again to shrink, again to print.

use crate::event::Event;
use crate::invariants::{COUNT, INVARIANTS, Kind};
use crate::model::design::Design;
use crate::model::place::{TASKS, TaskId};
use crate::model::rules::{Action, Class, Enabled, Setup};
use crate::model::touched::Touched;
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
    /// For which tasks an invariant has been broken for some time: one bit each.
    counting: [u8; COUNT],
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
    let mut was = world;
    let mut enabled = Enabled::default();
    let mut touched = Touched::NOTHING;
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
            world.enabled_since(&setup, touched, &mut enabled);
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
        touched.copy(&world, &mut was);
        let seconds = world.seconds_of(&setup, action);
        instant = if action.class() == Class::Clock { 0 } else { instant + 1 };
        let fired = world.fire_since(&was, &setup, action);
        let name = design.name();
        touched = fired.unwrap_or_else(|| {
            panic!("{action} is not enabled here; if it was a moment ago: is `{name}` a function of its arguments?")
        });
        report.time += u32::from(seconds);
        report.strikes += u32::from(matches!(action.class(), Class::Operator | Class::Fault));
        let step = report.steps;
        monitors.check_touched((&was, action, &world), touched, &setup, seconds, |index, t| {
            report.note(index, t, &world, full_price, step);
        });
        let event = if touched.objects() { Event::between(&was, &world) } else { None };
        let changed = if event.is_some() { Event::objects(&was, &world) } else { 0 };
        last = Fired { action: Some(action), changed, event };
        watch(&Moment { step: report.steps, time: report.time, action, was: &was, is: &world });
        report.steps += 1;
    }
    report
}

/// Invariants that must hold at a step, and those that may fail to hold for a time, by their indices.
const STEP: [usize; count(false)] = indices(false);
const WITHIN: [usize; count(true)] = indices(true);

const fn is_within(index: usize) -> Option<bool> {
    match INVARIANTS[index].broken {
        Kind::Step(_) => Some(false),
        Kind::Within(..) => Some(true),
        Kind::AtRest(_) => None,
    }
}

const fn count(within: bool) -> usize {
    let (mut count, mut index) = (0, 0);
    while index < COUNT {
        if let Some(it) = is_within(index)
            && it == within
        {
            count += 1;
        }
        index += 1;
    }
    count
}

const fn indices<const N: usize>(within: bool) -> [usize; N] {
    let mut indices = [0; N];
    let (mut at, mut index) = (0, 0);
    while index < COUNT {
        if let Some(it) = is_within(index)
            && it == within
        {
            indices[at] = index;
            at += 1;
        }
        index += 1;
    }
    indices
}

impl Monitors {
    /// Nothing is broken yet.
    pub(crate) const NONE: Monitors = Monitors { seconds: [[0; TASKS]; COUNT], counting: [0; COUNT] };

    /// Checks a step that took `seconds`, and tells what it broke.
    pub(crate) fn check(
        &mut self,
        was: &World,
        action: Action,
        is: &World,
        setup: &Setup<'_>,
        seconds: u16,
        broke: impl FnMut(usize, TaskId),
    ) {
        self.check_touched((was, action, is), Touched::ALL, setup, seconds, broke);
    }

    /// The same for a step that touched no more than this.
    pub(crate) fn check_touched(
        &mut self,
        step: (&World, Action, &World),
        touched: Touched,
        setup: &Setup<'_>,
        seconds: u16,
        mut broke: impl FnMut(usize, TaskId),
    ) {
        let visible = check_step(step, touched, &mut broke);
        if seconds > 0 || (visible && self.counts()) {
            self.check_time(step.2, setup, seconds, broke);
        }
    }

    /// Whether something has been broken for some time. Only then does it matter, as long as no time goes by, whether it
    /// still is.
    #[inline]
    fn counts(&self) -> bool {
        self.counting != [0; COUNT]
    }

    #[inline(never)]
    fn check_time(&mut self, is: &World, setup: &Setup<'_>, seconds: u16, mut broke: impl FnMut(usize, TaskId)) {
        let passes = seconds > 0 && !is.is_passing();
        for index in WITHIN {
            let Kind::Within(limit, broken) = INVARIANTS[index].broken else { unreachable!() };
            if !passes && self.counting[index] == 0 {
                continue; // broken or not, no time is counted
            }
            for t in is.task_ids() {
                let counted = &mut self.seconds[index][t.0 as usize];
                let bit = 1 << t.0;
                if broken(is, setup, t) {
                    if passes {
                        *counted = counted.saturating_add(seconds).min(limit + 1);
                        self.counting[index] |= bit;
                    }
                } else {
                    *counted = 0;
                    self.counting[index] &= !bit;
                }
                if *counted > limit {
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

/// Checks what must hold over a step, and says whether an outsider could see anything of it: of what he could not see
/// nothing is broken.
#[inline]
pub(crate) fn check_step(
    (was, action, is): (&World, Action, &World),
    touched: Touched,
    mut broke: impl FnMut(usize, TaskId),
) -> bool {
    let mut visible = false;
    for t in is.task_ids().filter(|&t| touched.task(t) && !was.tasks[t].looks_like(&is.tasks[t])) {
        visible = true;
        for index in STEP {
            if let Kind::Step(broken) = INVARIANTS[index].broken
                && broken(was, action, is, t)
            {
                broke(index, t);
            }
        }
    }
    visible
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
