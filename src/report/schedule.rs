//! A schedule as text: a few header lines, then one action a line, as an [`Action`] prints itself.
//!
//! ```text
//! scenario: cancel
//! nodes: 2
//! tasks: 1
//! design: upstream
//! invariant: slot-leak
//! then: normal
//!
//! cr_watch::receives(n0, a)    # what follows a # is for people
//! ```
//!
//! Only `scenario:` is required. A scenario that is not built in stands there whole, from `{` to `}` as in a
//! [file](Scenario::to_json), and says nodes, tasks and ticks itself. `ticks: fine` stands there where the clock moves to
//! more than boundaries. A schedule names its rules, so it outlives a change of the rule table, and people can
//! read it, edit it and review it.
//!
//! The JSON of a regression is read as well: it has the same headers, and the actions as a list called `schedule`.

mod regression;

use std::fmt::{self, Write as _};

use super::{nearest, paragraph};
use crate::designs::{self, Upstream};
use crate::invariants::INVARIANTS;
use crate::model::design::Design;
use crate::model::place::{NODES, NodeId, TASKS, TaskId};
use crate::model::rules::{Action, Enabled, Rule};
use crate::model::time::Ticks;
use crate::run::{Ended, Report};
use crate::scenario::{Scenario, ScenarioError};
use crate::scheduler::{Fired, Replay, Scheduler};

/// What happens after the last action of a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Then {
    /// The normal schedule goes on to rest.
    #[default]
    Normal,
    /// The run stops.
    Stop,
}

impl Then {
    const fn name(self) -> &'static str {
        match self {
            Then::Normal => "normal",
            Then::Stop => "stop",
        }
    }
}

/// Actions to be taken in a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Where the run starts, in the scope of the schedule.
    pub scenario: Scenario,
    /// The name of the design that is run.
    pub design: &'static str,
    /// The invariant that it was found for: its index in [`INVARIANTS`].
    pub invariant: Option<usize>,
    /// What happens after the last action.
    pub then: Then,
    /// The actions, without those with which the scenario begins.
    pub actions: Vec<Action>,
    /// The line of each action.
    lines: Vec<usize>,
}

impl Schedule {
    /// A schedule for a design.
    pub fn new(
        scenario: Scenario,
        design: &dyn Design,
        invariant: Option<usize>,
        then: Then,
        actions: Vec<Action>,
    ) -> Schedule {
        let design = design.name();
        let mut schedule = Schedule { scenario, design, invariant, then, actions, lines: Vec::new() };
        let first = schedule.header().lines().count() + 1;
        schedule.lines = (first..).take(schedule.actions.len()).collect();
        schedule
    }

    /// The line of the text in which the action of this index stands.
    pub fn line_of(&self, index: usize) -> usize {
        self.lines[index]
    }

    /// Where a replay of it went another way, and what was enabled there.
    pub fn tell_divergence(&self, it: &Divergence, file: &str, width: usize) -> String {
        let text = format!(
            "Diverged at {file}, line {}: `{}` is not enabled after the actions before it; change the line, or leave it out. Enabled there instead:",
            self.line_of(it.index),
            self.actions[it.index],
        );
        let mut out = paragraph(&text, 0, width);
        for action in &it.enabled {
            let _ = writeln!(out, "  {action}");
        }
        if it.enabled.is_empty() {
            out.push_str("  nothing\n");
        }
        out
    }

    /// Says so where the invariant that it was found for was not broken.
    pub fn tell_expectation(&self, report: &Report, width: usize) -> Option<String> {
        let index = self.invariant.filter(|it| report.broken[*it].is_none())?;
        let text = format!("The schedule is one for {}, which was not broken in this run.", INVARIANTS[index].id);
        Some(paragraph(&text, 0, width))
    }

