use crate::model::api_server::Phase;
use crate::model::design::Design;
use crate::model::node_agent::worker::Own;

/// Only the owner forces the cancel of an upload that runs or should run.
///
/// Source: a review suggestion on velero PR 10264. Read literally it speaks of InProgress; Canceling, where a forced
/// cancel usually happens, is included, since the suggestion would do nothing otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnerFinalizes;

impl Design for OwnerFinalizes {
    fn name(&self) -> &'static str {
        "owner-finalizes"
    }

    fn sentence(&self) -> &'static str {
        "Only the owning node may force an upload in progress to Canceled."
    }

    fn may_force(&self, own: &Own) -> bool {
        !matches!(own.cr.phase, Phase::InProgress | Phase::Canceling) || own.cr.node.is(own.node)
    }
}
