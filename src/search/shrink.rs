use crate::model::design::Design;
use crate::model::rules::Action;
use crate::run::run;
use crate::scenario::Scenario;
use crate::scheduler::Replay;

use super::record;

/// Leaves out what a violation does not need: actions are dropped in ever smaller chunks as long as the same invariant
/// is broken at no higher price. What is no longer enabled is skipped, and the normal schedule goes on to rest.
///
/// The result replays strictly. It is locally minimal: no single action can be left out.
pub fn shrink(
    scenario: &Scenario,
    design: &dyn Design,
    actions: &[Action],
    invariant: usize,
    price: u8,
) -> Vec<Action> {
    let breaks = |candidate: &[Action]| {
        run(scenario, design, &mut Replay::lenient(candidate)).broken[invariant].is_some_and(|it| it.price <= price)
    };
    if !breaks(actions) {
        return actions.to_vec();
    }
    let kept = minimal(actions.to_vec(), breaks);
    taken(scenario, design, &kept)
}

/// Drops what is not needed, in ever smaller chunks.
pub(super) fn minimal<T: Copy>(mut kept: Vec<T>, breaks: impl Fn(&[T]) -> bool) -> Vec<T> {
    let mut chunk = kept.len().div_ceil(2).max(1);
    loop {
        let before = kept.len();
        let mut end = kept.len();
        while end > 0 {
            let start = end.saturating_sub(chunk);
            let candidate: Vec<T> = [&kept[..start], &kept[end..]].concat();
            if breaks(&candidate) {
                kept = candidate;
            }
            end = start;
        }
        if chunk == 1 && kept.len() == before {
            return kept;
        }
        chunk = if kept.len() == before || chunk > 1 { (chunk / 2).max(1) } else { 1 };
    }
}

/// The actions of a lenient replay that were enabled in their turn.
fn taken(scenario: &Scenario, design: &dyn Design, actions: &[Action]) -> Vec<Action> {
    let (_, all) = record(scenario, design, &mut Replay::lenient(actions));
    let mut wanted = actions.iter().peekable();
    let mut last = 0;
    for (index, action) in all.iter().enumerate() {
        if wanted.peek() == Some(&action) {
            wanted.next();
            last = index + 1;
        }
    }
    all[..last].to_vec()
}
