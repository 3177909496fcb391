//! The watch path: what the API server wrote, and how far each observer is.
//!
//! Observers need no queues of their own. Custom resources have one log of versions that all observers share; the
//! pods of a node have a log of their own, since a node-agent's pod cache is filtered by node. An observer is a
//! store and cursors: `seen` for the store, `told` for each listener behind it. Entries that all have passed are
//! dropped, so worlds recur.
//!
//! A write that finds a log full waits until the slowest observer has taken an entry. That hides no behaviour of
//! the observers but the ones that need more than [`CR_LOG`] changes within one lag.

use zerocopy::{FromZeros, Immutable, IntoBytes};

use super::api_server::{DataUpload, PodPhase};
use super::design::{Design, PodHeard};
use super::place::{NodeId, TaskId};
use super::time::Window;
use super::touched::{self, CR_LOG as CR_LOG_AREA, CRS, MOVER};
use super::world::World;

/// Versions of custom resources that the shared log has room for.
pub const CR_LOG: usize = 6;
/// Versions of pods that the log of one node has room for.
pub const POD_LOG: usize = 8;

/// A version of a custom resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(C)]
pub struct CrEntry {
    /// Whose.
    pub task: TaskId,
    /// What it says; absent where it was deleted.
    pub cr: DataUpload,
}

/// Versions of custom resources, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(C)]
pub struct CrLog {
    pub(super) len: u8,
    pub(super) entries: [CrEntry; CR_LOG],
}

/// How far a node-agent's informer of custom resources is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(C)]
pub struct CrStream {
    /// Entries that its store holds.
    pub(super) seen: u8,
    /// Entries that its controller's listener has been told of.
    pub(super) told: u8,
    /// Tasks of which the listener has still to be told because of a relist, one bit each.
    pub(super) relisted: u8,
    /// Those among them that had not changed: their keys get the low priority.
    pub(super) unchanged: u8,
    /// Tasks written since the watch broke, one bit each.
    pub(super) missed: u8,
    /// The watch is broken and must list again.
    pub(super) broken: bool,
    /// When it does.
    pub(super) relist: Window,
}

/// What a watch says of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(u8)]
pub enum PodEvent {
    /// First sight of it in this process.
    Added,
    /// It changed.
    Modified,
    /// It is gone.
    Deleted,
    /// A relist found it as it was: an update of x to x.
    Synced,
    /// A relist did not find it.
    Tombstone,
}

/// A version of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(C)]
pub struct PodEntry {
    /// Whose.
    pub task: TaskId,
    /// Its phase; absent where it was deleted.
    pub phase: PodPhase,
    /// What happened to it.
    pub event: PodEvent,
}

impl PodEntry {
    /// Reaches update handlers.
    fn is_update(self) -> bool {
        matches!(self.event, PodEvent::Modified | PodEvent::Synced)
    }

    /// The mapping of pod events may act on it: it must be handled in its turn.
    fn concerns_mapping(self) -> bool {
        self.is_update() && (self.phase == PodPhase::Running || self.phase.is_unrecoverable())
    }

    /// The watcher of `t` is woken by it.
    fn concerns_watcher(self, design: &dyn Design, t: TaskId) -> bool {
        self.task == t
            && match self.event {
                PodEvent::Added => false,
                PodEvent::Modified | PodEvent::Synced => design.watcher_hears(PodHeard::Update(self.phase)),
                PodEvent::Deleted | PodEvent::Tombstone => design.watcher_hears(PodHeard::Delete),
            }
    }
}

/// Versions of one node's pods, oldest first, and how far its node-agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(C)]
pub struct PodLog {
    pub(super) len: u8,
    /// Entries that the store holds.
    pub(super) seen: u8,
    /// Entries that the mapping of pod events has been told of.
    pub(super) told: u8,
    /// The watch is broken and must list again.
    pub(super) broken: bool,
    /// When it does.
    pub(super) relist: Window,
    pub(super) entries: [PodEntry; POD_LOG],
}

impl CrLog {
    const NOTHING: CrEntry = CrEntry { task: TaskId(0), cr: DataUpload::ABSENT };

    fn push(&mut self, entry: CrEntry) {
        self.entries[self.len as usize] = entry;
        self.len += 1;
    }

    fn drop_first(&mut self, count: u8) {
        self.entries.copy_within(count as usize.., 0);
        self.entries[CR_LOG - count as usize..].fill(CrLog::NOTHING);
        self.len -= count;
    }
}

