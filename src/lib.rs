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
//! A fix is upstream plus its difference. This one lets the mover treat the cancel as a level, not an edge:
//!
//! ```
//! use vgdp_sim::designs::Upstream;
//! use vgdp_sim::invariants::INVARIANTS;
//! use vgdp_sim::model::design::{Design, Heard};
//! use vgdp_sim::run::run;
//! use vgdp_sim::scenario::Scenario;
//! use vgdp_sim::scheduler::{Deviating, Normal};
//! use vgdp_sim::search::sweep;
//!
//! struct LevelTriggeredCancel;
//!
//! impl Design for LevelTriggeredCancel {
//!     fn name(&self) -> &'static str {
//!         "level-triggered-cancel"
//!     }
//!
//!     fn mover_hears(&self, heard: &Heard) -> bool {
//!         heard.newest().is_some_and(|cr| cr.cancel && !cr.phase.is_final())
//!     }
//! }
//!
//! // The user cancels an upload at any moment, and nothing else goes wrong: price 0.
//! let scenario = Scenario::named("cancel")?;
//!
//! // If everybody takes turns and the user stays away, all is well.
//! assert_eq!(run(&scenario, &Upstream, &mut Normal).violations().count(), 0);
//!
//! // Two departures from that are enough to leak a slot in upstream.
//! let leak = |design: &dyn Design| {
//!     let found = sweep(&scenario, design, 2, 1_000_000);
//!     found.broken.into_iter().find(|it| INVARIANTS[it.invariant].id == "slot-leak")
//! };
//! let upstream = leak(&Upstream).expect("a known race");
//! assert_eq!((upstream.price, upstream.deviations.len()), (0, 2));
//!
//! // They are told by name, and replay.
//! let again = run(&scenario, &Upstream, &mut Deviating::new(&upstream.deviations));
//! assert!(again.broken[upstream.invariant].is_some());
//!
//! // The fix does not stop it.
//! assert!(leak(&LevelTriggeredCancel).is_some());
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
//! - [`search`]: sweeping all schedules near the normal one, hunting by chance, proving small scopes,
//!   comparing designs, shrinking, explaining.
//! - [`designs`]: upstream's rivals, one a file; nothing else depends on them.
//! - [`report`]: tokens and schedules as text, timelines, tables.
//! - `strategies`: the same things as [proptest](https://docs.rs/proptest) draws and shrinks them, with the feature
//!   `proptest`.
//! - [`mod@expect`]: what one expects of a design, a line each, for the tests of whoever proposes it.
//!
//! # What a violation costs
//!
//! The **price** is what the outside world had to do wrong: 0 for creating or cancelling an upload, for Velero's own
//! time-outs and for every interleaving; 1 for each abnormal operation and each fault. A violation at price 0 is a race
//! in normal operation. **Deviations** are the departures from the normal schedule that it takes. What a search did not
//! find is "none within *k* deviations", a certificate, or "none in *n* runs", a sample; never more.
//!
//! # What is absent
//!
//! Nothing that [`run`](run::run) reaches touches a clock, a thread, a file, a hash map or a global; threads are used only
//! by what runs many. The hot loop
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

pub mod expect;

#[cfg(feature = "proptest")]
pub mod strategies;

/// The code of the guide is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/guide.md")]
pub struct Guide;
