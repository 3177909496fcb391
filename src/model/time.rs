//! Time is windows: what may happen from when on, and by when it must have happened.
//!
//! The resolution of the model is one second. What normally takes less has no window at all: it is owed within
//! this instant, in any order. The clock moves only when nothing is owed within this instant, and only to the next
//! boundary of a window. It never passes anybody's latest unless a fault paid for it.
//!
//! Moving to boundaries raises no false alarm, since each run is a real timed run, but it does not generate every
//! real alignment of exact timers. [`Ticks::Fine`] adds those of Velero's own: 2 s and 60 s before each boundary.

use std::fmt;

use zerocopy::little_endian::U16;
use zerocopy::{FromZeros, Immutable, IntoBytes};

/// What remains, in seconds, of "not before" and "not after". All zero: neither bound, nothing runs.
#[derive(Clone, Copy, PartialEq, Eq, Default, FromZeros, IntoBytes, Immutable)]
#[repr(C)]
pub struct Window {
    /// Seconds until it may happen.
    earliest: U16,
    /// One more than the seconds until it must have happened; 0 where there is no such bound.
    deadline: U16,
}

impl Window {
    /// No bound: not running, or may happen at any time and need not happen at any.
    pub const OFF: Window = Window { earliest: U16::ZERO, deadline: U16::ZERO };

    /// Must happen now.
    pub const DUE: Window = Window { earliest: U16::ZERO, deadline: U16::new(1) };

    /// May happen after `earliest` seconds and must have happened after `latest`, where there is a latest.
    pub const fn new(span: Span) -> Window {
        let deadline = match span.latest {
            Some(latest) => latest + 1,
            None => 0,
        };
        Window { earliest: U16::new(span.earliest), deadline: U16::new(deadline) }
    }

    /// The same, or exactly after `seconds` if that is later.
    #[must_use]
    pub fn or_after(self, seconds: u16) -> Window {
        if seconds > self.earliest.get() {
            Window::new(Span { earliest: seconds, latest: Some(seconds) })
        } else {
            self
        }
    }

    /// It may happen now.
    #[inline]
    pub fn is_open(self) -> bool {
        self.earliest == U16::ZERO
    }

    /// It must happen now, before the clock moves.
    #[inline]
    pub fn is_due(self) -> bool {
        self.deadline.get() == 1
    }

    /// Whether it is running at all.
    #[inline]
    pub fn is_off(self) -> bool {
        self == Window::OFF
    }

    /// Seconds to the next boundary, if one lies ahead.
    #[inline]
    pub fn boundary(self) -> Option<u16> {
        match (self.earliest.get(), self.deadline.get()) {
            (0, 0 | 1) => None,
            (0, deadline) => Some(deadline - 1),
            (earliest, _) => Some(earliest),
        }
    }

    /// Seconds to its two boundaries, the one at which it opens and the one at which it falls due, as far as they lie
    /// ahead.
    #[inline]
    pub fn boundaries(self) -> [Option<u16>; 2] {
        let (earliest, deadline) = (self.earliest.get(), self.deadline.get());
        [(earliest > 0).then_some(earliest), (deadline > 1).then(|| deadline - 1)]
    }

    /// `seconds` go by. A deadline that a fault let pass stays due.
    #[inline]
    pub fn passes(&mut self, seconds: u16) {
        self.earliest = U16::new(self.earliest.get().saturating_sub(seconds));
        let deadline = self.deadline.get();
        if deadline > 0 {
            self.deadline = U16::new(deadline.saturating_sub(seconds).max(1));
        }
    }
}

impl fmt::Debug for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.earliest.get(), self.deadline.get()) {
            (0, 0) => write!(f, "-"),
            (earliest, 0) => write!(f, "{earliest}s.."),
            (earliest, deadline) => write!(f, "{earliest}s..{}s", deadline - 1),
        }
    }
}

/// How long ago something began, in seconds, up to an hour; or that it has not begun.
#[derive(Clone, Copy, PartialEq, Eq, Default, FromZeros, IntoBytes, Immutable)]
#[repr(transparent)]
pub struct Age(U16);

impl Age {
    /// It has not begun.
    pub const NONE: Age = Age(U16::ZERO);
    /// It begins now.
    pub const NEW: Age = Age(U16::new(1));
    /// Older ages are all alike: no rule asks for more than the forced cancel's hour, doubled for sensitivity.
    const CAP: u16 = 7_200;

    /// Whether it has begun.
    #[inline]
    pub fn has_begun(self) -> bool {
        self != Age::NONE
    }

    /// Whether it began `seconds` ago or earlier.
    #[inline]
    pub fn reached(self, seconds: u16) -> bool {
        self.has_begun() && self.0.get() > seconds
    }

