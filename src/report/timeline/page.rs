//! The page: a legend, the columns, and a line for each step that is shown.
//!
//! ```text
//!  step   time  user srv api n0 n1 kub a
//!    68    +2s                o        |  worker::marks_in_progress(n0, a)  a.phase Prepared -> InProgress
//! ```
//!
//! Where there is no room for columns, each line names its actor instead, and the page says so.

use super::folding::{Fold, Folded};
use super::lanes::{Lane, Lanes};
use super::paint::{Paint, Tone};
use super::{About, Aside, Change, Line, Story, Style, actor};
use crate::invariants::INVARIANTS;
use crate::model::rules::Class;
use crate::report::rulebook::citation;
use crate::report::{Scope, counted, duration, grouped, wrapped};
use crate::run::Violation;
use crate::scenario::Scenario;

/// The columns of text that changes need beside their action; with less they stand below it.
const BESIDE: usize = 36;
/// The columns of text without which there is no room for lanes.
const LEAST_TEXT: usize = 28;
/// After so many lines the headings come again.
const SCREEN: usize = 45;

pub(super) struct Page<'a> {
    story: &'a Story,
    style: &'a Style,
    asides: &'a [Aside],
    folds: Vec<Option<Fold>>,
    /// Empty where there is no room for them.
    lanes: Vec<Lane>,
    /// How wide the time is, and the longest action.
    times: usize,
    actions: usize,
    out: String,
    folded: Folded,
    /// The last step, and the time that was last shown.
    last: Option<usize>,
    shown: Option<u32>,
    /// Lines since the headings.
    lines: usize,
}