impl PodLog {
    const NOTHING: PodEntry = PodEntry { task: TaskId(0), phase: PodPhase::Absent, event: PodEvent::Added };

    /// Room for the two entries of a deletion.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.len as usize + 2 <= POD_LOG
    }

    pub(super) fn push(&mut self, entry: PodEntry) {
        self.entries[self.len as usize] = entry;
        self.len += 1;
    }

    fn drop_first(&mut self, count: u8) {
        self.entries.copy_within(count as usize.., 0);
        self.entries[POD_LOG - count as usize..].fill(PodLog::NOTHING);
        self.len -= count;
        self.seen -= count;
        self.told -= count;
    }

    /// What the mapping hears next, if anything is in its buffer.
    #[inline]
    pub fn next_for_mapping(&self) -> Option<PodEntry> {
        (self.told < self.seen).then(|| self.entries[self.told as usize])
    }

    /// The mapping has been told of one more.
    pub(super) fn mapping_is_told(&mut self) {
        self.told += 1;
    }

    /// Where a handler that registers now begins.
    #[inline]
    pub fn seen(&self) -> u8 {
        self.seen
    }

    /// Takes the watch's window along with the clock.
    pub fn relist_window(&mut self) -> &mut Window {
        &mut self.relist
    }
}

impl CrStream {
    /// Takes the watch's window along with the clock.
    pub fn relist_window(&mut self) -> &mut Window {
        &mut self.relist
    }
}

impl World {
    /// Room for one more version of a custom resource.
    #[inline]
    pub fn cr_log_has_room(&self) -> bool {
        (self.shared.cr_log.len as usize) < CR_LOG
    }

    /// Room for the two entries of a deletion of the pod of `t`.
    #[inline]
    pub fn pod_log_has_room(&self, t: TaskId) -> bool {
        self.tasks[t].pod.host.node().is_none_or(|n| self.nodes[n].pods.broken || self.nodes[n].pods.has_room())
    }

    /// A new version of the custom resource of `t` for all who watch.
    pub(super) fn log_cr(&mut self, t: TaskId, cr: DataUpload) {
        self.shared.cr_log.push(CrEntry { task: t, cr });
        for n in self.node_ids() {
            let stream = &mut self.nodes[n].crs;
            if stream.broken {
                stream.missed |= 1 << t.0;
            }
        }
    }

    /// A new version of the pod of `t` for the node-agent of its node; a broken watch misses it.
    pub(super) fn log_pod(&mut self, t: TaskId, phase: PodPhase, event: PodEvent) {
        if let Some(n) = self.tasks[t].pod.host.node() {
            let log = &mut self.nodes[n].pods;
            if !log.broken {
                log.push(PodEntry { task: t, phase, event });
            }
        }
    }

    /// Whether the copy in node `n`'s cache is the newest version.
    #[inline]
    pub fn cache_is_current(&self, n: NodeId, t: TaskId) -> bool {
        let stream = &self.nodes[n].crs;
        if stream.broken {
            return stream.missed & (1 << t.0) == 0;
        }
        let log = &self.shared.cr_log;
        log.entries[stream.seen as usize..log.len as usize].iter().all(|it| it.task != t)
    }

    /// The next version of its own custom resource that the mover of `t` has to hear of, if there is one.
    #[inline]
    pub fn next_for_mover(&self, t: TaskId) -> Option<DataUpload> {
        let mover = &self.tasks[t].mover;
        let log = &self.shared.cr_log;
        if mover.is_listening() && mover.behind {
            Some(mover.listed)
        } else {
            (mover.is_listening() && mover.told < log.len).then(|| log.entries[mover.told as usize].cr)
        }
    }

    /// Where an observer that lists now begins.
    #[inline]
    pub fn end_of_cr_log(&self) -> u8 {
        self.shared.cr_log.len
    }

