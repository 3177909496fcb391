//! A world as a list of facts, and what a step changed, in the words of a Velero maintainer.
//!
//! A world is taken apart without `..` wherever its fields can be seen from here, so that a new field is a compile
//! error until somebody has said what it is called; fields that cannot be seen come from `Debug`, all of them.

use std::fmt;

use crate::model::api_server::{DataUpload, Held, Pod, PodPhase};
use crate::model::data_mover::{Mover, Process, Reason, Transfer};
use crate::model::kubelet::Kubelet;
use crate::model::node_agent::routine::{Attempt, Op, Routine};
use crate::model::node_agent::watcher::{Stage, Watcher};
use crate::model::node_agent::work_queue::Key;
use crate::model::place::{Host, NodeId, TaskId};
use crate::model::world::{Known, Node, Shared, Task, World};

/// From where a fact can be seen, from the outside in. Changes are told in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// An object of the API server.
    Api,
    /// A slot of a node-agent, and the watcher for which it is held.
    Slot,
    /// A process, its goroutines and its events, and what faults have done.
    Process,
    /// What a goroutine of a node-agent is in the middle of.
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
}

/// A fact that a step changed. It prints as `a.phase InProgress -> Canceling`.
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
}

impl Change {
    /// Whether anybody but the actor itself can see it.
    pub fn is_outside(&self) -> bool {
        self.scope < Scope::View
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Change { scope: _, name, was, is } = self;
        let colon = if name.contains(' ') && !name.ends_with(" slots") { ":" } else { "" };
        let is = if is == NONE { "gone" } else { is };
        write!(f, "{name}{colon} {was} -> {is}")
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
    let mut list = List(Vec::new());
    for n in world.node_ids() {
        list.slots(world, n);
    }
    for t in world.task_ids() {
        list.task(world, t, &tasks[t]);
    }
    for n in world.node_ids() {
        list.node(world, n, &nodes[n]);
    }
    list.shared(world, shared);
    list.0
}

struct List(Vec<Fact>);

impl List {
    fn add(&mut self, scope: Scope, name: impl Into<String>, value: impl fmt::Display) {
        self.0.push(Fact { scope, name: name.into(), value: value.to_string() });
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
        self.add(Scope::Api, format!("{t}.source gone"), yes(source_gone));
        self.add(Scope::Process, format!("api-server removes {t}"), yes(removing));
    }

    fn kubelet(&mut self, t: TaskId, kubelet: &Kubelet) {
        let Kubelet { never_starts, unkillable, start, patch, kill, .. } = kubelet;
        self.add(Scope::Process, format!("container of {t} never starts"), yes(*never_starts));
        self.add(Scope::Process, format!("container of {t} cannot be killed"), yes(*unkillable));
        self.hide(format!("{t}'s container starts"), start);
        self.hide(format!("{t}'s next status patch"), patch);
        self.hide(format!("{t}'s SIGKILL"), kill);
        let unseen = Unseen::of(kubelet);
        self.add(Scope::View, format!("kubelet's status patches for {t}"), unseen.get("patches"));
    }

