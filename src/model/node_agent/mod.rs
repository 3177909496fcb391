//! A node-agent: its work queue and worker, its mapping of pod events, its watchers and their callbacks.

pub mod callback;
pub mod periodic_enqueue;
pub mod pod_events;
pub mod routine;
pub mod watcher;
pub mod work_queue;
pub mod worker;
