//! What nodes show of each other: who accepts whose sessions, and why not.

mod case;
mod document;
mod shares;

pub(crate) use case::{FleetCase, FleetFinding, Relation};
pub use document::{FleetRun, fleet_diagnosis};
