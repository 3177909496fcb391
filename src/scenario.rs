//! Where a run starts, what may happen to it, and what that may cost.
//!
//! Every run starts from the empty cluster: a scenario is a size, a budget for operators and faults, and the named
//! steps that come first. No world is written by hand, since an unreachable start is a false alarm.

mod file;

use std::fs;
use std::path::{self, Path};

pub use file::ScenarioError;

use crate::model::api_server::Phase;
use crate::model::design::Design;
use crate::model::faults::Disturbance;
use crate::model::kind::Kind;
use crate::model::place::{Host, NODES, NodeId, TaskId};
use crate::model::rules::{Action, Rule, Setup};
use crate::model::time::{Ticks, Times};
use crate::model::world::{TooLarge, World};

/// A scope and what may happen in it. Printed, it is one paragraph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Its name, as on the command line.
    pub name: &'static str,
    /// What it is about, as a maintainer would say it.
    pub sentence: &'static str,
    /// The kind of all custom resources.
    pub kind: Kind,
    /// Node-agents, 1 to 3.
    pub nodes: u8,
    /// Tasks, 1 to 4.
    pub tasks: u8,
    /// `loadConcurrency` of every node.
    pub limit: u8,
    /// What operators and faults may cost together.
    pub price: u8,
    /// How often each of them may act, for all tasks and nodes together.
    pub allows: &'static [(Disturbance, u8)],
    /// Triggers: what may touch an upload only in some of its phases.
    pub only_while: &'static [(Disturbance, &'static [Phase])],
    /// The node to which all volumes are tied, and so all pods.
    pub volumes_at: Option<NodeId>,
    /// How long things take.
    pub times: Times,
    /// To which instants the clock moves.
    pub ticks: Ticks,
    /// Whether transfers report progress.
    pub reports_progress: bool,
    /// Whether caches and enqueue-only listeners move in one step.
    pub merges_enqueue: bool,
}

impl Default for Scenario {
    /// One upload, two nodes, one slot each, and nobody interferes.
    fn default() -> Scenario {
        Scenario {
            name: "normal",
            sentence: "Uploads run and nobody interferes.",
            kind: Kind::DataUpload,
            nodes: 2,
            tasks: 1,
            limit: 1,
            price: 0,
            allows: &[],
            only_while: &[],
            volumes_at: None,
            times: Times::default(),
            ticks: Ticks::default(),
            reports_progress: true,
            merges_enqueue: false,
        }
    }
}

/// A scenario that nobody has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no scenario is called `{name}`; did you mean `{nearest}`? (`vgdp-sim list scenarios` shows them all; a file of yours is given as `./{name}.json`)"
)]
pub struct UnknownScenario {
    name: String,
    nearest: &'static str,
}

/// An argument that means no scenario.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoScenario {
    /// It is no path, and nothing built in has that name.
    #[error(transparent)]
    Unknown(#[from] UnknownScenario),
    /// The file cannot be read.
    #[error("`{file}` cannot be read: {why}; `vgdp-sim scenario show cancel` prints a scenario to begin with")]
    Unreadable {
        /// Which.
        file: String,
        /// Why, as the system says it.
        why: String,
    },
    /// The file holds no scenario.
    #[error("{file}: {error}")]
    Wrong {
        /// Which.
        file: String,
        /// What is wrong in it.
        error: ScenarioError,
    },
}

