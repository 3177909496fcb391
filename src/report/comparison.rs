//! Designs side by side, as tables: a scenario each, then all of them together.

use std::fmt::Write as _;

use super::schedule::{Schedule, Then};
use super::sensitivity::verdict;
use super::summary::command_of_run;
use super::token::Token;
use super::{counted, grouped, paragraph, wrapped};
use crate::invariants::INVARIANTS;
use crate::model::time::Ticks;
use crate::scenario::Scenario;
use crate::scheduler::{Deviating, Deviation, PORTFOLIO};
use crate::search::{Broken, By, Cell, Comparison, Cut, Effort, Exposed, Pair, Partial, Proved, Sampled, record};

/// Of which designs the ways to break them are printed below a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// Of the first, which is upstream unless others were asked for.
    First,
    /// Of all.
    All,
}

/// The whole comparison: what a cell is, a table for each scenario, one for all together, and what its marks say.
pub fn tables(it: &Comparison<'_>, tokens: Tokens, width: usize) -> String {
    let mut out = legend(width);
    for scenario in 0..it.scenarios.len() {
        out.push('\n');
        out.push_str(&of_scenario(it, scenario, tokens, width));
    }
    if it.scenarios.len() > 1 {
        out.push('\n');
        out.push_str(&of_all(it, width));
    }
    if it.undecided() > 0 {
        let text = format!(
            "Undecided: {} by chance came to no rest, and prove nothing either way.",
            counted(it.undecided(), "run")
        );
        out.push('\n');
        out.push_str(&paragraph(&text, 0, width));
    }
    if it.interrupted() > 0 {
        let (cut, all) = (grouped(it.interrupted() as u64), counted(it.pairs.len() as u64, "pair"));
        let text = format!("Interrupted: of {all} of scenario and design {cut} were not tried to the end.");
        out.push('\n');
        out.push_str(&paragraph(&text, 0, width));
    }
    out.push('\n');
    out.push_str(&marks(it, width));
    out
}

/// What a cell is.
fn legend(width: usize) -> String {
    let text = "Each cell is the cheapest violation that was found, as price·deviations. The price is what the outside world had to do wrong for it: 0 is a race of normal operation. Deviations are the places where the schedule departs from the normal one. The marks are explained at the end.";
    paragraph(text, 0, width)
}

/// Which search gave the answer of a cell: those marks that stand in any, each in a line.
pub(super) fn marks(it: &Comparison<'_>, width: usize) -> String {
    let all: Vec<String> = (0..it.scenarios.len())
        .flat_map(|s| (0..it.designs.len()).map(move |d| (s, d)))
        .flat_map(|(s, d)| it.invariants.iter().map(move |i| cell_text(it, s, d, *i)))
        .collect();
    let Effort { deviations, runs, .. } = it.effort;
    let (within, runs) = (counted(u64::from(deviations), "deviation"), counted(runs, "run"));
    let sampled = if it.effort.runs > 0 { format!(", and none in {runs} by chance") } else { String::new() };
    let less = all.iter().any(|it| it.starts_with(NONE) && it != NONE);
    let less = if less { ", or as many as stand after the -" } else { "" };
    let is_frail = |it: &Cell| it.price() == Some(0) && !it.is_robust();
    let frail = it.pairs.iter().any(|pair| it.invariants.iter().any(|i| is_frail(&pair.cells[*i])));
    let frail = if frail { " Without the * it needs one of them as it is, or that is not known." } else { "" };
    let table = [
        (
            all.iter().any(|it| it.starts_with(|it: char| it.is_ascii_digit())),
            "0·2",
            "a sweep found it: with no fewer deviations at this price.".to_owned(),
        ),
        (
            all.iter().any(|it| it.contains('~')),
            "~0·2",
            "only chance found it, or only at this price: there may be a way with fewer deviations.".to_owned(),
        ),
        (
            all.iter().any(|it| it.contains('!')),
            "!0·2",
            "only a proof found it, or only at this price, below which there is none.".to_owned(),
        ),
        (
            all.iter().any(|it| it.ends_with(ROBUST)),
            "0·2*",
            format!(
                "robust: found at this price, with no more deviations, whichever assumption about latency is halved or doubled.{frail}"
            ),
        ),
        (
            all.iter().any(|it| it.starts_with(NONE)),
            NONE,
            format!("none found: every schedule within {within}{less}{sampled}; no proof beyond."),
        ),
        (
            all.iter().any(|it| it == PROVED),
            PROVED,
            "proved: no schedule breaks it, in this scope and up to the price of the scenario.".to_owned(),
        ),
        (all.iter().any(|it| it == UNTRIED), UNTRIED, "not tried.".to_owned()),
    ];
    let mut out = String::new();
    for (_, mark, says) in table.iter().filter(|it| it.0) {
        let text = paragraph(says, 0, width.saturating_sub(6).max(20));
        for (index, line) in text.lines().enumerate() {
            let _ = writeln!(out, "{:<6}{line}", if index == 0 { mark } else { "" });
        }
    }
    out
}

