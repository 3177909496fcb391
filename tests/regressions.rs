//! What was found stays found: each file of `regressions/` is one way in which upstream breaks an invariant.
//!
//! A file tells its schedule twice: as deviations from the normal schedule and as a list of actions, after which the
//! normal schedule goes on. Both must break the invariant at the price that is recorded. Then every schedule within one
//! deviation is tried, so that a fix which only moves a race by one step is seen.
//!
//! When the model has changed on purpose, `cargo test --test regressions -- --ignored` writes all files anew, and the
//! commit says what the model now says that it did not say before.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use vgdp_sim::designs::{self, Upstream};
use vgdp_sim::event::Event;
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::design::Design;
use vgdp_sim::model::place::TaskId;
use vgdp_sim::model::rules::{Action, Class, Enabled};
use vgdp_sim::report::Schedule;
use vgdp_sim::run::{Report, observe, run};
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::{Departure, Deviating, Deviation, Fired, Point, Replay, Scheduler, Track, Until};
use vgdp_sim::search::{Hunt, record, sweep};

/// A way to break an invariant, as it is written down.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Regression {
    scenario: String,
    nodes: u8,
    tasks: u8,
    design: String,
    invariant: String,
    price: u8,
    /// All invariants that are broken in the end.
    breaks: Vec<String>,
    /// What an outsider sees until the invariant is broken.
    story: Vec<String>,
    /// Where the schedule departs from the normal one.
    deviations: Vec<String>,
    /// The same schedule as actions; the normal schedule goes on from there.
    schedule: Vec<String>,
}

/// The same, understood.
struct Case {
    scenario: Scenario,
    design: &'static dyn Design,
    invariant: usize,
    price: u8,
    actions: Vec<Action>,
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions")
}

/// The files that there are.
fn files() -> Vec<PathBuf> {
    let files = fs::read_dir(directory()).expect("there are regressions");
    let paths = files.map(|it| it.expect("the directory can be read").path());
    paths.filter(|it| it.extension().is_some_and(|it| it == "json")).collect()
}

/// What is in them, by their names.
fn all() -> BTreeMap<String, Regression> {
    let read = |path: PathBuf| {
        let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap_or_else(|it| panic!("{name}: {it}"));
        let it = serde_json::from_str(&text).unwrap_or_else(|it| panic!("{name}: {it}"));
        (name, it)
    };
    files().into_iter().map(read).collect()
}

impl Regression {
    fn case(&self) -> Case {
        let read: Schedule = written(self).parse().unwrap_or_else(|it| panic!("{it}"));
        Case {
            scenario: read.scenario,
            design: designs::named(read.design).expect("it is built in"),
            invariant: read.invariant.expect("it is named"),
            price: self.price,
            actions: read.actions,
        }
    }
}

impl Case {
    /// At which price a schedule breaks the invariant, if it does.
    fn price_of(&self, scheduler: &mut dyn Scheduler) -> Option<u8> {
        run(&self.scenario, self.design, scheduler).broken[self.invariant].map(|it| it.price)
    }
}

/// Everything that may be done differently at a point, but for what outsiders cannot do in this scenario.
fn departures(tasks: u8, point: Point, enabled: &[Action]) -> impl Iterator<Item = Deviation> {
    let others = enabled.iter().copied().filter(move |it| Some(*it) != point.next);
    let does = others.map(|it| match it.class() {
        Class::Operator | Class::Fault => Departure::Does(it),
        Class::Step | Class::Clock | Class::Recovery => Departure::First(it),
    });
    let may_wait = point.next.is_some_and(|it| it.class() == Class::Step);
    let events = (0..tasks).map(TaskId).flat_map(Event::all).map(Until::Event);
    let waits = events.chain([Until::Last, Until::LastInInstant]).filter(move |_| may_wait).map(Departure::Waits);
    does.chain(waits).map(move |departure| Deviation { point, departure })
}

/// Goes the normal course but for deviations that are told in words, and notes what could have been done instead.
struct Reader<'a> {
    words: &'a [String],
    tasks: u8,
    track: Track,
    /// The words so far, understood.
    read: Vec<Deviation>,
    /// What else may be done at each point, and after how many deviations that is.
    others: Vec<(usize, Deviation)>,
}

