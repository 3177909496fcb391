use crate::model::design::Design;
use crate::model::node_agent::routine::{Op, Plan};
use crate::model::node_agent::worker::Own;

/// A node-agent that sees a final upload, or none, closes its data path of that name first.
///
/// Source: a review suggestion on velero PR 10264. It also acts where the finalizer or the whole object is gone
/// already, since another node may have been first.
#[derive(Clone, Copy, Debug, Default)]
pub struct CloseOnTerminal;

impl Design for CloseOnTerminal {
    fn name(&self) -> &'static str {
        "close-on-terminal"
    }

    fn sentence(&self) -> &'static str {
        "A node that sees a final or absent upload closes its local data path, then drops the finalizer."
    }

    fn on_not_found(&self, own: &Own) -> Plan {
        if own.tracked { Plan::of(&[Op::CloseDataPath]) } else { Plan::NONE }
    }

    fn on_final(&self, own: &Own) -> Plan {
        match (own.tracked, own.cr.finalizer) {
            (true, true) => Plan::of(&[Op::CloseDataPath, Op::DropFinalizer]),
            (true, false) => Plan::of(&[Op::CloseDataPath]),
            (false, true) => Plan::of(&[Op::DropFinalizer]),
            (false, false) => Plan::NONE,
        }
    }
}
