//! What can become of a world if nobody outside acts any more.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::Ordering;

use super::{Cap, Recording, Rescue, Stopped};
use crate::invariants::{INVARIANTS, Kind};
use crate::model::design::Design;
use crate::model::rules::{Action, Class, Enabled, Setup};
use crate::model::world::World;
use crate::run::Monitors;
use crate::scenario::Scenario;
use crate::scheduler::{Among, Normal};
use crate::search::fingerprint::{fingerprint, mixed};

/// A world of a run, with what matters beside it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    world: World,
    monitors: Monitors,
    /// The last action: after it the normal schedule knows how to go on.
    turn: Option<Action>,
}

impl Place {
    /// Before each step of a run that is a choice, up to the one that breaks the invariant.
    pub(super) fn all(scenario: &Scenario, design: &dyn Design, run: &Recording, invariant: usize) -> Vec<Place> {
        let setup = scenario.setup(design);
        let broken = run.report.broken[invariant].expect("it is broken");
        let mut place = Place { world: run.start, monitors: Monitors::NONE, turn: None };
        let mut all = Vec::new();
        let mut time = 0;
        for taken in &run.steps[..=broken.step as usize] {
            all.push(place);
            let seconds = (taken.time - time) as u16; // no window is longer
            place.monitors.check(&place.world, taken.action, &taken.world, &setup, seconds, |_, _| {});
            (place.world, place.turn, time) = (taken.world, Some(taken.action), taken.time);
        }
        all.split_off(scenario.prefix().count().min(all.len()))
    }
}

/// How what can follow a world ends.
pub(super) enum Ending {
    /// By these actions, in a rest at which the invariant holds.
    Well(Vec<Action>),
    /// In no such rest, whatever happens: everything was tried.
    Badly,
    /// Not everything was tried.
    Unknown(Stopped),
}

/// The search ahead, from one world after the other.
pub(super) struct Ahead<'a> {
    setup: Setup<'a>,
    invariant: usize,
    cap: Cap<'a>,
    /// Worlds that cannot end well. While a search goes on, also those that it has met.
    lost: HashSet<u64>,
    worlds: usize,
}

/// How a world was met: from which other, and by what.
#[derive(Clone, Copy)]
struct Met {
    fingerprint: u64,
    from: usize,
    by: Option<Action>,
}

impl<'a> Ahead<'a> {
    /// As long as fewer worlds wait, those with the fewest departures from the normal schedule are left first, which
    /// finds a way soon where there is one. Then the latest are, so that no more and more have to wait.
    const WAITING: usize = 4_096;
    /// The most worlds that a glance or the search for a rescue visits.
    const GLANCE: usize = 1_000;
    /// The most worlds from which a rescue is looked for.
    const RESCUES: usize = 20_000;