/// A scenario: what it is, how much of it was tried, the table, and how to see what it says.
fn of_scenario(it: &Comparison<'_>, index: usize, tokens: Tokens, width: usize) -> String {
    let Scenario { name, sentence, nodes, tasks, limit, ticks, .. } = &it.scenarios[index];
    let how = if *ticks == Ticks::default() { String::new() } else { format!("; {}", ticks.what()) };
    let scope = format!(
        "{name}: {sentence} ({}, {}, {} a node{how})",
        counted(u64::from(*nodes), "node"),
        counted(u64::from(*tasks), "task"),
        counted(u64::from(*limit), "slot"),
    );
    let mut out = paragraph(&scope, 0, width);
    let cells = |design: usize, invariant: usize| cell_text(it, index, design, invariant);
    let pairs = || (0..it.designs.len()).map(|design| it.pair(index, design));
    let least = (pairs().map(|it| it.within).min().unwrap_or(0), pairs().map(|it| it.runs).min().unwrap_or(0));
    let none = format!("None {}for any design", none_of(least.0, least.1));
    if pairs().any(|it| it.worlds > 0) {
        out.push_str(&grid(it, &cells, &none, width));
    }
    out.push_str(&paragraph(&coverage(it, index), 0, width));
    let designs = match tokens {
        Tokens::First => 1.min(it.designs.len()),
        Tokens::All => it.designs.len(),
    };
    for design in 0..designs {
        out.push_str(&ways(it, index, design, width));
    }
    out
}

/// `within 2 deviations and none in 1,000 runs `.
pub(super) fn none_of(within: u8, runs: u64) -> String {
    let sampled = if runs > 0 { format!("and none in {} ", counted(runs, "run")) } else { String::new() };
    format!("within {} {sampled}", counted(u64::from(within), "deviation"))
}

/// How much was tried, for which designs.
fn coverage(it: &Comparison<'_>, index: usize) -> String {
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    for design in 0..it.designs.len() {
        let tried = tried(it.pair(index, design), it.effort, it.scenarios[index].ticks);
        match groups.iter_mut().find(|it| it.0 == tried) {
            Some(group) => group.1.push(design),
            None => groups.push((tried, vec![design])),
        }
    }
    let mut sentences = Vec::new();
    for (tried, designs) in &groups {
        let range = |of: &dyn Fn(&Pair) -> u64| {
            let all = || designs.iter().map(|design| of(it.pair(index, *design)));
            let (least, most) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
            if least == most { grouped(least) } else { format!("{} to {}", grouped(least), grouped(most)) }
        };
        let worlds = range(&|it| it.worlds as u64);
        let proved = range(&|it| it.proved.and_then(|it| it.complete).map_or(0, |it| it.1.worlds));
        let steps = range(&|it| it.proved.and_then(|it| it.partial).map_or(0, |it| u64::from(it.steps)));
        let names: Vec<&str> = designs.iter().map(|design| it.designs[*design].name()).collect();
        let whom = if groups.len() > 1 { format!("For {}: ", names.join(", ")) } else { String::new() };
        let tried = tried.replace(WORLDS, &worlds).replace(PROVED_WORLDS, &proved).replace(PROVED_STEPS, &steps);
        sentences.push(format!("{whom}{tried}"));
    }
    sentences.join(" ")
}