    /// Drops the versions of custom resources that all have passed; a mover passes those that do not concern it.
    /// Returns what that touched.
    pub(super) fn compact_cr_log(&mut self) -> u64 {
        let len = self.shared.cr_log.len;
        let mut touched = 0;
        if len == 0 {
            return touched;
        }
        let mut passed = len;
        for n in self.node_ids() {
            let stream = &self.nodes[n].crs;
            if !stream.broken {
                passed = passed.min(stream.told);
            }
        }
        for t in self.task_ids() {
            let log = &self.shared.cr_log;
            let mover = &mut self.tasks[t].mover;
            let told = mover.told;
            if mover.is_listening() {
                while mover.told < len && log.entries[mover.told as usize].task != t {
                    mover.told += 1;
                }
                passed = passed.min(mover.told);
            } else {
                mover.told = 0;
            }
            if mover.told != told {
                touched |= touched::mover(t);
            }
        }
        if passed == 0 {
            return touched;
        }
        touched |= CR_LOG_AREA | CRS | MOVER;
        self.shared.cr_log.drop_first(passed);
        for n in self.node_ids() {
            let stream = &mut self.nodes[n].crs;
            if !stream.broken {
                stream.seen -= passed;
                stream.told -= passed;
            }
        }
        for t in self.task_ids() {
            let mover = &mut self.tasks[t].mover;
            if mover.is_listening() {
                mover.told -= passed;
            }
        }
        touched
    }

    /// Drops the versions of pods of node `n` that all have passed; whom one does not concern passes it. Returns what
    /// that touched.
    pub(super) fn compact_pod_log(&mut self, design: &dyn Design, n: NodeId) -> u64 {
        let log = &mut self.nodes[n].pods;
        let mut touched = 0;
        if log.len == 0 {
            return touched;
        }
        while log.told < log.seen && !log.entries[log.told as usize].concerns_mapping() {
            log.told += 1;
            touched = touched::pods(n);
        }
        let mut passed = log.told;
        let log = *log;
        for t in self.task_ids() {
            let watcher = &mut self.tasks[t].watcher;
            if watcher.listens_on(n) {
                while watcher.told < log.seen && !log.entries[watcher.told as usize].concerns_watcher(design, t) {
                    watcher.told += 1;
                    touched |= touched::watcher(t);
                }
                if !watcher.is_blocked() {
                    passed = passed.min(watcher.told);
                }
            }
        }
        if passed == 0 {
            return touched;
        }
        touched |= touched::pods(n);
        self.nodes[n].pods.drop_first(passed);
        for t in self.task_ids() {
            let watcher = &mut self.tasks[t].watcher;
            if watcher.listens_on(n) {
                watcher.told = watcher.told.saturating_sub(passed); // a blocked handler's buffer is cut short
                touched |= touched::watcher(t);
            }
        }
        touched
    }

    /// The next update of its pod that the watcher of `t` has in its buffer.
    #[inline]
    pub fn next_for_watcher(&self, n: NodeId, t: TaskId) -> Option<PodEntry> {
        let watcher = &self.tasks[t].watcher;
        let log = &self.nodes[n].pods;
        (watcher.listens_on(n) && watcher.told < log.seen).then(|| log.entries[watcher.told as usize])
    }
}

impl World {
    /// The watch of custom resources of node `n` dies in a way that forces a relist (D7).
    pub(super) fn break_cr_watch(&mut self, n: NodeId, relist: Window) {
        let log = self.shared.cr_log;
        let stream = &mut self.nodes[n].crs;
        for entry in &log.entries[stream.told as usize..stream.seen as usize] {
            stream.relisted |= 1 << entry.task.0; // told in spite of the break: the keys are the same
        }
        for entry in &log.entries[stream.seen as usize..log.len as usize] {
            stream.missed |= 1 << entry.task.0;
        }
        stream.seen = 0;
        stream.told = 0;
        stream.broken = true;
        stream.relist = relist;
    }

    /// The watch of pods of node `n` dies in a way that forces a relist (D7): what was under way to it is lost.
    pub(super) fn break_pod_watch(&mut self, n: NodeId, relist: Window) {
        let log = &mut self.nodes[n].pods;
        log.entries[log.seen as usize..].fill(PodLog::NOTHING);
        log.len = log.seen;
        log.broken = true;
        log.relist = relist;
    }

    /// Whether one of node `n`'s watches is broken.
    pub fn has_broken_watch(&self, n: NodeId) -> bool {
        self.nodes[n].crs.broken || self.nodes[n].pods.broken
    }

    /// Whether node `n`'s watch of custom resources is up.
    pub fn cr_watch_is_up(&self, n: NodeId) -> bool {
        !self.nodes[n].crs.broken
    }

    /// Whether node `n`'s watch of pods is up.
    pub fn pod_watch_is_up(&self, n: NodeId) -> bool {
        !self.nodes[n].pods.broken
    }
}
