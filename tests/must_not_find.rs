//! What was looked for in the specification and is no hazard. Each test looks at every step of many random runs and
//! fails at the first that says otherwise; it also fails if what it is about never came up, since then it has shown
//! nothing.
//!
//! A sample proves nothing about what it did not find. It guards against a model that has lost a guard.

#[path = "support/failing.rs"]
mod failing;

use std::fmt::Display;

use failing::Failing;
use vgdp_sim::designs::Upstream;
use vgdp_sim::model::api_server::{DataUpload, Phase};
use vgdp_sim::model::faults::Disturbance as D;
use vgdp_sim::model::node_agent::routine::Op;
use vgdp_sim::model::node_agent::watcher::{Stage, Watcher};
use vgdp_sim::model::place::{NodeId, TASKS, TaskId};
use vgdp_sim::model::rules::{Action, Class, Enabled, Rule, Setup};
use vgdp_sim::model::world::World;
use vgdp_sim::run::{Ended, Moment, observe};
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::{Fired, Normal, Placed, Policy, Scheduler, Uniform};

/// Runs for each scenario.
const RUNS: u64 = 20_000;

/// Something that is so at each step and at rest, as far as a run shows.
///
/// It is made anew for each run, so it may remember what it has seen of it.
trait Claim {
    /// Whether it is still so after this step.
    fn at_step(&mut self, it: &Moment<'_>) -> bool;

    /// Whether it is so at rest.
    fn at_rest(&self, _: &World) -> bool {
        true
    }
}

/// Runs a scenario `RUNS` times, asking `choose` for the scheduler of each run, and returns the claim of each run, for
/// its memories.
fn search<C: Claim>(scenario: &Scenario, choose: Choose, claim: impl Fn() -> C) -> Vec<C> {
    (0..RUNS)
        .map(|run| {
            let failing = Failing { scenario, design: &Upstream, policy: &choose, seed: 1, run };
            let mut claim = claim();
            let mut rest = None;
            let mut look = |it: &Moment<'_>| {
                let what = || failing.failed(&format!("the claim is false after step {}, {}", it.step, it.action));
                assert!(claim.at_step(it), "{}", what());
                rest = Some(*it.is);
            };
            let report = observe(scenario, &Upstream, choose.0(run).as_mut(), &mut look);
            assert_eq!(report.ended, Ended::AtRest, "{}", failing.failed("it comes to no rest"));
            let rest = rest.expect("a run has steps");
            assert!(claim.at_rest(&rest), "{}", failing.failed("the claim is false at rest"));
            claim
        })
        .collect()
}

/// Who chooses in each run, as a policy.
#[derive(Clone, Copy)]
struct Choose(fn(u64) -> Box<dyn Scheduler>);

impl Policy for Choose {
    fn name(&self) -> &'static str {
        "of this test"
    }

    fn start(&self, _: u64, run: u64) -> Box<dyn Scheduler> {
        self.0(run)
    }
}

/// Every other run places its strikes, the others choose uniformly.
fn by_chance(run: u64) -> Box<dyn Scheduler> {
    if run.is_multiple_of(2) { Box::new(Placed::new(1, run)) } else { Box::new(Uniform::new(1, run)) }
}

/// Chooses uniformly, operators included, while an owner starts an upload; the normal schedule does the rest.
///
/// Strikes that are spread over a run hardly ever fall two into so narrow a gap.
struct WhileItStarts {
    starts: bool,
    uniform: Uniform,
}

impl Scheduler for WhileItStarts {
    fn pick(&mut self, enabled: &Enabled, last: Fired) -> Option<usize> {
        match last.action.map(Action::rule) {
            Some(Rule::WorkerTakesSlot) => self.starts = true,
            Some(Rule::WorkerStartsWatcher | Rule::WorkerClosesDataPath) => self.starts = false,
            _ => {}
        }
        if self.starts { self.uniform.pick(enabled, last) } else { Normal.pick(enabled, last) }
    }
}

fn while_it_starts(run: u64) -> Box<dyn Scheduler> {
    Box::new(WhileItStarts { starts: false, uniform: Uniform::new(1, run) })
}

/// What a search is about has come up often enough to say anything.
fn assert_seen(what: impl Display, times: usize) {
    println!("{what}: {times} times");
    assert!(times >= 10, "{what}: {times} times in all runs, which shows nothing");
}

fn scenario(nodes: u8, tasks: u8, price: u8, allows: &'static [(D, u8)]) -> Scenario {
    Scenario { price, allows, ..Scenario::named("normal").expect("it is built in").scope(nodes, tasks) }
}

