//! The clock, and what becomes due of itself.

use super::api_server::Phase;
use super::node_agent::routine;
use super::node_agent::watcher::Watcher;
use super::place::{NodeId, TaskId};
use super::rules::{Action, Rule, Setup, Step};
use super::time::{Age, Obligation, Ticks, Window};
use super::world::{Known, Node, Task, World};

/// Seconds that go by where no boundary lies ahead: half a day.
const LONG: u16 = 43_200;

/// Time goes by, to the next boundary of a window; where all that is awaited has no bound, half a day.
///
/// Nobody may owe anything within this instant, so that it never passes anybody's latest.
pub fn passes(step: &mut Step<'_>) -> Option<()> {
    let setup = step.setup;
    let next = step.fires()?;
    let seconds = next.seconds_ahead(setup);
    pass(next, setup, seconds);
    Some(())
}

/// Time goes by, but stops at the next instant from which an exact timer leads to a boundary.
///
/// No boundary lies before that instant, so nobody's latest does. What is farther ahead is reached by stopping several
/// times: where nothing is done in between, two moves of the clock are one.
pub fn stops_short(step: &mut Step<'_>) -> Option<()> {
    let setup = step.setup;
    let next = step.fires()?;
    let seconds = next.fine_instant(setup)?;
    pass(next, setup, seconds);
    Some(())
}

/// Lets time go by.
fn pass(world: &mut World, setup: &Setup<'_>, seconds: u16) {
    let forced = setup.times.span(Obligation::ForcedCancelInProgress).earliest;
    let prepare = setup.times.span(Obligation::PrepareTimeout).earliest;
    for n in world.node_ids() {
        world.nodes[n].windows(|it| it.passes(seconds));
    }
    for t in world.task_ids() {
        world.tasks[t].windows(|it| it.passes(seconds));
        world.tasks[t].accepted.passes(seconds, prepare);
        for n in world.node_ids() {
            world.tasks[t].at[n].key.due().passes(seconds);
            world.tasks[t].at[n].cancelled.passes(seconds, forced);
        }
    }
}

impl Node {
    /// Every window of a node-agent.
    fn windows(&mut self, mut it: impl FnMut(&mut Window)) {
        let Node { crs, pods, worker, mapping, periodic } = self;
        it(crs.relist_window());
        it(pods.relist_window());
        it(&mut worker.window);
        it(&mut mapping.window);
        it(periodic);
    }
}

impl Task {
    /// Every window of a task.
    fn windows(&mut self, mut it: impl FnMut(&mut Window)) {
        let Task { cr: _, operation, accepted: _, pod: _, garbage, kubelet, mover, watcher, at: _ } = self;
        it(operation);
        it(garbage);
        it(&mut kubelet.start);
        it(&mut kubelet.patch);
        it(&mut kubelet.kill);
        it(&mut mover.window);
        it(&mut mover.listing);
        it(&mut mover.relist);
        it(&mut mover.stopping);
        it(&mut watcher.routine.window);
        it(&mut watcher.epilog);
    }
}

impl World {
    /// How many seconds `action` would take now: none unless it is one of the clock's.
    #[inline]
    pub fn seconds_of(&mut self, setup: &Setup<'_>, action: Action) -> u16 {
        match action.rule() {
            Rule::ClockPasses => self.seconds_ahead(setup),
            Rule::ClockStopsShort => self.fine_instant(setup).unwrap_or(0),
            _ => 0,
        }
    }

    /// How many seconds the clock would pass now, to the next boundary.
    pub fn seconds_ahead(&mut self, setup: &Setup<'_>) -> u16 {
        self.next_boundary(setup).unwrap_or(LONG)
    }

    /// Seconds to the next boundary of any window, if there is one.
    pub fn next_boundary(&mut self, setup: &Setup<'_>) -> Option<u16> {
        let mut next = u16::MAX;
        self.boundaries(setup, |boundary| next = next.min(boundary));
        (next != u16::MAX).then_some(next)
    }