impl Scheduler for Reader<'_> {
    fn pick(&mut self, enabled: &Enabled, last: Fired) -> Option<usize> {
        self.track.passes(last);
        loop {
            let (next, point) = self.track.comes_to(enabled);
            let at = self.read.len();
            self.others.extend(departures(self.tasks, point, enabled).map(|it| (at, it)));
            let Some(wanted) = self.words.get(at) else { return next };
            let Some(deviation) = departures(self.tasks, point, enabled).find(|it| it.to_string() == *wanted) else {
                return next;
            };
            self.read.push(deviation);
            match deviation.departure {
                Departure::Does(action) | Departure::First(action) => {
                    return enabled.iter().position(|it| *it == action);
                }
                Departure::Waits(until) => {
                    self.track.waits(point.next.expect("somebody waits"), until);
                }
            }
        }
    }
}

/// The invariants that a run broke.
fn ids(report: &Report) -> Vec<String> {
    report.violations().map(|(index, _)| INVARIANTS[index].id.to_owned()).collect()
}

/// The deviations of a file, and all that may be done besides.
fn read(case: &Case, words: &[String]) -> (Vec<Deviation>, Vec<(usize, Deviation)>) {
    let tasks = case.scenario.tasks;
    let mut reader = Reader { words, tasks, track: Track::default(), read: Vec::new(), others: Vec::new() };
    run(&case.scenario, case.design, &mut reader);
    (reader.read, reader.others)
}