    fn header(&self) -> String {
        let Scenario { name, nodes, tasks, ticks, .. } = &self.scenario;
        let scenario = if self.scenario.is_built_in() {
            let ticks = if *ticks == Ticks::default() { String::new() } else { format!("ticks: {}\n", ticks.name()) };
            format!("{name}\nnodes: {nodes}\ntasks: {tasks}\n{ticks}")
        } else {
            self.scenario.to_json()
        };
        let invariant = self.invariant.map_or_else(String::new, |it| format!("invariant: {}\n", INVARIANTS[it].id));
        let (design, then) = (self.design, self.then.name());
        let first: Vec<String> = self.scenario.prefix().map(|it| it.to_string()).collect();
        let first = first.join(", ");
        format!(
            "scenario: {scenario}design: {design}\n{invariant}then: {then}\n\n\
             # The scenario itself begins with {first}.\n"
        )
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.header())?;
        self.actions.iter().try_for_each(|it| writeln!(f, "{it}"))
    }
}

/// A text that is no schedule: which line, why, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// An action names a rule that does not exist.
    #[error(
        "line {line}: no rule is called `{rule}`; did you mean `{nearest}`? (`vgdp-sim list rules` shows them all)"
    )]
    UnknownRule {
        /// The line.
        line: usize,
        /// What stands there.
        rule: String,
        /// What is called almost so.
        nearest: &'static str,
    },
    /// An action is at a place that does not exist in the scope.
    #[error(
        "line {line}: `{place}` is neither a node ({nodes}) nor a task ({tasks}); write one of those, or change `nodes:` or `tasks:`"
    )]
    UnknownPlace {
        /// The line.
        line: usize,
        /// What stands there.
        place: String,
        /// The nodes of the scope.
        nodes: String,
        /// The tasks of the scope.
        tasks: String,
    },
    /// An action has other places than its rule.
    #[error("line {line}: `{rule}` is at {form}; write `{example}`")]
    WrongForm {
        /// The line.
        line: usize,
        /// The rule.
        rule: &'static str,
        /// Which places it has, in words.
        form: &'static str,
        /// What it looks like.
        example: String,
    },
    /// A header that does not exist.
    #[error("line {line}: no header is called `{header}`; did you mean `{nearest}:`?")]
    UnknownHeader {
        /// The line.
        line: usize,
        /// What stands there.
        header: String,
        /// What is called almost so.
        nearest: &'static str,
    },
    /// The value of a header is none of those that it may have.
    #[error("line {line}: `{header}:` cannot be `{value}`; write `{header}: {nearest}`{more}")]
    UnknownValue {
        /// The line.
        line: usize,
        /// The header.
        header: &'static str,
        /// What stands there.
        value: String,
        /// What could stand there.
        nearest: String,
        /// Where to see the others.
        more: &'static str,
    },
    /// A header is given twice.
    #[error("line {line}: `{header}:` is given a second time; leave out one of them")]
    Twice {
        /// The line of the second.
        line: usize,
        /// The header.
        header: &'static str,
    },
    /// A header comes after an action.
    #[error("line {line}: `{header}:` comes after an action; move it up, before line {first}")]
    LateHeader {
        /// The line.
        line: usize,
        /// The header.
        header: &'static str,
        /// The line of the first action.
        first: usize,
    },
    /// Nothing says which scenario it is.
    #[error(
        "line {line}: the schedule does not say of which scenario it is; write `scenario: cancel`, say, as the first line (`vgdp-sim list scenarios` shows them all)"
    )]
    NoScenario {
        /// The line before which it is missing.
        line: usize,
    },
    /// The scenario that stands in the schedule is none.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// JSON that tells no schedule.
    #[error(
        "this is JSON and tells no schedule: {what}; give a token, a schedule file, or JSON with `scenario` and `schedule`, as `regressions/slot-leak-cancel.json` has them"
    )]
    Json {
        /// Why not.
        what: String,
    },
    /// Something stands behind a scenario in its last line.
    #[error("line {line}: `{text}` stands behind the `}}` of the scenario; move it to a line of its own")]
    BehindScenario {
        /// The line.
        line: usize,
        /// What stands there.
        text: String,
    },
}

