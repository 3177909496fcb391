//! A violation explained, as a story that can be read in a minute, and as JSON for programs.
//!
//! The schema is called `vgdp-sim/explained/1`. Fields may be added to it; one that is renamed, removed or gets another
//! meaning makes it `/2`. The same explanation gives the same bytes. Steps are counted from 0, the scenario's prefix
//! included; times are seconds since the start.
//!
//! ```json
//! {
//!   "schema": "vgdp-sim/explained/1",
//!   "version": "0.1.0",
//!   "scenario": { "name": "cancel", "sentence": "...", "nodes": 2, "tasks": 1, "slots": 1 },
//!   "design": { "name": "upstream", "sentence": "..." },
//!   "invariant": { "id": "slot-leak", "sentence": "...", "source": "...", "costs": "..." },
//!   "verdict": { "task": "a", "price": 0, "step": 128, "time": 302, "also": ["slot-late"] },
//!   "lanes": [{ "id": "n0", "meaning": "node-agent" }],
//!   "run": {
//!     "deviations": [{ "text": "after a becomes ...", "before": 51 }],
//!     "token": "vgdp1-...", "ended": "at rest", "seconds": 302,
//!     "start": [{ "scope": "api", "name": "a.phase", "value": "none" }],
//!     "steps": [
//!       { "step": 51, "time": 2, "action": "user::cancels(a)", "actor": "user", "lane": "user", "class": "operator",
//!         "sentence": "The user cancels the upload.", "event": "a is cancelled",
//!         "changes": [{ "scope": "api", "name": "a.cancel", "was": "no", "is": "yes" }], "broken": [] }
//!     ]
//!   },
//!   "no_return": {
//!     "exact": true, "step": 77, "action": "worker::marks_canceling(n0, a)", "never_open": false,
//!     "open": 77, "closed": 78, "worlds": 221404, "stopped": null,
//!     "way": ["data_mover::polls(a)", "..."],
//!     "rescue": { "steps": ["data_mover::polls(a)"], "instead": false }
//!   },
//!   "twin": { "left_out": 1, "lost": [], "run": { "...": "as run" } },
//!   "difference": {
//!     "alike": 12, "run": 96, "twin": 107, "late": null,
//!     "facts": [{ "scope": "api", "name": "a.phase", "run": "Canceled", "twin": "Canceling" }]
//!   }
//! }
//! ```
//!
//! - `no_return.open`: the last step before which the run is known to be able to end well, or null; `way`: how.
//!   `closed`: from before this step on it is known that it cannot. `exact` where these are neighbours: then `step`, which
//!   is `open`, left no way back. Otherwise `step` did so at the latest, and `stopped` says why no more is known: `cap` or
//!   `interrupted`. `never_open`: from the first choice on there was no way; then `step` is null.
//! - `rescue`: the fewest steps that would have had to come before `step` for a way to be left, or `instead` of it.
//! - `twin` and `difference` are null where no single deviation can be left out. `difference.run` and `difference.twin`
//!   are the steps that make the first visible change in which the runs are not `alike`, or null after the last one.
//!   `late`: the steps, of the run and of the twin, of the first visible change that comes at another time, or null.
//! - `lanes` are the columns of a timeline, from left to right; `lane` names one, and is null for the clock.
//! - `scope` is from where a fact can be seen: `api`, `slot`, `process`, `goroutine` or `view`.

use std::fmt::Write as _;

use serde::Serialize;

use super::facts::{Change, Scope, changes, facts};
use super::rulebook::citation;
use super::timeline::{Aside, Lane, actor};
use super::token::Token;
use super::{counted, duration, grouped, paragraph};
use crate::event::Event;
use crate::invariants::{INVARIANTS, Invariant, Kind};
use crate::model::data_mover::{End, Process};
use crate::model::kind::Kind as ModelKind;
use crate::model::rules::{Action, Class};
use crate::model::world::World;
use crate::run::Ended;
use crate::scheduler::{Departure, Deviation, Until};
use crate::search::{Explained, NoReturn, Recording, Rescue, Stopped, Taken, Twin};

