use super::{Deviating, Deviation, Fired, Scheduler};
use crate::model::rules::Enabled;
use crate::scenario::Scenario;

/// Goes the course of some deviations and notes before which step each was made.
pub(crate) struct Following<'a> {
    inner: Deviating<'a>,
    of: usize,
    step: usize,
    /// For each deviation that was made, before which step, the scenario's prefix included.
    pub(crate) made: Vec<usize>,
}

impl<'a> Following<'a> {
    pub(crate) fn new(deviations: &'a [Deviation], scenario: &Scenario) -> Following<'a> {
        let (inner, step) = (Deviating::new(deviations), scenario.prefix().count());
        Following { inner, of: deviations.len(), step, made: Vec::new() }
    }

    /// The first deviation that was not made, if there is one.
    pub(crate) fn missed(&self) -> Option<usize> {
        self.inner.missed()
    }
}

impl Scheduler for Following<'_> {
    fn pick(&mut self, enabled: &Enabled, last: Fired) -> Option<usize> {
        let picked = self.inner.pick(enabled, last);
        self.made.resize(self.inner.missed().unwrap_or(self.of), self.step);
        self.step += 1;
        picked
    }
}
