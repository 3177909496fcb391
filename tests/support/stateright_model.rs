//! The model as stateright sees it: another search, to compare ours with.

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

use stateright::{Checker, CheckerBuilder, Model, Property, UniformChooser};
use zerocopy::IntoBytes;

use vgdp_sim::invariants::{INVARIANTS, Kind};
use vgdp_sim::model::design::Design;
use vgdp_sim::model::rules::{Action, Enabled, Setup};
use vgdp_sim::model::world::{Node, Shared, Task, World};
use vgdp_sim::scenario::Scenario;

#[path = "start.rs"]
pub mod start;

use start::start;

/// A world of `N` nodes and `T` tasks, packed to the bytes in use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State<const N: usize, const T: usize> {
    shared: Shared,
    nodes: [Node; N],
    tasks: [Task; T],
}

impl<const N: usize, const T: usize> State<N, T> {
    fn of(world: &World) -> State<N, T> {
        let nodes = world.nodes.0[..N].try_into().expect("as many nodes");
        let tasks = world.tasks.0[..T].try_into().expect("as many tasks");
        State { shared: world.shared, nodes, tasks }
    }

    fn world(&self, mut like: World) -> World {
        like.shared = self.shared;
        like.nodes.0[..N].copy_from_slice(&self.nodes);
        like.tasks.0[..T].copy_from_slice(&self.tasks);
        like
    }
}

impl<const N: usize, const T: usize> Hash for State<N, T> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write(self.shared.as_bytes());
        hasher.write(self.nodes.as_bytes());
        hasher.write(self.tasks.as_bytes());
    }
}

/// A scenario under a design. What breaks is noted on the side, since some of it is a matter of steps.
pub struct Checked<'a, const N: usize, const T: usize> {
    setup: Setup<'a>,
    start: World,
    broken: &'a AtomicU64,
}

impl<const N: usize, const T: usize> Checked<'_, N, T> {
    fn note(&self, index: usize) {
        self.broken.fetch_or(1 << index, Ordering::Relaxed);
    }
}

impl<const N: usize, const T: usize> Model for Checked<'_, N, T> {
    type State = State<N, T>;
    type Action = Action;

    fn init_states(&self) -> Vec<State<N, T>> {
        vec![State::of(&self.start)]
    }

    fn actions(&self, state: &State<N, T>, actions: &mut Vec<Action>) {
        let mut world = state.world(self.start);
        let mut enabled = Enabled::default();
        world.enabled(&self.setup, &mut enabled);
        actions.extend_from_slice(&enabled);
        if enabled.is_at_rest() && !world.is_passing() {
            for (index, it) in INVARIANTS.iter().enumerate() {
                if let Kind::AtRest(broken) = it.broken
                    && world.task_ids().any(|t| broken(&world, &self.setup, t))
                {
                    self.note(index);
                }
            }
        }
    }

    fn next_state(&self, state: &State<N, T>, action: Action) -> Option<State<N, T>> {
        let was = state.world(self.start);
        let mut is = was;
        assert!(is.fire(&self.setup, action), "{action}");
        for (index, it) in INVARIANTS.iter().enumerate() {
            if let Kind::Step(broken) = it.broken
                && was.task_ids().any(|t| broken(&was, action, &is, t))
            {
                self.note(index);
            }
        }
        Some(State::of(&is))
    }

    /// It stops once every property is decided, so there is one that never is.
    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("goes on", |_, _| true)]
    }
}

/// How stateright searches.
#[allow(dead_code)] // a matter of whoever searches
#[derive(Clone, Copy, Debug)]
pub enum By {
    /// Breadth first, by one thread.
    Breadth,
    /// Depth first, by one thread.
    Depth,
}

/// What stateright saw broken, in whatever search is under way.
static BROKEN: AtomicU64 = AtomicU64::new(0);

fn checker<const N: usize, const T: usize>(
    scenario: &Scenario,
    design: &'static dyn Design,
) -> CheckerBuilder<Checked<'static, N, T>> {
    let (setup, start) = start(scenario, design);
    Checked::<N, T> { setup, start, broken: &BROKEN }.checker().threads(1)
}

/// How many worlds stateright finds, and the indices of the invariants that it sees broken at a step or at rest.
#[allow(dead_code)] // a matter of whoever searches
pub fn checked<const N: usize, const T: usize>(
    scenario: &Scenario,
    design: &'static dyn Design,
    by: By,
) -> (u64, Vec<usize>) {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let alone = ALONE.lock();
    BROKEN.store(0, Ordering::Relaxed);
    let checker = checker::<N, T>(scenario, design);
    let worlds = match by {
        By::Breadth => checker.spawn_bfs().join().unique_state_count(),
        By::Depth => checker.spawn_dfs().join().unique_state_count(),
    };
    let broken = BROKEN.load(Ordering::Relaxed);
    drop(alone);
    (worlds as u64, (0..INVARIANTS.len()).filter(|it| broken & (1 << it) != 0).collect())
}

/// Lets stateright simulate until it has gone through so many worlds; returns how many they were.
#[allow(dead_code)] // a matter of whoever simulates
pub fn simulated<const N: usize, const T: usize>(
    scenario: &Scenario,
    design: &'static dyn Design,
    seed: u64,
    worlds: usize,
) -> u64 {
    let checker = checker::<N, T>(scenario, design).target_state_count(worlds);
    checker.spawn_simulation(seed, UniformChooser).join().state_count() as u64
}
