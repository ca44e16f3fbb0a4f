//! One file for each command.

pub(crate) mod load;
pub(crate) mod measure;
pub(crate) mod report;
pub(crate) mod trace;
