//! A run as people read it: one line a step, what it changed, and what that broke.

use super::facts::{Change, Fact, Scope, changes_of_facts, facts};
use super::rulebook::citation;
use super::{counted, duration, paragraph, wrapped};
use crate::invariants::{INVARIANTS, Kind};
use crate::model::design::Design;
use crate::model::rules::{Action, Class};
use crate::run::{Ended, Report, Violation, observe};
use crate::scenario::Scenario;
use crate::scheduler::Scheduler;

/// How a timeline is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns to stay within; one word that is longer does not break.
    pub width: usize,
    /// Whether colour is wanted: on a terminal, unless `NO_COLOR` is set.
    pub colour: bool,
    /// Whether steps that changed nothing outside are shown as well.
    pub all: bool,
    /// Whether each step says what its rule does and whom it cites.
    pub verbose: bool,
}

impl Default for Style {
    fn default() -> Style {
        Style { width: 100, colour: false, all: false, verbose: false }
    }
}

/// Something to be said in a timeline, before a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aside {
    /// Before which step.
    pub step: usize,
    /// What.
    pub text: String,
}

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Seconds since the start, after it.
    pub time: u32,
    /// What was done.
    pub action: Action,
    /// What it changed.
    pub changes: Vec<Change>,
}

/// A run with everything that it changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Story {
    /// Where it started.
    pub scenario: Scenario,
    /// Its steps, those with which the scenario begins included.
    pub lines: Vec<Line>,
    /// What it found.
    pub report: Report,
}

impl Story {
    /// Runs `scenario` as `scheduler` chooses and writes down what happens.
    ///
    /// # Panics
    ///
    /// When the scope of the scenario is too large, or its prefix is not enabled.
    pub fn tell(scenario: &Scenario, design: &dyn Design, scheduler: &mut dyn Scheduler) -> Story {
        let mut lines = Vec::new();
        let mut before: Vec<Fact> = Vec::new();
        let report = observe(scenario, design, scheduler, &mut |it| {
            if before.is_empty() {
                before = facts(it.was);
            }
            let after = facts(it.is);
            lines.push(Line { time: it.time, action: it.action, changes: changes_of_facts(&before, &after) });
            before = after;
        });
        Story { scenario: scenario.clone(), lines, report }
    }

    /// The actions, without those with which the scenario begins.
    pub fn schedule(&self) -> Vec<Action> {
        self.lines.iter().skip(self.scenario.prefix().count()).map(|it| it.action).collect()
    }

    /// Whether an invariant was broken.
    pub fn broke_anything(&self) -> bool {
        self.report.violations().next().is_some()
    }