const HEADERS: [&str; 7] = ["scenario", "nodes", "tasks", "ticks", "design", "invariant", "then"];

impl std::str::FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Schedule, ScheduleError> {
        if regression::is_json(text) {
            return regression::read(text);
        }
        let mut headers = Headers::default();
        let mut open: Option<Schedule> = None;
        let mut last = 1;
        let (mut rest, mut line) = (text, 0);
        while !rest.is_empty() {
            let start = rest;
            let full;
            (full, rest) = rest.split_once('\n').unwrap_or((rest, ""));
            line += 1;
            let content = full.split('#').next().unwrap_or("").trim();
            if content.is_empty() {
                continue;
            }
            last = line;
            if let Some((name, value)) = as_header(content) {
                let header = known_header(line, name)?;
                if let Some(first) = open.as_ref().and_then(|it| it.lines.first()) {
                    return Err(ScheduleError::LateHeader { line, header, first: *first });
                }
                if header == "scenario" && value.starts_with('{') {
                    let (scenario, lines);
                    (scenario, lines, rest) = embedded(start, line)?;
                    headers.set_scenario(line, scenario)?;
                    line += lines;
                    continue;
                }
                headers.set(line, header, value)?;
                continue;
            }
            let schedule = match &mut open {
                Some(it) => it,
                none => none.insert(headers.clone().schedule(line)?),
            };
            schedule.actions.push(action(line, content, &schedule.scenario)?);
            schedule.lines.push(line);
        }
        match open {
            Some(it) => Ok(it),
            None => headers.schedule(last),
        }
    }
}

/// The scenario that begins in the first of these lines, over how many more it goes, and the lines behind it.
fn embedded(text: &str, line: usize) -> Result<(Scenario, usize, &str), ScheduleError> {
    let start = text.find('{').unwrap_or(0);
    let column = text[..start].chars().count() + 1;
    let (scenario, length) = Scenario::read_first(&text[start..], line, column)?;
    let (json, behind) = text[start..].split_at(length);
    let lines = json.matches('\n').count();
    let (last, rest) = behind.split_once('\n').unwrap_or((behind, ""));
    let surplus = last.split('#').next().unwrap_or("").trim();
    if surplus.is_empty() {
        Ok((scenario, lines, rest))
    } else {
        Err(ScheduleError::BehindScenario { line: line + lines, text: short(surplus) })
    }
}

/// `name: value`, but not `name::other`.
fn as_header(content: &str) -> Option<(&str, &str)> {
    let (name, value) = content.split_once(':')?;
    (!value.starts_with(':')).then(|| (name.trim(), value.trim()))
}

fn known_header(line: usize, name: &str) -> Result<&'static str, ScheduleError> {
    HEADERS.into_iter().find(|it| *it == name).ok_or_else(|| ScheduleError::UnknownHeader {
        line,
        header: short(name),
        nearest: nearest(&short(name), HEADERS).unwrap_or(HEADERS[0]),
    })
}

#[derive(Clone, Default)]
struct Headers {
    scenario: Option<Scenario>,
    nodes: Option<u8>,
    tasks: Option<u8>,
    ticks: Option<Ticks>,
    design: Option<&'static str>,
    invariant: Option<usize>,
    then: Option<Then>,
}

impl Headers {
    fn set_scenario(&mut self, line: usize, scenario: Scenario) -> Result<(), ScheduleError> {
        let twice = self.scenario.replace(scenario).is_some();
        if twice { Err(ScheduleError::Twice { line, header: "scenario" }) } else { Ok(()) }
    }

