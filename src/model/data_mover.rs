//! The mover process in a pod: its main goroutine, the handler of its own informer, and its transfer.
//!
//! The process outlives the pod object. Its goroutines share memory, so the points between two statements that
//! another goroutine can tell apart are points here too, although no API call lies between them.

use zerocopy::{FromZeros, Immutable, IntoBytes};

use super::api_server::DataUpload;
use super::design::{EarlyCancel, Heard, Poll, ResultSignal};
use super::node_agent::watcher::Watcher;
use super::place::TaskId;
use super::rules::{Setup, Step};
use super::time::{Obligation, Window};
use super::world::World;
use crate::require;

/// The process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(u8)]
pub enum Process {
    /// Not started.
    None,
    /// Runs.
    Running,
    /// Has ended.
    Ended,
}

/// How a process ended, and so what its pod's status can say of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(u8)]
pub enum End {
    /// It has not.
    None,
    /// Exit code 0, with the result as its message.
    Completed,
    /// Exit code 1; the message ends with the cancel text.
    Canceled,
    /// Exit code 1, with another error as its message.
    Failed,
    /// A panic: exit code 2, no message.
    Crashed,
    /// Killed: no message.
    Killed,
    /// The kubelet evicted the pod; the message is the kubelet's.
    Evicted,
}

/// How far main is (P1 to P14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, FromZeros, IntoBytes, Immutable)]
#[repr(u8)]
pub enum Main {
    /// No process.
    None,
    /// Starting: clients, cache, service.
    Booting,
    /// Polls for InProgress, and for nothing else.
    Polling,
    /// It holds the custom resource, so events about it no longer crash.
    Found,
    /// The data path is in the map, but has no cancel function yet.
    Created,
    /// The data path can be cancelled; the repository is being opened.
    Opening,
    /// The transfer runs; the Started event is not recorded yet.
    Started,
    /// Waits for one result or a signal.
    Selecting,
    /// Has a result; the Stopped event is not recorded yet.
    Selected,
    /// Waits for its events to be written.
    Draining,
    /// Cancels the transfer and waits for its goroutine.
    Closing,
    /// About to exit.
    Exiting,
}

/// How far the handler of its informer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(u8)]
pub enum Handler {
    /// The informer has not listed.
    Unlisted,
    /// Waits for updates.
    Listening,
    /// Blocked on the result signal: it reports a cancel before there was a data path.
    Sending,
    /// Its send was received; it records Stopped.
    Sent,
}

/// How far the transfer's goroutine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(u8)]
pub enum Transfer {
    /// Not started.
    None,
    /// Moves data.
    Running,
    /// Blocked on the result signal.
    Sending,
    /// Its send was received; the goroutine has ended.
    Done,
}

/// How a transfer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(u8)]
pub enum Outcome {
    /// It has not.
    None,
    /// With a snapshot.
    Completed,
    /// With the cancel error.
    Canceled,
    /// With another error.
    Failed,
}

/// Where an event of the mover is on its way to the watcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, FromZeros, IntoBytes, Immutable)]
#[repr(u8)]
pub enum Stage {
    /// Not recorded.
    None,
    /// In the recorder's queue.
    Recorded,
    /// Written to the API server.
    Written,
    /// In the watcher's `eventCh`.
    Sent,
    /// Handled by the watcher, or by nobody.
    Handled,
}

/// Why an event is recorded. The others that a mover records (Canceling, Canceled, Completed, Failed) only make a log
/// line and restart the watcher's wait; they are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The transfer runs.
    Started,
    /// Some bytes are done; told once a transfer.
    Progress,
    /// The mover is about to exit.
    Stopped,
}

/// The events of a mover, one of each reason; they stay in the order of [`Reason::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(transparent)]
pub struct Events([Stage; 3]);

impl Reason {
    /// All of them.
    pub const ALL: [Reason; 3] = [Reason::Started, Reason::Progress, Reason::Stopped];
}

impl Events {
    pub(super) fn next(self, stage: Stage) -> Option<Reason> {
        Reason::ALL.into_iter().find(|&it| self.0[it as usize] == stage)
    }

