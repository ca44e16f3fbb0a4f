//! One file for each command.

pub(crate) mod board;
pub(crate) mod diagnose;
pub(crate) mod explain;
#[cfg(target_os = "linux")]
pub(crate) mod load;
#[cfg(not(target_os = "linux"))]
#[path = "load_elsewhere.rs"]
pub(crate) mod load;
pub(crate) mod measure;
pub(crate) mod report;
pub(crate) mod trace;
