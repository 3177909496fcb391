//! A run as people read it: a column for each actor, a line for each step that matters, what it changed and what that
//! broke.
//!
//! A step **matters** if something changed that can be seen from outside the process that did it ([`Change::is_outside`]:
//! an object, a slot, what a process is about), or if somebody missed something at it ([`Missed`]), or if it broke an
//! invariant, or if an [`Aside`] marks it. All others are folded into a line that counts them.

mod folding;
mod lanes;
mod missed;
mod page;
mod paint;

use self::page::Page;
use self::paint::{Paint, Tone};
use super::facts::{Change, Fact, changes_of_facts, facts};
use super::{counted, duration, paragraph, wrapped};
use crate::invariants::{INVARIANTS, Kind};
use crate::model::design::Design;
use crate::model::place::{Host, PerTask, TaskId};
use crate::model::rules::{Action, Class};
use crate::model::world::World;
use crate::run::{Ended, Report, Violation, observe};
use crate::scenario::Scenario;
use crate::scheduler::Scheduler;

pub use self::lanes::{Lane, Lanes, UnknownLane};
pub use self::missed::Missed;

/// How a timeline is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns to stay within; one word that is longer does not break.
    pub width: usize,
    /// Whether colour is wanted: on a terminal, unless `NO_COLOR` is set.
    pub colour: bool,
    /// Whether all steps are shown, and all that they change.
    pub all: bool,
    /// Whether each step says what its rule does and whom it cites.
    pub verbose: bool,
    /// The task of which alone steps are shown, and those of no task.
    pub follow: Option<TaskId>,
    /// The columns that are shown, and the steps in them; those of all who act unless they are named.
    pub columns: Option<Lanes>,
}

impl Default for Style {
    fn default() -> Style {
        Style { width: 100, colour: false, all: false, verbose: false, follow: None, columns: None }
    }
}

/// A style asks for somebody whom a scenario does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no `{who}` here: scenario {scenario} has {has}; leave `{who}` out of {option}")]
pub struct OutOfScope {
    who: String,
    scenario: &'static str,
    has: String,
    option: &'static str,
}

impl Style {
    /// Whether `scenario` has whom the style asks for.
    ///
    /// # Errors
    ///
    /// When it has not: [`Style::follow`] and [`Style::columns`] may name nodes and tasks beyond its scope.
    pub fn fits(&self, scenario: &Scenario) -> Result<(), OutOfScope> {
        let Scenario { name, nodes, tasks, .. } = *scenario;
        let everybody: Vec<String> = Lane::all(nodes, tasks).map(|it| it.to_string()).collect();
        let missing =
            |who: String, has: &[String], option| Err(OutOfScope { who, scenario: name, has: has.join(", "), option });
        match (self.follow, self.columns.and_then(|it| it.beyond(nodes, tasks))) {
            (Some(t), _) if t.0 >= tasks => {
                missing(t.to_string(), &everybody[everybody.len() - usize::from(tasks)..], "--follow")
            }
            (_, Some(lane)) => missing(lane.to_string(), &everybody, "--columns"),
            (_, None) => Ok(()),
        }
    }
}

/// What an aside is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// The page itself, as that a schedule ends here.
    Note,
    /// A deviation from the normal schedule: which one, from 1.
    Deviation(usize),
    /// The run departs here from another one to which it is held.
    Departure,
    /// From here on what is going to fail cannot be averted.
    NoReturn,
}

/// Something to be said in a timeline, before a step. The step is shown, unless it is only a [note](About::Note).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aside {
    /// Before which step.
    pub step: usize,
    /// What.
    pub text: String,
    /// What it is about.
    pub about: About,
}

impl Aside {
    /// Something about the page.
    pub fn note(step: usize, text: impl Into<String>) -> Aside {
        Aside { step, text: text.into(), about: About::Note }
    }

    /// A deviation, by its number from 1.
    pub fn deviation(step: usize, number: usize, text: impl Into<String>) -> Aside {
        Aside { step, text: text.into(), about: About::Deviation(number) }
    }

