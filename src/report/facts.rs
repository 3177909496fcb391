//! A world as a list of facts, and what a step changed, in the words of a Velero maintainer.
//!
//! A world is taken apart without `..`, so that a new field does not compile until somebody has said what it is called.

use std::fmt;

use crate::model::api_server::{DataUpload, Held, Pod, PodPhase};
use crate::model::data_mover::{Main, Mover, Process, Reason, Stage as EventStage, Transfer};
use crate::model::kubelet::Kubelet;
use crate::model::node_agent::routine::{Attempt, Op, Routine};
use crate::model::node_agent::watcher::{Stage, Watcher};
use crate::model::node_agent::work_queue::{Delay, Key};
use crate::model::place::{Host, NodeId, TaskId};
use crate::model::world::{Known, Node, Shared, Task, World};

/// From where a fact can be seen, from the outside in. Changes are told in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// An object of the API server.
    Api,
    /// A slot of a node-agent, and the watcher for which it is held.
    Slot,
    /// A process, what it is about and what it was told, and what faults have done.
    Process,
    /// What a goroutine is in the middle of: inside a process, but it blocks or moves, and a debugger would show it.
    Goroutine,
    /// What an actor knows and nobody else can see: a cache, a queue, a copy.
    View,
    /// Times and raw queues: part of the world, but never told as a change.
    Hidden,
}

/// Something that is the case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// From where it can be seen.
    pub scope: Scope,
    /// What it is called; the same for every world of a size.
    pub name: String,
    /// What it is; empty where it does not apply, as the phase of something that does not exist.
    pub value: String,
    /// The task that it is about, where it is about one.
    pub task: Option<TaskId>,
}

/// A fact that a step changed. It prints as `a.phase InProgress -> Canceling`, or as a sentence where it is one that is so
/// or not: `mover a was sent SIGTERM`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// From where it can be seen.
    pub scope: Scope,
    /// What changed.
    pub name: String,
    /// What it was.
    pub was: String,
    /// What it is.
    pub is: String,
    /// The task that it is about, where it is about one.
    pub task: Option<TaskId>,
}

impl Change {
    /// Whether somebody outside the process that did it can see it: in an object, a slot, or what a process is about.
    pub fn is_outside(&self) -> bool {
        self.scope < Scope::Goroutine
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Change { scope: _, name, was, is, task: _ } = self;
        let colon = if name.contains(' ') && !name.ends_with(" slots") { ":" } else { "" };
        let is_sentence = name.contains(' ') && !name.contains('.');
        match (was.as_str(), is.as_str()) {
            ("no", "yes") if is_sentence => f.write_str(name),
            ("yes", "no") if is_sentence => write!(f, "no longer: {name}"),
            (was, NONE) => write!(f, "{name}{colon} {was} -> gone"),
            (was, is) => write!(f, "{name}{colon} {was} -> {is}"),
        }
    }
}

/// The value of what does not exist.
const NONE: &str = "none";
/// The value of a goroutine that has nothing to do.
const IDLE: &str = "idle";

/// What changed from one world to another of the same size, what can be seen from outside first.
pub fn changes(was: &World, is: &World) -> Vec<Change> {
    changes_of_facts(&facts(was), &facts(is))
}

/// The same for two lists of facts that are there already.
pub fn changes_of_facts(was: &[Fact], is: &[Fact]) -> Vec<Change> {
    let mut changes: Vec<Change> = was
        .iter()
        .zip(is)
        .filter(|(was, is)| was.name == is.name && was.value != is.value && is.scope != Scope::Hidden)
        .filter(|(was, is)| !was.value.is_empty() && !is.value.is_empty())
        .map(|(was, is)| Change {
            scope: if peeks(&was.value, &is.value) { Scope::View } else { is.scope },
            name: is.name.clone(),
            was: was.value.clone(),
            is: is.value.clone(),
            task: is.task,
        })
        .collect();
    changes.sort_by_key(|it| it.scope);
    changes
}

/// It sets out to look at a pod, or has looked and found nothing to do: a poll, which nobody else can see.
fn peeks(was: &str, is: &str) -> bool {
    let peek = format!(": {:?}", Op::Peek);
    (was == IDLE && is.ends_with(&peek)) || (was.ends_with(&peek) && is == IDLE)
}

