//! What is explained is so: the point of no return against brute force, the twin by running it, the text by what is in
//! the run.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::AtomicBool;

use vgdp_sim::designs::{BUILT_IN, Upstream};
use vgdp_sim::event::Event;
use vgdp_sim::invariants::{COUNT, INVARIANTS, Kind};
use vgdp_sim::model::api_server::DataUpload;
use vgdp_sim::model::design::Design;
use vgdp_sim::model::place::TASKS;
use vgdp_sim::model::rules::{Action, Class, Enabled, Setup};
use vgdp_sim::model::time::{Obligation, Span, Times};
use vgdp_sim::model::world::World;
use vgdp_sim::report::explained;
use vgdp_sim::report::{Style, Told};
use vgdp_sim::run::{Ended, run};
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::{Among, Departure, Deviating, Deviation, Fired, Replay, Scheduler, Track, Uniform, Until};
use vgdp_sim::search::{Broken, Cap, Explained, Recording, Stopped, Unexplained, explain, sweep};

fn index(id: &str) -> usize {
    INVARIANTS.iter().position(|it| it.id == id).expect("an invariant of that name")
}

/// The cheapest violation of an invariant in upstream, within two deviations.
fn found(scenario: &Scenario, id: &str) -> Broken {
    let all = sweep(scenario, &Upstream, 2, 1_000_000).broken;
    all.into_iter().find(|it| INVARIANTS[it.invariant].id == id).expect("a known race")
}

fn scenario(name: &str) -> Scenario {
    Scenario::named(name).expect("it is built in")
}

fn explained_by(name: &str, id: &str, cap: Cap<'_>) -> Explained<'static> {
    let scenario = scenario(name);
    let it = found(&scenario, id);
    explain(&scenario, &Upstream, &it.deviations, it.invariant, cap).expect("it is broken")
}

fn names(actions: &[Action]) -> Vec<String> {
    actions.iter().map(ToString::to_string).collect()
}

fn closing(it: &Explained<'_>) -> String {
    it.run.steps[it.no_return.step().expect("it is exact")].action.to_string()
}

fn rescue(it: &Explained<'_>) -> Vec<String> {
    names(&it.no_return.rescue.as_ref().expect("somebody could have helped").steps)
}

/// Upstream cancels by an edge. Once the owner has marked the upload as canceling, a mover that still polls never finds
/// it InProgress: nobody can stop it any more but by force, and no watcher hears of that.
#[test]
fn the_edge_of_a_cancel_is_lost_where_the_owner_marks_it() {
    let it = explained_by("forced-cancel-by-owner", "slot-leak", Cap::default());
    assert_eq!(closing(&it), "worker::marks_canceling(n0, a)");
    assert_eq!(rescue(&it), ["data_mover::polls(a)"]);
    assert_eq!(it.violation.price, 0);
}

/// The pod is gone, but the owner looks at a cache that still has it, and starts a watcher that will never hear of it.
#[test]
fn a_deleted_pod_leaks_its_slot_where_the_owner_looks_at_a_stale_cache() {
    let it = explained_by("pod-deleted", "slot-leak", Cap::default());
    assert_eq!(closing(&it), "worker::reads_pod(n0, a)");
    assert_eq!(rescue(&it), ["pod_watch::receives(n0)"]);
    let twin = it.twin.as_ref().expect("without the deletion all is well");
    assert_eq!((twin.left_out, twin.run.deviations.len(), twin.lost.len()), (0, 0, 0));
    let shown = twin.difference.run.expect("a pod that is gone can be seen");
    assert_eq!(it.run.steps[shown].action.to_string(), "user::deletes_pod(a)");
}

/// Whoever polls first has a data path when the cancel comes. Until the handler calls it there is a way.
#[test]
fn a_mover_crashes_at_the_very_step_that_closes_the_way() {
    let it = explained_by("cancel", "crash", Cap::default());
    assert_eq!(closing(&it), "data_mover::hears(a)");
    assert_eq!(it.no_return.step(), Some(it.violation.step as usize));
    assert_eq!(rescue(&it), ["data_mover::polls(a)"]);
}

/// A world beside what an invariant has to count, as brute force sees it.
type Seen = (Vec<u8>, [u16; TASKS]);

/// Everything that can follow some worlds of a run, without hashes, caps or an order of its own.
struct Brute<'a> {
    setup: Setup<'a>,
    invariant: usize,
    worlds: Vec<(World, [u16; TASKS])>,
    known: HashMap<Seen, usize>,
    from: Vec<Vec<usize>>,
    well: Vec<bool>,
}

