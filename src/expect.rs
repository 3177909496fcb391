//! What one expects of a design, a line each: for the tests of whoever proposes it.
//!
//! ```
//! use vgdp_sim::designs::CloseOnTerminal;
//! use vgdp_sim::expect::expect;
//!
//! // Every schedule within two deviations of the normal one.
//! let it = expect(&CloseOnTerminal).in_scenario("cancel").within(2);
//! it.holds("slot-leak").broken_at_price("cancel-unheard", 0);
//!
//! // By chance. The environment variable VGDP_SIM_SEED, a number or a commit, says which runs.
//! expect(&CloseOnTerminal).in_scenario("pod-deleted").hunted(500).holds("slot-leak");
//! ```
//!
//! An expectation that is not met panics. The panic tells the schedule in sentences, shows its timeline and its token, and
//! ends with what to type, or to write, to see it again. A search that did not go as far as it was asked to, or in
//! which nothing of what the scenario allows ever happened, meets no expectation: silence is no answer there.
//!
//! The three searches say different things where they find nothing. [`within`](Expectation::within) and
//! [`proved`](Expectation::proved) are certificates for so many deviations and for a scope;
//! [`hunted`](Expectation::hunted) is a sample.

use std::cell::OnceCell;
use std::env;
use std::fmt::{self, Write as _};
use std::num::NonZeroUsize;
use std::thread;

use crate::designs;
use crate::invariants::INVARIANTS;
use crate::model::design::Design;
use crate::model::rules::Action;
use crate::report::{Schedule, Story, Style, Then, Token, Told, counted, duration, grouped, nearest, told};
use crate::run::run;
use crate::scenario::Scenario;
use crate::scheduler::{Deviating, Deviation, Replay};
use crate::search::{self, Answer, Bounds, Campaign, Hunt, Proof, Sweep, conforms, deviate, prove, sweep};

/// The most worlds that a sweep or a proof visits: about half a gigabyte.
const WORLDS: usize = 20_000_000;
/// The environment variable that says which runs a hunt makes.
const SEED: &str = "VGDP_SIM_SEED";
/// How a story is shown.
const STYLE: Style = Style { width: 100, colour: false, all: false, verbose: false, follow: None, columns: None };

/// Begins to say what is expected of `design`.
pub fn expect(design: &dyn Design) -> Expect<'_> {
    Expect { design }
}

/// A design of which something is expected.
#[derive(Clone, Copy)]
#[must_use = "nothing is expected yet; go on with `.in_scenario(\"cancel\")`, say"]
pub struct Expect<'a> {
    design: &'a dyn Design,
}

impl<'a> Expect<'a> {
    /// ...that it can be judged at all, as [`search::conforms`] says.
    ///
    /// # Panics
    ///
    /// When it cannot, with what is wrong with it.
    #[track_caller]
    pub fn conforms(self) {
        if let Err(it) = conforms(self.design) {
            panic!("{it}");
        }
    }

    /// ...in a built-in scenario, by its name, or in one of your own, as a file (`./mine.json`; a test runs in the
    /// directory of its `Cargo.toml`).
    ///
    /// # Panics
    ///
    /// When there is no such scenario.
    #[track_caller]
    pub fn in_scenario(self, name_or_file: &str) -> Expectation<'a> {
        let scenario = Scenario::meant_by(name_or_file).unwrap_or_else(|it| panic!("{it}"));
        let line = format!(".in_scenario({name_or_file:?})");
        Expectation::new(self.design, scenario, line, Some(name_or_file.to_owned()))
    }

    /// ...in a scenario that is made in code.
    pub fn given(self, scenario: Scenario) -> Expectation<'a> {
        Expectation::new(self.design, scenario, ".given(scenario)".to_owned(), None)
    }

    /// ...when this schedule of a built-in scenario is replayed: it breaks nothing.
    ///
    /// This is the line for a regression, and to see a schedule again. A token that was made for another design often
    /// diverges, since the run never comes to where it departs from the normal schedule: then it decides nothing.
    ///
    /// # Panics
    ///
    /// When it is no token, diverges, or breaks an invariant.
    #[track_caller]
    pub fn survives(self, token: &str) {
        survives(self.design, token, &Scenario::built_in(), &format!("expect(&design).survives({token:?})"), None);
    }
}

impl fmt::Debug for Expect<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expect({})", self.design.name())
    }
}

/// How schedules are searched for one that breaks an expectation.
#[derive(Clone, Copy, Debug)]
enum Search {
    Within(u8),
    Proved,
    Hunted(u64),
}

