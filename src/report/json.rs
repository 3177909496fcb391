//! A comparison as JSON, for programs.
//!
//! The schema is called `vgdp-sim/comparison/1` (`schemas/comparison.schema.json`). Fields may be added to it; one that is
//! renamed, removed or gets another meaning makes it `/2`. Objects have ids as their keys, in the order of the tables, and the same comparison gives the
//! same bytes.
//!
//! ```json
//! {
//!   "schema": "vgdp-sim/comparison/1",
//!   "version": "0.1.0",
//!   "effort": { "deviations": 2, "worlds": 1000000, "runs": 1000, "proofs": 0, "seed": 1 },
//!   "invariants": { "slot-leak": { "sentence": "...", "source": "..." } },
//!   "designs": { "upstream": { "sentence": "..." } },
//!   "scenarios": {
//!     "cancel": {
//!       "sentence": "...", "nodes": 2, "tasks": 1, "slots": 1, "price": 0,
//!       "designs": {
//!         "upstream": {
//!           "within": 2, "partial": false, "worlds": 149486, "runs": 1000, "undecided": 0, "vacuous": false,
//!           "proof": null,
//!           "invariants": {
//!             "slot-leak": {
//!               "broken": true,
//!               "price": 0,
//!               "by": "sweep",
//!               "sweep": {
//!                 "price": 0, "task": "a", "steps": 129,
//!                 "deviations": ["after a becomes Prepared, ...", "..."],
//!                 "token": "vgdp1-..."
//!               },
//!               "chance": null,
//!               "proof": null,
//!               "sensitivity": { "robust": true, "needs": [], "open": [] }
//!             },
//!             "stuck": {
//!               "broken": false, "price": null, "by": "sweep", "sweep": null, "chance": null, "proof": null,
//!               "sensitivity": null
//!             }
//!           }
//!         }
//!       }
//!     }
//!   }
//! }
//! ```
//!
//! - `effort`: what was asked for. `within`, `partial`, `worlds` and `runs`: what was done for a scenario and a design.
//!   Every schedule within `within` deviations was tried; where `partial` is true, some with one more. `proof` of a
//!   design: how far a proof came, if one was made. `complete` has all `worlds` `up_to` a price, `partial` the `worlds`
//!   and the `steps` within which every schedule of a `price` was tried.
//! - `ticks`: of a scenario, to which instants the clock moved, where that is not to boundaries only.
//! - `broken` and `price`: whether any violation was found, and the lowest price of one. `by`: which search gave that
//!   answer, the strongest that did: `proof`, `sweep`, `chance`, or `nothing` after an interruption. `broken: false` by
//!   a proof means that no schedule breaks it in this scope; else it means none within `within` deviations and none in
//!   `runs` runs, never that the invariant holds.
//! - `sweep`: the cheapest violation that the sweep found, by price, then deviations, then steps; `token` replays it.
//! - `chance`: a violation that chance found and the sweep did not, or not at so low a price: `price`, `task`, `steps`,
//!   the `seed` and the `run` that found it, the `command` that shows that run, the `schedule` to which it was shrunk,
//!   as a list of actions, and the same as `deviations` and `token`, or null where it cannot be told so.
//! - `proof` of an invariant: a violation that a proof found and neither sweep nor chance did, or not at so low a price.
//! - `sensitivity`: of a cheapest violation of price 0, whether it is `robust`: found at this price, with no more deviations,
//!   whichever assumption about latency is halved or doubled. Where it is not, `needs` has the changes after which it is
//!   gone, as `{ "assumption": "ContainerStart", "change": "halved" }`, and `open` those of which that is not known. It is
//!   null where the price is another, where nothing was asked since there are no `deviations`, and where the comparison was
//!   interrupted before all was known.
//! - `undecided`: how many of the runs by chance came to no rest; they prove nothing.
//! - `vacuous`: whether nothing from outside that the scenario allows ever acted.
//! - `shard`: of one part of a comparison only, after `version`: its `number`, from 1 on, and how many there are `of` them. All
//!   shards of a comparison have the same scenarios and designs and only their own pairs; [`merge`](super::merge) joins them.

