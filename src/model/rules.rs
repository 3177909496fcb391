//! Every way in which the world can change, as one table.
//!
//! The table at the end of this file names each rule, its goroutine and its place. Everything else is generated
//! from it: names, actors, what is enabled, what an action does. It is grouped by goroutine, so that most of it is
//! passed over with one look, and it is sorted by name, so that what is enabled comes out in canonical order.

use std::fmt;
use std::ops::Deref;

use super::design::Design;
use super::faults::Disturbance;
use super::kind::Kind;
use super::place::{Host, NODES, NodeId, TASKS, TaskId};
use super::time::{Ticks, Times, Window};
#[rustfmt::skip]
use super::touched::{
    AREAS, BUDGET, CR_LOG, EVERY, POLL, POD, PODS, STALLS, Touched, WATCHER, cr, crs, garbage, known, known_at, kubelet,
    mapping, mover, operation, periodic, pod, pods, reconcile, watcher, worker,
};
use super::world::World;
use super::{
    api_server, clock, cr_watch, data_mover,
    data_mover::Main,
    event_watch,
    faults::{node_fault, node_recovery, pod_fault, pod_recovery},
    garbage_collector, kube_scheduler, kubelet,
    node_agent::routine::Op,
    node_agent::{callback, periodic_enqueue, pod_events, watcher, work_queue, worker},
    pod_watch, user, velero_server,
};

/// Ends a rule that is not enabled: each condition must hold.
#[macro_export]
#[doc(hidden)]
macro_rules! require {
    ($($condition:expr),+ $(,)?) => { $(if !$condition { return None; })+ };
}

/// What does not change during a run.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    /// What is decided differently from upstream.
    pub design: &'a dyn Design,
    /// Which kind of custom resource all tasks have.
    pub kind: Kind,
    /// The node to which the volumes are tied, and so the pods; any, where it is not set.
    pub volumes_at: Host,
    /// In which phases of an upload each disturbance may touch it, one bit each.
    pub phases: [u8; Disturbance::ALL.len()],
    /// How long things take.
    pub times: Times,
    /// To which instants the clock moves.
    pub ticks: Ticks,
    /// `loadConcurrency` of each node.
    pub limits: [u8; super::place::NODES],
    /// Whether each transfer reports progress once, which writes to its custom resource.
    pub reports_progress: bool,
    /// Whether a node-agent's cache of custom resources and its enqueue-only listener move in one step. That loses
    /// the points between them and none of the verdicts, and leaves fewer worlds.
    pub merges_enqueue: bool,
}

impl fmt::Debug for Setup<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Setup({}, limits {:?})", self.design.name(), self.limits)
    }
}

impl Setup<'_> {
    /// Whether `what` may touch an upload of this phase.
    #[inline]
    pub fn permits(&self, what: Disturbance, phase: super::api_server::Phase) -> bool {
        self.phases[what as usize] & (1 << phase as u8) != 0
    }

    /// `loadConcurrency` of node `n`.
    #[inline]
    pub fn limit(&self, n: NodeId) -> u8 {
        self.limits[n.0 as usize]
    }
}

/// Whether and when an enabled action must happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owed {
    /// Within this instant: the clock does not move before.
    Now,
    /// Some time, within its window.
    InTime,
    /// It need not happen.
    No,
}

/// A rule that is asked whether it may fire, or told to.
#[derive(Debug)]
pub struct Step<'a> {
    world: &'a mut World,
    /// What does not change.
    pub setup: &'a Setup<'a>,
    fire: bool,
    allowed: bool,
    owed: Owed,
    blocked: bool,
}

impl<'a> Step<'a> {
    fn new(world: &'a mut World, setup: &'a Setup<'a>, fire: bool) -> Step<'a> {
        Step { world, setup, fire, allowed: false, owed: Owed::Now, blocked: false }
    }

    /// The next rule at the same place is asked.
    #[inline]
    fn begins(&mut self) {
        self.allowed = false;
        self.owed = Owed::Now;
    }

    /// The world before the step.
    #[inline]
    pub fn now(&self) -> &World {
        self.world
    }

    /// The rule may fire. Returns the world to be changed, or `None` where only the question was asked.
    #[inline]
    pub fn fires(&mut self) -> Option<&mut World> {
        self.allowed = true;
        self.fire.then_some(&mut *self.world)
    }

    /// The same for a disturbance, if the budget allows it.
    #[inline]
    pub fn spends(&mut self, what: Disturbance) -> Option<&mut World> {
        if !self.world.shared.budget.allows(what) {
            return None;
        }
        self.owed = Owed::No;
        let next = self.fires()?;
        next.shared.budget.spend(what);
        Some(next)
    }

    /// The rule may fire only once `window` is open, and must once it is due.
    #[inline]
    pub fn within(&mut self, window: Window) -> Option<()> {
        if !window.is_off() && !window.is_due() {
            self.owed = Owed::InTime;
        } else if window.is_off() {
            self.owed = Owed::InTime; // fair, but nothing bounds it
        }
        window.is_open().then_some(())
    }

    /// The rule writes, and waits until a log has room for that. It is the last condition of a rule: a writer that waits
    /// holds the clock back like one that owes a step.
    #[inline]
    pub fn waits_for(&mut self, room: bool) -> Option<()> {
        self.blocked |= !room && self.owed == Owed::Now;
        room.then_some(())
    }

    /// The rule must fire some day, and nothing bounds when.
    #[inline]
    pub fn in_its_time(&mut self) {
        self.owed = Owed::InTime;
    }

    /// The rule need not fire.
    #[inline]
    pub fn optional(&mut self) {
        self.owed = Owed::No;
    }

    /// The window of `it`, starting now.
    #[inline]
    pub fn window(&self, it: super::time::Obligation) -> Window {
        self.setup.times.window(it)
    }
}

/// Who may or must take an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Somebody owes it.
    Step,
    /// Time goes by.
    Clock,
    /// A stall ends.
    Recovery,
    /// A user or an operator may.
    Operator,
    /// A fault may strike.
    Fault,
}