    pub(super) fn moves(&mut self, reason: Reason, to: Stage) {
        self.0[reason as usize] = to;
    }

    /// Where an event is.
    pub fn stage(self, reason: Reason) -> Stage {
        self.0[reason as usize]
    }

    /// The next one in the watcher's `eventCh`.
    #[inline]
    pub fn next_sent(self) -> Option<Reason> {
        self.next(Stage::Sent)
    }

    /// The watcher has handled it.
    pub(super) fn is_handled(&mut self, reason: Reason) {
        self.moves(reason, Stage::Handled);
    }

    fn records(&mut self, reason: Reason) {
        if self.stage(reason) == Stage::None {
            self.moves(reason, Stage::Recorded);
        }
    }

    /// The recorder has written all that was recorded.
    fn are_written(self) -> bool {
        self.next(Stage::Recorded).is_none()
    }

    /// What was not written is lost with the process.
    fn loses_unwritten(&mut self) {
        for it in &mut self.0 {
            if *it == Stage::Recorded {
                *it = Stage::None;
            }
        }
    }

    /// Nobody listens: what has been written is handled by nobody.
    pub(super) fn pass_unheard(&mut self) {
        for it in &mut self.0 {
            if matches!(*it, Stage::Written | Stage::Sent) {
                *it = Stage::Handled;
            }
        }
    }
}

/// The mover of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros, IntoBytes, Immutable)]
#[repr(C)]
pub struct Mover {
    /// The process.
    pub process: Process,
    /// How it ended.
    pub end: End,
    /// Its main goroutine.
    pub main: Main,
    /// The handler of its informer.
    pub handler: Handler,
    /// The transfer's goroutine.
    pub transfer: Transfer,
    /// How the transfer ended.
    pub outcome: Outcome,
    /// What main takes for its result.
    pub(crate) result: Outcome,
    /// It was sent SIGTERM.
    pub terminated: bool,
    /// The cancel function of the data path was called.
    pub cancelled: bool,
    /// It acted on the cancel of its custom resource.
    pub heard_cancel: bool,
    /// It acted on the removal of its custom resource.
    pub heard_removal: bool,
    /// The handler's send came before the transfer's, while both are blocked.
    pub(crate) handler_first: bool,
    /// A relist, or the end of a wait, has skipped versions: it hears of the listed one at once.
    pub(crate) behind: bool,
    /// The version that was listed then.
    pub(crate) listed: DataUpload,
    /// Its watch is broken and must list again.
    pub(crate) watch_broken: bool,
    /// The transfer began with its cancel function called: it cannot complete.
    pub(crate) doomed: bool,
    /// The result that reached main's channel first, where the first wins.
    pub(crate) signal: Outcome,
    /// A fault: the transfer does not end by itself.
    pub hung: bool,
    /// A fault: the transfer takes its time to heed a cancel.
    pub slow: bool,
    /// It has still to report progress.
    pub progress: bool,
    /// Entries of the log of custom resources that its handler has been told of.
    pub(crate) told: u8,
    /// What its handler was last told.
    pub last: DataUpload,
    /// Its events on their way to the watcher.
    pub events: Events,
    /// When main must be further: at its start, and while it opens the repository.
    pub window: Window,
    /// When its informer must have listed.
    pub listing: Window,
    /// When its broken watch lists again.
    pub relist: Window,
    /// When the transfer must have heeded the cancel.
    pub stopping: Window,
}

impl Mover {
    /// Its informer takes updates. A handler that is blocked lets them wait; it then hears of the newest only.
    #[inline]
    pub fn is_listening(&self) -> bool {
        self.process == Process::Running && self.handler == Handler::Listening && !self.watch_broken
    }

    /// Whether the process runs.
    #[inline]
    pub fn is_running(&self) -> bool {
        self.process == Process::Running
    }

    /// Whether it moves data.
    #[inline]
    pub fn is_transferring(&self) -> bool {
        self.process == Process::Running && self.transfer == Transfer::Running
    }

