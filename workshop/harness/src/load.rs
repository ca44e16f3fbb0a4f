//! Loads through the library `reprise-load`.

use std::net::SocketAddr;
use std::sync::Arc;

use reprise_load::{Arrival, LoadOptions, LoadOutcome, NoLoadObserver, TlsOptions, run};
use reprise_model::Version;
use reprise_model::document::{LoadDocument, Provenance, Target};

/// What asks for `/`.
pub const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// What asks nginx and HAProxy for a response of which no file is read.
pub const OK_REQUEST: &[u8] = b"GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Full handshakes under this version, one after the other, each with a request.
pub fn options(address: SocketAddr, version: Version) -> LoadOptions {
    options_with(REQUEST, address, version)
}

/// The same with this request.
pub fn options_with(request: &[u8], address: SocketAddr, version: Version) -> LoadOptions {
    LoadOptions {
        tls: Arc::new(TlsOptions::new(version)),
        arrival: Arrival::Closed { connections: 1 },
        ..LoadOptions::new(address, request.to_vec())
    }
}

/// Makes this load to its end.
pub fn load(options: &LoadOptions) -> LoadOutcome {
    run(options, &|| false, &NoLoadObserver).unwrap()
}

/// What it says of itself.
pub fn document(outcome: &LoadOutcome, options: &LoadOptions) -> LoadDocument {
    let target = Target { host: options.address.ip().to_string(), port: options.address.port(), ..Target::default() };
    outcome.document(options, target, false, Provenance::default())
}