/// A rule at a place: which node and which task, where they matter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(C)]
pub struct Action {
    group: u8,
    node: u8,
    task: u8,
    rule: Rule,
}

impl Action {
    const NOWHERE: u8 = u8::MAX;
    /// The least rank of the clock's actions, which come after all others.
    const CLOCK: u32 = (Rule::ClockPasses.group() as u32) << 24;

    /// Which rule.
    #[inline]
    pub fn rule(self) -> Rule {
        self.rule
    }

    /// At which node, where the rule has one.
    pub fn node(self) -> Option<NodeId> {
        (self.node != Action::NOWHERE).then_some(NodeId(self.node))
    }

    /// For which task, where the rule has one.
    pub fn task(self) -> Option<TaskId> {
        (self.task != Action::NOWHERE).then_some(TaskId(self.task))
    }

    /// Its place in canonical order.
    #[inline]
    const fn rank(self) -> u32 {
        (self.group as u32) << 24 | (self.node as u32) << 16 | (self.task as u32) << 8 | self.rule as u32
    }

    /// Who takes it.
    #[inline]
    pub fn class(self) -> Class {
        self.rule.class()
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rule.name())?;
        match (self.node(), self.task()) {
            (Some(n), Some(t)) => write!(f, "({n}, {t})"),
            (Some(n), None) => write!(f, "({n})"),
            (None, Some(t)) => write!(f, "({t})"),
            (None, None) => Ok(()),
        }
    }
}

impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The most actions that are enabled at once.
pub const ENABLED: usize = 128;

/// What is enabled, in canonical order.
#[derive(Clone, Copy)]
pub struct Enabled {
    actions: [Action; ENABLED],
    /// Their ranks: in numbers of their own, which were written whole and so are read at once.
    ranks: [u32; ENABLED],
    notes: [Note; ENABLED],
    len: usize,
    /// The marks of all of them together.
    marks: u8,
    /// Where goroutines are, in worlds of this scope.
    scope: Places,
    /// Where somebody waits for room in a log.
    blocked: Places,
}

/// What else is known of an enabled action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Note {
    /// At which place it was asked for.
    place: u8,
    /// Whether and when it must happen: [`Note::NOW`], [`Note::OWED`], [`Note::AWAITED`].
    marks: u8,
}

impl Note {
    /// Somebody owes it within this instant.
    const NOW: u8 = 1;
    /// Somebody owes it.
    const OWED: u8 = 2;
    /// It is a step of somebody who owes it: time may go by until then.
    const AWAITED: u8 = 4;

    #[inline]
    fn new(place: u32, owed: Owed, class: Class) -> Note {
        let marks = match owed {
            Owed::Now => Note::NOW | Note::OWED,
            Owed::InTime => Note::OWED,
            Owed::No => 0,
        };
        let awaited = marks != 0 && class as u8 == Class::Step as u8;
        Note { place: place as u8, marks: marks | if awaited { Note::AWAITED } else { 0 } }
    }
}

/// Places of goroutines, one bit each: each goroutine has as many as its form can have in the largest world.
type Places = u128;

impl fmt::Debug for Enabled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Default for Enabled {
    fn default() -> Enabled {
        Enabled {
            actions: [Action { group: 0, node: 0, task: 0, rule: Rule::ALL[0] }; ENABLED],
            ranks: [0; ENABLED],
            notes: [Note { place: 0, marks: 0 }; ENABLED],
            len: 0,
            marks: 0,
            scope: 0,
            blocked: 0,
        }
    }
}

impl Deref for Enabled {
    type Target = [Action];

    #[inline]
    fn deref(&self) -> &[Action] {
        &self.actions[..self.len]
    }
}

impl Enabled {
    /// Nothing is owed any more: only operators and faults are left, if anything.
    pub fn is_at_rest(&self) -> bool {
        self.marks & Note::OWED == 0
    }

    /// Somebody owes an action within this instant.
    pub fn is_urgent(&self) -> bool {
        self.marks & Note::NOW != 0
    }

    /// Whether the action at `index` is owed.
    pub fn owed(&self, index: usize) -> Owed {
        match self.notes[..self.len][index].marks {
            0 => Owed::No,
            marks if marks & Note::NOW != 0 => Owed::Now,
            _ => Owed::InTime,
        }
    }

    #[inline]
    fn push(&mut self, action: Action, note: Note) {
        self.actions[self.len] = action;
        self.ranks[self.len] = action.rank();
        self.notes[self.len] = note;
        self.len += 1;
        self.marks |= note.marks;
    }