/// What a search has shown.
enum Outcome {
    Swept(Sweep),
    Proved(Proof),
    Hunted(Campaign),
}

/// What is expected of a design in a scenario, by some search: every schedule within two deviations, unless another is
/// asked for.
///
/// The search is made once, when something is first expected of it.
#[must_use = "nothing is expected yet; go on with `.holds(\"slot-leak\")`, say"]
pub struct Expectation<'a> {
    design: &'a dyn Design,
    scenario: Scenario,
    /// What was written after `expect(&design)`.
    line: String,
    /// What to type after `--scenario`, where the scenario can be typed.
    argument: Option<String>,
    search: Search,
    outcome: OnceCell<Outcome>,
}

/// A schedule that breaks an invariant.
struct Broken {
    invariant: usize,
    price: u8,
    way: Way,
}

/// How a schedule is told.
enum Way {
    Deviations(Vec<Deviation>),
    Actions(Vec<Action>),
}

impl<'a> Expectation<'a> {
    fn new(design: &'a dyn Design, scenario: Scenario, line: String, argument: Option<String>) -> Expectation<'a> {
        Expectation { design, scenario, line, argument, search: Search::Within(2), outcome: OnceCell::new() }
    }

    /// ...with so many nodes and tasks, instead of those of the scenario.
    ///
    /// # Panics
    ///
    /// When a world has no room for that many.
    #[track_caller]
    pub fn scope(mut self, nodes: u8, tasks: u8) -> Expectation<'a> {
        self.scenario = self.scenario.scope(nodes, tasks);
        if let Err(it) = self.scenario.empty_cluster() {
            panic!("{it}");
        }
        let _ = write!(self.line, ".scope({nodes}, {tasks})");
        self
    }

