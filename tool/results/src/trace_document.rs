//! From what was traced to a document.

use reprise_clients::{Transport, fingerprint};
use reprise_connection::Target;
use reprise_engine::outcome_of;
use reprise_model::document::{Provenance, Trace, TraceDocument, TracedConnection};
use reprise_model::{Asked, Fingerprint, Kind};
use reprise_probe::{Interrupt, NoObserver, Options, Traced, TracedPair, Tracing};
use reprise_wire::{ClientHello, Handshake, HandshakeType};

use crate::asked_record::{target_record, ticket_request};
use crate::failed::failure_of;
use crate::measure_document::{first_connection, measure_document};
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
        counted: Vec::new(),
        ratios: Vec::new(),
        hello_retry: None,
        client_certificate_given: options.identity.is_some(),
        ticket_request: ticket_request(options),
        first_connection: tracing.first.as_ref().and_then(first_connection),
        failures: failed.map(|failed| failure_of(failed, options)).collect(),
        warnings: trace_warnings(tracing, options),
        interrupted: tracing.ended_by.as_ref().is_some_and(|it| it.is_interruption() || !tracing.traces.is_empty()),
        provenance,
    }
}

/// Adds so many counted connections of each version and kind that was traced, full handshakes and what resumed. Why there are none is a warning.
pub fn add_counted(document: &mut TraceDocument, target: &Target, options: &Options, count: u32, interrupt: &Interrupt) {
    let asked: Vec<(Asked, bool)> = document.traces.iter().map(|trace| (trace.asked, trace.has_resumed())).collect();
    for (asked, has_resumed) in asked {
        let full = (asked.kind != Kind::Psk).then_some(Kind::Full);
        let kinds: Vec<Kind> = full.into_iter().chain(has_resumed.then_some(asked.kind)).collect();
        // The pair's sessions stay whose they are, and its secrets are those that a key log has.
        let options =
            Options { versions: vec![asked.tls], kinds, count, sessions: Vec::new(), key_log: None, ..options.clone() };
        let measurement = reprise_probe::measure(target, &options, &NoObserver, interrupt);
        let counted = measure_document(target, &options, &measurement, document.provenance.clone());
        document.interrupted |= counted.interrupted;
        let failures = counted.failures.iter().map(|failure| format!("the counted connections: {}", failure.message));
        document.warnings.extend(failures);
        document.counted.extend(counted.runs);
        document.ratios.extend(counted.ratios);
        document.hello_retry = document.hello_retry.take().or(counted.hello_retry);
    }
}

/// `None` for a connection that did not complete, of which there is no pair.
fn traced(traced: &Traced) -> Option<TracedConnection> {
    let outcome = outcome_of(traced.observation.facts()?);
    let messages = described_events(&traced.messages, &traced.handshake_bytes, outcome.version);
    let fingerprint = traced.handshake_bytes.first().and_then(|first| fingerprint_of(first));
    Some(TracedConnection::new(&traced.observation, outcome, messages, fingerprint))
}

/// By what a ClientHello is known, which stands here with its header.
fn fingerprint_of(message: &[u8]) -> Option<Fingerprint> {
    let (message, _) = Handshake::parse(message).ok()??;
    let hello = (message.msg_type == HandshakeType::CLIENT_HELLO).then(|| ClientHello::parse(message.body).ok())??;
    Some(fingerprint(&hello, Transport::Tcp))
}
