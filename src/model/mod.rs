//! The cluster: a world that is a value, and the rules by which it changes.
//!
//! Read [`world`] first, then [`time`] and [`rules`], then one actor after the other.

pub mod place;
pub mod time;
pub mod touched;
pub mod world;

pub mod kind;

pub mod design;
pub mod rules;

pub mod api_server;
pub mod watch;

pub mod cr_watch;
pub mod event_watch;
pub mod pod_watch;

pub mod node_agent;

pub mod data_mover;

pub mod garbage_collector;
pub mod kube_scheduler;
pub mod kubelet;
pub mod velero_server;

pub mod faults;
pub mod user;

pub mod clock;