// What differs from design to design of a group: worlds of the sweep, and worlds and steps of the proof.
const WORLDS: &str = "{worlds}";
const PROVED_WORLDS: &str = "{proved worlds}";
const PROVED_STEPS: &str = "{proved steps}";

/// What was tried of a design, in sentences.
fn tried(it: &Pair, effort: Effort, ticks: Ticks) -> String {
    let Pair { within, stopped, worlds, runs, proved, .. } = it;
    if *worlds == 0 {
        return "Nothing was tried.".to_owned();
    }
    let part = if it.is_partial() { format!(", and with {} in part", within + 1) } else { String::new() };
    let endless = if *stopped == Some(Cut::AtSteps) { ", where a schedule came to no rest" } else { "" };
    let mut text = format!(
        "Every schedule within {}{part}{endless}: {WORLDS} worlds a design.",
        counted(u64::from(*within), "deviation")
    );
    if *runs > 0 {
        let _ = write!(text, " Then {} by chance, seed {}.", counted(*runs, "run"), effort.seed);
    }
    if let Some((price, _)) = proved.and_then(|it| it.complete) {
        let _ = write!(text, " Then a proof: all {PROVED_WORLDS} worlds up to price {price}, {}.", ticks.what());
    }
    if let Some(Partial { price, stopped, .. }) = proved.and_then(|Proved { partial, .. }| partial) {
        let why = match stopped {
            Cut::Interrupted => "was interrupted".to_owned(),
            Cut::AtWorlds | Cut::AtSteps => {
                format!("stopped at its bound of {}", counted(effort.proofs as u64, "world"))
            }
        };
        let _ = write!(text, " A proof of price {price} {why}: every schedule of up to {PROVED_STEPS} steps.");
    }
    text
}

/// All scenarios together: for each design and invariant the cheapest violation in any of them.
fn of_all(it: &Comparison<'_>, width: usize) -> String {
    let mut out = paragraph("All scenarios together: the cheapest violation in any of them.", 0, width);
    let cells = |design: usize, invariant: usize| {
        let pairs = || (0..it.scenarios.len()).map(|index| it.pair(index, design));
        violations(&|by| pairs().filter_map(|it| Found::of(&it.cells[invariant], by)).min()).unwrap_or_else(|| {
            let by = |by: By| move |it: &Pair| it.by(invariant) == by;
            let answer = if pairs().any(by(By::Nothing)) {
                UNTRIED
            } else if pairs().all(by(By::Proof)) {
                PROVED
            } else {
                NONE
            };
            answer.to_owned()
        })
    };
    out.push_str(&grid(it, &cells, "None for any design, within what was tried", width));
    out
}

pub(super) fn cell_text(it: &Comparison<'_>, scenario: usize, design: usize, invariant: usize) -> String {
    let pair = it.pair(scenario, design);
    let cell = &pair.cells[invariant];
    violations(&|by| Found::of(cell, by)).unwrap_or_else(|| match pair.by(invariant) {
        By::Proof => PROVED.to_owned(),
        By::Sweep | By::Chance if pair.within < it.effort.deviations => format!("{NONE}{}", pair.within),
        By::Sweep | By::Chance => NONE.to_owned(),
        By::Nothing => UNTRIED.to_owned(),
    })
}

/// What a cell says of a violation, the cheapest first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    price: u8,
    /// As many as can be where it was not told by any.
    deviations: usize,
    /// It has not been shown to be robust.
    is_frail: bool,
}

impl Found {
    /// What such a search found.
    fn of(cell: &Cell, by: By) -> Option<Found> {
        let (price, told) = match by {
            By::Sweep => cell.swept.as_ref().map(|it| (it.price, Some(&it.deviations)))?,
            By::Chance => cell.sampled.as_ref().map(|it| (it.price, it.deviations.as_ref()))?,
            By::Proof => cell.exposed.as_ref().map(|it| (it.cheapest.price, it.deviations.as_ref()))?,
            By::Nothing => return None,
        };
        let is_frail = cell.price() != Some(price) || !cell.is_robust();
        Some(Found { price, deviations: told.map_or(usize::MAX, Vec::len), is_frail })
    }
}