/// The name and version of the schema.
pub const SCHEMA: &str = "vgdp-sim/explained/1";

/// The most facts that are told where two runs first look different.
const FACTS: usize = 5;

/// What a violation of an invariant costs whoever runs backups, as a sentence; nothing for an invariant of which nobody
/// has said it yet.
pub fn costs(id: &str) -> Option<&'static str> {
    Some(match id {
        "slot-leak" => {
            "The node has one slot less until somebody restarts its node-agent; when the last is gone, its backups and restores wait for ever."
        }
        "slot-late" => "While the slot is held in vain, other backups and restores of the node wait.",
        "slot-early" | "over-limit" => {
            "More data movers run on the node than its limit allows, at the cost of whatever else runs there."
        }
        "cancel-late" => "Whoever cancelled waits, and the slot, the pod and the snapshot are in use until then.",
        "cancel-unheard" => {
            "The mover is not stopped by the cancel but by whatever comes later; until then it moves data that nobody wants."
        }
        "stuck" => "The backup or restore never ends, and whoever waits for it waits until its own time-out.",
        "starved" => "The backup waits although the node is idle, until its time-out cancels it.",
        "slow-start" => "The backup waits although there is room for it.",
        "outcome-false" => "The backup is reported as lost although its data is there.",
        "stranger-acts" => "A node ends what runs on another one, and neither knows what the other does.",
        "final-changes" | "phase-regresses" => {
            "Whoever acted upon the phase acted upon something that is not so, and what was decided is decided again."
        }
        "crash" => "The mover's container fails, and with it the backup, where it should have been canceled cleanly.",
        "send-blocked" => "A goroutine stands still for a while; what waits for it waits as well.",
        "send-blocked-for-ever" => "A goroutine and what it holds are lost until the process ends.",
        "orphan-process" => "A process moves data for nobody, and keeps volume, memory and network busy.",
        "orphan-watcher" => "A goroutine of the node-agent and what it holds are lost until somebody restarts it.",
        "orphan-pod" => "A pod stays behind, and with it its volume, until somebody deletes it by hand.",
        "orphan-objects" => "Volumes or snapshots stay behind and cost storage until somebody finds and deletes them.",
        "finalizer-stuck" => "The object cannot go, and a deletion of its namespace waits for ever.",
        "removal-cancels" => "Whoever removes an object by mistake also stops a backup that was running well.",
        "removal-kills" => "A backup that was running well is lost because its object was removed by mistake.",
        "watcher-outlives-pod" => {
            "The node-agent goes on waiting for a pod that is gone, and may hold its slot meanwhile."
        }
        "mistake-costs-slot" => {
            "An object removed by mistake costs the node a slot, until somebody restarts its node-agent."
        }
        _ => return None,
    })
}

/// The explanation as text, within `width` columns but for the command in its last line, which is to be copied whole.
pub fn text(it: &Explained<'_>, width: usize) -> String {
    let mut out = heading(it, width);
    out.push_str("\nWhat happens: everybody takes turns, but for what is numbered\n");
    for entry in story(it) {
        out.push_str(&entry.text(width));
    }
    out.push_str("\nNo way back\n");
    out.push_str(&paragraph(&no_way_back(it), 2, width));
    out.push_str("\nThe same run less one deviation\n");
    out.push_str(&paragraph(&the_twin(it), 2, width));
    out.push_str(&differences(it, width));
    out.push_str("\nWhat it costs\n");
    out.push_str(&paragraph(&the_price(it), 2, width));
    out.push_str("\nStep by step\n");
    let _ = writeln!(out, "  {}", command(it));
    out
}

/// What is to be said of it in the timeline of the same run.
pub fn asides(it: &Explained<'_>) -> Vec<Aside> {
    let text = match (it.no_return.step(), it.no_return.at_the_latest()) {
        (Some(_), _) => "the next step leaves no way back from it",
        (None, Some(_)) => "the next step leaves no way back from it, if there still was one",
        (None, None) => "there never was a way back from it",
    };
    let step = it.no_return.at_the_latest().unwrap_or(it.no_return.first);
    if step > it.violation.step as usize {
        return Vec::new(); // not even the last world was searched to its end
    }
    vec![Aside::no_return(step, format!("{}: {text}", invariant(it).id))]
}