/// Everything that is the case in `world`, in a fixed order.
pub fn facts(world: &World) -> Vec<Fact> {
    let World { shared, nodes, tasks } = world;
    let mut list = List { facts: Vec::new(), task: None };
    for n in world.node_ids() {
        list.slots(world, n);
    }
    for t in world.task_ids() {
        list.task = Some(t);
        list.task(world, t, &tasks[t]);
        list.task = None;
    }
    for n in world.node_ids() {
        list.node(world, n, &nodes[n]);
    }
    list.shared(world, shared);
    list.facts
}

struct List {
    facts: Vec<Fact>,
    /// Whom the facts that are added are about.
    task: Option<TaskId>,
}

impl List {
    fn add(&mut self, scope: Scope, name: impl Into<String>, value: impl fmt::Display) {
        self.facts.push(Fact { scope, name: name.into(), value: value.to_string(), task: self.task });
    }

    fn hide(&mut self, name: impl Into<String>, value: &dyn fmt::Debug) {
        self.add(Scope::Hidden, name, format_args!("{value:?}"));
    }

    fn task(&mut self, world: &World, t: TaskId, task: &Task) {
        let Task { cr, operation, accepted, pod, garbage, kubelet, mover, watcher, at } = task;
        self.data_upload(Scope::Api, &t.to_string(), ".phase", *cr);
        self.pod(t, *pod);
        self.kubelet(t, kubelet);
        self.mover(world, t, mover);
        self.watcher(t, watcher);
        for n in world.node_ids() {
            self.known(n, t, &at[n]);
        }
        self.hide(format!("{t}'s operation"), operation);
        self.hide(format!("{t}'s time since it was accepted"), accepted);
        self.hide(format!("{t}'s garbage"), garbage);
    }

    /// A custom resource, or somebody's copy of it: what is not there has no flags.
    fn data_upload(&mut self, scope: Scope, name: &str, phase_name: &str, cr: DataUpload) {
        let DataUpload { exists, phase, cancel, deleting, finalizer, node } = cr;
        let applies = |value: String| if exists { value } else { String::new() };
        self.add(scope, format!("{name}{phase_name}"), if exists { format!("{phase:?}") } else { NONE.to_owned() });
        self.add(scope, format!("{name}.cancel"), applies(yes(cancel)));
        self.add(scope, format!("{name}.deleting"), applies(yes(deleting)));
        self.add(scope, format!("{name}.finalizer"), applies(yes(finalizer)));
        self.add(scope, format!("{name}.node"), applies(host(node)));
    }

    fn pod(&mut self, t: TaskId, pod: Pod) {
        let Pod { phase, host: on, deleting, end, volume, snapshot, source_gone, removing } = pod;
        self.add(Scope::Api, format!("{t}.pod"), pod_phase(phase));
        self.add(Scope::Api, format!("{t}.pod.node"), host(on));
        self.add(Scope::Api, format!("{t}.pod.deleting"), yes(deleting));
        self.add(Scope::Api, format!("{t}.pod.end"), lower(&end));
        self.add(Scope::Api, format!("{t}.volume"), yes(volume));
        self.add(Scope::Api, format!("{t}.snapshot"), yes(snapshot));
        self.add(Scope::Api, format!("source of {t} is gone"), yes(source_gone));
        self.add(Scope::View, format!("api-server removes {t}"), yes(removing));
    }

    fn kubelet(&mut self, t: TaskId, kubelet: &Kubelet) {
        let Kubelet { patches, never_starts, evicting, unkillable, start, patch, kill } = kubelet;
        self.add(Scope::Process, format!("container of {t} never starts"), yes(*never_starts));
        self.add(Scope::Process, format!("container of {t} cannot be killed"), yes(*unkillable));
        self.add(Scope::Process, format!("kubelet evicts {t}"), yes(*evicting));
        self.add(Scope::View, format!("status patches that the kubelet owes {t}"), patches);
        self.hide(format!("{t}'s container starts"), start);
        self.hide(format!("{t}'s next status patch"), patch);
        self.hide(format!("{t}'s SIGKILL"), kill);
    }

