//! From what was seen to a document: figures, findings, and faults in words.

use std::net::SocketAddr;

use reprise_connection::Target;
use reprise_connection::exchange::ConnectionReuse;
use reprise_model::document::{FirstConnection, MeasureDocument, Provenance, Ratio};
use reprise_model::{AnsweredConnection, Observation, Version, answers_that_differ};
use reprise_probe::{Measurement, Options, RetryComparison, Series, hello_retry, ratios, records, run, unequal_connects};

use crate::asked_record::{target_record, ticket_request};
use crate::failed::failure_of;
use crate::warnings::{measure_warnings, order_warning};
use reprise_diagnosis::{MeasuredCase, findings};

/// What a measurement of `target` with these options came to.
pub fn measure_document(
    target: &Target,
    options: &Options,
    measurement: &Measurement,
    provenance: Provenance,
) -> MeasureDocument {
    let series = &measurement.series;
    let mut observations: Vec<Observation> = series.iter().flat_map(|series| &series.observations).copied().collect();
    observations.extend(&measurement.others);
    observations.sort_unstable_by_key(|seen| seen.index);
    let keeps_alive = options.connections == ConnectionReuse::KeepAlive;
    let answered: Vec<AnsweredConnection> = observations.iter().filter_map(|seen| seen.answered(keeps_alive)).collect();
    let unequal = unequal_connects(series, options.seed);
    let mut warnings = measure_warnings(measurement, options);
    warnings.extend(unequal.first().map(|pair| order_warning(*pair)));
    let mut document = MeasureDocument {
        all_connections: measurement.all,
        first_connection: measurement.first.as_ref().and_then(first_connection),
        failures: measurement.failures.iter().map(|failed| failure_of(failed, options)).collect(),
        refused_versions: refused_versions(measurement),
        warnings,
        order_suspect: !unequal.is_empty(),
        interrupted: measurement.is_cut_short,
        software: measurement.software.clone(),
        ..figures_document(
            target,
            options,
            (series, measurement.retries.as_ref()),
            &answered,
            measurement.address,
            provenance,
        )
    };
    let psk_modes = &options.tls13.psk_modes;
    let case = MeasuredCase {
        observations: &observations,
        figures: &document,
        keeps_alive,
        psk_modes,
        cpu_costs: &[],
        judgements: &[],
        trials: &measurement.trials,
    };
    document.findings = findings(&case);
    document
}

fn refused_versions(measurement: &Measurement) -> Vec<Version> {
    let refused = measurement.unmeasured.iter().filter(|(_, failed)| failed.fault.name.is_refusal());
    refused.map(|(version, _)| *version).collect()
}

/// The figures of these connections, of which nothing else is said yet. `answered`: what full and resumed connections were answered
/// in which nothing is varied, in the order in which they were begun; times of different answers are not compared.
pub(crate) fn figures_document(
    target: &Target,
    options: &Options,
    (series, retries): (&[Series], Option<&RetryComparison>),
    answered: &[AnsweredConnection],
    address: Option<SocketAddr>,
    provenance: Provenance,
) -> MeasureDocument {
    let answers_differ = answers_that_differ(answered);
    let differs =
        |ratio: &Ratio| answers_differ.iter().any(|it| it.tls == ratio.tls && [ratio.from, ratio.to].contains(&it.kind));
    let mut ratios = ratios(series, options.seed);
    ratios.retain(|ratio| !differs(ratio));
    let shown = target_record(target, options, address);
    MeasureDocument {
        runs: series.iter().map(|series| run(series, options.seed)).collect(),
        ratios,
        answers_differ,
        samples: records(series),
        ticket_request: ticket_request(options),
        hello_retry: hello_retry(series, &options.offered_groups(), retries, options.seed),
        ..MeasureDocument::begun(target.to_string(), shown, provenance)
    }
}

/// The first connection of this process, where it completed.
pub(crate) fn first_connection(seen: &Observation) -> Option<FirstConnection> {
    Some(FirstConnection {
        local_port: seen.local_port()?,
        asked: seen.asked,
        kind: seen.kind()?,
        session_age_ns: seen.offered.map_or(0, |offered| offered.age.0),
        phases: seen.phases,
    })
}
