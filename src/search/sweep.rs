use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use crate::event::Event;
use crate::invariants::COUNT;
use crate::model::design::Design;
use crate::model::place::TaskId;
use crate::model::rules::{Action, Class, Enabled, Setup};
use crate::model::world::World;
use crate::run::{Monitors, STEPS, check_at_rest, run};
use crate::scenario::Scenario;
use crate::scheduler::{Course, Departure, Deviating, Deviation, Landmarks, Until};

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
    let start = Node { world, course, monitors, steps };
    let mut search = Search {
        setup,
        full_price,
        visited: HashSet::default(),
        starts: vec![Start { parent: 0, offset: 0, departure: None }],
        best: [None; COUNT],
        most_worlds,
        partial: false,
    };
    let mut level = vec![(start, 0)];
    let mut done = 0;
    for depth in 0..=within {
        let mut next = Vec::new();
        for (node, from) in level {
            search.follow(node, from, depth, (depth < within).then_some(&mut next));
            if search.partial {
                break;
            }
        }
        if search.partial {
            break;
        }
        done = depth;
        level = next;
    }
    search.report(scenario, design, done)
}

/// Where a branch of the search is.
#[derive(Clone, Copy)]
struct Node {
    world: World,
    course: Course,
    monitors: Monitors,
    steps: u32,
}

/// How a branch came about: from another, after so many choices of its course.
#[derive(Clone, Copy)]
struct Start {
    parent: u32,
    offset: u32,
    departure: Option<Departure>,
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

struct Search<'a> {
    setup: Setup<'a>,
    full_price: u8,
    visited: HashSet<u64, BuildHasherDefault<Ready>>,
    starts: Vec<Start>,
    best: [Option<Best>; COUNT],
    most_worlds: usize,
    partial: bool,
}

impl Search<'_> {
    /// Follows the normal course from `node` to rest, or to where somebody has been; notes where it could be left.
    fn follow(&mut self, mut node: Node, branch: u32, depth: u8, mut next: Option<&mut Vec<(Node, u32)>>) {
        let mut enabled = Enabled::default();
        let mut offset = 0;
        loop {
            if !self.visited.insert(fingerprint(&node)) {
                return;
            }
            if self.visited.len() >= self.most_worlds || node.steps >= STEPS {
                self.partial = true;
                return;
            }
            node.world.enabled(&self.setup, &mut enabled);
            if enabled.is_at_rest() && !node.world.is_passing() {
                let Node { world, steps, .. } = node;
                let (setup, price) = (self.setup, self.full_price - world.shared.budget.price_left());
                let best = &mut self.best;
                check_at_rest(&world, &setup, |index, task| note(best, index, Best { price, depth, steps, branch, task }));
            }
            let chosen = node.course.next(&enabled);
            if let Some(out) = next.as_deref_mut() {
                self.leave(&node, &enabled, chosen, branch, offset, depth, out);
            }
            let Some(chosen) = chosen else { return };
            self.take(&mut node, enabled[chosen], branch, depth);
            offset += 1;
        }
    }

    /// Every departure that there is at `node`.
    #[allow(clippy::too_many_arguments)]
    fn leave(
        &mut self,
        node: &Node,
        enabled: &Enabled,
        chosen: Option<usize>,
        branch: u32,
        offset: u32,
        depth: u8,
        out: &mut Vec<(Node, u32)>,
    ) {
        for (index, &action) in enabled.iter().enumerate() {
            let departure = match action.class() {
                _ if Some(index) == chosen => continue,
                Class::Operator | Class::Fault => Departure::Does(action),
                Class::Step | Class::Clock | Class::Recovery => Departure::First(action),
            };
            let branch = self.start(branch, offset, departure);
            let mut left = *node;
            self.take(&mut left, action, branch, depth + 1);
            out.push((left, branch));
        }
        let Some(action) = chosen.map(|it| enabled[it]).filter(|it| it.class() == Class::Step) else { return };
        let mut untils = vec![Until::Last];
        if enabled.iter().filter(|it| it.class() == Class::Step).count() > 1 {
            untils.push(Until::LastInInstant);
        }
        untils.extend(node.world.task_ids().flat_map(Event::all).map(Until::Event));
        for until in untils {
            let mut left = *node;
            if left.course.waits(action, until) {
                let branch = self.start(branch, offset, Departure::Waits(until));
                out.push((left, branch));
            }
        }
    }

    fn start(&mut self, parent: u32, offset: u32, departure: Departure) -> u32 {
        self.starts.push(Start { parent, offset, departure: Some(departure) });
        self.starts.len() as u32 - 1
    }

    fn take(&mut self, node: &mut Node, action: Action, branch: u32, depth: u8) {
        let was = node.world;
        let seconds = if action.class() == Class::Clock { node.world.seconds_ahead(&self.setup) } else { 0 };
        assert!(node.world.fire(&self.setup, action), "{action} is not enabled here");
        let price = self.full_price - node.world.shared.budget.price_left();
        let steps = node.steps + 1;
        let best = &mut self.best;
        node.monitors.check(&was, action, &node.world, &self.setup, seconds, |index, task| {
            note(best, index, Best { price, depth, steps, branch, task });
        });
        node.course.takes(action, Event::between(&was, &node.world));
        node.steps = steps;
    }

    fn report(self, scenario: &Scenario, design: &dyn Design, within: u8) -> Sweep {
        let broken = self.best.iter().enumerate().filter_map(|(invariant, it)| {
            let Best { price, steps, branch, task, .. } = (*it)?;
            let deviations = self.deviations(scenario, design, branch);
            let report = run(scenario, design, &mut Deviating::new(&deviations));
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
            let Start { parent, offset, departure } = self.starts[at as usize];
            chain.push((offset, departure.expect("only the first branch has no departure")));
            at = parent;
        }
        chain.reverse();
        let mut tracer = Tracer { chain, at: 0, offset: 0, course: Course::default(), landmarks: Landmarks::default(), found: Vec::new() };
        run(scenario, design, &mut tracer);
        tracer.found
    }
}

fn note(best: &mut [Option<Best>; COUNT], index: usize, new: Best) {
    let old = best[index].get_or_insert(new);
    *old = (*old).min(new);
}

/// Goes a chain of departures given by counts of choices, and names their places.
struct Tracer {
    chain: Vec<(u32, Departure)>,
    at: usize,
    offset: u32,
    course: Course,
    landmarks: Landmarks,
    found: Vec<Deviation>,
}

impl crate::scheduler::Scheduler for Tracer {
    fn pick(&mut self, enabled: &Enabled, last: crate::scheduler::Fired) -> Option<usize> {
        if let Some(action) = last.action {
            self.course.takes(action, last.event);
            self.landmarks.passes(last.event);
        }
        loop {
            let next = self.course.next(enabled);
            let point = self.landmarks.point(next.map(|it| enabled[it]));
            let Some(&(_, departure)) = self.chain.get(self.at).filter(|it| it.0 == self.offset) else {
                self.offset += 1;
                return next;
            };
            self.at += 1;
            self.offset = 0;
            self.found.push(Deviation { point, departure });
            match departure {
                Departure::Does(action) | Departure::First(action) => {
                    return enabled.iter().position(|&it| it == action);
                }
                Departure::Waits(until) => {
                    self.course.waits(enabled[next.expect("somebody waits")], until);
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
fn fingerprint(node: &Node) -> u64 {
    let mut mixed = Mixer(0x9E37_79B9_7F4A_7C15);
    for part in node.world.bytes() {
        mixed.write(part);
    }
    std::hash::Hash::hash(&node.course, &mut mixed);
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
}
