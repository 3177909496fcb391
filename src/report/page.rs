//! An explained violation as a page: one file that loads nothing, with the run step by step; and a comparison as a page
//! with links to such cases.
//!
//! The page of a case holds the same JSON as `--format json`, and shows nothing that is not in it.

use std::fmt::Write as _;

use super::comparison::{Tokens, cell_text, marks, needs, way_of};
use super::explained;
use super::{counted, escaped};
use crate::invariants::INVARIANTS;
use crate::scenario::Scenario;
use crate::scheduler::Deviation;
use crate::search::{Comparison, Explained};

const FRAME: &str = include_str!("page/frame.html");
const INDEX: &str = include_str!("page/index.html");
const CASE: &str = include_str!("page/case.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/case.js");

/// The columns of the story.
const WIDTH: usize = 100;

/// The page of one case. `crumb` is HTML that leads back to where it is linked from, and may be empty.
pub fn case(it: &Explained<'_>, crumb: &str) -> String {
    let invariant = explained::invariant(it);
    let heading = format!("{}: {}", invariant.id, invariant.sentence);
    let body = filled(
        CASE,
        &[
            ("crumb", crumb),
            ("heading", &escaped(&heading)),
            ("verdict", &escaped(&explained::verdict(it))),
            ("command", &escaped(&explained::command(it))),
            ("story", &escaped(&explained::text(it, WIDTH))),
            ("version", env!("CARGO_PKG_VERSION")),
            ("data", &embedded(&explained::json(it))),
            ("script", SCRIPT),
        ],
    );
    framed(&escaped(&format!("{} in {} ({})", invariant.id, it.scenario.name, it.design.name())), &body)
}

/// A violation of a comparison that gets a page of its own.
#[derive(Clone, Debug)]
pub struct Case<'a> {
    /// The index of its scenario.
    pub scenario: usize,
    /// The index of its design.
    pub design: usize,
    /// The index of the invariant in [`INVARIANTS`].
    pub invariant: usize,
    /// What brings it about.
    pub deviations: &'a [Deviation],
}

/// The name of the page of a case, below the page of the comparison.
pub fn case_name(it: &Comparison<'_>, scenario: usize, design: usize, invariant: usize) -> String {
    let (scenario, design) = (it.scenarios[scenario].name, it.designs[design].name());
    format!("{scenario}-{design}-{}.html", INVARIANTS[invariant].id)
}

/// The violations that get a page of their own: those of the first design, or of all, that can be told by deviations.
pub fn cases<'a>(it: &'a Comparison<'_>, whose: Tokens) -> Vec<Case<'a>> {
    let designs = if whose == Tokens::All { it.designs.len() } else { it.designs.len().min(1) };
    let mut all = Vec::new();
    for scenario in 0..it.scenarios.len() {
        for design in 0..designs {
            for &invariant in &it.invariants {
                if let Some(deviations) = it.pair(scenario, design).cells[invariant].deviations() {
                    all.push(Case { scenario, design, invariant, deviations });
                }
            }
        }
    }
    all
}

/// The page of a comparison, with links to the pages of its cases where `has_page` says that there is one.
pub fn index(it: &Comparison<'_>, has_page: &dyn Fn(usize, usize, usize) -> bool) -> String {
    let mut tables = String::new();
    for (s, scenario) in it.scenarios.iter().enumerate() {
        let Scenario { name, sentence, nodes, tasks, limit, .. } = scenario;
        let scope = [(*nodes, "node"), (*tasks, "task"), (*limit, "slot")]
            .map(|(it, what)| counted(u64::from(it), what))
            .join(", ");
        let (name, sentence) = (escaped(name), escaped(sentence));
        let _ = write!(
            tables,
            "<section aria-labelledby=\"{name}\">\n<h2 id=\"{name}\">{name}</h2>\n<p>{sentence} ({scope} a node)</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\"><table class=\"compare\">\n<thead><tr><th scope=\"col\">design</th>"
        );
        let shown: Vec<usize> = it.invariants.iter().copied().filter(|i| is_broken_by_any(it, s, *i)).collect();
        for &invariant in &shown {
            let about = &INVARIANTS[invariant];
            let _ = write!(tables, "<th scope=\"col\" title=\"{}\">{}</th>", escaped(about.sentence), about.id);
        }
        tables.push_str("</tr></thead>\n<tbody>\n");
        for (d, design) in it.designs.iter().enumerate() {
            let (name, about) = (escaped(design.name()), escaped(design.sentence()));
            let _ = write!(tables, "<tr><th scope=\"row\" title=\"{about}\">{name}</th>");
            for &invariant in &shown {
                tables.push_str(&cell(it, s, d, invariant, has_page(s, d, invariant)));
            }
            tables.push_str("</tr>\n");
        }
        tables.push_str("</tbody></table></div>\n");
        let whole: Vec<&str> =
            it.invariants.iter().filter(|i| !is_broken_by_any(it, s, **i)).map(|i| INVARIANTS[*i].id).collect();
        if !whole.is_empty() {
            let _ = writeln!(tables, "<p>No violation was found for any design: {}.</p>", whole.join(", "));
        }
        tables.push_str("</section>\n");
    }
    let marks: String =
        marks(it, usize::MAX).lines().fold(String::new(), |all, it| all + "<li>" + &escaped(it) + "</li>");
    let tried = format!("Seed {}.", it.effort.seed);
    let title = "Designs compared";
    let body = filled(
        INDEX,
        &[
            ("title", title),
            ("tried", &tried),
            ("marks", &marks),
            ("tables", &tables),
            ("version", env!("CARGO_PKG_VERSION")),
        ],
    );
    framed(title, &body)
}

fn is_broken_by_any(it: &Comparison<'_>, scenario: usize, invariant: usize) -> bool {
    (0..it.designs.len()).any(|d| it.pair(scenario, d).cells[invariant].is_broken())
}

fn cell(it: &Comparison<'_>, s: usize, d: usize, invariant: usize, has_page: bool) -> String {
    let text = escaped(&cell_text(it, s, d, invariant));
    let found = &it.pair(s, d).cells[invariant];
    let class = match found.price() {
        Some(0) => "race",
        Some(_) => "broken",
        None => "none",
    };
    let title = [way_of(it, s, d, invariant), needs(found)].into_iter().flatten().collect::<Vec<_>>().join("; ");
    let title = if title.is_empty() { title } else { format!(" title=\"{}\"", escaped(&title)) };
    let text = if has_page { format!("<a href=\"{}\">{text}</a>", case_name(it, s, d, invariant)) } else { text };
    format!("<td class=\"{class}\"{title}>{text}</td>")
}

/// A whole page: what all of them have around what they say.
fn framed(title: &str, body: &str) -> String {
    filled(FRAME, &[("title", title), ("style", STYLE), ("body", body)])
}

/// Puts each value where its name stands in double braces. What is put in is not looked at again.
fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len() + values.iter().map(|it| it.1.len()).sum::<usize>());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("a template closes its braces");
        out.push_str(before);
        out.push_str(values.iter().find(|it| it.0 == name).expect("a template asks for what there is").1);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// JSON inside a script element: nothing in it may look like its end.
fn embedded(json: &str) -> String {
    json.trim_end().replace('<', "\\u003c")
}