    /// The invariants that the step of this index broke.
    fn broken_by(&self, step: usize) -> impl Iterator<Item = (usize, Violation)> + '_ {
        self.report.violations().filter(move |(_, it)| it.step as usize == step)
    }

    /// The steps, one a line. `chosen` is how many actions a schedule named, where one did: a line shows where it ends.
    pub fn timeline(&self, style: &Style, chosen: Option<usize>) -> String {
        let step = chosen.map(|it| it + self.scenario.prefix().count()).filter(|it| *it < self.lines.len());
        let text = "the schedule ends here; the normal schedule goes on".to_owned();
        let aside = step.map(|step| Aside { step, text });
        self.annotated(style, aside.as_slice())
    }

    /// The steps, one a line, and between them what else is to be said.
    pub fn annotated(&self, style: &Style, asides: &[Aside]) -> String {
        let Scenario { name, sentence, nodes, tasks, limit, .. } = &self.scenario;
        let scope = format!(
            "{name}: {sentence} ({}, {}, {} a node)",
            counted(u64::from(*nodes), "node"),
            counted(u64::from(*tasks), "task"),
            counted(u64::from(*limit), "slot"),
        );
        let mut page = Page::new(self, style);
        page.out.push_str(&paragraph(&scope, 0, style.width));
        page.out.push('\n');
        for (step, line) in self.lines.iter().enumerate() {
            for aside in asides.iter().filter(|it| it.step == step) {
                page.flush();
                page.rule(&aside.text);
            }
            if self.is_shown(step, style) { page.line(step, line) } else { page.fold(line) }
        }
        page.flush();
        page.out
    }

    fn is_shown(&self, step: usize, style: &Style) -> bool {
        style.all || self.lines[step].changes.iter().any(Change::is_outside) || self.broken_by(step).next().is_some()
    }

    /// How it ended, and which invariants it broke: each with its sentence and the step that did it.
    pub fn verdict(&self, style: &Style) -> String {
        let Report { ended, steps, time, strikes: _, broken: _ } = self.report;
        let paint = Paint(style.colour);
        let ended = match ended {
            Ended::AtRest => "At rest",
            Ended::Stopped => "Stopped, not at rest,",
            Ended::Undecided => "Undecided: no rest",
        };
        let mut out = format!("{ended} after {} and {}.\n", counted(u64::from(steps), "step"), duration(time));
        for (index, it) in self.report.violations() {
            let invariant = &INVARIANTS[index];
            let heading = format!("Broken: {}: {}.", invariant.id, invariant.sentence);
            out.push('\n');
            for line in wrapped(&heading, style.width) {
                out.push_str(&paint.broken(&line));
                out.push('\n');
            }
            let when = match invariant.broken {
                Kind::Step(_) => "by",
                Kind::Within(..) => "its time was up at",
                Kind::AtRest(_) => "at rest after",
            };
            let action = self.lines.get(it.step as usize).map_or_else(String::new, |it| it.action.to_string());
            let place = format!(
                "For {}, at price {}: {when} step {}, {action}, +{}.",
                it.task,
                it.price,
                it.step,
                duration(it.time)
            );
            out.push_str(&paragraph(&place, 2, style.width));
        }
        if !self.broke_anything() {
            out.push_str("No invariant was broken in this run.\n");
        }
        out
    }
}

/// Who takes an action, and where that one is: `n0 node-agent`, `mover a`.
pub fn actor(action: Action) -> String {
    let actor = action.rule().actor();
    match (actor, action.node(), action.task()) {
        ("node-agent", Some(n), _) => format!("{n} {actor}"),
        ("mover" | "kubelet", _, Some(t)) => format!("{actor} {t}"),
        _ => actor.to_owned(),
    }
}

/// What is told of a step: what an outsider could see, and what a goroutine went on to only where that was all.
fn told<'a>(line: &'a Line, style: &Style) -> impl Iterator<Item = &'a Change> {
    let outermost = line.changes.first().map_or(Scope::View, |it| it.scope);
    let most = if outermost < Scope::Goroutine { Scope::Process } else { Scope::Goroutine };
    let all = style.all;
    line.changes.iter().filter(move |it| all || it.scope <= most)
}

/// A page that is being written.
struct Page<'a> {
    story: &'a Story,
    style: &'a Style,
    paint: Paint,
    out: String,
    actors: usize,
    actions: usize,
    /// Steps not shown since the last one that was, and the time of the last of them.
    folded: u64,
    time: u32,
    folded_from: u32,
}

impl<'a> Page<'a> {
    /// The columns of step and time.
    const LEFT: usize = 1 + 4 + 11;
    /// The columns in which changes stand in a line of their own.
    const INDENT: usize = 18;
    /// The fewest columns in which changes stand beside their action.
    const BESIDE: usize = 36;