impl<'a> Brute<'a> {
    fn new(scenario: &Scenario, design: &'a dyn Design, invariant: usize) -> Brute<'a> {
        let setup = scenario.setup(design);
        Brute { setup, invariant, worlds: vec![], known: HashMap::new(), from: vec![], well: vec![] }
    }

    fn number(&mut self, world: &World, counted: [u16; TASKS]) -> usize {
        let next = self.worlds.len();
        let number = *self.known.entry((world.bytes().concat(), counted)).or_insert(next);
        if number == next {
            self.worlds.push((*world, counted));
            self.from.push(vec![]);
            self.well.push(false);
        }
        number
    }

    /// What comes of an action; nothing where that breaks the invariant.
    fn after(&self, (was, mut counted): (World, [u16; TASKS]), action: Action) -> Option<(World, [u16; TASKS])> {
        let mut is = was;
        let seconds = if action.class() == Class::Clock { is.seconds_ahead(&self.setup) } else { 0 };
        assert!(is.fire(&self.setup, action));
        if seconds == 0 && is.task_ids().all(|t| was.tasks[t].looks_like(&is.tasks[t])) {
            return Some((is, counted));
        }
        for t in is.task_ids() {
            match INVARIANTS[self.invariant].broken {
                Kind::Step(broken) if broken(&was, action, &is, t) => return None,
                Kind::Within(limit, broken) => {
                    let seconds = if is.is_passing() { 0 } else { seconds };
                    let count = &mut counted[t.0 as usize];
                    *count = if broken(&is, &self.setup, t) { count.saturating_add(seconds).min(limit + 1) } else { 0 };
                    if *count > limit {
                        return None;
                    }
                }
                Kind::Step(_) | Kind::AtRest(_) => {}
            }
        }
        Some((is, counted))
    }

    fn is_good_rest(&self, world: &World) -> bool {
        world.task_ids().all(|t| match INVARIANTS[self.invariant].broken {
            Kind::AtRest(broken) | Kind::Within(_, broken) => !broken(world, &self.setup, t),
            Kind::Step(_) => true,
        })
    }

    /// Before which of the steps from `first` to the one that breaks the invariant the run could still have ended well.
    fn open(&mut self, first: usize, run: &Recording) -> Vec<usize> {
        let last = run.report.broken[self.invariant].expect("it is broken").step as usize;
        let mut at = (run.start, [0; TASKS]);
        let mut numbers = vec![];
        for (step, taken) in run.steps[..=last].iter().enumerate() {
            if step >= first {
                numbers.push(self.number(&at.0, at.1));
            }
            at = self.after(at, taken.action).unwrap_or(at); // only the last one breaks it
        }
        let mut next = 0;
        let mut enabled = Enabled::default();
        while next < self.worlds.len() {
            let at = self.worlds[next];
            let mut world = at.0;
            world.enabled(&self.setup, &mut enabled);
            if enabled.is_at_rest() && !world.is_passing() {
                self.well[next] = self.is_good_rest(&world);
            } else {
                for &action in enabled.iter().filter(|it| Among::Inside.includes(**it)) {
                    if let Some((world, counted)) = self.after(at, action) {
                        let to = self.number(&world, counted);
                        self.from[to].push(next);
                    }
                }
            }
            next += 1;
        }
        let mut open: Vec<usize> = (0..self.worlds.len()).filter(|it| self.well[*it]).collect();
        while let Some(it) = open.pop() {
            for before in std::mem::take(&mut self.from[it]) {
                if !std::mem::replace(&mut self.well[before], true) {
                    open.push(before);
                }
            }
        }
        (first..=last).filter(|it| self.well[numbers[*it - first]]).collect()
    }
}

/// Violations of one node after which few worlds can follow, as many as brute force has room for.
fn small() -> Vec<(Scenario, Explained<'static>)> {
    let mut all = Vec::new();
    for scenario in ["cancel", "cr-deleted", "pod-deleted", "kill-fails"].map(|it| scenario(it).scope(1, 1)) {
        for it in sweep(&scenario, &Upstream, 2, 1_000_000).broken {
            let got = explain(&scenario, &Upstream, &it.deviations, it.invariant, Cap::worlds(20_000)).unwrap();
            if got.no_return.stopped.is_none() {
                all.push((scenario.clone(), got));
            }
        }
    }
    all
}

#[test]
fn the_point_of_no_return_is_where_brute_force_says() {
    let mut kinds = BTreeSet::new();
    let mut compared = 0;
    for (scenario, it) in small() {
        // Everything after the step that left no way back is lost. That before it there is a way is shown by taking it.
        let step = it.no_return.step().expect("upstream has a way at the start");
        let id = INVARIANTS[it.invariant].id;
        let lost = Brute::new(&scenario, &Upstream, it.invariant).open(step + 1, &it.run);
        assert!(lost.is_empty(), "{id} in {}: {lost:?}", scenario.name);
        kinds.insert(match INVARIANTS[it.invariant].broken {
            Kind::Step(_) => "step",
            Kind::Within(..) => "within",
            Kind::AtRest(_) => "at rest",
        });
        compared += 1;
    }
    assert_eq!(kinds.len(), 3, "only {kinds:?} were compared");
    assert!(compared >= 15, "only {compared} were compared");
}

/// A way is no claim: it is taken, and ends well.
#[test]
fn the_way_that_was_left_ends_well() {
    for (scenario, it) in small() {
        let open = it.no_return.open.expect("upstream has a way at the start");
        let before = it.run.steps[it.no_return.first..open].iter().map(|it| it.action);
        let actions: Vec<Action> = before.chain(it.no_return.way.iter().copied()).collect();
        let report = run(&scenario, &Upstream, &mut Replay::strict(&actions));
        assert_eq!(report.ended, Ended::AtRest, "{}", scenario.name);
        assert_eq!(report.broken[it.invariant], None);
        assert_eq!(report.steps as usize, it.no_return.first + actions.len());
    }
}

/// Takes some actions, and then chooses by chance among what does not come from outside.
struct ThenByChance<'a>(Replay<'a>, Uniform);