/// Each schedule breaks its invariant at its price, told either way, and all else that it broke.
#[test]
fn what_was_found_is_found_again() {
    let all = all();
    assert!(all.len() >= 20, "only {} files", all.len());
    let mut lost = Vec::new();
    for (name, it) in &all {
        let case = it.case();
        let mut judge = |how: &str, report: &Report| {
            let price = report.broken[case.invariant].map(|it| it.price);
            if price != Some(case.price) || ids(report) != it.breaks {
                lost.push(format!("{name}: its {how} break {:?}, and this one at price {price:?}", ids(report)));
            }
        };
        let mut replay = Replay::then_normal(&case.actions);
        judge("actions", &run(&case.scenario, case.design, &mut replay));
        let (deviations, _) = read(&case, &it.deviations);
        judge("deviations", &run(&case.scenario, case.design, &mut Deviating::new(&deviations)));
        if let Some(index) = replay.diverged() {
            lost.push(format!("{name}: {} is not enabled in its turn", case.actions[index]));
        }
        if deviations.len() < it.deviations.len() {
            lost.push(format!("{name}: this place never comes: {}", it.deviations[deviations.len()]));
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
}

/// Every schedule within one deviation of a recorded one runs without panic, and some of them break the invariant too:
/// a race is no single schedule.
#[test]
fn what_was_found_has_neighbours() {
    let mut alone = Vec::new();
    for (name, it) in &all() {
        let case = it.case();
        let (deviations, others) = read(&case, &it.deviations);
        let more = others.iter().map(|&(at, it)| [&deviations[..at], &[it], &deviations[at..]].concat());
        let less = (0..deviations.len()).map(|at| [&deviations[..at], &deviations[at + 1..]].concat());
        let broken = more.chain(less).filter(|it| case.price_of(&mut Deviating::lenient(it)).is_some()).count();
        if broken == 0 {
            alone.push(name.clone());
        }
    }
    assert!(alone.is_empty(), "{alone:?}");
}

/// No deviation of a file can be left out.
#[test]
fn what_was_found_is_told_without_more_than_it_needs() {
    for (name, it) in &all() {
        let case = it.case();
        let (deviations, _) = read(&case, &it.deviations);
        for at in 0..deviations.len() {
            let less = [&deviations[..at], &deviations[at + 1..]].concat();
            let price = case.price_of(&mut Deviating::lenient(&less));
            assert!(price.is_none_or(|it| it > case.price), "{name}: not needed: {}", it.deviations[at]);
        }
    }
}

/// A file is what a person would have written: it reads and writes the same.
#[test]
fn a_regression_reads_and_writes_the_same() {
    for (name, it) in all() {
        let text = fs::read_to_string(directory().join(format!("{name}.json"))).expect("it has just been read");
        assert_eq!(written(&it), text, "{name}");
    }
}

fn written(it: &Regression) -> String {
    serde_json::to_string_pretty(it).expect("it has only text and numbers") + "\n"
}

/// The most deviations of a file: what takes more is hardly the shortest way to tell it.
const DEVIATIONS: usize = 4;
/// The most files for an invariant that is broken by the same deeds of operators and faults.
const FILES: usize = 2;

/// One way to break an invariant: the cheapest comes first, then the shortest, then that of the first scenario.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    price: u8,
    length: usize,
    scenario: usize,
    words: Vec<String>,
    breaks: Vec<String>,
    story: Vec<String>,
    schedule: Vec<String>,
}

/// What tells ways apart: the invariant, who from outside did what, and what is seen of the task.
type Sort = (usize, Vec<&'static str>, Vec<Option<usize>>);

/// Looks for all ways to break an invariant, by sweeps and by chance, and writes the simplest ones down.
#[test]
#[ignore = "writes the files"]
fn write_what_is_found() {
    let scenarios: Vec<Scenario> = Scenario::built_in().into_iter().filter(|it| it.name != "anything").collect();
    let mut found: BTreeMap<Sort, Way> = BTreeMap::new();
    for (index, scenario) in scenarios.iter().enumerate() {
        let swept = sweep(scenario, &Upstream, 2, 3_000_000).broken.into_iter();
        let hunted = Hunt { samples: 40, ..Hunt::default() }.run(scenario, &Upstream, 1, 20_000).bugs.into_iter();
        let swept = swept.map(|it| (it.invariant, it.deviations));
        for (invariant, deviations) in swept.chain(hunted.map(|it| (it.invariant, it.deviations))) {
            if let Some((sort, way)) = way(scenario, index, invariant, &deviations) {
                let way = found.remove(&sort).map_or(way.clone(), |known| known.min(way));
                found.insert(sort, way);
            }
        }
    }
    fs::create_dir_all(directory()).expect("a directory can be made");
    for file in files() {
        fs::remove_file(file).expect("a file can be removed");
    }
    let mut ways: Vec<_> = found.into_iter().collect();
    ways.sort_by(|a, b| (a.0.0, &a.1).cmp(&(b.0.0, &b.1)));
    let (mut kept, mut names, mut schedules) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
    for ((invariant, deeds, _), Way { price, scenario, words, breaks, story, schedule, .. }) in ways {
        if !schedules.insert((scenario, words.clone())) {
            continue; // the file of another invariant names this one too
        }
        let alike = kept.entry((invariant, deeds)).or_insert(0);
        *alike += 1;
        if *alike <= FILES {
            let (scenario, id) = (&scenarios[scenario], INVARIANTS[invariant].id);
            let name = format!("{id}-{}", scenario.name);
            let nth = names.entry(name.clone()).or_insert(0);
            *nth += 1;
            let suffix = if *nth == 1 { String::new() } else { format!("-{nth}") };
            let regression = Regression {
                scenario: scenario.name.to_owned(),
                nodes: scenario.nodes,
                tasks: scenario.tasks,
                design: Upstream.name().to_owned(),
                invariant: id.to_owned(),
                price,
                breaks,
                story,
                deviations: words,
                schedule,
            };
            fs::write(directory().join(format!("{name}{suffix}.json")), written(&regression))
                .expect("a file can be written");
        }
    }
}

/// A schedule as it is written down; nothing if a place of it never comes, or if it is long.
fn way(scenario: &Scenario, index: usize, invariant: usize, deviations: &[Deviation]) -> Option<(Sort, Way)> {
    let (mut events, mut deeds) = (Vec::new(), Vec::new());
    let mut deviating = Deviating::new(deviations);
    let report = observe(scenario, &Upstream, &mut deviating, &mut |it| {
        events.extend(Event::between(it.was, it.is).map(|event| (it.step, event)));
        if matches!(it.action.class(), Class::Operator | Class::Fault) {
            deeds.push(it.action.rule().name());
        }
    });
    let is_whole = deviating.missed().is_none() && deviations.len() <= DEVIATIONS;
    let broken = report.broken[invariant].filter(|_| is_whole)?;
    let until = events.into_iter().take_while(|it| it.0 <= broken.step).map(|it| it.1);
    let events: Vec<Event> = until.collect();
    let of_task = events.iter().filter(|it| it.task() == broken.task);
    let seen = of_task.map(|event| Event::all(event.task()).position(|it| it == *event)).collect();
    deeds.sort_unstable();
    let way = Way {
        price: broken.price,
        length: deviations.len(),
        scenario: index,
        words: deviations.iter().map(ToString::to_string).collect(),
        breaks: ids(&report),
        story: events.iter().map(ToString::to_string).collect(),
        schedule: schedule(scenario, deviations).iter().map(ToString::to_string).collect(),
    };
    Some(((invariant, deeds, seen), way))
}

/// The fewest actions from the start after which the normal schedule breaks the same at the same price.
fn schedule(scenario: &Scenario, deviations: &[Deviation]) -> Vec<Action> {
    let (whole, actions) = record(scenario, &Upstream, &mut Deviating::new(deviations));
    let breaks = |count: &usize| {
        let report = run(scenario, &Upstream, &mut Replay::then_normal(&actions[..*count]));
        report.broken.map(|it| it.map(|it| it.price)) == whole.broken.map(|it| it.map(|it| it.price))
    };
    let count = (0..=actions.len()).find(breaks).expect("all of them break it");
    actions[..count].to_vec()
}
