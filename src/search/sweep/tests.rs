//! What a sweep takes for granted loses nothing, and what it tells apart is not the same.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::iter;
use std::marker::PhantomData;

use super::*;
use crate::designs::Upstream;
use crate::invariants::INVARIANTS;
use crate::model::time::{Obligation as O, Span, Times};
use crate::search::{Bounds, prove};

const ENOUGH: usize = 20_000_000;

/// Takes turns the other way round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Backwards {
    last: Option<Action>,
}

impl Turn for Backwards {
    fn among(&self, actions: impl Iterator<Item = (usize, Action)> + Clone) -> Option<usize> {
        let before = actions.clone().filter(|it| self.last.is_none_or(|last| it.1 < last));
        before.last().or(actions.last()).map(|it| it.0)
    }

    fn passes(&mut self, action: Action) {
        self.last = Some(action);
    }
}

/// Lets the action go first that was not taken for longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct LongestIdle {
    /// What was taken, the last first.
    taken: [Option<Action>; 128],
}

impl Default for LongestIdle {
    fn default() -> LongestIdle {
        LongestIdle { taken: [None; 128] }
    }
}

impl Turn for LongestIdle {
    fn among(&self, actions: impl Iterator<Item = (usize, Action)> + Clone) -> Option<usize> {
        let idle = |action| self.taken.iter().position(|it| *it == Some(action)).unwrap_or(self.taken.len());
        actions.min_by_key(|it| Reverse(idle(it.1))).map(|it| it.0)
    }

    fn passes(&mut self, action: Action) {
        let old = self.taken.iter().position(|it| it.is_none_or(|it| it == action)).expect("there are fewer actions");
        self.taken[..=old].rotate_right(1);
        self.taken[0] = Some(action);
    }
}

/// Goes by another normal schedule.
struct By<T>(PhantomData<T>);

impl<T: Turn> Way for By<T> {
    type Turn = T;
}

/// Each wait for an event is a branch from its beginning.
struct EachWait;

impl Way for EachWait {
    type Turn = Option<Action>;
    const FORKS: bool = false;

    fn untils(world: &World) -> impl Iterator<Item = Until> {
        let events = world.task_ids().flat_map(Event::all).map(Until::Event);
        events.chain([Until::Last, Until::LastInInstant])
    }
}

/// Nobody waits: whatever comes sooner goes out of turn.
struct NoWaits;

impl Way for NoWaits {
    type Turn = Option<Action>;

    fn untils(_: &World) -> impl Iterator<Item = Until> {
        iter::empty()
    }
}

