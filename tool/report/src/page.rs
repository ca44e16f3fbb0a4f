//! The page of each result.

mod baseline;
mod board;
mod clients;
mod compare;
mod diagnose;
mod explain;
pub(crate) mod findings;
mod fingerprints;
mod fleet;
mod isolation;
mod lab;
mod layers;
mod load;
mod measure;
mod side_by_side;
mod speed;
mod trace;
