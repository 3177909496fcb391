use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::marker::PhantomData;

use super::fingerprint::fingerprint;
use crate::event::Event;
use crate::invariants::COUNT;
use crate::model::design::Design;
use crate::model::place::TaskId;
use crate::model::rules::{Action, Class, Enabled, Setup};
use crate::model::world::World;
use crate::run::{Monitors, STEPS, check_at_rest, run};
use crate::scenario::Scenario;
use crate::scheduler::{Course, Departure, Deviating, Deviation, Fired, Scheduler, Track, Turn, Until, WAITS};

/// The cheapest violation of an invariant within a number of deviations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Which invariant: its index in [`INVARIANTS`](crate::invariants::INVARIANTS).
    pub invariant: usize,
    /// For which task.
    pub task: TaskId,
    /// What the outside world had to do wrong for it.
    pub price: u8,
    /// Steps until then.
    pub steps: u32,
    /// The departures from the normal schedule that bring it about; the fewest at this price.
    pub deviations: Vec<Deviation>,
}

/// What a sweep showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// Within how many deviations every schedule was tried.
    pub within: u8,
    /// Worlds that were visited, told apart by whose turn it is, who waits, and what has been broken for how long.
    pub worlds: usize,
    /// Whether it stopped early, for its bound on worlds: then only `within` deviations were tried in full.
    pub partial: bool,
    /// The cheapest violation of each invariant that was broken: by price, then deviations, then steps.
    pub broken: Vec<Broken>,
}

/// Tries every schedule within `within` deviations of the normal one, fewest first.
///
/// A deviation is one fact: somebody from outside acts, an action goes out of turn, or an action waits until a named
/// event. Runs that reach the same world, with the same turn, the same who wait and the same invariants under watch go on
/// alike and are followed once. So a clean sweep is a certificate: none within so many deviations.
///
/// It stops at `most_worlds`, with an honest partial answer.
///
/// # Panics
///
/// When the scope of the scenario is too large, or its prefix is not enabled.
pub fn sweep(scenario: &Scenario, design: &dyn Design, within: u8, most_worlds: usize) -> Sweep {
    sweep_by::<Usual>(scenario, design, within, most_worlds)
}

fn sweep_by<W: Way>(scenario: &Scenario, design: &dyn Design, within: u8, most_worlds: usize) -> Sweep {
    let (mut search, start) = Search::<W>::new(scenario, design, most_worlds);
    let done = search.levels(&start, within);
    search.report(scenario, design, done)
}

/// What a sweep takes for granted. There is one way to go about it; the tests know others, to show that this one loses
/// nothing.
trait Way {
    /// By which the normal schedule goes.
    type Turn: Turn;
    /// A wait for an event is followed as one for nobody else, up to where that event comes; else as many waits as there
    /// are events.
    const FORKS: bool = true;

    /// What goes on alike from here has the same key.
    fn key(node: &Node<Self::Turn>) -> u64 {
        everything(node)
    }
}

struct Usual;

impl Way for Usual {
    type Turn = Option<Action>;
}

/// Where a branch of the search is.
#[derive(Clone, Copy)]
struct Node<T> {
    world: World,
    course: Course<T>,
    monitors: Monitors,
    steps: u32,
    /// Choices of the course since the last departure.
    chosen: u32,
    /// Who waits until nobody else acts, and what has visibly changed since.
    waits: [(Option<Action>, u128); WAITS],
}

/// How a branch came about: from another, after so many choices of its course.
#[derive(Clone, Copy)]
struct Start {
    parent: u32,
    offset: u32,
    differs: Option<Differs>,
}

/// What a branch does differently from its parent.
#[derive(Clone, Copy)]
enum Differs {
    Departs(Departure),
    /// What waited goes on, since something has visibly changed: the departure was to wait until then.
    GoesOn(Action),
}

impl<T: Turn> Node<T> {
    /// Visible changes from now on may end the wait of `action`.
    fn begins_to_wait(&mut self, action: Action) {
        let course = self.course;
        let free = self.waits.iter_mut().find(|it| it.0.is_none_or(|it| it == action || !course.keeps_waiting(it)));
        *free.expect("as many as wait at a time") = (Some(action), 0);
    }
}

