use crate::model::design::{Design, Ended, Finish, PodHeard, Upstream};

/// The watcher's pod informer also handles the deletion of the pod, and the upload then fails.
///
/// Source: velero issue 10303, PR 10327. The flag is read after the wait for events, so a pod that succeeded and is
/// deleted within that minute is reported as failed.
#[derive(Clone, Copy, Debug, Default)]
pub struct WatcherWatchesPodDelete;

impl Design for WatcherWatchesPodDelete {
    fn name(&self) -> &'static str {
        "watcher-watches-pod-delete"
    }

    fn sentence(&self) -> &'static str {
        "The watcher ends, and the upload fails, when its pod is deleted."
    }

    fn watcher_hears(&self, heard: PodHeard) -> bool {
        heard == PodHeard::Delete || Upstream.watcher_hears(heard)
    }

    fn watcher_outcome(&self, ended: &Ended) -> Finish {
        if ended.deleted { Finish::Failed } else { Upstream.watcher_outcome(ended) }
    }
}
