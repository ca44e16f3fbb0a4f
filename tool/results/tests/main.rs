//! What documents conclude of whole series of measurements.

mod balancing;
mod load_merge;
