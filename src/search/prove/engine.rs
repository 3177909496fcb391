//! The search of one price: level by level, in rounds.
//!
//! In a round a number of worlds are left, by threads that only read what is known; then what they met is taken in, by
//! threads that each own a part of it. Pieces, parts and their order are always the same, so threads change nothing but
//! the time.

use std::hint::black_box;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::thread;

use crate::invariants::{COUNT, INVARIANTS, Kind};
use crate::model::design::Design;
use crate::model::place::TaskId;
use crate::model::rules::{Action, Class, Enabled, Setup};
use crate::model::world::World;
use crate::run::{Monitors, check_at_rest, check_step};
use crate::scenario::Scenario;

use super::frontier::{Frontier, Open, Packed, copy};
use super::livelock::{Livelock, Way, Ways};
use super::table::{PARTS, Table, beside, fingerprint, part};
use super::{Bounds, Cheapest, Cut, Extent};

/// Worlds of a piece.
const PIECE: usize = 256;
/// Pieces that are left before what was met is taken in.
const ROUND: usize = 64;
/// Worlds that are looked up together.
const TOGETHER: usize = 64;

pub(super) struct Search<'a> {
    setup: Setup<'a>,
    start: World,
    /// The last action of the prefix.
    turn: Action,
    price: u8,
    bounds: Bounds<'a>,
    parts: Vec<Part>,
    /// Broken at a lower price: nothing cheaper is left to find.
    known: [bool; COUNT],
    best: [Option<Best>; COUNT],
    /// No livelock is known yet.
    follows: bool,
    restless: Option<Restless>,
    extent: Extent,
    /// Steps to the worlds that are being left.
    steps: u32,
}

/// A violation, by where it came about: after the way to a node and, unless that is at rest, one more choice.
#[derive(Clone, Copy, Debug)]
struct Best {
    steps: u32,
    node: u32,
    choice: Option<u8>,
    task: TaskId,
}

/// A transition after which the normal schedule never comes to rest.
#[derive(Clone, Copy, Debug)]
struct Restless {
    node: u32,
    choice: u8,
}

/// What is known of the worlds whose fingerprints begin alike.
struct Part {
    visited: Table<()>,
    /// Those of them that were first met from the level that is being left.
    fresh: Table<()>,
    /// The longest time for which an invariant has been broken in a world, where it has been at all.
    longest: Table<u16>,
    /// The tree of first ways: from which node, and by which of the actions enabled there.
    parents: Vec<u32>,
    choices: Vec<u8>,
    next: Frontier,
    extent: Extent,
}

/// Worlds that one thread leaves at a time.
struct Piece {
    part: usize,
    range: Range<usize>,
}

/// A world that was met, and how.
#[derive(Clone, Copy, Debug)]
struct Met {
    fingerprint: u64,
    node: u32,
    choice: u8,
    /// One more than the place of its monitors; 0 where nothing has been broken for any time.
    watch: u32,
    /// What was done, if the normal schedule might have.
    turn: Option<Action>,
    new: bool,
}

/// What came of leaving a piece: worlds of which something may come, and what was seen on the way.
struct Batch {
    worlds: Packed,
    met: Vec<Met>,
    by_part: [Vec<u32>; PARTS],
    monitors: Vec<Monitors>,
    best: [Option<Best>; COUNT],
    restless: Option<Restless>,
    extent: Extent,
    new: usize,
}

/// What a thread works with.
struct Worker {
    was: World,
    enabled: Enabled,
    /// Worlds that have still to be looked up, as many as there are in `met`.
    waiting: Vec<World>,
    met: Vec<Met>,
    ways: Ways,
    /// Ways that are being followed, each with its place in `met`.
    open: Vec<(Way, usize)>,
}

