//! An explained violation as a page: one file that loads nothing, with the run step by step.
//!
//! The page holds the same JSON as `--format json`, and shows nothing that is not in it.

use super::explained;
use crate::search::Explained;

const CASE: &str = include_str!("page/case.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/case.js");

/// The columns of the story.
const WIDTH: usize = 100;

/// The page of one case. `crumb` is HTML that leads back to where it is linked from, and may be empty.
pub fn case(it: &Explained<'_>, crumb: &str) -> String {
    let invariant = explained::invariant(it);
    let heading = format!("{}: {}", invariant.id, invariant.sentence);
    filled(
        CASE,
        &[
            ("title", &escaped(&format!("{} in {} ({})", invariant.id, it.scenario.name, it.design.name()))),
            ("style", STYLE),
            ("crumb", crumb),
            ("heading", &escaped(&heading)),
            ("verdict", &escaped(&explained::verdict(it))),
            ("command", &escaped(&explained::command(it))),
            ("story", &escaped(&explained::text(it, WIDTH))),
            ("version", env!("CARGO_PKG_VERSION")),
            ("data", &embedded(&explained::json(it))),
            ("script", SCRIPT),
        ],
    )
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

/// Text as HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// JSON inside a script element: nothing in it may look like its end.
fn embedded(json: &str) -> String {
    json.trim_end().replace('<', "\\u003c")
}
