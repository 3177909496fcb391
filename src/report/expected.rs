//! A comparison as lines that are kept and compared: one for each scenario, design and invariant.
//!
//! ```text
//! deviations 2
//! worlds 1000000
//! runs 0
//! seed 1
//!
//! cancel upstream slot-leak broken price 0 deviations 2
//! cancel upstream stuck none within 2
//! cancel upstream starved broken price 0 by chance
//! cancel upstream crash broken price 0 by proof
//! cancel upstream over-limit none up to price 0, proved
//! ```
//!
//! Where proofs were made, `proofs` says how many worlds they might visit, and `ticks fine` stands beside the settings where
//! the clock moved to more than boundaries. What follows a `#` is for people.

use std::fmt::Write as _;

use super::nearest;
use crate::invariants::INVARIANTS;
use crate::model::time::Ticks;
use crate::search::{Cell, Comparison, Effort, Pair};

/// The comparison as such lines.
pub fn text(it: &Comparison<'_>) -> String {
    let Effort { deviations, worlds, runs, proofs, seed } = it.effort;
    let proofs = if proofs > 0 { format!("proofs {proofs}\n") } else { String::new() };
    let mut out = format!(
        "# What `vgdp-sim compare --record` found; with `--expect` it is compared with what is found then.\n\
         deviations {deviations}\nworlds {worlds}\nruns {runs}\n{proofs}seed {seed}\n"
    );
    if let Some(scenario) = it.scenarios.iter().find(|it| it.ticks != Ticks::default()) {
        let _ = writeln!(out, "ticks {}", scenario.ticks.name());
    }
    let per_design = it.invariants.len().max(1);
    for (index, line) in lines(it).into_iter().enumerate() {
        if index % per_design == 0 {
            out.push('\n');
        }
        let _ = writeln!(out, "{line}");
    }
    out
}

/// One line for each scenario, design and invariant.
fn lines(it: &Comparison<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for (s, scenario) in it.scenarios.iter().enumerate() {
        for (d, design) in it.designs.iter().enumerate() {
            let pair = it.pair(s, d);
            for &invariant in &it.invariants {
                let id = INVARIANTS[invariant].id;
                let verdict = verdict(pair, &pair.cells[invariant]);
                lines.push(format!("{} {} {id} {verdict}", scenario.name, design.name()));
            }
        }
    }
    lines
}

fn verdict(pair: &Pair, cell: &Cell) -> String {
    let Cell { swept, sampled, exposed, sensitivity: _ } = cell;
    let swept = swept.as_ref().map(|it| format!("price {} deviations {}", it.price, it.deviations.len()));
    let by_chance = sampled.as_ref().map(|it| format!("price {} by chance", it.price));
    let by_proof = exposed.as_ref().map(|it| format!("price {} by proof", it.cheapest.price));
    let all: Vec<String> = [swept, by_chance, by_proof].into_iter().flatten().collect();
    if !all.is_empty() {
        return format!("broken {}", all.join(", "));
    }
    match pair.proved.and_then(|it| it.complete).filter(|_| pair.is_whole()) {
        Some((price, _)) => format!("none up to price {price}, proved"),
        None => format!("none within {}", pair.within),
    }
}

/// What was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// With how much effort.
    pub effort: Effort,
    /// To which instants the clock moved.
    pub ticks: Ticks,
    lines: Vec<String>,
}

/// A text that is no recorded comparison.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpectedError {
    /// A line that is neither a setting nor a verdict.
    #[error(
        "line {line}: `{text}` is neither `NAME NUMBER`, as `deviations 2`, nor `SCENARIO DESIGN INVARIANT VERDICT`; record the table anew with `vgdp-sim compare --record FILE`"
    )]
    Line {
        /// The line.
        line: usize,
        /// What stands there.
        text: String,
    },
    /// A setting that does not exist.
    #[error("line {line}: no setting is called `{name}`; did you mean `{nearest}`?")]
    Setting {
        /// The line.
        line: usize,
        /// What stands there.
        name: String,
        /// What is called almost so.
        nearest: &'static str,
    },
    /// A setting whose number is too large, or none.
    #[error("line {line}: `{name}` cannot be `{value}`; write a number, as in `{name} 2`")]
    Value {
        /// The line.
        line: usize,
        /// The setting.
        name: &'static str,
        /// What stands there.
        value: String,
    },
}

const SETTINGS: [&str; 5] = ["deviations", "worlds", "runs", "proofs", "seed"];

impl std::str::FromStr for Expected {
    type Err = ExpectedError;

    fn from_str(text: &str) -> Result<Expected, ExpectedError> {
        let mut expected = Expected { effort: Effort::default(), ticks: Ticks::default(), lines: Vec::new() };
        for (index, full) in text.lines().enumerate() {
            let line = index + 1;
            let words: Vec<&str> = full.split('#').next().unwrap_or("").split_whitespace().collect();
            match words[..] {
                [] => {}
                ["ticks", "fine"] => expected.ticks = Ticks::Fine,
                [name, value] => expected.set(line, name, value)?,
                [_, _, _, "broken" | "none", ..] => expected.lines.push(words.join(" ")),
                _ => return Err(ExpectedError::Line { line, text: words.join(" ") }),
            }
        }
        Ok(expected)
    }
}

