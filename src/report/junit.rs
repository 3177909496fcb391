//! A comparison as JUnit XML, so that a CI system shows its cells as tests: a suite for each scenario, a class for each
//! design, a test for each invariant.
//!
//! A violation is a failure, whose text says how to see it and, where it has price 0, which assumptions about latency it
//! needs. A test that passes says no more than that none was found, and how far it was looked for. What was not tried is
//! skipped.

use std::fmt::Write as _;

use super::comparison::{needs, none_of, way_of};
use super::escaped;
use crate::invariants::INVARIANTS;
use crate::search::{By, Comparison};

/// The whole comparison.
pub fn text(it: &Comparison<'_>) -> String {
    let mut suites = String::new();
    let mut all = Counts::default();
    for (s, scenario) in it.scenarios.iter().enumerate() {
        let (mut tests, mut counts) = (String::new(), Counts::default());
        for d in 0..it.designs.len() {
            for &invariant in &it.invariants {
                counts.tests += 1;
                tests.push_str(&test(it, s, d, invariant, &mut counts));
            }
        }
        let _ = writeln!(suites, "  <testsuite name=\"{}\" {counts}>\n{tests}  </testsuite>", escaped(scenario.name));
        all = Counts {
            tests: all.tests + counts.tests,
            failures: all.failures + counts.failures,
            skipped: all.skipped + counts.skipped,
        };
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"vgdp-sim compare\" {all}>\n{suites}</testsuites>\n"
    )
}

fn test(it: &Comparison<'_>, s: usize, d: usize, invariant: usize, counts: &mut Counts) -> String {
    let pair = it.pair(s, d);
    let cell = &pair.cells[invariant];
    let (scenario, design, id) = (it.scenarios[s].name, it.designs[d].name(), INVARIANTS[invariant].id);
    let result = match (cell.price(), pair.by(invariant)) {
        (Some(price), _) => {
            counts.failures += 1;
            let message = format!("{id} is broken at price {price}: {}", INVARIANTS[invariant].sentence);
            let text = [way_of(it, s, d, invariant), needs(cell)].into_iter().flatten().collect::<Vec<_>>().join("\n");
            format!("<failure message=\"{}\">{}</failure>", escaped(&message), escaped(&text))
        }
        (None, By::Nothing) => {
            counts.skipped += 1;
            "<skipped message=\"not tried\"/>".to_owned()
        }
        (None, By::Proof) => {
            "<system-out>proved in this scope, up to the price of the scenario</system-out>".to_owned()
        }
        (None, By::Sweep | By::Chance) => {
            format!("<system-out>none {}</system-out>", escaped(none_of(pair.within, pair.runs).trim()))
        }
    };
    let class = escaped(&format!("vgdp-sim.{scenario}.{design}"));
    format!("    <testcase classname=\"{class}\" name=\"{}\">{result}</testcase>\n", escaped(id))
}

#[derive(Clone, Copy, Default)]
struct Counts {
    tests: u64,
    failures: u64,
    skipped: u64,
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Counts { tests, failures, skipped } = self;
        write!(f, "tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"")
    }
}