/// A violation: by price, then deviations, then steps; and in which branch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Best {
    price: u8,
    depth: u8,
    steps: u32,
    branch: u32,
    task: TaskId,
}

struct Search<'a, W> {
    way: PhantomData<W>,
    setup: Setup<'a>,
    full_price: u8,
    visited: HashSet<u64, BuildHasherDefault<Ready>>,
    starts: Vec<Start>,
    best: [Option<Best>; COUNT],
    most_worlds: usize,
    partial: bool,
}

/// A branch that was followed: where it began, and how many choices of its course were new.
struct Branch<T> {
    node: Node<T>,
    id: u32,
    fresh: u32,
}

impl<'a, W: Way> Search<'a, W> {
    /// The search and where it starts: after the prefix.
    fn new(scenario: &Scenario, design: &'a dyn Design, most_worlds: usize) -> (Search<'a, W>, Node<W::Turn>) {
        let setup = scenario.setup(design);
        let mut world = scenario.empty_cluster().expect("the scope of a scenario is checked when it is made");
        let full_price = world.shared.budget.price_left();
        let mut monitors = Monitors::NONE;
        let mut course = Course::default();
        let mut steps = 0;
        for action in scenario.prefix() {
            let was = world;
            assert!(world.fire(&setup, action), "{action} is not enabled here");
            monitors.check(&was, action, &world, &setup, 0, |_, _| {});
            course.takes(action, Event::between(&was, &world));
            steps += 1;
        }
        let search = Search {
            way: PhantomData,
            setup,
            full_price,
            visited: HashSet::default(),
            starts: vec![Start { parent: 0, offset: 0, differs: None }],
            best: [None; COUNT],
            most_worlds,
            partial: false,
        };
        (search, Node { world, course, monitors, steps, chosen: 0, waits: [(None, 0); WAITS] })
    }

    /// Follows all branches with no deviation, then all with one, and so on; returns how many were tried in full.
    ///
    /// A world is first met with the fewest deviations that lead to it, since a level is followed to its end before
    /// the next begins. The last level is not kept: its branches are followed as they are made.
    fn levels(&mut self, start: &Node<W::Turn>, within: u8) -> u8 {
        let mut level = self.follow(start, 0, 0);
        for depth in 1..=within {
            let mut next = Vec::new();
            for branch in level {
                self.leave(&branch, depth, (depth < within).then_some(&mut next));
                if self.partial {
                    return depth - 1;
                }
            }
            level = next;
        }
        within
    }

    /// Follows the normal course from `node` to rest, or to where somebody has been. While an action waits, each visible
    /// change may end that: such branches have the same departures, and are followed as well.
    fn follow(&mut self, node: &Node<W::Turn>, id: u32, depth: u8) -> Vec<Branch<W::Turn>> {
        let mut followed = Vec::new();
        let mut open = vec![(*node, id)];
        while let Some((node, id)) = open.pop() {
            let fresh = self.follow_one(&node, id, depth, &mut open);
            if fresh > 0 {
                followed.push(Branch { node, id, fresh });
            }
        }
        followed
    }

    fn follow_one(&mut self, start: &Node<W::Turn>, id: u32, depth: u8, open: &mut Vec<(Node<W::Turn>, u32)>) -> u32 {
        let mut node = *start;
        let mut enabled = Enabled::default();
        let mut fresh = 0;
        loop {
            if !self.visited.insert(W::key(&node)) {
                return fresh;
            }
            if self.visited.len() >= self.most_worlds || node.steps >= STEPS {
                self.partial = true;
                return fresh;
            }
            fresh += 1;
            node.world.enabled(&self.setup, &mut enabled);
            if enabled.is_at_rest() && !node.world.is_passing() {
                let Node { world, steps, .. } = node;
                let (setup, price) = (self.setup, self.full_price - world.shared.budget.price_left());
                let best = &mut self.best;
                check_at_rest(&world, &setup, |index, task| {
                    note(best, index, Best { price, depth, steps, branch: id, task });
                });
            }
            let Some(chosen) = node.course.next(&enabled) else { return fresh };
            if let Some(event) = self.take(&mut node, enabled[chosen], id, depth) {
                for wait in 0..WAITS {
                    let (Some(action), seen) = node.waits[wait] else { continue };
                    if node.course.keeps_waiting(action) && seen & event.bit() == 0 {
                        node.waits[wait].1 |= event.bit();
                        let mut released = Node { chosen: 0, ..node };
                        released.course.release(action);
                        open.push((released, self.start(id, node.chosen, Differs::GoesOn(action))));
                    }
                }
            }
        }
    }