    fn mover(&mut self, world: &World, t: TaskId, mover: &Mover) {
        let Mover {
            process,
            end,
            main,
            handler,
            transfer,
            outcome,
            terminated,
            cancelled,
            heard_cancel,
            hung,
            slow,
            progress,
            last,
            events,
            window,
            listing,
            stopping,
            ..
        } = mover;
        let unseen = Unseen::of(mover);
        let runs = *process == Process::Running;
        let applies = |value: String| if runs { value } else { String::new() };
        let stage = match process {
            Process::None => NONE.to_owned(),
            Process::Running => format!("{main:?}"),
            Process::Ended => format!("ended, {end:?}"),
        };
        self.add(Scope::Process, format!("mover {t}"), stage);
        let transfer = match transfer {
            Transfer::None => NONE.to_owned(),
            Transfer::Running => "running".to_owned(),
            Transfer::Sending => format!("sends {outcome:?}"),
            Transfer::Done => format!("done, {outcome:?}"),
        };
        self.add(Scope::Process, format!("mover {t}'s transfer"), applies(transfer));
        self.add(Scope::Process, format!("mover {t}'s handler"), applies(lower(handler)));
        self.add(Scope::Process, format!("mover {t} heard the cancel"), applies(yes(*heard_cancel)));
        self.add(Scope::Process, format!("mover {t} was sent SIGTERM"), applies(yes(*terminated)));
        self.add(Scope::Process, format!("mover {t}'s data path is cancelled"), applies(yes(*cancelled)));
        self.add(Scope::Process, format!("mover {t}'s transfer hangs"), applies(yes(*hung)));
        self.add(Scope::Process, format!("mover {t}'s transfer is slow to cancel"), applies(yes(*slow)));
        for reason in Reason::ALL {
            self.add(Scope::Process, format!("{t}'s event {reason:?}"), lower(&events.stage(reason)));
        }
        self.add(Scope::Process, format!("mover {t} is stalled"), yes(world.shared.stalls.mover(t)));
        self.add(Scope::View, format!("mover {t}'s result"), applies(unseen.get("result").to_lowercase()));
        self.add(Scope::View, format!("mover {t} has progress to report"), applies(yes(*progress)));
        let copy = self.0.len();
        self.data_upload(Scope::View, &format!("mover {t}'s copy"), "", *last);
        for it in &mut self.0[copy..] {
            it.value = applies(std::mem::take(&mut it.value));
        }
        self.hide(format!("mover {t}'s window"), window);
        self.hide(format!("mover {t}'s listing"), listing);
        self.hide(format!("mover {t}'s stopping"), stopping);
        self.add(Scope::Hidden, format!("mover {t}'s raw fields"), format_args!("{mover:?}"));
    }

    fn watcher(&mut self, t: TaskId, watcher: &Watcher) {
        let Watcher { stage, started, stopped, last, routine, epilog, .. } = watcher;
        let unseen = Unseen::of(watcher);
        let exists = *stage != Stage::None;
        let applies = |value: String| if exists { value } else { String::new() };
        self.add(Scope::Slot, format!("watcher of {t}"), if exists { format!("{stage:?}") } else { NONE.to_owned() });
        self.add(
            Scope::View,
            format!("watcher of {t}, node"),
            watcher.home().map_or_else(|| NONE.to_owned(), |n| n.to_string()),
        );
        self.add(Scope::Goroutine, format!("watcher of {t}, pods in podCh"), applies(unseen.get("pod_ch").to_owned()));
        self.add(Scope::Goroutine, format!("watcher of {t} heard Started"), applies(yes(*started)));
        self.add(Scope::Goroutine, format!("watcher of {t} heard Stopped"), applies(yes(*stopped)));
        self.add(Scope::View, format!("watcher of {t}, last pod"), applies(pod_phase(*last)));
        self.routine(&format!("callback of {t}"), routine);
        self.hide(format!("watcher of {t}, epilog"), epilog);
        self.add(Scope::Hidden, format!("watcher of {t}, raw fields"), format_args!("{watcher:?}"));
    }

    fn known(&mut self, n: NodeId, t: TaskId, known: &Known) {
        let Known { cr, pod, key, cancelled } = known;
        self.data_upload(Scope::View, &format!("{n}'s cache of {t}"), "", *cr);
        self.add(Scope::View, format!("{n}'s cache of {t}.pod"), pod_phase(*pod));
        self.add(Scope::View, format!("{n}'s queue, {t}"), queued(*key));
        self.add(Scope::Goroutine, format!("{n} has seen the cancel of {t}"), yes(cancelled.has_begun()));
        self.hide(format!("{n}'s time since the cancel of {t}"), cancelled);
        self.add(Scope::Hidden, format!("{n}'s key of {t}, raw fields"), format_args!("{key:?}"));
    }

