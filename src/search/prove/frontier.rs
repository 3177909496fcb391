//! Worlds that are kept until they are left, packed to the bytes in use.

use crate::model::world::{Node, Shared, Task, World};
use crate::run::Monitors;

/// Worlds of one scope, one after the other, without the nodes and tasks that are not in use.
#[derive(Debug)]
pub(super) struct Packed {
    nodes_each: usize,
    tasks_each: usize,
    shared: Vec<Shared>,
    nodes: Vec<Node>,
    tasks: Vec<Task>,
}

impl Packed {
    /// For worlds of the scope of `world`.
    pub(super) fn like(world: &World) -> Packed {
        let (nodes_each, tasks_each) = (world.node_ids().count(), world.task_ids().count());
        Packed { nodes_each, tasks_each, shared: Vec::new(), nodes: Vec::new(), tasks: Vec::new() }
    }

    #[inline]
    pub(super) fn push(&mut self, world: &World) {
        self.shared.push(world.shared);
        self.nodes.extend_from_slice(&world.nodes.0[..self.nodes_each]);
        self.tasks.extend_from_slice(&world.tasks.0[..self.tasks_each]);
    }

    /// Appends a world of another.
    #[inline]
    pub(super) fn push_from(&mut self, other: &Packed, at: usize) {
        self.shared.push(other.shared[at]);
        self.nodes.extend_from_slice(&other.nodes[at * self.nodes_each..][..self.nodes_each]);
        self.tasks.extend_from_slice(&other.tasks[at * self.tasks_each..][..self.tasks_each]);
    }

    /// Writes the world at `at` over another of the same scope.
    #[inline]
    pub(super) fn load(&self, at: usize, world: &mut World) {
        world.shared = self.shared[at];
        world.nodes.0[..self.nodes_each].copy_from_slice(&self.nodes[at * self.nodes_each..][..self.nodes_each]);
        world.tasks.0[..self.tasks_each].copy_from_slice(&self.tasks[at * self.tasks_each..][..self.tasks_each]);
    }

    pub(super) fn clear(&mut self) {
        self.shared.clear();
        self.nodes.clear();
        self.tasks.clear();
    }
}

/// Writes `world` over another of the same scope: only what is in use.
#[inline]
pub(super) fn copy(world: &World, over: &mut World) {
    let (nodes, tasks) = (world.node_ids().count(), world.task_ids().count());
    over.shared = world.shared;
    over.nodes.0[..nodes].copy_from_slice(&world.nodes.0[..nodes]);
    over.tasks.0[..tasks].copy_from_slice(&world.tasks.0[..tasks]);
}

/// A world that waits to be left: where it stands in the tree of first ways, and what is watched there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) node: u32,
    /// One more than the place of its monitors; 0 where nothing has been broken for any time.
    pub(super) watch: u32,
    /// It has been left before, and is left again since something has been broken there for longer.
    pub(super) again: bool,
}

/// Worlds of one level that wait to be left.
#[derive(Debug)]
pub(super) struct Frontier {
    pub(super) worlds: Packed,
    pub(super) open: Vec<Open>,
    pub(super) monitors: Vec<Monitors>,
}

impl Frontier {
    pub(super) fn like(world: &World) -> Frontier {
        Frontier { worlds: Packed::like(world), open: Vec::new(), monitors: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.worlds.clear();
        self.open.clear();
        self.monitors.clear();
    }
}