    fn set(&mut self, line: usize, header: &'static str, value: &str) -> Result<(), ScheduleError> {
        let unknown =
            |nearest: String, more| ScheduleError::UnknownValue { line, header, value: short(value), nearest, more };
        let among = |names: &mut dyn Iterator<Item = &'static str>| {
            nearest(&short(value), names).unwrap_or_default().to_owned()
        };
        let count = |most: usize| {
            let fits = value.parse::<u8>().ok().filter(|it| (1..=most).contains(&usize::from(*it)));
            fits.ok_or_else(|| unknown(most.to_string(), " at the most, and 1 at the least"))
        };
        let twice = match header {
            "scenario" => {
                let mut all = Scenario::built_in();
                let names = all.iter().map(|it| it.name).collect::<Vec<_>>();
                let Some(at) = names.iter().position(|it| *it == value) else {
                    let nearest = among(&mut names.into_iter());
                    return Err(unknown(nearest, " (`vgdp-sim list scenarios` shows them all)"));
                };
                self.scenario.replace(all.swap_remove(at)).is_some()
            }
            "nodes" => self.nodes.replace(count(NODES)?).is_some(),
            "tasks" => self.tasks.replace(count(TASKS)?).is_some(),
            "ticks" => {
                let Some(ticks) = Ticks::ALL.into_iter().find(|it| it.name() == value) else {
                    return Err(unknown(among(&mut Ticks::ALL.into_iter().map(Ticks::name)), ""));
                };
                self.ticks.replace(ticks).is_some()
            }
            "design" => {
                let Ok(design) = designs::named(value) else {
                    let nearest = among(&mut designs::BUILT_IN.iter().map(|it| it.name()));
                    return Err(unknown(nearest, " (`vgdp-sim list designs` shows them all)"));
                };
                self.design.replace(design.name()).is_some()
            }
            "invariant" => {
                let Some(index) = INVARIANTS.iter().position(|it| it.id == value) else {
                    let nearest = among(&mut INVARIANTS.iter().map(|it| it.id));
                    return Err(unknown(nearest, " (`vgdp-sim list invariants` shows them all)"));
                };
                self.invariant.replace(index).is_some()
            }
            _ => {
                let all = [Then::Normal, Then::Stop];
                let Some(then) = all.into_iter().find(|it| it.name() == value) else {
                    return Err(unknown(among(&mut all.into_iter().map(Then::name)), ""));
                };
                self.then.replace(then).is_some()
            }
        };
        if twice { Err(ScheduleError::Twice { line, header }) } else { Ok(()) }
    }

    fn schedule(self, line: usize) -> Result<Schedule, ScheduleError> {
        let Headers { scenario, nodes, tasks, ticks, design, invariant, then } = self;
        let scenario = scenario.ok_or(ScheduleError::NoScenario { line })?;
        let (nodes, tasks) = (nodes.unwrap_or(scenario.nodes), tasks.unwrap_or(scenario.tasks));
        let ticks = ticks.unwrap_or(scenario.ticks);
        Ok(Schedule {
            scenario: Scenario { ticks, ..scenario.scope(nodes, tasks) },
            design: design.unwrap_or(Upstream.name()),
            invariant,
            then: then.unwrap_or_default(),
            actions: Vec::new(),
            lines: Vec::new(),
        })
    }
}

fn action(line: usize, content: &str, scenario: &Scenario) -> Result<Action, ScheduleError> {
    let (name, places) = content.split_once('(').unwrap_or((content, ""));
    let name = name.trim();
    let rule = Rule::ALL.iter().copied().find(|it| it.name() == name).ok_or_else(|| ScheduleError::UnknownRule {
        line,
        rule: short(name),
        nearest: nearest(&short(name), Rule::ALL.iter().map(|it| it.name())).unwrap_or_default(),
    })?;
    let places = places.trim();
    let closed = places.is_empty() || places.ends_with(')');
    let (mut node, mut task, mut extra) = (None, None, !closed);
    for place in places.trim_end_matches(')').split(',').map(str::trim).filter(|it| !it.is_empty()) {
        match place_of(place, scenario) {
            Some(Place::Node(n)) => extra |= node.replace(n).is_some() || task.is_some(),
            Some(Place::Task(t)) => extra |= task.replace(t).is_some(),
            None => {
                return Err(ScheduleError::UnknownPlace {
                    line,
                    place: short(place),
                    nodes: nodes(scenario),
                    tasks: tasks(scenario),
                });
            }
        }
    }
    Action::new(rule, node, task).filter(|_| !extra).ok_or_else(|| {
        let (form, n, t) = places_of(rule);
        let example = Action::new(rule, n.then_some(NodeId(0)), t.then_some(TaskId(0)));
        let example = example.map_or_else(|| rule.name().to_owned(), |it| it.to_string());
        ScheduleError::WrongForm { line, rule: rule.name(), form, example }
    })
}

