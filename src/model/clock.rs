//! The clock, and what becomes due of itself.

use super::api_server::Phase;
use super::node_agent::routine;
use super::place::{NODES, NodeId, TASKS, TaskId};
use super::rules::{Action, Rule, Setup, Step};
use super::time::{Age, Obligation, Ticks, Window};
#[rustfmt::skip]
use super::touched::{
    self, AREAS, CR_LOG, CRS, MOVER, POLL, Touched, WATCHER, accepted, cr, crs, garbage, known, known_at, known_of,
    operation, periodic, pod, pods, reconcile, watcher, worker,
};
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

/// What is settled, in this order: pieces, each with a number.
struct Pieces;

impl Pieces {
    const CR_LOG: usize = 0;
    const POD_LOGS: usize = 1;
    const TASKS: usize = Pieces::POD_LOGS + NODES;
    const QUEUES: usize = Pieces::TASKS + TASKS;
    /// Of each node, what its periodic enqueue owes, and then what each of its keys does.
    const PER_QUEUE: usize = 1 + TASKS;
    const COUNT: usize = Pieces::QUEUES + Pieces::PER_QUEUE * NODES;

    /// What each of them reads: it is settled again once any of that is touched.
    const READS: [u64; Pieces::COUNT] = {
        let mut reads = [0; Pieces::COUNT];
        reads[Pieces::CR_LOG] = CR_LOG | CRS | MOVER;
        let mut i = 0;
        while i < TASKS {
            let t = TaskId(i as u8);
            reads[Pieces::TASKS + i] = cr(t) | pod(t) | garbage(t) | accepted(t) | operation(t) | known_of(t);
            i += 1;
        }
        i = 0;
        while i < NODES {
            let n = NodeId(i as u8);
            reads[Pieces::POD_LOGS + i] = pods(n) | WATCHER;
            let queue = Pieces::QUEUES + Pieces::PER_QUEUE * i;
            reads[queue] = periodic(n) | known_at(n) | crs(n) | POLL;
            let mut t = 0;
            while t < TASKS {
                reads[queue + 1 + t] = known(n, TaskId(t as u8)) | reconcile(n, TaskId(t as u8));
                t += 1;
            }
            i += 1;
        }
        reads
    };

    /// For each area, what reads it.
    const READERS: [u64; AREAS] = {
        let mut readers = [0; AREAS];
        let mut area = 0;
        while area < AREAS {
            let mut piece = 0;
            while piece < Pieces::COUNT {
                readers[area] |= (Pieces::READS[piece] >> area & 1) << piece;
                piece += 1;
            }
            area += 1;
        }
        readers
    };

    /// What there is in worlds of each size.
    const SCOPES: [[u64; TASKS + 1]; NODES + 1] = {
        let mut scopes = [[0; TASKS + 1]; NODES + 1];
        let mut nodes = 0;
        while nodes <= NODES {
            let mut tasks = 0;
            while tasks <= TASKS {
                let (each_node, each_task) = ((1 << nodes) - 1, (1 << tasks) - 1);
                let mut all = 1 << Pieces::CR_LOG | each_node << Pieces::POD_LOGS | each_task << Pieces::TASKS;
                let mut n = 0;
                while n < nodes {
                    all |= (1 | each_task << 1) << (Pieces::QUEUES + Pieces::PER_QUEUE * n);
                    n += 1;
                }
                scopes[nodes][tasks] = all;
                tasks += 1;
            }
            nodes += 1;
        }
        scopes
    };

    /// What reads any of `areas`.
    #[inline]
    fn reading(areas: u64) -> u64 {
        static READERS: [u64; AREAS] = Pieces::READERS;
        let mut left = areas & touched::EVERY;
        let mut readers = 0;
        while left != 0 {
            readers |= READERS[left.trailing_zeros() as usize];
            left &= left - 1;
        }
        readers
    }
}

/// What has still to be settled after something was touched.
struct Due {
    pieces: u64,
    scope: u64,
    touched: Touched,
}

impl Due {
    #[inline]
    fn after(touched: Touched, world: &World) -> Due {
        static SCOPES: [[u64; TASKS + 1]; NODES + 1] = Pieces::SCOPES;
        let scope = SCOPES[world.node_ids().count()][world.task_ids().count()];
        Due { pieces: Pieces::reading(touched.0) & scope, scope, touched }
    }

