//! What the tests say of a trace.

use std::ffi::OsStr;

use reprise_model::document::{Trace, TraceDocument, TracedConnection};
use reprise_model::{Direction, Event, Version, What};

use reprise_harness::{Lab, Outcome};

/// `reprise trace TARGET --ca … --json … ARGUMENTS`: the outcome and the document.
#[track_caller]
pub(crate) fn trace(lab: &Lab, target: impl ToString, arguments: &[impl AsRef<OsStr>]) -> (Outcome, TraceDocument) {
    let outcome = lab.trace(target).args(arguments).keeping_its_document().run();
    let document = outcome.json();
    (outcome, document)
}

/// The only trace of a document.
#[track_caller]
pub(crate) fn only(document: &TraceDocument) -> &Trace {
    let [trace] = document.traces.as_slice() else { panic!("{} traces", document.traces.len()) };
    trace
}

/// Messages as `>ClientHello`, `<ServerHello`; under encryption in parentheses, `<(Finished)`.
pub(crate) fn messages(events: &[Event]) -> Vec<String> {
    let message = |event: &Event| {
        let arrow = if event.direction == Direction::Sent { '>' } else { '<' };
        let name = event.what.name();
        if event.encrypted { format!("{arrow}({name})") } else { format!("{arrow}{name}") }
    };
    events.iter().map(message).collect()
}

/// The connection that offered nothing.
pub(crate) fn full(trace: &Trace) -> &TracedConnection {
    trace.full.as_ref().unwrap()
}

/// The skipped ones, in the same words.
pub(crate) fn skipped(trace: &Trace) -> Vec<String> {
    let events: Vec<Event> =
        trace.skipped.iter().map(|skipped| full(trace).events.get(skipped.index).unwrap().clone()).collect();
    for (event, skipped) in events.iter().zip(&trace.skipped) {
        assert_eq!((&event.what, event.direction, event.size), (&skipped.what, skipped.direction, skipped.size));
    }
    messages(&events)
}

/// The handshake messages alone, with their sizes: no ChangeCipherSpec, no alerts, no data.
pub(crate) fn handshake_messages(connection: &TracedConnection) -> Vec<(Direction, String, u64)> {
    let name = |event: &Event| match &event.what {
        What::Handshake { message } => Some((event.direction, message.to_string(), event.size.0)),
        _ => None,
    };
    connection.events.iter().filter_map(name).collect()
}

pub(crate) const VERSIONS: [(Version, &str); 2] = [(Version::Tls12, "1.2"), (Version::Tls13, "1.3")];
