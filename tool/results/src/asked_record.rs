//! What was asked for, as a document tells it.

use std::net::SocketAddr;

use reprise_clients::ClientRow;
use reprise_connection::Target;
use reprise_model::document::{LikeRecord, Target as TargetRecord, TicketRequestRecord};
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
        like: options.like.map(like_record),
        ech_grease: options.ech_grease,
    }
}

/// The client in whose form connections offer.
pub fn like_record(row: &ClientRow) -> LikeRecord {
    LikeRecord { name: row.name.clone(), client: row.client.clone(), captured: row.captured.clone() }
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
