//! The sweep: what it finds replays, and what it does not find is not there.

use std::collections::BTreeMap;

use vgdp_sim::designs::Upstream;
use vgdp_sim::event::Event;
use vgdp_sim::invariants::INVARIANTS;
use vgdp_sim::model::rules::{Action, Class, Enabled};
use vgdp_sim::run::run;
use vgdp_sim::scenario::Scenario;
use vgdp_sim::scheduler::{Departure, Deviating, Deviation, Fired, Point, Scheduler, Track, Until};
use vgdp_sim::search::{Sweep, sweep};

#[path = "support/planted.rs"]
#[allow(dead_code)] // it is made for the tests of invariants
mod planted;

/// Each finding is told as its deviations; going the normal course but for these breaks the invariant again, at the
/// same price and step.
#[test]
fn a_finding_replays_from_its_deviations() {
    for scenario in Scenario::built_in().iter().filter(|it| it.name != "anything") {
        let sweep = sweep(scenario, &Upstream, 2, 3_000_000);
        assert!(!sweep.is_partial() && sweep.within == 2, "{}", scenario.name);
        for it in &sweep.broken {
            let id = INVARIANTS[it.invariant].id;
            let mut scheduler = Deviating::new(&it.deviations);
            let report = run(scenario, &Upstream, &mut scheduler);
            assert_eq!(scheduler.missed(), None, "{id} in {}: {:#?}", scenario.name, it.deviations);
            let again = report.broken[it.invariant].expect(id);
            assert_eq!((again.price, again.task), (it.price, it.task), "{id} in {}", scenario.name);
            assert!(it.deviations.len() <= 2);
        }
    }
}

/// Where the normal schedule could be left, as a run of it shows.
#[derive(Default)]
struct Points {
    track: Track,
    seen: Vec<(Point, Vec<Action>)>,
}

impl Scheduler for Points {
    fn pick(&mut self, enabled: &Enabled, last: Fired) -> Option<usize> {
        self.track.passes(last);
        let (next, point) = self.track.comes_to(enabled);
        self.seen.push((point, enabled.to_vec()));
        next
    }
}

/// Every single deviation, one run each and nothing merged.
fn one_by_one(scenario: &Scenario) -> BTreeMap<&'static str, u8> {
    let mut points = Points::default();
    run(scenario, &Upstream, &mut points);
    let mut departures: Vec<Deviation> = Vec::new();
    for (point, enabled) in &points.seen {
        for &action in enabled.iter().filter(|it| Some(**it) != point.next) {
            let departure = match action.class() {
                Class::Operator | Class::Fault => Departure::Does(action),
                _ => Departure::First(action),
            };
            departures.push(Deviation { point: *point, departure });
        }
        if point.next.is_some_and(|it| it.class() == Class::Step) {
            let tasks = (0..scenario.tasks).map(vgdp_sim::model::place::TaskId);
            let untils = tasks.flat_map(Event::all).map(Until::Event);
            for until in untils.chain([Until::Last, Until::LastInInstant]) {
                departures.push(Deviation { point: *point, departure: Departure::Waits(until) });
            }
        }
    }
    let mut broken = BTreeMap::new();
    let normal: &[Deviation] = &[];
    for deviations in std::iter::once(normal).chain(departures.iter().map(std::slice::from_ref)) {
        let report = run(scenario, &Upstream, &mut Deviating::new(deviations));
        for (index, it) in report.violations() {
            let price = broken.entry(INVARIANTS[index].id).or_insert(it.price);
            *price = it.price.min(*price);
        }
    }
    broken
}

/// Merging runs that reach the same world loses nothing.
#[test]
fn a_sweep_finds_what_single_deviations_one_by_one_find() {
    for scenario in Scenario::built_in().iter().filter(|it| it.tasks == 1 || it.name == "two-uploads-one-slot") {
        let swept = sweep(scenario, &Upstream, 1, 3_000_000);
        let swept: BTreeMap<&str, u8> = swept.broken.iter().map(|it| (INVARIANTS[it.invariant].id, it.price)).collect();
        assert_eq!(swept, one_by_one(scenario), "{}", scenario.name);
    }
}

/// More deviations find more, and never forget.
#[test]
fn a_sweep_grows_with_its_deviations() {
    let scenario = Scenario::named("cancel").unwrap();
    let mut before = Vec::new();
    let mut worlds = 0;
    for within in 0..=2 {
        let sweep = sweep(&scenario, &Upstream, within, 3_000_000);
        let ids: Vec<usize> = sweep.broken.iter().map(|it| it.invariant).collect();
        assert!(before.iter().all(|it| ids.contains(it)));
        assert!(sweep.worlds > worlds);
        (before, worlds) = (ids, sweep.worlds);
    }
    assert!(before.iter().any(|&it| INVARIANTS[it].id == "slot-leak"));
}

/// A bound on worlds gives an honest partial answer, however many deviations are asked for.
#[test]
fn a_bounded_sweep_says_how_far_it_came() {
    let cancel = Scenario::named("cancel").unwrap();
    let found = |it: &Sweep| -> BTreeMap<usize, u8> { it.broken.iter().map(|it| (it.invariant, it.price)).collect() };
    for (most_worlds, within) in [(20_000, 1), (200_000, 2)] {
        let bounded = sweep(&cancel, &Upstream, u8::MAX, most_worlds);
        assert!(bounded.is_partial() && bounded.saturated.is_none());
        assert_eq!(bounded.within, within);
        assert!(bounded.worlds <= most_worlds);
        let (whole, bounded) = (found(&sweep(&cancel, &Upstream, within, 3_000_000)), found(&bounded));
        assert!(whole.iter().all(|(it, price)| bounded.get(it).is_some_and(|it| it <= price)));
    }
}

/// Where there is room for nothing, the normal schedule is tried all the same.
#[test]
fn the_normal_schedule_is_always_tried() {
    let cancel = Scenario::named("cancel").unwrap();
    let (bounded, normal) = (sweep(&cancel, &Upstream, 3, 0), sweep(&cancel, &Upstream, 0, 0));
    assert!(bounded.is_partial() && bounded.within == 0);
    assert!(!normal.is_partial() && normal.worlds > 100);
    let deaf = planted::planted().into_iter().find(|it| it.id == "slot-leak").expect("it is planted");
    let broken = sweep(&deaf.fault.scenario, deaf.fault.design, 0, 0).broken;
    assert!(broken.iter().any(|it| INVARIANTS[it.invariant].id == "slot-leak" && it.deviations.is_empty()));
}

/// Where more deviations lead nowhere new, any number of them has been tried.
#[test]
fn a_sweep_that_is_saturated_ends() {
    let nobody_accepts = Scenario::named("forced-cancel-by-other-node").unwrap().scope(1, 1);
    let all = sweep(&nobody_accepts, &Upstream, u8::MAX, 1_000_000);
    assert!(!all.is_partial() && all.within == u8::MAX);
    let enough = all.saturated.expect("so small a scope");
    let within = |it| sweep(&nobody_accepts, &Upstream, it, 1_000_000).worlds;
    assert!(within(enough) == all.worlds && within(enough - 1) < all.worlds);
}
