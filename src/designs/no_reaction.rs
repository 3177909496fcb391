use crate::model::design::Design;

/// Upstream as a position: the removal of an upload triggers nothing, and once the pod ends its watcher ends.
///
/// Source: the maintainer's answer on velero PR 10264. It is judged by its own expectations.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoReaction;

impl Design for NoReaction {
    fn name(&self) -> &'static str {
        "no-reaction"
    }

    fn sentence(&self) -> &'static str {
        "Upstream as a position: nobody reacts to the removal of an upload."
    }
}
