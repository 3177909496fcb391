//! An explained violation as a Mermaid sequence diagram, which GitHub draws where Markdown has it.
//!
//! Shown are the steps that change something which can be seen from outside, the deviations, the step that leaves no way
//! back and the violation; a note counts what is left out. GitHub refuses a diagram of more than 50,000 characters, so
//! at most [`MOST`] steps are drawn: what is left out first is what comes long before the first deviation, as in the
//! normal run.

use std::fmt::Write as _;

use super::facts::{Change, Scope, changes};
use super::timeline::Lane;
use super::{counted, duration, explained};
use crate::model::rules::{Action, Class};
use crate::search::Explained;

/// The most steps that are drawn.
pub const MOST: usize = 120;

/// The diagram.
pub fn text(it: &Explained<'_>) -> String {
    let steps = drawn(it);
    let acts =
        |lane: &Lane| *lane == Lane::Api || steps.iter().any(|it_| Lane::of(it.run.steps[*it_].action) == Some(*lane));
    let lanes: Vec<Lane> = Lane::all(it.scenario.nodes, it.scenario.tasks).filter(acts).collect();
    let mut out = "sequenceDiagram\n".to_owned();
    for lane in &lanes {
        let _ = writeln!(out, "    participant {lane} as {}", name(*lane));
    }
    let (first, last) = (lanes[0], lanes[lanes.len() - 1]);
    let across = if first == last { first.to_string() } else { format!("{first},{last}") };
    let note = |out: &mut String, text: &str| {
        let _ = writeln!(out, "    Note over {across}: {}", plain(text));
    };
    let mut time = None;
    for &step in &steps {
        let taken = &it.run.steps[step];
        if time != Some(taken.time) {
            note(&mut out, &format!("+{}", duration(taken.time)));
            time = Some(taken.time);
        }
        for (index, deviation) in it.run.deviations.iter().enumerate().filter(|(index, _)| it.run.made[*index] == step)
        {
            note(&mut out, &format!("Deviation {}: {}", index + 1, explained::deviates(deviation)));
        }
        if it.no_return.at_the_latest() == Some(step) {
            note(&mut out, "The next step leaves no way back");
        }
        draws(&mut out, taken.action, &changes(it.run.before(step), &taken.world));
        if it.violation.step as usize == step {
            note(&mut out, &format!("✖ {} is broken for {}", explained::invariant(it).id, it.violation.task));
        }
    }
    let left_out = it.violation.step as usize + 1 - steps.len();
    note(&mut out, &format!("left out: {} of {}", counted(left_out as u64, "step"), it.violation.step + 1));
    out
}

/// The steps that are drawn: what can be seen, and what matters.
fn drawn(it: &Explained<'_>) -> Vec<usize> {
    let until = it.violation.step as usize;
    let matters =
        |step: usize| it.run.made.contains(&step) || it.no_return.at_the_latest() == Some(step) || step == until;
    let seen = |step: usize| {
        changes(it.run.before(step), &it.run.steps[step].world).iter().any(|it| it.scope <= Scope::Process)
    };
    let all: Vec<usize> =
        (0..=until.min(it.run.steps.len() - 1)).filter(|step| matters(*step) || seen(*step)).collect();
    let surplus = all.len().saturating_sub(MOST);
    let mut left_out = 0;
    all.into_iter()
        .filter(|step| {
            let drops = left_out < surplus && !matters(*step);
            left_out += usize::from(drops);
            !drops
        })
        .collect()
}

/// A write is an arrow to the API server; what an actor does by itself is an arrow to itself. Where the clock moves, a note
/// has said so.
fn draws(out: &mut String, action: Action, changes: &[Change]) {
    let Some(who) = Lane::of(action) else { return };
    let told: Vec<String> =
        changes.iter().filter(|it| it.scope <= Scope::Process).take(3).map(ToString::to_string).collect();
    let writes = changes.iter().any(|it| it.scope == Scope::Api);
    let whom = if writes { Lane::Api } else { who };
    let arrow = if matches!(action.class(), Class::Operator | Class::Fault) { "-x" } else { "->>" };
    let rule = action.rule().name();
    let text = if told.is_empty() { rule.to_owned() } else { format!("{rule}: {}", told.join(", ")) };
    let _ = writeln!(out, "    {who}{arrow}{whom}: {}", plain(&text));
}

/// What stands at the head of a lane.
fn name(lane: Lane) -> String {
    match lane {
        Lane::User => "user".to_owned(),
        Lane::Server => "velero server".to_owned(),
        Lane::Api => "API server".to_owned(),
        Lane::Kubelet => "kubelet".to_owned(),
        Lane::Agent(n) => format!("node-agent {n}"),
        Lane::Mover(t) => format!("mover {t}"),
    }
}

/// A text in which nothing is taken for an end of line, a comment or an entity.
fn plain(text: &str) -> String {
    text.replace("->", "→")
        .replace('#', "")
        .replace(';', ",")
        .replace(['\n', '\r'], " ")
        .replace('<', "‹")
        .replace('>', "›")
}
