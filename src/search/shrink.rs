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
    let mut kept = actions.to_vec();
    if !breaks(&kept) {
        return kept;
    }
    let mut chunk = kept.len().div_ceil(2).max(1);
    loop {
        let mut dropped = false;
        let mut end = kept.len();
        while end > 0 {
            let start = end.saturating_sub(chunk);
            let candidate: Vec<Action> = [&kept[..start], &kept[end..]].concat();
            if breaks(&candidate) {
                kept = candidate;
                dropped = true;
            }
            end = start;
        }
        if chunk == 1 && !dropped {
            break;
        }
        if !dropped || chunk > 1 {
            chunk = (chunk / 2).max(1);
        }
    }
    taken(scenario, design, &kept)
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
