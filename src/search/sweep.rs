#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};

use super::Cut;
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
    /// Steps until then, by this way; another with as many deviations may have fewer.
    pub steps: u32,
    /// The departures from the normal schedule that bring it about; the fewest at this price.
    pub deviations: Vec<Deviation>,
}

/// What a sweep showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// Within how many deviations every schedule was tried.
    pub within: u8,
    /// Worlds that were visited, told apart by whose turn it is, who waits since when, and what has been broken for how
    /// long.
    pub worlds: usize,
    /// Why it stopped early, if it did: then only `within` deviations were tried in full.
    pub stopped: Option<Cut>,
    /// More deviations than so many lead nowhere new: then every schedule was tried, whatever it deviates.
    pub saturated: Option<u8>,
    /// The cheapest violation of each invariant that was broken: by price, then deviations, then steps.
    pub broken: Vec<Broken>,
}

impl Sweep {
    /// Whether it stopped early.
    pub fn is_partial(&self) -> bool {
        self.stopped.is_some()
    }
}

/// Tries every schedule within `within` deviations of the normal one, fewest first.
///
/// A deviation is one fact: somebody from outside acts, an action goes out of turn, or an action waits until a named
/// event; at most four wait at a time. Runs that reach the same world, with the same turn, the same who wait and have seen
/// the same since, and the same invariants under watch go on alike and are followed once. So a clean sweep is a
/// certificate: none within so many deviations.
///
/// It stops at `most_worlds`, with an honest partial answer; the normal schedule itself is always tried. A million worlds
/// take about two seconds and some 30 MB. Each deviation more takes some ten to forty times as many worlds, so `within` may be
/// larger than there is room for: the answer says how far it came.
///
/// # Panics
///
/// When the scope of the scenario is too large, or its prefix is not enabled.
pub fn sweep(scenario: &Scenario, design: &dyn Design, within: u8, most_worlds: usize) -> Sweep {
    sweep_until(scenario, design, within, most_worlds, None)
}

/// The same, which ends early once `stop` is true; the normal schedule itself is followed to its end all the same.
///
/// # Panics
///
/// As [`sweep`].
pub fn sweep_until(
    scenario: &Scenario,
    design: &dyn Design,
    within: u8,
    most_worlds: usize,
    stop: Option<&AtomicBool>,
) -> Sweep {
    sweep_by::<Usual>(scenario, design, within, most_worlds, stop)
}

fn sweep_by<W: Way>(
    scenario: &Scenario,
    design: &dyn Design,
    within: u8,
    most_worlds: usize,
    stop: Option<&AtomicBool>,
) -> Sweep {
    let (mut search, start) = Search::<W>::new(scenario, design, most_worlds, stop);
    let done = search.levels(&start, within);
    search.report(scenario, design, done)
}

/// What a sweep takes for granted. There is one way to go about it; the tests know others, to show that this one loses
/// nothing.
trait Way {
    /// By which the normal schedule goes.
    type Turn: Turn;
    /// Until when an action may wait.
    fn untils(_: &World) -> impl Iterator<Item = Until> {
        [Until::Last, Until::LastInInstant].into_iter()
    }

    /// A wait until nobody else acts is one until any event as well: where something has visibly changed, it forks.
    const FORKS: bool = true;

    /// Branches that have the same key go on alike.
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

/// Those who wait until nobody else acts, and may as well go on here.
type Forks = [Option<Action>; WAITS];

impl<T: Turn> Node<T> {
    /// Takes an action, and tells what it broke.
    fn takes(&mut self, setup: &Setup<'_>, action: Action, mut broke: impl FnMut(&World, usize, TaskId)) -> Forks {
        let was = self.world;
        let seconds = self.world.seconds_of(setup, action);
        let touched = self.world.fire_since(&was, setup, action);
        let touched = touched.unwrap_or_else(|| panic!("{action} is not enabled here"));
        let is = &self.world;
        self.monitors.check_touched((&was, action, is), touched, setup, seconds, |index, task| broke(is, index, task));
        let event = Event::between(&was, is);
        self.course.takes(action, event);
        self.steps += 1;
        self.chosen += 1;
        event.map_or([None; WAITS], |it| self.shows(it))
    }

    /// Something has visibly changed: who had not seen that since he began to wait may have waited for it.
    fn shows(&mut self, event: Event) -> Forks {
        let mut forks = [None; WAITS];
        for (fork, (action, seen)) in forks.iter_mut().zip(&mut self.waits) {
            if action.is_some_and(|it| self.course.waits_to_the_last(it)) && *seen & event.bit() == 0 {
                *seen |= event.bit();
                *fork = *action;
            }
        }
        forks
    }

