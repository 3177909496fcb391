//! Livelocks: the normal schedule, which is fair, goes on for ever.
//!
//! The normal schedule is a function of a world and of whose turn it is, so it goes on for ever exactly if it comes back
//! to a world with the same turn. From the world of such a cycle that is farthest from the start, a step leads to one
//! that is no farther. So the normal schedule is followed from every step which leads no farther, for as long as it
//! stays no farther itself, and that is not for long. It finds every cycle there is, from every world and whoever's turn
//! it is there.

use crate::model::rules::{Action, Class, Enabled, Setup};
use crate::model::world::World;
use crate::scheduler::Normal;

use super::table::{Table, fingerprint, mixed};

/// A schedule after which the normal one never comes to rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Livelock {
    /// What the outside world had to do wrong for it: there is none at a lower price.
    pub price: u8,
    /// The actions after which the normal schedule goes on for ever, without the scenario's prefix. It is cut as short as
    /// it can be; another livelock may have a shorter one.
    pub schedule: Vec<Action>,
    /// What is then repeated.
    pub cycle: Vec<Action>,
}

impl Livelock {
    /// Whether all of it happens within one instant: then somebody who polls does so without ever letting time go by, and
    /// whoever waits for a time waits in vain.
    pub fn is_instant(&self) -> bool {
        self.cycle.iter().all(|it| it.class() != Class::Clock)
    }

    /// Cuts a schedule that ends in a livelock as short as it can be. `turn` is the last action before it.
    pub(super) fn after(
        setup: &Setup<'_>,
        start: &World,
        mut turn: Action,
        schedule: &[Action],
        price: u8,
    ) -> Livelock {
        let mut world = *start;
        let mut ways = Ways::default();
        for len in 0..=schedule.len() {
            if let Some(last) = len.checked_sub(1) {
                turn = schedule[last];
                assert!(world.fire(setup, turn), "{turn} is not enabled here");
            }
            let mut ahead = world;
            let mut way = ways.begins(fingerprint(&world), turn);
            while ways.is_new(&mut way) && ways.goes_on(setup, &mut ahead, &mut way) {}
            if way.came_back {
                let cycle = round(setup, &ahead, way.turn);
                return Livelock { price, schedule: schedule[..len].to_vec(), cycle };
            }
        }
        unreachable!("the schedule ends in a livelock")
    }
}

/// The ways of the normal schedule that a thread has followed at one level.
#[derive(Debug, Default)]
pub(super) struct Ways {
    /// Worlds and turns, each with the first way that led there.
    taken: Table<u32>,
    count: u32,
    enabled: Enabled,
}

/// Where one of these ways is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    number: u32,
    pub(super) fingerprint: u64,
    turn: Action,
    pub(super) came_back: bool,
}

impl Ways {
    /// Forgets them: what was far at one level is no longer at the next.
    pub(super) fn clear(&mut self) {
        self.taken.clear();
        self.count = 0;
    }

    pub(super) fn begins(&mut self, fingerprint: u64, turn: Action) -> Way {
        self.count += 1;
        Way { number: self.count, fingerprint, turn, came_back: false }
    }

    /// Nobody came this way before. If it did so itself, it goes round for ever; if another did, that one goes on.
    pub(super) fn is_new(&mut self, way: &mut Way) -> bool {
        let place = |it: Option<u8>| it.map_or(0, |it| u64::from(it) + 1);
        let (node, task) = (place(way.turn.node().map(|it| it.0)), place(way.turn.task().map(|it| it.0)));
        let here = mixed(way.fingerprint, (way.turn.rule() as u64) << 16 | node << 8 | task);
        let first = self.taken.get(here);
        way.came_back = first == Some(way.number);
        if first.is_none() {
            self.taken.insert(here, way.number);
        }
        first.is_none()
    }

    /// Takes a step of the normal schedule; returns false at rest.
    pub(super) fn goes_on(&mut self, setup: &Setup<'_>, world: &mut World, way: &mut Way) -> bool {
        world.enabled(setup, &mut self.enabled);
        if self.enabled.is_at_rest() && !world.is_passing() {
            return false;
        }
        let Some(choice) = Normal::choose(&self.enabled, Some(way.turn)) else { return false };
        way.turn = self.enabled[choice];
        assert!(world.fire(setup, way.turn), "{} is not enabled here", way.turn);
        way.fingerprint = fingerprint(world);
        true
    }
}

/// The actions of the normal schedule from `start`, which is on a cycle, until it comes back.
fn round(setup: &Setup<'_>, start: &World, turn: Action) -> Vec<Action> {
    let mut world = *start;
    let mut enabled = Enabled::default();
    let mut round = vec![];
    let mut last = turn;
    loop {
        world.enabled(setup, &mut enabled);
        last = enabled[Normal::choose(&enabled, Some(last)).expect("it never rests")];
        assert!(world.fire(setup, last), "{last} is not enabled here");
        round.push(last);
        if last == turn && world == *start {
            return round;
        }
    }
}
