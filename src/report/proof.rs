//! What an exhaustive search showed: how far it went, the cheapest way to break each invariant, and what cannot be broken.
//!
//! As JSON the schema is called `vgdp-sim/proof/1` (`schemas/proof.schema.json`); fields may be added to it, and one that is
//! renamed, removed or gets another meaning makes it `/2`. The same proof gives the same bytes.
//!
//! ```json
//! {
//!   "schema": "vgdp-sim/proof/1",
//!   "version": "0.1.0",
//!   "scenario": "cancel", "nodes": 1, "tasks": 1, "slots": 1, "form": "small", "ticks": "boundaries", "design": "upstream",
//!   "complete": [{ "worlds": 1003326, "transitions": 4955185, "at_rest": 42, "steps": 97 }],
//!   "partial": null,
//!   "odds": 36649291,
//!   "invariants": {
//!     "slot-leak": {
//!       "answer": "broken", "price": 0, "steps": 67, "least": true, "task": "a",
//!       "schedule": ["..."], "token": null
//!     },
//!     "stuck": { "answer": "proved", "price": null }
//!   },
//!   "livelock": null
//! }
//! ```
//!
//! - `complete`: what there is up to each price that was searched to its end, from price 0. `partial`: where it stopped
//!   early: `price`, `steps` within which every schedule was tried, `worlds`, and `why`: `at-worlds` or `interrupted`.
//! - `answer`: `broken`; `proved`, where no schedule breaks it up to all prices that were asked for; `open`, where the
//!   search stopped before it knew. `least`: no schedule breaks it at a lower price, or at this price in fewer steps.
//! - `token`: the same violation told by its deviations, where it can be; not for the small form.
//! - `odds`: that any two worlds shared their 64 bits has odds of one in so many.

use std::fmt::{self, Write as _};

use serde::Serialize;

use super::json::by_id;
use super::schedule::{Schedule, Then};
use super::summary::{Kept, quoted};
use super::token::Token;
use super::{counted, grouped, paragraph};
use crate::invariants::INVARIANTS;
use crate::model::design::Design;
use crate::model::time::Ticks;
use crate::scenario::Scenario;
use crate::search::{Cheapest, Cut, Extent, Livelock, Partial, Proof, deviate};

/// The name and version of the schema.
pub const SCHEMA: &str = "vgdp-sim/proof/1";

/// A way to break something: a file with a schedule that replays, and where it can be a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// The invariant, by its index; nothing for a livelock.
    pub invariant: Option<usize>,
    /// A name for the file.
    pub file_name: String,
    /// The text of that file: what it is, and the schedule.
    pub file_text: String,
    /// The same told by its deviations from the normal schedule: how many, and its token. Some other steps may be
    /// between, so it need not be as short.
    pub token: Option<(usize, String)>,
}

/// A way for each of `invariants` that is broken, in their order; then one for a livelock.
pub fn ways(proof: &Proof, design: &dyn Design, invariants: &[usize]) -> Vec<Way> {
    let broken = invariants.iter().filter_map(|it| proof.cheapest(*it));
    let mut ways: Vec<Way> = broken.map(|it| way_to_break(proof, design, it)).collect();
    ways.extend(proof.livelock.as_ref().map(|it| way_to_livelock(proof, design, it)));
    ways
}

fn way_to_break(proof: &Proof, design: &dyn Design, it: &Cheapest) -> Way {
    let scenario = &proof.scenario;
    let about = &INVARIANTS[it.invariant];
    let schedule = Schedule::new(scenario.clone(), design, Some(it.invariant), Then::Normal, it.schedule.clone());
    let least = if is_least(proof, it) { "No schedule breaks it more cheaply." } else { "A cheaper one may exist." };
    let told = || {
        let deviations = deviate(scenario, design, &it.schedule, it.invariant, it.price)?;
        Some((deviations.len(), Token::new(scenario, design, &deviations).to_string()))
    };
    Way {
        invariant: Some(it.invariant),
        file_name: file_name(scenario, design, about.id),
        file_text: format!(
            "# {}: {}.\n# Broken at price {} after {} steps. {least}\n{schedule}",
            about.id, about.sentence, it.price, it.steps
        ),
        token: if scenario.is_built_in() { told() } else { None },
    }
}

