//! The critical path of a handshake that was measured: round trips and operations in the order of time, what they leave unexplained,
//! and what a change of key, group, round trip or kind would bring.
//!
//! No constant comes from the handshake that is explained: operations are measured one by one, now, and a round trip is `connect`. What a
//! change predicts keeps what the handshake that it is derived from leaves unexplained.

mod change;
mod layout;
mod model_error;
mod seen;
mod server;

use reprise_lab::LabError;
use reprise_model::document::{
    CompareOver, ExplainDocument, ExplainPath, LoadDocument, MeasureDocument, Provenance, TraceDocument,
};
use reprise_model::{Kind, Version};

use crate::comparison::{Audience, Effort};
use crate::speed::{Handshake, Primitive, SpeedPlan, Step, Work, catalogue, measured_as, speed, tcp};
use crate::stacks::FoundStack;
use crate::worker::Launcher;

pub use change::Change;

use change::base;
use layout::Costs;
use model_error::Made;
use seen::{Seen, seen};

/// The result that is explained.
#[derive(Clone, Copy)]
pub enum Measured<'a> {
    /// Of `measure`.
    Measure(&'a MeasureDocument),
    /// Of `trace`.
    Trace(&'a TraceDocument),
    /// Of `load`, which has no path: under load connections wait for one another.
    Load(&'a LoadDocument),
}

/// What is asked of a result.
pub struct ExplainPlan<'a> {
    /// The result.
    pub result: Measured<'a>,
    /// What is to be other.
    pub change: Option<&'a Change>,
    /// Whose operations stand for the client's: our engine is built on AWS-LC.
    pub client: &'a FoundStack,
    /// Whose operations stand for the server's.
    pub server: &'a FoundStack,
    /// Whether nobody said so.
    pub server_assumed: bool,
    /// All stacks that there are: the best of them is the floor.
    pub all: &'a [FoundStack],
    /// Signatures of certificates that the client verifies, where the result does not say.
    pub certificates: u64,
    /// How much is measured of each operation.
    pub effort: Effort,
    /// The seed of the order and of the intervals.
    pub seed: u64,
}

/// Why nothing can be explained.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// `connect` is no round trip of TLS.
    #[error("connections went through {0}: `connect` is no round trip of TLS, so the path is not known")]
    NotDirect(String),
    /// There is no handshake in it.
    #[error("the result has no handshake that was completed")]
    Nothing,
    /// Of a load nothing else can be said.
    #[error("a load has no critical path, and this one has no processor time of the server: run it with --server-pid")]
    NoProcessorTime,
    /// A load looks at certificates only where it is told to.
    #[error("the load did not look at the server's certificate, so its key is not known: run it with --verify")]
    UnknownKey,
    /// A load has no path that could change.
    #[error("a load has no critical path that could change: name a result of measure or trace")]
    NoPath,
    /// A change asks for what the protocol has not.
    #[error("{0} has no {1}")]
    NoSuch(Version, Kind),
    /// A key could not be made.
    #[error(transparent)]
    Lab(#[from] LabError),
}

/// An operation of its own, of which no library has a figure here.
const STATIC_RSA: &str = "RSA key exchange: the server's decryption counts as a signature, which is the same arithmetic";

/// The change could not be made with these stacks.
const NO_MODEL_ERROR: &str =
    "this change could not be made in memory between the two stacks: its interval is that of the measurements alone";

/// Measures the operations that the handshakes of the result need, and lays them out in time.
///
/// # Errors
/// Where the result has no handshake whose path is known.
pub fn explain(
    plan: &ExplainPlan<'_>,
    launcher: &Launcher,
    provenance: Provenance,
    audience: &mut dyn Audience,
) -> Result<ExplainDocument, ExplainError> {
    let seen = seen(plan)?;
    let changed = plan.change.map(|change| (base(&seen, change), change));
    let changed: Option<(&Seen, Seen, Vec<String>)> =
        changed.and_then(|(base, change)| Some((base?, change.of(base?), change.words())));
    let mut warnings = Vec::new();
    if let Some(((base, changed, _), change)) = changed.as_ref().zip(plan.change) {
        let (version, kind) = (changed.handshake.version, changed.handshake.kind);
        if !kind.exists_under(version) {
            return Err(ExplainError::NoSuch(version, kind));
        }
        warnings.extend(change.without_effect(base, changed));
    }
    let counted = server::counted(plan, &seen)?;
    let all = counted.iter().map(|it| &it.handshake).chain(changed.as_ref().map(|(_, changed, _)| &changed.handshake));
    let works: Vec<Work> = all.flat_map(Handshake::steps).filter_map(Step::work).collect();
    let made = changed.as_ref().and_then(|(base, changed, _)| Made::of(&base.handshake, &changed.handshake));
    let also: Vec<Work> = made.iter().flat_map(Made::works).collect();
    let is_needed = |it: &Primitive| {
        let mut all = works.iter().chain(&also);
        all.any(|work| measured_as(work.operation).contains(&it.operation) && work.algorithm == it.algorithm)
    };
    let primitives: Vec<Primitive> = catalogue().into_iter().filter(is_needed).collect();
    let server_cpu = plan.result.server_cpu_ns();
    let stacks = match server_cpu {
        Some(_) => plan.all.to_vec(),
        None if plan.client == plan.server => vec![plan.server.clone()],
        None => vec![plan.client.clone(), plan.server.clone()],
    };
    let speed_plan = SpeedPlan {
        primitives: &primitives,
        stacks: &stacks,
        effort: plan.effort,
        without_instructions: false,
        floor: false,
        over: CompareOver::Memory,
        seed: plan.seed,
    };
    let speed = speed(&speed_plan, launcher, provenance.clone(), audience)?;
    let costs = Costs { speed: &speed, client: &plan.client.name, server: &plan.server.name };
    warnings.extend(costs.missing(&works));
    warnings.extend(seen.iter().any(|seen| seen.handshake.is_static_rsa()).then(|| STATIC_RSA.to_owned()));
    let mut paths: Vec<ExplainPath> = seen.iter().map(|seen| costs.measured(seen)).collect();
    if let Some((base, changed, words)) = changed {
        let error_ns = made.and_then(|it| it.error_ns(plan, &costs, launcher, &provenance, audience));
        warnings.extend(error_ns.is_none().then(|| NO_MODEL_ERROR.to_owned()));
        paths.push(costs.changed(base, &changed, words, error_ns));
    }
    let server =
        server_cpu.and_then(|cpu_ns| server::above_the_floor(cpu_ns, &counted, &speed, tcp(&speed_plan, launcher)?));
    let (target, of) = match plan.result {
        Measured::Measure(it) => (&it.target, &it.schema),
        Measured::Trace(it) => (&it.target, &it.schema),
        Measured::Load(it) => (&it.target, &it.schema),
    };
    Ok(ExplainDocument {
        schema: ExplainDocument::SCHEMA.to_owned(),
        target: format!("{}:{}", target.host, target.port),
        of: of.clone(),
        client_stack: plan.client.name.clone(),
        server_stack: plan.server.name.clone(),
        server_assumed: plan.server_assumed,
        paths,
        server,
        warnings,
        interrupted: audience.stops(),
        provenance,
    })
}

impl Measured<'_> {
    /// What a connection cost the server's processes, where they were named.
    fn server_cpu_ns(self) -> Option<u64> {
        match self {
            Self::Measure(document) => document.server_cpu.map(|cpu| cpu.per_connection_ns),
            Self::Trace(_) => None,
            Self::Load(document) => {
                let early = document.warmup_completed.saturating_add(document.late);
                document.server_cpu_ns?.checked_div(document.total_completed().saturating_add(early))
            }
        }
    }
}