    /// What a goroutine is in the middle of: its next operation, and apart from it what only it can see.
    fn routine(&mut self, name: &str, routine: &Routine) {
        let Routine { task, attempt, held, plan, window, .. } = routine;
        let Held { cr, current } = held;
        let busy = routine.is_busy();
        let next = match attempt {
            _ if !busy => IDLE.to_owned(),
            Attempt::Begin | Attempt::Got => format!("{task}: {:?}", plan.first()),
            Attempt::Conflicted => format!("{task}: {:?}, 409 Conflict", plan.first()),
            Attempt::Waiting => format!("{task}: {:?}, waits for the removal", plan.first()),
        };
        let applies = |value: String| if busy { value } else { String::new() };
        let phase = if cr.exists { format!("{:?}", cr.phase) } else { NONE.to_owned() };
        let copy = format!(
            "{phase}{}, {}",
            if cr.cancel { ", cancel" } else { "" },
            if *current { "newest" } else { "stale" }
        );
        self.add(Scope::Goroutine, name, next);
        self.add(Scope::View, format!("{name}, attempt"), applies(lower(attempt)));
        self.add(Scope::View, format!("{name}, copy"), applies(copy));
        self.hide(format!("{name}, window"), window);
        self.add(Scope::Hidden, format!("{name}, raw fields"), format_args!("{routine:?}"));
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
        self.add(Scope::Hidden, format!("{n}'s watch of custom resources, raw fields"), format_args!("{crs:?}"));
        self.add(Scope::Hidden, format!("{n}'s watch of pods, raw fields"), format_args!("{pods:?}"));
    }

    fn shared(&mut self, world: &World, shared: &Shared) {
        let Shared { budget, stalls, cr_log, .. } = shared;
        for t in world.task_ids() {
            self.add(Scope::Process, format!("kubelet of {t} is stalled"), yes(stalls.kubelet(t)));
        }
        self.add(Scope::Process, "price left", budget.price_left());
        self.add(Scope::Hidden, "nodes", world.node_ids().count());
        self.add(Scope::Hidden, "tasks", world.task_ids().count());
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

/// A key in a work queue.
fn queued(key: Key) -> String {
    let unseen = Unseen::of(&key);
    let low = if unseen.get("low") == "true" { ", low priority" } else { "" };
    if key.is_ready() {
        format!("place {}{low}", unseen.get("rank"))
    } else if key.is_delayed() {
        match unseen.get("delay") {
            "Soon" => "comes back after RequeueAfter".to_owned(),
            _ => format!("comes back after {} failure(s)", unseen.get("failures")),
        }
    } else {
        "not queued".to_owned()
    }
}

/// The fields of a struct, as its derived `Debug` shows them: some cannot be seen from here in another way.
struct Unseen(Vec<(String, String)>);

impl Unseen {
    fn of(it: &dyn fmt::Debug) -> Unseen {
        let text = format!("{it:?}");
        let inner = text.split_once('{').map_or("", |it| it.1).trim_end().trim_end_matches('}');
        let mut fields = vec![String::new()];
        let mut depth = 0_usize;
        for c in inner.chars() {
            match c {
                '{' | '[' | '(' => depth += 1,
                '}' | ']' | ')' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => {
                    fields.push(String::new());
                    continue;
                }
                _ => {}
            }
            fields.last_mut().expect("there is always a field").push(c);
        }
        let pair = |it: &String| it.split_once(':').map(|(k, v)| (k.trim().to_owned(), v.trim().to_owned()));
        Unseen(fields.iter().filter_map(pair).collect())
    }

    fn get(&self, name: &str) -> &str {
        self.0.iter().find(|it| it.0 == name).map_or("?", |it| it.1.as_str())
    }
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
    fn nothing_private_is_shown_as_a_question_mark() {
        let world = Scenario::named("anything").unwrap().empty_cluster().unwrap();
        assert!(facts(&world).iter().all(|it| it.value != "?" && !it.value.contains("place ?")));
    }

    #[test]
    fn changes_are_told_in_a_maintainers_words() {
        let mut told: Vec<(String, Vec<String>)> = Vec::new();
        observe(&Scenario::named("normal").unwrap(), &Upstream, &mut Normal, &mut |it| {
            told.push((it.action.to_string(), changes(it.was, it.is).iter().map(ToString::to_string).collect()));
        });
        let of = |action: &str| &told.iter().find(|it| it.0 == action).expect(action).1;
        assert_eq!(of("velero_server::creates(a)"), &["a.phase none -> New"]);
        assert_eq!(of("data_mover::polls(a)"), &["mover a: Polling -> Found"]);
        assert_eq!(of("data_mover::exits(a)"), &["mover a: Exiting -> ended, Completed"]);
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