/// Accept, the forced cancel and the prepare time-out write the copy that they decided on. The resource version
/// protects what has been written since.
#[test]
fn an_exclusive_write_never_overwrites_what_its_writer_has_not_seen() {
    const RULES: [Rule; 3] = [Rule::WorkerAccepts, Rule::WorkerForcesCancel, Rule::WorkerTimesOutPrepare];

    #[derive(Default)]
    struct Exclusive {
        written: [usize; 3],
        refused: [usize; 3],
    }

    impl Claim for Exclusive {
        fn at_step(&mut self, it: &Moment<'_>) -> bool {
            let Some(which) = RULES.iter().position(|&rule| rule == it.action.rule()) else { return true };
            let (Some(n), Some(t)) = (it.action.node(), it.action.task()) else { return false };
            let held = it.was.nodes[n].worker.held.cr;
            let (was, is) = (it.was.tasks[t].cr, it.is.tasks[t].cr);
            if was == is {
                self.refused[which] += 1;
                true
            } else {
                self.written[which] += 1;
                held == was
            }
        }
    }

    let scenario = scenario(2, 1, 1, &[(D::Cancel, 1), (D::Delete, 1), (D::StripFinalizer, 1), (D::Stall, 1)]);
    let seen = search(&scenario, Choose(by_chance), Exclusive::default);
    for (which, rule) in RULES.iter().enumerate() {
        assert_seen(format!("{} wrote", rule.name()), seen.iter().map(|it| it.written[which]).sum());
        assert_seen(format!("{} was refused", rule.name()), seen.iter().map(|it| it.refused[which]).sum());
    }
}

/// Every status update is guarded: a final phase is never overwritten by a callback, a worker or a pod event that
/// comes late.
#[test]
fn a_final_phase_never_changes() {
    #[derive(Default)]
    struct Guarded {
        /// Late writers whose function declined.
        declined: usize,
        /// Late writers whose copy was older than the final phase.
        refused: usize,
    }

    impl Claim for Guarded {
        fn at_step(&mut self, it: &Moment<'_>) -> bool {
            if let (Some(n), Some(t)) = (it.action.node(), it.action.task())
                && it.was.tasks[t].cr.exists
                && it.was.tasks[t].cr.phase.is_final()
            {
                let writer = match it.action.rule() {
                    Rule::WorkerGets => Some(&it.was.nodes[n].worker),
                    Rule::PodEventsGets => Some(&it.was.nodes[n].mapping),
                    Rule::CallbackGets => Some(&it.was.tasks[t].watcher.routine),
                    _ => None,
                };
                let cached = it.was.tasks[t].at[n].cr;
                self.declined += usize::from(writer.is_some_and(|it| declines(cached, it.plan.first(), n)));
                self.refused += usize::from(writes_phase(it.action.rule()));
            }
            it.was.task_ids().all(|t| {
                let (was, is) = (it.was.tasks[t].cr, it.is.tasks[t].cr);
                !(was.exists && was.phase.is_final() && is.exists) || was.phase == is.phase
            })
        }
    }

    fn declines(cached: DataUpload, op: Op, n: NodeId) -> bool {
        cached.exists && op.is_modify() && op != Op::DropFinalizer && op.wanted(&Upstream, cached, n).is_none()
    }

    fn writes_phase(rule: Rule) -> bool {
        matches!(
            rule,
            Rule::WorkerAccepts
                | Rule::WorkerForcesCancel
                | Rule::WorkerTimesOutPrepare
                | Rule::WorkerMarksInProgress
                | Rule::WorkerMarksCanceling
                | Rule::WorkerMarksCanceled
                | Rule::WorkerMarksFailed
                | Rule::PodEventsMarksPrepared
                | Rule::CallbackMarksCompleted
                | Rule::CallbackMarksCanceled
                | Rule::CallbackMarksFailed
        )
    }

    let scenario =
        scenario(2, 1, 2, &[(D::Cancel, 1), (D::Delete, 1), (D::Evict, 1), (D::DeletePod, 1), (D::Stall, 1)]);
    let seen = search(&scenario, Choose(by_chance), Guarded::default);
    assert_seen("a late writer declined", seen.iter().map(|it| it.declined).sum());
    assert_seen("a late writer's copy was refused", seen.iter().map(|it| it.refused).sum());
}

/// An upload that vanishes while its owner marks it `InProgress` leaves no slot behind: the write fails and the
/// owner closes the data path.
#[test]
fn an_upload_that_vanishes_while_it_is_started_frees_its_slot() {
    #[derive(Default)]
    struct Freed {
        vanished: bool,
    }

    impl Claim for Freed {
        fn at_step(&mut self, it: &Moment<'_>) -> bool {
            let starting = |n: NodeId, t| {
                it.was.nodes[n].worker.plan.first() == Op::MarkInProgress && it.was.nodes[n].worker.task == t
            };
            let vanishes = |t: TaskId| it.was.tasks[t].cr.exists && !it.is.tasks[t].cr.exists;
            self.vanished |= it.was.task_ids().any(|t| vanishes(t) && it.was.node_ids().any(|n| starting(n, t)));
            true
        }

        fn at_rest(&self, rest: &World) -> bool {
            !self.vanished || rest.task_ids().all(|t| rest.tasks[t].watcher == Watcher::NONE)
        }
    }

    let seen =
        search(&scenario(2, 1, 2, &[(D::Delete, 1), (D::StripFinalizer, 1)]), Choose(while_it_starts), Freed::default);
    assert_seen("an upload vanished while it was marked InProgress", seen.iter().filter(|it| it.vanished).count());
}