    /// ...in every schedule within so many deviations from the normal one.
    pub fn within(self, deviations: u8) -> Expectation<'a> {
        self.by(Search::Within(deviations), &format!(".within({deviations})"))
    }

    /// ...in every schedule that there is. Only a small scope can be proved: one node, one upload, and little that may
    /// happen; two nodes and a cancel have nearly seventy million worlds, which are too many here.
    pub fn proved(self) -> Expectation<'a> {
        self.by(Search::Proved, ".proved()")
    }

    /// ...in so many runs by chance. The environment variable `VGDP_SIM_SEED` says which, as a number or as the hash of a
    /// commit; without it they are those of seed 1. The seed is printed.
    pub fn hunted(self, runs: u64) -> Expectation<'a> {
        self.by(Search::Hunted(runs), &format!(".hunted({runs})"))
    }

    fn by(mut self, search: Search, line: &str) -> Expectation<'a> {
        (self.search, self.outcome) = (search, OnceCell::new());
        self.line.push_str(line);
        self
    }

    /// ...that this invariant is not broken.
    ///
    /// # Panics
    ///
    /// When it is, with the cheapest schedule that was found; when the search decides nothing; and when there is no such
    /// invariant.
    #[track_caller]
    pub fn holds(&self, invariant: &str) -> &Expectation<'a> {
        let index = index_of(invariant);
        let line = format!(".holds({invariant:?})");
        if let Some(it) = self.broken(index) {
            let (price, reach) = (it.price, self.reach());
            self.fails(&format!("breaks {invariant} at price {price}, and should not {reach}"), &line, &it);
        }
        self.demand_an_answer(index, &line);
        self
    }

    /// ...that no invariant is broken.
    ///
    /// # Panics
    ///
    /// When one is, with the cheapest schedule of all that were found, and when the search decides nothing.
    #[track_caller]
    pub fn holds_all(&self) -> &Expectation<'a> {
        let all: Vec<Broken> = (0..INVARIANTS.len()).filter_map(|it| self.broken(it)).collect();
        if let Some(it) = all.iter().min_by_key(|it| (it.price, it.way.length())) {
            let named: Vec<String> =
                all.iter().map(|it| format!("{} at price {}", INVARIANTS[it.invariant].id, it.price)).collect();
            let (named, reach) = (named.join(", "), self.reach());
            let headline = format!("breaks {named}, and should break nothing {reach}; the cheapest is this");
            self.fails(&headline, ".holds_all()", it);
        }
        for index in 0..INVARIANTS.len() {
            self.demand_an_answer(index, ".holds_all()");
        }
        self
    }

    /// ...that this invariant is broken, and that this is the lowest price.
    ///
    /// # Panics
    ///
    /// When it is not broken, or at another price; and when there is no such invariant.
    #[track_caller]
    pub fn broken_at_price(&self, invariant: &str, price: u8) -> &Expectation<'a> {
        let index = index_of(invariant);
        let line = format!(".broken_at_price({invariant:?}, {price})");
        let reach = self.reach();
        match self.broken(index) {
            Some(it) if it.price == price => {}
            Some(it) => {
                let headline = format!("breaks {invariant} at price {}, and should at price {price} {reach}", it.price);
                self.fails(&headline, &line, &it);
            }
            None => {
                let Expectation { design, scenario, .. } = self;
                panic!(
                    "{} does not break {invariant} in scenario {}, and should at price {price} {reach}\n\n{}",
                    design.name(),
                    scenario.name,
                    self.rerun(&line),
                );
            }
        }
        self
    }

    /// ...that whatever it breaks `other` breaks as well, at no higher price, by the same search. By chance that is a
    /// comparison of two samples.
    ///
    /// # Panics
    ///
    /// When it breaks something that the other does not, or at a lower price; and when the search decides nothing.
    #[track_caller]
    pub fn no_worse_than(&self, other: &dyn Design) -> &Expectation<'a> {
        let line = ".no_worse_than(&other)";
        let theirs = Expectation::new(other, self.scenario.clone(), String::new(), None).by(self.search, "");
        for (index, invariant) in INVARIANTS.iter().enumerate() {
            let Some(it) = self.broken(index) else {
                self.demand_an_answer(index, line);
                continue;
            };
            let (id, price, other, reach) = (invariant.id, it.price, other.name(), self.reach());
            match theirs.broken(index) {
                Some(theirs) if theirs.price <= price => {}
                Some(theirs) => {
                    let theirs = theirs.price;
                    let headline = format!("breaks {id} at price {price}, and {other} only at price {theirs} {reach}");
                    self.fails(&headline, line, &it);
                }
                None => {
                    self.fails(&format!("breaks {id} at price {price}, and {other} does not {reach}"), line, &it);
                }
            }
        }
        self
    }

    /// ...when this schedule of the scenario is replayed: it breaks nothing. [`Expect::survives`] is the same for a
    /// built-in scenario.
    ///
    /// # Panics
    ///
    /// When it is no token of this scenario, diverges, or breaks an invariant.
    #[track_caller]
    pub fn survives(&self, token: &str) {
        let line = format!("expect(&design){}.survives({token:?})", self.line);
        survives(self.design, token, std::slice::from_ref(&self.scenario), &line, self.argument.as_deref());
    }

    fn outcome(&self) -> &Outcome {
        self.outcome.get_or_init(|| {
            let Expectation { design, scenario, .. } = self;
            let jobs = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
            match self.search {
                Search::Within(deviations) => Outcome::Swept(sweep(scenario, *design, deviations, WORLDS)),
                Search::Proved => {
                    let bounds = Bounds { most_worlds: WORLDS, jobs: jobs.get(), ..Bounds::default() };
                    Outcome::Proved(prove(scenario, *design, bounds))
                }
                Search::Hunted(runs) => {
                    let seed = seed();
                    let (name, runs_of) = (design.name(), counted(runs, "run"));
                    println!("{SEED}={seed}: {runs_of} of {name} in scenario {}", scenario.name);
                    Outcome::Hunted(Hunt { jobs, ..Hunt::default() }.run(scenario, *design, seed, runs))
                }
            }
        })
    }

    /// The cheapest violation of an invariant that was found.
    fn broken(&self, invariant: usize) -> Option<Broken> {
        let of = |price, schedule: &[Action]| Broken { invariant, price, way: self.way(invariant, price, schedule) };
        match self.outcome() {
            Outcome::Swept(it) => {
                let it = it.broken.iter().find(|it| it.invariant == invariant)?;
                Some(Broken { invariant, price: it.price, way: Way::Deviations(it.deviations.clone()) })
            }
            Outcome::Proved(it) => it.cheapest(invariant).map(|it| of(it.price, &it.schedule)),
            Outcome::Hunted(it) => {
                let it = it.findings.iter().find(|it| it.invariant == invariant)?;
                Some(of(it.price, &it.schedule))
            }
        }
    }

    /// A schedule told by its deviations, if it can be.
    fn way(&self, invariant: usize, price: u8, schedule: &[Action]) -> Way {
        let Expectation { design, scenario, .. } = self;
        let replays = |it: &Vec<Deviation>| {
            let mut deviating = Deviating::new(it);
            let report = run(scenario, *design, &mut deviating);
            report.broken[invariant].is_some_and(|it| it.price <= price) && deviating.missed().is_none()
        };
        let told = deviate(scenario, *design, schedule, invariant, price).filter(replays);
        told.map_or_else(|| Way::Actions(schedule.to_vec()), Way::Deviations)
    }

    /// Why the silence of the search about an invariant does not say that it holds, where it does not.
    fn no_answer(&self, invariant: usize) -> Option<String> {
        match self.outcome() {
            Outcome::Swept(it) => it.is_partial().then(|| {
                let (within, worlds) = (it.within, grouped(it.worlds as u64));
                format!(
                    "the sweep stopped at {worlds} worlds and tried only {} in full; ask for fewer deviations or a smaller scope",
                    counted(u64::from(within), "deviation")
                )
            }),
            Outcome::Proved(it) => it.partial.map(|it| {
                let (worlds, price) = (grouped(it.extent.worlds), it.price);
                format!("the proof stopped at {worlds} worlds of price {price}; ask for a smaller scope, as in `.scope(1, 1)`")
            }),
            Outcome::Hunted(it) if it.is_vacuous(&self.scenario) => {
                Some("nothing that the scenario allows ever happened; ask for more runs".to_owned())
            }
            Outcome::Hunted(it) => match it.answer(invariant) {
                Answer::Undecided(runs) => {
                    let runs = counted(runs, "run");
                    Some(format!("{runs} came to no rest, where it would have been judged; see what repeats without end"))
                }
                Answer::Broken(_) | Answer::NoneIn(_) => None,
            },
        }
    }

    #[track_caller]
    fn demand_an_answer(&self, invariant: usize, line: &str) {
        if let Some(why) = self.no_answer(invariant) {
            let (name, scenario, id) = (self.design.name(), self.scenario.name, INVARIANTS[invariant].id);
            let rerun = self.rerun(line);
            panic!("whether {name} breaks {id} in scenario {scenario} is not decided: {why}\n\n{rerun}");
        }
    }

    /// How far the search goes, as the end of a sentence.
    fn reach(&self) -> String {
        match self.search {
            Search::Within(it) => format!("within {}", counted(u64::from(it), "deviation")),
            Search::Proved => "in any schedule".to_owned(),
            Search::Hunted(runs) => format!("in {} by chance", counted(runs, "run")),
        }
    }

    /// What makes the whole search once more.
    fn rerun(&self, line: &str) -> String {
        let seed =
            if matches!(self.search, Search::Hunted(_)) { format!(" with {SEED}={}", seed()) } else { String::new() };
        let (name, search) = (self.design.name(), &self.line);
        format!("To search again{seed}, where `design` is {name}:\n    expect(&design){search}{line};")
    }

    #[track_caller]
    fn fails(&self, headline: &str, line: &str, it: &Broken) -> ! {
        let Expectation { design, scenario, argument, .. } = self;
        let mut text = format!("{} in scenario {} {headline}\n", design.name(), scenario.name);
        match &it.way {
            Way::Deviations(deviations) => {
                let told = Told::tell(scenario, *design, deviations);
                let token = Token::new(scenario, *design, deviations).to_string();
                let again = if argument.is_some() && scenario.is_built_in() {
                    format!("expect(&design).survives({token:?})")
                } else {
                    format!("expect(&design){}.survives({token:?})", self.line)
                };
                text.push_str(&shown(*design, &told, &token, &again, argument.as_deref()));
            }
            Way::Actions(actions) => {
                let story = Story::tell(scenario, *design, &mut Replay::then_normal(actions));
                let schedule =
                    Schedule::new(scenario.clone(), *design, Some(it.invariant), Then::Normal, actions.clone());
                let _ = write!(text, "\n{}\n{}", story.timeline(&STYLE, Some(actions.len())), story.verdict(&STYLE));
                let _ = write!(text, "\nIts schedule, which no token can tell:\n\n{schedule}");
                if designs::named(design.name()).is_ok() {
                    text.push_str("\nTo see it again, save the schedule in a file: vgdp-sim replay FILE\n");
                }
            }
        }
        panic!("{text}\n{}", self.rerun(line));
    }
}

