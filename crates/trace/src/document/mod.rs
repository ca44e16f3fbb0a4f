//! The versioned JSON documents. Their shape is fixed; fields may be added.

mod finding;
mod lab;
mod measure;
mod provenance;

pub use finding::{Confidence, Finding, Remedy, Severity};
pub use lab::LabDocument;
pub use measure::{
    AllConnections, MeasureDocument, NextRequestStatistics, Observed, Ratio, Run, SampleRecord, Statistics, Target, Traffic,
};
pub use provenance::Provenance;
