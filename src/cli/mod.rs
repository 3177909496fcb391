//! The commands, one a file: each parses its arguments, asks the library and prints what [`vgdp_sim::report`] makes.

pub mod arguments;
pub mod compare;
pub mod explain;
pub mod given;
pub mod hunt;
pub mod interrupt;
pub mod list;
pub mod manual;
pub mod memory;
pub mod merge;
pub mod output;
pub mod progress;
pub mod prove;
pub mod replay;
pub mod run;
pub mod scenario;
pub mod sensitivity;