    pub(super) fn new(scenario: &Scenario, design: &'a dyn Design, invariant: usize, cap: Cap<'a>) -> Ahead<'a> {
        let (setup, lost) = (scenario.setup(design), HashSet::new());
        Ahead { setup, invariant, cap, lost, worlds: 0 }
    }

    /// Worlds that were visited.
    pub(super) fn worlds(&self) -> usize {
        self.worlds
    }

    /// How what can follow ends, within what is left of the cap.
    pub(super) fn ends(&mut self, from: &Place) -> Ending {
        self.ends_within(from, self.cap.worlds)
    }

    /// A good end, if one is to be seen at a glance.
    pub(super) fn glances(&mut self, from: &Place) -> Option<Vec<Action>> {
        match self.ends_within(from, self.worlds + Ahead::GLANCE) {
            Ending::Well(way) => Some(way),
            Ending::Badly | Ending::Unknown(_) => None,
        }
    }

    fn ends_within(&mut self, from: &Place, most_worlds: usize) -> Ending {
        let mut met = Vec::new();
        let ending = self.follows(from, most_worlds, &mut met);
        if !matches!(ending, Ending::Badly) {
            for it in &met {
                self.lost.remove(&it.fingerprint);
            }
        }
        ending
    }

    fn follows(&mut self, from: &Place, most_worlds: usize, met: &mut Vec<Met>) -> Ending {
        if !self.meets(from, 0, None, met) {
            return Ending::Badly;
        }
        let mut waiting = VecDeque::from([(*from, 0)]);
        let mut enabled = Enabled::default();
        loop {
            let next = if waiting.len() < Ahead::WAITING { waiting.pop_front() } else { waiting.pop_back() };
            let Some((mut place, mut at)) = next else { return Ending::Badly };
            loop {
                if self.cap.stop.is_some_and(|it| it.load(Ordering::Relaxed)) {
                    return Ending::Unknown(Stopped::Interrupted);
                }
                if self.worlds > most_worlds {
                    return Ending::Unknown(Stopped::Cap);
                }
                place.world.enabled(&self.setup, &mut enabled);
                if enabled.is_at_rest() && !place.world.is_passing() {
                    if self.holds_at_rest(&place.world) {
                        return Ending::Well(way(met, at));
                    }
                    break;
                }
                let normal = Normal::choose(&enabled, place.turn);
                for (index, &action) in enabled.iter().enumerate() {
                    if Some(index) != normal && Among::Inside.includes(action) {
                        let after = self.after(&place, action);
                        if let Some(after) = after.filter(|it| self.meets(it, at, Some(action), met)) {
                            waiting.push_back((after, met.len() - 1));
                        }
                    }
                }
                let Some(action) = normal.map(|it| enabled[it]) else { break };
                let after = self.after(&place, action);
                let Some(after) = after.filter(|it| self.meets(it, at, Some(action), met)) else { break };
                (place, at) = (after, met.len() - 1);
            }
        }
    }

    /// Notes a world; returns false where somebody has been.
    fn meets(&mut self, place: &Place, from: usize, by: Option<Action>, met: &mut Vec<Met>) -> bool {
        let own = place.monitors.pending().filter(|it| usize::from(it.0) == self.invariant);
        let fingerprint = own.fold(fingerprint(&place.world), |all, (_, t, seconds)| {
            mixed(all, u64::from(t) << 16 | u64::from(seconds))
        });
        let is_new = self.lost.insert(fingerprint);
        if is_new {
            self.worlds += 1;
            met.push(Met { fingerprint, from, by });
        }
        is_new
    }

    /// The place after an action, unless that breaks the invariant.
    fn after(&self, place: &Place, action: Action) -> Option<Place> {
        let mut next = Place { turn: Some(action), ..*place };
        let seconds = next.world.seconds_of(&self.setup, action);
        assert!(next.world.fire(&self.setup, action), "{action} is not enabled here");
        let mut broke = false;
        if !matches!(INVARIANTS[self.invariant].broken, Kind::AtRest(_)) {
            let noted = |index, _| broke |= index == self.invariant;
            next.monitors.check(&place.world, action, &next.world, &self.setup, seconds, noted);
        }
        (!broke).then_some(next)
    }

    fn holds_at_rest(&self, world: &World) -> bool {
        match INVARIANTS[self.invariant].broken {
            Kind::AtRest(broken) | Kind::Within(_, broken) => world.task_ids().all(|t| !broken(world, &self.setup, t)),
            Kind::Step(_) => true,
        }
    }

    /// The fewest steps that would have had to come before `closing` for a way to be left: fewer before more, and as many
    /// in canonical order.
    pub(super) fn rescue(&mut self, from: &Place, closing: Action) -> Option<Rescue> {
        let mut seen = HashSet::from([fingerprint(&from.world)]);
        let mut waiting = VecDeque::from([(*from, Vec::new())]);
        let mut enabled = Enabled::default();
        while let Some((mut place, steps)) = waiting.pop_front() {
            place.world.enabled(&self.setup, &mut enabled);
            for &action in enabled.iter().filter(|it| **it != closing && Among::Inside.includes(**it)) {
                let Some(after) = self.after(&place, action).filter(|it| seen.insert(fingerprint(&it.world))) else {
                    continue;
                };
                let steps: Vec<Action> = steps.iter().copied().chain([action]).collect();
                if let Some(instead) = self.leaves_a_way(&after, closing) {
                    return Some(Rescue { steps, instead });
                }
                if seen.len() > Ahead::RESCUES {
                    return None;
                }
                waiting.push_back((after, steps));
            }
        }
        None
    }

    /// Whether there is a way after `closing` or, where it is not enabled any more, without it.
    fn leaves_a_way(&mut self, place: &Place, closing: Action) -> Option<bool> {
        let mut enabled = Enabled::default();
        let mut world = place.world;
        world.enabled(&self.setup, &mut enabled);
        if enabled.contains(&closing) {
            let closed = self.after(place, closing)?;
            return self.glances(&closed).map(|_| false);
        }
        let way = self.glances(place).filter(|way| closing.class() != Class::Clock && !way.contains(&closing));
        way.map(|_| true)
    }
}

/// The actions by which a world was met.
fn way(met: &[Met], mut at: usize) -> Vec<Action> {
    let mut actions = Vec::new();
    while let Some(action) = met[at].by {
        actions.push(action);
        at = met[at].from;
    }
    actions.reverse();
    actions
}
