//! The work queue of the `DataUpload` controller, with the semantics of controller-runtime's priority queue.
//!
//! A key is queued at most once and first in, first out within its priority. An immediate add overrides a pending
//! delay, and a delay does not hold back a key that is ready (F2, F3, K8S-6). What waits for a delay is a poll: it
//! is owed only while a reconcile would now do anything but wait again.

use zerocopy::{FromZeros, Immutable, IntoBytes};

use super::super::place::{NodeId, TaskId};
use super::super::rules::Step;
use super::super::time::{Obligation, Window};
use super::super::world::World;
use crate::require;

/// Why a key comes back by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(u8)]
pub enum Delay {
    /// It does not.
    None,
    /// `RequeueAfter` 5 s.
    Soon,
    /// An error: 5 ms, doubled with each failure in a row, at most 1,000 s.
    Backoff,
}

/// What the queue knows of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(C)]
pub struct Key {
    /// Its place among the queued keys of its node, ready or not, from 1; 0 while it is not queued.
    pub(crate) rank: u8,
    /// Whether it may be handed to the worker.
    pub(crate) ready: bool,
    /// It came from a relist that showed no change: priority -100.
    pub(crate) low: bool,
    /// Why it comes back by itself.
    pub(crate) delay: Delay,
    /// Failures in a row; more than [`Key::LONG`] are not told apart.
    pub(crate) failures: u8,
    /// By when it comes back; off while that would change nothing.
    pub(crate) due: Window,
}

impl Key {
    /// From this many failures in a row the backoff exceeds a second: 5 ms doubled eight times.
    const SHORT: u8 = 9;
    /// From this many it exceeds forty seconds.
    const LONG: u8 = 14;

    /// Whether it is ready to be handed to the worker.
    #[inline]
    pub fn is_ready(self) -> bool {
        self.ready
    }

    /// Whether it waits for a delay.
    #[inline]
    pub fn is_delayed(self) -> bool {
        self.delay != Delay::None
    }

    /// Which delay it waits for; `None` for one of under a second.
    pub fn obligation(self) -> Option<Obligation> {
        match self.delay {
            Delay::None | Delay::Soon => Some(Obligation::SlotRequeue),
            Delay::Backoff if self.failures < Key::SHORT => None,
            Delay::Backoff if self.failures < Key::LONG => Some(Obligation::ShortBackoff),
            Delay::Backoff => Some(Obligation::LongBackoff),
        }
    }

    /// By when it comes back.
    #[inline]
    pub fn due(&mut self) -> &mut Window {
        &mut self.due
    }
}

/// How a reconcile ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing more to do.
    Done,
    /// Come again in 5 s.
    RequeueSoon,
    /// Come again after a backoff.
    Error,
}

impl World {
    /// Adds the key at priority 0. One that waits for a delay is ready at once and keeps its place; one whose priority is
    /// raised goes to the end of the new one.
    pub fn enqueue(&mut self, n: NodeId, t: TaskId) {
        let key = self.tasks[t].at[n].key;
        if key.is_ready() && !key.low {
            return;
        }
        if key.rank == 0 || key.low {
            self.queue_last(n, t);
        }
        self.make_ready(n, t, false);
    }

    /// Adds the key at priority -100; a higher one stays.
    pub fn enqueue_low(&mut self, n: NodeId, t: TaskId) {
        let key = self.tasks[t].at[n].key;
        if key.is_ready() {
            return;
        }
        if key.rank == 0 {
            self.queue_last(n, t);
        }
        self.make_ready(n, t, key.rank == 0 || key.low);
    }

    fn make_ready(&mut self, n: NodeId, t: TaskId, low: bool) {
        let key = &mut self.tasks[t].at[n].key;
        key.ready = true;
        key.low = low;
        key.delay = Delay::None;
        key.due = Window::OFF;
    }

    fn queue_last(&mut self, n: NodeId, t: TaskId) {
        self.unqueue(n, t);
        let last = self.task_ids().map(|it| self.tasks[it].at[n].key.rank).max().unwrap_or(0);
        self.tasks[t].at[n].key.rank = last + 1;
    }

    /// Takes the key out of the queue.
    fn unqueue(&mut self, n: NodeId, t: TaskId) {
        self.tasks[t].at[n].key.ready = false;
        let rank = std::mem::take(&mut self.tasks[t].at[n].key.rank);
        if rank > 0 {
            for it in self.task_ids() {
                let other = &mut self.tasks[it].at[n].key;
                if other.rank > rank {
                    other.rank -= 1;
                }
            }
        }
    }

    /// The key that the worker would be handed now.
    pub fn head_of_queue(&self, n: NodeId) -> Option<TaskId> {
        self.task_ids()
            .filter(|&t| self.tasks[t].at[n].key.is_ready())
            .min_by_key(|&t| (self.tasks[t].at[n].key.low, self.tasks[t].at[n].key.rank))
    }

    /// A delay after which a reconcile would do nothing and succeed is over: nothing comes of it.
    pub(in super::super) fn forget_delay(&mut self, n: NodeId, t: TaskId) {
        self.unqueue(n, t);
        let key = &mut self.tasks[t].at[n].key;
        key.delay = Delay::None;
        key.due = Window::OFF;
        key.low = false;
        key.failures = 0;
    }

    /// Hands the key to the worker; says whether it had the low priority.
    pub fn dequeue(&mut self, n: NodeId, t: TaskId) -> bool {
        self.unqueue(n, t);
        std::mem::take(&mut self.tasks[t].at[n].key.low)
    }

    /// The worker is done with the key, which had the low priority or not (F5).
    pub fn finish_key(&mut self, n: NodeId, t: TaskId, outcome: Outcome, low: bool) {
        let key = &mut self.tasks[t].at[n].key;
        let delay = match outcome {
            Outcome::Done => Delay::None,
            Outcome::RequeueSoon => Delay::Soon,
            Outcome::Error => Delay::Backoff,
        };
        key.failures = if outcome == Outcome::Error { (key.failures + 1).min(Key::LONG) } else { 0 };
        if !key.is_ready() && delay != Delay::None {
            key.delay = delay;
            key.low = low;
            self.queue_last(n, t);
        } else if delay != Delay::None && !low {
            self.enqueue(n, t); // the higher priority of the two
        }
    }
}

/// A key that was requeued with a delay becomes ready again.
///
/// Spec: N4, R8e, R8g. controller-runtime: `priorityqueue.go`, `handleWaitingItems`.
pub fn falls_due(step: &mut Step<'_>, n: NodeId, t: TaskId) -> Option<()> {
    let now = step.now();
    let key = now.tasks[t].at[n].key;
    require!(key.is_delayed(), now.reconcile_would_act(step.setup, n, t));
    step.within(key.due)?;

    let next = step.fires()?;
    let low = next.tasks[t].at[n].key.low;
    next.queue_last(n, t);
    next.make_ready(n, t, low);
    Some(())
}
