//! What must hold.
//!
//! An invariant is a sentence that someone could disagree with, and a question about a world. Some must hold always,
//! some at each step, some within a time, some only at rest, when nobody owes anything any more.
//!
//! Both directions of the slot question matter: a fix that frees a slot earlier may free it while the process still
//! moves data.

use crate::model::api_server::Phase;
use crate::model::data_mover::{End, Process};
use crate::model::node_agent::routine::Op;
use crate::model::node_agent::watcher::Stage;
use crate::model::place::TaskId;
use crate::model::rules::{Action, Class, Rule, Setup};
use crate::model::world::{Task, World};

/// When an invariant must hold.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Over every step: what was, what was done, what is.
    Step(fn(&World, Action, &World, TaskId) -> bool),
    /// It may fail to hold for so many seconds at a stretch; time in which a passing fault is in force does not count.
    Within(u16, fn(&World, &Setup<'_>, TaskId) -> bool),
    /// Where nobody owes a step and no passing fault is in force.
    AtRest(fn(&World, &Setup<'_>, TaskId) -> bool),
}

/// Something that must hold, for each task.
#[derive(Clone, Copy, Debug)]
pub struct Invariant {
    /// Its name in tables and files.
    pub id: &'static str,
    /// What it says.
    pub sentence: &'static str,
    /// Who says so.
    pub source: &'static str,
    /// When, and what makes it fail: each question answers whether it is broken.
    pub broken: Kind,
}

/// A final phase or gone.
fn over(w: &World, t: TaskId) -> bool {
    !w.tasks[t].cr.is_live()
}

/// Cancelled, and neither final nor gone.
fn cancel_pending(w: &World, t: TaskId) -> bool {
    w.tasks[t].cr.is_live() && w.tasks[t].cr.cancel
}

/// A slot is held for an upload that is over and whose process has ended.
fn leaks_slot(w: &World, t: TaskId) -> bool {
    over(w, t) && !w.tasks[t].mover.is_running() && w.tasks[t].watcher.holds_slot()
}

/// Its watcher hands the restored volume over, which may take long.
fn is_rebinding(w: &World, t: TaskId) -> bool {
    matches!(w.tasks[t].watcher.routine.plan.first(), Op::RebindDeletePod | Op::RebindDeleteVolume | Op::Rebind)
}

/// It moves data, and no slot is held for it.
fn transfers_without_slot(w: &World, t: TaskId) -> bool {
    w.tasks[t].mover.is_transferring() && !w.tasks[t].watcher.holds_slot()
}

/// A goroutine of the mover, a handler of the watcher or the worker is blocked on a send.
fn is_blocked(w: &World, t: TaskId) -> bool {
    let task = &w.tasks[t];
    let worker_is = |n| {
        let worker = &w.nodes[n].worker;
        worker.task == t && worker.plan.first() == Op::SendPod && !task.watcher.has_room_for_pod()
    };
    task.mover.is_sending() || task.watcher.is_blocked() || w.node_ids().any(worker_is)
}

/// The invariants, in the order of tables.
pub const INVARIANTS: &[Invariant] = &[
    Invariant {
        id: "slot-leak",
        sentence: "no slot is held for ever for an upload that is over and whose process has ended",
        source: "velero#10207: slots outlive their uploads by days",
        broken: Kind::AtRest(|w, _, t| leaks_slot(w, t)),
    },
    Invariant {
        id: "slot-late",
        sentence: "a slot is freed within 200 s after the upload is over and its process has ended",
        source: "the watcher waits 60 s for events and cleans up for 120 s at the most",
        broken: Kind::Within(200, |w, _, t| leaks_slot(w, t) && !is_rebinding(w, t)),
    },
    Invariant {
        id: "slot-early",
        sentence: "a process that moves data has a slot, but for ten seconds",
        source: "the review's objection: closing the data path abandons a running pod",
        broken: Kind::Within(10, |w, _, t| transfers_without_slot(w, t)),
    },
    Invariant {
        id: "over-limit",
        sentence: "no more processes of a node move data than it has slots, but for ten seconds",
        source: "loadConcurrency",
        broken: Kind::Within(10, |w, setup, t| {
            let Some(n) = w.tasks[t].pod.host.node() else { return false };
            let here = |it: &TaskId| w.tasks[*it].pod.host.is(n) && w.tasks[*it].mover.is_transferring();
            w.task_ids().filter(here).count() > setup.limit(n) as usize
        }),
    },
    Invariant {
        id: "cancel-late",
        sentence: "a cancelled upload is final within ten minutes",
        source: "beyond that only the forced cancel, 5 min, has saved it",
        broken: Kind::Within(600, |w, _, t| cancel_pending(w, t)),
    },
    Invariant {
        id: "cancel-unheard",
        sentence: "a mover that runs when its upload is canceled by force has heard of the cancel",
        source: "the maintainer: the mover detects the cancel and closes itself",
        broken: Kind::Step(|was, action, is, t| {
            action.rule() == Rule::WorkerForcesCancel
                && was.tasks[t].cr.is_live()
                && matches!(was.tasks[t].cr.phase, Phase::InProgress | Phase::Canceling)
                && over(is, t)
                && was.tasks[t].mover.is_running()
                && !was.tasks[t].mover.heard_cancel
                && !was.tasks[t].mover.terminated
        }),
    },
    Invariant {
        id: "stuck",
        sentence: "every upload becomes final",
        source: "velero#9453: uploads wait for days",
        broken: Kind::AtRest(|w, _, t| w.tasks[t].cr.is_live()),
    },
    Invariant {
        id: "starved",
        sentence: "a prepared upload does not wait five minutes for slots that are held for uploads that are over",
        source: "velero#9334: the limit is reached while the node is idle",
        broken: Kind::Within(300, |w, setup, t| {
            let cr = w.tasks[t].cr;
            cr.exists
                && cr.phase == Phase::Prepared
                && !cr.cancel
                && cr.node.node().is_some_and(|n| {
                    let leaked = |it: &TaskId| leaks_slot(w, *it) && w.tasks[*it].watcher.holds_slot_of(n);
                    w.task_ids().filter(leaked).count() >= setup.limit(n) as usize
                })
        }),
    },
    Invariant {
        id: "slow-start",
        sentence: "a prepared upload starts within a minute while its owner has a free slot",
        source: "velero#9453: uploads wait although nothing runs; one worker serves all",
        broken: Kind::Within(60, |w, setup, t| {
            let cr = w.tasks[t].cr;
            cr.exists
                && cr.phase == Phase::Prepared
                && !cr.cancel
                && cr.node.node().is_some_and(|n| w.slots_taken(n) < setup.limit(n))
        }),
    },
    Invariant {
        id: "outcome-false",
        sentence: "an upload whose mover completed does not fail, nor is it canceled unless somebody asked for that",
        source: "velero#8391, velero#10296: the outcome that is reported is what happened",
        broken: Kind::Step(|was, _, is, t| {
            let (old, new) = (was.tasks[t].cr, is.tasks[t].cr);
            old.exists
                && new.exists
                && old.phase != new.phase
                && was.tasks[t].pod.end == End::Completed
                && (new.phase == Phase::Failed || (new.phase == Phase::Canceled && !new.cancel))
        }),
    },
    Invariant {
        id: "stranger-acts",
        sentence: "only the owner ends an upload whose mover moves data",
        source: "the review of velero PR 10264: any node may win the forced cancel",
        broken: Kind::Step(|was, action, is, t| {
            action.rule() == Rule::WorkerForcesCancel
                && action.task() == Some(t)
                && was.tasks[t].cr.is_live()
                && over(is, t)
                && was.tasks[t].mover.is_transferring()
                && action.node() != was.tasks[t].cr.node.node()
        }),
    },
    Invariant {
        id: "final-changes",
        sentence: "a final phase never changes",
        source: "the guards of every status update",
        broken: Kind::Step(|was, _, is, t| {
            let (was, is) = (was.tasks[t].cr, is.tasks[t].cr);
            was.exists && is.exists && was.phase.is_final() && was.phase != is.phase
        }),
    },
    Invariant {
        id: "phase-regresses",
        sentence: "a phase never goes back",
        source: "the phases of the data mover design",
        broken: Kind::Step(|was, _, is, t| {
            let (was, is) = (was.tasks[t].cr, is.tasks[t].cr);
            was.exists && is.exists && !is.phase.is_final() && is.phase < was.phase
        }),
    },
    Invariant {
        id: "crash",
        sentence: "a mover never crashes",
        source: "velero#9659: a cancel before the data path exists",
        broken: Kind::Step(|was, _, is, t| {
            was.tasks[t].mover.end != End::Crashed && is.tasks[t].mover.end == End::Crashed
        }),
    },
    Invariant {
        id: "send-blocked",
        sentence: "no goroutine is blocked on a send for more than two seconds",
        source: "the discussion: a sub-second leak, considered acceptable",
        broken: Kind::Within(2, |w, _, t| is_blocked(w, t)),
    },
    Invariant {
        id: "send-blocked-for-ever",
        sentence: "no goroutine is blocked on a send for ever",
        source: "velero#10207: a goroutine dump",
        broken: Kind::AtRest(|w, _, t| is_blocked(w, t)),
    },
    Invariant {
        id: "orphan-process",
        sentence: "no process outlives its upload for ever",
        source: "the review's objection: an abandoned pod",
        broken: Kind::AtRest(|w, _, t| {
            over(w, t) && w.tasks[t].mover.is_running() && !w.tasks[t].kubelet.unkillable && !w.tasks[t].mover.hung
        }),
    },
    Invariant {
        id: "orphan-watcher",
        sentence: "no watcher outlives its upload and its process for ever",
        source: "velero#10207: the goroutine waits for days",
        broken: Kind::AtRest(|w, _, t| {
            over(w, t) && w.tasks[t].mover.process != Process::Running && w.tasks[t].watcher.stage != Stage::None
        }),
    },
    Invariant {
        id: "orphan-pod",
        sentence: "no pod outlives its upload for ever",
        source: "velero#7761: pods that run on",
        broken: Kind::AtRest(|w, _, t| over(w, t) && w.tasks[t].pod.phase.exists()),
    },
    Invariant {
        id: "orphan-objects",
        sentence: "no volume or snapshot made for an upload outlives it for ever",
        source: "velero#7972: snapshots left after a cancel",
        broken: Kind::AtRest(|w, _, t| over(w, t) && (w.tasks[t].pod.volume || w.tasks[t].pod.snapshot)),
    },
    Invariant {
        id: "finalizer-stuck",
        sentence: "an upload that is over and deleted is gone",
        source: "velero#8409: a namespace stuck on finalizers",
        broken: Kind::AtRest(|w, _, t| w.tasks[t].cr.exists && w.tasks[t].cr.deleting && over(w, t)),
    },
    // The maintainer's four expectations in the discussion of velero PR 10264, each on its own.
    Invariant {
        id: "removal-cancels",
        sentence: "the removal of an upload does not cancel its mover",
        source: "the maintainer on velero PR 10264, first expectation",
        broken: Kind::Step(|was, _, is, t| !was.tasks[t].mover.heard_removal && is.tasks[t].mover.heard_removal),
    },
    Invariant {
        id: "removal-kills",
        sentence: "the removal of an upload does not take its pod from a mover that has heard no cancel",
        source: "the maintainer on velero PR 10264, second expectation: it completes whether or not its upload exists",
        broken: Kind::Step(|was, action, is, t| {
            let Task { cr, mover, .. } = &was.tasks[t];
            let goes = |it: &Task| !it.pod.phase.exists() || it.pod.deleting;
            let is_taken = !goes(&was.tasks[t]) && goes(&is.tasks[t]);
            let from_outside = matches!(action.class(), Class::Operator | Class::Fault);
            mover.is_transferring() && !mover.heard_cancel && !cr.exists && is_taken && !from_outside
        }),
    },
    Invariant {
        id: "watcher-outlives-pod",
        sentence: "once its pod has ended a watcher ends within 200 s",
        source: "the maintainer on velero PR 10264, third expectation",
        broken: Kind::Within(200, |w, _, t| {
            let task = &w.tasks[t];
            task.mover.process == Process::Ended && task.watcher.runs() && !is_rebinding(w, t)
        }),
    },
    Invariant {
        id: "mistake-costs-slot",
        sentence: "an upload that is deleted by mistake costs at most a mover that runs to its end",
        source: "the maintainer on velero PR 10264, fourth expectation",
        broken: Kind::AtRest(|w, _, t| {
            let task = &w.tasks[t];
            !task.cr.exists && !task.mover.is_running() && task.watcher.holds_slot()
        }),
    },
];

/// How many invariants there are.
pub const COUNT: usize = INVARIANTS.len();