    /// Every departure from the new part of a branch; the branches to which they lead are followed, and kept in `next`.
    fn leave(&mut self, branch: &Branch<W::Turn>, depth: u8, mut next: Option<&mut Vec<Branch<W::Turn>>>) {
        let mut node = branch.node;
        let mut enabled = Enabled::default();
        for offset in 0..branch.fresh {
            node.world.enabled(&self.setup, &mut enabled);
            let chosen = node.course.next(&enabled);
            for (index, &action) in enabled.iter().enumerate() {
                let departure = match action.class() {
                    _ if Some(index) == chosen => continue,
                    Class::Operator | Class::Fault => Departure::Does(action),
                    Class::Step | Class::Clock | Class::Recovery => Departure::First(action),
                };
                let id = self.start(branch.id, offset, Differs::Departs(departure));
                let mut left = node;
                self.take(&mut left, action, id, depth);
                left.chosen = 0;
                self.go_on(&left, id, depth, &mut next);
            }
            if let Some(action) = chosen.map(|it| enabled[it]).filter(|it| it.class() == Class::Step) {
                for until in untils::<W>(&node.world) {
                    let mut left = Node { chosen: 0, ..node };
                    if left.course.waits(action, until) {
                        if W::FORKS && until == Until::Last {
                            left.begins_to_wait(action);
                        }
                        let id = self.start(branch.id, offset, Differs::Departs(Departure::Waits(until)));
                        self.go_on(&left, id, depth, &mut next);
                    }
                }
            }
            if self.partial {
                return;
            }
            let Some(chosen) = chosen else { return };
            self.take(&mut node, enabled[chosen], branch.id, depth - 1);
        }
    }

    fn go_on(&mut self, node: &Node<W::Turn>, id: u32, depth: u8, next: &mut Option<&mut Vec<Branch<W::Turn>>>) {
        let followed = self.follow(node, id, depth);
        if followed.is_empty() {
            self.forgets(id);
        }
        if let Some(next) = next {
            next.extend(followed);
        }
    }

    fn start(&mut self, parent: u32, offset: u32, differs: Differs) -> u32 {
        self.starts.push(Start { parent, offset, differs: Some(differs) });
        u32::try_from(self.starts.len() - 1).expect("there is no memory for more branches than 32 bits can number")
    }

    /// Nothing came of a branch; most are like that.
    fn forgets(&mut self, id: u32) {
        let is_last = id as usize + 1 == self.starts.len();
        if is_last && self.best.iter().flatten().all(|it| it.branch != id) {
            self.starts.pop();
        }
    }

    fn take(&mut self, node: &mut Node<W::Turn>, action: Action, branch: u32, depth: u8) -> Option<Event> {
        let was = node.world;
        let seconds = node.world.seconds_of(&self.setup, action);
        assert!(node.world.fire(&self.setup, action), "{action} is not enabled here");
        let price = self.full_price - node.world.shared.budget.price_left();
        let steps = node.steps + 1;
        let best = &mut self.best;
        node.monitors.check(&was, action, &node.world, &self.setup, seconds, |index, task| {
            note(best, index, Best { price, depth, steps, branch, task });
        });
        let event = Event::between(&was, &node.world);
        node.course.takes(action, event);
        node.steps = steps;
        node.chosen += 1;
        event
    }

    fn report(self, scenario: &Scenario, design: &dyn Design, within: u8) -> Sweep {
        let broken = self.best.iter().enumerate().filter_map(|(invariant, it)| {
            let Best { price, steps, branch, task, .. } = (*it)?;
            let deviations = self.deviations(scenario, design, branch);
            let report = run(scenario, design, &mut Deviating::<W::Turn>::by(&deviations));
            debug_assert!(report.broken[invariant].is_some(), "a finding of a sweep replays");
            Some(Broken { invariant, task, price, steps, deviations })
        });
        let broken = broken.collect();
        Sweep { within, worlds: self.visited.len(), partial: self.partial, broken }
    }

