//! The page of each result.

mod baseline;
mod compare;
mod diagnose;
mod explain;
pub(crate) mod findings;
mod fleet;
mod isolation;
mod lab;
mod layers;
mod load;
mod measure;
mod side_by_side;
mod speed;
mod trace;

pub(crate) use compare::compare;
pub(crate) use diagnose::diagnose;
pub(crate) use explain::explain;
pub(crate) use lab::lab;
pub(crate) use layers::layers;
pub(crate) use load::load;
pub(crate) use measure::measure;
pub(crate) use side_by_side::side_by_side;
pub(crate) use speed::speed;
pub(crate) use trace::trace;