use serde::{Deserialize, Serialize, Serializer};

use super::comparison::{run_command, token};
use crate::invariants::INVARIANTS;
use crate::model::time::Ticks;
use crate::search::{
    Broken, By, Cheapest, Comparison, Effort, Exposed, Extent, Pair, Partial, Proved, Sampled, Shard, Trial,
};

/// The name and version of the schema.
pub const SCHEMA: &str = "vgdp-sim/comparison/1";

/// The comparison as JSON, ended by a line feed.
pub fn text(it: &Comparison<'_>) -> String {
    let Effort { deviations, worlds, runs, proofs, seed } = it.effort;
    let document = Document {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        shard: it.shard.map(Part::from),
        effort: Tried { deviations, worlds: worlds as u64, runs, proofs: proofs as u64, seed },
        invariants: by_id(it.invariants.iter().map(|&it| &INVARIANTS[it]), |it| {
            (it.id, About { sentence: it.sentence, source: Some(it.source) })
        }),
        designs: by_id(&it.designs, |it| (it.name(), About { sentence: it.sentence(), source: None })),
        scenarios: by_id(it.scenarios.iter().enumerate(), |(index, scenario)| {
            let place = InScenario {
                sentence: scenario.sentence,
                nodes: scenario.nodes,
                tasks: scenario.tasks,
                slots: scenario.limit,
                price: scenario.price,
                ticks: (scenario.ticks != Ticks::default()).then(|| scenario.ticks.name()),
                designs: by_id(it.designs.iter().enumerate().filter(|(d, _)| it.holds(index, *d)), |(d, design)| {
                    (design.name(), of_design(it, index, d))
                }),
            };
            (scenario.name, place)
        }),
    };
    let mut text = serde_json::to_string_pretty(&document).expect("strings and numbers can always be written");
    text.push('\n');
    text
}

fn of_design(it: &Comparison<'_>, scenario: usize, design: usize) -> OfDesign {
    let pair = it.pair(scenario, design);
    let Pair { within, stopped, worlds, runs, undecided, vacuous, proved, cells } = pair;
    let found = |invariant: usize| {
        let cell = &cells[invariant];
        let sweep = cell.swept.as_ref().map(|Broken { invariant: _, task, price, steps, deviations }| Swept {
            price: *price,
            task: task.to_string(),
            steps: *steps,
            deviations: deviations.iter().map(ToString::to_string).collect(),
            token: token(it, scenario, design, deviations),
        });
        let chance = cell.sampled.as_ref().map(|sampled| {
            let Sampled { task, price, steps, run, schedule, deviations } = sampled;
            Chance {
                price: *price,
                task: task.to_string(),
                steps: *steps,
                seed: it.effort.seed,
                run: *run,
                command: run_command(it, scenario, design, sampled),
                schedule: schedule.iter().map(ToString::to_string).collect(),
                deviations: deviations.as_ref().map(|it| it.iter().map(ToString::to_string).collect()),
                token: deviations.as_ref().map(|told| token(it, scenario, design, told)),
            }
        });
        let proof = cell.exposed.as_ref().map(|Exposed { cheapest, deviations }| {
            let Cheapest { invariant: _, task, price, steps, schedule } = cheapest;
            ByProof {
                price: *price,
                task: task.to_string(),
                steps: *steps,
                schedule: schedule.iter().map(ToString::to_string).collect(),
                deviations: deviations.as_ref().map(|it| it.iter().map(ToString::to_string).collect()),
                token: deviations.as_ref().map(|told| token(it, scenario, design, told)),
            }
        });
        let by = match pair.by(invariant) {
            By::Proof => "proof",
            By::Sweep => "sweep",
            By::Chance => "chance",
            By::Nothing => "nothing",
        };
        let sensitivity = cell.sensitivity.as_ref().map(|it| Asked {
            robust: it.is_robust(),
            needs: it.needs().map(Changed::from).collect(),
            open: it.open().map(Changed::from).collect(),
        });
        let found = Found { broken: cell.is_broken(), price: cell.price(), by, sweep, chance, proof, sensitivity };
        (INVARIANTS[invariant].id, found)
    };
    OfDesign {
        within: *within,
        partial: stopped.is_some(),
        worlds: *worlds as u64,
        runs: *runs,
        undecided: *undecided,
        vacuous: *vacuous,
        proof: proved.map(|Proved { complete, partial }| HowFar {
            complete: complete.map(|(up_to, Extent { worlds, .. })| Complete { up_to, worlds }),
            partial: partial.map(|Partial { price, steps, extent, .. }| InPart { price, steps, worlds: extent.worlds }),
        }),
        invariants: by_id(it.invariants.iter().copied(), found),
    }
}

