//! Operations measured, and handshakes laid out in time.

use reprise_model::document::{CompareOver, ExplainDocument, ExplainPath, Provenance};
use reprise_pairs::{Audience, Launcher};
use reprise_speed::{Handshake, Primitive, SpeedPlan, Step, Work, catalogue, measured_as, speed, tcp};

use crate::change::base;
use crate::error::ExplainError;
use crate::layout::Costs;
use crate::measured::Measured;
use crate::model_error::Made;
use crate::plan::ExplainPlan;
use crate::seen::{Seen, seen};
use crate::server;

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
    let seen = seen(plan.result, plan.certificates)?;
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
        let error_ns = made.and_then(|it| it.error_ns(plan, &costs, launcher, audience));
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
