//! Why a schedule breaks an invariant.
//!
//! Three things make a violation plain: the **point of no return**, the step before which the run could still have ended
//! well and after which it could not; the **passing twin**, the same run less one deviation; and where the two first
//! look different to somebody outside.
//!
//! # Which continuations count
//!
//! From a world of the run everything is followed that could happen if, from that moment on, **nobody outside acted any
//! more**: every actor takes his steps in any order, time moves to the boundaries of windows, and stalls and broken
//! watches heal. Operators and faults do nothing more, not even what they still do later in the run.
//!
//! - With the help of an operator nearly every harm can be undone, by restarting a node-agent, say. A point of no return
//!   that counted on such help would come too late or never: it would say nothing about the protocol.
//! - What somebody outside still does later in the run is a choice of that moment, not of this one. If it is what closes
//!   the last way, then that act is the point of no return, and the text says so.
//!
//! Since an act from outside could also open a way, the point of no return is the *last* step with a way before it:
//! after it no world of the run has one, up to the violation.
//!
//! A continuation ends well if it comes to a rest at which the invariant holds and has not been broken on the way, for
//! any task. How long an invariant has been broken already is counted. A world is told from others by 64 bits.

mod ahead;

use std::fmt;
use std::sync::atomic::AtomicBool;

use crate::event::Event;
use crate::model::api_server::{DataUpload, Pod};
use crate::model::design::Design;
use crate::model::place::{NodeId, PerTask, TASKS};
use crate::model::rules::Action;
use crate::model::world::World;
use crate::run::{Ended, Report, Violation, observe};
use crate::scenario::Scenario;
use crate::scheduler::{Deviation, Following};

use ahead::{Ahead, Ending, Place};

/// How much may be spent on the point of no return.
#[derive(Clone, Copy, Debug)]
pub struct Cap<'a> {
    /// The most worlds that are visited, ahead of all steps of the run together.
    pub worlds: usize,
    /// Ends the search once it is set; what is known by then is the answer.
    pub stop: Option<&'a AtomicBool>,
}

impl Cap<'_> {
    /// A million worlds: some seconds.
    pub const DEFAULT: usize = 1_000_000;

    /// At most so many worlds.
    pub const fn worlds(worlds: usize) -> Cap<'static> {
        Cap { worlds, stop: None }
    }
}

impl Default for Cap<'_> {
    fn default() -> Self {
        Cap::worlds(Cap::DEFAULT)
    }
}

/// A violation, explained.
#[derive(Clone)]
pub struct Explained<'a> {
    /// Where the run starts.
    pub scenario: Scenario,
    /// The design that is run.
    pub design: &'a dyn Design,
    /// Which invariant is broken: its index in [`INVARIANTS`](crate::invariants::INVARIANTS).
    pub invariant: usize,
    /// Where it is first broken.
    pub violation: Violation,
    /// The run, with all its worlds.
    pub run: Recording,
    /// Where no way back is left.
    pub no_return: NoReturn,
    /// The same run less one deviation; none, where there is no deviation or where none can be left out alone.
    pub twin: Option<Twin>,
}

/// A run that is kept whole.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Its departures from the normal schedule, each of which was made.
    pub deviations: Vec<Deviation>,
    /// Before which step each of them was made.
    pub made: Vec<usize>,
    /// The world before the first step.
    pub start: World,
    /// What was done, the scenario's prefix included.
    pub steps: Vec<Taken>,
    /// What it found.
    pub report: Report,
}

/// A step that was taken.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// What was done.
    pub action: Action,
    /// Seconds since the start, after it.
    pub time: u32,
    /// What changed visibly, if anything did.
    pub event: Option<Event>,
    /// The world after it.
    pub world: World,
}

