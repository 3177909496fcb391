//! What somebody misses at a step: the causes of a failure that leave no trace in any object.
//!
//! A write that comes too late, a decision by a stale copy, a cancel that the mover passes over, a poll that can no
//! longer succeed, a send that nobody receives, an event or an end of a pod of which nobody hears. The list is closed: what is
//! not on it is not seen here.

use crate::model::api_server::DataUpload;
use crate::model::data_mover::{Handler, Main, Mover, Process, Reason, Stage as EventStage, Transfer};
use crate::model::design::{Design, Poll};
use crate::model::node_agent::routine::{Attempt, Op, Routine, Seat};
use crate::model::node_agent::watcher::Stage;
use crate::model::place::{NodeId, TaskId};
use crate::model::rules::{Action, Rule};
use crate::model::world::{Task, World};

/// Something that somebody misses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed {
    /// The task that it is about.
    pub task: TaskId,
    /// What, as a sentence without its full stop.
    pub text: String,
}

/// What is missed at a step.
pub(super) fn missed(was: &World, is: &World, action: Action, design: &dyn Design) -> Vec<Missed> {
    let mut found = Vec::new();
    for n in is.node_ids() {
        for seat in [Seat::Worker(n), Seat::Mapping(n)] {
            found.extend(conflict(was, is, seat, action));
            found.extend(stale(was, is, seat));
        }
    }
    for t in is.task_ids() {
        let (old, new) = (&was.tasks[t], &is.tasks[t]);
        found.extend(new.watcher.home().and_then(|n| conflict(was, is, Seat::Callback(n, t), action)));
        let mut note = |text: String| found.push(Missed { task: t, text });
        if let Some(text) = cancel(&old.mover, &new.mover) {
            note(format!("mover {t} {text}"));
        }
        if polls_in_vain(new, design) && !polls_in_vain(old, design) && could_go(old, design) {
            note(format!("mover {t} has not seen InProgress, which is over: it polls in vain"));
        }
        for (who, blocks) in [("transfer", sends_in_vain as fn(&Mover) -> bool), ("handler", reports_in_vain)] {
            if blocks(&new.mover) && !blocks(&old.mover) {
                note(format!("the {who} of mover {t} blocks on its send: main receives no more"));
            }
        }
        for reason in events_unheard(old, new, action) {
            note(format!("nobody hears the event {reason:?}: {t} has no watcher"));
        }
        if new.watcher.in_hand && !old.watcher.in_hand {
            note(format!("the pod handler of the watcher of {t} blocks: podCh is full"));
        }
        if waits_in_vain(is, t) && !waits_in_vain(was, t) {
            note(format!("the pod is gone and its end was never seen: the watcher of {t} waits on"));
        }
    }
    found
}

/// A write of a copy that is no longer the newest.
fn conflict(was: &World, is: &World, seat: Seat, action: Action) -> Option<Missed> {
    let (old, new) = (was.routine(seat), is.routine(seat));
    let retried = new.attempt == Attempt::Conflicted && old.attempt != Attempt::Conflicted;
    let given_up = writes_once(action.rule())
        && seat == Seat::Worker(action.node()?)
        && !old.held.current
        && was.tasks[old.task].cr.exists;
    let text = if retried { "409 Conflict, and tries again" } else { "409 Conflict, and gives up" }.to_owned();
    (retried || given_up).then_some(Missed { task: old.task, text })
}

/// The updates that are never tried again.
fn writes_once(rule: Rule) -> bool {
    matches!(rule, Rule::WorkerAccepts | Rule::WorkerForcesCancel | Rule::WorkerTimesOutPrepare)
}

/// It decides what to do, and the copy by which it does says something else than the API server.
fn stale(was: &World, is: &World, seat: Seat) -> Option<Missed> {
    let (old, new) = (was.routine(seat), is.routine(seat));
    let decides = |it: &Routine| it.is_busy() && it.plan.first() != Op::Peek;
    if !decides(new) || decides(old) {
        return None;
    }
    let n = seat.node();
    let task = &is.tasks[new.task];
    let lacks = lacks(task.at[n].cr, task.cr)?;
    Some(Missed { task: new.task, text: format!("decides by a stale copy: {lacks}") })
}

/// What a copy does not know.
fn lacks(copy: DataUpload, newest: DataUpload) -> Option<String> {
    if !newest.exists {
        return copy.exists.then(|| format!("gone by now, not {:?}", copy.phase));
    }
    let mut all = Vec::new();
    if newest.phase != copy.phase {
        all.push(format!("{:?} by now, not {:?}", newest.phase, copy.phase));
    }
    if newest.cancel && !copy.cancel {
        all.push("without the cancel".to_owned());
    }
    if newest.deleting && !copy.deleting {
        all.push("without the deletion".to_owned());
    }
    (!all.is_empty()).then(|| all.join(" and "))
}

/// The mover is told of the cancel and does nothing: the edge is lost. A mover that crashes on it has not missed it.
fn cancel(old: &Mover, new: &Mover) -> Option<String> {
    let told = new.last.cancel && !old.last.cancel && new.is_running();
    (told && !new.heard_cancel).then(|| format!("sees the cancel at {:?} and does not act on it", new.last.phase))
}

