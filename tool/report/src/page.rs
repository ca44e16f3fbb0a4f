//! The page of each result.

mod baseline;
mod diagnose;
pub(crate) mod findings;
mod fleet;
mod isolation;
mod lab;
mod load;
mod measure;
mod side_by_side;
mod trace;

pub(crate) use diagnose::diagnose;
pub(crate) use lab::lab;
pub(crate) use load::load;
pub(crate) use measure::measure;
pub(crate) use side_by_side::side_by_side;
pub(crate) use trace::trace;