/// Violations, each after the mark of the search that found it; those of weaker searches only where they are cheaper.
fn violations(found: &dyn Fn(By) -> Option<Found>) -> Option<String> {
    let mut least = None;
    let mut all = Vec::new();
    for (mark, by) in [("", By::Sweep), ("~", By::Chance), ("!", By::Proof)] {
        let it = found(by).filter(|it| least.is_none_or(|least| it.price < least));
        let Some(Found { price, deviations, is_frail }) = it else { continue };
        least = Some(price);
        let robust = if is_frail { "" } else { ROBUST };
        all.push(match deviations {
            usize::MAX => format!("{mark}{price}"),
            _ => format!("{mark}{price}·{deviations}{robust}"),
        });
    }
    (!all.is_empty()).then(|| all.join(" "))
}

/// Whether a race needs an assumption about latency: `robust`, which assumptions, or that it is not known. Nothing where a
/// cell has no race.
pub(super) fn needs(cell: &Cell) -> Option<String> {
    let known = cell.sensitivity.as_ref().map(verdict);
    (cell.price() == Some(0)).then(|| known.unwrap_or_else(|| "not asked what it needs".to_owned()))
}

/// What stands after a race that needs no assumption about latency.
const ROBUST: &str = "*";
/// A cell in which nothing was found; within how many deviations stands after it, where that is fewer than were asked for.
const NONE: &str = "-";
/// A cell for which a proof has shown that there is nothing to be found.
const PROVED: &str = "none";
/// A cell for which nothing was tried.
const UNTRIED: &str = "?";

/// The table, where the designs differ; then in a line each what is as in a column, what is the same for all designs,
/// and what is broken for none.
fn grid(it: &Comparison<'_>, cell: &dyn Fn(usize, usize) -> String, none: &str, width: usize) -> String {
    let mut columns: Vec<Column> = Vec::new();
    let (mut same, mut clean) = (Vec::new(), Vec::new());
    for &invariant in &it.invariants {
        let id = INVARIANTS[invariant].id;
        let cells: Vec<String> = (0..it.designs.len()).map(|design| cell(design, invariant)).collect();
        let first = cells.first().cloned().unwrap_or_default();
        if cells.iter().all(|it| it.starts_with(NONE)) {
            clean.push(id);
        } else if cells.len() == 1 {
            columns.push(Column::new(id, cells));
        } else if cells.iter().all(|it| *it == first) {
            same.push(format!("{id} {first}"));
        } else if let Some(column) = columns.iter_mut().find(|it| it.cells == cells) {
            column.alike.push(id);
        } else {
            columns.push(Column::new(id, cells));
        }
    }
    let mut out = String::new();
    if !columns.is_empty() {
        let names: Vec<&str> = it.designs.iter().map(|it| it.name()).collect();
        for block in blocks(&names, &columns, width) {
            out.push('\n');
            out.push_str(&block);
        }
        out.push('\n');
    }
    let alike = columns.iter().filter(|it| !it.alike.is_empty());
    let alike: Vec<String> = alike.map(|it| format!("Like {}: {}.", it.id, it.alike.join(", "))).collect();
    if !alike.is_empty() {
        out.push_str(&paragraph(&alike.join(" "), 0, width));
    }
    if !same.is_empty() {
        out.push_str(&paragraph(&format!("The same for every design: {}.", same.join(", ")), 0, width));
    }
    if !clean.is_empty() {
        out.push_str(&paragraph(&format!("{none}: {}.", clean.join(", ")), 0, width));
    }
    out
}

/// An invariant, with its id broken at hyphens, and what is found for each design.
struct Column {
    id: &'static str,
    /// Other invariants with the same cells.
    alike: Vec<&'static str>,
    head: Vec<String>,
    cells: Vec<String>,
    width: usize,
}

impl Column {
    /// So wide a column may become for the sake of fewer lines in its head.
    const HEAD: usize = 8;