    /// The run departs from another one.
    pub fn departure(step: usize, text: impl Into<String>) -> Aside {
        Aside { step, text: text.into(), about: About::Departure }
    }

    /// The point of no return.
    pub fn no_return(step: usize, text: impl Into<String>) -> Aside {
        Aside { step, text: text.into(), about: About::NoReturn }
    }
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
    /// What somebody missed at it.
    pub missed: Vec<Missed>,
    /// For each task the node of which a slot is held for it, after the step.
    pub slots: PerTask<Host>,
    /// For each task whether its mover's process runs, after the step.
    pub running: PerTask<bool>,
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
            lines.push(Line {
                time: it.time,
                action: it.action,
                changes: changes_of_facts(&before, &after),
                missed: missed::missed(it.was, it.is, it.action, design),
                slots: slots(it.is),
                running: PerTask(it.is.tasks.0.map(|task| task.mover.is_running())),
            });
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

    /// The invariants that the step of this index broke, at which the run was not yet at rest.
    fn broken_by(&self, step: usize) -> impl Iterator<Item = (usize, Violation)> + '_ {
        self.report.violations().filter(move |&(index, it)| it.step as usize == step && !self.is_at_rest(index, it))
    }

    /// The invariants that were broken at rest, which came after the step of this index.
    fn broken_at_rest(&self, step: usize) -> impl Iterator<Item = (usize, Violation)> + '_ {
        self.report.violations().filter(move |&(index, it)| it.step as usize == step && self.is_at_rest(index, it))
    }

    /// Whether it was rest that broke an invariant. Where something may last only for some time, the clock breaks it, or
    /// else rest, after which it would last for ever.
    fn is_at_rest(&self, index: usize, it: Violation) -> bool {
        match INVARIANTS[index].broken {
            Kind::Step(_) => false,
            Kind::Within(..) => self.lines.get(it.step as usize).is_some_and(|it| it.action.class() != Class::Clock),
            Kind::AtRest(_) => true,
        }
    }

    /// The steps, one a line. `chosen` is how many actions a schedule named, where one did: a line shows where it ends.
    pub fn timeline(&self, style: &Style, chosen: Option<usize>) -> String {
        let step = chosen.map(|it| it + self.scenario.prefix().count()).filter(|it| *it < self.lines.len());
        let aside = step.map(|step| Aside::note(step, "the schedule ends here; the normal schedule goes on"));
        self.annotated(style, aside.as_slice())
    }

    /// The steps, one a line, and between them what else is to be said.
    pub fn annotated(&self, style: &Style, asides: &[Aside]) -> String {
        Page::new(self, style, asides).write()
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
                out.push_str(&paint.with(Tone::Broken, &line));
                out.push('\n');
            }
            let when = match invariant.broken {
                _ if self.is_at_rest(index, it) => "at rest after",
                Kind::Within(..) => "its time was up at",
                Kind::Step(_) | Kind::AtRest(_) => "by",
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

fn slots(world: &World) -> PerTask<Host> {
    PerTask(world.tasks.0.map(|it| if it.watcher.holds_slot() { it.watcher.home } else { Host::NOBODY }))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::designs::Upstream;
    use crate::model::place::NodeId;
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

    fn every_scope() -> impl Iterator<Item = Story> {
        let one = ["cancel", "anything", "download-cancel", "two-uploads-one-slot"].map(|it| story(it, 5));
        let large = Scenario::named("anything").unwrap().scope(3, 4);
        one.into_iter().chain([Story::tell(&large, &Upstream, &mut Placed::new(1, 0))])
    }

    fn all() -> Style {
        Style { all: true, ..Style::default() }
    }

    /// The numbers of the steps on a page, each with its line.
    fn steps(text: &str) -> Vec<(usize, &str)> {
        let number = |it: &&str| it.get(1..5)?.trim().parse().ok();
        text.lines().filter_map(|it| Some((number(&it)?, it))).collect()
    }

    /// How many steps a page says that it leaves out.
    fn left_out(text: &str) -> usize {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let Some((_, reasons)) = text.split_once("Left out of ") else { return 0 };
        let (_, reasons) = reasons.split_once(": ").unwrap();
        let reasons = reasons.split_once('.').unwrap().0.split("; ");
        reasons.map(|it| it.split(' ').next().unwrap().parse::<usize>().unwrap()).sum()
    }

    #[test]
    fn no_step_is_lost_in_the_folds() {
        for story in every_scope() {
            for style in [Style::default(), Style { follow: Some(TaskId(0)), ..Style::default() }] {
                let text = story.timeline(&style, None);
                assert_eq!(steps(&text).len() + left_out(&text), story.lines.len(), "{text}");
                assert!(left_out(&text) > 0);
            }
        }
    }

    #[test]
    fn all_shows_every_step() {
        let story = story("cancel", 5);
        let text = story.timeline(&all(), None);
        let shown = steps(&text);
        assert_eq!(shown.len(), story.lines.len());
        assert!(shown.iter().zip(&story.lines).all(|((_, text), it)| text.contains(&it.action.to_string())));
        assert!(text.contains("Nothing is left out of") && text.contains("cache of a: none -> New"), "{text}");
    }

    #[test]
    fn what_matters_is_shown() {
        let story = broken();
        let text = story.timeline(&Style::default(), None);
        let shown: Vec<usize> = steps(&text).into_iter().map(|it| it.0).collect();
        for (step, line) in story.lines.iter().enumerate() {
            let matters = line.changes.iter().any(Change::is_outside)
                || !line.missed.is_empty()
                || story.broken_by(step).next().is_some();
            assert_eq!(shown.contains(&step), matters, "step {step}");
        }
    }

    #[test]
    fn it_stays_within_its_width() {
        for story in every_scope().chain([broken()]) {
            for width in [56, 80, 100, 120] {
                for (all, verbose) in [(false, false), (true, true)] {
                    let style = Style { width, all, verbose, ..Style::default() };
                    let asides = [Aside::no_return(3, "word ".repeat(40)), Aside::deviation(9, 1, "word ".repeat(40))];
                    let text = story.annotated(&style, &asides) + &story.verdict(&style);
                    let longest = text.lines().max_by_key(|it| it.chars().count()).unwrap();
                    assert!(longest.chars().count() <= width, "{width}: {longest}");
                }
            }
        }
    }

    /// Below its heading, and nowhere else, stands the mark of whoever takes a step.
    #[test]
    fn each_actor_stands_in_its_own_column() {
        for story in every_scope() {
            for style in [Style::default(), all(), Style { width: 120, ..all() }] {
                let text = story.timeline(&style, None);
                let headings = text.lines().find(|it| it.starts_with(" step ")).unwrap();
                let column = |lane: Lane| {
                    let heading = lane.to_string();
                    let is_whole = |at: &usize| {
                        headings[..*at].ends_with(' ') && headings[*at..].split(' ').next() == Some(&heading)
                    };
                    headings.match_indices(&heading).map(|it| it.0).find(is_whole).unwrap()
                };
                for (step, line) in steps(&text) {
                    let lanes = &line[headings.find("user").or(headings.find("srv")).unwrap()..headings.len()];
                    let marks: Vec<usize> = lanes.match_indices(['o', 'x', '!']).map(|it| it.0).collect();
                    let acts = Lane::of(story.lines[step].action);
                    let expected = acts.map(|it| column(it) - (headings.len() - lanes.len()));
                    assert_eq!(marks, Vec::from_iter(expected), "{headings}\n{line}");
                }
            }
        }
    }

    #[test]
    fn the_legend_names_each_column_and_each_mark() {
        let marks = |line: &str| line.chars().filter(|it| "ox!|".contains(*it)).collect::<Vec<_>>();
        for story in every_scope().chain([broken()]) {
            let text = story.timeline(&Style::default(), None);
            let (legend, page) = text.split_once("\n step ").unwrap();
            let (headings, _) = page.split_once('\n').unwrap();
            for lane in headings.split_whitespace().skip(1) {
                let named = legend.contains(&format!(" {lane} = ")) || legend.contains(&format!(" {lane}, "));
                assert!(named || legend.contains(&format!(", {lane} = ")), "{lane}: {legend}");
            }
            let width = " step ".len() + headings.len();
            for (_, line) in steps(&text) {
                for mark in marks(&line[.."! 128 ".len()])
                    .into_iter()
                    .chain(marks(&line["! 128 ".len()..width.min(line.len())]))
                {
                    assert!(legend.contains(&format!("{mark} = ")), "{mark}: {legend}\n{line}");
                }
            }
        }
    }

    /// A node-agent that holds a slot and a mover that runs have a line of their own down the page.
    #[test]
    fn a_slot_and_a_process_are_seen_while_they_last() {
        let story = Story::tell(&Scenario::named("normal").unwrap(), &Upstream, &mut Normal);
        let a = TaskId(0);
        let text = story.timeline(&Style { width: 120, ..all() }, None);
        let headings = text.lines().find(|it| it.starts_with(" step ")).unwrap();
        let column = |heading: &str| headings.find(heading).unwrap();
        let mut seen = [0; 2];
        for (step, line) in steps(&text) {
            let it = &story.lines[step];
            let lane = Lane::of(it.action);
            let is = |heading: &str| line[column(heading)..].starts_with('|');
            for n in [NodeId(0), NodeId(1)] {
                let holds = it.slots[a].is(n) && lane != Some(Lane::Agent(n));
                assert_eq!(is(&n.to_string()), holds, "{line}");
                seen[0] += usize::from(holds);
            }
            let runs = it.running[a] && lane != Some(Lane::Mover(a));
            assert_eq!(line.as_bytes()[headings.len() - 1] == b'|', runs, "{line}");
            seen[1] += usize::from(runs);
        }
        assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
    }

    #[test]
    fn a_width_without_room_for_columns_names_actors_and_says_so() {
        let story = story("two-uploads-one-slot", 5);
        let text = story.timeline(&Style { width: 50, ..Style::default() }, None);
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            flat.contains("This is too narrow for a column for each actor, so each step names its actor."),
            "{text}"
        );
        for (step, line) in steps(&text) {
            assert!(line.ends_with(&actor(story.lines[step].action)), "{line}");
        }
    }

    #[test]
    fn one_task_can_be_followed() {
        let story = story("two-uploads-one-slot", 5);
        let style = Style { follow: Some(TaskId(1)), ..all() };
        let text = story.timeline(&style, None);
        let of = |t: u8| story.lines.iter().filter(|it| it.action.task() == Some(TaskId(t))).count();
        let shown: Vec<usize> = steps(&text).into_iter().map(|it| it.0).collect();
        let about = |t: u8| shown.iter().filter(|it| story.lines[**it].action.task() == Some(TaskId(t))).count();
        assert_eq!(about(1), of(1));
        assert!(about(0) < of(0) && text.contains(" about others than b."), "{text}");
        let nobodys = |it: &usize| story.lines[*it].action.class() == Class::Clock;
        assert_eq!(shown.iter().copied().filter(nobodys).count(), (0..story.lines.len()).filter(nobodys).count());
    }

    #[test]
    fn columns_can_be_chosen() {
        let story = story("cancel", 5);
        let style = Style { columns: "movers,n1".parse().ok(), ..all() };
        let text = story.timeline(&style, None);
        let headings = text.lines().find(|it| it.starts_with(" step ")).unwrap();
        assert_eq!(headings.split_whitespace().collect::<Vec<_>>(), ["step", "time", "n1", "a"]);
        for (step, _) in steps(&text) {
            let lane = Lane::of(story.lines[step].action);
            let chosen = lane == Some(Lane::Agent(NodeId(1))) || lane == Some(Lane::Mover(TaskId(0)));
            assert!(chosen || story.broken_by(step).next().is_some(), "{step}");
        }
        assert!(text.contains(" in other columns."), "{text}");
    }

    #[test]
    fn whoever_is_not_there_is_not_shown_but_refused() {
        let cancel = Scenario::named("cancel").unwrap();
        let refused = |style: Style| style.fits(&cancel).unwrap_err().to_string();
        let follow = refused(Style { follow: Some(TaskId(1)), ..Style::default() });
        assert_eq!(follow, "there is no `b` here: scenario cancel has a; leave `b` out of --follow");
        let columns = refused(Style { columns: "user,n2".parse().ok(), ..Style::default() });
        assert!(
            columns.starts_with("there is no `n2` here: scenario cancel has user, srv, api, n0, n1, kub, a;"),
            "{columns}"
        );
        assert_eq!(Style { columns: "node-agents,movers".parse().ok(), ..Style::default() }.fits(&cancel), Ok(()));
    }

    #[test]
    fn asides_are_marked_and_their_steps_are_shown() {
        let story = story("cancel", 5);
        let quiet = steps(&story.timeline(&Style::default(), None)).into_iter().map(|it| it.0).collect::<Vec<_>>();
        let folded: Vec<usize> = (0..story.lines.len()).filter(|it| !quiet.contains(it)).collect();
        let [deviation, departure, no_return, note] = [folded[0], folded[3], folded[5], folded[7]];
        let asides = [
            Aside::deviation(deviation, 1, "somebody cancels"),
            Aside::departure(departure, "the twin reads first"),
            Aside::no_return(no_return, "nobody can free the slot"),
            Aside::note(note, "the schedule ends here"),
        ];
        let text = story.annotated(&Style::default(), &asides);
        let line = |of: &str| text.lines().find(|it| it.ends_with(of)).expect(of);
        assert!(line(" somebody cancels").starts_with("   D1 ---"));
        assert!(line(" the twin reads first").starts_with("   -- ---"));
        assert!(line(" nobody can free the slot").starts_with("   == ==="));
        assert!(line(" the schedule ends here").starts_with("   -- ---"));
        let shown: Vec<usize> = steps(&text).into_iter().map(|it| it.0).collect();
        assert_eq!([deviation, departure, no_return, note].map(|it| shown.contains(&it)), [true, true, true, false]);
        let legend = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(legend.contains("D1 = deviation 1; == = the point of no return"), "{text}");
    }

    #[test]
    fn what_broke_an_invariant_is_marked_and_told_once_more() {
        let mut kinds = [0; 2];
        for run in 0..400 {
            let story = story("pod-deleted", run);
            let style = Style::default();
            let text = story.timeline(&style, None);
            let verdict = story.verdict(&style).split_whitespace().collect::<Vec<_>>().join(" ");
            for (index, it) in story.report.violations() {
                let invariant = &INVARIANTS[index];
                let at_rest = story.is_at_rest(index, it);
                kinds[usize::from(at_rest)] += 1;
                let place = if at_rest { "   !! =".to_owned() } else { format!("!{:>4} ", it.step) };
                let (_, after) = text.split_once(&format!("\n{place}")).expect("it is marked");
                assert!(after.contains(&format!("! {} is broken ", invariant.id)), "{text}");
                assert!(verdict.contains(&format!("Broken: {}: {}.", invariant.id, invariant.sentence)));
                assert!(verdict.contains(&story.lines[it.step as usize].action.to_string()));
            }
        }
        assert!(kinds[0] > 0 && kinds[1] > 0, "{kinds:?}");
    }

    #[test]
    fn a_clean_run_says_so_and_claims_no_more() {
        let story = Story::tell(&Scenario::named("normal").unwrap(), &Upstream, &mut Normal);
        assert!(story.verdict(&Style::default()).ends_with("No invariant was broken in this run.\n"));
    }

    #[test]
    fn verbose_cites_the_code() {
        let text = story("normal", 0).timeline(&Style { verbose: true, ..Style::default() }, None);
        let text = text.replace('|', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("`acceptDataUpload`."), "{text}");
    }

    #[test]
    fn there_is_no_colour_unless_it_is_asked_for() {
        let story = broken();
        let plain = story.timeline(&Style::default(), None);
        let painted = story.timeline(&Style { colour: true, ..Style::default() }, None);
        assert!(!plain.contains('\x1b') && painted.contains("\x1b[1;31m"));
        let codes = ["1;31", "33", "36", "35", "2", "0"].map(|it| format!("\x1b[{it}m"));
        let bare = codes.iter().fold(painted, |text, code| text.replace(code, ""));
        assert_eq!(bare, plain);
    }
}
