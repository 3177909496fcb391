//! The normal course and its deviations.
//!
//! A schedule is told by where it departs from the normal one: somebody from outside does something, an action goes out
//! of turn, or an action waits. Each departure is anchored by name: after which visible change, and which action was
//! about to be taken for which time since. So it survives a change of the model that leaves these names alone.

use std::fmt;

use super::{Fired, Normal, Scheduler, Turn};
use crate::event::Event;
use crate::model::rules::{Action, Class, Enabled};

/// Until when an action waits. Windows bind all the same: what is due is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Until {
    /// Until nobody else owes an action within this instant.
    LastInInstant,
    /// Until nobody else owes an action at all, the clock included.
    Last,
    /// Until something has visibly changed.
    Event(Event),
}

/// A departure from the normal course.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Departure {
    /// An operator or a fault acts.
    Does(Action),
    /// An action goes out of turn.
    First(Action),
    /// The action that was about to be taken waits.
    Waits(Until),
}

/// Where a departure is: the course was about to take `next` for the `nth` time since the landmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Point {
    /// The last visible change before, and which of its kind it was, from 1; `None` before the first.
    pub after: Option<(Event, u8)>,
    /// What the course was about to do; `None` at rest.
    pub next: Option<Action>,
    /// For which time since, from 1.
    pub nth: u8,
}

/// A departure and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Deviation {
    /// Where.
    pub point: Point,
    /// What.
    pub departure: Departure,
}

/// The most actions that wait at a time.
pub(crate) const WAITS: usize = 4;

/// The normal course in the presence of actions that wait: its whole memory is whose turn it is and who waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Course<T> {
    turn: T,
    waits: [Option<(Action, Until)>; WAITS],
}

impl<T: Turn> Course<T> {
    /// What it takes next, by its index in `enabled`; nothing where only operators and faults are left.
    #[inline]
    pub(crate) fn next(&self, enabled: &Enabled) -> Option<usize> {
        if self.waits[0].is_none() {
            return Normal::choose(enabled, self.turn);
        }
        let of = |class: Class, passes: &dyn Fn(Action) -> bool| {
            let all = enabled.iter().copied().enumerate();
            self.turn.among(all.filter(|&(_, it)| it.class() == class && passes(it)))
        };
        of(Class::Step, &|it| self.wait_of(it).is_none())
            .or_else(|| of(Class::Step, &|it| self.wait_of(it) == Some(Until::LastInInstant)))
            .or_else(|| enabled.iter().position(|it| it.class() == Class::Clock)) // the boundary comes first
            .or_else(|| of(Class::Step, &|_| true))
            .or_else(|| of(Class::Recovery, &|_| true))
    }

    fn wait_of(&self, action: Action) -> Option<Until> {
        self.waits.iter().flatten().find(|it| it.0 == action).map(|it| it.1)
    }

    /// An action was taken, which brought about `event`.
    #[inline]
    pub(crate) fn takes(&mut self, action: Action, event: Option<Event>) {
        self.turn.passes(action);
        if self.waits[0].is_some() {
            self.keep(|(it, until)| it != action && event.is_none_or(|event| until != Until::Event(event)));
        }
    }

    /// Whether `action` waits until nobody else acts.
    #[inline]
    pub(crate) fn waits_to_the_last(&self, action: Action) -> bool {
        self.wait_of(action) == Some(Until::Last)
    }

    /// `action` waits no longer.
    pub(crate) fn release(&mut self, action: Action) {
        self.keep(|it| it.0 != action);
    }

    fn keep(&mut self, keep: impl Fn((Action, Until)) -> bool) {
        let mut kept = [None; WAITS];
        for (to, it) in kept.iter_mut().zip(self.waits.into_iter().flatten().filter(|&it| keep(it))) {
            *to = Some(it);
        }
        self.waits = kept;
    }

    /// `action` waits; returns false where no more can, or it waits already.
    pub(crate) fn waits(&mut self, action: Action, until: Until) -> bool {
        if self.wait_of(action).is_some() {
            return false;
        }
        let Some(free) = self.waits.iter_mut().find(|it| it.is_none()) else { return false };
        *free = Some((action, until));
        true
    }
}

/// The normal course of a run, and the names of the places to which it comes: it counts visible changes, and what was
/// about to happen since the last.
#[derive(Clone, Debug, Default)]
pub struct Track<T = Option<Action>> {
    course: Course<T>,
    seen: Vec<(Event, u8)>,
    after: Option<(Event, u8)>,
    about: Vec<(Option<Action>, u8)>,
}

impl<T: Turn> Track<T> {
    /// What was done last, on the course or off it, led here.
    pub fn passes(&mut self, last: Fired) {
        let Some(action) = last.action else { return };
        self.course.takes(action, last.event);
        if let Some(event) = last.event {
            let nth = count(&mut self.seen, event);
            self.after = Some((event, nth));
            self.about.clear();
        }
    }