/// A worker closes only data paths that were never started, so it never waits for a callback that waits for it.
#[test]
fn a_worker_closes_no_data_path_that_runs() {
    #[derive(Default)]
    struct Unstarted {
        closed: usize,
    }

    impl Claim for Unstarted {
        fn at_step(&mut self, it: &Moment<'_>) -> bool {
            let (Rule::WorkerClosesDataPath, Some(t)) = (it.action.rule(), it.action.task()) else { return true };
            self.closed += 1;
            !it.was.tasks[t].watcher.runs()
        }
    }

    let scenario = scenario(2, 1, 2, &[(D::Cancel, 1), (D::Delete, 1), (D::StripFinalizer, 1), (D::DeletePod, 1)]);
    let seen = search(&scenario, Choose(while_it_starts), Unstarted::default);
    assert_seen("a worker closed a data path", seen.iter().map(|it| it.closed).sum());
}

/// No upload waits for a slot that is free: its key comes back within five seconds, whatever else happened to it.
#[test]
fn no_requeue_is_lost() {
    struct Requeued {
        setup: Setup<'static>,
        /// Seconds for which each upload has waited although a slot was free and its owner had nothing else to do.
        waited: [u32; TASKS],
        time: u32,
        turned_away: [bool; TASKS],
        came_back: usize,
        waited_at_all: usize,
    }

    impl Requeued {
        /// It could have a slot at once if its owner only looked.
        fn waits(&self, w: &World, t: TaskId) -> bool {
            let task = &w.tasks[t];
            let Some(n) = task.cr.node.node() else { return false };
            let settled =
                DataUpload { exists: true, phase: Phase::Prepared, cancel: false, deleting: false, ..task.cr };
            task.cr == settled
                && task.at[n].cr == task.cr
                && task.at[n].pod == task.pod.phase
                && task.mover.is_running()
                && task.pod.phase.exists()
                && !task.watcher.holds_slot()
                && !w.nodes[n].worker.is_busy()
                && w.slots_taken(n) < self.setup.limit(n)
                && !w.is_passing()
        }
    }

    impl Claim for Requeued {
        fn at_step(&mut self, it: &Moment<'_>) -> bool {
            let passed = it.time - self.time;
            self.time = it.time;
            if let (Rule::WorkerTakesSlot, Some(t)) = (it.action.rule(), it.action.task()) {
                let gets_it = it.is.tasks[t].watcher.holds_slot();
                self.came_back += usize::from(gets_it && self.turned_away[t.0 as usize]);
                self.turned_away[t.0 as usize] = !gets_it;
            }
            it.is.task_ids().all(|t| {
                if !self.waits(it.is, t) || !self.waits(it.was, t) {
                    self.waited[t.0 as usize] = 0;
                } else if it.action.class() == Class::Clock {
                    self.waited[t.0 as usize] += passed;
                    self.waited_at_all += 1;
                }
                self.waited[t.0 as usize] <= 5
            })
        }
    }

    let scenario = scenario(1, 3, 1, &[(D::Cancel, 1), (D::Evict, 1), (D::DeletePod, 1), (D::BreakCrWatch, 1)]);
    let seen = search(&scenario, Choose(by_chance), || Requeued {
        setup: scenario.setup(&Upstream),
        waited: [0; TASKS],
        time: 0,
        turned_away: [false; TASKS],
        came_back: 0,
        waited_at_all: 0,
    });
    assert_seen("an upload was turned away and came back to its slot", seen.iter().map(|it| it.came_back).sum());
    assert_seen("an upload waited although a slot was free", seen.iter().map(|it| it.waited_at_all).sum());
}

/// A pod that has ended before its watcher is started is seen all the same, before any time goes by: by the last look
/// of the start or by the handler that then stands.
#[test]
fn a_pod_that_ended_before_its_watcher_was_started_is_seen() {
    #[derive(Default)]
    struct Seen {
        ended: bool,
    }

    impl Claim for Seen {
        fn at_step(&mut self, it: &Moment<'_>) -> bool {
            if let (Rule::WorkerStartsWatcher, Some(t)) = (it.action.rule(), it.action.task()) {
                self.ended |= it.was.tasks[t].pod.phase.is_terminal();
            }
            let waits = |t: TaskId| it.is.tasks[t].watcher.stage == Stage::Watching;
            !(self.ended && it.action.class() == Class::Clock && it.is.task_ids().any(waits))
        }
    }

    // Without a fault that breaks or stalls a watch, and with one upload, since a claim remembers but one.
    let scenario = scenario(2, 1, 2, &[(D::Evict, 1), (D::DeletePod, 1), (D::Cancel, 1)]);
    let seen = search(&scenario, Choose(by_chance), Seen::default);
    assert_seen("a pod ended before its watcher was started", seen.iter().filter(|it| it.ended).count());
}
