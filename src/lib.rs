//! Deterministic simulation of the cancel/delete handshake of [Velero]'s data movers.
//!
//! Velero's node-agent holds a `loadConcurrency` slot for each running data mover. In the field slots leak: the custom
//! resource is gone, the pod is gone, the slot stays, and backups queue until somebody restarts the agent. Each
//! proposed cure looks right until some interleaving of node-agents, pods, API server, kubelet, garbage collector and
//! operators breaks it. This crate interleaves them, over millions of schedules, checks what must hold, and shows a
//! schedule that breaks it.
//!
//! # The idea in one example
//!
//! ```
//! use vgdp_sim::designs::Upstream;
//! use vgdp_sim::invariants::INVARIANTS;
//! use vgdp_sim::run::run;
//! use vgdp_sim::scenario::Scenario;
//! use vgdp_sim::scheduler::{Normal, Replay};
//! use vgdp_sim::search::hunt;
//!
//! // The user cancels an upload at any moment, and nothing else goes wrong: price 0.
//! let scenario = Scenario::named("cancel")?;
//!
//! // If everybody takes turns and the user stays away, all is well.
//! assert_eq!(run(&scenario, &Upstream, &mut Normal).violations().count(), 0);
//!
//! // Chance finds a schedule that breaks an invariant, and leaves out what it does not need.
//! let campaign = hunt(&scenario, &Upstream, 1, 2_000);
//! let leak = campaign.findings.iter().find(|it| INVARIANTS[it.invariant].id == "slot-leak").expect("a known race");
//! assert_eq!(leak.price, 0);
//!
//! // The schedule is a list of named actions, and replays.
//! let again = run(&scenario, &Upstream, &mut Replay::then_normal(&leak.schedule));
//! assert!(again.broken[leak.invariant].is_some());
//! # Ok::<(), vgdp_sim::scenario::UnknownScenario>(())
//! ```
//!
//! # The modules, in reading order
//!
//! - [`model`]: the cluster. A [`World`](model::world::World) is a value; a rule is one function with its guard and its
//!   effect; [time](model::time) is windows; one table, [`rules`](model::rules), lists every way in which the world
//!   can change. It knows nothing of the modules below.
//! - [`invariants`]: what must hold. They know nothing of rules but their names.
//! - [`scenario`]: where a run starts, what may happen to it, and what that may cost.
//! - [`scheduler`]: who chooses. A scheduler never sees the world.
//! - [`mod@run`]: the one loop.
//! - [`search`]: hunting for schedules, and shrinking them.
//! - [`report`]: schedules as text, timelines, tables.
//!
//! # What a violation costs
//!
//! The **price** is what the outside world had to do wrong: 0 for creating or cancelling an upload, for Velero's own
//! time-outs and for every interleaving; 1 for each abnormal operation and each fault. A violation at price 0 is a race
//! in normal operation. What a search did not find is "none in *n* runs", never more.
//!
//! # What is absent
//!
//! Nothing that [`run`](run::run) reaches touches a clock, a thread, a file, a hash map or a global. The hot loop
//! allocates nothing. The same seed gives the same bytes in debug and release, on any platform.
//!
//! [Velero]: https://velero.io

pub mod model;

pub mod event;
pub mod invariants;
pub mod scenario;

pub mod scheduler;

pub mod run;
pub mod search;

pub mod designs;

pub mod report;