    fn new(story: &'a Story, style: &'a Style) -> Page<'a> {
        let shown = || story.lines.iter().enumerate().filter(|(step, _)| story.is_shown(*step, style)).map(|it| it.1);
        let actors = shown().map(|it| actor(it.action).len()).max().unwrap_or(0);
        let actions = shown().map(|it| it.action.to_string().len()).max().unwrap_or(0);
        let paint = Paint(style.colour);
        Page { story, style, paint, out: String::new(), actors, actions, folded: 0, time: 0, folded_from: 0 }
    }

    fn line(&mut self, step: usize, line: &Line) {
        self.flush();
        let broken: Vec<(usize, Violation)> = self.story.broken_by(step).collect();
        let mark = if broken.is_empty() { ' ' } else { '!' };
        let time = format!("+{}", duration(line.time));
        let (who, what) = (actor(line.action), line.action.to_string());
        let mut head = format!("{mark}{step:>4} {time:>10}  {who:<w$}  {what}", w = self.actors);
        let changes = told(line, self.style).map(ToString::to_string).collect::<Vec<_>>().join("; ");
        let column = Page::LEFT + 2 + self.actors + 2 + self.actions + 2;
        let beside = self.style.width.saturating_sub(column);
        let mut below = Vec::new();
        if !changes.is_empty() && beside >= Page::BESIDE {
            let mut lines = wrapped_at_changes(&changes, beside).into_iter();
            let pad = column.saturating_sub(head.chars().count());
            head.push_str(&" ".repeat(pad));
            head.push_str(&lines.next().unwrap_or_default());
            below.extend(lines.map(|it| format!("{}{it}", " ".repeat(column))));
        } else if !changes.is_empty() {
            let width = self.style.width.saturating_sub(Page::INDENT).max(20);
            below.extend(
                wrapped_at_changes(&changes, width).iter().map(|it| format!("{}{it}", " ".repeat(Page::INDENT))),
            );
        }
        for text in std::iter::once(&head).chain(&below) {
            let painted = match line.action.class() {
                _ if !broken.is_empty() => self.paint.broken(text),
                Class::Operator | Class::Fault => self.paint.disturbance(text),
                Class::Step | Class::Clock | Class::Recovery => text.clone(),
            };
            self.out.push_str(&painted);
            self.out.push('\n');
        }
        if self.style.verbose {
            let citation = citation(line.action.rule());
            for text in [citation.sentence.clone(), citation.cites()] {
                for it in wrapped(&text, self.style.width.saturating_sub(Page::INDENT).max(20)) {
                    if !it.is_empty() {
                        self.out.push_str(&self.paint.aside(&format!("{}{it}", " ".repeat(Page::INDENT))));
                        self.out.push('\n');
                    }
                }
            }
        }
        for (index, it) in broken {
            let text = match INVARIANTS[index].broken {
                Kind::AtRest(_) => format!("at rest here, and {} is broken for {}", INVARIANTS[index].id, it.task),
                Kind::Step(_) | Kind::Within(..) => format!("{} is broken here for {}", INVARIANTS[index].id, it.task),
            };
            self.out.push_str(&self.paint.broken(&format!("!{}^ {text}", " ".repeat(Page::INDENT - 1))));
            self.out.push('\n');
        }
        self.time = line.time;
    }

    fn fold(&mut self, line: &Line) {
        if self.folded == 0 {
            self.folded_from = self.time;
        }
        self.folded += 1;
        self.time = line.time;
    }

    /// Says how many steps were not shown.
    fn flush(&mut self) {
        if self.folded > 0 {
            let passed = self.time - self.folded_from;
            let passed = if passed > 0 { format!("; {} went by", duration(passed)) } else { String::new() };
            let text = format!("... {} that changed nothing outside{passed}", counted(self.folded, "step"));
            self.out.push_str(&self.paint.aside(&format!("{}{text}", " ".repeat(Page::INDENT))));
            self.out.push('\n');
            self.folded = 0;
        }
    }

    fn rule(&mut self, text: &str) {
        for line in wrapped(&format!("--- {text} ---"), self.style.width.saturating_sub(Page::INDENT).max(20)) {
            self.out.push_str(&self.paint.aside(&format!("{}{line}", " ".repeat(Page::INDENT))));
            self.out.push('\n');
        }
    }
}

/// Breaks a list of changes, between two of them where that is possible.
fn wrapped_at_changes(changes: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for change in changes.split_inclusive("; ").map(str::trim_end) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + change.chars().count() <= width => {
                line.push(' ');
                line.push_str(change);
            }
            _ => lines.extend(wrapped(change, width)),
        }
    }
    lines
}

