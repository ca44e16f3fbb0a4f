//! What the tests say of a trace.

use std::ffi::OsStr;

use reprise_model::document::{Trace, TraceDocument, TracedConnection};
use reprise_model::{Direction, Event, What};

use reprise_harness::{Lab, Outcome};

/// `reprise trace TARGET --ca … --json … ARGUMENTS`: the outcome and the document, held against its schema.
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

/// The connection that offered nothing.
pub(crate) fn full(trace: &Trace) -> &TracedConnection {
    trace.full.as_ref().unwrap()
}

/// The handshake messages alone, with their sizes: no ChangeCipherSpec, no alerts, no data.
pub(crate) fn handshake_messages(connection: &TracedConnection) -> Vec<(Direction, String, u64)> {
    let name = |event: &Event| match &event.what {
        What::Handshake { message } => Some((event.direction, message.to_string(), event.size.0)),
        _ => None,
    };
    connection.events.iter().filter_map(name).collect()
}
