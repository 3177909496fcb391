//! A schedule told by its deviations: first as sentences, then as a run in which each of them is marked.

use std::fmt::Write as _;

use super::paragraph;
use super::rulebook::citation;
use super::schedule::{Schedule, Then};
use super::timeline::{Aside, Story, Style, actor};
use super::token::Token;
use crate::invariants::INVARIANTS;
use crate::model::design::Design;
use crate::model::rules::{Action, Class};
use crate::model::time::Ticks;
use crate::scenario::Scenario;
use crate::scheduler::{Departure, Deviation, Following, Until};
use crate::search::{deviate, shrink};

/// Of what a token is, and on which design it is replayed.
pub fn heading(token: &Token, design: &dyn Design, width: usize) -> String {
    let name = design.name();
    let whose = match token.design() {
        _ if token.is_for(design) => format!("A schedule of {name} in scenario {}.", token.scenario.name),
        Ok(it) => format!("A schedule of {} in scenario {}, here on {name}.", it.name(), token.scenario.name),
        Err(_) => format!("A schedule of another design in scenario {}, here on {name}.", token.scenario.name),
    };
    let ticks = token.scenario.ticks;
    let how = if ticks == Ticks::default() { String::new() } else { format!(" It was made with {}.", ticks.what()) };
    paragraph(&(whose + &how), 0, width)
}

/// "Run normally, but", and then each deviation as a sentence.
///
/// Whom an action is of, and what it does, follows each sentence that does not say so itself.
pub fn sentences(deviations: &[Deviation], width: usize) -> String {
    if deviations.is_empty() {
        return paragraph("Run normally.", 0, width);
    }
    let mut out = paragraph("Run normally, but:", 0, width);
    for (index, it) in deviations.iter().enumerate() {
        let number = format!("{:>3}. ", index + 1);
        let text = paragraph(&sentence(it), number.len(), width);
        out.push_str(&number);
        out.push_str(text.trim_start());
        if let Some(action) = subject(it).filter(|it| !is_from_outside(*it)) {
            let what = format!("({}, {}: {})", action.rule().name(), actor(action), citation(action.rule()).sentence);
            out.push_str(&paragraph(&what, number.len(), width));
        }
    }
    out.push_str(&paragraph("Then run normally.", 0, width));
    out
}

/// A run as a file, to be kept and edited: how it was made, how it ended and what it broke, how the first of that comes about
/// as departures from the normal schedule where it can be told so, and what was done.
pub fn saved(story: &Story, design: &dyn Design, made_by: &str) -> String {
    const WIDTH: usize = 100;
    let style = Style { width: WIDTH, ..Style::default() };
    let (scenario, actions) = (&story.scenario, story.schedule());
    let first = story.report.violations().next();
    let mut told = format!("Made by `{made_by}`.\n\n{}", story.verdict(&style));
    if let Some((invariant, it)) = first {
        let until = (it.step as usize + 1).saturating_sub(scenario.prefix().count()).min(actions.len());
        let needed = shrink(scenario, design, &actions[..until], invariant, it.price);
        if let Some(deviations) = deviate(scenario, design, &needed, invariant, it.price) {
            let id = INVARIANTS[invariant].id;
            let _ = write!(told, "\nFor {id} this is enough:\n\n{}", sentences(&deviations, WIDTH));
        }
    }
    let told: String = told.lines().map(|it| format!("# {it}").trim_end().to_owned() + "\n").collect();
    let schedule = Schedule::new(scenario.clone(), design, first.map(|it| it.0), Then::Stop, actions);
    format!("{told}\n{schedule}")
}

/// A deviation as a sentence.
pub fn sentence(it: &Deviation) -> String {
    match it.departure {
        Departure::Does(_) => format!("{}: {}.", it.point, brief(it)),
        _ => format!("{it}."),
    }
}

/// The same where its place is seen: what happens there.
fn brief(it: &Deviation) -> String {
    match it.departure {
        Departure::Does(action) => format!("{} ({action})", outsider(action)),
        Departure::First(action) => format!("{action} comes first"),
        Departure::Waits(until) => {
            let who = it.point.next.map_or_else(|| "nobody".to_owned(), |it| it.to_string());
            let until = match until {
                Until::LastInInstant => "nobody else acts in this instant".to_owned(),
                Until::Last => "nobody else acts at all".to_owned(),
                Until::Event(event) => event.to_string(),
            };
            format!("{who} waits until {until}")
        }
    }
}

/// What an operator or a fault does, as the end of a sentence.
fn outsider(action: Action) -> String {
    let sentence = citation(action.rule()).sentence;
    let sentence = sentence.trim_end_matches('.');
    match sentence.strip_prefix("It ") {
        Some(rest) => format!("a fault {rest}"),
        None => sentence.chars().take(1).flat_map(char::to_lowercase).chain(sentence.chars().skip(1)).collect(),
    }
}

fn is_from_outside(action: Action) -> bool {
    matches!(action.class(), Class::Operator | Class::Fault)
}

/// The action that a deviation is about: the one that is done, or the one that waits.
fn subject(it: &Deviation) -> Option<Action> {
    match it.departure {
        Departure::Does(action) | Departure::First(action) => Some(action),
        Departure::Waits(_) => it.point.next,
    }
}