/// The places that a rule has: in words, whether a node, whether a task.
pub(crate) fn places_of(rule: Rule) -> (&'static str, bool, bool) {
    let at = |n: bool, t: bool| Action::new(rule, n.then_some(NodeId(0)), t.then_some(TaskId(0))).is_some();
    if at(true, true) {
        ("a node and a task", true, true)
    } else if at(true, false) {
        ("a node", true, false)
    } else if at(false, true) {
        ("a task", false, true)
    } else {
        ("no place", false, false)
    }
}

enum Place {
    Node(NodeId),
    Task(TaskId),
}

fn place_of(text: &str, scenario: &Scenario) -> Option<Place> {
    let node = (0..scenario.nodes).map(NodeId).find(|it| it.to_string() == text);
    let task = (0..scenario.tasks).map(TaskId).find(|it| it.to_string() == text);
    node.map(Place::Node).or(task.map(Place::Task))
}

fn nodes(scenario: &Scenario) -> String {
    range(NodeId(0), NodeId(scenario.nodes.saturating_sub(1)))
}

fn tasks(scenario: &Scenario) -> String {
    range(TaskId(0), TaskId(scenario.tasks.saturating_sub(1)))
}

fn range(first: impl fmt::Display, last: impl fmt::Display) -> String {
    let (first, last) = (first.to_string(), last.to_string());
    if first == last { first } else { format!("{first} to {last}") }
}

/// So much of what was typed that it fits into a message.
fn short(typed: &str) -> String {
    const MOST: usize = 60;
    let clean: String = typed.chars().take(MOST).map(|it| if it.is_control() { '?' } else { it }).collect();
    if typed.chars().nth(MOST).is_some() { format!("{clean}...") } else { clean }
}

/// Where a replay went another way than its schedule: an action was not enabled in its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The index of that action.
    pub index: usize,
    /// What was enabled instead.
    pub enabled: Vec<Action>,
}

/// Replays a schedule strictly and keeps what was enabled where it diverged.
#[derive(Clone, Debug)]
pub struct Replayed<'a> {
    schedule: &'a Schedule,
    inner: Replay<'a>,
    enabled: Vec<Action>,
}

