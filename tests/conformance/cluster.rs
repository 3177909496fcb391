//! A small cluster that is driven step by step: the one way in which these tests reach the model.

use vgdp_sim::designs::Upstream;
use vgdp_sim::model::api_server::DataUpload;
use vgdp_sim::model::design::Design;
use vgdp_sim::model::faults::Disturbance;
use vgdp_sim::model::place::{NODES, NodeId, TASKS, TaskId};
use vgdp_sim::model::rules::{Action, Class, Enabled, Owed, Rule, Setup};
use vgdp_sim::model::world::{Known, Node, Task, World};
use vgdp_sim::scenario::Scenario;

/// The first node.
pub const N0: NodeId = NodeId(0);
/// The second node.
pub const N1: NodeId = NodeId(1);
/// The first upload, its pod and its mover.
pub const A: TaskId = TaskId(0);
/// The second upload, its pod and its mover.
pub const B: TaskId = TaskId(1);
/// The third upload, its pod and its mover.
pub const C: TaskId = TaskId(2);

/// The transfer of the first upload is complete and its process says so and ends, with all events still to be received.
pub const COMPLETES: &str = "
    data_mover::transfer_ends_completed(a)
    data_mover::receives_result(a)
    data_mover::records_stopped(a)
    data_mover::writes_event(a)
    data_mover::drains_events(a)
    data_mover::closes_data_path(a)
    data_mover::exits(a)
";

/// The process of the first upload dies, and the kubelet says so; the pod stays, and has failed.
pub const DIES: &str = "
    pod_fault::kills_mover(a)
    kubelet::reports_exit(a)
";

/// A step to the next quiet moment is one of these many; more would be a livelock.
const PATIENCE: u32 = 10_000;

/// A world, what does not change in it, and the seconds since its start.
#[derive(Clone, Copy)]
pub struct Cluster {
    /// Everything that is the case.
    pub world: World,
    /// What does not change.
    pub setup: Setup<'static>,
    /// Seconds since the start.
    pub seconds: u32,
    last: Option<Action>,
}

impl Cluster {
    /// `nodes` node-agents and `tasks` uploads that were just created, of which nobody has heard yet; operators and
    /// faults may do what is allowed, and can afford all of it.
    pub fn new(nodes: u8, tasks: u8, allows: &'static [(Disturbance, u8)]) -> Cluster {
        Cluster::by(&Upstream, nodes, tasks, allows)
    }

    /// The same with another design than upstream's.
    pub fn by(design: &'static dyn Design, nodes: u8, tasks: u8, allows: &'static [(Disturbance, u8)]) -> Cluster {
        let price = allows.iter().map(|&(what, count)| what.price() * count).sum();
        let normal = Scenario::named("normal").expect("a built-in scenario");
        let scenario = Scenario { nodes, tasks, price, allows, ..normal };
        let world = scenario.empty_cluster().expect("the scope of a test is small");
        let mut cluster = Cluster { world, setup: scenario.setup(design), seconds: 0, last: None };
        for action in scenario.prefix() {
            cluster.fire(action);
        }
        cluster
    }

    /// One node-agent and one upload whose mover process has just started, of which the kubelet has said nothing yet.
    pub fn started(allows: &'static [(Disturbance, u8)]) -> Cluster {
        let mut cluster = Cluster::new(1, 1, allows);
        cluster.until(|w| w.tasks[A].mover.is_running());
        cluster
    }

    /// One node-agent and one upload that is in the middle of its transfer; all have heard all.
    pub fn transferring(allows: &'static [(Disturbance, u8)]) -> Cluster {
        Cluster::transferring_by(&Upstream, allows)
    }

    /// The same with another design than upstream's.
    pub fn transferring_by(design: &'static dyn Design, allows: &'static [(Disturbance, u8)]) -> Cluster {
        let mut cluster = Cluster::by(design, 1, 1, allows);
        cluster.until(|w| w.tasks[A].mover.is_transferring());
        cluster
    }

    /// Takes these steps, one a line, each of which must be enabled in its turn; `#` begins a comment.
    pub fn goes(&mut self, steps: &str) -> &mut Cluster {
        for line in steps.lines() {
            let step = line.split('#').next().unwrap_or_default().trim();
            if !step.is_empty() {
                let action = parsed(step);
                let enabled = self.enabled();
                assert!(enabled.contains(&action), "{action} is not enabled; enabled are {enabled:?}");
                self.fire(action);
            }
        }
        self
    }