impl Scheduler for ThenByChance<'_> {
    fn pick(&mut self, enabled: &Enabled, last: Fired) -> Option<usize> {
        let inside = |it: &usize| Among::Inside.includes(enabled[*it]);
        let given = self.0.pick(enabled, last);
        if given.is_some() || self.0.diverged().is_some() || enabled.is_at_rest() {
            return given;
        }
        std::iter::repeat_with(|| self.1.pick(enabled, last)).flatten().find(inside)
    }
}

#[test]
fn a_rescue_comes_before_the_step_that_then_does_no_harm() {
    let mut taken = 0;
    for (scenario, it) in small() {
        let Some(rescue) = it.no_return.rescue.as_ref().filter(|it| !it.instead) else { continue };
        let step = it.no_return.step().expect("a rescue is from an exact step");
        let before = it.run.steps[it.no_return.first..step].iter().map(|it| it.action);
        let closing = it.run.steps[step].action;
        let actions: Vec<Action> = before.chain(rescue.steps.iter().copied()).chain([closing]).collect();
        // Whatever happens by chance then, but for operators and faults: some of it ends well.
        let ends_well = |index| {
            let mut scheduler = ThenByChance(Replay::strict(&actions), Uniform::new(1, index));
            run(&scenario, &Upstream, &mut scheduler).broken[it.invariant].is_none()
        };
        assert!((0..1_000).any(ends_well), "{} in {}", INVARIANTS[it.invariant].id, scenario.name);
        taken += 1;
    }
    assert!(taken >= 10, "only {taken} rescues");
}

