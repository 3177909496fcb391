use std::sync::atomic::AtomicBool;

use super::{Cut, sweep_until};
use crate::model::design::Design;
use crate::model::time::{Obligation, Span, Times};
use crate::run::run;
use crate::scenario::Scenario;
use crate::scheduler::{Deviating, Deviation};

/// What is done to an assumption about latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Both bounds are half as long, rounded down.
    Halved,
    /// Both bounds are twice as long.
    Doubled,
}

impl Change {
    /// Both.
    pub const ALL: [Change; 2] = [Change::Halved, Change::Doubled];

    /// What is done, in one word.
    pub fn name(self) -> &'static str {
        match self {
            Change::Halved => "halved",
            Change::Doubled => "doubled",
        }
    }

    /// The span after that. No bound becomes longer than a window can hold, which is 65,534 s.
    #[must_use]
    pub fn of(self, span: Span) -> Span {
        let change = |bound: u16| match self {
            Change::Halved => bound / 2,
            Change::Doubled => bound.saturating_mul(2).min(u16::MAX - 1),
        };
        Span { earliest: change(span.earliest), latest: span.latest.map(change) }
    }
}

/// What became of a finding when an assumption was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its deviations still bring it about.
    Replays,
    /// They do not, but no more deviations at no higher price do.
    FoundAnew,
    /// Every schedule within as many deviations and at no higher price was tried, and none does: so cheap as it is, it
    /// needs the assumption. With more deviations it may be there.
    Gone,
    /// Not all of these were tried, and none that was does: nothing is known.
    Open,
}

/// A finding when one assumption is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Which assumption.
    pub assumption: Obligation,
    /// How it was changed.
    pub change: Change,
    /// What became of the finding.
    pub fate: Fate,
}

/// Which assumptions about latency a finding needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sensitivity {
    /// Which invariant: its index in [`INVARIANTS`](crate::invariants::INVARIANTS).
    pub invariant: usize,
    /// What the outside world had to do wrong for it.
    pub price: u8,
    /// The deviations that bring it about as long as nothing is changed.
    pub deviations: usize,
    /// Each assumption that can be changed, halved and doubled, in the order of the table.
    pub trials: Vec<Trial>,
}

impl Sensitivity {
    /// The changes after which it is not there any more.
    pub fn needs(&self) -> impl Iterator<Item = &Trial> {
        self.trials.iter().filter(|it| it.fate == Fate::Gone)
    }

    /// The changes of which nothing is known.
    pub fn open(&self) -> impl Iterator<Item = &Trial> {
        self.trials.iter().filter(|it| it.fate == Fate::Open)
    }

    /// It is found whichever assumption is changed.
    pub fn survives_all(&self) -> bool {
        self.needs().next().is_none() && self.open().next().is_none()
    }

    /// A race of normal operation that does not hang on a guess: at price 0, whichever assumption is changed.
    pub fn is_robust(&self) -> bool {
        self.price == 0 && self.survives_all()
    }
}

/// Asks which assumptions about latency a finding needs: each is halved, then doubled, all others as they are.
///
/// Only what is [assumed](Obligation::is_assumed) is changed; constants of Velero and Kubernetes are what they are. That
/// nobody needs more than a second for what has no window is how the model is made, and not changed either.
///
/// The deviations are replayed first. Where they break `invariant` no more, every schedule within as many deviations and
/// at no higher price is tried; each such sweep visits at most `most_worlds` worlds. Returns nothing where the
/// deviations do not break the invariant in the first place.
///
/// # Panics
///
/// When the scope of the scenario is too large, or its prefix is not enabled.
pub fn sensitivity(
    scenario: &Scenario,
    design: &dyn Design,
    invariant: usize,
    deviations: &[Deviation],
    most_worlds: usize,
) -> Option<Sensitivity> {
    let price = price_of(scenario, design, invariant, deviations)?;
    let reach = Reach { deviations: u8::MAX, worlds: most_worlds, stop: None };
    sensitivities(scenario, design, price, &[(invariant, deviations)], reach).pop()
}

/// How far is searched anew where deviations do not replay.
#[derive(Clone, Copy)]
pub(super) struct Reach<'a> {
    /// Every schedule within so many deviations, or as many as the finding has where these are fewer.
    pub(super) deviations: u8,
    /// The most worlds of a sweep.
    pub(super) worlds: usize,
    /// What is not known once it is true is left open.
    pub(super) stop: Option<&'a AtomicBool>,
}

