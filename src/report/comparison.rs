//! Designs side by side, as tables: a scenario each, then all of them together.

use std::fmt::Write as _;

use super::schedule::{Schedule, Then};
use super::summary::command_of_run;
use super::token::Token;
use super::{counted, grouped, paragraph, wrapped};
use crate::invariants::INVARIANTS;
use crate::model::time::Ticks;
use crate::scenario::Scenario;
use crate::scheduler::{Deviating, Deviation, PORTFOLIO};
use crate::search::{Broken, Cell, Comparison, Pair, Sampled, record};

/// Of which designs the ways to break them are printed below a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// Of the first, which is upstream unless others were asked for.
    First,
    /// Of all.
    All,
}

/// The whole comparison: how to read it, a table for each scenario, and one for all together.
pub fn tables(it: &Comparison<'_>, tokens: Tokens, width: usize) -> String {
    let mut out = legend(it, width);
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
    out
}

/// What a cell says, and what it does not.
fn legend(it: &Comparison<'_>, width: usize) -> String {
    let chance = if it.effort.runs > 0 {
        " After ~ stands one that only chance found, at that price; with fewer deviations there may be others."
    } else {
        ""
    };
    let text = format!(
        "Each cell is the cheapest violation that was found, as price·deviations. The price is what the outside world had to do wrong for it: 0 is a race of normal operation. Deviations are the places where the schedule departs from the normal one.{chance} - is none found: a certificate within the deviations that were tried in full, and no proof beyond them.",
    );
    paragraph(&text, 0, width)
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
    out.push_str(&paragraph(&coverage(it, index), 0, width));
    let cells = |design: usize, invariant: usize| cell_text(&it.pair(index, design).cells[invariant]);
    let within = (0..it.designs.len()).map(|design| it.pair(index, design).within).min().unwrap_or(0);
    let none = format!("None {}for any design", none_of(it, within));
    out.push_str(&grid(it, &cells, &none, width));
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
fn none_of(it: &Comparison<'_>, within: u8) -> String {
    let runs = it.effort.runs;
    let sampled = if runs > 0 { format!("and none in {} ", counted(runs, "run")) } else { String::new() };
    format!("within {} {sampled}", counted(u64::from(within), "deviation"))
}

/// How much was tried, for which designs.
fn coverage(it: &Comparison<'_>, index: usize) -> String {
    let mut groups: Vec<(u8, bool, Vec<usize>)> = Vec::new();
    for design in 0..it.designs.len() {
        let Pair { within, partial, .. } = *it.pair(index, design);
        match groups.iter_mut().find(|it| (it.0, it.1) == (within, partial)) {
            Some(group) => group.2.push(design),
            None => groups.push((within, partial, vec![design])),
        }
    }
    let mut text = String::new();
    for (within, partial, designs) in &groups {
        let worlds = || designs.iter().map(|design| it.pair(index, *design).worlds as u64);
        let (least, most) = (worlds().min().unwrap_or(0), worlds().max().unwrap_or(0));
        let worlds = if least == most { grouped(least) } else { format!("{} to {}", grouped(least), grouped(most)) };
        let names: Vec<&str> = designs.iter().map(|design| it.designs[*design].name()).collect();
        let whom = if groups.len() > 1 { format!(" for {}", names.join(", ")) } else { String::new() };
        let part = if *partial { format!(", and with {} in part", within + 1) } else { String::new() };
        let _ = write!(
            text,
            "{}Every schedule within {}{part}{whom}: {worlds} worlds a design.",
            if text.is_empty() { "" } else { " " },
            counted(u64::from(*within), "deviation"),
        );
    }
    if it.effort.runs > 0 {
        let _ = write!(text, " Then {} by chance, seed {}.", counted(it.effort.runs, "run"), it.effort.seed);
    }
    text
}

/// All scenarios together: for each design and invariant the cheapest violation in any of them.
fn of_all(it: &Comparison<'_>, width: usize) -> String {
    let mut out = paragraph("All scenarios together: the cheapest violation in any of them.", 0, width);
    let cells = |design: usize, invariant: usize| {
        let all = || (0..it.scenarios.len()).map(|index| &it.pair(index, design).cells[invariant]);
        let swept = all().filter_map(|it| it.swept.as_ref()).map(of_swept).min();
        let sampled = all().filter_map(|it| it.sampled.as_ref()).map(of_sampled).min();
        text_of(swept, sampled)
    };
    out.push_str(&grid(it, &cells, "None for any design, within what was tried", width));
    out
}

fn cell_text(cell: &Cell) -> String {
    text_of(cell.swept.as_ref().map(of_swept), cell.sampled.as_ref().map(of_sampled))
}

/// Price and deviations.
fn of_swept(it: &Broken) -> (u8, usize) {
    (it.price, it.deviations.len())
}

/// The same; as many deviations as can be where it was not told by any.
fn of_sampled(it: &Sampled) -> (u8, usize) {
    (it.price, it.deviations.as_ref().map_or(usize::MAX, Vec::len))
}

fn text_of(swept: Option<(u8, usize)>, sampled: Option<(u8, usize)>) -> String {
    let swept_text = swept.map(|(price, deviations)| format!("{price}·{deviations}"));
    let cheaper = sampled.filter(|it| swept.is_none_or(|swept| it.0 < swept.0));
    let sampled_text = cheaper.map(|(price, deviations)| match deviations {
        usize::MAX => format!("~{price}"),
        _ => format!("~{price}·{deviations}"),
    });
    let all: Vec<String> = swept_text.into_iter().chain(sampled_text).collect();
    if all.is_empty() { NONE.to_owned() } else { all.join(" ") }
}

/// A cell in which nothing was found.
const NONE: &str = "-";

/// The table, where the designs differ; then in a line each what is as in a column, what is the same for all designs,
/// and what is broken for none.
fn grid(it: &Comparison<'_>, cell: &dyn Fn(usize, usize) -> String, none: &str, width: usize) -> String {
    let mut columns: Vec<Column> = Vec::new();
    let (mut same, mut clean) = (Vec::new(), Vec::new());
    for &invariant in &it.invariants {
        let id = INVARIANTS[invariant].id;
        let cells: Vec<String> = (0..it.designs.len()).map(|design| cell(design, invariant)).collect();
        let first = cells.first().cloned().unwrap_or_default();
        if cells.iter().all(|it| it == NONE) {
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
    let mut tokens: Vec<(String, Vec<&str>)> = Vec::new();
    let add = |list: &mut Vec<(String, Vec<&str>)>, text: String, id| match list.iter_mut().find(|it| it.0 == text) {
        Some(it) => it.1.push(id),
        None => list.push((text, vec![id])),
    };
    let mut by_chance = Vec::new();
    for &invariant in &it.invariants {
        let (cell, id) = (&it.pair(scenario, design).cells[invariant], INVARIANTS[invariant].id);
        if let Some(swept) = &cell.swept {
            add(&mut tokens, token(it, scenario, design, &swept.deviations), id);
        }
        if let Some(sampled) = &cell.sampled {
            let told = sampled.deviations.as_ref();
            let replay = told.map(|told| format!("vgdp-sim replay {}", token(it, scenario, design, told)));
            let command = replay.filter(|it| 2 + it.len() <= width); // a long token is for programs
            add(&mut by_chance, command.unwrap_or_else(|| run_command(it, scenario, design, sampled)), id);
        }
    }
    let name = it.designs[design].name();
    let mut out = String::new();
    let mut list = |title: String, all: &[(String, Vec<&str>)]| {
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
            }
        }
    }
    files
}