    /// Drops what was enabled at `places`, and the clock.
    #[inline]
    fn forget(&mut self, places: Places) {
        let places_by_word = [places as u64, (places >> 64) as u64];
        let len = self.len;
        self.len = 0;
        self.marks = 0;
        for at in 0..len {
            let (action, rank, note) = (self.actions[at], self.ranks[at], self.notes[at]);
            let word = places_by_word[usize::from(note.place >> 6) & 1];
            let stays = word >> (note.place & 63) & 1 == 0 && rank < Action::CLOCK;
            self.actions[self.len] = action;
            self.ranks[self.len] = rank;
            self.notes[self.len] = note;
            self.len += usize::from(stays);
            self.marks |= if stays { note.marks } else { 0 };
        }
        self.blocked &= !places;
    }

    /// Moves what was pushed after the first `kept` to where it belongs.
    #[inline]
    fn sort_in(&mut self, kept: usize) {
        if kept == 0 {
            return; // all come in order
        }
        for from in kept..self.len {
            let rank = self.ranks[from];
            if self.ranks[from - 1] < rank {
                continue;
            }
            let (action, note) = (self.actions[from], self.notes[from]);
            let mut at = from;
            while at > 0 && self.ranks[at - 1] > rank {
                self.actions[at] = self.actions[at - 1];
                self.ranks[at] = self.ranks[at - 1];
                self.notes[at] = self.notes[at - 1];
                at -= 1;
            }
            self.actions[at] = action;
            self.ranks[at] = rank;
            self.notes[at] = note;
        }
    }
}

/// How many places a goroutine of a form has in the largest world.
macro_rules! places {
    (()) => {
        1
    };
    ((t)) => {
        TASKS
    };
    ((n)) => {
        NODES
    };
    ((n, subject)) => {
        NODES
    };
    ((n, t)) => {
        NODES * TASKS
    };
    ((home, t)) => {
        NODES * TASKS
    };
}

/// Which of them is that of node `n` and task `t`.
macro_rules! place {
    (() $n:ident $t:ident) => {
        0
    };
    ((t) $n:ident $t:ident) => {
        $t
    };
    ((n) $n:ident $t:ident) => {
        $n
    };
    ((n, subject) $n:ident $t:ident) => {
        $n
    };
    ((n, t) $n:ident $t:ident) => {
        $n * TASKS + $t
    };
    ((home, t) $n:ident $t:ident) => {
        $n * TASKS + $t
    };
}

/// Runs `$body` at a place of a goroutine, if the goroutine is there.
macro_rules! at_place {
    (() $world:ident $group:ident $place:ident $n:ident $t:ident $body:block) => {{
        let ($n, $t) = (NodeId(Action::NOWHERE), TaskId(Action::NOWHERE));
        $body
    }};
    ((t) $world:ident $group:ident $place:ident $n:ident $t:ident $body:block) => {{
        let ($n, $t) = (NodeId(Action::NOWHERE), TaskId($place as u8));
        $body
    }};
    ((n) $world:ident $group:ident $place:ident $n:ident $t:ident $body:block) => {{
        let ($n, $t) = (NodeId($place as u8), TaskId(Action::NOWHERE));
        $body
    }};
    ((n, subject) $world:ident $group:ident $place:ident $n:ident $t:ident $body:block) => {{
        let $n = NodeId($place as u8);
        if let Some($t) = $group::subject($world, $n) {
            $body
        }
    }};
    ((n, t) $world:ident $group:ident $place:ident $n:ident $t:ident $body:block) => {{
        let ($n, $t) = (NodeId($place as u8 / TASKS as u8), TaskId($place as u8 % TASKS as u8));
        $body
    }};
    ((home, t) $world:ident $group:ident $place:ident $n:ident $t:ident $body:block) => {{
        let ($n, $t) = (NodeId($place as u8 / TASKS as u8), TaskId($place as u8 % TASKS as u8));
        if $world.tasks[$t].watcher.home() == Some($n) {
            $body
        }
    }};
}

/// Whether the goroutine is at this place at all, as its form says.
macro_rules! is_place {
    (() $world:ident $group:ident $n:ident $t:ident) => {
        true
    };
    ((t) $world:ident $group:ident $n:ident $t:ident) => {
        $world.has_task($t)
    };
    ((n) $world:ident $group:ident $n:ident $t:ident) => {
        $world.has_node($n)
    };
    ((n, t) $world:ident $group:ident $n:ident $t:ident) => {
        $world.has_node($n) && $world.has_task($t)
    };
    ((n, subject) $world:ident $group:ident $n:ident $t:ident) => {
        $world.has_node($n) && $group::subject($world, $n) == Some($t)
    };
    ((home, t) $world:ident $group:ident $n:ident $t:ident) => {
        $world.has_task($t) && $world.tasks[$t].watcher.home() == Some($n)
    };
}

/// Calls a rule with what its form says.
macro_rules! call {
    (() $step:expr, $rule:path, $n:ident, $t:ident) => {
        $rule($step)
    };
    ((t) $step:expr, $rule:path, $n:ident, $t:ident) => {
        $rule($step, $t)
    };
    ((n) $step:expr, $rule:path, $n:ident, $t:ident) => {
        $rule($step, $n)
    };
    ((n, $any:ident) $step:expr, $rule:path, $n2:ident, $t:ident) => {
        $rule($step, $n2, $t)
    };
    ((home, t) $step:expr, $rule:path, $n:ident, $t:ident) => {
        $rule($step, $n, $t)
    };
}