    /// Seconds until it will have begun `seconds` ago, if that lies ahead.
    #[inline]
    pub fn boundary(self, seconds: u16) -> Option<u16> {
        (self.has_begun() && !self.reached(seconds)).then(|| seconds + 1 - self.0.get())
    }

    /// `seconds` go by, but nothing beyond `cap` is told apart.
    #[inline]
    pub fn passes(&mut self, seconds: u16, cap: u16) {
        if self.has_begun() {
            self.0 = U16::new(self.0.get().saturating_add(seconds).min(cap.min(Age::CAP) + 1));
        }
    }
}

impl fmt::Debug for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.get() {
            0 => write!(f, "-"),
            age => write!(f, "{}s", age - 1),
        }
    }
}

/// To which instants the clock moves.
///
/// What happens at an instant can start an exact timer. Where it ends at a boundary, it had to start before one: at an
/// instant to which a clock that only knows boundaries never moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ticks {
    /// To the boundaries of windows.
    #[default]
    Boundaries,
    /// Also to the instants from which one of [`Ticks::EXACT`] leads to a boundary. There are many more worlds then, and
    /// the normal schedule is the same: it never stops short of a boundary.
    ///
    /// This is one step back from each boundary. Of two exact timers in a row only the second is aligned, and no timer
    /// of another length is.
    Fine,
}

impl Ticks {
    /// Both, the default first.
    pub const ALL: [Ticks; 2] = [Ticks::Boundaries, Ticks::Fine];

    /// Velero's exact timers, in seconds: the 2 s of its polls and of the kubelet's least grace, and the minute of the
    /// watcher's wait for events and of the periodic enqueue.
    pub const EXACT: [u16; 2] = [2, 60];

    /// Its name, as on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Ticks::Boundaries => "boundaries",
            Ticks::Fine => "fine",
        }
    }

    /// How time moves, in words.
    pub const fn what(self) -> &'static str {
        match self {
            Ticks::Boundaries => "time moving to window boundaries",
            Ticks::Fine => "time moving to window boundaries and to 2 s and 60 s before them",
        }
    }
}

/// From when on, and by when, in seconds from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Not before.
    pub earliest: u16,
    /// Not after; `None` for what happens some day (it is fair, but nothing bounds it).
    pub latest: Option<u16>,
}

/// Everything that takes time, as one table: how long, and who says so.
macro_rules! obligations {
    ($($name:ident: $earliest:literal .. $latest:expr, $what:literal, $source:literal;)*) => {
        /// What takes longer than an instant.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Obligation { $(#[doc = $what] $name),* }

        impl Obligation {
            /// All of them, in the order of the table.
            pub const ALL: &[Obligation] = &[$(Obligation::$name),*];

            /// What it is, in words.
            pub const fn what(self) -> &'static str {
                match self { $(Obligation::$name => $what),* }
            }

            /// Who says so: a Velero constant, a Kubernetes constant, or the word *assumed*.
            pub const fn source(self) -> &'static str {
                match self { $(Obligation::$name => $source),* }
            }

            /// Its bounds at price 0.
            pub const fn span(self) -> Span {
                match self { $(Obligation::$name => Span { earliest: $earliest, latest: $latest }),* }
            }

            /// Whether one of its bounds is our assumption and not a constant of Velero or Kubernetes.
            pub fn is_assumed(self) -> bool {
                self.source().contains("assumed")
            }
        }
    };
}

const MINUTE: u16 = 60;
const HOUR: u16 = 60 * MINUTE;

