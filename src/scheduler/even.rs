use super::chooser::evenly;
use super::{Among, Chooser, Draws};
use crate::model::rules::Enabled;

/// Each action is as likely as any other.
#[derive(Clone, Copy, Debug)]
pub struct Even;

impl Chooser for Even {
    fn start(_: &mut Draws, _: u32) -> Even {
        Even
    }

    fn choose(&mut self, enabled: &Enabled, among: Among, draws: &mut Draws) -> Option<usize> {
        evenly(enabled, draws, |it| among.includes(it))
    }
}