/// Where the goroutine at this place is in its program.
#[inline]
fn at<C>(counter: fn(&World, NodeId, TaskId) -> C, world: &World, n: NodeId, t: TaskId) -> C {
    counter(world, n, t)
}

macro_rules! rules {
    ($(
        $actor:literal: $class:ident, $group:ident $form:tt if $guard:expr, at $counter:expr,
        reads |$n:pat_param, $t:pat_param| $reads:expr => {
            $($variant:ident = $rule:ident when $at:pat,)*
        }
    )*) => {
        /// A way in which the world can change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Rule {
            $($(#[doc = concat!("`", stringify!($group), "::", stringify!($rule), "`")] $variant,)*)*
        }

        impl Rule {
            /// All of them, in canonical order.
            pub const ALL: &[Rule] = &[$($(Rule::$variant,)*)*];

            /// Its name, which is the name of its function: `goroutine::verb`.
            pub const fn name(self) -> &'static str {
                match self { $($(Rule::$variant => concat!(stringify!($group), "::", stringify!($rule)),)*)* }
            }

            /// Whose goroutine it belongs to.
            pub const fn actor(self) -> &'static str {
                match self { $($(Rule::$variant => $actor,)*)* }
            }

            /// Who may or must take it.
            #[inline]
            pub const fn class(self) -> Class {
                const CLASSES: [Class; Rule::ALL.len()] = [$($({ let _ = Rule::$variant; Class::$class },)*)*];
                CLASSES[self as usize]
            }

            /// The places that it has: a node, a task, both or neither.
            pub const fn form(self) -> &'static str {
                match self { $($(Rule::$variant => stringify!($form),)*)* }
            }
        }

        /// The goroutines, in canonical order.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy)]
        #[repr(u8)]
        enum Group { $($group,)* }

        impl Rule {
            const fn group(self) -> u8 {
                match self { $($(Rule::$variant => Group::$group as u8,)*)* }
            }
        }

        /// The number of the first place of each goroutine, and that of all places.
        const FIRST: [u32; GROUPS + 1] = {
            let mut first = [0; GROUPS + 1];
            $(first[Group::$group as usize + 1] = first[Group::$group as usize] + places!($form) as u32;)*
            first
        };
        const GROUPS: usize = Rule::ALL[Rule::ALL.len() - 1].group() as usize + 1;

        /// For each area of a world, the places at which it is read.
        static READERS: [Places; AREAS] = {
            let mut readers = [0; AREAS];
            let mut n = 0;
            while n < NODES {
                let mut t = 0;
                while t < TASKS {
                    $({
                        let reads = {
                            let ($n, $t) = (NodeId(n as u8), TaskId(t as u8));
                            $reads
                        };
                        let reader = 1 << (FIRST[Group::$group as usize] + place!($form n t) as u32);
                        let mut area = 0;
                        while area < AREAS {
                            if reads & (1_u64 << area) != 0 {
                                readers[area] |= reader;
                            }
                            area += 1;
                        }
                    })*
                    t += 1;
                }
                n += 1;
            }
            readers
        };

        /// All places in worlds of so many nodes and tasks.
        static SCOPES: [[Places; TASKS + 1]; NODES + 1] = {
            let mut scopes = [[0; TASKS + 1]; NODES + 1];
            let mut nodes = 1;
            while nodes <= NODES {
                let mut tasks = 1;
                while tasks <= TASKS {
                    let mut n = 0;
                    while n < nodes {
                        let mut t = 0;
                        while t < tasks {
                            $(scopes[nodes][tasks] |= 1 << (FIRST[Group::$group as usize] + place!($form n t) as u32);)*
                            t += 1;
                        }
                        n += 1;
                    }
                    tasks += 1;
                }
                nodes += 1;
            }
            scopes
        };

        #[allow(clippy::ignored_unit_patterns)] // a goroutine without a program counter is always at `()`
        fn ask(world: &mut World, setup: &Setup<'_>, places: Places, out: &mut Enabled) {
            $(
                const { assert!(places!($form) <= 32) };
                let first = const { FIRST[Group::$group as usize] };
                let mut asked = (places >> first) as u32 & const { ((1_u64 << places!($form)) - 1) as u32 };
                while asked != 0 {
                    let place = asked.trailing_zeros();
                    asked &= asked - 1;
                    at_place!($form world $group place n t {
                        let guard: fn(&World, NodeId, TaskId) -> bool = $guard;
                        if guard(world, n, t) {
                            let counter = at($counter, world, n, t);
                            let mut step = Step::new(world, setup, false);
                            $(if matches!(counter, $at) {
                                step.begins();
                                call!($form &mut step, $group::$rule, n, t);
                                if step.allowed && !matches!(Class::$class, Class::Clock) {
                                    let note = Note::new(first + place, step.owed, Class::$class);
                                    let action =
                                        Action { group: Group::$group as u8, node: n.0, task: t.0, rule: Rule::$variant };
                                    out.push(action, note);
                                }
                            })*
                            if step.blocked {
                                out.blocked |= 1 << (first + place);
                            }
                        }
                    });
                }
            )*
        }

        fn tell(world: &mut World, setup: &Setup<'_>, action: Action) -> bool {
            let (n, t) = (NodeId(action.node), TaskId(action.task));
            match action.rule {
                $($(Rule::$variant => {
                    let guard: fn(&World, NodeId, TaskId) -> bool = $guard;
                    if !(is_place!($form world $group n t) && guard(world, n, t)) {
                        return false;
                    }
                    let mut step = Step::new(world, setup, true);
                    call!($form &mut step, $group::$rule, n, t).is_some()
                })*)*
            }
        }
    };
}

