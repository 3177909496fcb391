//! Where something happens: which node, which task.

use std::fmt;
use std::ops::{Index, IndexMut};

use zerocopy::{FromZeros, Immutable, IntoBytes};

/// The most nodes that a world has room for.
pub const NODES: usize = 3;
/// The most tasks (a `DataUpload`, its pod and its mover) that a world has room for.
pub const TASKS: usize = 4;

/// A node, and with it the node-agent and the kubelet that run there. Printed as `n0`, `n1`, `n2`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, FromZeros, IntoBytes, Immutable)]
#[repr(transparent)]
pub struct NodeId(pub u8);

/// A task: one `DataUpload`, the pod named after it, the mover in that pod. Printed as `a`, `b`, `c`, `d`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, FromZeros, IntoBytes, Immutable)]
#[repr(transparent)]
pub struct TaskId(pub u8);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", char::from(b'a' + self.0))
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One `T` for each node. A [`NodeId`] is the only key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, FromZeros, IntoBytes, Immutable)]
#[repr(transparent)]
pub struct PerNode<T>(pub [T; NODES]);

/// One `T` for each task. A [`TaskId`] is the only key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, FromZeros, IntoBytes, Immutable)]
#[repr(transparent)]
pub struct PerTask<T>(pub [T; TASKS]);

impl<T> Index<NodeId> for PerNode<T> {
    type Output = T;
    #[inline]
    fn index(&self, n: NodeId) -> &T {
        &self.0[n.0 as usize]
    }
}

impl<T> IndexMut<NodeId> for PerNode<T> {
    #[inline]
    fn index_mut(&mut self, n: NodeId) -> &mut T {
        &mut self.0[n.0 as usize]
    }
}

impl<T> Index<TaskId> for PerTask<T> {
    type Output = T;
    #[inline]
    fn index(&self, t: TaskId) -> &T {
        &self.0[t.0 as usize]
    }
}

impl<T> IndexMut<TaskId> for PerTask<T> {
    #[inline]
    fn index_mut(&mut self, t: TaskId) -> &mut T {
        &mut self.0[t.0 as usize]
    }
}

/// A node or nobody, in one byte: `status.node` and `spec.nodeName` before and after they are set.
#[derive(Clone, Copy, PartialEq, Eq, Default, FromZeros, IntoBytes, Immutable)]
#[repr(transparent)]
pub struct Host(u8);

impl Host {
    /// Not set yet.
    pub const NOBODY: Host = Host(0);

    /// Set to `n`.
    #[inline]
    pub const fn at(n: NodeId) -> Host {
        Host(n.0 + 1)
    }

    /// The node, if it is set.
    #[inline]
    pub const fn node(self) -> Option<NodeId> {
        match self.0 {
            0 => None,
            n => Some(NodeId(n - 1)),
        }
    }

    /// Whether it is set to `n`.
    #[inline]
    pub const fn is(self, n: NodeId) -> bool {
        self.0 == n.0 + 1
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.node() {
            Some(n) => write!(f, "{n}"),
            None => write!(f, "-"),
        }
    }
}