impl Expected {
    fn set(&mut self, line: usize, name: &str, value: &str) -> Result<(), ExpectedError> {
        let Some(name) = SETTINGS.into_iter().find(|it| *it == name) else {
            let nearest = nearest(name, SETTINGS).unwrap_or(SETTINGS[0]);
            return Err(ExpectedError::Setting { line, name: name.to_owned(), nearest });
        };
        let effort = &mut self.effort;
        let done = match name {
            "deviations" => value.parse().map(|it| effort.deviations = it),
            "worlds" => value.parse().map(|it| effort.worlds = it),
            "runs" => value.parse().map(|it| effort.runs = it),
            "proofs" => value.parse().map(|it| effort.proofs = it),
            _ => value.parse().map(|it| effort.seed = it),
        };
        done.map_err(|_| ExpectedError::Value { line, name, value: value.to_owned() })
    }

    /// The names in a column, each once: 0 for scenarios, 1 for designs, 2 for invariants.
    fn names(&self, column: usize) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.lines.iter().filter_map(|it| it.split(' ').nth(column)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The scenarios that it tells of.
    pub fn scenarios(&self) -> Vec<&str> {
        self.names(0)
    }

    /// The designs that it tells of.
    pub fn designs(&self) -> Vec<&str> {
        self.names(1)
    }

    /// The invariants that it tells of.
    pub fn invariants(&self) -> Vec<&str> {
        self.names(2)
    }

    /// The lines that differ, as `- recorded` and `+ found now`, in the order of the comparison; then those of which the
    /// comparison says nothing.
    pub fn differences(&self, found: &Comparison<'_>) -> Vec<String> {
        let key = |line: &str| line.split(' ').take(3).collect::<Vec<_>>().join(" ");
        let found = lines(found);
        let mut out = Vec::new();
        let mut recorded: std::collections::BTreeMap<String, Vec<&str>> = std::collections::BTreeMap::new();
        for line in &self.lines {
            recorded.entry(key(line)).or_default().push(line);
        }
        for line in &found {
            let was = recorded.remove(&key(line)).unwrap_or_default();
            if was != [line] {
                out.extend(was.iter().map(|it| format!("- {it}")));
                out.push(format!("+ {line}"));
            }
        }
        let gone = self.lines.iter().filter(|it| recorded.contains_key(&key(it)));
        out.extend(gone.map(|it| format!("- {it}")));
        out
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::designs::{CloseOnTerminal, Upstream};
    use crate::scenario::Scenario;
    use crate::search::compare;

    fn comparison() -> Comparison<'static> {
        let effort = Effort { deviations: 1, runs: 20, ..Effort::default() };
        let scenarios = [Scenario::named("pod-deleted").unwrap()];
        compare(&scenarios, &[&Upstream, &CloseOnTerminal], effort, NonZeroUsize::MIN, None, &|_| {})
    }

    #[test]
    fn what_was_recorded_is_what_is_found() {
        let it = comparison();
        let expected: Expected = text(&it).parse().unwrap();
        assert_eq!(expected.differences(&it), [""; 0]);
        assert_eq!(expected.effort, it.effort);
        assert_eq!(expected.designs(), ["upstream", "close-on-terminal"]);
        assert_eq!(expected.scenarios(), ["pod-deleted"]);
        assert_eq!(expected.invariants().len(), INVARIANTS.len());
    }

    #[test]
    fn any_difference_is_told_with_both_sides() {
        let it = comparison();
        let recorded = text(&it);
        let changed = recorded.lines().find(|it| it.contains(" slot-leak broken price 1")).expect("it leaks");
        let better = changed.replace("price 1", "price 2");
        let differences = recorded.replace(changed, &better).parse::<Expected>().unwrap().differences(&it);
        assert_eq!(differences, [format!("- {better}"), format!("+ {changed}")]);

        let without = recorded.replace(changed, "").parse::<Expected>().unwrap();
        assert_eq!(without.differences(&it), [format!("+ {changed}")]);

        let more = format!("{recorded}\ncancel upstream slot-leak none within 1\n").parse::<Expected>().unwrap();
        assert_eq!(more.differences(&it), ["- cancel upstream slot-leak none within 1"]);

        let twice = format!("{recorded}\n{changed}\n").parse::<Expected>().unwrap();
        assert!(!twice.differences(&it).is_empty());
    }

    #[test]
    fn a_line_that_says_nothing_is_refused_with_its_number() {
        let error = |text: &str| text.parse::<Expected>().unwrap_err().to_string();
        assert!(error("# x\nhello\n").starts_with("line 2: `hello` is neither"));
        assert!(error("run 3").contains("did you mean `runs`?"));
        assert!(error("deviations 300").contains("`deviations` cannot be `300`"));
        assert!(error("cancel upstream slot-leak brocken price 1").starts_with("line 1: "));
    }
}