    /// A result reaches main's channel, where the first wins.
    fn signals(&mut self, outcome: Outcome) {
        if self.signal == Outcome::None {
            self.signal = outcome;
        }
    }

    /// Whether one of its goroutines is blocked on the result signal.
    #[inline]
    pub fn is_sending(&self) -> bool {
        self.process == Process::Running && (self.transfer == Transfer::Sending || self.handler == Handler::Sending)
    }
}

impl World {
    /// The process of `t` ends, and all its goroutines with it.
    pub(super) fn end_process(&mut self, t: TaskId, end: End, patch: Window) {
        let Mover { mut events, heard_removal, .. } = self.tasks[t].mover;
        events.loses_unwritten();
        self.tasks[t].mover =
            Mover { process: Process::Ended, end, events, heard_removal, ..zerocopy::FromZeros::new_zeroed() };
        let phase = self.tasks[t].pod.phase;
        self.tasks[t].kubelet.sees_exit(patch, phase);
    }

    /// The handler of `t` hears next of the version that there is now, whatever lay between.
    fn skips_versions(&mut self, t: TaskId) {
        let told = self.end_of_cr_log();
        let newest = self.tasks[t].cr;
        let mover = &mut self.tasks[t].mover;
        mover.told = told;
        mover.behind = mover.last != newest;
        mover.listed = if mover.behind { newest } else { DataUpload::ABSENT };
    }

    /// The cancel function of the data path is called.
    fn cancel_transfer(&mut self, t: TaskId, stopping: Window) {
        let mover = &mut self.tasks[t].mover;
        mover.cancelled = true;
        if mover.transfer == Transfer::Running && !mover.slow && mover.stopping.is_off() {
            mover.stopping = stopping;
        }
    }
}

/// The main goroutine of `t` is at `main`, in a process that runs.
#[inline]
fn at(now: &World, t: TaskId, main: Main) -> bool {
    let mover = &now.tasks[t].mover;
    mover.main == main && mover.process == Process::Running
}

/// It is up and begins to poll, whether or not its informer has listed.
///
/// Spec: P1 to P4. Velero: `pkg/cmd/cli/datamover/backup.go`, `createDataPathService`.
pub fn begins_polling(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(at(now, t, Main::Booting));
    step.within(now.tasks[t].mover.window)?;

    let next = step.fires()?;
    next.tasks[t].mover.main = Main::Polling;
    next.tasks[t].mover.window = Window::OFF;
    Some(())
}

/// Its informer lists: what is there comes as an addition, at which upstream does not look.
///
/// Spec: P3 to P5, E8. Velero: `pkg/datamover/backup_micro_service.go`, `Init`.
pub fn lists(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.tasks[t].mover.is_running(), now.tasks[t].mover.handler == Handler::Unlisted);
    step.within(now.tasks[t].mover.listing)?;

    let setup = step.setup;
    let next = step.fires()?;
    let told = next.end_of_cr_log();
    let listed = next.tasks[t].cr;
    let mover = &mut next.tasks[t].mover;
    mover.handler = Handler::Listening;
    mover.listing = Window::OFF;
    mover.told = told;
    mover.last = listed;
    if listed.exists && setup.design.mover_hears(&Heard::Add(listed)) {
        next.cancels(setup, t);
    }
    Some(())
}

/// Its handler hears of a change and acts, in upstream, only on the edge: InProgress, and cancel set by this very update.
///
/// Spec: P5, C, S-cb. Velero: `pkg/datamover/backup_micro_service.go`, `Init`, `cancelDataUpload`.
pub fn hears(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    let new = now.next_for_mover(t)?;

    let setup = step.setup;
    let next = step.fires()?;
    let mover = &mut next.tasks[t].mover;
    let old = std::mem::replace(&mut mover.last, new);
    if mover.behind {
        mover.behind = false;
        mover.listed = DataUpload::ABSENT;
    } else {
        mover.told += 1;
    }
    let heard = match (old.exists, new.exists) {
        (true, true) => Heard::Update(old, new),
        (true, false) => Heard::Delete(old),
        (false, _) => Heard::Add(new),
    };
    if setup.design.mover_hears(&heard) {
        mover.heard_removal |= matches!(heard, Heard::Delete(_));
        next.cancels(setup, t);
    }
    Some(())
}