    fn mover(&mut self, world: &World, t: TaskId, mover: &Mover) {
        let Mover {
            process,
            end,
            main,
            handler,
            transfer,
            outcome,
            result,
            terminated,
            cancelled,
            heard_cancel,
            heard_removal,
            handler_first,
            behind,
            listed,
            watch_broken,
            doomed,
            signal,
            hung,
            slow,
            progress,
            told,
            last,
            events,
            window,
            listing,
            relist,
            stopping,
        } = mover;
        let runs = *process == Process::Running;
        let applies = |value: String| if runs { value } else { String::new() };
        let is = match process {
            Process::None => NONE.to_owned(),
            Process::Running => about(*main).to_owned(),
            Process::Ended => format!("ended, {end:?}"),
        };
        self.add(Scope::Process, format!("mover {t}"), is);
        let transfer = match transfer {
            Transfer::None => NONE.to_owned(),
            Transfer::Running => "running".to_owned(),
            Transfer::Sending => format!("sends {outcome:?}"),
            Transfer::Done => format!("done, {outcome:?}"),
        };
        self.add(Scope::Process, format!("mover {t}'s transfer"), applies(transfer));
        self.add(Scope::Process, format!("mover {t} heard the cancel"), applies(yes(*heard_cancel)));
        self.add(Scope::Process, format!("mover {t} heard the removal"), applies(yes(*heard_removal)));
        self.add(Scope::Process, format!("mover {t} was sent SIGTERM"), applies(yes(*terminated)));
        self.add(Scope::Process, format!("mover {t}'s data path is cancelled"), applies(yes(*cancelled)));
        self.add(Scope::Process, format!("mover {t}'s transfer hangs"), applies(yes(*hung)));
        self.add(Scope::Process, format!("mover {t}'s transfer is slow to cancel"), applies(yes(*slow)));
        self.add(Scope::Process, format!("mover {t}'s watch is broken"), applies(yes(*watch_broken)));
        self.add(Scope::Process, format!("mover {t} is stalled"), yes(world.shared.stalls.mover(t)));
        for reason in Reason::ALL {
            let stage = events.stage(reason);
            let written = if stage >= EventStage::Written { "written" } else { NONE };
            self.add(Scope::Api, format!("{t}'s event {reason:?}"), written);
            self.add(Scope::View, format!("way of {t}'s event {reason:?}"), lower(&stage));
        }

        self.add(Scope::Goroutine, format!("main of mover {t}"), applies(lower(main)));
        self.add(Scope::Goroutine, format!("handler of mover {t}"), applies(lower(handler)));
        self.add(Scope::View, format!("result of mover {t}"), applies(lower(result)));
        self.add(Scope::View, format!("first signal in mover {t}"), applies(lower(signal)));
        self.add(Scope::View, format!("the handler of mover {t} sends first"), applies(yes(*handler_first)));
        self.add(Scope::View, format!("the transfer of mover {t} began cancelled"), applies(yes(*doomed)));
        self.add(Scope::View, format!("mover {t} has progress to report"), applies(yes(*progress)));
        self.add(Scope::View, format!("mover {t} has still to hear what it listed"), applies(yes(*behind)));
        let copies = self.facts.len();
        self.data_upload(Scope::View, &format!("mover {t}'s copy"), "", *last);
        self.data_upload(Scope::Hidden, &format!("what mover {t} listed"), "", *listed);
        for it in &mut self.facts[copies..] {
            it.value = applies(std::mem::take(&mut it.value));
        }
        self.hide(format!("mover {t}'s place in the log"), told);
        self.hide(format!("mover {t}'s window"), window);
        self.hide(format!("mover {t}'s listing"), listing);
        self.hide(format!("mover {t}'s relist"), relist);
        self.hide(format!("mover {t}'s stopping"), stopping);
    }

    fn watcher(&mut self, t: TaskId, watcher: &Watcher) {
        let Watcher {
            home,
            tracked,
            stage,
            told,
            pod_ch,
            closing,
            deleted,
            in_hand,
            started,
            stopped,
            last,
            routine,
            epilog,
        } = watcher;
        let exists = *stage != Stage::None;
        let applies = |value: String| if exists { value } else { String::new() };
        self.add(Scope::Slot, format!("watcher of {t}"), if exists { format!("{stage:?}") } else { NONE.to_owned() });
        self.add(Scope::Slot, format!("watcher of {t} is told to end"), applies(yes(*closing)));
        self.add(Scope::View, format!("node of the watcher of {t}"), host(*home));
        self.add(Scope::View, format!("slot of {t}"), if *tracked { "held" } else { "free" });
        self.add(Scope::Goroutine, format!("ended pods in podCh of {t}"), applies(pod_ch.to_string()));
        self.add(Scope::Goroutine, format!("pod handler of {t} is blocked on podCh"), applies(yes(*in_hand)));
        self.add(Scope::Goroutine, format!("watcher of {t} heard Started"), applies(yes(*started)));
        self.add(Scope::Goroutine, format!("watcher of {t} heard Stopped"), applies(yes(*stopped)));
        self.add(Scope::Goroutine, format!("watcher of {t} heard that the pod is gone"), applies(yes(*deleted)));
        self.add(Scope::View, format!("last pod of the watcher of {t}"), applies(pod_phase(*last)));
        self.routine(&format!("callback of {t}"), routine);
        self.hide(format!("watcher of {t}, place in the log"), told);
        self.hide(format!("watcher of {t}, epilog"), epilog);
    }