impl<'a> Page<'a> {
    pub(super) fn new(story: &'a Story, style: &'a Style, asides: &'a [Aside]) -> Page<'a> {
        let marked: Vec<usize> = asides.iter().filter(|it| it.about != About::Note).map(|it| it.step).collect();
        let folds: Vec<Option<Fold>> = (0..story.lines.len()).map(|it| story.fold(it, style, &marked)).collect();
        let shown = || story.lines.iter().zip(&folds).filter(|it| it.1.is_none()).map(|it| it.0);
        let longest = shown().map(|it| stamp(it.time).len()).max().unwrap_or(0);
        let actions = shown().map(|it| it.action.to_string().len()).max().unwrap_or(0);
        let acting = Lanes::of(shown().filter_map(|it| Lane::of(it.action)));
        let Scenario { nodes, tasks, .. } = story.scenario;
        let lanes = Lane::all(nodes, tasks).filter(|&it| style.columns.unwrap_or(acting).contains(it)).collect();
        let mut page = Page {
            story,
            style,
            asides,
            folds,
            lanes,
            times: longest.max("time".len()),
            actions,
            out: String::new(),
            folded: Folded::default(),
            last: None,
            shown: None,
            lines: 0,
        };
        if page.text_width() < page.actions.max(LEAST_TEXT) {
            page.lanes.clear();
        }
        page
    }

    pub(super) fn write(mut self) -> String {
        self.scope();
        self.legend();
        self.headings();
        for (step, line) in self.story.lines.iter().enumerate() {
            let asides = self.asides;
            for aside in asides.iter().filter(|it| it.step == step) {
                self.flush();
                self.aside(aside);
            }
            match self.folds[step] {
                None => self.step(step, line),
                Some(_) => self.folded.add(line.time - self.now()),
            }
            self.last = Some(step);
            self.rest(step, line);
        }
        self.flush();
        self.out
    }

    /// The time of the last step.
    fn now(&self) -> u32 {
        self.last.map_or(0, |it| self.story.lines[it].time)
    }

    // The head of the page.

    fn scope(&mut self) {
        let Scenario { name, sentence, nodes, tasks, limit, .. } = &self.story.scenario;
        let (nodes, tasks) = (counted(u64::from(*nodes), "node"), counted(u64::from(*tasks), "task"));
        let slots = counted(u64::from(*limit), "slot");
        self.prose("", &format!("{name}: {sentence} ({nodes}, {tasks}, {slots} a node)"));
        self.out.push('\n');
    }

    fn legend(&mut self) {
        if self.lanes.is_empty() {
            self.prose("", "This is too narrow for a column for each actor, so each step names its actor.");
        } else {
            let text = self.meanings();
            self.prose("Columns: ", &text);
        }
        let text = self.marks();
        self.prose("Marks: ", &text);
        let text = self.folded_steps();
        self.prose("", &text);
        self.out.push('\n');
    }

    /// How many steps are not shown, and why.
    fn folded_steps(&self) -> String {
        let of = |why: Fold| self.folds.iter().filter(|it| **it == Some(why)).count() as u64;
        let follow = self.style.follow.map_or_else(String::new, |it| it.to_string());
        let all = counted(self.folds.len() as u64, "step");
        let reasons = [
            (of(Fold::Quiet), "that changed nothing outside (--all shows them)".to_owned()),
            (of(Fold::OfOthers), format!("about others than {follow}")),
            (of(Fold::Elsewhere), "in other columns".to_owned()),
        ];
        let reasons: Vec<String> =
            reasons.iter().filter(|it| it.0 > 0).map(|it| format!("{} {}", grouped(it.0), it.1)).collect();
        if reasons.is_empty() {
            return format!("Nothing is left out of {all}.");
        }
        format!("Left out of {all}: {}.", reasons.join("; "))
    }

    /// What each column stands for; neighbours of one meaning are told together.
    fn meanings(&self) -> String {
        let groups = self.lanes.chunk_by(|a, b| a.meaning() == b.meaning());
        let one = |group: &[Lane]| {
            let names: Vec<String> = group.iter().map(ToString::to_string).collect();
            let plural = if group.len() > 1 { "s" } else { "" };
            format!("{} = {}{plural}", names.join(", "), group[0].meaning())
        };
        groups.map(one).collect::<Vec<_>>().join("; ") + "."
    }

    /// The marks that are on the page.
    fn marks(&self) -> String {
        let shown = || self.story.lines.iter().zip(&self.folds).filter(|it| it.1.is_none()).map(|it| it.0);
        let has = |about: fn(About) -> bool| self.asides.iter().any(|it| about(it.about));
        let in_lanes = !self.lanes.is_empty();
        let marks = [
            (in_lanes, "o = a step"),
            (shown().any(|it| !it.missed.is_empty()), "x = a step at which something is missed"),
            (self.story.broke_anything(), "! = an invariant is broken"),
            (self.lanes.iter().any(|it| matches!(it, Lane::Agent(_))), "| = a slot of the node-agent is taken"),
            (self.lanes.iter().any(|it| matches!(it, Lane::Mover(_))), "| = the mover's process runs"),
            (has(|it| matches!(it, About::Deviation(_))), "D1 = deviation 1"),
            (has(|it| it == About::NoReturn), "== = the point of no return"),
        ];
        marks.iter().filter(|it| it.0).map(|it| it.1).collect::<Vec<_>>().join("; ") + "."
    }

    /// A paragraph whose further lines stand below what follows its first words.
    fn prose(&mut self, first: &str, text: &str) {
        let width = self.style.width.saturating_sub(first.len()).max(20);
        for (index, line) in wrapped_at_semicolons(text, width).iter().enumerate() {
            let margin = if index == 0 { first.to_owned() } else { " ".repeat(first.len()) };
            self.out.push_str(&margin);
            self.out.push_str(line);
            self.out.push('\n');
        }
    }

    fn headings(&mut self) {
        self.lines = 0;
        let mut text = format!("{:>5} {:>w$}  ", "step", "time", w = self.times);
        for lane in &self.lanes {
            text.push_str(&lane.to_string());
            text.push(' ');
        }
        self.push(&[(Tone::Quiet, &text)]);
    }

    /// Repeats the headings after so many lines.
    fn turn(&mut self, lines: usize) {
        if self.lines >= lines {
            self.headings();
        }
    }

    // Lines.

    /// The columns left of the text.
    fn margin(&self) -> usize {
        let lanes: usize = self.lanes.iter().map(|it| it.to_string().len() + 1).sum();
        let gap = usize::from(!self.lanes.is_empty());
        "! 128 ".len() + self.times + "  ".len() + lanes + gap
    }

    fn text_width(&self) -> usize {
        self.style.width.saturating_sub(self.margin())
    }

    fn step(&mut self, step: usize, line: &Line) {
        self.flush();
        self.turn(SCREEN);
        let is_broken = self.story.broken_by(step).next().is_some();
        let (mark, tone) = match line.action.class() {
            _ if is_broken => ('!', Tone::Broken),
            _ if !line.missed.is_empty() => ('x', Tone::Plain),
            Class::Operator | Class::Fault => ('o', Tone::Disturbance),
            Class::Step | Class::Clock | Class::Recovery => ('o', Tone::Plain),
        };
        let time = if self.shown == Some(line.time) { String::new() } else { stamp(line.time) };
        self.shown = Some(line.time);
        let acts = Lane::of(line.action);
        let lanes = self.lanes_with(|it| if acts == Some(it) { mark } else { life(line, it) });
        let sign = if is_broken { '!' } else { ' ' };
        let mut left = format!("{sign}{step:>4} {time:>w$}  {lanes}", w = self.times);
        for (action, note) in self.rows(line, tone, self.notes(step, line, tone)) {
            self.push(&[(tone, &format!("{left}{action}")), (note.0, &note.1)]);
            left = self.left_of(line);
        }
        if self.style.verbose {
            let citation = citation(line.action.rule());
            for text in [citation.sentence.clone(), citation.cites()].iter().filter(|it| !it.is_empty()) {
                self.cite(line, text);
            }
        }
    }

    /// What there is to say of a step: what it changed, what was missed at it, what it broke.
    fn notes(&self, step: usize, line: &Line, tone: Tone) -> Vec<Note> {
        let changes: Vec<String> = told(line, self.style).map(ToString::to_string).collect();
        let changes = (!changes.is_empty()).then(|| (tone, changes.join("; ")));
        let missed = line.missed.iter().map(|it| (Tone::Missed, format!("x {}", it.text)));
        let broken = self.story.broken_by(step);
        let broken = broken
            .map(|(index, it)| (Tone::Broken, format!("! {} is broken here for {}", INVARIANTS[index].id, it.task)));
        changes.into_iter().chain(missed).chain(broken).collect()
    }

    /// The lines of the text column: the action, and notes beside it where there is room for them, or else below.
    fn rows(&self, line: &Line, tone: Tone, notes: Vec<Note>) -> Vec<(String, Note)> {
        let action = line.action.to_string();
        let nothing = || (Tone::Plain, String::new());
        if self.lanes.is_empty() {
            let first = [(actor(line.action), nothing()), (String::new(), (tone, action))];
            return first.into_iter().chain(self.below(notes, "")).collect();
        }
        if self.is_wide() {
            let beside = self.text_width() - self.actions - 2;
            let texts = notes.into_iter().flat_map(|it| broken_up(it, beside));
            let mut rows: Vec<(String, Note)> =
                texts.map(|it| (format!("{:<w$}", "", w = self.actions + 2), it)).collect();
            match rows.first_mut() {
                Some(first) => first.0 = format!("{action:<w$}  ", w = self.actions),
                None => rows.push((action, nothing())),
            }
            return rows;
        }
        if let [(tone, text)] = notes.as_slice()
            && let Some(room) = self.text_width().checked_sub(text.chars().count() + 2)
            && action.len() <= room
        {
            let width = self.actions.min(room);
            return vec![(format!("{action:<width$}  "), (*tone, text.clone()))];
        }
        [(action, nothing())].into_iter().chain(self.below(notes, "  ")).collect()
    }

    fn below(&self, notes: Vec<Note>, indent: &'static str) -> impl Iterator<Item = (String, Note)> {
        let width = self.room().saturating_sub(indent.len());
        notes.into_iter().flat_map(move |it| broken_up(it, width)).map(|it| (indent.to_owned(), it))
    }

    /// Whether changes stand beside their actions.
    fn is_wide(&self) -> bool {
        self.text_width() >= self.actions + 2 + BESIDE
    }

    /// The columns for text below an action.
    fn room(&self) -> usize {
        if self.lanes.is_empty() { self.style.width.saturating_sub(NARROW.len()) } else { self.text_width() }
    }

    /// Something that is said about a step, below it.
    fn beneath(&mut self, line: &Line, tone: Tone, text: &str) {
        let left = self.left_of(line);
        let indent = if self.lanes.is_empty() { "" } else { "  " };
        for (tone, text) in broken_up((tone, text.to_owned()), self.room().saturating_sub(indent.len())) {
            self.push(&[(Tone::Plain, &left), (tone, &format!("{indent}{text}"))]);
        }
    }

    /// What a rule does and where it was read: paths are long, so in a narrow page they cross the columns.
    fn cite(&mut self, line: &Line, text: &str) {
        if self.is_wide() {
            return self.beneath(line, Tone::Quiet, text);
        }
        for text in wrapped(text, self.style.width.saturating_sub(NARROW.len()).max(20)) {
            self.push(&[(Tone::Plain, NARROW), (Tone::Quiet, &text)]);
        }
    }

    /// An empty step and time, and the lanes of a line that nobody acts in.
    fn left_of(&self, line: &Line) -> String {
        if self.lanes.is_empty() {
            return NARROW.to_owned();
        }
        format!("{:w$}{}", "", self.lanes_with(|it| life(line, it)), w = "! 128 ".len() + self.times + 2)
    }

    fn lanes_with(&self, mark: impl Fn(Lane) -> char) -> String {
        let cell = |lane: &Lane| format!("{:<w$}", mark(*lane), w = lane.to_string().len());
        let cells: Vec<String> = self.lanes.iter().map(cell).collect();
        if cells.is_empty() { String::new() } else { cells.join(" ") + "  " }
    }

    /// Says so where time went by at steps that are not shown. That there are some is seen by the numbers of the others.
    fn flush(&mut self) {
        let Folded { steps, seconds } = std::mem::take(&mut self.folded);
        if seconds > 0 {
            let text = format!("... {} went by in {}", duration(seconds), counted(steps, "step"));
            let left = self.last.map_or_else(String::new, |it| self.left_of(&self.story.lines[it]));
            self.push(&[(Tone::Plain, &left), (Tone::Quiet, &text)]);
        }
    }

    /// What is said between two steps, on a line of its own.
    fn aside(&mut self, aside: &Aside) {
        self.turn(SCREEN - 5); // not between an aside and its step
        let (sign, fill, tone) = match aside.about {
            About::Note => ("--".to_owned(), '-', Tone::Quiet),
            About::Deviation(number) => (format!("D{number}"), '-', Tone::Aside),
            About::Departure => ("--".to_owned(), '-', Tone::Aside),
            About::NoReturn => ("==".to_owned(), '=', Tone::Aside),
        };
        self.across(&sign, fill, tone, &aside.text);
    }

    fn across(&mut self, sign: &str, fill: char, tone: Tone, text: &str) {
        let margin = if self.lanes.is_empty() { "! 128 ".len() + 2 } else { self.margin() };
        let rule: String = std::iter::repeat_n(fill, margin.saturating_sub("! 128 ".len() + 1)).collect();
        let mut left = format!("{sign:>5} {rule} ");
        for text in wrapped(text, self.style.width.saturating_sub(margin).max(20)) {
            self.push(&[(tone, &format!("{left}{text}"))]);
            left = " ".repeat(margin);
        }
    }

    /// The run was at rest after this step, and something did not hold there.
    fn rest(&mut self, step: usize, line: &Line) {
        let broken: Vec<(usize, Violation)> = self.story.broken_at_rest(step).collect();
        if broken.is_empty() {
            return;
        }
        self.flush();
        self.across("!!", '=', Tone::Broken, &format!("at rest after step {step}, {}", stamp(line.time)));
        for (index, it) in broken {
            self.beneath(line, Tone::Broken, &format!("! {} is broken for {}", INVARIANTS[index].id, it.task));
        }
    }

    fn push(&mut self, parts: &[(Tone, &str)]) {
        let last = parts.iter().rposition(|it| !it.1.trim_end().is_empty()).unwrap_or(0);
        for (index, &(tone, text)) in parts[..=last].iter().enumerate() {
            let text = if index == last { text.trim_end() } else { text };
            self.out.push_str(&Paint(self.style.colour).with(tone, text));
        }
        self.out.push('\n');
        self.lines += 1;
    }
}

/// A piece of text, and what it is.
type Note = (Tone, String);

/// Where lines without lanes go on.
const NARROW: &str = "        ";

/// What is in the column of somebody who does nothing at that line.
fn life(line: &Line, of: Lane) -> char {
    let lives = match of {
        Lane::Agent(n) => line.slots.0.iter().any(|it| it.is(n)),
        Lane::Mover(t) => line.running[t],
        Lane::User | Lane::Server | Lane::Api | Lane::Kubelet => false,
    };
    if lives { '|' } else { ' ' }
}

fn stamp(time: u32) -> String {
    format!("+{}", duration(time))
}

/// What is told of a step: what can be seen outside; where that is nothing and nothing was missed either, what goroutines
/// went on to.
fn told<'a>(line: &'a Line, style: &Style) -> impl Iterator<Item = &'a Change> {
    let suffices = line.changes.iter().any(Change::is_outside) || !line.missed.is_empty();
    let most = if suffices { Scope::Process } else { Scope::Goroutine };
    let all = style.all;
    line.changes.iter().filter(move |it| all || it.scope <= most)
}

/// Breaks a note into lines, between two of its parts where that is possible; what follows `x` or `!` is indented.
fn broken_up((tone, text): Note, width: usize) -> Vec<Note> {
    let sign = ["x ", "! "].into_iter().find(|it| text.starts_with(it)).unwrap_or("");
    let lines = wrapped_at_semicolons(&text[sign.len()..], width.saturating_sub(sign.len()).max(20));
    let hanging = |index| if index == 0 { sign } else { &"  "[..sign.len()] };
    lines.into_iter().enumerate().map(|(index, it)| (tone, format!("{}{it}", hanging(index)))).collect()
}

fn wrapped_at_semicolons(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in text.split_inclusive("; ").map(str::trim_end) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + part.chars().count() <= width => {
                line.push(' ');
                line.push_str(part);
            }
            _ => lines.extend(wrapped(part, width)),
        }
    }
    lines
}
