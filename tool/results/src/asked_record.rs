//! What was asked for, as a document tells it.

use std::net::SocketAddr;

use reprise_connection::Target;
use reprise_model::document::{Target as TargetRecord, TicketRequestRecord};
use reprise_probe::Options;

/// The target, at the address that answered.
pub(crate) fn target_record(target: &Target, options: &Options, address: Option<SocketAddr>) -> TargetRecord {
    let request = options.http_request();
    TargetRecord {
        host: target.host.clone(),
        port: target.port,
        address: address.map(|address| address.ip().to_string()),
        path: request.map(|request| publishable(request.path.as_deref().unwrap_or(&target.path))),
        method: request.map(|request| request.method.clone()),
        proxy: options.proxy.as_ref().map(ToString::to_string),
        proxy_protocol: options.proxy_protocol.map(|version| version.name().to_owned()),
        starttls: options.starttls.map(|protocol| protocol.name().to_owned()),
    }
}

/// How many tickets a document says were asked for.
pub(crate) fn ticket_request(options: &Options) -> Option<TicketRequestRecord> {
    let request = options.tls13.ticket_request.as_ref()?;
    Some(TicketRequestRecord { new_session: request.new_session_count, resumption: request.resumption_count })
}

/// A path without its query, which may carry a token.
fn publishable(path: &str) -> String {
    match path.split_once('?') {
        Some((path, _)) => format!("{path}?<hidden>"),
        None => path.to_owned(),
    }
}