impl World {
    /// The mover acts on a cancel. Before main has its custom resource that crashes; before there is a data path it
    /// reports the cancel itself; before the data path can be cancelled it crashes; after that it cancels.
    fn cancels(&mut self, setup: &Setup<'_>, t: TaskId) {
        let mover = &mut self.tasks[t].mover;
        mover.heard_cancel = true;
        let marks = setup.design.mover_cancels_early() == EarlyCancel::Mark;
        match mover.main {
            Main::Booting | Main::Polling | Main::Found | Main::Created if marks => mover.cancelled = true,
            Main::None | Main::Booting | Main::Polling | Main::Created => {
                self.end_process(t, End::Crashed, setup.times.window(Obligation::StatusPatch));
            }
            Main::Found | Main::Exiting => match setup.design.result_signal() {
                ResultSignal::Rendezvous => {
                    mover.handler = Handler::Sending; // C1
                    mover.handler_first = mover.transfer != Transfer::Sending;
                }
                ResultSignal::FirstWins => {
                    mover.signals(Outcome::Canceled);
                    mover.events.records(Reason::Stopped);
                }
            },
            _ => self.cancel_transfer(t, setup.times.window(Obligation::TransferStop)), // C2
        }
    }
}

/// Its broken watch lists again: its handler hears of the newest version at once, or of none.
///
/// Spec: K8S-5, E4. client-go: `the_real_fifo.go`, `Replace`.
pub fn relists(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.tasks[t].mover.watch_broken);
    step.within(now.tasks[t].mover.relist)?;

    let next = step.fires()?;
    next.tasks[t].mover.watch_broken = false;
    next.tasks[t].mover.relist = Window::OFF;
    next.skips_versions(t);
    Some(())
}

/// Its handler, whose early report was received, records that the mover stops, and listens again.
///
/// Spec: C1. Velero: `pkg/datamover/backup_micro_service.go`, `cancelDataUpload`.
pub fn records_early_stop(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(now.tasks[t].mover.is_running(), now.tasks[t].mover.handler == Handler::Sent);

    let next = step.fires()?;
    let mover = &mut next.tasks[t].mover;
    mover.events.records(Reason::Stopped);
    mover.handler = Handler::Listening;
    next.skips_versions(t);
    Some(())
}

/// It polls and finds its custom resource InProgress. Canceling and the final phases are no such thing, in upstream.
///
/// Spec: P6, P7. Velero: `pkg/datamover/backup_micro_service.go`, `RunCancelableDataPath`.
pub fn polls(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    let task = &now.tasks[t];
    require!(at(now, t, Main::Polling), !task.mover.terminated);
    let poll = step.setup.design.mover_polls(task.cr.exists.then_some(&task.cr));
    require!(poll != Poll::Keep);

    let next = step.fires()?;
    let mover = &mut next.tasks[t].mover;
    if poll == Poll::Go {
        mover.main = Main::Found;
    } else {
        mover.result = Outcome::Canceled;
        mover.main = Main::Selected;
    }
    Some(())
}

/// It puts the data path into its map.
///
/// Spec: P7. Velero: `pkg/datamover/backup_micro_service.go`, `RunCancelableDataPath`.
pub fn creates_data_path(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(at(now, t, Main::Found));

    let next = step.fires()?;
    next.tasks[t].mover.main = Main::Created;
    Some(())
}

/// It gives the data path a cancel function and sets out to open the repository.
///
/// Spec: P8. Velero: `pkg/datapath/data_path.go`, `Init`.
pub fn begins_opening(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(at(now, t, Main::Created));

    let open = step.window(Obligation::RepositoryOpen);
    let next = step.fires()?;
    next.tasks[t].mover.main = Main::Opening;
    next.tasks[t].mover.window = open;
    Some(())
}

