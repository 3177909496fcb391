use super::sweep;
use crate::model::design::Design;
use crate::model::time::{Obligation, Span};
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
    /// A sweep stopped at its bound on worlds and had not found it by then: nothing is known.
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
    let fate = |assumption, span| {
        let times = scenario.times.with(assumption, span);
        let changed = Scenario { times, ..scenario.clone() };
        if price_of(&changed, design, invariant, deviations).is_some_and(|it| it <= price) {
            return Fate::Replays;
        }
        let within = deviations.len().try_into().unwrap_or(u8::MAX);
        let swept = sweep(&Scenario { price, ..changed }, design, within, most_worlds);
        if swept.broken.iter().any(|it| it.invariant == invariant) {
            Fate::FoundAnew
        } else if swept.is_partial() {
            Fate::Open
        } else {
            Fate::Gone
        }
    };
    let mut trials = Vec::new();
    for &assumption in Obligation::ALL.iter().filter(|it| it.is_assumed()) {
        let span = scenario.times.span(assumption);
        for change in Change::ALL.into_iter().filter(|it| it.of(span) != span) {
            trials.push(Trial { assumption, change, fate: fate(assumption, change.of(span)) });
        }
    }
    Some(Sensitivity { invariant, price, deviations: deviations.len(), trials })
}

/// At which price these deviations break the invariant, if they do.
fn price_of(scenario: &Scenario, design: &dyn Design, invariant: usize, deviations: &[Deviation]) -> Option<u8> {
    run(scenario, design, &mut Deviating::lenient(deviations)).broken[invariant].map(|it| it.price)
}
