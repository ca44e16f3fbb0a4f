//! The versioned JSON documents. Their shape is fixed; fields may be added.

mod answers;
mod bottleneck;
mod calibration;
mod clients;
mod compare;
mod compare_baseline;
mod compare_case;
mod compare_link;
mod compare_ratio;
mod compare_row;
mod compare_scaling;
mod comparison;
mod condition;
mod diagnose;
mod explain;
mod finding;
mod fleet;
mod hello_retry;
mod isolation;
mod lab;
mod layers;
mod load;
mod load_latency;
mod load_stage;
mod load_sweep;
mod measure;
mod provenance;
mod side_by_side;
mod speed;
mod stacks;
mod statistics;
mod trace;

pub use answers::{AnswerDifference, AnswerPart, AnswerRecord};
pub use bottleneck::{Bottleneck, LoadCpuLimit, Verdict};
pub use calibration::{Calibration, CalibrationRun, CalibrationSample};
pub use clients::ClientsDocument;
pub use compare::{
    CompareBytes, CompareClaim, CompareClock, CompareCounting, CompareDocument, CompareMatrixCell, CompareMemory,
    CompareOver, ComparePlan, CompareSkipped, ComparedStack, cipher_of, stack_pair,
};
pub use compare_baseline::{
    CompareBaseline, CompareChange, CompareInstructionsChange, CompareOwn, CompareRatioChange, StackChange,
};
pub use compare_case::{BulkSender, CompareBulk, CompareCase};
pub use compare_link::{
    CompareCrossing, CompareLink, CompareLinkRow, CompareLinkTime, CompareLinks, CompareReached, CompareRecording,
    CompareTurn,
};
pub use compare_ratio::CompareRatio;
pub use compare_row::{CompareInstructions, CompareRow, CompareSamples, CompareSide, CompareThreads, Rate};
pub use compare_scaling::{CompareScaling, CompareScalingRow, CompareTimes};
pub use comparison::{
    BaselineVerdict, Change, ChangeCause, Comparison, Control, ControlChange, CpuChange, Difference, OwnChange, PhaseChange,
    RatioChange,
};
pub use condition::{ConditionOutcome, ConditionRecord};
pub use diagnose::{
    BalancedNodes, BalancingPolicy, DiagnoseDocument, Diagnosis, ExperimentRecord, FingerprintRecord, MechanismRecord,
    Subject,
};
pub use explain::{ExplainDocument, ExplainPath, ExplainServer, ExplainSide, ExplainStep};
pub use finding::{Confidence, CpuCost, Finding, Remedy, Severity};
pub use fleet::{Fleet, FleetCell, FleetGroup, FleetMechanism, FleetNode};
pub use hello_retry::{HelloRetryComparison, HelloRetrySummary};
pub use isolation::{EntryRecord, IsolationRecord, IsolationVerdict};
pub use lab::LabDocument;
pub use layers::{
    LayersChange, LayersClaim, LayersConnection, LayersContext, LayersDifference, LayersDocument, LayersGenerator,
    LayersRow, LayersSkipped,
};
pub use load::{LoadAsked, LoadDocument, LoadHandshake, LoadHistogram, LoadRate, LoadStep, LoadStepTarget, LoadWindow};
pub use load_latency::LoadLatency;
pub use load_stage::LoadStage;
pub use load_sweep::{LoadCosts, LoadPlan, LoadShare, LoadSweep};
pub use measure::{
    AllConnections, CertificateCompressionRecord, FirstConnection, LikeRecord, MeasureDocument, NextRequestStatistics,
    Observed, OfferedRecord, Ratio, Run, SampleRecord, ServerCpu, Target, TicketRequestRecord, Traffic,
};
pub use provenance::Provenance;
pub use side_by_side::{
    SideBySideDifference, SideBySideDocument, SideBySideResult, SideBySideRow, SideBySideUnit, SideBySideValue,
};
pub use speed::{
    SpeedCost, SpeedDocument, SpeedFloor, SpeedHandshake, SpeedHardware, SpeedMissing, SpeedNeed, SpeedPrediction, SpeedRow,
    SpeedRule, SpeedRuleVerdict, SpeedSkipped, SpeedTcp,
};
pub use stacks::{AvailableStack, BrokenStack, StacksDocument};
pub use statistics::{Statistic, Statistics};
pub use trace::{SkippedMessage, Trace, TraceDocument, TracedConnection};