/// Colour, where it is wanted.
#[derive(Clone, Copy)]
struct Paint(bool);

impl Paint {
    fn with(self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn broken(self, text: &str) -> String {
        self.with("1;31", text)
    }

    fn disturbance(self, text: &str) -> String {
        self.with("33", text)
    }

    fn aside(self, text: &str) -> String {
        self.with("2", text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::designs::Upstream;
    use crate::scheduler::{Normal, Placed};

    fn story(scenario: &str, run: u64) -> Story {
        Story::tell(&Scenario::named(scenario).unwrap(), &Upstream, &mut Placed::new(1, run))
    }

    /// A run that breaks something, whatever it is.
    fn broken() -> Story {
        (0..2_000)
            .map(|run| story("anything", run))
            .find(Story::broke_anything)
            .expect("two disturbances break something")
    }

    #[test]
    fn no_step_is_lost_in_the_folds() {
        let story = story("cancel", 5);
        let text = story.timeline(&Style::default(), None);
        let folded: u64 = text
            .lines()
            .filter_map(|it| it.trim_start().strip_prefix("... ")?.split(' ').next()?.parse::<u64>().ok())
            .sum();
        let shown = text.lines().filter(|it| it.len() > 16 && it[5..16].trim_start().starts_with('+')).count();
        assert_eq!(folded as usize + shown, story.lines.len());
        assert!(folded > 0);
    }

    #[test]
    fn all_shows_every_step() {
        let story = story("cancel", 5);
        let text = story.timeline(&Style { all: true, ..Style::default() }, None);
        assert!(story.lines.iter().all(|it| text.contains(&it.action.to_string())));
        assert!(!text.contains("changed nothing outside"));
        assert!(text.contains("cache of a: none -> New"));
    }

    #[test]
    fn it_stays_within_its_width() {
        let story = broken();
        for width in [80, 100, 120] {
            for (all, verbose) in [(false, false), (true, true)] {
                let style = Style { width, all, verbose, colour: false };
                let text = story.timeline(&style, Some(10)) + &story.verdict(&style);
                let longest = text.lines().max_by_key(|it| it.chars().count()).unwrap();
                assert!(longest.chars().count() <= width, "{width}: {longest}");
            }
        }
    }

    #[test]
    fn the_step_that_broke_an_invariant_is_marked_and_told_once_more() {
        let story = broken();
        let (index, violation) = story.report.violations().next().unwrap();
        let style = Style::default();
        let text = story.timeline(&style, None);
        let marked = format!("!{:>4} ", violation.step);
        assert!(text.lines().any(|it| it.starts_with(&marked)), "{text}");
        let verdict = story.verdict(&style).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(verdict.contains(&format!("Broken: {}: {}.", INVARIANTS[index].id, INVARIANTS[index].sentence)));
        assert!(verdict.contains(&story.lines[violation.step as usize].action.to_string()));
    }

    #[test]
    fn a_clean_run_says_so_and_claims_no_more() {
        let story = Story::tell(&Scenario::named("normal").unwrap(), &Upstream, &mut Normal);
        assert!(story.verdict(&Style::default()).ends_with("No invariant was broken in this run.\n"));
    }

    #[test]
    fn verbose_cites_the_code() {
        let text = story("normal", 0).timeline(&Style { verbose: true, ..Style::default() }, None);
        assert!(text.contains("`acceptDataUpload`."));
    }

    #[test]
    fn there_is_no_colour_unless_it_is_asked_for() {
        let story = broken();
        let plain = story.timeline(&Style::default(), None);
        let painted = story.timeline(&Style { colour: true, ..Style::default() }, None);
        assert!(!plain.contains('\x1b') && painted.contains("\x1b[1;31m"));
        let bare =
            painted.replace("\x1b[1;31m", "").replace("\x1b[33m", "").replace("\x1b[2m", "").replace("\x1b[0m", "");
        assert_eq!(bare, plain);
    }
}