    /// The departures of a branch, each with its place by name: the run is made once more.
    fn deviations(&self, scenario: &Scenario, design: &dyn Design, branch: u32) -> Vec<Deviation> {
        let mut chain = Vec::new();
        let mut at = branch;
        while at != 0 {
            let Start { parent, offset, differs } = self.starts[at as usize];
            chain.push((offset, differs.expect("only the first branch is the normal course")));
            at = parent;
        }
        chain.reverse();
        let mut tracer = Tracer { chain, at: 0, offset: 0, track: Track::<W::Turn>::default(), found: Vec::new() };
        run(scenario, design, &mut tracer);
        tracer.found
    }
}

/// Until when an action may wait.
fn untils<W: Way>(world: &World) -> impl Iterator<Item = Until> + use<W> {
    let tasks = world.task_ids().filter(|_| !W::FORKS);
    let events = tasks.flat_map(Event::all).map(Until::Event);
    [Until::Last, Until::LastInInstant].into_iter().chain(events)
}

fn note(best: &mut [Option<Best>; COUNT], index: usize, new: Best) {
    let old = best[index].get_or_insert(new);
    *old = (*old).min(new);
}

/// Goes a chain of departures given by counts of choices, and names their places.
struct Tracer<T> {
    chain: Vec<(u32, Differs)>,
    at: usize,
    offset: u32,
    track: Track<T>,
    found: Vec<Deviation>,
}

impl<T: Turn> Scheduler for Tracer<T> {
    fn pick(&mut self, enabled: &Enabled, last: Fired) -> Option<usize> {
        self.track.passes(last);
        loop {
            let (next, point) = self.track.comes_to(enabled);
            let Some(&(_, differs)) = self.chain.get(self.at).filter(|it| it.0 == self.offset) else {
                self.offset += 1;
                return next;
            };
            self.at += 1;
            self.offset = 0;
            match differs {
                Differs::Departs(departure) => {
                    self.found.push(Deviation { point, departure });
                    match departure {
                        Departure::Does(action) | Departure::First(action) => {
                            return enabled.iter().position(|&it| it == action);
                        }
                        Departure::Waits(until) => {
                            self.track.waits(point.next.expect("somebody waits"), until);
                        }
                    }
                }
                Differs::GoesOn(action) => {
                    self.track.goes_on(action, point);
                    let event = last.event.expect("a visible change ends a wait");
                    let waits = |it: &&mut Deviation| {
                        it.point.next == Some(action) && it.departure == Departure::Waits(Until::Last)
                    };
                    if let Some(it) = self.found.iter_mut().rev().find(waits) {
                        it.departure = Departure::Waits(Until::Event(event));
                    }
                }
            }
        }
    }
}

/// A number that is ready to be used as a hash.
#[derive(Default)]
struct Ready(u64);

impl Hasher for Ready {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only whole fingerprints are hashed");
    }

    fn write_u64(&mut self, fingerprint: u64) {
        self.0 = fingerprint;
    }
}

/// 64 bits of everything that decides how a branch goes on.
fn everything<T: Turn>(node: &Node<T>) -> u64 {
    let mut mixed = Mixer(fingerprint(&node.world));
    node.course.hash(&mut mixed);
    for (index, t, seconds) in node.monitors.pending() {
        mixed.add(u64::from(index) << 32 | u64::from(t) << 16 | u64::from(seconds));
    }
    mixed.0
}

/// Multiplies 64 bits by 64 and folds: about one multiplication for eight bytes.
struct Mixer(u64);

impl Mixer {
    #[inline]
    fn add(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * 0xD6E8_FEB8_6659_FD93_u128;
        self.0 = (product as u64) ^ ((product >> 64) as u64) ^ word.rotate_left(32);
    }
}

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.add(u64::from_le_bytes(chunk.try_into().expect("eight bytes")));
        }
        let rest = chunks.remainder();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.add(u64::from_le_bytes(last) ^ ((bytes.len() as u64) << 56));
    }

    /// Which variant of an enum it is comes as one of these; it has eight bytes on every platform.
    #[inline]
    fn write_isize(&mut self, number: isize) {
        self.write(&(number as i64).to_le_bytes());
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.write(&(number as u64).to_le_bytes());
    }
}