impl<'a> Replayed<'a> {
    /// The actions of `schedule`, then what it says.
    pub fn new(schedule: &'a Schedule) -> Replayed<'a> {
        let inner = match schedule.then {
            Then::Normal => Replay::then_normal(&schedule.actions),
            Then::Stop => Replay::strict(&schedule.actions),
        };
        Replayed { schedule, inner, enabled: Vec::new() }
    }

    /// Whether, and where, the run that this has scheduled went another way.
    pub fn divergence(&self, report: &Report) -> Option<Divergence> {
        let taken = (report.steps as usize).saturating_sub(self.schedule.scenario.prefix().count());
        let stuck = taken < self.schedule.actions.len() && report.ended != Ended::Undecided;
        stuck.then(|| Divergence { index: taken, enabled: self.enabled.clone() })
    }
}

impl Scheduler for Replayed<'_> {
    fn pick(&mut self, enabled: &Enabled, last: Fired) -> Option<usize> {
        let picked = self.inner.pick(enabled, last);
        if picked.is_none() {
            self.enabled = enabled.to_vec();
        }
        picked
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    use super::*;
    use crate::run::run;
    use crate::scheduler::Placed;
    use crate::search::record;

    fn error(text: &str) -> String {
        text.parse::<Schedule>().expect_err("it is no schedule").to_string()
    }

    #[test]
    fn a_schedule_is_read_back_as_it_was_written() {
        let fine = Scenario { ticks: Ticks::Fine, ..Scenario::default() };
        for scenario in Scenario::built_in().into_iter().chain([fine]) {
            let (_, actions) = record(&scenario, &Upstream, &mut Placed::new(1, 3));
            let schedule = Schedule::new(scenario, &Upstream, Some(0), Then::Stop, actions);
            assert_eq!(schedule.to_string().parse(), Ok(schedule));
        }
    }

    #[test]
    fn a_scenario_that_is_not_built_in_stands_in_its_schedule() {
        let own = Scenario { name: "cancel", price: 1, volumes_at: Some(NodeId(0)), ..Scenario::default() }.scope(1, 2);
        let (_, actions) = record(&own, &Upstream, &mut Placed::new(1, 3));
        let schedule = Schedule::new(own, &Upstream, Some(0), Then::Stop, actions);
        let text = schedule.to_string();
        assert!(text.starts_with("scenario: {\n  \"schema\": \"vgdp-sim/scenario/1\",\n"), "{text}");
        assert_eq!(text.parse(), Ok(schedule.clone()));
        let first = text.lines().nth(schedule.line_of(0) - 1);
        assert_eq!(first, Some(schedule.actions[0].to_string().as_str()));

        assert_eq!(
            error(&text.replace("\"tasks\": 2", "\"tasks\": 5")),
            "line 7, column 12: `tasks` is a whole number from 1 to 4; write `\"tasks\": 4`, say"
        );
        let wrong = text.replace(&schedule.actions[0].to_string(), "user::cancel(a)");
        assert!(error(&wrong).starts_with(&format!("line {}: no rule is called", schedule.line_of(0))));
        assert!(error(&text.replace("\n}\n", "\n} then: stop\n")).contains("`then: stop` stands behind the `}`"));
        assert!(error(&format!("scenario: cancel\n{text}")).starts_with("line 2: `scenario:` is given a second time"));
        assert!(error("scenario: {").starts_with("line 1, column 11: this is no JSON"));
    }

    #[test]
    fn a_replay_of_what_was_recorded_ends_in_the_same_report() {
        let scenario = Scenario::named("anything").unwrap();
        for index in 0..20 {
            let (report, actions) = record(&scenario, &Upstream, &mut Placed::new(1, index));
            let schedule = Schedule::new(scenario.clone(), &Upstream, None, Then::Stop, actions);
            let mut replay = Replayed::new(&schedule);
            let again = run(&scenario, &Upstream, &mut replay);
            assert_eq!(again, report);
            assert_eq!(replay.divergence(&again), None);
        }
    }

    #[test]
    fn blanks_and_comments_are_for_people() {
        let text = "# found on a Monday\n\n scenario: cancel # the plain one\n\n  user::cancels( a )  # at once\n\n";
        let schedule: Schedule = text.parse().unwrap();
        assert_eq!(schedule.actions, [Action::new(Rule::UserCancels, None, Some(TaskId(0))).unwrap()]);
        assert_eq!((schedule.line_of(0), schedule.then), (5, Then::Normal));
    }

    #[test]
    fn an_action_that_is_not_enabled_is_where_a_replay_diverges() {
        let schedule: Schedule = "scenario: cancel\nuser::cancels(a)\nworker::gets(n0, a)\n".parse().unwrap();
        let mut replay = Replayed::new(&schedule);
        let report = run(&schedule.scenario, &Upstream, &mut replay);
        let divergence = replay.divergence(&report).expect("nobody has read anything yet");
        assert_eq!((divergence.index, schedule.line_of(divergence.index)), (1, 3));
        assert!(divergence.enabled.iter().any(|it| it.to_string() == "cr_watch::receives(n0)"));
    }

    #[test]
    fn a_misspelt_rule_is_pointed_out() {
        assert_eq!(
            error("scenario: cancel\nworker::read(n0, a)"),
            "line 2: no rule is called `worker::read`; did you mean `worker::reads`? \
             (`vgdp-sim list rules` shows them all)"
        );
    }

    #[test]
    fn a_place_outside_the_scope_is_pointed_out() {
        assert_eq!(
            error("scenario: cancel\nworker::reads(n0, c)"),
            "line 2: `c` is neither a node (n0 to n1) nor a task (a); \
             write one of those, or change `nodes:` or `tasks:`"
        );
        assert!(error("scenario: cancel\nnodes: 1\nworker::reads(n1, a)").starts_with("line 3: `n1` is neither"));
    }

    #[test]
    fn the_places_of_a_rule_are_shown_where_they_are_wrong() {
        let expected = "line 2: `worker::reads` is at a node and a task; write `worker::reads(n0, a)`";
        for wrong in ["", "(n0)", "(a)", "(a, n0)", "(n0, a", "(n0, n0, a)", "(n0, a, a)"] {
            assert_eq!(error(&format!("scenario: cancel\nworker::reads{wrong}")), expected);
        }
        assert_eq!(
            error("scenario: cancel\nclock::passes(a)"),
            "line 2: `clock::passes` is at no place; write `clock::passes`"
        );
    }

    #[test]
    fn a_wrong_header_is_pointed_out() {
        assert_eq!(error("scenaro: cancel"), "line 1: no header is called `scenaro`; did you mean `scenario:`?");
        assert!(
            error("scenario: cancle").starts_with("line 1: `scenario:` cannot be `cancle`; write `scenario: cancel`")
        );
        assert!(error("scenario: cancel\ninvariant: slot-leek").contains("write `invariant: slot-leak`"));
        assert!(error("scenario: cancel\nnodes: 9").contains("write `nodes: 3` at the most"));
        assert!(error("scenario: cancel\nticks: fin").contains("write `ticks: fine`"));
        assert!(error("scenario: cancel\nthen: stopp").contains("write `then: stop`"));
        assert!(error("scenario: cancel\ndesign: mine").contains("write `design: upstream`"));
        assert!(error("scenario: cancel\nscenario: cancel").starts_with("line 2: `scenario:` is given a second time"));
        assert!(error("scenario: cancel\nuser::cancels(a)\nnodes: 1").contains("move it up, before line 2"));
    }

    #[test]
    fn a_schedule_without_a_scenario_is_none() {
        assert!(error("").starts_with("line 1: the schedule does not say"));
        assert!(error("nodes: 1\n\nuser::cancels(a)").starts_with("line 3: the schedule does not say"));
    }

    /// Whatever stands in a file, it is a schedule or an error.
    #[test]
    fn no_text_makes_it_panic() {
        const PIECES: [&str; 26] = [
            "scenario: cancel",
            "scenario: {",
            "}",
            "scenario:",
            "nodes: 2",
            "tasks: 999999",
            "then: stop",
            "invariant: slot-leak",
            "::",
            ":",
            "(",
            ")",
            ",",
            "#",
            "\n",
            "\n",
            "\r\n",
            "n0",
            "a",
            "worker::reads",
            "clock::passes",
            "user::cancels(a)",
            " ",
            "é",
            "\u{0}",
            "🦀",
        ];
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut good = 0;
        for _ in 0..20_000 {
            let length = rng.next_u32() % 12;
            let text: String = (0..length).map(|_| PIECES[rng.next_u32() as usize % PIECES.len()]).collect();
            match text.parse::<Schedule>() {
                Ok(_) => good += 1,
                Err(error) => assert!(error.to_string().starts_with("line ")),
            }
        }
        assert!(good > 100, "hardly anything was a schedule: {good}");
    }
}