/// The command that shows the run step by step.
pub fn command(it: &Explained<'_>) -> String {
    let token = token(it, &it.run);
    let file =
        if it.scenario.is_built_in() { String::new() } else { format!(" --scenario {}", it.scenario.argument()) };
    format!("vgdp-sim replay {token}{file}")
}

fn token(it: &Explained<'_>, run: &Recording) -> Token {
    Token::new(&it.scenario, it.design, &run.deviations)
}

pub(super) fn invariant(it: &Explained<'_>) -> &'static Invariant {
    &INVARIANTS[it.invariant]
}

fn heading(it: &Explained<'_>, width: usize) -> String {
    let Invariant { id, sentence, .. } = invariant(it);
    paragraph(&format!("{id}: {sentence}."), 0, width) + &paragraph(&verdict(it), 0, width)
}

/// Who breaks it, at what price, by how many deviations, and where: one sentence.
pub(super) fn verdict(it: &Explained<'_>) -> String {
    let (name, task, scenario) = (it.design.name(), it.violation.task, &it.scenario);
    let deviations = match it.run.deviations.len() as u64 {
        0 => "in the normal run itself".to_owned(),
        number => format!("by {} from the normal run", counted(number, "deviation")),
    };
    let price = match it.violation.price {
        0 => "at price 0, so in normal operation".to_owned(),
        price => format!("at price {price}"),
    };
    let where_ = scenario.sentence.trim_end_matches('.');
    format!(
        "{name} breaks it for {task}, {price}, {deviations}, in scenario {}: {} ({}).",
        scenario.name,
        lower(where_),
        who_is_who(it)
    )
}

/// What the letters and numbers stand for: `uploads a and b, nodes n0 and n1, 1 slot each`.
fn who_is_who(it: &Explained<'_>) -> String {
    let world = &it.run.start;
    let kind = match it.scenario.kind {
        ModelKind::DataUpload => "upload",
        ModelKind::DataDownload => "download",
    };
    let named = |what: &str, names: Vec<String>| match names.as_slice() {
        [only] => format!("{what} {only}"),
        names => format!("{what}s {}", names.join(", ")),
    };
    let tasks = named(kind, world.task_ids().map(|it| it.to_string()).collect());
    let nodes = named("node", world.node_ids().map(|it| it.to_string()).collect());
    format!("{tasks}; {nodes}; {} a node", counted(u64::from(it.scenario.limit), "slot"))
}

/// Something in the story.
pub(super) struct Entry {
    pub(super) time: u32,
    /// `==` where no way back is left, `!!` for the violation, and the number of a deviation with a point.
    pub(super) mark: String,
    pub(super) text: String,
}

impl Entry {
    fn text(&self, width: usize) -> String {
        let head = format!("{:>9} {:>3} ", format!("+{}", duration(self.time)), self.mark);
        let text = paragraph(&self.text, head.len(), width);
        format!("{head}{}", text.trim_start())
    }
}

/// What somebody outside sees of the run until the invariant is broken, its deviations and where no way back was left.
pub(super) fn story(it: &Explained<'_>) -> Vec<Entry> {
    let run = &it.run;
    let mut entries: Vec<Entry> = Vec::new();
    let mut open = false; // the last entry takes more of the same time
    let closing = it.no_return.at_the_latest();
    for (step, taken) in run.steps.iter().enumerate().take(it.violation.step as usize + 1) {
        let mut shown = happenings(run.before(step), taken);
        for (index, deviation) in run.deviations.iter().enumerate().filter(|it| run.made[it.0] == step) {
            let (time, mark) = (run.time_before(step), format!("{}.", index + 1));
            entries.push(Entry { time, mark, text: deviates(deviation) });
            open = false;
            if matches!(deviation.departure, Departure::Does(_)) && !shown.is_empty() {
                shown.remove(0); // what it does has just been said
            }
        }
        if !shown.is_empty() {
            let text = shown.join("; ");
            match entries.last_mut().filter(|it| open && it.time == taken.time) {
                Some(it) => it.text = format!("{}; {text}", it.text),
                None => entries.push(Entry { time: taken.time, mark: String::new(), text }),
            }
            open = true;
        }
        if closing == Some(step) && step < it.violation.step as usize {
            let before = if it.no_return.step().is_some() { "" } else { ", if there still was one" };
            let text = format!("{} leaves no way back{before}", taken.action);
            entries.push(Entry { time: taken.time, mark: "==".to_owned(), text });
            open = false;
        }
    }
    entries.push(Entry { time: it.violation.time, mark: "!!".to_owned(), text: broken(it) });
    entries
}

fn broken(it: &Explained<'_>) -> String {
    let (id, task) = (invariant(it).id, it.violation.task);
    match invariant(it).broken {
        Kind::AtRest(_) => format!("all is at rest, and {id} is broken for {task}"),
        Kind::Step(_) => format!("{id} is broken for {task}"),
        Kind::Within(limit, _) => format!("{id} is broken for {task}, for longer than {limit} s or at rest"),
    }
}

/// What somebody outside sees of a step, and what tells him how the movers and slots are.
fn happenings(was: &World, taken: &Taken) -> Vec<String> {
    let is = &taken.world;
    let mut all: Vec<String> = taken
        .event
        .map(|it| match it {
            Event::Cancelled(_) | Event::Deleting(_) => format!("{it} by {}", actor(taken.action)),
            _ => it.to_string(),
        })
        .into_iter()
        .collect();
    for t in is.task_ids() {
        let (old, new) = (&was.tasks[t], &is.tasks[t]);
        match (old.watcher.holds_slot(), new.watcher.holds_slot(), new.watcher.home().or(old.watcher.home())) {
            (false, true, Some(n)) => all.push(format!("{n} takes a slot for {t}")),
            (true, false, Some(n)) => all.push(format!("{n} frees the slot of {t}")),
            _ => {}
        }
        let (old, new) = (&old.mover, &new.mover);
        if old.process != new.process {
            all.push(match (new.process, new.end) {
                (Process::Running, _) => format!("the mover of {t} starts"),
                (_, End::Crashed) => format!("the mover of {t} crashes"),
                (_, end) => format!("the mover of {t} has ended ({end:?})"),
            });
        }
        if !old.is_transferring() && new.is_transferring() {
            all.push(format!("the mover of {t} begins to move data"));
        }
        if !old.heard_cancel && new.heard_cancel {
            all.push(format!("the mover of {t} hears of the cancel"));
        }
    }
    all
}

/// A deviation as a sentence.
pub(super) fn deviates(it: &Deviation) -> String {
    match (it.departure, it.point.next) {
        (Departure::Does(action), _) => does(action),
        (Departure::First(action), _) => format!("out of turn {}", does(action)),
        (Departure::Waits(until), next) => {
            let until = match until {
                Until::LastInInstant => "until nobody else acts in this instant".to_owned(),
                Until::Last => "until nobody else acts at all, or its time is up".to_owned(),
                Until::Event(event) => format!("until {event}"),
            };
            match next {
                Some(action) => format!("this has to wait {until}: {}", does(action)),
                None => format!("nobody waits {until}"),
            }
        }
    }
}

/// Who does what, and the name of its rule. What follows a semicolon in the sentence of a rule is left out: the timeline
/// has it with `--verbose`.
fn does(action: Action) -> String {
    let sentence = citation(action.rule()).sentence;
    let sentence = sentence.split(';').next().unwrap_or_default().trim_end_matches('.');
    match (action.class(), sentence.strip_prefix("It ")) {
        (Class::Operator | Class::Clock, _) => format!("{} ({action})", lower(sentence)),
        (Class::Fault | Class::Recovery, Some(rest)) => format!("a fault {rest} ({action})"),
        (_, Some(rest)) => format!("{} {rest} ({action})", actor(action)),
        (_, None) => format!("at {} {} ({action})", actor(action), lower(sentence)),
    }
}

fn lower(sentence: &str) -> String {
    sentence.chars().take(1).flat_map(char::to_lowercase).chain(sentence.chars().skip(1)).collect()
}

/// Where no way back was left, and who could have helped.
pub(super) fn no_way_back(it: &Explained<'_>) -> String {
    let NoReturn { open, first, worlds, .. } = it.no_return;
    let worlds = grouped(worlds as u64);
    let at = |step: usize| {
        let taken = &it.run.steps[step];
        format!("step {step}, +{}: {}", duration(taken.time), does(taken.action))
    };
    if it.no_return.was_never_open() {
        return format!(
            "There never was one. From step {first} on every order of steps ends so, if nobody outside helps: all {worlds} worlds that can follow were visited."
        );
    }
    if let Some(step) = it.no_return.step() {
        let after = if step == it.violation.step as usize {
            "That step itself breaks it."
        } else {
            "After it whatever follows ends so, in every order of steps, if nobody outside helps"
        };
        let searched = if step == it.violation.step as usize {
            String::new()
        } else {
            format!(" ({worlds} worlds were visited).")
        };
        return format!(
            "The last way is closed by {}. Before it the run could still have ended well. {after}{searched} {}",
            at(step),
            who_could_help(it, step)
        );
    }
    let why = match it.no_return.stopped {
        Some(Stopped::Interrupted) => "the search was interrupted; run it again, and let it end".to_owned(),
        Some(Stopped::Cap) | None => {
            format!("the search met its bound after {worlds} worlds; give `--max-worlds` a larger number")
        }
    };
    let closed = it.no_return.closed;
    let latest = if closed > it.violation.step as usize {
        "It is not known where it was closed: not even what can follow the world before the last step was searched to its end.".to_owned()
    } else {
        format!("The last way is closed at the latest by {}.", at(closed - 1))
    };
    let before = match open {
        Some(open) => format!("Before step {open}, +{}, there still was one.", duration(it.run.time_before(open))),
        None => "No earlier step was found before which there still was one.".to_owned(),
    };
    format!("{latest} {before} What is between is not known: {why}.")
}

fn who_could_help(it: &Explained<'_>, step: usize) -> String {
    let closing = it.run.steps[step].action;
    let outside = matches!(closing.class(), Class::Operator | Class::Fault);
    let Some(Rescue { steps, instead }) = &it.no_return.rescue else {
        return if outside {
            "It is an act from outside: without it all could have gone well, and no other order was found in which it does no harm.".to_owned()
        } else {
            "No order was found in which that same step does no harm.".to_owned()
        };
    };
    let last = does(*steps.last().expect("a rescue has a step"));
    let (what, who) = match steps.len() {
        1 => ("this".to_owned(), last),
        2 => ("this".to_owned(), format!("{}, and then {last}", does(steps[0]))),
        more => (counted(more as u64, "step"), format!("the last of them is that {last}")),
    };
    if *instead {
        format!("All could have gone well with {what} in its place: {who}.")
    } else {
        format!("That step would have done no harm had {what} come before it: {who}.")
    }
}

/// What the twin does, and where it first looks different.
pub(super) fn the_twin(it: &Explained<'_>) -> String {
    let id = invariant(it).id;
    match &it.twin {
        Some(twin) => format!("{} {}", how_it_ends(twin, id), how_they_part(it, twin)),
        None if it.run.deviations.is_empty() => "There is none: the normal run itself fails.".to_owned(),
        None => {
            format!("There is none: whichever single deviation is left out, {id} is still broken, or there is no rest.")
        }
    }
}

/// In which facts the two differ there.
fn differences(it: &Explained<'_>, width: usize) -> String {
    let Some(twin) = &it.twin else { return String::new() };
    let mut out = String::new();
    let (run, other) = twin.worlds(&it.run);
    let all = changes(other, run);
    let told: Vec<&Change> = all.iter().filter(|it| it.scope <= Scope::Process && it.name != "price left").collect();
    if !told.is_empty() {
        out.push_str("  At these moments they differ in this:\n");
    }
    for change in told.iter().take(FACTS) {
        let text = format!("{}: {} in this run, {} in the other", change.name, change.is, change.was);
        out.push_str(&paragraph(&text, 4, width));
    }
    if told.len() > FACTS {
        out.push_str(&paragraph(&format!("and {} more", told.len() - FACTS), 4, width));
    }
    out
}

fn how_it_ends(twin: &Twin, id: &str) -> String {
    let Twin { left_out, lost, run, .. } = twin;
    let lost = match lost.as_slice() {
        [] => String::new(),
        lost => {
            let numbers: Vec<String> = lost.iter().map(|it| (it + 1).to_string()).collect();
            format!(", and without deviation {}, for which there is then no place", numbers.join(" and "))
        }
    };
    let (steps, time) = (counted(u64::from(run.report.steps), "step"), duration(run.report.time));
    format!("Without deviation {}{lost} {id} holds: all is at rest after {steps} and {time}.", left_out + 1)
}

fn how_they_part(it: &Explained<'_>, other: &Twin) -> String {
    let seen = |run: &Recording, step: Option<usize>| {
        let Some(step) = step else { return "nothing changes any more".to_owned() };
        let taken = &run.steps[step];
        let shown = happenings(run.before(step), taken);
        let shown = if shown.is_empty() {
            let seen = changes(run.before(step), &taken.world).into_iter().filter(|it| it.scope <= Scope::Slot);
            seen.map(|it| it.to_string()).collect()
        } else {
            shown
        };
        let shown = shown.join(" and ");
        format!("{shown} at +{}", duration(taken.time))
    };
    let difference = other.difference;
    if (difference.run, difference.twin) == (None, None) {
        return match difference.late {
            Some((run, twin)) => format!(
                "The same things happen in both, at other times: in this run {}, and in the other {}.",
                seen(&it.run, Some(run)),
                seen(&other.run, Some(twin))
            ),
            None => "From outside the two look the same to the end.".to_owned(),
        };
    }
    format!(
        "The first {} are the same; then in this run {}, and in the other {}.",
        counted(difference.alike as u64, "visible change"),
        seen(&it.run, difference.run),
        seen(&other.run, difference.twin)
    )
}

pub(super) fn the_price(it: &Explained<'_>) -> String {
    let Invariant { id, sentence, .. } = invariant(it);
    let costs = costs(id).map_or_else(|| format!("It does not hold that {sentence}."), str::to_owned);
    let price = match it.violation.price {
        0 => "Nobody has done anything wrong for it: price 0.".to_owned(),
        price => {
            let acts = it.run.deviations.iter().filter_map(|it| match it.departure {
                Departure::Does(action) => Some(action),
                Departure::First(_) | Departure::Waits(_) => None,
            });
            let acts: Vec<String> = acts.map(|it| it.to_string()).collect();
            format!("From outside it takes {}: price {price}.", acts.join(", "))
        }
    };
    let others = also(it);
    let others = if others.is_empty() { String::new() } else { format!(" The run breaks also {}.", others.join(", ")) };
    format!("{costs} {price}{others}")
}

/// The other invariants that the run breaks.
fn also(it: &Explained<'_>) -> Vec<&'static str> {
    it.run
        .report
        .violations()
        .filter(|(index, _)| *index != it.invariant)
        .map(|(index, _)| INVARIANTS[index].id)
        .collect()
}

/// The explanation as JSON, ended by a line feed.
pub fn json(it: &Explained<'_>) -> String {
    let scenario = &it.scenario;
    let Invariant { id, sentence, source, .. } = *invariant(it);
    let violation = it.violation;
    let document = Document {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        scenario: InScenario {
            name: scenario.name,
            sentence: scenario.sentence,
            nodes: scenario.nodes,
            tasks: scenario.tasks,
            slots: scenario.limit,
        },
        design: About { name: it.design.name(), sentence: it.design.sentence() },
        invariant: AboutInvariant { id, sentence, source, costs: costs(id) },
        verdict: Verdict {
            task: violation.task.to_string(),
            price: violation.price,
            step: violation.step,
            time: violation.time,
            also: also(it),
        },
        lanes: Lane::all(scenario.nodes, scenario.tasks)
            .map(|it| OfLane { id: it.to_string(), meaning: it.meaning() })
            .collect(),
        run: of_run(it, &it.run),
        no_return: of_no_return(it),
        twin: it.twin.as_ref().map(|twin| OfTwin {
            left_out: twin.left_out as u64,
            lost: twin.lost.iter().map(|it| *it as u64).collect(),
            run: of_run(it, &twin.run),
        }),
        difference: it.twin.as_ref().map(|twin| of_difference(it, twin)),
    };
    let mut text = serde_json::to_string_pretty(&document).expect("strings and numbers can always be written");
    text.push('\n');
    text
}

fn of_run(it: &Explained<'_>, run: &Recording) -> OfRun {
    let deviations = run.deviations.iter().zip(&run.made);
    let steps = run.steps.iter().enumerate().map(|(step, taken)| OfStep {
        step: step as u64,
        time: taken.time,
        action: taken.action.to_string(),
        actor: actor(taken.action),
        lane: Lane::of(taken.action).map(|it| it.to_string()),
        class: class(taken.action.class()),
        sentence: citation(taken.action.rule()).sentence,
        event: taken.event.map(|it| it.to_string()),
        changes: changes(run.before(step), &taken.world)
            .into_iter()
            .map(|Change { scope, task: _, name, was, is }| OfChange { scope: scope_name(scope), name, was, is })
            .collect(),
        broken: run
            .report
            .violations()
            .filter(|(_, it)| it.step as usize == step)
            .map(|(index, _)| INVARIANTS[index].id)
            .collect(),
    });
    OfRun {
        deviations: deviations
            .map(|(it, &before)| OfDeviation { text: it.to_string(), before: before as u64 })
            .collect(),
        token: token(it, run).to_string(),
        ended: match run.report.ended {
            Ended::AtRest => "at rest",
            Ended::Stopped => "stopped",
            Ended::Undecided => "undecided",
        },
        seconds: run.report.time,
        start: facts(&run.start)
            .into_iter()
            .filter(|it| it.scope != Scope::Hidden && !it.value.is_empty())
            .map(|it| OfFact { scope: scope_name(it.scope), name: it.name, value: it.value })
            .collect(),
        steps: steps.collect(),
    }
}

fn of_no_return(it: &Explained<'_>) -> OfNoReturn {
    let NoReturn { open, closed, worlds, stopped, way, rescue, .. } = &it.no_return;
    let step = it.no_return.at_the_latest().filter(|it_| *it_ <= it.violation.step as usize);
    OfNoReturn {
        exact: it.no_return.step().is_some() || it.no_return.was_never_open(),
        step: step.map(|it| it as u64),
        action: step.map(|step| it.run.steps[step].action.to_string()),
        never_open: it.no_return.was_never_open(),
        open: open.map(|it| it as u64),
        closed: *closed as u64,
        worlds: *worlds as u64,
        stopped: stopped.map(|it| match it {
            Stopped::Cap => "cap",
            Stopped::Interrupted => "interrupted",
        }),
        way: way.iter().map(ToString::to_string).collect(),
        rescue: rescue.as_ref().map(|Rescue { steps, instead }| OfRescue {
            steps: steps.iter().map(ToString::to_string).collect(),
            instead: *instead,
        }),
    }
}

fn of_difference(it: &Explained<'_>, twin: &Twin) -> OfDifference {
    let (run, other) = twin.worlds(&it.run);
    let facts = changes(other, run).into_iter();
    OfDifference {
        alike: twin.difference.alike as u64,
        run: twin.difference.run.map(|it| it as u64),
        twin: twin.difference.twin.map(|it| it as u64),
        late: twin.difference.late.map(|it| (it.0 as u64, it.1 as u64)),
        facts: facts
            .map(|Change { scope, task: _, name, was, is }| OfDifferent {
                scope: scope_name(scope),
                name,
                run: is,
                twin: was,
            })
            .collect(),
    }
}

const fn scope_name(it: Scope) -> &'static str {
    match it {
        Scope::Api => "api",
        Scope::Slot => "slot",
        Scope::Process => "process",
        Scope::Goroutine => "goroutine",
        Scope::View => "view",
        Scope::Hidden => "hidden",
    }
}

const fn class(it: Class) -> &'static str {
    match it {
        Class::Step => "step",
        Class::Clock => "clock",
        Class::Recovery => "recovery",
        Class::Operator => "operator",
        Class::Fault => "fault",
    }
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    version: &'static str,
    scenario: InScenario,
    design: About,
    invariant: AboutInvariant,
    verdict: Verdict,
    lanes: Vec<OfLane>,
    run: OfRun,
    no_return: OfNoReturn,
    twin: Option<OfTwin>,
    difference: Option<OfDifference>,
}

