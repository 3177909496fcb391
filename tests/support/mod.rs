//! Transcripts: schedules as text that a maintainer can read, with what must be the case in between.
//!
//! A transcript has one entry a line; `#` begins a comment. The uploads have been created when it begins.
//!
//! | entry | meaning |
//! |---|---|
//! | `worker::reads(n0, a)` | this action is taken, whoever's turn it is |
//! | `... until worker::reads(n0, a)` | the normal schedule goes on until that action has been taken |
//! | `... 60 s until worker::reads(n0, a)` | the same, and so much time goes by |
//! | `... to rest` | the normal schedule goes on until nobody owes a step |
//! | `worker::reads(n0, a) waits` | from now on the normal schedule passes it over; deadlines still bind |
//! | `worker::reads(n0, a) goes on` | and no longer |
//! | `data_mover::transfer_ends_*(a) waits` | `*` stands for anything |
//! | `= a is Prepared, owner n0` | this is one of the [`facts`] |
//! | `= worker::reads(n0, a) may not happen` | that action is not enabled |

use std::collections::{BTreeMap, BTreeSet};

use vgdp_sim::designs::Upstream;
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::api_server::{DataUpload, Pod};
use vgdp_sim::model::data_mover::{End, Mover, Process};
use vgdp_sim::model::faults::Disturbance;
use vgdp_sim::model::place::{NodeId, TaskId};
use vgdp_sim::model::rules::{Action, Class, Enabled, Owed, Rule, Setup};
use vgdp_sim::model::world::World;
use vgdp_sim::run::{Ended, run};
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::Replay;

/// What a story costs and which invariants it breaks.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    price: u8,
    broken: BTreeSet<&'static str>,
}

/// Every invariant holds.
pub fn holds(price: u8) -> Outcome {
    breaks(price, &[])
}

