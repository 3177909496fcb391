//! Deterministic simulation of the cancel/delete handshake of Velero's data movers.
pub mod invariants;
pub mod model;
pub mod report;
pub mod run;
pub mod scenario;
pub mod scheduler;
pub mod search;