impl<'a> Search<'a> {
    pub(super) fn new(scenario: &Scenario, design: &'a dyn Design, bounds: Bounds<'a>) -> Search<'a> {
        let setup = scenario.setup(design);
        let mut start = scenario.empty_cluster().expect("the scope of a scenario is checked when it is made");
        let turn = scenario.prefix().last().expect("a scenario has a task");
        let mut steps = 0;
        for action in scenario.prefix() {
            assert!(start.fire(&setup, action), "{action} is not enabled here");
            steps += 1;
        }
        Search {
            setup,
            start,
            turn,
            price: scenario.price,
            bounds,
            parts: (0..PARTS).map(|_| Part::like(&start)).collect(),
            known: [false; COUNT],
            best: [None; COUNT],
            follows: true,
            restless: None,
            extent: Extent { steps, ..Extent::default() },
            steps,
        }
    }

    /// Leaves out what is known already, from lower prices.
    pub(super) fn spares(&mut self, broken: &[Cheapest], livelock: bool) {
        for it in broken {
            self.known[it.invariant] = true;
        }
        self.follows = !livelock;
    }

    pub(super) fn extent(&self) -> Extent {
        self.extent
    }

    /// Goes through all worlds. Where it has to stop, it returns within how many steps it tried everything, and why.
    pub(super) fn goes(&mut self) -> Result<(), (u32, Cut)> {
        let first = fingerprint(&self.start);
        self.parts[part(first)].begins(first, &self.start);
        self.extent.worlds = 1;
        let jobs = self.bounds.jobs.max(1);
        let mut workers: Vec<Worker> = (0..jobs).map(|_| Worker::like(&self.start)).collect();
        let mut batches: Vec<Batch> = (0..ROUND).map(|_| Batch::like(&self.start)).collect();
        let mut level: Vec<Frontier> = (0..PARTS).map(|_| Frontier::like(&self.start)).collect();
        loop {
            for (part, level) in self.parts.iter_mut().zip(&mut level) {
                part.changes_level(level);
            }
            if level.iter().all(|it| it.open.is_empty()) {
                return Ok(());
            }
            self.extent.steps = self.steps;
            for worker in &mut workers {
                worker.ways.clear();
            }
            let watched = self.watched();
            let pieces: Vec<Piece> = level.iter().enumerate().flat_map(|(part, it)| pieces(part, it)).collect();
            for round in pieces.chunks(ROUND) {
                let batches = &mut batches[..round.len()];
                let search = &*self;
                share(&mut workers, batches, |worker, at, batch| {
                    search.leaves(&level[round[at].part], round[at].range.clone(), &watched, worker, batch);
                });
                for batch in batches.iter() {
                    self.notes(batch);
                }
                let met: usize = batches.iter().map(|it| it.new).sum();
                let full = self.extent.worlds as usize + met > self.bounds.most_worlds;
                if full || self.bounds.stop.is_some_and(|it| it.load(Ordering::Relaxed)) {
                    let why = if full { Cut::AtWorlds } else { Cut::Interrupted };
                    return Err((self.steps.saturating_sub(1), why));
                }
                share(&mut workers, &mut self.parts, |_, at, part| part.takes_in(at, batches, &watched));
                for part in &mut self.parts {
                    let Extent { worlds, again, .. } = std::mem::take(&mut part.extent);
                    self.extent.worlds += worlds;
                    self.extent.again += again;
                }
                if let Some(told) = self.bounds.told {
                    told(self.price, &self.extent);
                }
            }
            self.steps += 1;
        }
    }

    /// Invariants for which it still matters how long they have been broken.
    fn watched(&self) -> [bool; COUNT] {
        std::array::from_fn(|index| {
            let within = matches!(INVARIANTS[index].broken, Kind::Within(..));
            within && !self.known[index] && self.best[index].is_none()
        })
    }

    /// Leaves worlds of a level by every action that is enabled there.
    fn leaves(
        &self,
        level: &Frontier,
        range: Range<usize>,
        watched: &[bool; COUNT],
        worker: &mut Worker,
        batch: &mut Batch,
    ) {
        batch.clear();
        let setup = &self.setup;
        for at in range {
            let Open { node, watch, again } = level.open[at];
            level.worlds.load(at, &mut worker.was);
            worker.was.enabled(setup, &mut worker.enabled);
            if !again {
                batch.extent.transitions += worker.enabled.len() as u64;
                if worker.enabled.is_at_rest() && !worker.was.is_passing() {
                    batch.extent.at_rest += 1;
                    check_at_rest(&worker.was, setup, |index, task| {
                        note(&mut batch.best, index, Best { steps: self.steps, node, choice: None, task });
                    });
                }
            }
            // What lower prices allow has been followed before.
            let follows = self.follows && !again && worker.was.shared.budget.price_left() == 0;
            let normal = if follows { normal_class(&worker.enabled) } else { None };
            for choice in 0..worker.enabled.len() {
                let action = worker.enabled[choice];
                let choice = choice as u8;
                let (was, is) = (&worker.was, &mut worker.waiting[worker.met.len()]);
                copy(was, is);
                let seconds = is.seconds_of(setup, action);
                let touched = is.fire_touching(was, setup, action);
                let touched = touched.unwrap_or_else(|| panic!("{action} is not enabled here"));
                let mut monitors = if watch == 0 { Monitors::NONE } else { level.monitors[watch as usize - 1] };
                let noted = |index, task| {
                    note(&mut batch.best, index, Best { steps: self.steps + 1, node, choice: Some(choice), task });
                };
                if watch == 0 && seconds == 0 {
                    check_step((was, action, is), touched, noted); // nothing has been broken for any time
                } else {
                    monitors.check_touched((was, action, is), touched, setup, seconds, noted);
                }
                let pending = (watch > 0 || seconds > 0) && monitors.pending().any(|it| watched[it.0 as usize]);
                if pending {
                    batch.monitors.push(monitors);
                }
                let watch = if pending { batch.monitors.len() as u32 } else { 0 };
                let turn = (normal == Some(action.class())).then_some(action);
                let fingerprint = fingerprint(is);
                worker.met.push(Met { fingerprint, node, choice, watch, turn, new: false });
                if worker.met.len() == TOGETHER {
                    self.looks_up(watched, worker, batch);
                }
            }
        }
        self.looks_up(watched, worker, batch);
    }

    /// Looks up the worlds that wait for it, and keeps those of which something may come.
    fn looks_up(&self, watched: &[bool; COUNT], worker: &mut Worker, batch: &mut Batch) {
        self.touches(worker.met.iter().map(|it| it.fingerprint));
        for at in 0..worker.met.len() {
            let mut met = worker.met[at];
            let owner = part(met.fingerprint);
            let known = &self.parts[owner];
            let fresh = known.fresh.contains(met.fingerprint);
            met.new = !fresh && !known.visited.contains(met.fingerprint);
            if let Some(turn) = met.turn.filter(|_| !met.new && !fresh && self.restless.is_none()) {
                worker.open.push((worker.ways.begins(met.fingerprint, turn), at));
            }
            let monitors = (met.watch > 0).then(|| &batch.monitors[met.watch as usize - 1]);
            if met.new || monitors.is_some_and(|it| known.is_longer(met.fingerprint, it, watched)) {
                batch.new += usize::from(met.new);
                batch.by_part[owner].push(batch.met.len() as u32);
                batch.met.push(met);
                batch.worlds.push(&worker.waiting[at]);
            }
        }
        self.follows_ways(worker, batch);
        worker.met.clear();
    }

    /// Follows the normal schedule on all open ways, for as long as they come no farther from the start.
    fn follows_ways(&self, worker: &mut Worker, batch: &mut Batch) {
        let Worker { waiting, met, ways, open, .. } = worker;
        batch.extent.followed += open.len() as u64;
        while !open.is_empty() {
            open.retain_mut(|(way, at)| {
                if !self.parts[part(way.fingerprint)].is_no_farther(way.fingerprint) {
                    return false;
                }
                if ways.is_new(way) {
                    return ways.goes_on(&self.setup, &mut waiting[*at], way);
                }
                if way.came_back {
                    let Met { node, choice, .. } = met[*at];
                    batch.restless.get_or_insert(Restless { node, choice });
                }
                false
            });
            self.touches(open.iter().map(|it| it.0.fingerprint));
        }
    }

    /// Lets the memory fetch side by side what will be looked up one after the other.
    fn touches(&self, fingerprints: impl Iterator<Item = u64>) {
        let touched = fingerprints.fold(0, |all, it| {
            let part = &self.parts[part(it)];
            all ^ part.visited.touch(it) ^ part.fresh.touch(it)
        });
        black_box(touched);
    }

    fn notes(&mut self, batch: &Batch) {
        self.extent.transitions += batch.extent.transitions;
        self.extent.at_rest += batch.extent.at_rest;
        self.extent.followed += batch.extent.followed;
        self.restless = self.restless.or(batch.restless);
        for (index, it) in batch.best.iter().enumerate() {
            if let Some(new) = *it {
                note(&mut self.best, index, new);
            }
        }
    }

    /// The cheapest violations that were not known before.
    pub(super) fn broken(&self) -> impl Iterator<Item = Cheapest> + '_ {
        let found = self.best.iter().enumerate().filter(|it| !self.known[it.0]);
        found.filter_map(|(invariant, it)| {
            let Best { steps, node, choice, task } = (*it)?;
            Some(Cheapest { invariant, task, price: self.price, steps, schedule: self.schedule(node, choice) })
        })
    }

    pub(super) fn livelock(&self) -> Option<Livelock> {
        let Restless { node, choice } = self.restless?;
        let schedule = self.schedule(node, Some(choice));
        Some(Livelock::after(&self.setup, &self.start, self.turn, &schedule, self.price))
    }

    /// The actions of the first way to a node, and then one more choice.
    fn schedule(&self, node: u32, choice: Option<u8>) -> Vec<Action> {
        let mut choices: Vec<u8> = choice.into_iter().collect();
        let mut at = node;
        loop {
            let (part, index) = place(at);
            let parent = self.parts[part].parents[index];
            if parent == at {
                break; // the start is its own parent
            }
            choices.push(self.parts[part].choices[index]);
            at = parent;
        }
        let mut world = self.start;
        let mut enabled = Enabled::default();
        let actions = choices.iter().rev().map(|&it| {
            world.enabled(&self.setup, &mut enabled);
            let action = enabled[it as usize];
            assert!(world.fire(&self.setup, action), "{action} is not enabled here");
            action
        });
        actions.collect()
    }

    /// Bytes of what is known, without the frontier.
    pub(super) fn memory(&self) -> usize {
        self.parts.iter().map(Part::memory).sum()
    }
}