impl World {
    #[inline]
    fn has_node(&self, n: NodeId) -> bool {
        self.node_ids().any(|it| it == n)
    }

    #[inline]
    fn has_task(&self, t: TaskId) -> bool {
        self.task_ids().any(|it| it == t)
    }

    /// What may happen next. The world is not changed; it is taken as mutable because asking and firing are one function.
    #[inline]
    pub fn enabled(&mut self, setup: &Setup<'_>, out: &mut Enabled) {
        out.len = 0;
        out.marks = 0;
        out.blocked = 0;
        out.scope = SCOPES[self.node_ids().count()][self.task_ids().count()];
        self.ask_at(setup, out.scope, out);
    }

    /// The same, where `out` is what could happen before `touched` was touched: only those who read that are asked. All
    /// are, where `out` was made by nobody yet.
    #[inline]
    pub fn enabled_since(&mut self, setup: &Setup<'_>, touched: Touched, out: &mut Enabled) {
        if out.scope == 0 {
            return self.enabled(setup, out);
        }
        self.ask_at(setup, readers(&READERS, touched) & out.scope, out);
        debug_assert!(out.is_as_if_asked_anew(self, setup), "somebody reads more than the table of rules says");
    }

    fn ask_at(&mut self, setup: &Setup<'_>, places: Places, out: &mut Enabled) {
        out.forget(places);
        let kept = out.len;
        ask(self, setup, places, out);
        out.sort_in(kept);
        let held_back = out.is_urgent() || (out.blocked != 0 && !out.is_at_rest());
        if !held_back && (out.marks & Note::AWAITED != 0 || self.next_boundary(setup).is_some()) {
            let note = Note::new(FIRST[Group::clock as usize], Owed::InTime, Class::Clock);
            out.push(Action::clock(), note);
            if self.fine_instant(setup).is_some() {
                out.push(Action { rule: Rule::ClockStopsShort, ..Action::clock() }, note);
            }
        }
    }

    /// Takes `action`. Returns whether it was enabled; if not, nothing has changed.
    ///
    /// The clock is not held back here: a replay may name only what a schedule could choose, and checks that itself.
    #[inline]
    pub fn fire(&mut self, setup: &Setup<'_>, action: Action) -> bool {
        let fired = tell(self, setup, action);
        if fired {
            self.settle(setup);
        }
        fired
    }

    /// The same, where `was` is this world before the step, and a step led there: only what reads what is touched is
    /// settled. Returns what is touched; nothing, where the action is not enabled.
    #[inline]
    pub fn fire_since(&mut self, was: &World, setup: &Setup<'_>, action: Action) -> Option<Touched> {
        debug_assert!(self == was);
        let touched = self.fire_touching(was, setup, action)?;
        debug_assert!(
            {
                let mut again = *self;
                again.settle(setup);
                again == *self && touched | Touched::between(was, self) == touched
            },
            "what follows from {action} reads or touches more than the clock says"
        );
        Some(touched)
    }

    /// The same, which debug builds do not look over: for a search of so many worlds that this would take most of its
    /// time, and whose worlds are compared with those of other searches instead.
    #[inline]
    pub(crate) fn fire_touching(&mut self, was: &World, setup: &Setup<'_>, action: Action) -> Option<Touched> {
        tell(self, setup, action).then(|| self.settle_since(setup, Touched::between(was, self)))
    }
}

/// The places at which any of what was touched is read.
#[inline]
fn readers(table: &[Places; AREAS], touched: Touched) -> Places {
    let mut left = touched.0 & EVERY;
    let mut places = 0;
    while left != 0 {
        places |= table[left.trailing_zeros() as usize];
        left &= left - 1;
    }
    places
}

impl Enabled {
    fn is_as_if_asked_anew(&self, world: &mut World, setup: &Setup<'_>) -> bool {
        let mut anew = Enabled::default();
        world.enabled(setup, &mut anew);
        **self == *anew
            && self.notes[..self.len] == anew.notes[..anew.len]
            && (self.marks, self.blocked) == (anew.marks, anew.blocked)
    }
}

impl Action {
    /// Time goes by, to the next boundary.
    pub fn clock() -> Action {
        Action {
            group: Rule::ClockPasses.group(),
            node: Action::NOWHERE,
            task: Action::NOWHERE,
            rule: Rule::ClockPasses,
        }
    }

    /// A rule at a place, where the rule has such places.
    pub fn new(rule: Rule, n: Option<NodeId>, t: Option<TaskId>) -> Option<Action> {
        let (node, task) = match rule.form() {
            "()" => (false, false),
            "(n)" => (true, false),
            "(t)" => (false, true),
            _ => (true, true),
        };
        (node == n.is_some() && task == t.is_some()).then(|| Action {
            group: rule.group(),
            node: n.map_or(Action::NOWHERE, |it| it.0),
            task: t.map_or(Action::NOWHERE, |it| it.0),
            rule,
        })
    }
}

