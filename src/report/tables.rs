//! What there is: scenarios, invariants, rules, assumptions, prices, designs, policies, as text.

use std::iter;

use super::rulebook::citation;
use super::schedule::places_of;
use super::{counted, paragraph};
use crate::designs;
use crate::invariants::{INVARIANTS, Kind};
use crate::model::faults::{Disturbance, Lasts};
use crate::model::rules::Rule;
use crate::model::time::{Obligation, Span};
use crate::scenario::Scenario;
use crate::scheduler::{POLICIES, PORTFOLIO, Policy};

/// The built-in scenarios: scope, what may happen, what it may cost.
pub fn scenarios(width: usize) -> String {
    let mut out = String::new();
    for it in Scenario::built_in() {
        let Scenario { name, sentence, nodes, tasks, limit, price, allows, .. } = it;
        let allowed: Vec<String> = allows.iter().map(|(what, count)| format!("{what:?} x{count}")).collect();
        let allowed = if allowed.is_empty() { "nothing".to_owned() } else { allowed.join(", ") };
        let scope = format!(
            "{}, {}, {} a node; allows {allowed}, for a price of {price} together.",
            counted(u64::from(nodes), "node"),
            counted(u64::from(tasks), "task"),
            counted(u64::from(limit), "slot"),
        );
        entry(&mut out, name, &[sentence, &scope], width);
    }
    out
}

/// What a scenario is, as a paragraph that `heading` begins.
pub fn scenario(heading: &str, it: &Scenario, width: usize) -> String {
    paragraph(&format!("{heading} {it}"), 0, width)
}

/// The invariants: what each says, when it must hold, and who says so.
pub fn invariants(width: usize) -> String {
    let mut out = String::new();
    for it in INVARIANTS {
        let when = match it.broken {
            Kind::Step(_) => "Judged at every step.".to_owned(),
            Kind::Within(seconds, _) => format!("Judged by time: broken after {seconds} s at a stretch."),
            Kind::AtRest(_) => "Judged at rest.".to_owned(),
        };
        entry(
            &mut out,
            it.id,
            &[&format!("{}.", capital(it.sentence)), &format!("{when} Source: {}.", it.source)],
            width,
        );
    }
    out
}

/// The rules: who acts, where, what happens, and whom the rule cites.
pub fn rules(width: usize) -> String {
    let mut out = String::new();
    for &rule in Rule::ALL {
        let it = citation(rule);
        let who = format!("{}, at {}: {}", rule.actor(), places_of(rule).0, it.sentence);
        entry(&mut out, rule.name(), &[&who, &it.cites()], width);
    }
    out
}

/// What takes longer than an instant: how long, and who says so.
pub fn assumptions(width: usize) -> String {
    let mut out = String::new();
    for &it in Obligation::ALL {
        let Span { earliest, latest } = it.span();
        let latest = latest.map_or_else(|| "some day".to_owned(), |it| format!("{it} s"));
        let when = format!("From {earliest} s to {latest}: {}.", it.what());
        let source = format!("{}{}.", if it.is_assumed() { "" } else { "Source: " }, capital(it.source()));
        entry(&mut out, &format!("{it:?}"), &[&when, &source], width);
    }
    out
}

/// What the outside world may do, what it costs, and how long it lasts.
pub fn prices(width: usize) -> String {
    let mut out = String::new();
    for &it in Disturbance::ALL {
        let lasts = match it.lasts() {
            Lasts::Instant => "over at once",
            Lasts::Passing => "heals by itself",
            Lasts::Lasting => "lasts for ever",
        };
        entry(&mut out, &format!("{it:?}"), &[&format!("Price {}, {lasts}: {}.", it.price(), it.what())], width);
    }
    out
}

/// The designs.
pub fn designs(width: usize) -> String {
    let mut out = String::new();
    for it in designs::BUILT_IN {
        entry(&mut out, it.name(), &[it.sentence()], width);
    }
    out
}

/// The policies of random runs.
pub fn policies(width: usize) -> String {
    let mut out = String::new();
    for it in iter::once(&PORTFOLIO as &dyn Policy).chain(POLICIES.iter().copied()) {
        entry(&mut out, it.name(), &[it.sentence()], width);
    }
    out
}

fn entry(out: &mut String, name: &str, texts: &[&str], width: usize) {
    out.push_str(name);
    out.push('\n');
    for text in texts.iter().filter(|it| !it.is_empty()) {
        out.push_str(&paragraph(text, 4, width));
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_table_names_everything() {
        let text = rules(80);
        assert!(Rule::ALL.iter().all(|it| text.lines().any(|line| line == it.name())));
        let text = assumptions(80);
        assert!(Obligation::ALL.iter().all(|it| text.lines().any(|line| line == format!("{it:?}"))));
        let text = prices(80);
        assert!(Disturbance::ALL.iter().all(|it| text.lines().any(|line| line == format!("{it:?}"))));
        let text = invariants(80);
        assert!(INVARIANTS.iter().all(|it| text.lines().any(|line| line == it.id)));
        let text = scenarios(80);
        assert!(Scenario::built_in().iter().all(|it| text.lines().any(|line| line == it.name)));
    }
}
