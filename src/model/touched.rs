//! What a step touched: which areas of the world are no longer what they were.
//!
//! A step changes a few bytes, and most goroutines look at others. So whoever asked before asks again only those that
//! read what was touched. What each of them reads is declared in the table of [rules](super::rules), area by area, and
//! what becomes due of itself declares it in [clock](super::clock); debug builds compare both with the full asking
//! and settling at every step of a run or a sweep, and tests do so for the asking.

use std::ops::{BitOr, BitOrAssign};

use zerocopy::{Immutable, IntoBytes};

use super::place::{NODES, NodeId, TASKS, TaskId};
use super::world::{Node, Task, World};

/// A set of areas of a world, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touched(pub(super) u64);

/// How many areas the largest world has.
pub(super) const AREAS: usize = TASK + PER_TASK * TASKS + NODES * TASKS;

/// All of them.
pub(super) const EVERY: u64 = u64::MAX >> (64 - AREAS);

/// What operators and faults may still do.
pub(super) const BUDGET: u64 = 1 << 0;
/// Who is stalled.
pub(super) const STALLS: u64 = 1 << 1;
/// The versions of custom resources that not every observer has seen.
pub(super) const CR_LOG: u64 = 1 << 2;

const NODE: usize = 3;
const PER_NODE: usize = 5;
const TASK: usize = NODE + PER_NODE * NODES;
const PER_TASK: usize = 8;
const KNOWN_FROM: usize = TASK + PER_TASK * TASKS;

/// What node-agents know of tasks.
#[allow(dead_code)]
pub(super) const KNOWN: u64 = EVERY >> KNOWN_FROM << KNOWN_FROM;

macro_rules! areas_of_nodes {
    ($($one:ident, $all:ident: $index:literal;)*) => { $(
        #[doc = concat!("`", stringify!($one), "` of node `n`.")]
        pub(super) const fn $one(n: NodeId) -> u64 {
            1 << (NODE + PER_NODE * n.0 as usize + $index)
        }

        #[doc = concat!("`", stringify!($one), "` of all nodes.")]
        #[allow(dead_code)]
        pub(super) const $all: u64 = {
            let (mut all, mut n) = (0, 0);
            while n < NODES {
                all |= $one(NodeId(n as u8));
                n += 1;
            }
            all
        };
    )* };
}

macro_rules! areas_of_tasks {
    ($($one:ident, $all:ident: $index:literal;)*) => { $(
        #[doc = concat!("`", stringify!($one), "` of task `t`.")]
        pub(super) const fn $one(t: TaskId) -> u64 {
            1 << (TASK + PER_TASK * t.0 as usize + $index)
        }

        #[doc = concat!("`", stringify!($one), "` of all tasks.")]
        #[allow(dead_code)]
        pub(super) const $all: u64 = {
            let (mut all, mut t) = (0, 0);
            while t < TASKS {
                all |= $one(TaskId(t as u8));
                t += 1;
            }
            all
        };
    )* };
}

areas_of_nodes! {
    crs, CRS: 0;
    pods, PODS: 1;
    worker, WORKER: 2;
    mapping, MAPPING: 3;
    periodic, PERIODIC: 4;
}

areas_of_tasks! {
    cr, CR: 0;
    operation, OPERATION: 1;
    accepted, ACCEPTED: 2;
    pod, POD: 3;
    garbage, GARBAGE: 4;
    kubelet, KUBELET: 5;
    mover, MOVER: 6;
    watcher, WATCHER: 7;
}

/// What node `n` knows of task `t`.
pub(super) const fn known(n: NodeId, t: TaskId) -> u64 {
    1 << (KNOWN_FROM + NODES * t.0 as usize + n.0 as usize)
}

/// What node `n` knows of all tasks.
pub(super) const fn known_at(n: NodeId) -> u64 {
    let (mut all, mut t) = (0, 0);
    while t < TASKS {
        all |= known(n, TaskId(t as u8));
        t += 1;
    }
    all
}

/// What all nodes know of task `t`.
pub(super) const fn known_of(t: TaskId) -> u64 {
    ((1 << NODES) - 1) << (KNOWN_FROM + NODES * t.0 as usize)
}

/// What a poll for any task may read, but for what its own node-agent knows.
pub(super) const POLL: u64 = CR | POD | ACCEPTED | WATCHER | CR_LOG;

/// What a reconcile of `t` at node `n` may read, but for what that node-agent knows of it.
pub(super) const fn reconcile(n: NodeId, t: TaskId) -> u64 {
    cr(t) | pod(t) | accepted(t) | WATCHER | crs(n) | CR_LOG
}

const fn of_node(n: NodeId) -> u64 {
    ((1 << PER_NODE) - 1) << (NODE + PER_NODE * n.0 as usize)
}

/// Task `t` but for what node-agents know of it.
const fn of_task(t: TaskId) -> u64 {
    ((1 << PER_TASK) - 1) << (TASK + PER_TASK * t.0 as usize)
}