fn way_to_livelock(proof: &Proof, design: &dyn Design, it: &Livelock) -> Way {
    let scenario = &proof.scenario;
    let schedule = Schedule::new(scenario.clone(), design, None, Then::Normal, it.schedule.clone());
    Way {
        invariant: None,
        file_name: file_name(scenario, design, "livelock"),
        file_text: format!("# Livelock at price {}: the normal schedule goes on for ever.\n{schedule}", it.price),
        token: None,
    }
}

fn file_name(scenario: &Scenario, design: &dyn Design, what: &str) -> String {
    let Scenario { name, nodes, tasks, ticks, .. } = scenario;
    let form = if scenario.is_small() { "-small" } else { "" };
    let ticks = if *ticks == Ticks::default() { String::new() } else { format!("-{}", ticks.name()) };
    format!("prove-{name}-{nodes}x{tasks}{form}{ticks}-{}-{what}.schedule", design.name())
}

/// No schedule breaks the invariant at a lower price, or at this price in fewer steps.
fn is_least(proof: &Proof, it: &Cheapest) -> bool {
    proof.partial.is_none_or(|all| all.has_tried(it.price, it.steps))
}

/// The whole report: of each of `invariants` what was shown, and what to type to see it for whatever `ways` there are.
pub fn text(proof: &Proof, invariants: &[usize], ways: &[(Way, Kept)], width: usize) -> String {
    let mut out = heading(proof, width);
    out.push('\n');
    out.push_str(&covered(proof, width));
    let broken = invariants.iter().filter_map(|it| proof.cheapest(*it));
    let broken: String = broken.map(|it| violation(proof, it, ways, width)).collect();
    if !broken.is_empty() {
        out.push_str("\nThe cheapest way to break each of them, by price and then by steps\n\n");
        out.push_str(&broken);
    }
    out.push('\n');
    let whole = invariants.iter().filter(|it| proof.cheapest(**it).is_none());
    let whole: Vec<&str> = whole.map(|it| INVARIANTS[*it].id).collect();
    if !whole.is_empty() {
        out.push_str(&paragraph(&format!("None {}: {}.", extent_of_none(proof), whole.join(", ")), 0, width));
    }
    out.push_str(&of_livelock(proof, ways, width));
    out.push('\n');
    out.push_str(&paragraph(&limits(proof), 0, width));
    out
}

impl fmt::Display for Proof {
    /// The report of all invariants, a paragraph a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<usize> = (0..INVARIANTS.len()).collect();
        f.write_str(text(self, &all, &[], usize::MAX).trim_end())
    }
}

fn heading(proof: &Proof, width: usize) -> String {
    let Scenario { name, sentence, nodes, tasks, limit, ticks, .. } = &proof.scenario;
    let text = format!(
        "{name}: {sentence} ({}, {}, {} a node, design {}) Every schedule, {}.",
        counted(u64::from(*nodes), "node"),
        counted(u64::from(*tasks), "task"),
        counted(u64::from(*limit), "slot"),
        proof.design,
        ticks.what(),
    );
    let mut out = paragraph(&text, 0, width);
    if proof.scenario.is_small() {
        let text = "The small form: caches of custom resources and their enqueue-only listeners move in one step, and transfers are over before they report progress.";
        out.push_str(&paragraph(text, 0, width));
    } else if proof.scenario.merges_enqueue {
        let text = "Caches of custom resources and their enqueue-only listeners move in one step.";
        out.push_str(&paragraph(text, 0, width));
    }
    out
}