#[derive(Serialize)]
struct OfLane {
    id: String,
    meaning: &'static str,
}

#[derive(Serialize)]
struct InScenario {
    name: &'static str,
    sentence: &'static str,
    nodes: u8,
    tasks: u8,
    slots: u8,
}

#[derive(Serialize)]
struct About {
    name: &'static str,
    sentence: &'static str,
}

#[derive(Serialize)]
struct AboutInvariant {
    id: &'static str,
    sentence: &'static str,
    source: &'static str,
    costs: Option<&'static str>,
}

#[derive(Serialize)]
struct Verdict {
    task: String,
    price: u8,
    step: u32,
    time: u32,
    also: Vec<&'static str>,
}

#[derive(Serialize)]
struct OfRun {
    deviations: Vec<OfDeviation>,
    token: String,
    ended: &'static str,
    seconds: u32,
    start: Vec<OfFact>,
    steps: Vec<OfStep>,
}

#[derive(Serialize)]
struct OfDeviation {
    text: String,
    before: u64,
}

#[derive(Serialize)]
struct OfFact {
    scope: &'static str,
    name: String,
    value: String,
}

#[derive(Serialize)]
struct OfStep {
    step: u64,
    time: u32,
    action: String,
    actor: String,
    lane: Option<String>,
    class: &'static str,
    sentence: String,
    event: Option<String>,
    changes: Vec<OfChange>,
    broken: Vec<&'static str>,
}