/// Ways that tell branches apart by this only.
macro_rules! keyed {
    ($($(#[doc = $doc:literal])* $name:ident: $key:expr;)*) => {
        $($(#[doc = $doc])* struct $name;

        impl Way for $name {
            type Turn = Option<Action>;

            fn key(node: &Node<Option<Action>>) -> u64 {
                let key: fn(&Node<Option<Action>>) -> u64 = $key;
                key(node)
            }
        })*
    };
}

keyed! {
    /// By the world alone.
    ByWorld: |node| fingerprint(&node.world);
    /// By all but whose turn it is.
    WithoutTurn: |node| {
        let mut node = *node;
        let creation = Scenario::default().prefix().next().expect("an upload is created");
        node.course.takes(creation, None);
        everything(&node)
    };
    /// By all but what has changed since somebody began to wait.
    WithoutSeen: |node| everything(&Node { waits: [(None, 0); WAITS], ..*node });
    /// By all but how long something has been broken.
    WithoutMonitors: |node| everything(&Node { monitors: Monitors::NONE, ..*node });
}

/// The built-in scenarios with one node and one upload.
fn one_by_one() -> impl Iterator<Item = Scenario> {
    Scenario::built_in().into_iter().filter(|it| it.name != "anything").map(|it| it.scope(1, 1))
}

fn alone(name: &str) -> Scenario {
    Scenario::named(name).expect("it is built in").scope(1, 1)
}

/// The same in the smallest form, which can be searched to the end.
fn small(name: &str) -> Scenario {
    let exactly = |it: O, seconds| (it, Span { earliest: seconds, latest: Some(seconds) });
    let times = [(O::ContainerStart, 1), (O::MoverBoot, 0), (O::StatusPatch, 0), (O::RepositoryOpen, 1)];
    let times = times.map(|(it, seconds)| exactly(it, seconds)).into_iter();
    Scenario {
        merges_enqueue: true,
        reports_progress: false,
        times: times.fold(Times::default(), |times, (it, span)| times.with(it, span)),
        ..alone(name)
    }
}

fn swept<W: Way>(scenario: &Scenario, within: u8) -> Sweep {
    let sweep = sweep_by::<W>(scenario, &Upstream, within, ENOUGH, None);
    assert!(!sweep.is_partial() && sweep.within == within, "{} is larger than that", scenario.name);
    sweep
}

/// For each invariant that was broken the lowest price, and the fewest deviations at that.
fn verdicts(sweep: &Sweep) -> BTreeMap<&'static str, (u8, usize)> {
    sweep.broken.iter().map(|it| (INVARIANTS[it.invariant].id, (it.price, it.deviations.len()))).collect()
}

/// For each number of deviations, from none, the lowest price of each invariant that was broken.
fn prices<T: Turn>(scenario: &Scenario, within: u8) -> Vec<BTreeMap<&'static str, u8>> {
    let of = |sweep: Sweep| sweep.broken.iter().map(|it| (INVARIANTS[it.invariant].id, it.price)).collect();
    (0..=within).map(|it| of(swept::<By<T>>(scenario, it))).collect()
}

/// Who finds a violation within so many deviations: whoever goes by another fair schedule finds it within one more, at no
/// higher price.
fn assert_agree(scenario: &Scenario, all: &[Vec<BTreeMap<&'static str, u8>>]) {
    for (one, other) in all.iter().flat_map(|one| all.iter().map(move |other| (one, other))) {
        for (within, found) in one.iter().take(one.len() - 1).enumerate() {
            for (id, price) in found {
                let again = other[within + 1].get(id);
                assert!(
                    again.is_some_and(|again| again <= price),
                    "{id} in {}: price {price} within {within}, but {again:?} within one more by another",
                    scenario.name
                );
            }
        }
    }
}

/// A wait changes nothing yet where it begins, so a world with and without it would be one: whatever only a wait brings
/// about would be lost.
#[test]
fn merging_by_the_world_alone_misses_violations() {
    for (name, missed) in [("normal", 1), ("cr-deleted", 7)] {
        let (right, wrong) = (swept::<Usual>(&alone(name), 2), swept::<ByWorld>(&alone(name), 2));
        assert_eq!(right.broken.len() - wrong.broken.len(), missed, "{name}");
        assert!(wrong.worlds * 5 < right.worlds);
    }
}

/// Whose turn it is, what has been seen by those who wait and how long something has been broken: without any of these,
/// branches would be taken for one that go on differently.
#[test]
fn worlds_are_told_apart_by_what_decides_how_they_go_on() {
    let scenario = alone("cr-deleted");
    let right = swept::<Usual>(&scenario, 2).worlds;
    let fewer = [
        swept::<WithoutTurn>(&scenario, 2).worlds,
        swept::<WithoutSeen>(&scenario, 2).worlds,
        swept::<WithoutMonitors>(&scenario, 2).worlds,
    ];
    assert!(fewer.iter().all(|it| *it < right), "{fewer:?} and {right}");
}

#[test]
fn other_fair_schedules_find_the_same_within_one_more_deviation() {
    for scenario in one_by_one() {
        let mut all = vec![prices::<Option<Action>>(&scenario, 2), prices::<Backwards>(&scenario, 2)];
        if ["normal", "cancel", "cr-deleted", "pod-deleted"].contains(&scenario.name) {
            all.push(prices::<LongestIdle>(&scenario, 2));
        }
        assert_agree(&scenario, &all);
    }
    for scenario in ["normal", "pod-deleted", "kill-fails"].map(alone) {
        assert_agree(&scenario, &[prices::<Option<Action>>(&scenario, 3), prices::<Backwards>(&scenario, 3)]);
    }
    let scenario = small("normal");
    let mut all = vec![prices::<Option<Action>>(&scenario, 3), prices::<Backwards>(&scenario, 3)];
    all.push(prices::<LongestIdle>(&scenario, 3));
    assert_agree(&scenario, &all);
}

/// With any number of deviations a sweep is a search of all schedules, and two engines that share nothing but the model
/// answer the same.
#[test]
fn a_sweep_that_is_saturated_finds_what_a_proof_finds() {
    for (name, at) in [("normal", 29), ("pod-deleted", 31)] {
        let scenario = small(name);
        let sweep = swept::<NoWaits>(&scenario, u8::MAX);
        assert_eq!(sweep.saturated, Some(at), "{name}");
        assert_proved(&scenario, &sweep);
    }
    let scenario = alone("forced-cancel-by-other-node"); // nobody can accept that upload
    let sweep = swept::<Usual>(&scenario, u8::MAX);
    assert!(sweep.saturated.is_some());
    assert_proved(&scenario, &sweep);
}

fn assert_proved(scenario: &Scenario, sweep: &Sweep) {
    let proof = prove(scenario, &Upstream, Bounds::default());
    let proved: Vec<(usize, u8)> = proof.broken.iter().map(|it| (it.invariant, it.price)).collect();
    let swept: Vec<(usize, u8)> = sweep.broken.iter().map(|it| (it.invariant, it.price)).collect();
    assert_eq!(swept, proved, "{}", scenario.name);
    for (swept, proved) in sweep.broken.iter().zip(&proof.broken) {
        assert!(proved.steps <= swept.steps, "{} in {}", INVARIANTS[swept.invariant].id, scenario.name);
    }
}

/// In these scopes three deviations, waits among them, are enough for all that there is.
#[test]
fn three_deviations_find_what_a_proof_finds_in_small_scopes() {
    for name in ["normal", "pod-deleted", "download-pod-deleted"] {
        assert_proved(&small(name), &swept::<Usual>(&small(name), 3));
    }
}

thread_local! {
    /// The worlds that were met.
    static MET: RefCell<HashSet<u64>> = RefCell::default();
}

/// Remembers the worlds that it met.
struct Noting<W>(PhantomData<W>);

impl<W: Way> Way for Noting<W> {
    type Turn = W::Turn;
    const FORKS: bool = W::FORKS;

    fn untils(world: &World) -> impl Iterator<Item = Until> {
        W::untils(world)
    }

    fn key(node: &Node<W::Turn>) -> u64 {
        MET.with_borrow_mut(|it| it.insert(fingerprint(&node.world)));
        W::key(node)
    }
}

fn met<W: Way>(scenario: &Scenario, within: u8) -> HashSet<u64> {
    swept::<Noting<W>>(scenario, within);
    MET.take()
}

/// A wait until nobody else acts stands for waits until any event, since it forks where one comes: by a step or a
/// departure, for one or several who wait.
#[test]
fn a_wait_that_forks_meets_the_worlds_of_every_wait() {
    for (scenario, within) in [(alone("cancel"), 2), (alone("pod-deleted"), 2), (small("cancel"), 2)] {
        let (forks, each) = (met::<Usual>(&scenario, within), met::<EachWait>(&scenario, within));
        let (lost, more) = (each.difference(&forks).count(), forks.difference(&each).count());
        assert_eq!((lost, more), (0, 0), "of {} in {}", each.len(), scenario.name);
    }
}

/// And judges them alike.
#[test]
fn a_wait_that_forks_stands_for_every_wait() {
    for scenario in one_by_one() {
        let (forks, each) = (swept::<Usual>(&scenario, 1), swept::<EachWait>(&scenario, 1));
        assert_eq!(verdicts(&forks), verdicts(&each), "{}", scenario.name);
    }
    for scenario in ["normal", "cancel", "pod-deleted"].map(alone) {
        let (forks, each) = (swept::<Usual>(&scenario, 2), swept::<EachWait>(&scenario, 2));
        assert_eq!(verdicts(&forks), verdicts(&each), "{}", scenario.name);
        assert!(forks.worlds < each.worlds);
    }
}

#[test]
fn caches_and_listeners_that_move_in_one_step_change_no_verdict() {
    for scenario in one_by_one() {
        let merged = Scenario { merges_enqueue: true, ..scenario.clone() };
        let (one, two) = (swept::<Usual>(&merged, 2), swept::<Usual>(&scenario, 2));
        assert_eq!(verdicts(&one), verdicts(&two), "{}", scenario.name);
        assert!(one.worlds < two.worlds);
    }
}
