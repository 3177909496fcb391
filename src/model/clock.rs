//! The clock, and what becomes due of itself.

use super::api_server::Phase;
use super::node_agent::routine;
use super::node_agent::watcher::Watcher;
use super::place::{NodeId, TaskId};
use super::rules::{Setup, Step};
use super::time::{Age, Obligation, Window};
use super::world::{Known, Node, Task, World};

/// Seconds that go by where no boundary lies ahead: half a day.
const LONG: u16 = 43_200;

/// Time goes by, to the next boundary of a window; where all that is awaited has no bound, half a day.
///
/// Nobody may owe anything within this instant, so that it never passes anybody's latest.
pub fn passes(step: &mut Step<'_>) -> Option<()> {
    let setup = step.setup;
    let next = step.fires()?;
    pass(next, setup);
    Some(())
}

/// Lets time go by.
pub(super) fn pass(world: &mut World, setup: &Setup<'_>) {
    let seconds = world.seconds_ahead(setup);
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
    /// How many seconds the clock would pass now.
    pub fn seconds_ahead(&mut self, setup: &Setup<'_>) -> u16 {
        self.next_boundary(setup).unwrap_or(LONG)
    }

    /// Seconds to the next boundary of any window, if there is one.
    pub fn next_boundary(&mut self, setup: &Setup<'_>) -> Option<u16> {
        let mut next = u16::MAX;
        let mut consider = |boundary: Option<u16>| next = next.min(boundary.unwrap_or(u16::MAX));
        for n in self.node_ids() {
            self.nodes[n].windows(|it| consider(it.boundary()));
        }
        for t in self.task_ids() {
            self.tasks[t].windows(|it| consider(it.boundary()));
            consider(self.tasks[t].accepted.boundary(setup.times.span(Obligation::PrepareTimeout).earliest));
            for n in self.node_ids() {
                let known = &mut self.tasks[t].at[n];
                consider(known.key.due().boundary());
                consider(known.cancelled.boundary(super::node_agent::worker::force_after(setup, known.cr.phase)));
            }
        }
        (next != u16::MAX).then_some(next)
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