    fn new(id: &'static str, cells: Vec<String>) -> Column {
        let words: Vec<&str> = id.split_inclusive('-').collect();
        let longest = words.iter().map(|it| it.chars().count()).max().unwrap_or(0);
        let mut head: Vec<String> = Vec::new();
        for word in words {
            match head.last_mut() {
                Some(last) if last.len() + word.len() <= longest.max(Column::HEAD) => last.push_str(word),
                _ => head.push(word.to_owned()),
            }
        }
        let width = head.iter().chain(&cells).map(|it| it.chars().count()).max().unwrap_or(0);
        Column { id, alike: Vec::new(), head, cells, width }
    }
}

/// As many columns beside each other as there is room for, then the others below.
fn blocks(names: &[&str], columns: &[Column], width: usize) -> Vec<String> {
    const GAP: usize = 2;
    let first = names.iter().map(|it| it.len()).chain([TITLE.len()]).max().unwrap_or(0);
    let mut blocks = Vec::new();
    let mut rest = columns;
    while !rest.is_empty() {
        let mut used = first;
        let fits = rest.iter().take_while(|it| {
            used += GAP + it.width;
            used <= width
        });
        let (block, others) = rest.split_at(fits.count().max(1));
        rest = others;
        let height = block.iter().map(|it| it.head.len()).max().unwrap_or(0);
        let mut out = String::new();
        let mut line = |name: &str, cell: &dyn Fn(&Column) -> String| {
            let mut line = format!("{name:<first$}");
            for column in block {
                let _ = write!(line, "{:GAP$}{:<w$}", "", cell(column), w = column.width);
            }
            out.push_str(line.trim_end());
            out.push('\n');
        };
        for row in 0..height {
            let name = if row + 1 == height { TITLE } else { "" };
            line(name, &|it| {
                (row + it.head.len()).checked_sub(height).map_or_else(String::new, |row| it.head[row].clone())
            });
        }
        for (row, name) in names.iter().enumerate() {
            line(name, &|it| it.cells[row].clone());
        }
        blocks.push(out);
    }
    blocks
}

const TITLE: &str = "design";

/// How to see the violations of a design: a token for each that a sweep found, a run for each that chance found.
fn ways(it: &Comparison<'_>, scenario: usize, design: usize, width: usize) -> String {
    let mut tokens: Vec<(String, Vec<String>)> = Vec::new();
    let add = |list: &mut Vec<(String, Vec<String>)>, text: String, id| match list.iter_mut().find(|it| it.0 == text) {
        Some(it) => it.1.push(id),
        None => list.push((text, vec![id])),
    };
    let (mut by_chance, mut by_proof) = (Vec::new(), Vec::new());
    for &invariant in &it.invariants {
        let cell = &it.pair(scenario, design).cells[invariant];
        let needs = needs(cell).filter(|_| !cell.is_robust()).map_or_else(String::new, |it| format!(" ({it})"));
        let id = |price: u8| format!("{}{}", INVARIANTS[invariant].id, if price == 0 { needs.as_str() } else { "" });
        if let Some(swept) = &cell.swept {
            add(&mut tokens, token(it, scenario, design, &swept.deviations), id(swept.price));
        }
        if let Some(sampled) = &cell.sampled {
            let told = sampled.deviations.as_ref();
            let replay = told.map(|told| format!("vgdp-sim replay {}", token(it, scenario, design, told)));
            let command = replay.filter(|it| 2 + it.len() <= width); // a long token is for programs
            let command = command.unwrap_or_else(|| run_command(it, scenario, design, sampled));
            add(&mut by_chance, command, id(sampled.price));
        }
        if let Some(Exposed { cheapest, deviations }) = &cell.exposed {
            let replay =
                deviations.as_ref().map(|told| format!("vgdp-sim replay {}", token(it, scenario, design, told)));
            let command = replay.filter(|it| 2 + it.len() <= width);
            let steps = counted(u64::from(cheapest.steps), "step");
            let command = command.unwrap_or_else(|| format!("in {steps}: --out DIR writes it to a file"));
            add(&mut by_proof, command, id(cheapest.price));
        }
    }
    let name = it.designs[design].name();
    let mut out = String::new();
    let mut list = |title: String, all: &[(String, Vec<String>)]| {
        if all.is_empty() {
            return;
        }
        out.push_str(&paragraph(&title, 0, width));
        for (text, ids) in all {
            let ids = ids.join(", ");
            if 2 + text.len() + 2 + ids.len() <= width {
                let _ = writeln!(out, "  {text}  {ids}");
            } else {
                let _ = writeln!(out, "  {text}");
                out.push_str(
                    &wrapped(&ids, width.saturating_sub(6).max(20))
                        .iter()
                        .fold(String::new(), |all, it| all + "      " + it + "\n"),
                );
            }
        }
    };
    list(format!("To see how {name} is broken, `vgdp-sim replay` and one of"), &tokens);
    list(format!("Found for {name} by chance only, or cheaper than by the sweep"), &by_chance);
    list(format!("Found for {name} by the proof only, or cheaper than by the others"), &by_proof);
    out
}

