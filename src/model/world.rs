//! Everything that is the case, as one value.
//!
//! A [`World`] is `Copy` and `Eq`, holds no pointer, no collection without bound, no absolute time and no resource
//! version that grows. That makes replay, hashing, exhaustive search and "what changed" a few lines each.
//!
//! Only the nodes and tasks in use are compared, hashed and stored: they come first in their arrays, so the used
//! bytes are three slices ([`World::bytes`]). Unused parts stay zero.

use zerocopy::{FromZeros, Immutable, IntoBytes};

use super::api_server::{DataUpload, Pod, PodPhase};
use super::data_mover::Mover;
use super::faults::{Budget, Stalls};
use super::kubelet::Kubelet;
use super::node_agent::routine::Routine;
use super::node_agent::watcher::Watcher;
use super::node_agent::work_queue::Key;
use super::place::{NODES, NodeId, PerNode, PerTask, TASKS, TaskId};
use super::time::{Age, Window};
use super::watch::{CrLog, CrStream, PodLog};

/// The state of the whole cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug, FromZeros, IntoBytes, Immutable)]
#[repr(C)]
pub struct World {
    /// What is not tied to one node or task.
    pub shared: Shared,
    /// The node-agents and what they keep.
    pub nodes: PerNode<Node>,
    /// The tasks: custom resource, pod, mover, and what each node-agent knows of them.
    pub tasks: PerTask<Task>,
}

/// What is not tied to one node or task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, FromZeros, IntoBytes, Immutable)]
#[repr(C)]
pub struct Shared {
    /// Nodes in use, 1 to [`NODES`].
    pub(crate) nodes: u8,
    /// Tasks in use, 1 to [`TASKS`].
    pub(crate) tasks: u8,
    /// What operators and faults may still do.
    pub budget: Budget,
    /// Who is stalled.
    pub stalls: Stalls,
    /// Versions of custom resources that not every observer has seen.
    pub cr_log: CrLog,
}

/// One node-agent: what it has seen and what its goroutines are in the middle of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, FromZeros, IntoBytes, Immutable)]
#[repr(C)]
pub struct Node {
    /// How far its informer of custom resources is.
    pub crs: CrStream,
    /// Versions of this node's pods that its informer and the informer's listeners have not all passed.
    pub pods: PodLog,
    /// The one worker of its `DataUpload` controller.
    pub worker: Routine,
    /// The goroutine in which its pod events are mapped to requests.
    pub mapping: Routine,
    /// When its periodic enqueue must next come; off while it would change nothing.
    pub periodic: Window,
}

/// One task: the objects named after it and the processes that serve it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, FromZeros, IntoBytes, Immutable)]
#[repr(C)]
pub struct Task {
    /// The custom resource, as the API server has it.
    pub cr: DataUpload,
    /// Until the server cancels the item operation; off once the upload is cancelled or over.
    pub operation: Window,
    /// Since the custom resource was accepted.
    pub accepted: Age,
    /// The pod, as the API server has it.
    pub pod: Pod,
    /// Until the garbage collector deletes what the gone custom resource owned.
    pub garbage: Window,
    /// What the kubelet of the pod's node is doing about it.
    pub kubelet: Kubelet,
    /// The process in the pod, which outlives the pod object.
    pub mover: Mover,
    /// The owner's slot and watcher.
    pub watcher: Watcher,
    /// What each node-agent knows about it.
    pub at: PerNode<Known>,
}

/// What one node-agent knows about one task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, FromZeros, IntoBytes, Immutable)]
#[repr(C)]
pub struct Known {
    /// The custom resource in its cache.
    pub cr: DataUpload,
    /// The pod in its cache, which holds only pods of its own node.
    pub pod: PodPhase,
    /// The entry of its controller's work queue.
    pub key: Key,
    /// Since it first saw the cancel: its entry in the map `cancelled`.
    pub cancelled: Age,
}

impl Task {
    /// Whether it differs from `other` at most in what node-agents know. No invariant looks at that; only a worker blocked at
    /// W1e is seen at the next step that shows otherwise.
    #[inline]
    pub fn looks_like(&self, other: &Task) -> bool {
        const SEEN: usize = std::mem::offset_of!(Task, at);
        self.as_bytes()[..SEEN] == other.as_bytes()[..SEEN]
    }
}

/// A scope larger than the world has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{nodes} node(s) and {tasks} task(s) do not fit: ask for 1 to {NODES} nodes and 1 to {TASKS} tasks")]
pub struct TooLarge {
    nodes: u8,
    tasks: u8,
}

impl World {
    /// An empty cluster of `nodes` node-agents in which `tasks` tasks may come.
    ///
    /// # Errors
    ///
    /// When there is not room for that many.
    pub fn new(nodes: u8, tasks: u8) -> Result<World, TooLarge> {
        if !(1..=NODES).contains(&(nodes as usize)) || !(1..=TASKS).contains(&(tasks as usize)) {
            return Err(TooLarge { nodes, tasks });
        }
        let mut world = World::new_zeroed();
        world.shared.nodes = nodes;
        world.shared.tasks = tasks;
        Ok(world)
    }

    /// The nodes in use.
    #[inline]
    pub fn node_ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..self.shared.nodes).map(NodeId)
    }

    /// The tasks in use.
    #[inline]
    pub fn task_ids(&self) -> impl DoubleEndedIterator<Item = TaskId> + use<> {
        (0..self.shared.tasks).map(TaskId)
    }

    /// The bytes in use. Two worlds of one scenario are equal exactly if these are.
    #[inline]
    pub fn bytes(&self) -> [&[u8]; 3] {
        [
            self.shared.as_bytes(),
            self.nodes.0[..self.shared.nodes as usize].as_bytes(),
            self.tasks.0[..self.shared.tasks as usize].as_bytes(),
        ]
    }

    /// How many bytes are in use.
    pub fn size(&self) -> usize {
        self.bytes().iter().map(|it| it.len()).sum()
    }

    /// Slots of node `n` that are taken.
    #[inline]
    pub fn slots_taken(&self, n: NodeId) -> u8 {
        self.task_ids().map(|t| u8::from(self.tasks[t].watcher.holds_slot_of(n))).sum()
    }
}

/// The size of the largest world. A change here changes what every search costs.
const _: () = assert!(size_of::<World>() <= 1_200);
