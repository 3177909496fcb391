use crate::model::api_server::Phase;
use crate::model::design::{Design, Heard, ResultSignal, Upstream};

/// The final form of the pull request: the mover's own informer also handles the deletion of its custom resource.
///
/// Source: velero PR 10264, second commit.
#[derive(Clone, Copy, Debug, Default)]
pub struct MoverWatchesCrDelete;

/// What the handlers do: upstream's edge, or a deletion whose last known phase is InProgress.
fn hears(heard: &Heard) -> bool {
    Upstream.mover_hears(heard) || matches!(heard, Heard::Delete(last) if last.phase == Phase::InProgress)
}

impl Design for MoverWatchesCrDelete {
    fn name(&self) -> &'static str {
        "mover-watches-cr-delete"
    }

    fn sentence(&self) -> &'static str {
        "The mover cancels itself when its upload is deleted while in progress."
    }

    fn mover_hears(&self, heard: &Heard) -> bool {
        hears(heard)
    }
}

/// The same with the guard that the pull request judged unnecessary: the first result wins, and no send blocks.
///
/// Source: the known trade-off in the description of velero PR 10264.
#[derive(Clone, Copy, Debug, Default)]
pub struct MoverWatchesCrDeleteGuarded;

impl Design for MoverWatchesCrDeleteGuarded {
    fn name(&self) -> &'static str {
        "mover-watches-cr-delete-guarded"
    }

    fn sentence(&self) -> &'static str {
        "The same, with an idempotent result signal."
    }

    fn mover_hears(&self, heard: &Heard) -> bool {
        hears(heard)
    }

    fn result_signal(&self) -> ResultSignal {
        ResultSignal::FirstWins
    }
}
