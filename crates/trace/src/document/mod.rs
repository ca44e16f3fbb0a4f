//! The versioned JSON documents. Their shape is fixed; fields may be added.

mod comparison;
mod condition;
mod finding;
mod lab;
mod load;
mod measure;
mod provenance;
mod trace;

pub use comparison::{Change, Comparison, Difference, PhaseChange, RatioChange};
pub use condition::{ConditionOutcome, ConditionRecord};
pub use finding::{Confidence, Finding, Remedy, Severity};
pub use lab::LabDocument;
pub use load::{
    Bottleneck, LoadAsked, LoadCpu, LoadCpuLimit, LoadDocument, LoadHistogram, LoadLatency, LoadRate, LoadStep,
    LoadStepTarget, LoadWindow, Verdict,
};
pub use measure::{
    AllConnections, FirstConnection, MeasureDocument, NextRequestStatistics, Observed, OfferedRecord, Ratio, Run,
    SampleRecord, Statistics, Target, TicketRequest, Traffic,
};
pub use provenance::Provenance;
pub use trace::{SkippedMessage, Trace, TraceDocument, TracedConnection};
