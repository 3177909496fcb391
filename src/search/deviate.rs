use super::shrink::minimal;
use crate::event::Event;
use crate::model::design::Design;
use crate::model::rules::{Action, Class, Enabled};
use crate::run::{observe, run};
use crate::scenario::Scenario;
use crate::scheduler::{Departure, Deviating, Deviation, Fired, Replay, Scheduler, Track, Until};

/// Tells a schedule by where it departs from the normal one, and leaves out what a violation does not need.
///
/// Two ways of telling are tried: what came first went out of turn, or what did not come waited until something changed
/// visibly. The one with fewer deviations is kept; each of them is needed. Returns nothing if neither tells the same
/// violation at no higher price.
pub fn deviate(
    scenario: &Scenario,
    design: &dyn Design,
    actions: &[Action],
    invariant: usize,
    price: u8,
) -> Option<Vec<Deviation>> {
    let mut taken = Vec::new();
    observe(scenario, design, &mut Replay::lenient(actions), &mut |it| {
        taken.push((it.action, Event::between(it.was, it.is)));
    });
    taken.drain(..scenario.prefix().count());
    let breaks = |candidate: &[Deviation]| {
        let report = run(scenario, design, &mut Deviating::lenient(candidate));
        report.broken[invariant].is_some_and(|it| it.price <= price)
    };
    let told = [false, true].into_iter().filter_map(|waits| {
        let mut teller = Teller { taken: &taken, at: 0, waits, track: Track::default(), told: Vec::new() };
        run(scenario, design, &mut teller);
        breaks(&teller.told).then(|| minimal(teller.told, breaks))
    });
    told.min_by_key(Vec::len)
}

/// Takes recorded actions and tells where they depart from the normal course.
struct Teller<'a> {
    taken: &'a [(Action, Option<Event>)],
    at: usize,
    waits: bool,
    track: Track,
    told: Vec<Deviation>,
}

impl Teller<'_> {
    /// Until when `action`, passed over now, waited: the last visible change before it was taken.
    fn waited(&self, action: Action) -> Until {
        let rest = &self.taken[self.at..];
        let end = rest.iter().position(|it| it.0 == action);
        let before = &rest[..end.unwrap_or(rest.len())];
        match (end, before.iter().rev().find_map(|it| it.1)) {
            (Some(_), Some(event)) if before.iter().filter(|it| it.1 == Some(event)).count() == 1 => {
                Until::Event(event)
            }
            (Some(_), None) => Until::LastInInstant,
            _ => Until::Last,
        }
    }
}

impl Scheduler for Teller<'_> {
    fn pick(&mut self, enabled: &Enabled, last: Fired) -> Option<usize> {
        self.track.passes(last);
        loop {
            let (next, point) = self.track.comes_to(enabled);
            let Some(&(wanted, _)) = self.taken.get(self.at) else { return next };
            let index = enabled.iter().position(|&it| it == wanted)?;
            if point.next == Some(wanted) {
                self.at += 1;
                return Some(index);
            }
            let outside = matches!(wanted.class(), Class::Operator | Class::Fault);
            let departure = match point.next {
                Some(passed_over) if self.waits && !outside && passed_over.class() == Class::Step => {
                    let until = self.waited(passed_over);
                    if self.track.waits(passed_over, until) {
                        self.told.push(Deviation { point, departure: Departure::Waits(until) });
                        continue;
                    }
                    Departure::First(wanted)
                }
                _ if outside => Departure::Does(wanted),
                _ => Departure::First(wanted),
            };
            self.told.push(Deviation { point, departure });
            self.at += 1;
            return Some(index);
        }
    }
}