    /// `action` waits from here; returns false where it cannot.
    fn waits<W: Way>(&mut self, action: Action, until: Until) -> bool {
        let waits = self.course.waits(action, until);
        if waits && W::FORKS && until == Until::Last {
            let course = self.course;
            let is_free = |it: Action| it == action || !course.waits_to_the_last(it);
            let free = self.waits.iter_mut().find(|it| it.0.is_none_or(is_free));
            *free.expect("as many as wait at a time") = (Some(action), 0);
        }
        waits
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

struct Search<'a, W: Way> {
    setup: Setup<'a>,
    full_price: u8,
    visited: HashSet<u64, BuildHasherDefault<Ready>>,
    starts: Vec<Start>,
    /// Branches that have still to be followed.
    open: Vec<(Node<W::Turn>, u32)>,
    best: [Option<Best>; COUNT],
    most_worlds: usize,
    stop: Option<&'a AtomicBool>,
    stopped: Option<Cut>,
    saturated: Option<u8>,
}

/// A branch that was followed, and how many choices of its course were new.
struct Branch {
    id: u32,
    fresh: u32,
}

impl<'a, W: Way> Search<'a, W> {
    /// The search and where it starts: after the prefix.
    fn new(
        scenario: &Scenario,
        design: &'a dyn Design,
        most_worlds: usize,
        stop: Option<&'a AtomicBool>,
    ) -> (Search<'a, W>, Node<W::Turn>) {
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
            setup,
            full_price,
            visited: HashSet::default(),
            starts: vec![Start { parent: 0, offset: 0, differs: None }],
            open: Vec::new(),
            best: [None; COUNT],
            most_worlds,
            stop,
            stopped: None,
            saturated: None,
        };
        (search, Node { world, course, monitors, steps, chosen: 0, waits: [(None, 0); WAITS] })
    }

    /// Follows all branches with no deviation, then all with one, and so on; returns how many were tried in full.
    ///
    /// A world is first met with the fewest deviations that lead to it, since a level is followed to its end before
    /// the next begins. The last level is not kept: its branches are followed as they are made.
    fn levels(&mut self, start: &Node<W::Turn>, within: u8) -> u8 {
        let mut level = Vec::new();
        self.open.push((*start, 0));
        self.follow(0, &mut Some(&mut level));
        for depth in 1..=within {
            let before = self.visited.len();
            let mut next = Vec::new();
            for branch in level {
                self.leave(start, &branch, depth, &mut (depth < within).then_some(&mut next));
                if self.stopped.is_some() {
                    return depth - 1;
                }
            }
            if self.visited.len() == before {
                self.saturated = Some(depth - 1);
                return within;
            }
            level = next;
        }
        within
    }

    /// Follows the normal course from what is open to rest, or to where somebody has been. While an action waits, each
    /// visible change may end that: such branches have the same departures, and are followed as well.
    fn follow(&mut self, depth: u8, level: &mut Option<&mut Vec<Branch>>) {
        while let Some((node, id)) = self.open.pop() {
            if self.stopped.is_some() {
                return self.open.clear();
            }
            let fresh = self.follow_one(node, id, depth);
            if fresh == 0 {
                self.forgets(id);
            } else if let Some(level) = level {
                level.push(Branch { id, fresh });
            }
        }
    }

    fn follow_one(&mut self, mut node: Node<W::Turn>, id: u32, depth: u8) -> u32 {
        let mut enabled = Enabled::default();
        let mut fresh = 0;
        loop {
            if !self.visited.insert(W::key(&node)) {
                return fresh;
            }
            let full = depth > 0 && self.visited.len() >= self.most_worlds;
            if full || node.steps >= STEPS {
                self.stopped = Some(if full { Cut::AtWorlds } else { Cut::AtSteps });
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
            let forks = self.take(&mut node, enabled[chosen], id, depth);
            self.fork(&node, id, forks);
        }
    }

    /// Every departure from the new part of a branch; the branches to which they lead are followed, and kept in `next`.
    fn leave(&mut self, start: &Node<W::Turn>, branch: &Branch, depth: u8, next: &mut Option<&mut Vec<Branch>>) {
        let mut node = self.beginning(start, branch.id);
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
                let forks = self.take(&mut left, action, id, depth);
                left.chosen = 0;
                self.open.push((left, id));
                self.fork(&left, id, forks);
                self.follow(depth, next);
            }
            if let Some(action) = chosen.map(|it| enabled[it]).filter(|it| it.class() == Class::Step) {
                for until in W::untils(&node.world) {
                    let mut left = Node { chosen: 0, ..node };
                    if left.waits::<W>(action, until) {
                        let id = self.start(branch.id, offset, Differs::Departs(Departure::Waits(until)));
                        self.open.push((left, id));
                        self.follow(depth, next);
                    }
                }
            }
            if self.stop.is_some_and(|it| it.load(Ordering::Relaxed)) {
                self.stopped.get_or_insert(Cut::Interrupted);
            }
            if self.stopped.is_some() {
                return;
            }
            let Some(chosen) = chosen else { return };
            node.takes(&self.setup, enabled[chosen], |_, _, _| {});
        }
    }

