//! One connection of the engine to a node, over a socket.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use reprise_engine::{Config, Connection, Offer, Session};
use reprise_lab::Authority;
use reprise_model::{EarlyData, Kind, Nanos, Version};
use reprise_scripted::client;

use crate::PATIENCE;

/// A full handshake in which a TLS 1.2 ticket is asked for.
pub const FULL: Offer = Offer::Full { session_ticket: true };

/// What one connection came to.
#[derive(Debug)]
pub struct Visit {
    /// As it was observed.
    pub kind: Kind,
    /// What became of early data.
    pub early_data: Option<EarlyData>,
    /// What it left behind, newest last.
    pub sessions: Vec<Session>,
    /// What the node said.
    pub body: String,
    /// Everything that the client sent up to the server's answer: its hello, and early data.
    pub first_flight: Vec<u8>,
}

impl Visit {
    /// An offer of the newest session: by ID unless there is a ticket.
    pub fn offer(&self) -> Offer {
        match self.sessions.last().unwrap_or_else(|| panic!("no session: {self:?}")).clone() {
            Session::Tls12(session) if session.ticket.is_some() => Offer::SessionTicket(session),
            Session::Tls12(session) => Offer::SessionId(session),
            Session::Tls13(ticket) => Offer::Ticket(ticket),
        }
    }
}

/// The name of a session, under which a store has it: its ID, or what takes its place in TLS 1.3.
pub fn id(session: &Session) -> &[u8] {
    match session {
        Session::Tls12(session) => &session.session_id,
        Session::Tls13(ticket) => &ticket.ticket,
    }
}

/// A client of one version.
pub fn config(authority: &Authority, version: Version) -> Arc<Config> {
    Arc::new(Config { versions: vec![version], ..client::client(authority) })
}

/// Connects, asks for `path`, and reads until the node closes.
///
/// # Errors
/// Whatever ends the connection before that.
pub fn visit(address: SocketAddr, config: &Arc<Config>, offer: Offer, path: &str) -> Result<Visit, String> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(|error| error.to_string())?;
    stream.set_read_timeout(Some(PATIENCE)).and_then(|()| stream.set_nodelay(true)).map_err(|error| error.to_string())?;
    let mut is_early = matches!(offer, Offer::Early(_));
    let mut connection = client::start(config, offer, Nanos(0)).map_err(|error| error.to_string())?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    if is_early {
        connection.send_early(Nanos(0), request.as_bytes()).map_err(|error| error.to_string())?;
    }
    let mut first_flight = Vec::new();
    let mut asked = is_early;
    let mut buffer = [0; 1 << 14];
    loop {
        let out = connection.take_outgoing(Nanos(0));
        if first_flight.is_empty() {
            first_flight.clone_from(&out);
        }
        // The node may have closed already.
        let _ = stream.write_all(&out);
        if connection.is_peer_closed() {
            break;
        }
        if connection.ready().is_some() && !std::mem::replace(&mut asked, true) {
            connection.send(Nanos(0), request.as_bytes()).map_err(|error| error.to_string())?;
            continue;
        }
        match stream.read(&mut buffer).map_err(|error| error.to_string())? {
            0 => connection.receive_end(Nanos(0)).map_err(|error| error.to_string())?,
            count => connection.receive(Nanos(0), &buffer[..count]).map_err(|error| error.to_string())?,
        }
        if is_early && connection.facts().is_some_and(|facts| facts.early_data == Some(EarlyData::Rejected)) {
            is_early = false;
            connection.send(Nanos(0), request.as_bytes()).map_err(|error| error.to_string())?;
        }
    }
    Ok(ended(connection, first_flight))
}

fn ended(mut connection: Connection, first_flight: Vec<u8>) -> Visit {
    let response = String::from_utf8_lossy(&connection.take_application_data()).into_owned();
    let body = response.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default();
    let (kind, early_data) = {
        let outcome = connection.outcome().unwrap();
        (outcome.kind, outcome.early_data)
    };
    Visit { kind, early_data, sessions: connection.take_sessions(), body, first_flight }
}