/// The token of a violation that is told by its deviations.
pub fn token(it: &Comparison<'_>, scenario: usize, design: usize, deviations: &[Deviation]) -> String {
    Token::new(&it.scenarios[scenario], it.designs[design], deviations).to_string()
}

/// What to type to see the run by which chance found a violation; which run it is, where the command line cannot make it.
pub fn run_command(it: &Comparison<'_>, scenario: usize, design: usize, sampled: &Sampled) -> String {
    let (seed, run) = (it.effort.seed, sampled.run);
    let command = command_of_run(&it.scenarios[scenario], it.designs[design], &PORTFOLIO, seed, run);
    command.unwrap_or_else(|| format!("run {run} of seed {seed}"))
}

/// The command that shows the cheapest violation of a cell, if one was found and a command can show it.
pub(super) fn way_of(it: &Comparison<'_>, s: usize, d: usize, invariant: usize) -> Option<String> {
    let cell = &it.pair(s, d).cells[invariant];
    let Cell { sampled, exposed, .. } = cell;
    let told = cell.deviations().map(|told| format!("vgdp-sim replay {}", token(it, s, d, told)));
    let sampled = sampled.as_ref().filter(|_| exposed.is_none());
    told.or_else(|| sampled.map(|sampled| run_command(it, s, d, sampled)))
}

/// A file for each violation: its name, and a schedule that replays.
pub fn files(it: &Comparison<'_>) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for (s, scenario) in it.scenarios.iter().enumerate() {
        for (d, &design) in it.designs.iter().enumerate() {
            for &invariant in &it.invariants {
                let cell = &it.pair(s, d).cells[invariant];
                let id = INVARIANTS[invariant].id;
                let mut file = |by: &str, told: String, actions| {
                    let name = format!("{}-{}-{id}{by}.schedule", scenario.name, design.name());
                    let schedule = Schedule::new(scenario.clone(), design, Some(invariant), Then::Normal, actions);
                    let sentence = INVARIANTS[invariant].sentence;
                    files.push((name, format!("# {id}: {sentence}.\n# {told}\n{schedule}")));
                };
                if let Some(Broken { price, deviations, .. }) = &cell.swept {
                    let (report, actions) = record(scenario, design, &mut Deviating::new(deviations));
                    let until = report.broken[invariant].map_or(0, |it| it.step as usize + 1);
                    let until = until.saturating_sub(scenario.prefix().count()).min(actions.len());
                    let told = format!("Broken at price {price}, as {}.", token(it, s, d, deviations));
                    file("", told, actions[..until].to_vec());
                }
                if let Some(sampled) = &cell.sampled {
                    let Sampled { price, schedule, .. } = sampled;
                    let command = run_command(it, s, d, sampled);
                    let told = sampled.deviations.as_ref();
                    let told = told.map_or_else(String::new, |told| format!(", as {}", token(it, s, d, told)));
                    let told = format!("Broken at price {price}{told}. Found by `{command}`, then shrunk.");
                    file("-by-chance", told, schedule.clone());
                }
                if let Some(Exposed { cheapest, deviations }) = &cell.exposed {
                    let told = deviations.as_ref();
                    let told = told.map_or_else(String::new, |told| format!(", as {}", token(it, s, d, told)));
                    let told = format!("Broken at price {}{told}, as a proof has shown.", cheapest.price);
                    file("-by-proof", told, cheapest.schedule.clone());
                }
            }
        }
    }
    files
}