/// A run with its deviations, and where in it each was made.
#[derive(Clone, Debug)]
pub struct Told {
    /// The run.
    pub story: Story,
    /// For each deviation that was made, before which step.
    pub made: Vec<usize>,
    deviations: Vec<Deviation>,
}

impl Told {
    /// Runs `scenario` normally but for `deviations`.
    ///
    /// # Panics
    ///
    /// When the scope of the scenario is too large, or its prefix is not enabled.
    pub fn tell(scenario: &Scenario, design: &dyn Design, deviations: &[Deviation]) -> Told {
        let mut following = Following::new(deviations, scenario);
        let story = Story::tell(scenario, design, &mut following);
        Told { story, made: following.made, deviations: deviations.to_vec() }
    }

    /// What it was told to do differently from the normal schedule.
    pub fn deviations(&self) -> &[Deviation] {
        &self.deviations
    }

    /// The first deviation that was not made, if there is one.
    pub fn missed(&self) -> Option<usize> {
        (self.made.len() < self.deviations.len()).then_some(self.made.len())
    }

    /// What stands in the timeline where a deviation is made.
    pub fn asides(&self) -> Vec<Aside> {
        let made = self.made.iter().zip(&self.deviations).enumerate();
        made.map(|(index, (&step, it))| Aside::deviation(step, index + 1, brief(it))).collect()
    }

    /// Says which deviation was not made, where one was not.
    pub fn tell_missed(&self, token: &Token, design: &dyn Design, width: usize) -> Option<String> {
        let index = self.missed()?;
        let (number, sentence) = (index + 1, sentence(&self.deviations[index]));
        let scenario = self.story.scenario.argument();
        let name = design.name();
        let so = if !token.is_for(design) {
            format!("So the schedule does not say whether {name} survives")
        } else if token.is_of_other_rules() {
            "The rules of the model have changed since the token was made".to_owned()
        } else {
            "The model or the scenario has changed since the token was made".to_owned()
        };
        let text = format!(
            "Diverged: deviation {number} was not made, since the run never came to its place, or since what it does was not enabled there. It is: {sentence} {so}; `vgdp-sim compare --scenario {scenario} --design {name}` searches anew."
        );
        Some(paragraph(&text, 0, width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::designs::Upstream;
    use crate::model::rules::Rule;
    use crate::search::sweep;

    fn leak() -> (Scenario, Vec<Deviation>) {
        let scenario = Scenario::named("pod-deleted").unwrap();
        let sweep = sweep(&scenario, &Upstream, 1, 1_000_000);
        let leak = sweep.broken.into_iter().find(|it| it.price == 1).expect("a pod that is deleted breaks something");
        (scenario, leak.deviations)
    }

    #[test]
    fn an_operator_is_told_in_words_and_by_the_name_of_its_rule() {
        let (_, deviations) = leak();
        let text = sentences(&deviations, 80);
        assert!(text.starts_with("Run normally, but:\n  1. after "), "{text}");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(": the user deletes the pod (user::deletes_pod(a)). Then run normally."), "{text}");
        assert_eq!(sentences(&[], 80), "Run normally.\n");
    }

    #[test]
    fn whoever_acts_from_outside_is_named() {
        for &rule in Rule::ALL {
            let forms = [(false, false), (false, true), (true, false), (true, true)];
            let place = |(n, t): (bool, bool)| {
                let (n, t) = (n.then_some(crate::model::place::NodeId(0)), t.then_some(crate::model::place::TaskId(0)));
                Action::new(rule, n, t)
            };
            let action = forms.into_iter().find_map(place).unwrap();
            if is_from_outside(action) {
                let text = outsider(action);
                assert!(text.starts_with("the user ") || text.starts_with("a fault "), "{text}");
            }
        }
    }

    #[test]
    fn each_deviation_is_marked_where_it_is_made() {
        let (scenario, deviations) = leak();
        let told = Told::tell(&scenario, &Upstream, &deviations);
        assert_eq!((told.missed(), told.made.len()), (None, deviations.len()));
        let Departure::Does(action) = deviations[0].departure else { panic!("a pod is deleted") };
        assert_eq!(told.story.lines[told.made[0]].action, action);
        let text = told.story.annotated(&Style::default(), &told.asides());
        let (before, after) =
            text.split_once(" the user deletes the pod (user::deletes_pod(a))\n").expect("it is marked");
        assert!(before.lines().last().unwrap().starts_with("   D1 ---"), "{text}");
        assert!(!before.contains("user::deletes_pod(a)") && after.contains("user::deletes_pod(a)"));
    }

    #[test]
    fn a_place_that_never_comes_is_told() {
        let (_, deviations) = leak();
        let normal = Scenario::named("normal").unwrap();
        let told = Told::tell(&normal, &Upstream, &deviations);
        assert_eq!(told.missed(), Some(0));
        let text = told.tell_missed(&Token::new(&normal, &Upstream, &deviations), &Upstream, 80).unwrap();
        assert!(text.starts_with("Diverged: deviation 1 was not made") && text.contains("user::deletes_pod(a)"));
    }
}