impl Touched {
    /// Nothing.
    pub const NOTHING: Touched = Touched(0);
    /// All that there is.
    pub const ALL: Touched = Touched(u64::MAX);

    /// What differs between two worlds of one scope.
    pub fn between(was: &World, is: &World) -> Touched {
        let mut touched = 0;
        let (old, new) = (&was.shared, &is.shared);
        if old.as_bytes() != new.as_bytes() {
            touched |= if_differs(&old.budget, &new.budget, BUDGET);
            touched |= if_differs(&old.stalls, &new.stalls, STALLS);
            touched |= if_differs(&old.cr_log, &new.cr_log, CR_LOG);
        }
        for n in is.node_ids() {
            let (old, new) = (&was.nodes[n], &is.nodes[n]);
            if old.as_bytes() != new.as_bytes() {
                touched |= node_between(old, new, n);
            }
        }
        for t in is.task_ids() {
            let (old, new) = (&was.tasks[t], &is.tasks[t]);
            if !old.looks_like(new) {
                touched |= task_between(old, new, t);
            }
            if old.at.as_bytes() != new.at.as_bytes() {
                touched |= known_between(old, new, t);
            }
        }
        Touched(touched)
    }

    /// Whether any of `areas` is among them.
    #[inline]
    pub(super) fn any(self, areas: u64) -> bool {
        self.0 & areas != 0
    }

    /// Whether what an outsider could see of task `t` is among them.
    #[inline]
    pub fn task(self, t: TaskId) -> bool {
        self.any(of_task(t))
    }

    /// Whether an object at the API server may be among them: a custom resource or a pod.
    #[inline]
    pub fn objects(self) -> bool {
        self.any(CR | POD)
    }

    /// Writes what was touched of `from` over `to`, which is what `from` was before.
    #[inline]
    pub fn copy(self, from: &World, to: &mut World) {
        to.shared = from.shared;
        for n in from.node_ids().filter(|&n| self.any(of_node(n))) {
            to.nodes[n] = from.nodes[n];
        }
        for t in from.task_ids().filter(|&t| self.any(of_task(t) | known_of(t))) {
            to.tasks[t] = from.tasks[t];
        }
    }
}

#[inline]
fn node_between(old: &Node, new: &Node, n: NodeId) -> u64 {
    if_differs(&old.crs, &new.crs, crs(n))
        | if_differs(&old.pods, &new.pods, pods(n))
        | if_differs(&old.worker, &new.worker, worker(n))
        | if_differs(&old.mapping, &new.mapping, mapping(n))
        | if_differs(&old.periodic, &new.periodic, periodic(n))
}

#[inline]
fn task_between(old: &Task, new: &Task, t: TaskId) -> u64 {
    if_differs(&old.cr, &new.cr, cr(t))
        | if_differs(&old.operation, &new.operation, operation(t))
        | if_differs(&old.accepted, &new.accepted, accepted(t))
        | if_differs(&old.pod, &new.pod, pod(t))
        | if_differs(&old.garbage, &new.garbage, garbage(t))
        | if_differs(&old.kubelet, &new.kubelet, kubelet(t))
        | if_differs(&old.mover, &new.mover, mover(t))
        | if_differs(&old.watcher, &new.watcher, watcher(t))
}

#[inline]
fn known_between(old: &Task, new: &Task, t: TaskId) -> u64 {
    let at = |n: usize| if_differs(&old.at.0[n], &new.at.0[n], known(NodeId(n as u8), t));
    (0..NODES).map(at).fold(0, u64::bitor)
}

/// `area`, if they differ in any byte.
#[inline]
fn if_differs<T: IntoBytes + Immutable>(old: &T, new: &T, area: u64) -> u64 {
    if bytes_differ(old.as_bytes(), new.as_bytes()) { area } else { 0 }
}

/// Whether they differ, as many as they are: word by word, without a branch and without a call.
#[inline(always)]
#[allow(clippy::inline_always)] // their number is known only where it is called
fn bytes_differ(old: &[u8], new: &[u8]) -> bool {
    let (old_words, old_rest) = old.as_chunks::<8>();
    let (new_words, new_rest) = new.as_chunks::<8>();
    let words = old_words
        .iter()
        .zip(new_words)
        .fold(0, |all, (old, new)| all | (u64::from_le_bytes(*old) ^ u64::from_le_bytes(*new)));
    let last = match (old.last_chunk::<8>(), new.last_chunk::<8>()) {
        (Some(old), Some(new)) => u64::from_le_bytes(*old) ^ u64::from_le_bytes(*new),
        _ => old_rest.iter().zip(new_rest).fold(0, |all, (old, new)| all | u64::from(old ^ new)),
    };
    words | last != 0
}

impl BitOr for Touched {
    type Output = Touched;

    #[inline]
    fn bitor(self, other: Touched) -> Touched {
        Touched(self.0 | other.0)
    }
}

impl BitOrAssign<u64> for Touched {
    #[inline]
    fn bitor_assign(&mut self, areas: u64) {
        self.0 |= areas;
    }
}
