//! Which findings need which assumption about latency, as text.

use std::fmt::Write as _;

use super::{counted, paragraph};
use crate::invariants::INVARIANTS;
use crate::model::time::Span;
use crate::scenario::Scenario;
use crate::search::{Fate, Sensitivity, Trial};

/// A finding as one line: what it is, and what it needs.
pub fn line(it: &Sensitivity) -> String {
    let deviations = counted(it.deviations as u64, "deviation");
    format!("{}, price {}, {deviations}: {}.", INVARIANTS[it.invariant].id, it.price, verdict(it))
}

/// What it needs: `robust`, `needs TransferStop not to be halved`, or what is not known.
pub fn verdict(it: &Sensitivity) -> String {
    if it.is_robust() {
        return "robust".to_owned();
    }
    if it.survives_all() {
        return "needs no assumption".to_owned();
    }
    let named = |trials: &mut dyn Iterator<Item = &Trial>| {
        trials.map(|it| format!("{:?} not to be {}", it.assumption, it.change.name())).collect::<Vec<_>>().join(", ")
    };
    let (needs, open) = (named(&mut it.needs()), named(&mut it.open()));
    match (needs.is_empty(), open.is_empty()) {
        (false, true) => format!("needs {needs}"),
        (true, _) => format!("may need {open}"),
        (false, false) => format!("needs {needs}, and may need {open}"),
    }
}

/// A finding and what became of it: its line, each change after which its own deviations no longer bring it about, and
/// how the others were judged. `scenario` is the one in which it was found.
pub fn details(scenario: &Scenario, it: &Sensitivity, width: usize) -> String {
    let mut out = paragraph(&line(it), 0, width);
    for trial in it.trials.iter().filter(|it| it.fate != Fate::Replays) {
        let was = scenario.times.span(trial.assumption);
        let text = format!(
            "{:?} {}, {} instead of {}: {}.",
            trial.assumption,
            trial.change.name(),
            bounds(trial.change.of(was)),
            bounds(was),
            became(trial.fate)
        );
        out.push_str(&paragraph(&text, 2, width));
    }
    let replays = it.trials.iter().filter(|it| it.fate == Fate::Replays).count();
    let rest = if replays == it.trials.len() { "all" } else { "the other" };
    let text = format!("Its own deviations bring it about after {rest} {}.", counted(replays as u64, "change"));
    out.push_str(&paragraph(&text, 2, width));
    out
}

/// Findings as a Markdown table: each with its scenario and its token.
pub fn table(findings: &[(&Scenario, Sensitivity, String)]) -> String {
    let mut out = "| scenario | invariant | deviations | replays | found anew | gone | open | verdict | token |\n\
         |---|---|--:|--:|--:|--:|--:|---|---|\n"
        .to_owned();
    for (scenario, it, token) in findings {
        let fates = |fate| it.trials.iter().filter(|it| it.fate == fate).count();
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | `{token}` |",
            scenario.name,
            INVARIANTS[it.invariant].id,
            it.deviations,
            fates(Fate::Replays),
            fates(Fate::FoundAnew),
            fates(Fate::Gone),
            fates(Fate::Open),
            verdict(it)
        );
    }
    out
}

fn became(fate: Fate) -> &'static str {
    match fate {
        Fate::Replays => "its own deviations still bring it about",
        Fate::FoundAnew => "found anew, with no more deviations and at no higher price",
        Fate::Gone => "gone, every schedule within as many deviations and at no higher price was tried",
        Fate::Open => "not found before the bound on worlds was met, so it may be there or not",
    }
}

/// `0 s to 60 s`, or `from 1 s`.
fn bounds(span: Span) -> String {
    match span.latest {
        Some(latest) => format!("{} s to {latest} s", span.earliest),
        None => format!("from {} s", span.earliest),
    }
}
