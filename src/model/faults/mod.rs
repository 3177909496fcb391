//! What the outside world may do, what it costs, and the faults among it.
//!
//! The **price** of a violation is what the outside world had to do wrong to bring it about. Creating and cancelling
//! are free, and so are Velero's own time-outs and every interleaving. An abnormal operation or a fault costs 1.

pub mod node_fault;
pub mod node_recovery;
pub mod pod_fault;
pub mod pod_recovery;

use zerocopy::{FromZeros, Immutable, IntoBytes};

use super::place::{NodeId, PerTask, TaskId};
use super::world::World;

/// How long a disturbance lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasts {
    /// It happens and is over.
    Instant,
    /// It heals by itself; rest is judged only once it has.
    Passing,
    /// For ever; an invariant names those that excuse it.
    Lasting,
}

macro_rules! disturbances {
    ($($name:ident: $price:literal, $lasts:ident, $what:literal;)*) => {
        /// Something that the outside world may do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Disturbance { $(#[doc = $what] $name),* }

        impl Disturbance {
            /// All of them, in the order of the table.
            pub const ALL: &[Disturbance] = &[$(Disturbance::$name),*];

            /// What happens, in words.
            pub const fn what(self) -> &'static str {
                match self { $(Disturbance::$name => $what),* }
            }

            /// What it costs.
            pub const fn price(self) -> u8 {
                match self { $(Disturbance::$name => $price),* }
            }

            /// How long it lasts.
            pub const fn lasts(self) -> Lasts {
                match self { $(Disturbance::$name => Lasts::$lasts),* }
            }
        }
    };
}

disturbances! {
    Cancel: 0, Instant, "the user sets spec.cancel";
    DeleteFinished: 0, Instant, "the user deletes an upload that is final, as the deletion of its backup does";
    Delete: 1, Instant, "the user deletes an upload that is not final";
    StripFinalizer: 1, Instant, "the user strips the finalizer";
    DeletePod: 1, Instant, "the user deletes the pod (a drain, a preemption or a taint eviction looks the same)";
    Evict: 1, Instant, "the kubelet evicts the pod: it kills the process, and the object stays";
    KillMover: 1, Instant, "the mover dies without a message, out of memory for one";
    ExposeFails: 1, Instant, "the snapshot cannot be exposed";
    RepositoryFails: 1, Instant, "the repository cannot be opened";
    TransferFails: 1, Instant, "the transfer fails";
    BreakCrWatch: 1, Passing, "a node-agent's watch of custom resources breaks and lists again";
    BreakPodWatch: 1, Passing, "a node-agent's watch of pods breaks and lists again";
    BreakMoverWatch: 1, Passing, "a mover's watch of custom resources breaks and lists again";
    Stall: 1, Passing, "a process or a link stalls, however long";
    SlowUploader: 1, Lasting, "the transfer takes more than a minute to heed its cancel";
    HangTransfer: 1, Lasting, "the transfer never ends";
    SpoilImage: 1, Lasting, "the image of the pod cannot be pulled, and its status says so";
    NeverStart: 1, Lasting, "the container never starts";
    Unkillable: 1, Lasting, "the container cannot be killed";
}

/// How many kinds of disturbance there are.
const KINDS: usize = Disturbance::ALL.len();

/// What operators and faults may still do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(C)]
pub struct Budget {
    /// How often each upload may still be created.
    pub(in super::super) creations: PerTask<u8>,
    /// How often each disturbance may still happen.
    left: [u8; KINDS],
    /// What they may still cost together.
    price: u8,
}

impl Budget {
    /// Allows `count` more of `what`.
    pub fn allow(&mut self, what: Disturbance, count: u8) {
        self.left[what as usize] += count;
    }

    /// Sets what disturbances may cost together.
    pub fn set_price(&mut self, price: u8) {
        self.price = price;
    }

    /// What disturbances may still cost together.
    pub fn price_left(&self) -> u8 {
        self.price
    }

    /// Allows the creation of `t`.
    pub fn allow_creation(&mut self, t: TaskId) {
        self.creations[t] = 1;
    }

    /// Whether `what` may still happen.
    #[inline]
    pub fn allows(&self, what: Disturbance) -> bool {
        self.left[what as usize] > 0 && what.price() <= self.price
    }

    pub(super) fn spend(&mut self, what: Disturbance) {
        self.left[what as usize] -= 1;
        self.price -= what.price();
    }
}

/// Who is stalled: one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(C)]
pub struct Stalls {
    pub(in super::super) agents: u8,
    pub(in super::super) cr_watches: u8,
    pub(in super::super) pod_watches: u8,
    pub(in super::super) movers: u8,
    pub(in super::super) kubelets: u8,
}

impl Stalls {
    /// The node-agent of `n` is stalled.
    #[inline]
    pub fn agent(&self, n: NodeId) -> bool {
        self.agents & (1 << n.0) != 0
    }

    /// Node `n`'s watch of custom resources is stalled.
    #[inline]
    pub fn cr_watch(&self, n: NodeId) -> bool {
        self.cr_watches & (1 << n.0) != 0
    }

    /// Node `n`'s watch of pods is stalled.
    #[inline]
    pub fn pod_watch(&self, n: NodeId) -> bool {
        self.pod_watches & (1 << n.0) != 0
    }

    /// The mover of `t` is stalled.
    #[inline]
    pub fn mover(&self, t: TaskId) -> bool {
        self.movers & (1 << t.0) != 0
    }

    /// The kubelet of the node of `t` is stalled, as far as `t` is concerned.
    #[inline]
    pub fn kubelet(&self, t: TaskId) -> bool {
        self.kubelets & (1 << t.0) != 0
    }

    /// Whether anybody is.
    #[inline]
    pub fn any(&self) -> bool {
        self.agents | self.cr_watches | self.pod_watches | self.movers | self.kubelets != 0
    }
}

impl World {
    /// A fault that heals by itself is in force.
    pub fn is_passing(&self) -> bool {
        self.shared.stalls.any()
            || self.node_ids().any(|n| self.has_broken_watch(n))
            || self.task_ids().any(|t| self.tasks[t].mover.watch_broken)
    }
}
