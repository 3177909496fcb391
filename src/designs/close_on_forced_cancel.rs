use crate::model::design::Design;
use crate::model::node_agent::routine::{Op, Plan};
use crate::model::node_agent::worker::Own;

/// The first form of the pull request: whoever forces a cancel closes its own data path of that name.
///
/// Source: velero PR 10264, first commit.
#[derive(Clone, Copy, Debug, Default)]
pub struct CloseOnForcedCancel;

impl Design for CloseOnForcedCancel {
    fn name(&self) -> &'static str {
        "close-on-forced-cancel"
    }

    fn sentence(&self) -> &'static str {
        "After a forced cancel the forcing node closes its local data path."
    }

    fn on_forced(&self, _own: &Own) -> Plan {
        Plan::of(&[Op::CloseDataPath])
    }
}