impl Part {
    fn like(world: &World) -> Part {
        Part {
            visited: Table::default(),
            fresh: Table::default(),
            longest: Table::default(),
            parents: Vec::new(),
            choices: Vec::new(),
            next: Frontier::like(world),
            extent: Extent::default(),
        }
    }

    fn begins(&mut self, fingerprint: u64, start: &World) {
        self.visited.insert(fingerprint, ());
        let node = node(part(fingerprint), 0);
        self.parents.push(node);
        self.choices.push(0);
        self.next.worlds.push(start);
        self.next.open.push(Open { node, watch: 0, again: false });
    }

    /// What was met becomes the level that is left.
    fn changes_level(&mut self, level: &mut Frontier) {
        self.fresh.clear();
        level.clear();
        std::mem::swap(level, &mut self.next);
    }

    /// That world is no farther from the start than those that are being left.
    fn is_no_farther(&self, fingerprint: u64) -> bool {
        !self.fresh.contains(fingerprint) && self.visited.contains(fingerprint)
    }

    /// Something has been broken in that world for longer than ever before.
    fn is_longer(&self, fingerprint: u64, monitors: &Monitors, watched: &[bool; COUNT]) -> bool {
        monitors.pending().any(|(index, t, seconds)| {
            let longest = self.longest.get(beside(fingerprint, index, t));
            watched[index as usize] && longest.is_none_or(|longest| longest < seconds)
        })
    }