/// Where no way back is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoReturn {
    /// The last step before which the run is known to be able to end well; none where no such step is known.
    pub open: Option<usize>,
    /// From before this step on, up to the violation, no world of the run can end well; every world that can follow was
    /// visited. One more than the number of the violation's step where not even that of the last world is known.
    pub closed: usize,
    /// The first step that is a choice: those before it are the scenario's prefix.
    pub first: usize,
    /// How it could have ended well from before step `open`: the actions to a rest at which the invariant holds.
    pub way: Vec<Action>,
    /// What would have had to come before step `open` for that step to do no harm.
    pub rescue: Option<Rescue>,
    /// Worlds that were visited.
    pub worlds: usize,
    /// Why the answer is not exact, where it is not.
    pub stopped: Option<Stopped>,
}

impl NoReturn {
    /// The step which left no way back; none where that is not known exactly, or where there never was one.
    pub fn step(&self) -> Option<usize> {
        self.open.filter(|open| open + 1 == self.closed)
    }

    /// Whether no continuation ever was good, from the first choice on.
    pub fn was_never_open(&self) -> bool {
        self.open.is_none() && self.closed == self.first
    }

    /// The step that left no way back, or one of those after it.
    pub fn at_the_latest(&self) -> Option<usize> {
        (!self.was_never_open()).then(|| self.closed - 1)
    }
}

/// The fewest steps which, taken before the step that leaves no way back, would have left one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rescue {
    /// These steps, in order; the last one is decisive. No fewer would do.
    pub steps: Vec<Action>,
    /// Whether that step could then not be taken any more, now; otherwise it could, and would do no harm.
    pub instead: bool,
}

/// Why something was not searched to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The cap on worlds was met.
    Cap,
    /// Whoever asked did not want to wait.
    Interrupted,
}

/// The same run less one deviation, in which the invariant holds.
#[derive(Clone, Debug)]
pub struct Twin {
    /// The index of the deviation that is left out.
    pub left_out: usize,
    /// The indices of those that have no place any more without it, and are left out as well.
    pub lost: Vec<usize>,
    /// The run.
    pub run: Recording,
    /// Where it first looks different.
    pub difference: Difference,
}

/// Where two runs first look different to somebody outside, who sees objects and slots.
///
/// The runs are laid side by side by what changes visibly in them, not by their steps: a step that somebody takes a
/// little later makes no difference until somebody can see one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// How many visible changes are the same in both.
    pub alike: usize,
    /// The step that makes the next one in the run; none where nothing changes visibly any more.
    pub run: Option<usize>,
    /// The step that makes the next one in the twin.
    pub twin: Option<usize>,
    /// The steps, of the run and of the twin, that make the first change which is the same but comes at another time.
    pub late: Option<(usize, usize)>,
}

/// There is nothing to explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unexplained {
    /// The deviation of this index was not made: the run never came to its place, or what it does was not enabled
    /// there.
    Missed(usize),
    /// The run does not break the invariant.
    Holds,
}