    /// Whether this step is enabled.
    pub fn may(&mut self, step: &str) -> bool {
        self.enabled().contains(&parsed(step))
    }

    /// Whether this step is enabled and must be taken before the clock moves.
    pub fn must(&mut self, step: &str) -> bool {
        let enabled = self.enabled();
        enabled.iter().position(|&it| it == parsed(step)).is_some_and(|index| enabled.owed(index) == Owed::Now)
    }

    /// Takes the steps that are owed within this instant, in turns, until there are none.
    pub fn settles(&mut self) -> &mut Cluster {
        self.until(|_| true)
    }

    /// Takes owed steps, in turns, until nothing is owed within this instant and `goal` is reached. Operators and
    /// faults do nothing, and the clock moves only when nobody else can.
    pub fn until(&mut self, goal: impl Fn(&World) -> bool) -> &mut Cluster {
        for _ in 0..PATIENCE {
            let owed = if self.enabled().is_urgent() { Owed::Now } else { Owed::InTime };
            if owed == Owed::InTime && goal(&self.world) {
                return self;
            }
            let next = self.next_of(owed).unwrap_or(Action::clock());
            self.fire(next);
        }
        panic!("the goal is out of reach; enabled are {:?}", self.enabled());
    }

    /// What may happen next.
    pub fn enabled(&mut self) -> Enabled {
        let mut enabled = Enabled::default();
        self.world.enabled(&self.setup, &mut enabled);
        enabled
    }

    /// Lets the clock move, while others do nothing but what they owe within the instant, until `step` is enabled;
    /// returns the seconds that it took.
    pub fn waits_until_it_may(&mut self, step: &str) -> u32 {
        self.waits(step, Cluster::may)
    }

    /// The same, until `step` can wait no longer.
    pub fn waits_until_it_must(&mut self, step: &str) -> u32 {
        self.waits(step, Cluster::must)
    }

    fn waits(&mut self, step: &str, reached: fn(&mut Cluster, &str) -> bool) -> u32 {
        let start = self.seconds;
        for _ in 0..PATIENCE {
            if reached(self, step) {
                return self.seconds - start;
            }
            let next = self.next_of(Owed::Now).unwrap_or(Action::clock());
            self.fire(next);
        }
        panic!("{step} is out of reach; enabled are {:?}", self.enabled());
    }

    /// Of the steps that are owed like this, the one whose turn it is.
    fn next_of(&mut self, owed: Owed) -> Option<Action> {
        let enabled = self.enabled();
        let mut steps = (0..enabled.len())
            .filter(|&index| enabled.owed(index) == owed && enabled[index].class() == Class::Step)
            .map(|index| enabled[index]);
        steps.clone().find(|&it| Some(it) > self.last).or_else(|| steps.next())
    }

    /// The custom resource of the first upload, as the API server has it.
    pub fn cr(&self) -> DataUpload {
        self.task().cr
    }

    /// The first upload and all that belongs to it.
    pub fn task(&self) -> &Task {
        &self.world.tasks[A]
    }

    /// The node-agent of the first node.
    pub fn agent(&self) -> &Node {
        &self.world.nodes[N0]
    }

    /// What the node-agent of the first node knows of the first upload.
    pub fn known(&self) -> &Known {
        &self.task().at[N0]
    }

    fn fire(&mut self, action: Action) {
        if action == Action::clock() {
            self.seconds += u32::from(self.world.seconds_ahead(&self.setup));
        }
        assert!(self.world.fire(&self.setup, action), "{action} is not enabled");
        self.last = Some(action);
    }
}

/// The action that is printed like this.
fn parsed(step: &str) -> Action {
    let nodes = || (0..NODES as u8).map(|n| Some(NodeId(n))).chain([None]);
    let tasks = || (0..TASKS as u8).map(|t| Some(TaskId(t))).chain([None]);
    let name = step.split('(').next().unwrap_or_default();
    Rule::ALL
        .iter()
        .filter(|it| it.name() == name)
        .flat_map(|&rule| nodes().flat_map(move |n| tasks().filter_map(move |t| Action::new(rule, n, t))))
        .find(|it| it.to_string() == step)
        .unwrap_or_else(|| panic!("no action is called `{step}`"))
}