/// A paragraph for each price.
fn covered(proof: &Proof, width: usize) -> String {
    let mut out = String::new();
    for (price, Extent { worlds, transitions, at_rest, steps, .. }) in proof.complete.iter().enumerate() {
        let text = format!(
            "Up to price {price}: all {}, {}, {} at rest, none farther than {} from the start.",
            counted(*worlds, "world"),
            counted(*transitions, "transition"),
            grouped(*at_rest),
            counted(u64::from(*steps), "step"),
        );
        out.push_str(&paragraph(&text, 0, width));
    }
    if let Some(Partial { price, steps, extent, stopped }) = proof.partial {
        let why = match stopped {
            Cut::Interrupted => ", interrupted",
            Cut::AtWorlds | Cut::AtSteps => "; with a larger --max-worlds it gets farther",
        };
        let text = format!(
            "Price {price}: stopped at {}{why}. Every schedule of up to {} was tried.",
            counted(extent.worlds, "world"),
            counted(u64::from(steps), "step"),
        );
        out.push_str(&paragraph(&text, 0, width));
    }
    out
}

/// What it is, what it costs, and how to see it.
fn violation(proof: &Proof, it: &Cheapest, ways: &[(Way, Kept)], width: usize) -> String {
    let Cheapest { invariant, task, price, steps, .. } = it;
    let mut out = paragraph(&format!("{}: {}", INVARIANTS[*invariant].id, INVARIANTS[*invariant].sentence), 0, width);
    let least = if is_least(proof, it) { "" } else { "; a cheaper schedule may exist" };
    let text = format!("price {price}, broken for {task} after {}{least}", counted(u64::from(*steps), "step"));
    out.push_str(&paragraph(&text, 2, width));
    let Some((way, kept)) = ways.iter().find(|it| it.0.invariant == Some(*invariant)) else { return out };
    out.push_str(&command(way, kept));
    if let Some((deviations, token)) = &way.token {
        let command = format!("vgdp-sim replay {token}");
        if 2 + command.len() <= width {
            let text = format!("or, told by {}:", counted(*deviations as u64, "deviation"));
            out.push_str(&paragraph(&text, 2, width));
            let _ = writeln!(out, "  {command}");
        }
    }
    out
}

/// What to type to see it; where it could not be written, the schedule itself.
fn command(way: &Way, kept: &Kept) -> String {
    match kept {
        Kept::At(path) => format!("  vgdp-sim replay {}\n", quoted(path)),
        Kept::Not => {
            let lines = way.file_text.lines().map(|it| format!("    {it}").trim_end().to_owned() + "\n");
            lines.collect()
        }
    }
}

/// `up to price 0 (all 1,003,326 worlds, time moving to window boundaries)`.
fn extent_of_none(proof: &Proof) -> String {
    let complete = proof.complete.last().zip(proof.up_to()).map(|(all, price)| {
        let worlds = counted(all.worlds, "world");
        format!("up to price {price} (all {worlds}, {})", proof.scenario.ticks.what())
    });
    let partial = proof
        .partial
        .map(|Partial { price, steps, .. }| format!("at price {price} within {}", counted(u64::from(steps), "step")));
    match (complete, partial) {
        (Some(complete), Some(partial)) => format!("{complete}, nor {partial}"),
        (complete, partial) => complete.or(partial).expect("it searched something, or stopped"),
    }
}

fn of_livelock(proof: &Proof, ways: &[(Way, Kept)], width: usize) -> String {
    let Some(it) = &proof.livelock else {
        let text = if proof.partial.is_none() {
            "No livelock: the normal schedule, in which everybody takes turns, comes to rest from every world."
        } else {
            "No livelock was met: the normal schedule, in which everybody takes turns, came to rest wherever it was followed."
        };
        return paragraph(text, 0, width);
    };
    let instant = if it.is_instant() { " within one instant" } else { "" };
    let cycle: Vec<String> = it.cycle.iter().map(ToString::to_string).collect();
    let text = format!(
        "Livelock at price {} after {}: the normal schedule goes on for ever{instant}, with {}.",
        it.price,
        counted(it.schedule.len() as u64, "action"),
        cycle.join(", ")
    );
    let way = ways.iter().find(|it| it.0.invariant.is_none());
    paragraph(&text, 0, width) + &way.map_or_else(String::new, |(way, kept)| command(way, kept))
}