/// An object with ids as its keys, in a given order.
pub(super) struct ById<T>(Vec<(&'static str, T)>);

pub(super) fn by_id<I: IntoIterator, T>(all: I, entry: impl FnMut(I::Item) -> (&'static str, T)) -> ById<T> {
    ById(all.into_iter().map(entry).collect())
}

impl<T: Serialize> Serialize for ById<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(id, it)| (id, it)))
    }
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<Part>,
    effort: Tried,
    invariants: ById<About>,
    designs: ById<About>,
    scenarios: ById<InScenario>,
}

/// Which shard of how many.
#[derive(Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) number: u32,
    pub(super) of: u32,
}

impl From<Shard> for Part {
    fn from(it: Shard) -> Part {
        Part { number: it.number(), of: it.of() }
    }
}

#[derive(Serialize)]
struct Tried {
    deviations: u8,
    worlds: u64,
    runs: u64,
    proofs: u64,
    seed: u64,
}

#[derive(Serialize)]
struct About {
    sentence: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
}

#[derive(Serialize)]
struct InScenario {
    sentence: &'static str,
    nodes: u8,
    tasks: u8,
    slots: u8,
    price: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    ticks: Option<&'static str>,
    designs: ById<OfDesign>,
}

#[derive(Serialize)]
struct OfDesign {
    within: u8,
    partial: bool,
    worlds: u64,
    runs: u64,
    undecided: u64,
    vacuous: bool,
    proof: Option<HowFar>,
    invariants: ById<Found>,
}

#[derive(Serialize)]
struct HowFar {
    complete: Option<Complete>,
    partial: Option<InPart>,
}

#[derive(Serialize)]
struct Complete {
    up_to: u8,
    worlds: u64,
}

#[derive(Serialize)]
struct InPart {
    price: u8,
    steps: u32,
    worlds: u64,
}

#[derive(Serialize)]
struct Found {
    broken: bool,
    price: Option<u8>,
    by: &'static str,
    sweep: Option<Swept>,
    chance: Option<Chance>,
    proof: Option<ByProof>,
    sensitivity: Option<Asked>,
}

#[derive(Serialize)]
struct Asked {
    robust: bool,
    needs: Vec<Changed>,
    open: Vec<Changed>,
}

#[derive(Serialize)]
struct Changed {
    assumption: String,
    change: &'static str,
}

impl From<&Trial> for Changed {
    fn from(it: &Trial) -> Changed {
        Changed { assumption: format!("{:?}", it.assumption), change: it.change.name() }
    }
}

#[derive(Serialize)]
struct Swept {
    price: u8,
    task: String,
    steps: u32,
    deviations: Vec<String>,
    token: String,
}

#[derive(Serialize)]
struct Chance {
    price: u8,
    task: String,
    steps: u32,
    seed: u64,
    run: u64,
    command: String,
    schedule: Vec<String>,
    deviations: Option<Vec<String>>,
    token: Option<String>,
}

#[derive(Serialize)]
struct ByProof {
    price: u8,
    task: String,
    steps: u32,
    schedule: Vec<String>,
    deviations: Option<Vec<String>>,
    token: Option<String>,
}