fn is_polling(task: &Task) -> bool {
    task.mover.is_running() && matches!(task.mover.main, Main::Booting | Main::Polling)
}

/// A poll would find what it waits for.
fn could_go(task: &Task, design: &dyn Design) -> bool {
    is_polling(task) && design.mover_polls(task.cr.exists.then_some(&task.cr)) == Poll::Go
}

/// A poll would find that there is nothing to wait for, and keep polling.
fn polls_in_vain(task: &Task, design: &dyn Design) -> bool {
    is_polling(task) && design.mover_polls(task.cr.exists.then_some(&task.cr)) == Poll::Keep
}

/// Main has left the select in which it takes a result.
fn is_past_select(mover: &Mover) -> bool {
    mover.process == Process::Running && mover.main > Main::Selecting
}

fn sends_in_vain(mover: &Mover) -> bool {
    is_past_select(mover) && mover.transfer == Transfer::Sending
}

fn reports_in_vain(mover: &Mover) -> bool {
    is_past_select(mover) && mover.handler == Handler::Sending
}

fn events_unheard(old: &Task, new: &Task, action: Action) -> impl Iterator<Item = Reason> {
    let (old, new) = (old.mover.events, new.mover.events);
    let handled = move |it: &Reason| new.stage(*it) == EventStage::Handled && old.stage(*it) != EventStage::Handled;
    let heard = action.rule() == Rule::WatcherHearsEvent;
    Reason::ALL.into_iter().filter(move |it| !heard && handled(it))
}

/// The watcher waits for the end of a pod that is gone from the cache, and nothing about it is on its way.
fn waits_in_vain(world: &World, t: TaskId) -> bool {
    let Task { pod, watcher, at, .. } = &world.tasks[t];
    let knows_of_none = |n: NodeId| !at[n].pod.exists() && world.next_for_watcher(n, t).is_none();
    watcher.stage == Stage::Watching
        && !watcher.closing
        && !watcher.in_hand
        && watcher.pod_ch == 0
        && !pod.phase.exists()
        && watcher.home().is_some_and(knows_of_none)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::designs::Upstream;
    use crate::invariants::INVARIANTS;
    use crate::run::observe;
    use crate::scenario::Scenario;
    use crate::scheduler::{Deviating, Normal, PORTFOLIO, Policy as _, Scheduler};
    use crate::search::sweep;

    /// What is missed in a run, each with the action at which it is.
    fn all(scenario: &Scenario, scheduler: &mut dyn Scheduler) -> Vec<String> {
        let mut all = Vec::new();
        observe(scenario, &Upstream, scheduler, &mut |it| {
            let found = missed(it.was, it.is, it.action, &Upstream);
            all.extend(found.into_iter().map(|missed| format!("{}: {}", it.action, missed.text)));
        });
        all
    }

    /// What is missed in the cheapest way to break an invariant.
    fn breaking(scenario: &str, id: &str) -> Vec<String> {
        let scenario = Scenario::named(scenario).unwrap();
        let found = sweep(&scenario, &Upstream, 2, 1_000_000).broken;
        let found = found.into_iter().find(|it| INVARIANTS[it.invariant].id == id).expect(id);
        all(&scenario, &mut Deviating::new(&found.deviations))
    }

    fn says(all: &[String], text: &str) -> bool {
        all.iter().any(|it| it.contains(text))
    }

    /// In the normal run nodes race for an upload, and that is all.
    #[test]
    fn the_normal_run_misses_only_races_between_nodes() {
        let normal = all(&Scenario::named("normal").unwrap(), &mut Normal);
        assert!(normal.iter().all(|it| it.contains("409 Conflict") || it.contains("stale copy")), "{normal:#?}");
    }

    #[test]
    fn the_causes_of_a_slot_leak_are_told() {
        let leak = breaking("cancel", "slot-leak");
        assert!(says(&leak, "worker::reads(n0, a): decides by a stale copy: without the cancel"), "{leak:#?}");
        assert!(says(&leak, "data_mover::hears(a): mover a sees the cancel at Prepared"), "{leak:#?}");
        assert!(says(&leak, "mover a has not seen InProgress, which is over: it polls in vain"), "{leak:#?}");
        assert!(says(&leak, "pod_watch::receives(n0): the pod is gone and its end was never seen"), "{leak:#?}");
    }

    #[test]
    fn a_send_that_nobody_receives_is_told() {
        let blocked = breaking("cancel", "send-blocked");
        assert!(says(&blocked, "the transfer of mover a blocks on its send: main receives no more"), "{blocked:#?}");
    }

    /// An event of a mover whose watcher is gone is rare, so chance has to find it.
    #[test]
    fn an_event_that_nobody_hears_is_told() {
        let scenario = Scenario::named("anything").unwrap();
        let found =
            (0..5_000).any(|run| says(&all(&scenario, &mut *PORTFOLIO.start(1, run)), "nobody hears the event"));
        assert!(found);
    }
}