rules! {
    "api-server": Step, api_server (t) if |w, _, t| w.tasks[t].pod.removing, at |_, _, _| (),
        reads |_, t| pod(t) | CR_LOG => {
        ApiServerRemoves = removes when _,
    }

    "node-agent": Step, callback (home, t) if |w, n, t| w.tasks[t].watcher.routine.is_busy() && !w.shared.stalls.agent(n), at |w, _, t| w.tasks[t].watcher.routine.plan.first(),
        reads |n, t| watcher(t) | STALLS | known(n, t) | crs(n) | CR_LOG | pod(t) | PODS => {
        CallbackCleansUp = cleans_up when Op::CleanUp,
        CallbackDeletesPod = deletes_pod when Op::DeletePod,
        CallbackDeletesVolume = deletes_volume when Op::DeleteVolume,
        CallbackGets = gets when _,
        CallbackIsCutShort = is_cut_short when _,
        CallbackMarksCanceled = marks_canceled when Op::MarkCanceled,
        CallbackMarksCompleted = marks_completed when Op::MarkCompleted,
        CallbackMarksFailed = marks_failed when Op::MarkFailed,
        CallbackReadsCr = reads_cr when Op::ReadCr,
        CallbackRebindDeletesPod = rebind_deletes_pod when Op::RebindDeletePod,
        CallbackRebindDeletesVolume = rebind_deletes_volume when Op::RebindDeleteVolume,
        CallbackRebinds = rebinds when Op::Rebind,
        CallbackReleasesSlot = releases_slot when Op::ReleaseSlot,
        CallbackReportsProgress = reports_progress when Op::ReportProgress,
    }

    "node-agent": Step, cr_watch (n) if |w, n, _| !w.shared.stalls.cr_watch(n) && !w.shared.stalls.agent(n), at |_, _, _| (),
        reads |n, _| STALLS | crs(n) | CR_LOG => {
        CrWatchEnqueues = enqueues when _,
        CrWatchReceives = receives when _,
        CrWatchRelists = relists when _,
    }

    "mover": Step, data_mover (t) if |w, _, t| w.tasks[t].mover.is_running() && !w.shared.stalls.mover(t), at |w, _, t| w.tasks[t].mover.main,
        reads |_, t| mover(t) | STALLS | cr(t) | CR_LOG => {
        DataMoverBeginsOpening = begins_opening when Main::Created,
        DataMoverBeginsPolling = begins_polling when Main::Booting,
        DataMoverClosesDataPath = closes_data_path when Main::Closing,
        DataMoverCreatesDataPath = creates_data_path when Main::Found,
        DataMoverDrainsEvents = drains_events when Main::Draining,
        DataMoverExits = exits when Main::Exiting,
        DataMoverHears = hears when _,
        DataMoverLists = lists when _,
        DataMoverPolls = polls when Main::Polling,
        DataMoverReceivesResult = receives_result when Main::Selecting,
        DataMoverRecordsEarlyStop = records_early_stop when _,
        DataMoverRecordsStarted = records_started when Main::Started,
        DataMoverRecordsStopped = records_stopped when Main::Selected,
        DataMoverRelists = relists when _,
        DataMoverStartsTransfer = starts_transfer when Main::Opening,
        DataMoverStopsOnSignal = stops_on_signal when Main::Polling | Main::Opening | Main::Selecting,
        DataMoverTransferEndsCanceled = transfer_ends_canceled when _,
        DataMoverTransferEndsCompleted = transfer_ends_completed when _,
        DataMoverTransferEndsFailed = transfer_ends_failed when _,
        DataMoverTransferReportsProgress = transfer_reports_progress when _,
        DataMoverWritesEvent = writes_event when _,
    }

    "node-agent": Step, event_watch (home, t) if |w, n, _| !w.shared.stalls.agent(n), at |_, _, _| (),
        reads |_, t| STALLS | watcher(t) | mover(t) => {
        EventWatchReceives = receives when _,
    }

    "garbage-collector": Step, garbage_collector (t) if |w, _, t| w.has_garbage(t), at |_, _, _| (),
        reads |_, t| cr(t) | pod(t) | garbage(t) | PODS => {
        GarbageCollectorCollects = collects when _,
    }

    "scheduler": Step, kube_scheduler (n, t) if |_, _, _| true, at |_, _, _| (),
        reads |n, t| pod(t) | pods(n) => {
        KubeSchedulerBinds = binds when _,
    }

    "kubelet": Step, kubelet (t) if |w, _, t| !w.shared.stalls.kubelet(t), at |_, _, _| (),
        reads |_, t| STALLS | pod(t) | kubelet(t) | mover(t) | PODS => {
        KubeletKills = kills when _,
        KubeletRemovesPod = removes_pod when _,
        KubeletReportsExit = reports_exit when _,
        KubeletReportsRunning = reports_running when _,
        KubeletStartsContainer = starts_container when _,
        KubeletTerminates = terminates when _,
    }

    "fault": Fault, node_fault (n) if |w, _, _| w.shared.budget.price_left() > 0, at |_, _, _| (),
        reads |n, _| BUDGET | STALLS | crs(n) | pods(n) | worker(n) => {
        NodeFaultBreaksCrWatch = breaks_cr_watch when _,
        NodeFaultBreaksPodWatch = breaks_pod_watch when _,
        NodeFaultFailsExpose = fails_expose when _,
        NodeFaultStallsAgent = stalls_agent when _,
        NodeFaultStallsCrWatch = stalls_cr_watch when _,
        NodeFaultStallsPodWatch = stalls_pod_watch when _,
    }

    "fault": Recovery, node_recovery (n) if |w, _, _| w.shared.stalls.any(), at |_, _, _| (),
        reads |_, _| STALLS => {
        NodeRecoveryHealsAgent = heals_agent when _,
        NodeRecoveryHealsCrWatch = heals_cr_watch when _,
        NodeRecoveryHealsPodWatch = heals_pod_watch when _,
    }

    "node-agent": Step, periodic_enqueue (n) if |w, n, _| !w.shared.stalls.agent(n), at |_, _, _| (),
        reads |n, _| STALLS | periodic(n) | POLL | known_at(n) | crs(n) => {
        PeriodicEnqueueEnqueues = enqueues when _,
    }

    "node-agent": Step, pod_events (n, subject) if |w, n, _| !w.shared.stalls.agent(n), at |w, n, _| w.nodes[n].mapping.plan.first(),
        reads |n, _| STALLS | mapping(n) | pods(n) | known_at(n) | crs(n) | CR_LOG => {
        PodEventsGets = gets when _,
        PodEventsHears = hears when Op::End,
        PodEventsMarksPrepared = marks_prepared when Op::MarkPrepared,
        PodEventsSetsCancel = sets_cancel when Op::SetCancel,
    }

    "fault": Fault, pod_fault (t) if |w, _, _| w.shared.budget.price_left() > 0, at |_, _, _| (),
        reads |_, t| BUDGET | STALLS | mover(t) | pod(t) | kubelet(t) | PODS => {
        PodFaultBreaksMoverWatch = breaks_mover_watch when _,
        PodFaultEvicts = evicts when _,
        PodFaultFailsRepository = fails_repository when _,
        PodFaultFailsTransfer = fails_transfer when _,
        PodFaultHangsTransfer = hangs_transfer when _,
        PodFaultKillsMover = kills_mover when _,
        PodFaultMakesUnkillable = makes_unkillable when _,
        PodFaultNeverStarts = never_starts when _,
        PodFaultSlowsUploader = slows_uploader when _,
        PodFaultSpoilsImage = spoils_image when _,
        PodFaultStallsKubelet = stalls_kubelet when _,
        PodFaultStallsMover = stalls_mover when _,
    }

    "fault": Recovery, pod_recovery (t) if |w, _, _| w.shared.stalls.any(), at |_, _, _| (),
        reads |_, _| STALLS => {
        PodRecoveryHealsKubelet = heals_kubelet when _,
        PodRecoveryHealsMover = heals_mover when _,
    }

    "node-agent": Step, pod_watch (n) if |w, n, _| !w.shared.stalls.pod_watch(n) && !w.shared.stalls.agent(n), at |_, _, _| (),
        reads |n, _| STALLS | pods(n) => {
        PodWatchReceives = receives when _,
        PodWatchRelists = relists when _,
    }

    "user": Operator, user (t) if |w, _, t| w.tasks[t].cr.exists || w.tasks[t].pod.phase.exists(), at |_, _, _| (),
        reads |_, t| BUDGET | cr(t) | pod(t) | CR_LOG | PODS => {
        UserCancels = cancels when _,
        UserDeletes = deletes when _,
        UserDeletesFinished = deletes_finished when _,
        UserDeletesPod = deletes_pod when _,
        UserStripsFinalizer = strips_finalizer when _,
    }

    "velero-server": Step, velero_server (t) if |_, _, _| true, at |_, _, _| (),
        reads |_, t| BUDGET | cr(t) | operation(t) | CR_LOG => {
        VeleroServerCancelsOperation = cancels_operation when _,
        VeleroServerCreates = creates when _,
    }

    "node-agent": Step, watcher (home, t) if |w, n, _| !w.shared.stalls.agent(n), at |_, _, _| (),
        reads |n, t| STALLS | watcher(t) | mover(t) | pods(n) => {
        WatcherGivesUpWaiting = gives_up_waiting when _,
        WatcherHearsEvent = hears_event when _,
        WatcherHearsPod = hears_pod when _,
        WatcherIsClosed = is_closed when _,
        WatcherIsSentPod = is_sent_pod when _,
    }

    "node-agent": Step, work_queue (n, t) if |w, n, t| w.tasks[t].at[n].key.is_delayed() && !w.shared.stalls.agent(n), at |_, _, _| (),
        reads |n, t| STALLS | known(n, t) | reconcile(n, t) => {
        WorkQueueFallsDue = falls_due when _,
    }

    "node-agent": Step, worker (n, subject) if |w, n, _| !w.shared.stalls.agent(n), at |w, n, _| w.nodes[n].worker.plan.first(),
        reads |n, _| STALLS | worker(n) | known_at(n) | crs(n) | CR_LOG | POD | PODS | WATCHER => {
        WorkerAccepts = accepts when Op::Accept,
        WorkerAddsFinalizer = adds_finalizer when Op::AddFinalizer,
        WorkerAwaitsVolume = awaits_volume when Op::AwaitVolume,
        WorkerCleansUp = cleans_up when Op::CleanUp,
        WorkerClosesDataPath = closes_data_path when Op::CloseDataPath,
        WorkerCreatesPod = creates_pod when Op::CreatePod,
        WorkerDeletesPod = deletes_pod when Op::DeletePod,
        WorkerDeletesVolume = deletes_volume when Op::DeleteVolume,
        WorkerDropsFinalizer = drops_finalizer when Op::DropFinalizer,
        WorkerExposes = exposes when Op::Expose,
        WorkerFindsPod = finds_pod when Op::FindPod,
        WorkerFindsTarget = finds_target when Op::FindTarget,
        WorkerForcesCancel = forces_cancel when Op::ForceCancel,
        WorkerGets = gets when _,
        WorkerMarksCanceled = marks_canceled when Op::MarkCanceled,
        WorkerMarksCanceling = marks_canceling when Op::MarkCanceling,
        WorkerMarksFailed = marks_failed when Op::MarkFailed,
        WorkerMarksInProgress = marks_in_progress when Op::MarkInProgress,
        WorkerPeeks = peeks when Op::Peek,
        WorkerReads = reads when Op::End,
        WorkerReadsCr = reads_cr when Op::ReadCr,
        WorkerReadsPod = reads_pod when Op::ReadPod,
        WorkerRegistersHandlers = registers_handlers when Op::RegisterHandlers,
        WorkerReleasesSlot = releases_slot when Op::ReleaseSlot,
        WorkerSendsPod = sends_pod when Op::SendPod,
        WorkerSetsCancel = sets_cancel when Op::SetCancel,
        WorkerStartsWatcher = starts_watcher when Op::StartWatcher,
        WorkerTakesSlot = takes_slot when Op::TakeSlot,
        WorkerTimesOutPrepare = times_out_prepare when Op::TimeOutPrepare,
    }

    "clock": Clock, clock () if |_, _, _| true, at |_, _, _| (),
        reads |_, _| 0 => {
        ClockPasses = passes when _,
        ClockStopsShort = stops_short when _,
    }
}