#[test]
fn what_is_not_exhausted_is_told_as_at_the_latest() {
    let exact = explained_by("cancel", "slot-leak", Cap::default()).no_return;
    let step = exact.step().expect("it is exact");
    let bounded = explained_by("cancel", "slot-leak", Cap::worlds(20_000));
    let it = &bounded.no_return;
    assert_eq!((it.step(), it.stopped, it.was_never_open()), (None, Some(Stopped::Cap), false));
    assert!(it.open.expect("an earlier step has a way, as a glance shows") <= step && step < it.closed);
    let text = explained::text(&bounded, 80);
    assert!(text.contains("at the latest") && text.contains("--max-worlds"), "{text}");
}

#[test]
fn an_interrupted_search_says_what_it_knows() {
    let stop = AtomicBool::new(true);
    let it = explained_by("cancel", "slot-leak", Cap { worlds: 1_000_000, stop: Some(&stop) });
    assert_eq!((it.no_return.step(), it.no_return.stopped), (None, Some(Stopped::Interrupted)));
    assert!(it.twin.is_some());
    let text = explained::text(&it, 100);
    assert!(text.contains("interrupted") && text.contains("holds: all is at rest"), "{text}");
}

#[test]
fn a_twin_passes_and_differs_by_one_deviation() {
    let mut twins = 0;
    for scenario in ["cancel", "pod-deleted", "cr-deleted"].map(scenario) {
        for it in sweep(&scenario, &Upstream, 2, 1_000_000).broken {
            let got = explain(&scenario, &Upstream, &it.deviations, it.invariant, Cap::worlds(1_000)).unwrap();
            let twin = got.twin.as_ref().expect("what a sweep finds is minimal");
            let mut rest = it.deviations.clone();
            rest.remove(twin.left_out);
            assert_eq!((&twin.run.deviations, twin.lost.len()), (&rest, 0));
            let report = run(&scenario, &Upstream, &mut Deviating::new(&rest));
            assert_eq!((report.broken[it.invariant], report.ended), (None, Ended::AtRest));
            // Up to there the two are one run.
            let parted = got.run.made[twin.left_out];
            assert!(got.run.steps[..parted].iter().zip(&twin.run.steps).all(|(it, twin)| it.world == twin.world));
            let first = twin.difference.run.or(twin.difference.late.map(|it| it.0));
            assert!(first.is_none_or(|it| it >= parted));
            twins += 1;
        }
    }
    assert!(twins >= 20, "only {twins} twins");
}

/// Notes where the normal course is, once something has visibly changed.
struct Places {
    after: Event,
    track: Track,
    found: Option<Deviation>,
}

impl Scheduler for Places {
    fn pick(&mut self, enabled: &Enabled, last: Fired) -> Option<usize> {
        self.track.passes(last);
        let (next, point) = self.track.comes_to(enabled);
        if point.after.is_some_and(|it| it.0 == self.after) && point.next.is_some_and(|it| it.class() == Class::Step) {
            self.found.get_or_insert(Deviation { point, departure: Departure::Waits(Until::LastInInstant) });
        }
        next
    }
}

/// Goes as some deviations say, then watches.
struct Then<'a>(Deviating<'a>, Places);

impl Scheduler for Then<'_> {
    fn pick(&mut self, enabled: &Enabled, last: Fired) -> Option<usize> {
        self.1.pick(enabled, last);
        self.0.pick(enabled, last)
    }
}

