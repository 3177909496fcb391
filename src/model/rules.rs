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
use super::place::{Host, NodeId, TaskId};
use super::time::{Ticks, Times, Window};
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
    owed: [Owed; ENABLED],
    len: usize,
    /// Somebody owes an action within this instant.
    urgent: bool,
    /// Somebody owes an action.
    any_owed: bool,
    /// Somebody waits for room in a log.
    blocked: bool,
}

impl fmt::Debug for Enabled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Default for Enabled {
    fn default() -> Enabled {
        Enabled {
            actions: [Action { group: 0, node: 0, task: 0, rule: Rule::ALL[0] }; ENABLED],
            owed: [Owed::No; ENABLED],
            len: 0,
            urgent: false,
            any_owed: false,
            blocked: false,
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
        !self.any_owed
    }

    /// Somebody owes an action within this instant.
    pub fn is_urgent(&self) -> bool {
        self.urgent
    }

    /// Whether the action at `index` is owed.
    pub fn owed(&self, index: usize) -> Owed {
        self.owed[..self.len][index]
    }

    #[inline]
    fn push(&mut self, action: Action, owed: Owed) {
        self.actions[self.len] = action;
        self.owed[self.len] = owed;
        self.len += 1;
        self.urgent |= owed == Owed::Now;
        self.any_owed |= owed != Owed::No;
    }
}

/// Runs `$body` at each place of a goroutine, as its form says.
macro_rules! at_each_place {
    (() $world:ident $group:ident $n:ident $t:ident $body:block) => {{
        let ($n, $t) = (NodeId(Action::NOWHERE), TaskId(Action::NOWHERE));
        $body
    }};
    ((t) $world:ident $group:ident $n:ident $t:ident $body:block) => {
        for $t in $world.task_ids() {
            let $n = NodeId(Action::NOWHERE);
            $body
        }
    };
    ((n) $world:ident $group:ident $n:ident $t:ident $body:block) => {
        for $n in $world.node_ids() {
            let $t = TaskId(Action::NOWHERE);
            $body
        }
    };
    ((n, t) $world:ident $group:ident $n:ident $t:ident $body:block) => {
        for $n in $world.node_ids() {
            for $t in $world.task_ids() {
                $body
            }
        }
    };
    ((n, subject) $world:ident $group:ident $n:ident $t:ident $body:block) => {
        for $n in $world.node_ids() {
            if let Some($t) = $group::subject($world, $n) {
                $body
            }
        }
    };
    ((home, t) $world:ident $group:ident $n:ident $t:ident $body:block) => {
        for $n in $world.node_ids() {
            for $t in $world.task_ids() {
                if $world.tasks[$t].watcher.home() == Some($n) {
                    $body
                }
            }
        }
    };
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
        $actor:literal: $class:ident, $group:ident $form:tt if $guard:expr, at $counter:expr => {
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
                match self { $($(Rule::$variant => Class::$class,)*)* }
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

        #[allow(clippy::ignored_unit_patterns)] // a goroutine without a program counter is always at `()`
        fn ask_all(world: &mut World, setup: &Setup<'_>, out: &mut Enabled) {
            $(
                at_each_place!($form world $group n t {
                    let guard: fn(&World, NodeId, TaskId) -> bool = $guard;
                    if guard(world, n, t) {
                        let counter = at($counter, world, n, t);
                        $(if matches!(counter, $at) {
                            let mut step = Step::new(world, setup, false);
                            call!($form &mut step, $group::$rule, n, t);
                            out.blocked |= step.blocked;
                            if step.allowed && !matches!(Class::$class, Class::Clock) {
                                let owed = step.owed;
                                out.push(Action { group: Group::$group as u8, node: n.0, task: t.0, rule: Rule::$variant }, owed);
                            }
                        })*
                    }
                });
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
        out.urgent = false;
        out.any_owed = false;
        out.blocked = false;
        ask_all(self, setup, out);
        let awaited = out.iter().enumerate().any(|(i, it)| it.class() == Class::Step && out.owed[i] != Owed::No);
        let held_back = out.urgent || (out.blocked && out.any_owed);
        if !held_back && (awaited || self.next_boundary(setup).is_some()) {
            out.push(Action::clock(), Owed::InTime);
            if self.fine_instant(setup).is_some() {
                out.push(Action { rule: Rule::ClockStopsShort, ..Action::clock() }, Owed::InTime);
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
    "api-server": Step, api_server (t) if |w, _, t| w.tasks[t].pod.removing, at |_, _, _| () => {
        ApiServerRemoves = removes when _,
    }

    "node-agent": Step, callback (home, t) if |w, n, t| w.tasks[t].watcher.routine.is_busy() && !w.shared.stalls.agent(n), at |w, _, t| w.tasks[t].watcher.routine.plan.first() => {
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

    "node-agent": Step, cr_watch (n) if |w, n, _| !w.shared.stalls.cr_watch(n) && !w.shared.stalls.agent(n), at |_, _, _| () => {
        CrWatchEnqueues = enqueues when _,
        CrWatchReceives = receives when _,
        CrWatchRelists = relists when _,
    }

    "mover": Step, data_mover (t) if |w, _, t| w.tasks[t].mover.is_running() && !w.shared.stalls.mover(t), at |w, _, t| w.tasks[t].mover.main => {
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

    "node-agent": Step, event_watch (home, t) if |w, n, _| !w.shared.stalls.agent(n), at |_, _, _| () => {
        EventWatchReceives = receives when _,
    }

    "garbage-collector": Step, garbage_collector (t) if |w, _, t| w.has_garbage(t), at |_, _, _| () => {
        GarbageCollectorCollects = collects when _,
    }

    "scheduler": Step, kube_scheduler (n, t) if |_, _, _| true, at |_, _, _| () => {
        KubeSchedulerBinds = binds when _,
    }

    "kubelet": Step, kubelet (t) if |w, _, t| !w.shared.stalls.kubelet(t), at |_, _, _| () => {
        KubeletKills = kills when _,
        KubeletRemovesPod = removes_pod when _,
        KubeletReportsExit = reports_exit when _,
        KubeletReportsRunning = reports_running when _,
        KubeletStartsContainer = starts_container when _,
        KubeletTerminates = terminates when _,
    }

    "fault": Fault, node_fault (n) if |w, _, _| w.shared.budget.price_left() > 0, at |_, _, _| () => {
        NodeFaultBreaksCrWatch = breaks_cr_watch when _,
        NodeFaultBreaksPodWatch = breaks_pod_watch when _,
        NodeFaultFailsExpose = fails_expose when _,
        NodeFaultStallsAgent = stalls_agent when _,
        NodeFaultStallsCrWatch = stalls_cr_watch when _,
        NodeFaultStallsPodWatch = stalls_pod_watch when _,
    }

    "fault": Recovery, node_recovery (n) if |w, _, _| w.shared.stalls.any(), at |_, _, _| () => {
        NodeRecoveryHealsAgent = heals_agent when _,
        NodeRecoveryHealsCrWatch = heals_cr_watch when _,
        NodeRecoveryHealsPodWatch = heals_pod_watch when _,
    }

    "node-agent": Step, periodic_enqueue (n) if |w, n, _| !w.shared.stalls.agent(n), at |_, _, _| () => {
        PeriodicEnqueueEnqueues = enqueues when _,
    }

    "node-agent": Step, pod_events (n, subject) if |w, n, _| !w.shared.stalls.agent(n), at |w, n, _| w.nodes[n].mapping.plan.first() => {
        PodEventsGets = gets when _,
        PodEventsHears = hears when Op::End,
        PodEventsMarksPrepared = marks_prepared when Op::MarkPrepared,
        PodEventsSetsCancel = sets_cancel when Op::SetCancel,
    }

    "fault": Fault, pod_fault (t) if |w, _, _| w.shared.budget.price_left() > 0, at |_, _, _| () => {
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

    "fault": Recovery, pod_recovery (t) if |w, _, _| w.shared.stalls.any(), at |_, _, _| () => {
        PodRecoveryHealsKubelet = heals_kubelet when _,
        PodRecoveryHealsMover = heals_mover when _,
    }

    "node-agent": Step, pod_watch (n) if |w, n, _| !w.shared.stalls.pod_watch(n) && !w.shared.stalls.agent(n), at |_, _, _| () => {
        PodWatchReceives = receives when _,
        PodWatchRelists = relists when _,
    }

    "user": Operator, user (t) if |w, _, t| w.tasks[t].cr.exists || w.tasks[t].pod.phase.exists(), at |_, _, _| () => {
        UserCancels = cancels when _,
        UserDeletes = deletes when _,
        UserDeletesFinished = deletes_finished when _,
        UserDeletesPod = deletes_pod when _,
        UserStripsFinalizer = strips_finalizer when _,
    }

    "velero-server": Step, velero_server (t) if |_, _, _| true, at |_, _, _| () => {
        VeleroServerCancelsOperation = cancels_operation when _,
        VeleroServerCreates = creates when _,
    }

    "node-agent": Step, watcher (home, t) if |w, n, _| !w.shared.stalls.agent(n), at |_, _, _| () => {
        WatcherGivesUpWaiting = gives_up_waiting when _,
        WatcherHearsEvent = hears_event when _,
        WatcherHearsPod = hears_pod when _,
        WatcherIsClosed = is_closed when _,
        WatcherIsSentPod = is_sent_pod when _,
    }

    "node-agent": Step, work_queue (n, t) if |w, n, t| w.tasks[t].at[n].key.is_delayed() && !w.shared.stalls.agent(n), at |_, _, _| () => {
        WorkQueueFallsDue = falls_due when _,
    }

    "node-agent": Step, worker (n, subject) if |w, n, _| !w.shared.stalls.agent(n), at |w, n, _| w.nodes[n].worker.plan.first() => {
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

    "clock": Clock, clock () if |_, _, _| true, at |_, _, _| () => {
        ClockPasses = passes when _,
        ClockStopsShort = stops_short when _,
    }
}