fn limits(proof: &Proof) -> String {
    let Scenario { nodes, tasks, .. } = proof.scenario;
    format!(
        "Worlds are told apart by 64 bits: that any two of them shared these has odds of one in {}. All this is said of {} and {}{}; a larger scope may break more, and so may a real cluster.",
        grouped(u64::try_from(proof.odds()).unwrap_or(u64::MAX)),
        counted(u64::from(nodes), "node"),
        counted(u64::from(tasks), "task"),
        if proof.scenario.is_small() { " in the small form" } else { "" },
    )
}

/// What a search showed, in one word, for JSON.
fn answer(proof: &Proof, invariant: usize) -> &'static str {
    match (proof.cheapest(invariant), proof.partial) {
        (Some(_), _) => "broken",
        (None, None) => "proved",
        (None, Some(_)) => "open",
    }
}

/// The proof as JSON, ended by a line feed; `ways` are those of the same `invariants`.
pub fn json(proof: &Proof, invariants: &[usize], ways: &[(Way, Kept)]) -> String {
    let Scenario { name, nodes, tasks, limit, ticks, .. } = proof.scenario;
    let token = |invariant: usize| {
        let way = ways.iter().find(|it| it.0.invariant == Some(invariant))?;
        way.0.token.as_ref().map(|it| it.1.clone())
    };
    let document = Document {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        scenario: name,
        nodes,
        tasks,
        slots: limit,
        form: if proof.scenario.is_small() { "small" } else { "whole" },
        ticks: ticks.name(),
        design: proof.design,
        complete: proof.complete.iter().map(of_extent).collect(),
        partial: proof.partial.map(|Partial { price, steps, extent, stopped }| OfPartial {
            price,
            steps,
            worlds: extent.worlds,
            why: if stopped == Cut::Interrupted { "interrupted" } else { "at-worlds" },
        }),
        odds: u64::try_from(proof.odds()).unwrap_or(u64::MAX),
        invariants: by_id(invariants.iter().copied(), |invariant| {
            let broken = proof.cheapest(invariant).map(|it| OfBroken {
                steps: it.steps,
                least: is_least(proof, it),
                task: it.task.to_string(),
                schedule: it.schedule.iter().map(ToString::to_string).collect(),
                token: token(invariant),
            });
            let price = proof.cheapest(invariant).map(|it| it.price);
            (INVARIANTS[invariant].id, OfInvariant { answer: answer(proof, invariant), price, broken })
        }),
        livelock: proof.livelock.as_ref().map(|it| OfLivelock {
            price: it.price,
            instant: it.is_instant(),
            schedule: it.schedule.iter().map(ToString::to_string).collect(),
            cycle: it.cycle.iter().map(ToString::to_string).collect(),
        }),
    };
    serde_json::to_string_pretty(&document).expect("strings and numbers can always be written") + "\n"
}

fn of_extent(it: &Extent) -> OfExtent {
    let Extent { worlds, transitions, at_rest, steps, again: _, followed: _ } = *it;
    OfExtent { worlds, transitions, at_rest, steps }
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    version: &'static str,
    scenario: &'static str,
    nodes: u8,
    tasks: u8,
    slots: u8,
    form: &'static str,
    ticks: &'static str,
    design: &'static str,
    complete: Vec<OfExtent>,
    partial: Option<OfPartial>,
    odds: u64,
    invariants: super::json::ById<OfInvariant>,
    livelock: Option<OfLivelock>,
}

#[derive(Serialize)]
struct OfExtent {
    worlds: u64,
    transitions: u64,
    at_rest: u64,
    steps: u32,
}

#[derive(Serialize)]
struct OfPartial {
    price: u8,
    steps: u32,
    worlds: u64,
    why: &'static str,
}

#[derive(Serialize)]
struct OfInvariant {
    answer: &'static str,
    price: Option<u8>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    broken: Option<OfBroken>,
}

#[derive(Serialize)]
struct OfBroken {
    steps: u32,
    least: bool,
    task: String,
    schedule: Vec<String>,
    token: Option<String>,
}

#[derive(Serialize)]
struct OfLivelock {
    price: u8,
    instant: bool,
    schedule: Vec<String>,
    cycle: Vec<String>,
}
