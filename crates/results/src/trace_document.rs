//! From what was traced to a document.

use reprise_connection::Target;
use reprise_engine::outcome_of;
use reprise_model::document::{Provenance, Trace, TraceDocument, TracedConnection};
use reprise_probe::{Options, Traced, TracedPair, Tracing};

use crate::asked_record::{target_record, ticket_request};
use crate::failed::failure_of;
use crate::measure_document::first_connection;
use crate::messages::described_events;
use crate::warnings::trace_warnings;

/// What a trace of `target` with these options came to.
pub fn trace_document(target: &Target, options: &Options, tracing: &Tracing, provenance: Provenance) -> TraceDocument {
    let pair = |pair: &TracedPair| {
        Trace::new(pair.asked, pair.full.as_ref().and_then(traced), pair.resumed.as_ref().and_then(traced))
    };
    let failed = tracing.ended_by.iter().filter(|failed| !failed.is_interruption());
    TraceDocument {
        schema: TraceDocument::SCHEMA.to_owned(),
        target: target_record(target, options, tracing.address),
        traces: tracing.traces.iter().map(pair).collect(),
        client_certificate_given: options.identity.is_some(),
        ticket_request: ticket_request(options),
        first_connection: tracing.first.as_ref().and_then(first_connection),
        failures: failed.map(|failed| failure_of(failed, options)).collect(),
        warnings: trace_warnings(tracing, options),
        interrupted: tracing.ended_by.as_ref().is_some_and(|it| it.is_interruption() || !tracing.traces.is_empty()),
        provenance,
    }
}

/// `None` for a connection that did not complete, of which there is no pair.
fn traced(traced: &Traced) -> Option<TracedConnection> {
    let outcome = outcome_of(traced.observation.facts()?);
    let messages = described_events(&traced.messages, &traced.handshake_bytes, outcome.version);
    Some(TracedConnection::new(&traced.observation, outcome, messages))
}