    fn lengthens(&mut self, fingerprint: u64, monitors: &Monitors, watched: &[bool; COUNT]) {
        for (index, t, seconds) in monitors.pending().filter(|it| watched[it.0 as usize]) {
            let key = beside(fingerprint, index, t);
            if self.longest.get(key).is_none_or(|longest| longest < seconds) {
                self.longest.insert(key, seconds);
            }
        }
    }

    /// Takes in its part of what was met, in order.
    fn takes_in(&mut self, own: usize, batches: &[Batch], watched: &[bool; COUNT]) {
        for batch in batches {
            for &at in &batch.by_part[own] {
                let at = at as usize;
                let Met { fingerprint, node: parent, choice, watch, new, .. } = batch.met[at];
                let new = new && self.visited.insert(fingerprint, ());
                let monitors = (watch > 0).then(|| &batch.monitors[watch as usize - 1]);
                let longer = monitors.filter(|it| self.is_longer(fingerprint, it, watched));
                if !new && longer.is_none() {
                    continue;
                }
                if new {
                    self.fresh.insert(fingerprint, ());
                    self.extent.worlds += 1;
                } else {
                    self.extent.again += 1;
                }
                if let Some(monitors) = longer {
                    self.lengthens(fingerprint, monitors, watched);
                    self.next.monitors.push(*monitors);
                }
                let watch = if longer.is_some() { self.next.monitors.len() as u32 } else { 0 };
                let node = node(own, self.parents.len());
                push(&mut self.parents, parent);
                push(&mut self.choices, choice);
                self.next.worlds.push_from(&batch.worlds, at);
                self.next.open.push(Open { node, watch, again: !new });
            }
        }
    }