/// Explains why the normal schedule but for `deviations` breaks an invariant, given by its index.
///
/// The **twin** leaves out the last deviation without which the invariant holds and all the others are still made. Where
/// there is none, a deviation that has lost its place without another is left out as well, and named in [`Twin::lost`].
/// A twin that comes to no rest is none.
///
/// The **point of no return** is found from the violation backwards: what a world can become is searched to its end, and
/// what was searched in vain is not searched again for the world before it. It is exact unless `cap` is met. Then it is
/// "at the latest" where the search has come to, and from the steps before it one is looked for which, with little
/// effort, is seen to have a way still. The answer depends on nothing but the arguments (and when `cap.stop` is set).
///
/// # Errors
///
/// When a deviation is not made, or the invariant is not broken.
///
/// # Panics
///
/// When the scope of the scenario is too large, its prefix is not enabled, or there is no such invariant.
///
/// ```
/// use vgdp_sim::designs::Upstream;
/// use vgdp_sim::invariants::INVARIANTS;
/// use vgdp_sim::scenario::Scenario;
/// use vgdp_sim::search::{Cap, explain, sweep};
///
/// // Somebody deletes the pod of an upload. One departure from the normal run is enough to leak its slot.
/// let scenario = Scenario::named("pod-deleted")?;
/// let found = sweep(&scenario, &Upstream, 1, 1_000_000);
/// let leak = found.broken.iter().find(|it| INVARIANTS[it.invariant].id == "slot-leak").expect("a known race");
///
/// let it = explain(&scenario, &Upstream, &leak.deviations, leak.invariant, Cap::default()).expect("it is broken");
/// let step = it.no_return.step().expect("few worlds can follow");
/// assert_eq!(it.run.steps[step].action.to_string(), "worker::reads_pod(n0, a)");
///
/// // Without that, all is well.
/// assert!(it.twin.is_some_and(|twin| twin.run.deviations.is_empty()));
/// # Ok::<(), vgdp_sim::scenario::UnknownScenario>(())
/// ```
pub fn explain<'a>(
    scenario: &Scenario,
    design: &'a dyn Design,
    deviations: &[Deviation],
    invariant: usize,
    cap: Cap<'_>,
) -> Result<Explained<'a>, Unexplained> {
    let (run, missed) = Recording::of(scenario, design, deviations);
    if let Some(it) = missed {
        return Err(Unexplained::Missed(it));
    }
    let violation = run.report.broken[invariant].ok_or(Unexplained::Holds)?;
    let no_return = no_return(scenario, design, &run, invariant, cap);
    let twin = twin(scenario, design, &run, invariant);
    Ok(Explained { scenario: scenario.clone(), design, invariant, violation, run, no_return, twin })
}

impl fmt::Debug for Explained<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Explained { scenario, design, invariant, violation, run: _, no_return, twin: _ } = self;
        f.debug_struct("Explained")
            .field("scenario", &scenario.name)
            .field("design", &design.name())
            .field("invariant", invariant)
            .field("violation", violation)
            .field("no_return", no_return)
            .finish_non_exhaustive()
    }
}

impl Recording {
    /// Runs `scenario` normally but for `deviations`; tells also which of them was not made, if one was not.
    fn of(scenario: &Scenario, design: &dyn Design, deviations: &[Deviation]) -> (Recording, Option<usize>) {
        let mut start = None;
        let mut steps = Vec::new();
        let mut following = Following::new(deviations, scenario);
        let report = observe(scenario, design, &mut following, &mut |it| {
            start.get_or_insert(*it.was);
            let event = Event::between(it.was, it.is);
            steps.push(Taken { action: it.action, time: it.time, event, world: *it.is });
        });
        let missed = following.missed();
        let made = following.made;
        let start = start.expect("a scenario has a prefix");
        (Recording { deviations: deviations.to_vec(), made, start, steps, report }, missed)
    }

    /// The world before a step; before the one after the last, the last world.
    pub fn before(&self, step: usize) -> &World {
        step.checked_sub(1).map_or(&self.start, |it| &self.steps[it].world)
    }

    /// The world after a step.
    pub fn after(&self, step: usize) -> &World {
        &self.steps[step].world
    }

    /// The last world.
    pub fn end(&self) -> &World {
        self.before(self.steps.len())
    }

    /// Seconds since the start, before a step.
    pub fn time_before(&self, step: usize) -> u32 {
        step.checked_sub(1).map_or(0, |it| self.steps[it].time)
    }

    /// The steps which somebody outside could see, and what he sees after each.
    fn outside(&self) -> impl Iterator<Item = (usize, Outside)> + '_ {
        let mut last = outside(&self.start);
        self.steps.iter().enumerate().filter_map(move |(step, it)| {
            let is = outside(&it.world);
            (is != last).then(|| {
                last = is;
                (step, is)
            })
        })
    }
}

/// What can be seen from outside: the objects, and who holds a slot where.
type Outside = PerTask<(Option<(DataUpload, Pod)>, Option<NodeId>)>;