#[test]
fn a_deviation_that_loses_its_place_is_left_out_with_the_other() {
    let scenario = scenario("pod-deleted");
    let it = found(&scenario, "slot-leak");
    // Four hours later the server cancels. What waits then waits in vain, and in the twin nobody ever cancels.
    let after = Event::Cancelled(vgdp_sim::model::place::TaskId(0));
    let places = Places { after, track: Track::default(), found: None };
    let mut watched = Then(Deviating::new(&it.deviations), places);
    run(&scenario, &Upstream, &mut watched);
    let idle = watched.1.found.expect("the server cancels what is stuck");
    let deviations = [it.deviations.clone(), vec![idle]].concat();
    let got = explain(&scenario, &Upstream, &deviations, it.invariant, Cap::worlds(1_000)).unwrap();
    let twin = got.twin.as_ref().expect("the deletion is to blame");
    assert_eq!((twin.left_out, twin.lost.as_slice()), (0, [1].as_slice()));
    assert!(twin.run.deviations.is_empty());
    let text = explained::text(&got, 1_000);
    assert!(text.contains("Without deviation 1, and without deviation 2, for which there is then no place"), "{text}");
}

/// No upload may start.
struct NeverStarts;

impl Design for NeverStarts {
    fn name(&self) -> &'static str {
        "never-starts"
    }

    fn may_start(&self, _: &DataUpload) -> bool {
        false
    }
}

#[test]
fn where_the_normal_run_itself_fails_there_is_no_twin_and_no_way_ever() {
    // Its pod is running soon, so that it is prepared, and it waits for ever although there is a slot.
    let exactly = |seconds| Span { earliest: seconds, latest: Some(seconds) };
    let times = Times::default().with(Obligation::Expose, exactly(1)).with(Obligation::ContainerStart, exactly(1));
    let scenario = Scenario { times, ..scenario("normal").scope(1, 1) };
    let invariant = index("slow-start");
    let it = explain(&scenario, &NeverStarts, &[], invariant, Cap::default()).expect("it never starts");
    assert!(it.twin.is_none() && it.run.deviations.is_empty());
    assert!(it.no_return.was_never_open(), "{:?}", it.no_return);
    let text = explained::text(&it, 1_000);
    assert!(text.contains("There is none: the normal run itself fails."), "{text}");
    assert!(text.contains("There never was one."), "{text}");
    assert_eq!(explained::asides(&it)[0].step, it.no_return.first);
}

#[test]
fn where_nothing_is_broken_nothing_is_explained() {
    let normal = scenario("normal");
    let holds = explain(&normal, &Upstream, &[], index("slot-leak"), Cap::default());
    assert_eq!(holds.map(|_| ()), Err(Unexplained::Holds));
    let it = found(&scenario("pod-deleted"), "slot-leak");
    let missed = explain(&normal, &Upstream, &it.deviations, it.invariant, Cap::default());
    assert_eq!(missed.map(|_| ()), Err(Unexplained::Missed(0)));
}

/// Everything that a text calls by the name of a rule.
fn named_in(text: &str) -> BTreeSet<String> {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut names = BTreeSet::new();
    for (at, _) in flat.match_indices("::") {
        let start = flat[..at].rfind(|it: char| !(it.is_ascii_lowercase() || it == '_')).map_or(0, |it| it + 1);
        let rest = &flat[at + 2..];
        let end = rest.find(|it: char| !(it.is_ascii_lowercase() || it == '_')).unwrap_or(rest.len());
        let places = rest[end..].strip_prefix('(').and_then(|it| it.split_once(')')).map(|it| format!("({})", it.0));
        names.insert(format!("{}::{}{}", &flat[start..at], &rest[..end], places.unwrap_or_default()));
    }
    names
}

/// Each violation that two deviations bring about, in some scenarios.
fn all_explained() -> Vec<Explained<'static>> {
    let mut all = Vec::new();
    for name in ["normal", "cancel", "pod-deleted", "kill-fails", "two-uploads-one-slot", "download-pod-deleted"] {
        let scenario = scenario(name);
        for it in sweep(&scenario, &Upstream, 2, 100_000).broken {
            all.push(explain(&scenario, &Upstream, &it.deviations, it.invariant, Cap::worlds(5_000)).unwrap());
        }
    }
    all
}