    fn memory(&self) -> usize {
        let ways = self.parents.capacity() * size_of::<u32>() + self.choices.capacity();
        self.visited.size() + self.longest.size() + ways
    }
}

impl Batch {
    fn like(world: &World) -> Batch {
        Batch {
            worlds: Packed::like(world),
            met: Vec::new(),
            by_part: std::array::from_fn(|_| Vec::new()),
            monitors: Vec::new(),
            best: [None; COUNT],
            restless: None,
            extent: Extent::default(),
            new: 0,
        }
    }

    fn clear(&mut self) {
        self.worlds.clear();
        self.met.clear();
        self.by_part.iter_mut().for_each(Vec::clear);
        self.monitors.clear();
        self.best = [None; COUNT];
        self.restless = None;
        self.extent = Extent::default();
        self.new = 0;
    }
}

impl Worker {
    fn like(world: &World) -> Worker {
        Worker {
            was: *world,
            enabled: Enabled::default(),
            waiting: vec![*world; TOGETHER],
            met: Vec::new(),
            ways: Ways::default(),
            open: Vec::new(),
        }
    }
}

/// About how many bytes a world takes at the most: its 64 bits in a table that has room to spare and the way to it, and,
/// since up to an eighth of all worlds may wait to be left, that much of itself, twice while the room for it grows.
pub(super) fn bytes_each(scenario: &Scenario) -> usize {
    const KNOWN: usize = 24;
    KNOWN + scenario.empty_cluster().map_or(0, |it| it.size()) / 4
}

/// The class from which the normal schedule chooses, whoever's turn it is.
fn normal_class(enabled: &Enabled) -> Option<Class> {
    let any = |class| enabled.iter().any(|it| it.class() == class);
    [Class::Step, Class::Clock, Class::Recovery].into_iter().find(|&it| any(it))
}

fn note(best: &mut [Option<Best>; COUNT], index: usize, new: Best) {
    let old = best[index].get_or_insert(new);
    if new.steps < old.steps {
        *old = new;
    }
}

/// The number of the node at `index` of a part.
fn node(part: usize, index: usize) -> u32 {
    u32::try_from(index * PARTS + part).expect("there is no memory for more worlds than 32 bits can number")
}

fn place(node: u32) -> (usize, usize) {
    (node as usize % PARTS, node as usize / PARTS)
}

fn pieces(part: usize, frontier: &Frontier) -> impl Iterator<Item = Piece> + use<> {
    let len = frontier.open.len();
    (0..len).step_by(PIECE).map(move |from| Piece { part, range: from..(from + PIECE).min(len) })
}

/// Appends, and makes room by an eighth at a time.
fn push<T>(all: &mut Vec<T>, it: T) {
    if all.len() == all.capacity() {
        all.reserve_exact(all.len() / 8 + 64);
    }
    all.push(it);
}

/// Shares work among threads, one for each worker: who is free takes the next item. Each takes its items in their order:
/// so the first livelock is the same for any number of threads, since a way is dropped only for an earlier one.
fn share<W: Send, T: Send>(workers: &mut [W], items: &mut [T], work: impl Fn(&mut W, usize, &mut T) + Sync) {
    let items = items.iter_mut().enumerate();
    if let [only] = workers {
        return items.for_each(|(at, it)| work(only, at, it));
    }
    let items = Mutex::new(items);
    let next = || items.lock().expect("nobody panics who takes an item").next();
    thread::scope(|scope| {
        for worker in workers {
            scope.spawn(|| {
                while let Some((at, it)) = next() {
                    work(worker, at, it);
                }
            });
        }
    });
}