/// Asks the same of several findings at one price: each an invariant and the deviations that break it. After a change one
/// sweep answers for all that do not replay.
pub(super) fn sensitivities(
    scenario: &Scenario,
    design: &dyn Design,
    price: u8,
    found: &[(usize, &[Deviation])],
    reach: Reach<'_>,
) -> Vec<Sensitivity> {
    // Of each invariant a sweep tells the lowest price only, which may take more deviations than a higher one.
    debug_assert!(price == 0 || found.len() == 1, "only findings of price 0 are asked together");
    let all = found.iter().map(|&(invariant, deviations)| Sensitivity {
        invariant,
        price,
        deviations: deviations.len(),
        trials: Vec::new(),
    });
    let mut all: Vec<Sensitivity> = all.collect();
    for (assumption, change) in changes(&scenario.times) {
        let times = scenario.times.with(assumption, change.of(scenario.times.span(assumption)));
        let fates = fates(&Scenario { times, ..scenario.clone() }, design, price, found, reach);
        for (it, fate) in all.iter_mut().zip(fates) {
            it.trials.push(Trial { assumption, change, fate });
        }
    }
    all
}

/// Each assumption with each change that makes a difference to it.
fn changes(times: &Times) -> impl Iterator<Item = (Obligation, Change)> + '_ {
    let assumed = Obligation::ALL.iter().copied().filter(|it| it.is_assumed());
    let all = assumed.flat_map(|assumption| Change::ALL.map(|change| (assumption, change)));
    all.filter(|&(assumption, change)| change.of(times.span(assumption)) != times.span(assumption))
}

/// What becomes of each finding in a scenario of which an assumption has been changed.
fn fates(
    scenario: &Scenario,
    design: &dyn Design,
    price: u8,
    found: &[(usize, &[Deviation])],
    reach: Reach<'_>,
) -> Vec<Fate> {
    let replays = |&(invariant, deviations): &(usize, &[Deviation])| {
        price_of(scenario, design, invariant, deviations).is_some_and(|it| it <= price)
    };
    let replay: Vec<bool> = found.iter().map(replays).collect();
    let lost = found.iter().zip(&replay).filter(|it| !it.1).map(|it| it.0.1.len());
    let Some(most) = lost.max() else { return vec![Fate::Replays; found.len()] };
    let within = u8::try_from(most).unwrap_or(u8::MAX).min(reach.deviations);
    let swept = sweep_until(&Scenario { price, ..scenario.clone() }, design, within, reach.worlds, reach.stop);
    // Where not even the normal schedule came to an end, not all with no deviation were tried.
    let tried = swept.within > 0 || swept.stopped != Some(Cut::AtSteps);
    let searched = |&(invariant, deviations): &(usize, &[Deviation])| {
        if swept.broken.iter().any(|it| it.invariant == invariant && it.deviations.len() <= deviations.len()) {
            Fate::FoundAnew
        } else if (tried && usize::from(swept.within) >= deviations.len()) || swept.saturated.is_some() {
            Fate::Gone
        } else {
            Fate::Open
        }
    };
    found.iter().zip(replay).map(|(it, replays)| if replays { Fate::Replays } else { searched(it) }).collect()
}

/// At which price these deviations break the invariant, if they do.
fn price_of(scenario: &Scenario, design: &dyn Design, invariant: usize, deviations: &[Deviation]) -> Option<u8> {
    run(scenario, design, &mut Deviating::lenient(deviations)).broken[invariant].map(|it| it.price)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::designs::Upstream;
    use crate::search::sweep;

    /// What replays is known at once; what would have to be searched for stays open.
    #[test]
    fn who_does_not_wait_is_told_what_replays() {
        let scenario = Scenario::named("two-uploads-one-slot").unwrap();
        let found = sweep(&scenario, &Upstream, 1, 1_000_000).broken;
        let found: Vec<(usize, &[Deviation])> = found.iter().map(|it| (it.invariant, &*it.deviations)).collect();
        let stop = AtomicBool::new(true);
        let asked =
            |stop| sensitivities(&scenario, &Upstream, 0, &found, Reach { deviations: 1, worlds: 1_000_000, stop });
        let (hasty, patient) = (asked(Some(&stop)), asked(None));
        assert!(hasty.iter().any(Sensitivity::is_robust) && hasty.iter().any(|it| it.open().next().is_some()));
        assert!(patient.iter().all(Sensitivity::is_robust));
        for (hasty, patient) in hasty.iter().flat_map(|it| &it.trials).zip(patient.iter().flat_map(|it| &it.trials)) {
            let known = if patient.fate == Fate::Replays { Fate::Replays } else { Fate::Open };
            assert_eq!(hasty.fate, known, "{:?} {:?}", hasty.assumption, hasty.change);
        }
    }
}