#[derive(Serialize)]
struct OfChange {
    scope: &'static str,
    name: String,
    was: String,
    is: String,
}

#[derive(Serialize)]
struct OfNoReturn {
    exact: bool,
    step: Option<u64>,
    action: Option<String>,
    never_open: bool,
    open: Option<u64>,
    closed: u64,
    worlds: u64,
    stopped: Option<&'static str>,
    way: Vec<String>,
    rescue: Option<OfRescue>,
}

#[derive(Serialize)]
struct OfRescue {
    steps: Vec<String>,
    instead: bool,
}

#[derive(Serialize)]
struct OfTwin {
    left_out: u64,
    lost: Vec<u64>,
    run: OfRun,
}

#[derive(Serialize)]
struct OfDifference {
    alike: u64,
    run: Option<u64>,
    twin: Option<u64>,
    late: Option<(u64, u64)>,
    facts: Vec<OfDifferent>,
}

#[derive(Serialize)]
struct OfDifferent {
    scope: &'static str,
    name: String,
    run: String,
    twin: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_invariant_says_what_it_costs() {
        for it in INVARIANTS {
            let costs = costs(it.id).unwrap_or_else(|| panic!("say in `costs` what it costs to break {}", it.id));
            assert!(costs.ends_with('.') && costs.len() < 160, "{}: {costs}", it.id);
        }
        assert_eq!(costs("no such invariant"), None);
    }
}