/// The repository is open and the transfer starts, cancelled or not.
///
/// Spec: P8, P9. Velero: `pkg/datapath/data_path.go`, `Init`, `StartBackup`.
pub fn starts_transfer(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(at(now, t, Main::Opening), !now.tasks[t].mover.terminated);
    step.within(now.tasks[t].mover.window)?;

    let stopping = step.window(Obligation::TransferStop);
    let progress = step.setup.reports_progress;
    let next = step.fires()?;
    let mover = &mut next.tasks[t].mover;
    mover.main = Main::Started;
    mover.window = Window::OFF;
    mover.transfer = Transfer::Running;
    mover.progress = progress;
    mover.doomed = mover.cancelled;
    if mover.cancelled {
        next.cancel_transfer(t, stopping);
    }
    Some(())
}

/// It records that the transfer has started, which may by now have ended.
///
/// Spec: P10. Velero: `pkg/datamover/backup_micro_service.go`, `RunCancelableDataPath`.
pub fn records_started(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(at(now, t, Main::Started));

    let next = step.fires()?;
    let mover = &mut next.tasks[t].mover;
    mover.events.records(Reason::Started);
    mover.main = Main::Selecting;
    Some(())
}

/// It receives the one result that it ever receives.
///
/// Spec: P11, K8S-10. Velero: `pkg/datamover/backup_micro_service.go`, `RunCancelableDataPath`.
pub fn receives_result(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    let mover = &now.tasks[t].mover;
    require!(at(now, t, Main::Selecting), mover.is_sending() || mover.signal != Outcome::None);

    let next = step.fires()?;
    let mover = &mut next.tasks[t].mover;
    mover.main = Main::Selected;
    if mover.signal != Outcome::None {
        mover.result = mover.signal;
        return Some(());
    }
    let from_handler =
        mover.handler == Handler::Sending && (mover.handler_first || mover.transfer != Transfer::Sending);
    if from_handler {
        mover.handler = Handler::Sent;
        mover.result = Outcome::Canceled;
        mover.handler_first = false;
    } else {
        mover.transfer = Transfer::Done;
        mover.result = mover.outcome;
    }
    Some(())
}

/// It was told to terminate and gives up what it waits for.
///
/// Spec: P2, P6, P8, P11. Velero: `pkg/cmd/cli/datamover/backup.go`, `runDataPath`.
pub fn stops_on_signal(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    let mover = &now.tasks[t].mover;
    require!(mover.terminated);
    require!(at(now, t, Main::Polling) || at(now, t, Main::Opening) || at(now, t, Main::Selecting));

    let next = step.fires()?;
    let mover = &mut next.tasks[t].mover;
    mover.result = Outcome::Failed;
    mover.window = Window::OFF;
    mover.main = if mover.main == Main::Selecting { Main::Selected } else { Main::Draining };
    Some(())
}

/// It records that it stops.
///
/// Spec: P12, EV2. Velero: `pkg/datamover/backup_micro_service.go`, `RunCancelableDataPath`.
pub fn records_stopped(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(at(now, t, Main::Selected));

    let next = step.fires()?;
    let mover = &mut next.tasks[t].mover;
    mover.events.records(Reason::Stopped);
    mover.main = Main::Draining;
    Some(())
}

/// Its events are written; it closes the data path.
///
/// Spec: P13, P14, EV3. Velero: `pkg/util/kube/event.go`, `Shutdown`.
pub fn drains_events(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(at(now, t, Main::Draining), now.tasks[t].mover.events.are_written());

    let stopping = step.window(Obligation::TransferStop);
    let next = step.fires()?;
    next.tasks[t].mover.main = Main::Closing;
    next.cancel_transfer(t, stopping);
    Some(())
}

/// The transfer's goroutine has ended, so the data path is closed.
///
/// Spec: P14. Velero: `pkg/datapath/data_path.go`, `Close`.
pub fn closes_data_path(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(at(now, t, Main::Closing));
    require!(matches!(now.tasks[t].mover.transfer, Transfer::None | Transfer::Done));

    let next = step.fires()?;
    next.tasks[t].mover.main = Main::Exiting;
    Some(())
}

