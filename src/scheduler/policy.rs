use std::fmt;

use super::{Even, PartialOrder, Placed, Priorities, Scheduler, Starving, Sticky, Swarm, Uniform};

/// A way to make the runs of a campaign. Run `index` of seed `seed` is always the same.
pub trait Policy: Sync {
    /// Its name, as on the command line.
    fn name(&self) -> &'static str;

    /// How it chooses, in one sentence.
    fn sentence(&self) -> &'static str {
        ""
    }

    /// Whoever chooses in run `index` of the campaign with seed `seed`.
    fn start(&self, seed: u64, index: u64) -> Box<dyn Scheduler>;
}

impl fmt::Debug for dyn Policy + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The built-in policies but for the portfolio, with which each campaign is made unless told otherwise.
pub static POLICIES: &[&dyn Policy] = &[
    &PLACED_UNIFORM,
    &PLACED_PARTIAL_ORDER,
    &PLACED_SWARM,
    &PLACED_STICKY,
    &PLACED_PRIORITIES,
    &KEEN_SWARM,
    &KEEN_STARVING,
    &UNIFORM,
];

/// Some policies that take turns, run by run: what one hardly ever finds, another finds soon.
#[derive(Clone, Copy)]
pub struct Portfolio<'a>(pub &'a [&'a dyn Policy]);

/// The portfolio with which a campaign is made unless told otherwise. `docs/ablation.md` has the measurements.
pub static PORTFOLIO: Portfolio<'static> = Portfolio(&[&PLACED_SWARM, &KEEN_SWARM, &PLACED_PRIORITIES, &KEEN_STARVING]);

impl Policy for Portfolio<'_> {
    fn name(&self) -> &'static str {
        "portfolio"
    }

    fn sentence(&self) -> &'static str {
        "Several policies take turns, run by run."
    }

    fn start(&self, seed: u64, index: u64) -> Box<dyn Scheduler> {
        self.at(index).start(seed, index)
    }
}

impl<'a> Portfolio<'a> {
    /// Whose turn run `index` is.
    pub fn at(&self, index: u64) -> &'a dyn Policy {
        self.0[(index % self.0.len() as u64) as usize]
    }
}

impl fmt::Debug for Portfolio<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0).finish()
    }
}

/// The built-in policy of that name, the portfolio included.
///
/// # Errors
///
/// When there is none; the error names the nearest.
pub fn policy_named(name: &str) -> Result<&'static dyn Policy, UnknownPolicy> {
    let mut all = POLICIES.iter().copied().chain([&PORTFOLIO as &dyn Policy]);
    let names = || POLICIES.iter().map(|it| it.name()).chain(["portfolio"]);
    all.find(|it| it.name() == name).ok_or_else(|| {
        let nearest = crate::report::nearest(name, names()).unwrap_or("portfolio");
        UnknownPolicy { name: name.to_owned(), nearest }
    })
}

/// A policy that nobody has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no policy is called `{name}`; did you mean `{nearest}`?")]
pub struct UnknownPolicy {
    name: String,
    nearest: &'static str,
}

struct BuiltIn {
    name: &'static str,
    sentence: &'static str,
    start: fn(u64, u64) -> Box<dyn Scheduler>,
}

impl Policy for BuiltIn {
    fn name(&self) -> &'static str {
        self.name
    }

    fn sentence(&self) -> &'static str {
        self.sentence
    }

    fn start(&self, seed: u64, index: u64) -> Box<dyn Scheduler> {
        (self.start)(seed, index)
    }
}

static PLACED_UNIFORM: BuiltIn = BuiltIn {
    name: "placed-uniform",
    sentence: "Strikes are spread over the run; in between every action is as likely as any other.",
    start: |seed, index| Box::new(Placed::<Even>::over(seed, index)),
};

static PLACED_PARTIAL_ORDER: BuiltIn = BuiltIn {
    name: "placed-pos",
    sentence: "Strikes are spread; in between actions have random priorities, drawn anew where somebody acts.",
    start: |seed, index| Box::new(Placed::<PartialOrder>::over(seed, index)),
};

static PLACED_SWARM: BuiltIn = BuiltIn {
    name: "placed-swarm",
    sentence: "Strikes are spread over the run; in between rules have random weights.",
    start: |seed, index| Box::new(Placed::<Swarm>::over(seed, index)),
};

static PLACED_STICKY: BuiltIn = BuiltIn {
    name: "placed-sticky",
    sentence: "Strikes are spread over the run; in between who acted last often goes on.",
    start: |seed, index| Box::new(Placed::<Sticky>::over(seed, index)),
};

static PLACED_PRIORITIES: BuiltIn = BuiltIn {
    name: "placed-pct",
    sentence: "Strikes are spread over the run; in between goroutines have random priorities, and some fall behind.",
    start: |seed, index| Box::new(Placed::<Priorities>::over(seed, index)),
};

static UNIFORM: BuiltIn = BuiltIn {
    name: "uniform",
    sentence: "Every action is as likely as any other, strikes included.",
    start: |seed, index| Box::new(Uniform::new(seed, index)),
};

static KEEN_SWARM: BuiltIn = BuiltIn {
    name: "keen-swarm",
    sentence: "As placed-swarm, and who could not strike before may strike at once.",
    start: |seed, index| Box::new(Placed::<Swarm>::keen_over(seed, index)),
};

static KEEN_STARVING: BuiltIn = BuiltIn {
    name: "keen-starving",
    sentence: "Strikes are spread and keen; in between some kinds of action wait until nobody else can act.",
    start: |seed, index| Box::new(Placed::<Starving>::keen_over(seed, index)),
};