impl Scenario {
    /// The built-in scenarios.
    #[allow(clippy::too_many_lines)] // a table
    pub fn built_in() -> Vec<Scenario> {
        use Disturbance as D;
        let scenario =
            |name, sentence, price, allows| Scenario { name, sentence, price, allows, ..Scenario::default() };
        let download = |it| Scenario { kind: Kind::DataDownload, ..it };
        vec![
            Scenario::default(),
            scenario("cancel", "The user cancels an upload, at any moment.", 0, &[(D::Cancel, 1)]),
            Scenario {
                only_while: &[(D::Cancel, &[Phase::Prepared, Phase::InProgress])],
                ..scenario(
                    "cancel-while-starting",
                    "The user cancels an upload that is prepared or has just begun.",
                    0,
                    &[(D::Cancel, 1)],
                )
            },
            Scenario {
                nodes: 1,
                only_while: &[(D::Cancel, &[Phase::Prepared, Phase::InProgress])],
                ..scenario(
                    "forced-cancel-by-owner",
                    "The owner itself has to force a cancel that its mover did not hear.",
                    0,
                    &[(D::Cancel, 1)],
                )
            },
            Scenario {
                volumes_at: Some(NodeId(1)),
                only_while: &[(D::Cancel, &[Phase::Prepared, Phase::InProgress])],
                ..scenario(
                    "forced-cancel-by-other-node",
                    "Another node than the owner is the first to force a cancel.",
                    0,
                    &[(D::Cancel, 1)],
                )
            },
            scenario("cr-deleted", "Somebody deletes an upload that is not final.", 1, &[(D::Delete, 1)]),
            scenario(
                "finalizer-stripped",
                "Somebody deletes an upload and strips its finalizer.",
                2,
                &[(D::Delete, 1), (D::StripFinalizer, 1)],
            ),
            scenario("pod-deleted", "Somebody deletes the pod of an upload, at any moment.", 1, &[(D::DeletePod, 1)]),
            scenario(
                "kill-fails",
                "The kubelet cannot kill the container of an upload that is cancelled or evicted.",
                2,
                &[(D::Cancel, 1), (D::Unkillable, 1), (D::Evict, 1)],
            ),
            scenario(
                "double-trigger",
                "An upload is cancelled, deleted and stripped, so that its mover may hear of both.",
                2,
                &[(D::Cancel, 1), (D::Delete, 1), (D::StripFinalizer, 1)],
            ),
            scenario(
                "watch-broken",
                "A node-agent loses its watch of pods while somebody deletes the pod.",
                2,
                &[(D::BreakPodWatch, 1), (D::DeletePod, 1)],
            ),
            Scenario {
                nodes: 1,
                tasks: 2,
                ..scenario(
                    "two-uploads-one-slot",
                    "Two uploads share one slot, and the user cancels one of them.",
                    0,
                    &[(D::Cancel, 1)],
                )
            },
            download(scenario("download-cancel", "The user cancels a download, at any moment.", 0, &[(D::Cancel, 1)])),
            download(scenario(
                "download-pod-deleted",
                "Somebody deletes the pod of a download, at any moment.",
                1,
                &[(D::DeletePod, 1)],
            )),
            Scenario {
                tasks: 2,
                ..scenario(
                    "anything",
                    "Operators and faults do whatever they can for a price of 2.",
                    2,
                    &[
                        (D::Cancel, 2),
                        (D::Delete, 1),
                        (D::DeleteFinished, 1),
                        (D::StripFinalizer, 1),
                        (D::DeletePod, 2),
                        (D::Evict, 1),
                        (D::KillMover, 1),
                        (D::ExposeFails, 1),
                        (D::RepositoryFails, 1),
                        (D::TransferFails, 1),
                        (D::BreakCrWatch, 1),
                        (D::BreakPodWatch, 1),
                        (D::BreakMoverWatch, 1),
                        (D::Stall, 2),
                        (D::SlowUploader, 1),
                        (D::HangTransfer, 1),
                        (D::SpoilImage, 1),
                        (D::NeverStart, 1),
                        (D::Unkillable, 1),
                    ],
                )
            },
        ]
    }

    /// The built-in scenario of that name.
    ///
    /// # Errors
    ///
    /// When there is none; the error names the nearest.
    pub fn named(name: &str) -> Result<Scenario, UnknownScenario> {
        let all = Scenario::built_in();
        if let Some(it) = all.iter().find(|it| it.name == name) {
            return Ok(it.clone());
        }
        let nearest = crate::report::nearest(name, all.iter().map(|it| it.name)).unwrap_or("normal");
        Err(UnknownScenario { name: name.to_owned(), nearest })
    }