/// It exits with its result as its message.
///
/// Spec: P13. Velero: `pkg/cmd/cli/datamover/backup.go`, `runDataPath`.
pub fn exits(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    require!(at(now, t, Main::Exiting));

    let patch = step.window(Obligation::StatusPatch);
    let next = step.fires()?;
    let end = match next.tasks[t].mover.result {
        Outcome::Completed => End::Completed,
        Outcome::Canceled => End::Canceled,
        Outcome::Failed | Outcome::None => End::Failed,
    };
    next.end_process(t, end, patch);
    Some(())
}

/// The transfer's goroutine may end now, or must.
fn transfer_may_end(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    let mover = &now.tasks[t].mover;
    require!(mover.is_transferring(), !mover.hung);
    step.within(mover.stopping)
}

/// The transfer's goroutine calls back and, in upstream, blocks until main takes its result.
pub(super) fn ends_transfer(next: &mut World, setup: &Setup<'_>, t: TaskId, outcome: Outcome) {
    let mover = &mut next.tasks[t].mover;
    mover.outcome = outcome;
    match setup.design.result_signal() {
        ResultSignal::Rendezvous => mover.transfer = Transfer::Sending,
        ResultSignal::FirstWins => {
            mover.transfer = Transfer::Done;
            mover.signals(outcome);
        }
    }
    mover.stopping = Window::OFF;
    mover.progress = false;
    mover.handler_first = mover.handler == Handler::Sending;
}

/// The transfer heeds its cancel.
///
/// Spec: P9, P15. Velero: `pkg/datamover/backup_micro_service.go`, `OnDataUploadCancelled`.
pub fn transfer_ends_canceled(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    require!(step.now().tasks[t].mover.cancelled);
    transfer_may_end(step, t)?;

    let setup = step.setup;
    let next = step.fires()?;
    ends_transfer(next, setup, t, Outcome::Canceled);
    Some(())
}

/// The transfer is complete, also when it was cancelled too late.
///
/// Spec: P9, P15. Velero: `pkg/datamover/backup_micro_service.go`, `OnDataUploadCompleted`.
pub fn transfer_ends_completed(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    require!(!step.now().tasks[t].mover.doomed);
    transfer_may_end(step, t)?;

    let setup = step.setup;
    let next = step.fires()?;
    ends_transfer(next, setup, t, Outcome::Completed);
    Some(())
}

/// The cancel surfaces as an error that is not the cancel error.
///
/// Spec: P15. Velero: `pkg/datamover/backup_micro_service.go`, `OnDataUploadFailed`.
pub fn transfer_ends_failed(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    require!(step.now().tasks[t].mover.cancelled);
    transfer_may_end(step, t)?;

    let setup = step.setup;
    let next = step.fires()?;
    ends_transfer(next, setup, t, Outcome::Failed);
    Some(())
}

/// The transfer reports its progress.
///
/// Spec: S-cb. Velero: `pkg/datamover/backup_micro_service.go`, `OnDataUploadProgress`.
pub fn transfer_reports_progress(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    let mover = &now.tasks[t].mover;
    require!(mover.is_transferring(), mover.progress);
    step.optional();

    let next = step.fires()?;
    next.tasks[t].mover.progress = false;
    next.tasks[t].mover.events.records(Reason::Progress);
    Some(())
}

/// Its recorder writes the next event to the API server.
///
/// Spec: EV1 to EV4. Velero: `pkg/util/kube/event.go`, `NewEventRecorder`.
pub fn writes_event(step: &mut Step<'_>, t: TaskId) -> Option<()> {
    let now = step.now();
    let mover = &now.tasks[t].mover;
    require!(mover.is_running());
    let reason = mover.events.next(Stage::Recorded)?;

    let next = step.fires()?;
    let heard = next.tasks[t].watcher != Watcher::NONE;
    next.tasks[t].mover.events.moves(reason, if heard { Stage::Written } else { Stage::Handled });
    Some(())
}