    /// What the course is about to take, by its index, and where that is. Who asks twice is there for the second time.
    pub fn comes_to(&mut self, enabled: &Enabled) -> (Option<usize>, Point) {
        let next = self.course.next(enabled);
        let action = next.map(|it| enabled[it]);
        let nth = count(&mut self.about, action);
        (next, Point { after: self.after, next: action, nth })
    }

    /// `action` waits; returns false where no more can, or it waits already.
    pub fn waits(&mut self, action: Action, until: Until) -> bool {
        self.course.waits(action, until)
    }

    /// `action` has waited until here, where the course was not about to take what it seemed to be.
    pub(crate) fn goes_on(&mut self, action: Action, point: Point) {
        self.course.release(action);
        if let Some(it) = self.about.iter_mut().find(|it| it.0 == point.next) {
            it.1 -= 1;
        }
    }
}

/// Counts `it` once more; returns how often that was by now.
fn count<T: PartialEq>(all: &mut Vec<(T, u8)>, it: T) -> u8 {
    if let Some(known) = all.iter_mut().find(|known| known.0 == it) {
        known.1 = known.1.saturating_add(1);
        known.1
    } else {
        all.push((it, 1));
        1
    }
}

/// The normal schedule but for some deviations, in their order.
#[derive(Clone, Debug)]
pub struct Deviating<'a, T = Option<Action>> {
    deviations: &'a [Deviation],
    at: usize,
    track: Track<T>,
    lenient: bool,
}

impl<'a> Deviating<'a> {
    /// Goes the normal course but for these.
    pub fn new(deviations: &'a [Deviation]) -> Deviating<'a> {
        Deviating::by(deviations)
    }

    /// The same, but passes over deviations whose place does not come.
    pub fn lenient(deviations: &'a [Deviation]) -> Deviating<'a> {
        Deviating { lenient: true, ..Deviating::new(deviations) }
    }
}

impl<'a, T: Turn> Deviating<'a, T> {
    /// Goes another normal course but for these.
    pub(crate) fn by(deviations: &'a [Deviation]) -> Deviating<'a, T> {
        Deviating { deviations, at: 0, track: Track::default(), lenient: false }
    }

    /// The first deviation whose place never came, or whose action was not enabled there.
    pub fn missed(&self) -> Option<usize> {
        (self.at < self.deviations.len()).then_some(self.at)
    }
}

impl<T: Turn> Scheduler for Deviating<'_, T> {
    fn pick(&mut self, enabled: &Enabled, last: Fired) -> Option<usize> {
        self.track.passes(last);
        loop {
            let (next, point) = self.track.comes_to(enabled);
            let mut ahead = self.deviations[self.at..].iter().take(if self.lenient { usize::MAX } else { 1 });
            let Some(skipped) = ahead.position(|it| it.point == point) else { return next };
            let deviation = self.deviations[self.at + skipped];
            match deviation.departure {
                Departure::Does(action) | Departure::First(action) => {
                    let Some(index) = enabled.iter().position(|&it| it == action) else { return next };
                    self.at += skipped + 1;
                    return Some(index);
                }
                Departure::Waits(until) => {
                    let Some(action) = point.next else { return next };
                    if !self.track.waits(action, until) {
                        return next;
                    }
                    self.at += skipped + 1;
                }
            }
        }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Point { after, next, nth } = self;
        match after {
            Some((event, 1)) => write!(f, "after {event}")?,
            Some((event, nth)) => write!(f, "after {event} for the {}", ordinal(*nth))?,
            None => write!(f, "at the start")?,
        }
        match (next, nth) {
            (Some(next), 1) => write!(f, ", before {next}"),
            (Some(next), nth) => write!(f, ", before the {} {next}", ordinal(*nth)),
            (None, _) => write!(f, ", at rest"),
        }
    }
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Deviation { point, departure } = self;
        write!(f, "{point}")?;
        match departure {
            Departure::Does(action) => write!(f, ": {action}"),
            Departure::First(action) => write!(f, ": {action} comes first"),
            Departure::Waits(Until::LastInInstant) => write!(f, ": it waits until nobody else acts in this instant"),
            Departure::Waits(Until::Last) => write!(f, ": it waits until nobody else acts at all"),
            Departure::Waits(Until::Event(event)) => write!(f, ": it waits until {event}"),
        }
    }
}

fn ordinal(nth: u8) -> String {
    match nth {
        1 => "1st".to_owned(),
        2 => "2nd".to_owned(),
        3 => "3rd".to_owned(),
        nth => format!("{nth}th"),
    }
}
