use crate::model::design::Design;

/// Mover pods get a grace period, so that the kubelet reports their end before the object goes.
///
/// Source: not proposed anywhere yet.
#[derive(Clone, Copy, Debug, Default)]
pub struct PositiveGrace;

impl Design for PositiveGrace {
    fn name(&self) -> &'static str {
        "positive-grace"
    }

    fn sentence(&self) -> &'static str {
        "Mover pods get a grace period of 30 s instead of none."
    }

    fn pod_grace(&self) -> u16 {
        30
    }
}