    /// What an argument means: a file where it has a path separator or ends in `.json`, and else a built-in scenario.
    ///
    /// # Errors
    ///
    /// When there is no such scenario, or the file cannot be read or holds none; the error says what to do.
    pub fn meant_by(argument: &str) -> Result<Scenario, NoScenario> {
        let is_json = Path::new(argument).extension().is_some_and(|it| it.eq_ignore_ascii_case("json"));
        if !is_json && !argument.contains(path::is_separator) {
            return Ok(Scenario::named(argument)?);
        }
        Scenario::open(argument)
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// When it cannot be read or holds no scenario; the error says what to do.
    pub fn open(file: &str) -> Result<Scenario, NoScenario> {
        let named = || file.to_owned();
        let text =
            fs::read_to_string(file).map_err(|it| NoScenario::Unreadable { file: named(), why: it.to_string() })?;
        Scenario::read(&text).map_err(|error| NoScenario::Wrong { file: named(), error })
    }

    /// Whether it is built in, in whatever scope and under whatever ticks.
    pub fn is_built_in(&self) -> bool {
        Scenario::named(self.name)
            .is_ok_and(|it| Scenario { ticks: self.ticks, ..it.scope(self.nodes, self.tasks) } == *self)
    }

    /// What to type after `--scenario`: its name, or where it is not built in the file of its name, here.
    pub fn argument(&self) -> String {
        if self.is_built_in() { self.name.to_owned() } else { format!("./{}.json", self.name) }
    }

    /// The same scenario in another scope.
    #[must_use]
    pub fn scope(self, nodes: u8, tasks: u8) -> Scenario {
        Scenario { nodes, tasks, ..self }
    }

    /// The same scenario in its small form: caches of custom resources and their enqueue-only listeners move in one step,
    /// and transfers are over before they would report progress. It has a twentieth to a twenty-fifth of the
    /// worlds. What it shows, it shows of this form.
    #[must_use]
    pub fn small(self) -> Scenario {
        Scenario { merges_enqueue: true, reports_progress: false, ..self }
    }

    /// Whether it is in its small form.
    pub fn is_small(&self) -> bool {
        self.merges_enqueue && !self.reports_progress
    }

    /// The fewest nodes with which it makes sense: its volumes may be tied to a node.
    pub fn least_nodes(&self) -> u8 {
        self.volumes_at.map_or(1, |it| it.0 + 1)
    }

    /// What does not change during a run of it.
    pub fn setup<'a>(&self, design: &'a dyn Design) -> Setup<'a> {
        let mut phases = [u8::MAX; Disturbance::ALL.len()];
        for &(what, allowed) in self.only_while {
            phases[what as usize] = allowed.iter().map(|&it| 1 << it as u8).sum();
        }
        Setup {
            design,
            kind: self.kind,
            volumes_at: self.volumes_at.map_or(Host::NOBODY, Host::at),
            phases,
            times: self.times,
            ticks: self.ticks,
            limits: [self.limit; NODES],
            reports_progress: self.reports_progress,
            merges_enqueue: self.merges_enqueue,
        }
    }

    /// The empty cluster with the budget of the scenario.
    ///
    /// # Errors
    ///
    /// When the scope is larger than a world has room for.
    pub fn empty_cluster(&self) -> Result<World, TooLarge> {
        let mut world = World::new(self.nodes, self.tasks)?;
        world.shared.budget.set_price(self.price);
        for &(what, count) in self.allows {
            world.shared.budget.allow(what, count);
        }
        for t in world.task_ids() {
            world.shared.budget.allow_creation(t);
        }
        Ok(world)
    }

    /// The steps that come first: the server creates each upload.
    pub fn prefix(&self) -> impl Iterator<Item = Action> + use<> {
        (0..self.tasks).map(|t| {
            Action::new(Rule::VeleroServerCreates, None, Some(TaskId(t))).expect("creation is a matter of a task")
        })
    }
}