    /// Where a branch begins: its way is gone once more, since to keep where all of them begin takes too much room.
    fn beginning(&self, start: &Node<W::Turn>, branch: u32) -> Node<W::Turn> {
        let mut node = *start;
        let mut enabled = Enabled::default();
        let takes = |node: &mut Node<W::Turn>, action| {
            node.takes(&self.setup, action, |_, _, _| {});
        };
        for (offset, differs) in self.way(branch) {
            for _ in 0..offset {
                node.world.enabled(&self.setup, &mut enabled);
                let next = node.course.next(&enabled).expect("the course goes on");
                takes(&mut node, enabled[next]);
            }
            match differs {
                Differs::Departs(Departure::Does(action) | Departure::First(action)) => takes(&mut node, action),
                Differs::Departs(Departure::Waits(until)) => {
                    node.world.enabled(&self.setup, &mut enabled);
                    let next = node.course.next(&enabled).expect("somebody waits");
                    node.waits::<W>(enabled[next], until);
                }
                Differs::GoesOn(action) => node.course.release(action),
            }
        }
        node.chosen = 0;
        node
    }

    /// Each of these, and each few of them together, may go on here.
    fn fork(&mut self, node: &Node<W::Turn>, id: u32, forks: Forks) {
        let first = self.open.len();
        for action in forks.into_iter().flatten() {
            let others = first..self.open.len();
            self.goes_on(node, id, action);
            for other in others {
                let (node, id) = self.open[other];
                self.goes_on(&node, id, action);
            }
        }
    }

    fn goes_on(&mut self, node: &Node<W::Turn>, id: u32, action: Action) {
        let mut released = Node { chosen: 0, ..*node };
        released.course.release(action);
        let id = self.start(id, node.chosen, Differs::GoesOn(action));
        self.open.push((released, id));
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

    fn take(&mut self, node: &mut Node<W::Turn>, action: Action, branch: u32, depth: u8) -> Forks {
        let steps = node.steps + 1;
        let Search { setup, full_price, best, .. } = self;
        node.takes(setup, action, |world, index, task| {
            let price = *full_price - world.shared.budget.price_left();
            note(best, index, Best { price, depth, steps, branch, task });
        })
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
        let Search { visited, stopped, saturated, .. } = self;
        Sweep { within, worlds: visited.len(), stopped, saturated, broken }
    }

    /// How a branch differs from the normal course, each time after so many choices.
    fn way(&self, branch: u32) -> Vec<(u32, Differs)> {
        let mut way = Vec::new();
        let mut at = branch;
        while at != 0 {
            let Start { parent, offset, differs } = self.starts[at as usize];
            way.push((offset, differs.expect("only the first branch is the normal course")));
            at = parent;
        }
        way.reverse();
        way
    }

    /// The departures of a branch, each with its place by name: the run is made once more.
    fn deviations(&self, scenario: &Scenario, design: &dyn Design, branch: u32) -> Vec<Deviation> {
        let mut tracer =
            Tracer { way: self.way(branch), at: 0, offset: 0, track: Track::<W::Turn>::default(), found: Vec::new() };
        run(scenario, design, &mut tracer);
        tracer.found
    }
}

fn note(best: &mut [Option<Best>; COUNT], index: usize, new: Best) {
    let old = best[index].get_or_insert(new);
    *old = (*old).min(new);
}

/// Goes the way of a branch, and names the places of its departures.
struct Tracer<T> {
    way: Vec<(u32, Differs)>,
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
            let Some(&(_, differs)) = self.way.get(self.at).filter(|it| it.0 == self.offset) else {
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
    for (action, seen) in node.waits {
        if action.is_some_and(|it| node.course.waits_to_the_last(it)) {
            action.hash(&mut mixed);
            mixed.add(seen as u64); // what it has seen ends its wait no more
            mixed.add((seen >> 64) as u64);
        }
    }
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