impl fmt::Debug for Expectation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expectation({}{})", self.design.name(), self.line)
    }
}

impl Way {
    fn length(&self) -> usize {
        match self {
            Way::Deviations(it) => it.len(),
            Way::Actions(it) => it.len(),
        }
    }
}

/// A schedule as its story and timeline, and what shows it again: a command, or where the design or the scenario cannot be
/// typed, the line `again`.
fn shown(design: &dyn Design, told: &Told, token: &str, again: &str, argument: Option<&str>) -> String {
    let scenario = &told.story.scenario;
    let mut text = format!("\n{}\n", told::sentences(told.deviations(), STYLE.width));
    text.push_str(&told.story.annotated(&STYLE, &told.asides()));
    let _ = write!(text, "\n{}\nToken: {token}\nTo see it again", told.story.verdict(&STYLE));
    let can_be_typed = designs::named(design.name()).is_ok();
    let _ = match argument {
        _ if can_be_typed && scenario.is_built_in() => writeln!(text, ":\n    vgdp-sim replay {token}"),
        Some(it) if can_be_typed => writeln!(text, ":\n    vgdp-sim replay {token} --scenario {it}"),
        _ => writeln!(text, ", where `design` is {}:\n    {again};", design.name()),
    };
    text
}

#[track_caller]
fn survives(design: &dyn Design, text: &str, scenarios: &[Scenario], again: &str, argument: Option<&str>) {
    let token = Token::read_among(text, scenarios).unwrap_or_else(|it| panic!("{it}"));
    let told = Told::tell(&token.scenario, design, &token.deviations);
    if let Some(missed) = told.tell_missed(&token, design, STYLE.width) {
        panic!("{missed}{}", shown(design, &told, text, again, argument));
    }
    if let Some((index, it)) = told.story.report.violations().next() {
        let (name, id, when) = (design.name(), INVARIANTS[index].id, duration(it.time));
        panic!(
            "{name} does not survive this schedule: it breaks {id} for {}, +{when}\n{}",
            it.task,
            shown(design, &told, text, again, argument)
        );
    }
}