fn outside(world: &World) -> Outside {
    let mut seen = PerTask([(None, None); TASKS]);
    for t in world.task_ids() {
        let task = &world.tasks[t];
        let slot = task.watcher.home().filter(|_| task.watcher.holds_slot());
        seen[t] = (Some((task.cr, task.pod)), slot);
    }
    seen
}

impl Difference {
    fn between(run: &Recording, twin: &Recording) -> Difference {
        let side_by_side = || run.outside().zip(twin.outside()).take_while(|(run, twin)| run.1 == twin.1);
        let alike = side_by_side().count();
        let next = |it: &Recording| it.outside().nth(alike).map(|it| it.0);
        let steps = side_by_side().map(|(it, other)| (it.0, other.0));
        let late = steps.into_iter().find(|it| run.steps[it.0].time != twin.steps[it.1].time);
        Difference { alike, run: next(run), twin: next(twin), late }
    }
}

impl Twin {
    /// The first worlds in which the two look different: that of the run, then that of the twin.
    pub fn worlds<'a>(&'a self, run: &'a Recording) -> (&'a World, &'a World) {
        let at = |it: &'a Recording, step: Option<usize>| step.map_or(it.end(), |step| it.after(step));
        (at(run, self.difference.run), at(&self.run, self.difference.twin))
    }
}

fn twin(scenario: &Scenario, design: &dyn Design, run: &Recording, invariant: usize) -> Option<Twin> {
    let holds = |it: &Recording| it.report.broken[invariant].is_none() && it.report.ended == Ended::AtRest;
    let without = |left_out: usize| {
        let (twin, lost) = without(scenario, design, &run.deviations, left_out);
        let difference = Difference::between(run, &twin);
        Twin { left_out, lost, run: twin, difference }
    };
    let mut twins: Vec<Twin> = (0..run.deviations.len()).rev().map(without).filter(|twin| holds(&twin.run)).collect();
    let whole = twins.iter().position(|it| it.lost.is_empty());
    (!twins.is_empty()).then(|| twins.swap_remove(whole.unwrap_or(0)))
}

/// The run without one of its deviations, and without those that then have no place.
fn without(
    scenario: &Scenario,
    design: &dyn Design,
    deviations: &[Deviation],
    left_out: usize,
) -> (Recording, Vec<usize>) {
    let mut kept: Vec<usize> = (0..deviations.len()).filter(|it| *it != left_out).collect();
    let mut lost = Vec::new();
    loop {
        let rest: Vec<Deviation> = kept.iter().map(|it| deviations[*it]).collect();
        let (twin, missed) = Recording::of(scenario, design, &rest);
        let Some(missed) = missed else { return (twin, lost) };
        lost.push(kept.remove(missed));
    }
}

fn no_return(scenario: &Scenario, design: &dyn Design, run: &Recording, invariant: usize, cap: Cap<'_>) -> NoReturn {
    let first = scenario.prefix().count();
    let places = Place::all(scenario, design, run, invariant);
    let mut ahead = Ahead::new(scenario, design, invariant, cap);
    let mut it = NoReturn {
        open: None,
        closed: first + places.len(),
        first,
        way: Vec::new(),
        rescue: None,
        worlds: 0,
        stopped: None,
    };
    for (index, place) in places.iter().enumerate().rev() {
        match ahead.ends(place) {
            Ending::Badly => it.closed = first + index,
            Ending::Well(way) => {
                (it.open, it.way) = (Some(first + index), way);
                it.rescue = ahead.rescue(place, run.steps[first + index].action);
                break;
            }
            Ending::Unknown(why) => {
                it.stopped = Some(why);
                let mut earlier = places[..index].iter().enumerate().rev();
                let open = earlier.find_map(|(index, place)| Some((index, ahead.glances(place)?)));
                if let Some((index, way)) = open {
                    (it.open, it.way) = (Some(first + index), way);
                }
                break;
            }
        }
    }
    it.worlds = ahead.worlds();
    it
}