#[test]
fn a_story_fits_and_names_nothing_that_is_not_in_the_run() {
    let mut told = BTreeSet::new();
    for it in all_explained() {
        let rescue = it.no_return.rescue.iter().flat_map(|it| it.steps.iter().copied());
        let runs = [Some(&it.run), it.twin.as_ref().map(|it| &it.run)];
        let taken = runs.into_iter().flatten().flat_map(|it| it.steps.iter().map(|it| it.action));
        let there: BTreeSet<String> = taken.chain(rescue).map(|it| it.to_string()).collect();
        for width in [80, 120] {
            let text = explained::text(&it, width);
            let (story, command) = text.trim_end().rsplit_once('\n').expect("a command comes last");
            assert!(command.starts_with("  vgdp-sim replay vgdp1-"), "{command}");
            assert!(story.lines().all(|it| it.chars().count() <= width), "{story}");
            assert!(story.lines().count() <= 60, "who reads that in a minute?\n{story}");
            let strangers: Vec<String> = named_in(story).difference(&there).cloned().collect();
            assert!(strangers.is_empty(), "{strangers:?} are not in the run:\n{story}");
            assert!(!story.contains("  .") && !story.contains(".."), "{story}");
        }
        told.insert(INVARIANTS[it.invariant].id);
    }
    assert!(told.len() >= 12, "only {told:?} were told, of {COUNT}");
}

#[test]
fn the_same_is_explained_in_the_same_way() {
    let two = [(); 2].map(|()| explained_by("pod-deleted", "slot-leak", Cap::default()));
    let [one, other] = &two;
    assert_eq!(explained::text(one, 100), explained::text(other, 100));
    assert_eq!(explained::json(one), explained::json(other));
}

#[test]
fn the_timeline_says_where_no_way_back_is_left() {
    let it = explained_by("pod-deleted", "slot-leak", Cap::default());
    let told = Told::tell(&it.scenario, it.design, &it.run.deviations);
    let asides = explained::asides(&it);
    let text = told.story.annotated(&Style { all: true, ..Style::default() }, &asides);
    let (before, after) = text.split_once("slot-leak: the next step leaves no way back from it").expect("it is said");
    assert!(!before.contains("worker::reads_pod(n0, a)") && after.contains("worker::reads_pod(n0, a)"));
}

#[test]
fn the_json_says_all_that_a_page_needs() {
    let it = explained_by("pod-deleted", "slot-leak", Cap::default());
    let json: serde_json::Value = serde_json::from_str(&explained::json(&it)).expect("it is JSON");
    assert_eq!(json["schema"], explained::SCHEMA);
    assert_eq!(json["design"]["name"], "upstream");
    assert_eq!(json["run"]["steps"].as_array().unwrap().len(), it.run.steps.len());
    let before = json["run"]["deviations"][0]["before"].as_u64().unwrap() as usize;
    assert_eq!(json["run"]["steps"][before]["action"], "user::deletes_pod(a)");
    assert_eq!(json["no_return"]["action"], "worker::reads_pod(n0, a)");
    assert_eq!(json["no_return"]["exact"], true);
    assert_eq!(json["twin"]["run"]["deviations"].as_array().unwrap().len(), 0);
    assert_eq!(json["difference"]["run"], before);
    let broken = json["run"]["steps"][it.violation.step as usize]["broken"].as_array().unwrap();
    assert!(broken.contains(&"slot-leak".into()));
    // The facts at the start and all changes are the facts at the end.
    let mut facts: HashMap<&str, &str> = HashMap::new();
    for it in json["run"]["start"].as_array().unwrap() {
        facts.insert(it["name"].as_str().unwrap(), it["value"].as_str().unwrap());
    }
    for change in json["run"]["steps"].as_array().unwrap().iter().flat_map(|it| it["changes"].as_array().unwrap()) {
        facts.insert(change["name"].as_str().unwrap(), change["is"].as_str().unwrap());
    }
    assert_eq!((facts["n0 slots"], facts["a.phase"]), ("1 (a)", "Canceled"));
}

