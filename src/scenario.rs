//! Where a run starts, what may happen to it, and what that may cost.
//!
//! Every run starts from the empty cluster: a scenario is a size, a budget for operators and faults, and the named
//! steps that come first. No world is written by hand, since an unreachable start is a false alarm.

use crate::model::design::Design;
use crate::model::faults::Disturbance;
use crate::model::place::{NODES, TaskId};
use crate::model::rules::{Action, Rule, Setup};
use crate::model::time::Times;
use crate::model::world::{TooLarge, World};

/// A scope and what may happen in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Its name, as on the command line.
    pub name: &'static str,
    /// What it is about, as a maintainer would say it.
    pub sentence: &'static str,
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
    /// How long things take.
    pub times: Times,
    /// Whether transfers report progress.
    pub reports_progress: bool,
    /// Whether caches and enqueue-only listeners move in one step.
    pub merges_enqueue: bool,
}

/// A scenario that nobody has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no scenario is called `{name}`; did you mean `{nearest}`? (`vgdp-sim list scenarios` shows them all)")]
pub struct UnknownScenario {
    name: String,
    nearest: &'static str,
}

impl Scenario {
    /// The built-in scenarios.
    pub fn built_in() -> Vec<Scenario> {
        use Disturbance as D;
        let scenario = |name, sentence, nodes, tasks, price, allows| Scenario {
            name,
            sentence,
            nodes,
            tasks,
            limit: 1,
            price,
            allows,
            times: Times::default(),
            reports_progress: true,
            merges_enqueue: false,
        };
        vec![
            scenario("normal", "Uploads run and nobody interferes.", 2, 1, 0, &[]),
            scenario("cancel", "The user cancels an upload, at any moment.", 2, 1, 0, &[(D::Cancel, 1)]),
            scenario(
                "pod-deleted",
                "Somebody deletes the pod of an upload, at any moment.",
                2,
                1,
                1,
                &[(D::DeletePod, 1)],
            ),
            scenario(
                "finalizer-stripped",
                "Somebody deletes an upload and strips its finalizer.",
                2,
                1,
                2,
                &[(D::Delete, 1), (D::StripFinalizer, 1)],
            ),
            scenario(
                "watch-broken",
                "A node-agent loses its watch of pods while somebody deletes the pod.",
                2,
                1,
                2,
                &[(D::BreakPodWatch, 1), (D::DeletePod, 1)],
            ),
            scenario(
                "kill-fails",
                "The kubelet cannot kill the container of an upload that is cancelled or evicted.",
                2,
                1,
                2,
                &[(D::Cancel, 1), (D::Unkillable, 1), (D::Evict, 1)],
            ),
            scenario(
                "two-uploads-one-slot",
                "Two uploads share one slot, and the user cancels one of them.",
                1,
                2,
                0,
                &[(D::Cancel, 1)],
            ),
            scenario(
                "anything",
                "Operators and faults do whatever they can for a price of 2.",
                2,
                2,
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
            ),
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

    /// The same scenario in another scope.
    #[must_use]
    pub fn scope(self, nodes: u8, tasks: u8) -> Scenario {
        Scenario { nodes, tasks, ..self }
    }

    /// What does not change during a run of it.
    pub fn setup<'a>(&self, design: &'a dyn Design) -> Setup<'a> {
        Setup {
            design,
            times: self.times,
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