    fn known(&mut self, n: NodeId, t: TaskId, known: &Known) {
        let Known { cr, pod, key, cancelled } = known;
        self.data_upload(Scope::View, &format!("{n}'s cache of {t}"), "", *cr);
        self.add(Scope::View, format!("{n}'s cache of {t}.pod"), pod_phase(*pod));
        self.queued(n, t, *key);
        self.add(Scope::Goroutine, format!("{n} has seen the cancel of {t}"), yes(cancelled.has_begun()));
        self.hide(format!("{n}'s time since the cancel of {t}"), cancelled);
    }

    /// A key in a work queue.
    fn queued(&mut self, n: NodeId, t: TaskId, key: Key) {
        let Key { rank, ready, low, delay, failures, due } = key;
        let low = if low { ", low priority" } else { "" };
        let place = match delay {
            _ if ready => format!("place {rank}{low}"),
            Delay::None => "not queued".to_owned(),
            Delay::Soon => format!("comes back after RequeueAfter{low}"),
            Delay::Backoff => format!("comes back after failure {failures}{low}"),
        };
        self.add(Scope::View, format!("{n}'s queue, {t}"), place);
        self.hide(format!("{n}'s place and failures of {t}"), &(rank, failures));
        self.hide(format!("{n}'s key of {t} is due"), &due);
    }

    /// What a goroutine is in the middle of: its next operation, and apart from it what only it can see.
    fn routine(&mut self, name: &str, routine: &Routine) {
        let Routine { task, attempt, low, held, plan, window } = routine;
        let busy = routine.is_busy();
        let next = match attempt {
            _ if !busy => IDLE.to_owned(),
            Attempt::Begin | Attempt::Got => format!("{task}: {:?}", plan.first()),
            Attempt::Conflicted => format!("{task}: {:?}, 409 Conflict", plan.first()),
            Attempt::Waiting => format!("{task}: {:?}, waits for the removal", plan.first()),
        };
        let applies = |value: String| if busy { value } else { String::new() };
        self.add(Scope::Goroutine, name, next);
        self.add(Scope::View, format!("attempt of {name}"), applies(lower(attempt)));
        self.add(Scope::View, format!("copy of {name}"), applies(copy(*held)));
        self.add(Scope::View, format!("key of {name} had the low priority"), applies(yes(*low)));
        self.hide(format!("plan of {name}"), &(task, plan));
        self.hide(format!("window of {name}"), window);
    }

    fn slots(&mut self, world: &World, n: NodeId) {
        let holders: Vec<String> =
            world.task_ids().filter(|&t| world.tasks[t].watcher.holds_slot_of(n)).map(|t| t.to_string()).collect();
        let taken = world.slots_taken(n);
        let holders = if holders.is_empty() { String::new() } else { format!(" ({})", holders.join(", ")) };
        self.add(Scope::Slot, format!("{n} slots"), format_args!("{taken}{holders}"));
    }

    fn node(&mut self, world: &World, n: NodeId, node: &Node) {
        let Node { crs, pods, worker, mapping, periodic } = node;
        let stalls = &world.shared.stalls;
        self.add(Scope::Process, format!("{n} is stalled"), yes(stalls.agent(n)));
        let crs_up = (world.cr_watch_is_up(n), stalls.cr_watch(n));
        let pods_up = (world.pod_watch_is_up(n), stalls.pod_watch(n));
        self.add(Scope::Process, format!("{n}'s watch of custom resources"), watch(crs_up));
        self.add(Scope::Process, format!("{n}'s watch of pods"), watch(pods_up));
        self.routine(&format!("{n} worker"), worker);
        self.routine(&format!("{n} pod events"), mapping);
        self.hide(format!("{n}'s periodic enqueue"), periodic);
        self.hide(format!("how far {n}'s watch of custom resources is"), crs);
        self.hide(format!("versions of {n}'s pods under way"), pods);
    }