obligations! {
    ContainerStart: 1 .. None, "pod bound to a node until its container runs", "assumed: image pulls and volume attachments have no bound";
    StatusPatch: 0 .. Some(10), "container started or exited until the pod's status says so", "assumed: the kubelet's status manager syncs at least every 10 s";
    MoverBoot: 0 .. Some(10), "mover process started until it polls, and until its informer has listed", "assumed: a public log shows 4 s";
    RepositoryOpen: 1 .. Some(MINUTE), "opening the backup repository", "assumed; a cancel does not shorten it";
    TransferStop: 0 .. Some(MINUTE), "transfer returns after its cancel function was called", "assumed: uploader flush";
    Sigkill: 2 .. Some(2), "SIGTERM until SIGKILL", "Kubernetes: the kubelet's minimum grace period, 2 s";
    GarbageCollection: 0 .. Some(30), "owner gone until its dependents are deleted", "assumed";
    Expose: 1 .. Some(50 * MINUTE), "waiting for the volume snapshot and making the side objects", "Velero: --data-mover-prepare-timeout, 30 min, and twice operationTimeout, 10 min";
    ExposeDownload: 1 .. Some(30 * MINUTE), "waiting for the target volume to be consumed and making the side objects", "Velero: --data-mover-prepare-timeout, 30 min";
    Rebind: 0 .. Some(20 * MINUTE), "rebinding the restored volume to its target", "Velero: several waits of operationTimeout, 10 min each; assumed to take no more than two";
    CleanUp: 0 .. Some(2 * MINUTE), "waiting for PVC and PV to go, then deleting the other side objects", "Velero: CleanUp waits up to 1 min for each";
    SlotRequeue: 0 .. Some(5), "requeue while no slot is free, and after a failed InProgress write, from when it would matter", "Velero: RequeueAfter, 5 s";
    PeriodicEnqueue: 0 .. Some(MINUTE), "periodic enqueue, from when it would matter", "Velero: preparingMonitorFrequency, 1 min";
    ShortBackoff: 0 .. Some(MINUTE), "error requeue from the ninth failure in a row, from when it would matter", "controller-runtime: 5 ms doubled each time; classed";
    LongBackoff: 0 .. Some(1000), "error requeue from the fourteenth failure in a row, from when it would matter", "controller-runtime: at most 1,000 s";
    ForcedCancel: 300 .. None, "cancel first seen until it may be forced, unless InProgress", "Velero: cancelDelayOthers, 5 min";
    ForcedCancelInProgress: 3600 .. None, "cancel first seen until it may be forced, while InProgress", "Velero: cancelDelayInProgress, 1 h";
    PrepareTimeout: 1800 .. None, "accepted until it may fail for not being prepared", "Velero: --data-mover-prepare-timeout, 30 min";
    Epilog: 60 .. Some(60), "watcher waits for the Started and Stopped events, from the last event", "Velero: eventWaitTimeout, 1 min";
    OperationTimeout: 14_400 .. Some(14_410), "item operation created until the server cancels it", "Velero: --default-item-operation-timeout, 4 h, polled every 10 s";
    Relist: 1 .. Some(30), "broken watch until it has listed again", "client-go: reflector backoff, 0.8 s to 30 s";
}

const _: () = assert!(HOUR == Obligation::ForcedCancelInProgress.span().earliest);

/// The windows in force: the table, or the table with one entry changed to see what depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times([Span; Obligation::ALL.len()]);

impl Default for Times {
    fn default() -> Times {
        let mut spans = [Span { earliest: 0, latest: None }; Obligation::ALL.len()];
        for &it in Obligation::ALL {
            spans[it as usize] = it.span();
        }
        Times(spans)
    }
}

impl Times {
    /// The bounds of `it`.
    #[inline]
    pub fn span(&self, it: Obligation) -> Span {
        self.0[it as usize]
    }

    /// The window of `it`, starting now.
    #[inline]
    pub fn window(&self, it: Obligation) -> Window {
        Window::new(self.span(it))
    }

    /// The same table with another span for `it`.
    #[must_use]
    pub fn with(mut self, it: Obligation, span: Span) -> Times {
        self.0[it as usize] = span;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_opens_then_falls_due_and_stays_so() {
        let mut it = Window::new(Span { earliest: 1, latest: Some(3) });
        assert!(!it.is_open() && !it.is_due());
        assert_eq!(it.boundary(), Some(1));
        it.passes(1);
        assert!(it.is_open() && !it.is_due());
        assert_eq!(it.boundary(), Some(2));
        it.passes(2);
        assert!(it.is_due());
        assert_eq!(it.boundary(), None);
        it.passes(100);
        assert!(it.is_due());
    }

    #[test]
    fn a_window_has_two_boundaries_and_the_next_is_the_nearer() {
        for (earliest, latest) in [(0, None), (0, Some(0)), (5, None), (0, Some(7)), (3, Some(3)), (3, Some(9))] {
            let mut it = Window::new(Span { earliest, latest });
            for _ in 0..12 {
                assert_eq!(it.boundaries().into_iter().flatten().min(), it.boundary(), "{it:?}");
                it.passes(1);
            }
            assert_eq!(it.boundaries(), [None, None]);
        }
        assert_eq!(Window::new(Span { earliest: 3, latest: Some(9) }).boundaries(), [Some(3), Some(9)]);
    }

    #[test]
    fn an_age_reaches_a_limit_exactly_then() {
        let mut it = Age::NEW;
        assert_eq!(it.boundary(300), Some(300));
        it.passes(299, 3600);
        assert!(!it.reached(300));
        it.passes(1, 3600);
        assert!(it.reached(300));
        assert_eq!(it.boundary(300), None);
        it.passes(60_000, 3600);
        assert!(it.reached(3600));
    }
}