    /// The next piece, by its number.
    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.pieces == 0 {
            return None;
        }
        let piece = self.pieces.trailing_zeros() as usize;
        self.pieces &= self.pieces - 1;
        self.scope &= u64::MAX << piece << 1; // the earlier ones and itself have had their turn
        Some(piece)
    }

    /// Settling a piece touched these, and what reads them is due as well, as far as it comes later.
    #[inline]
    fn touches(&mut self, areas: u64) {
        if areas & !self.touched.0 != 0 {
            self.adds(areas);
        }
    }

    #[inline(never)]
    fn adds(&mut self, areas: u64) {
        self.touched |= areas;
        self.pieces |= Pieces::reading(areas) & self.scope;
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
        self.settle_since(setup, Touched::ALL);
    }

    /// The same, where all was settled before `touched` was touched: only what reads that. Returns what is touched by now.
    pub(super) fn settle_since(&mut self, setup: &Setup<'_>, touched: Touched) -> Touched {
        self.starts_waits(setup, touched);
        let mut due = Due::after(touched, self);
        while let Some(piece) = due.next() {
            due.touches(self.settle_piece(setup, piece));
        }
        due.touched
    }

    /// Goroutines that were touched may have come to a wait, whose window starts.
    #[inline]
    fn starts_waits(&mut self, setup: &Setup<'_>, touched: Touched) {
        for n in self.node_ids().filter(|&n| touched.any(worker(n))) {
            routine::starts_waiting(&mut self.nodes[n].worker, setup);
        }
        for t in self.task_ids().filter(|&t| touched.any(watcher(t))) {
            routine::starts_waiting(&mut self.tasks[t].watcher.routine, setup);
        }
    }

    /// Settles one piece, by its number. Returns what that touched.
    #[inline]
    fn settle_piece(&mut self, setup: &Setup<'_>, piece: usize) -> u64 {
        match piece {
            Pieces::CR_LOG => self.compact_cr_log(),
            Pieces::POD_LOGS..Pieces::TASKS => {
                self.compact_pod_log(setup.design, NodeId((piece - Pieces::POD_LOGS) as u8))
            }
            Pieces::TASKS..Pieces::QUEUES => self.settle_task(setup, TaskId((piece - Pieces::TASKS) as u8)),
            _ => {
                let at = piece - Pieces::QUEUES;
                let n = NodeId((at / Pieces::PER_QUEUE) as u8);
                match at % Pieces::PER_QUEUE {
                    0 => self.settle_periodic(setup, n),
                    key => self.settle_known(setup, n, TaskId(key as u8 - 1)),
                }
            }
        }
    }

    fn settle_periodic(&mut self, setup: &Setup<'_>, n: NodeId) -> u64 {
        let was = self.nodes[n].periodic;
        if !self.periodic_would_act(setup, n) {
            self.nodes[n].periodic = Window::OFF;
        } else if was.is_off() {
            self.nodes[n].periodic = setup.times.window(Obligation::PeriodicEnqueue);
        }
        if self.nodes[n].periodic == was { 0 } else { periodic(n) }
    }

    fn settle_task(&mut self, setup: &Setup<'_>, t: TaskId) -> u64 {
        let garbage_was = self.tasks[t].garbage;
        if !self.has_garbage(t) {
            self.tasks[t].garbage = Window::OFF;
        } else if garbage_was.is_off() {
            self.tasks[t].garbage = setup.times.window(Obligation::GarbageCollection);
        }
        let is_accepted = self.tasks[t].cr.phase == Phase::Accepted
            || self.node_ids().any(|n| self.tasks[t].at[n].cr.phase == Phase::Accepted);
        let task = &mut self.tasks[t];
        let mut touched = if task.garbage == garbage_was { 0 } else { garbage(t) };
        if !is_accepted && task.accepted.has_begun() {
            task.accepted = Age::NONE;
            touched |= accepted(t);
        }
        if (!task.cr.is_live() || task.cr.cancel) && !task.operation.is_off() {
            task.operation = Window::OFF; // its poll would change nothing any more
            touched |= operation(t);
        }
        touched
    }

    fn settle_known(&mut self, setup: &Setup<'_>, n: NodeId, t: TaskId) -> u64 {
        let Known { cr, key, cancelled, .. } = self.tasks[t].at[n];
        let mut touched = 0;
        if !cr.is_live() && cancelled.has_begun() {
            self.tasks[t].at[n].cancelled = Age::NONE; // it matters again only for a name that is used again
            touched = known(n, t);
        }
        if key.is_delayed() {
            if self.reconcile_is_over(setup, n, t) {
                self.forget_delay(n, t);
                return touched | known_at(n); // the others move up
            }
            let would_act = self.reconcile_would_act(setup, n, t);
            let due = self.tasks[t].at[n].key.due();
            if would_act == due.is_off() {
                let starts = || key.obligation().map_or(Window::DUE, |it| setup.times.window(it));
                *due = if would_act { starts() } else { Window::OFF };
                touched |= known(n, t);
            }
        }
        touched
    }
}