    fn shared(&mut self, world: &World, shared: &Shared) {
        let Shared { nodes, tasks, budget, stalls, cr_log } = shared;
        for t in world.task_ids() {
            self.add(Scope::Process, format!("kubelet of {t} is stalled"), yes(stalls.kubelet(t)));
        }
        self.add(Scope::View, "price left", budget.price_left());
        self.hide("nodes", nodes);
        self.hide("tasks", tasks);
        self.hide("budget", budget);
        self.hide("stalls", stalls);
        self.hide("versions of custom resources under way", cr_log);
    }
}

fn yes(it: bool) -> String {
    if it { "yes" } else { "no" }.to_owned()
}

fn host(it: Host) -> String {
    it.node().map_or_else(|| NONE.to_owned(), |n| n.to_string())
}

fn pod_phase(it: PodPhase) -> String {
    if it.exists() { format!("{it:?}") } else { NONE.to_owned() }
}

fn lower(it: &dyn fmt::Debug) -> String {
    format!("{it:?}").to_lowercase()
}

fn watch((up, stalled): (bool, bool)) -> &'static str {
    match (up, stalled) {
        (true, false) => "up",
        (true, true) => "stalled",
        (false, false) => "broken",
        (false, true) => "broken and stalled",
    }
}

/// What a process is about, as its log tells it; `main` is the exact place.
fn about(main: Main) -> &'static str {
    match main {
        Main::None | Main::Booting => "boots",
        Main::Polling => "polls",
        Main::Found | Main::Created | Main::Opening => "opens repository",
        Main::Started | Main::Selecting => "transfers",
        Main::Selected | Main::Draining | Main::Closing | Main::Exiting => "stops",
    }
}

/// A copy of a custom resource that a goroutine holds.
fn copy(held: Held) -> String {
    let Held { cr: DataUpload { exists, phase, cancel, deleting, finalizer, node }, current } = held;
    let age = if current { "newest" } else { "stale" };
    if !exists {
        return NONE.to_owned();
    }
    let mut text = format!("{phase:?}");
    for (is_so, word) in [(cancel, ", cancel"), (deleting, ", deleting"), (finalizer, ", finalizer")] {
        text.push_str(if is_so { word } else { "" });
    }
    let at = node.node().map_or_else(String::new, |n| format!(", of {n}"));
    format!("{text}{at}, {age}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::designs::Upstream;
    use crate::run::observe;
    use crate::scenario::Scenario;
    use crate::scheduler::{Normal, Placed};

    /// Facts leave nothing out: where the facts are the same, the worlds are.
    #[test]
    fn every_change_of_a_world_changes_a_fact() {
        for scenario in Scenario::built_in() {
            for run in 0..20 {
                observe(&scenario, &Upstream, &mut Placed::new(1, run), &mut |it| {
                    let same = facts(it.was) == facts(it.is);
                    assert_eq!(same, it.was.bytes() == it.is.bytes(), "{} in {}", it.action, scenario.name);
                });
            }
        }
    }

    #[test]
    fn names_are_unique_and_stay_the_same() {
        let world = Scenario::named("anything").unwrap().empty_cluster().unwrap();
        let mut names: Vec<String> = facts(&world).into_iter().map(|it| it.name).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn changes_are_told_in_a_maintainers_words() {
        let mut told: Vec<(String, Vec<String>)> = Vec::new();
        observe(&Scenario::named("normal").unwrap(), &Upstream, &mut Normal, &mut |it| {
            told.push((it.action.to_string(), changes(it.was, it.is).iter().map(ToString::to_string).collect()));
        });
        let of = |action: &str| &told.iter().find(|it| it.0 == action).expect(action).1;
        assert_eq!(of("velero_server::creates(a)"), &["a.phase none -> New"]);
        assert_eq!(
            of("data_mover::polls(a)"),
            &["mover a: polls -> opens repository", "main of mover a: polling -> found"]
        );
        assert_eq!(of("data_mover::exits(a)"), &["mover a: stops -> ended, Completed"]);
        let owner = if told.iter().any(|it| it.0 == "worker::takes_slot(n0, a)") { "n0" } else { "n1" };
        assert!(of(&format!("worker::takes_slot({owner}, a)")).contains(&format!("{owner} slots 0 -> 1 (a)")));
        assert!(
            of(&format!("worker::marks_in_progress({owner}, a)"))[0] == "a.phase Prepared -> InProgress",
            "what the API server shows comes first"
        );
        assert!(told.iter().any(|it| it.1.contains(&"n1's cache of a: Prepared -> InProgress".to_owned())));
        assert!(told.iter().any(|it| it.1.contains(&"a.pod Succeeded -> gone".to_owned())));
    }
}
