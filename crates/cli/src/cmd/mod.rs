//! One file for each command.

pub(crate) mod board;
#[cfg(target_os = "linux")]
pub(crate) mod compare;
#[cfg(not(target_os = "linux"))]
#[path = "compare_elsewhere.rs"]
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod diagnose;
pub(crate) mod explain;
#[cfg(target_os = "linux")]
pub(crate) mod layers;
#[cfg(not(target_os = "linux"))]
#[path = "layers_elsewhere.rs"]
pub(crate) mod layers;
#[cfg(target_os = "linux")]
pub(crate) mod load;
#[cfg(not(target_os = "linux"))]
#[path = "load_elsewhere.rs"]
pub(crate) mod load;
pub(crate) mod man;
pub(crate) mod measure;
pub(crate) mod report;
pub(crate) mod trace;
