use crate::model::design::{Design, Heard};

/// The mover treats `spec.cancel` as a level, not an edge.
///
/// Source: not proposed anywhere yet.
#[derive(Clone, Copy, Debug, Default)]
pub struct LevelTriggeredCancel;

impl Design for LevelTriggeredCancel {
    fn name(&self) -> &'static str {
        "level-triggered-cancel"
    }

    fn sentence(&self) -> &'static str {
        "The mover cancels whenever it hears that its upload is cancelled and not final."
    }

    fn mover_hears(&self, heard: &Heard) -> bool {
        heard.newest().is_some_and(|cr| cr.cancel && !cr.phase.is_final())
    }
}