#[cfg(test)]
mod tests {
    use super::super::touched::{CRS, KNOWN, MOVER, PERIODIC, WORKER};
    use super::*;
    use crate::designs::{BUILT_IN, Upstream};
    use crate::run::observe;
    use crate::scenario::Scenario;
    use crate::scheduler::{Placed, Scheduler, Uniform};

    /// Whether asking only those who read what was touched, by this table, is like asking all, over a whole run.
    fn is_enough(
        table: &[Places; AREAS],
        scenario: &Scenario,
        design: &dyn Design,
        scheduler: &mut dyn Scheduler,
    ) -> bool {
        let setup = scenario.setup(design);
        let mut enabled = Enabled::default();
        let mut is_enough = true;
        observe(scenario, design, scheduler, &mut |it| {
            let mut world = *it.is;
            if it.step == 0 || !is_enough {
                world.enabled(&setup, &mut enabled);
                return;
            }
            let touched = Touched::between(it.was, it.is);
            world.ask_at(&setup, readers(table, touched) & enabled.scope, &mut enabled);
            is_enough = enabled.is_as_if_asked_anew(&mut world, &setup);
        });
        is_enough
    }

    /// Every scenario with every design: who is not asked again would have answered the same.
    #[test]
    fn it_is_enough_to_ask_who_reads_what_was_touched() {
        for scenario in Scenario::built_in() {
            for (index, &design) in BUILT_IN.iter().enumerate() {
                for run in 0..12 {
                    let mut placed = Placed::new(index as u64, run);
                    assert!(is_enough(&READERS, &scenario, design, &mut placed), "{} {run}", scenario.name);
                    let mut uniform = Uniform::new(index as u64, run);
                    assert!(is_enough(&READERS, &scenario, design, &mut uniform), "{} {run}", scenario.name);
                }
            }
        }
    }