#[test]
fn every_built_in_design_can_be_explained() {
    let scenario = scenario("forced-cancel-by-owner");
    for design in BUILT_IN {
        for it in sweep(&scenario, *design, 1, 1_000_000).broken {
            let got = explain(&scenario, *design, &it.deviations, it.invariant, Cap::worlds(1_000)).unwrap();
            assert!(explained::text(&got, 80).contains(design.name()));
        }
    }
}

#[cfg(feature = "cli")]
mod command_line {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use vgdp_sim::report::Token;

    use super::*;

    fn explains(args: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vgdp-sim"));
        let it = command.arg("explain").args(args).env_remove("COLUMNS").output().expect("the program starts");
        let text = |bytes| String::from_utf8(bytes).expect("it prints text");
        (it.status.code(), text(it.stdout), text(it.stderr))
    }

    fn leak() -> String {
        let scenario = scenario("pod-deleted");
        let it = found(&scenario, "slot-leak");
        Token::new(&scenario, &Upstream, &it.deviations).to_string()
    }

    #[test]
    fn a_token_is_explained_as_text_and_as_json() {
        let token = leak();
        let (code, out, _) = explains(&[&token, "--width", "80"]);
        assert_eq!((code, out.starts_with("slot-leak: ")), (Some(0), true), "{out}");
        let (code, out, _) = explains(&[&token, "--format", "json"]);
        assert_eq!((code, out.starts_with("{\n  \"schema\": \"vgdp-sim/explained/1\"")), (Some(0), true));
        let (_, out, _) = explains(&[&token, "--timeline"]);
        assert!(out.contains("slot-leak: the next step leaves no way back from it"), "{out}");
        let (_, out, _) = explains(&[&token, "--invariant", "orphan-watcher"]);
        assert!(out.starts_with("orphan-watcher: "), "{out}");
    }

    #[test]
    fn a_schedule_file_is_told_by_its_deviations() {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("explain");
        fs::create_dir_all(&dir).unwrap();
        let (file, output) = (dir.join("leak.txt"), dir.join("leak.json"));
        let it = explained_by("pod-deleted", "slot-leak", Cap::worlds(1));
        let actions = names(&it.run.steps[1..].iter().map(|it| it.action).collect::<Vec<_>>()).join("\n");
        fs::write(&file, format!("scenario: pod-deleted\ninvariant: orphan-watcher\n\n{actions}\n")).unwrap();
        let (file, output) = (file.to_str().unwrap(), output.to_str().unwrap());
        let (code, out, _) = explains(&[file]);
        assert_eq!((code, out.starts_with("orphan-watcher: ")), (Some(0), true), "{out}");
        let (code, out, _) = explains(&[file, "--format", "json", "--output", output]);
        assert_eq!((code, out.as_str()), (Some(0), ""));
        assert!(fs::read_to_string(output).unwrap().contains("vgdp-sim/explained/1"));
    }

    #[test]
    fn what_cannot_be_explained_is_told_in_one_paragraph() {
        let token = leak();
        let normal = Token::new(&scenario("normal"), &Upstream, &[]).to_string();
        let elsewhere = {
            let it = found(&scenario("pod-deleted"), "slot-leak");
            Token::new(&scenario("normal"), &Upstream, &it.deviations).to_string()
        };
        for (args, code, says) in [
            (vec![normal.as_str()], 1, "breaks no invariant, so there is nothing to explain"),
            (vec![&token, "--invariant", "crash"], 1, "give one of these to --invariant"),
            (vec!["vgdp1-384y"], 2, "copy it once more"),
            (vec!["no/such/file"], 2, "cannot be read"),
            (vec![&token, "--invariant", "slot-leek"], 2, "did you mean `slot-leak`?"),
            (vec![&token, "--design", "mine"], 2, "did you mean"),
            (vec![&elsewhere], 4, "Diverged: deviation 1 was not made"),
        ] {
            let (got, out, err) = explains(&args);
            assert_eq!((got, out.as_str()), (Some(code), ""), "{err}");
            assert!(err.contains(says) && err.trim_end().lines().count() == 1, "{err}");
        }
    }
}
