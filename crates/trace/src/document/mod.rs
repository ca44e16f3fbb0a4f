//! The versioned JSON documents. Their shape is fixed; fields may be added.

mod calibration;
mod compare;
mod comparison;
mod condition;
mod diagnose;
mod finding;
mod lab;
mod load;
mod measure;
mod provenance;
mod trace;

pub use calibration::{Calibration, CalibrationRun, CalibrationSample};
pub use compare::{
    CompareCase, CompareClaim, CompareClock, CompareDocument, CompareMatrixCell, CompareRatio, CompareRow, CompareSide,
    CompareSkipped, ComparedStack,
};
pub use comparison::{
    BaselineVerdict, Cause, Change, Comparison, Control, ControlChange, CpuChange, Difference, OwnChange, PhaseChange,
    RatioChange,
};
pub use condition::{ConditionOutcome, ConditionRecord};
pub use diagnose::{DiagnoseDocument, Diagnosis, ExperimentRecord, MechanismRecord, Subject};
pub use finding::{Confidence, Finding, Remedy, Severity};
pub use lab::LabDocument;
pub use load::{
    Bottleneck, LoadAsked, LoadCpu, LoadCpuLimit, LoadDocument, LoadHistogram, LoadLatency, LoadRate, LoadStep,
    LoadStepTarget, LoadWindow, Verdict,
};
pub use measure::{
    AllConnections, FirstConnection, MeasureDocument, NextRequestStatistics, Observed, OfferedRecord, Ratio, Run,
    SampleRecord, ServerCpu, Statistics, Target, TicketRequest, Traffic,
};
pub use provenance::Provenance;
pub use trace::{SkippedMessage, Trace, TraceDocument, TracedConnection};