/// These invariants are broken, and no others.
pub fn breaks(price: u8, ids: &[&'static str]) -> Outcome {
    Outcome { price, broken: ids.iter().copied().collect() }
}

/// So many nodes and uploads, one slot a node, and whatever operators and faults the transcript asks for.
pub fn scope(nodes: u8, tasks: u8) -> Scenario {
    use Disturbance as D;
    Scenario {
        price: 9,
        allows: &[
            (D::Cancel, 1),
            (D::Delete, 1),
            (D::StripFinalizer, 1),
            (D::DeletePod, 1),
            (D::Evict, 1),
            (D::KillMover, 1),
            (D::RepositoryFails, 1),
            (D::BreakPodWatch, 1),
            (D::SpoilImage, 1),
            (D::Unkillable, 1),
        ],
        ..Scenario::named("normal").expect("it is built in").scope(nodes, tasks)
    }
}

/// Plays a transcript, which must end at rest, and compares what came of it with `outcome`.
///
/// It is played twice: once to follow the text, and once more by the loop that everybody uses, which checks the
/// invariants and takes nothing that a schedule could not choose.
#[track_caller]
pub fn check(scenario: &Scenario, transcript: &str, outcome: &Outcome) {
    let mut play = Play::of(scenario);
    for (number, line) in (1..).zip(transcript.lines()) {
        let entry = line.split('#').next().unwrap_or_default().trim();
        if let Err(why) = play.reads(entry) {
            let last = &play.taken[play.taken.len().saturating_sub(12)..];
            panic!("line {number}, `{entry}`, at {} s: {why}\nbefore: {last:#?}", play.time);
        }
    }
    assert!(play.enabled.is_at_rest(), "the transcript does not end at rest: {:?}", play.enabled);

    let mut replay = Replay::strict(&play.taken);
    let report = run(scenario, &Upstream, &mut replay);
    assert_eq!((report.ended, replay.diverged()), (Ended::AtRest, None), "the loop takes another way");
    let price = scenario.price - play.world.shared.budget.price_left();
    let broken = report.violations().map(|(index, _)| INVARIANTS[index].id).collect();
    assert_eq!(Outcome { price, broken }, *outcome, "after {} s: {:#?}", play.time, facts(&play.world));
}

/// A transcript on its way.
struct Play {
    setup: Setup<'static>,
    world: World,
    enabled: Enabled,
    /// Every action that there is in this scope, by its name.
    named: BTreeMap<String, Action>,
    /// What has been taken, without the creations.
    taken: Vec<Action>,
    /// What the normal schedule passes over.
    waiting: BTreeSet<Action>,
    /// Seconds since the start.
    time: u32,
}

impl Play {
    /// More steps between two entries than any story needs.
    const STEPS: usize = 2_000;

    fn of(scenario: &Scenario) -> Play {
        let setup = scenario.setup(&Upstream);
        let mut world = scenario.empty_cluster().expect("the scope fits");
        for action in scenario.prefix() {
            assert!(world.fire(&setup, action), "{action} comes first");
        }
        let mut enabled = Enabled::default();
        world.enabled(&setup, &mut enabled);
        let named = actions(&world).map(|it| (it.to_string(), it)).collect();
        Play { setup, world, enabled, named, taken: Vec::new(), waiting: BTreeSet::new(), time: 0 }
    }

    fn reads(&mut self, entry: &str) -> Result<(), String> {
        if entry.is_empty() {
            Ok(())
        } else if let Some(fact) = entry.strip_prefix("= ") {
            self.expects(fact)
        } else if entry == "... to rest" {
            self.goes_to_rest()
        } else if let Some(last) = entry.strip_prefix("... until ") {
            self.goes_on_until(self.action(last)?)
        } else if let Some(stretch) = entry.strip_prefix("... ") {
            let (seconds, last) = stretch.split_once(" s until ").ok_or("`... <seconds> s until <action>`?")?;
            let (seconds, start) = (seconds.parse::<u32>().map_err(|it| it.to_string())?, self.time);
            self.goes_on_until(self.action(last)?)?;
            let passed = self.time - start;
            if passed == seconds { Ok(()) } else { Err(format!("{passed} s went by")) }
        } else if let Some(it) = entry.strip_suffix(" waits") {
            self.waiting.extend(self.actions(it)?);
            Ok(())
        } else if let Some(it) = entry.strip_suffix(" goes on") {
            let all_waited = self.actions(it)?.iter().all(|it| self.waiting.remove(it));
            if all_waited { Ok(()) } else { Err("it did not wait".to_owned()) }
        } else {
            self.takes(self.action(entry)?)
        }
    }

    /// The action of that name.
    fn action(&self, name: &str) -> Result<Action, String> {
        self.named.get(name).copied().ok_or_else(|| format!("no action is called `{name}` in this scope"))
    }

    /// The actions of that name, in which `*` stands for anything.
    fn actions(&self, name: &str) -> Result<Vec<Action>, String> {
        let Some((start, end)) = name.split_once('*') else { return Ok(vec![self.action(name)?]) };
        let all = self.named.iter().filter(|(it, _)| it.starts_with(start) && it.ends_with(end));
        let all: Vec<Action> = all.map(|(_, &it)| it).collect();
        if all.is_empty() { Err(format!("no action is called `{name}` in this scope")) } else { Ok(all) }
    }

    fn takes(&mut self, action: Action) -> Result<(), String> {
        if !self.enabled.contains(&action) {
            return Err(format!("{action} is not enabled; these are: {:?}", self.enabled));
        }
        if action.class() == Class::Clock {
            self.time += u32::from(self.world.seconds_ahead(&self.setup));
        }
        assert!(self.world.fire(&self.setup, action), "{action} is enabled");
        self.taken.push(action);
        self.world.enabled(&self.setup, &mut self.enabled);
        Ok(())
    }

    /// What the normal schedule takes next, if it passes over what waits.
    fn normal_choice(&self) -> Option<Action> {
        let turn = self.taken.last();
        [Class::Step, Class::Clock, Class::Recovery].into_iter().find_map(|class| {
            let in_turn = self.enabled.iter().filter(|it| it.class() == class && !self.waiting.contains(it));
            in_turn.min_by_key(|&it| (turn.is_some_and(|turn| it <= turn), it)).copied()
        })
    }

    fn goes_on_until(&mut self, last: Action) -> Result<(), String> {
        for _ in 0..Play::STEPS {
            let next =
                self.normal_choice().ok_or_else(|| format!("it never comes; these could: {:?}", self.enabled))?;
            self.takes(next)?;
            if next == last {
                return Ok(());
            }
        }
        Err(format!("it does not come within {} steps", Play::STEPS))
    }

    fn goes_to_rest(&mut self) -> Result<(), String> {
        for _ in 0..Play::STEPS {
            if self.enabled.is_at_rest() {
                return Ok(());
            }
            let next = self.normal_choice().ok_or_else(|| format!("owed, but it waits: {:?}", self.owed()))?;
            self.takes(next)?;
        }
        Err(format!("no rest within {} steps", Play::STEPS))
    }

    fn owed(&self) -> Vec<Action> {
        (0..self.enabled.len()).filter(|&it| self.enabled.owed(it) != Owed::No).map(|it| self.enabled[it]).collect()
    }

    fn expects(&self, fact: &str) -> Result<(), String> {
        if let Some(it) = fact.strip_suffix(" may not happen") {
            return if self.enabled.contains(&self.action(it)?) { Err("it may".to_owned()) } else { Ok(()) };
        }
        let facts = facts(&self.world);
        if facts.iter().any(|it| it == fact) { Ok(()) } else { Err(format!("no; the facts are {facts:#?}")) }
    }
}

/// What can be said of a world, one sentence each.
pub fn facts(world: &World) -> Vec<String> {
    let mut facts = Vec::new();
    for t in world.task_ids() {
        let task = &world.tasks[t];
        facts.push(format!("{t} is {}", upload(task.cr)));
        facts.push(format!("pod {t} is {}", pod(task.pod)));
        facts.push(format!("pod {t} says {:?}", task.pod.end));
        facts.push(format!("mover {t} is {}", mover(&task.mover)));
        facts.push(format!("handler {t} is {:?}", task.mover.handler));
        facts.push(format!("transfer {t} is {:?}", task.mover.transfer));
        facts.push(format!("watcher {t} is {:?}", task.watcher.stage));
    }
    for n in world.node_ids() {
        let held = world.task_ids().filter(|&t| world.tasks[t].watcher.holds_slot_of(n)).map(|t| t.to_string());
        let held = held.collect::<Vec<_>>().join(" and ");
        facts.push(if held.is_empty() { format!("{n} holds no slot") } else { format!("{n} holds a slot for {held}") });
    }
    facts
}

fn upload(it: DataUpload) -> String {
    if !it.exists {
        return "gone".to_owned();
    }
    let mut said = format!("{:?}", it.phase);
    for (is_so, what) in [(it.cancel, ", cancel"), (it.deleting, ", deleting"), (it.finalizer, ", finalizer")] {
        if is_so {
            said += what;
        }
    }
    it.node.node().map_or(said.clone(), |n| format!("{said}, owner {n}"))
}

fn pod(it: Pod) -> String {
    match (it.phase.exists(), it.host.node()) {
        (true, Some(n)) => format!("{:?} on {n}", it.phase),
        (_, _) => format!("{:?}", it.phase),
    }
}

fn mover(it: &Mover) -> String {
    match (it.process, it.end) {
        (Process::None, _) => "not started".to_owned(),
        (Process::Running, End::None) => format!("{:?}", it.main),
        (_, end) => format!("ended, {end:?}"),
    }
}

/// Every rule at every place.
fn actions(world: &World) -> impl Iterator<Item = Action> {
    let nodes: Vec<Option<NodeId>> = world.node_ids().map(Some).chain([None]).collect();
    let tasks: Vec<Option<TaskId>> = world.task_ids().map(Some).chain([None]).collect();
    let places: Vec<_> =
        nodes.into_iter().flat_map(|n| tasks.iter().map(move |&t| (n, t)).collect::<Vec<_>>()).collect();
    Rule::ALL.iter().flat_map(move |&rule| places.clone().into_iter().filter_map(move |(n, t)| Action::new(rule, n, t)))
}