    /// Seconds to the next instant before the next boundary from which an exact timer leads to some boundary, if there
    /// is one and the clock moves to such instants.
    pub fn fine_instant(&mut self, setup: &Setup<'_>) -> Option<u16> {
        if setup.ticks == Ticks::Boundaries {
            return None;
        }
        let (mut boundary, mut next) = (u16::MAX, u16::MAX);
        self.boundaries(setup, |it| {
            boundary = boundary.min(it);
            let before = Ticks::EXACT.into_iter().filter_map(|exact| it.checked_sub(exact));
            next = before.filter(|it| *it > 0).fold(next, u16::min);
        });
        (next < boundary).then_some(next)
    }

    /// Shows each boundary of each window that lies ahead, in seconds.
    #[inline]
    fn boundaries(&mut self, setup: &Setup<'_>, mut show: impl FnMut(u16)) {
        let mut of = |it: &mut Window| it.boundaries().into_iter().flatten().for_each(&mut show);
        for n in self.node_ids() {
            self.nodes[n].windows(&mut of);
        }
        for t in self.task_ids() {
            self.tasks[t].windows(&mut of);
            for n in self.node_ids() {
                of(self.tasks[t].at[n].key.due());
            }
        }
        let prepare = setup.times.span(Obligation::PrepareTimeout).earliest;
        for t in self.task_ids() {
            self.tasks[t].accepted.boundary(prepare).into_iter().for_each(&mut show);
            for n in self.node_ids() {
                let Known { cr, cancelled, .. } = self.tasks[t].at[n];
                let forced = cancelled.boundary(super::node_agent::worker::force_after(setup, cr.phase));
                forced.into_iter().for_each(&mut show);
            }
        }
    }

    /// What follows from a step without a step of its own: logs are compacted, windows of waits and polls start and
    /// stop, and what can no longer matter is forgotten, so that worlds recur.
    pub(super) fn settle(&mut self, setup: &Setup<'_>) {
        self.compact_logs(setup.design);
        for n in self.node_ids() {
            routine::starts_waiting(&mut self.nodes[n].worker, setup);
            self.settle_periodic(setup, n);
        }
        for t in self.task_ids() {
            routine::starts_waiting(&mut self.tasks[t].watcher.routine, setup);
            self.settle_task(setup, t);
            for n in self.node_ids() {
                self.settle_known(setup, n, t);
            }
        }
    }

    fn settle_periodic(&mut self, setup: &Setup<'_>, n: NodeId) {
        if !self.periodic_would_act(setup, n) {
            self.nodes[n].periodic = Window::OFF;
        } else if self.nodes[n].periodic.is_off() {
            self.nodes[n].periodic = setup.times.window(Obligation::PeriodicEnqueue);
        }
    }

    fn settle_task(&mut self, setup: &Setup<'_>, t: TaskId) {
        if !self.has_garbage(t) {
            self.tasks[t].garbage = Window::OFF;
        } else if self.tasks[t].garbage.is_off() {
            self.tasks[t].garbage = setup.times.window(Obligation::GarbageCollection);
        }
        let accepted = self.tasks[t].cr.phase == Phase::Accepted
            || self.node_ids().any(|n| self.tasks[t].at[n].cr.phase == Phase::Accepted);
        let task = &mut self.tasks[t];
        if !accepted {
            task.accepted = Age::NONE;
        }
        if !task.cr.is_live() {
            task.operation = Window::OFF; // its poll would do nothing any more
        }
        if task.watcher == Watcher::NONE {
            task.mover.events.pass_unheard();
        }
    }

    fn settle_known(&mut self, setup: &Setup<'_>, n: NodeId, t: TaskId) {
        let Known { cr, key, .. } = self.tasks[t].at[n];
        if !cr.is_live() {
            self.tasks[t].at[n].cancelled = Age::NONE; // it matters again only for a name that is used again
        }
        if key.is_delayed() {
            if self.reconcile_is_over(setup, n, t) {
                return self.forget_delay(n, t);
            }
            let would_act = self.reconcile_would_act(setup, n, t);
            let due = self.tasks[t].at[n].key.due();
            if !would_act {
                *due = Window::OFF;
            } else if due.is_off() {
                *due = key.obligation().map_or(Window::DUE, |it| setup.times.window(it));
            }
        }
    }
}