#[track_caller]
fn index_of(id: &str) -> usize {
    INVARIANTS.iter().position(|it| it.id == id).unwrap_or_else(|| {
        let nearest = nearest(id, INVARIANTS.iter().map(|it| it.id)).unwrap_or_default();
        panic!("no invariant is called `{id}`; did you mean `{nearest}`? (`vgdp-sim list invariants` shows them all)")
    })
}

/// The seed of hunts, from the environment.
fn seed() -> u64 {
    let Ok(typed) = env::var(SEED) else { return 1 };
    search::seed(&typed).unwrap_or_else(|| {
        panic!("{SEED} is `{typed}`, which is neither a number nor the hash of a commit; write {SEED}=1, say")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::designs::Upstream;
    use crate::search::{Cut, Partial};

    fn expectation(outcome: Outcome) -> Expectation<'static> {
        let it = expect(&Upstream).in_scenario("cancel");
        Expectation { outcome: OnceCell::from(outcome), ..it }
    }

    #[test]
    #[should_panic(
        expected = "whether upstream breaks crash in scenario cancel is not decided: the sweep stopped at 20 worlds and tried only 1 deviation in full"
    )]
    fn a_sweep_that_stopped_early_meets_no_expectation() {
        let swept = Sweep { within: 1, worlds: 20, stopped: Some(Cut::AtWorlds), saturated: None, broken: Vec::new() };
        expectation(Outcome::Swept(swept)).holds("crash");
    }

    #[test]
    #[should_panic(expected = "is not decided: the proof stopped at 0 worlds of price 0; ask for a smaller scope")]
    fn a_proof_that_stopped_early_meets_no_expectation() {
        let bounds = Bounds { most_worlds: 10, ..Bounds::default() };
        let extent = crate::search::Extent::default();
        let partial = Some(Partial { price: 0, steps: 0, extent, stopped: Cut::AtWorlds });
        let proof = Proof { partial, broken: Vec::new(), ..prove(&Scenario::default(), &Upstream, bounds) };
        expectation(Outcome::Proved(proof)).holds_all();
    }

    #[test]
    #[should_panic(expected = "is not decided: 3 runs came to no rest")]
    fn runs_without_rest_meet_no_expectation() {
        let campaign = Hunt::default().run(&Scenario::named("cancel").unwrap(), &Upstream, 1, 20);
        let campaign = Campaign { undecided: 3, broken: [0; INVARIANTS.len()], findings: Vec::new(), ..campaign };
        expectation(Outcome::Hunted(campaign)).holds("stuck");
    }
}