    /// A goroutine that reads more than the table says is found out: each whose reads are left out, and some of which
    /// only one is.
    #[test]
    fn a_read_that_the_table_leaves_out_is_found_out() {
        let one_left_out = [
            (Group::callback, WATCHER),
            (Group::cr_watch, CRS),
            (Group::data_mover, MOVER),
            (Group::event_watch, MOVER),
            (Group::periodic_enqueue, PERIODIC),
            (Group::user, BUDGET),
            (Group::work_queue, KNOWN),
            (Group::worker, WORKER),
            (Group::worker, KNOWN),
        ];
        let all_left_out = (0..GROUPS - 1).map(|group| (group, EVERY));
        for (group, areas) in one_left_out.map(|(group, areas)| (group as usize, areas)).into_iter().chain(all_left_out)
        {
            let mine = (FIRST[group]..FIRST[group + 1]).fold(0, |all: Places, it| all | 1 << it);
            let mut table = READERS;
            for (_, readers) in table.iter_mut().enumerate().filter(|(area, _)| areas >> area & 1 != 0) {
                *readers &= !mine;
            }
            assert_ne!(table, READERS);
            let scenario = Scenario::named("anything").unwrap();
            let is_found = (0..1_000).any(|run| {
                !is_enough(&table, &scenario, &Upstream, &mut Uniform::new(1, run))
                    || !is_enough(&table, &scenario, &Upstream, &mut Placed::new(1, run))
            });
            assert!(is_found, "goroutine {group}, areas {areas:b}");
        }
    }
}
