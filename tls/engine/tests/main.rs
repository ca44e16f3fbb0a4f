//! The engine against servers in memory: rustls where the server is to be right, a script where it is to be wrong. No
//! sockets, no sleeps; time is a number.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod certificates;
mod client;
mod client_authentication;
mod conditions_tls12;
mod early_data;
mod external_psk;
mod floods;
mod full;
mod groups;
mod hello_shape;
mod mutation;
mod not_tls;
mod nothing_to_offer;
mod pair;
mod psk_modes;
mod records;
mod refusals;
mod refusals_tls12;
mod refusals_tls13;
mod resumption_tls12;
mod resumption_tls13;
mod retry;
mod saved_sessions;
mod server;
mod strictness;
mod survey;
mod ticket_request;
mod tls12_legacy;
mod traffic;
mod witnesses;

use std::sync::Arc;

use reprise_engine::{Config, Connection, Offer, Session, Tls12Session, Tls13Extensions, Tls13Ticket};
use reprise_model::{PskMode, Version};
use reprise_scripted::{self as script, Hello, tls12 as tls12_server, tls13 as tls13_server};

/// A full handshake that asks for a ticket.
const FULL: Offer = Offer::Full { session_ticket: true };

/// A client of one version that takes any certificate, begun.
fn begun(version: Version) -> Connection {
    begun_with(Config { versions: vec![version], ..client::trusting_client() }, FULL)
}

fn begun_with(config: Config, offer: Offer) -> Connection {
    client::start(&Arc::new(config), offer, script::NOW).unwrap()
}

/// TLS 1.3 with PSKs in these modes.
fn psk_config(modes: &[PskMode]) -> Config {
    let tls13 = Tls13Extensions { psk_modes: modes.to_vec(), ..Tls13Extensions::default() };
    Config { versions: vec![Version::Tls13], tls13, ..client::trusting_client() }
}

/// A TLS 1.2 client and a scripted server that has said its ServerHello.
fn tls12_greeted(edit: impl FnOnce(&mut Hello)) -> (Connection, tls12_server::Server) {
    let mut client = begun(Version::Tls12);
    let server = tls12_server::greeted_with(&mut client, edit);
    (client, server)
}

/// The same once the client has sent its Finished.
fn tls12_half_done(edit: impl FnOnce(&mut Hello)) -> (Connection, tls12_server::Server) {
    let mut client = begun(Version::Tls12);
    let server = tls12_server::half_done(&mut client, edit);
    (client, server)
}

/// A TLS 1.2 client and a scripted server after their handshake.
fn tls12_connected() -> (Connection, tls12_server::Server) {
    let mut client = begun(Version::Tls12);
    let server = tls12_server::connected(&mut client);
    (client, server)
}

/// A TLS 1.3 client and a scripted server that has said its ServerHello.
fn tls13_greeted() -> (Connection, tls13_server::Server) {
    let mut client = begun(Version::Tls13);
    let server = tls13_server::greeted(&mut client);
    (client, server)
}

/// A TLS 1.3 client and a scripted server after their handshake.
fn tls13_connected() -> (Connection, tls13_server::Server) {
    let mut client = begun(Version::Tls13);
    let server = tls13_server::connected(&mut client);
    (client, server)
}

/// The ticket of a server that issues one and does nothing else.
fn ticket() -> Tls13Ticket {
    let (mut client, mut server) = tls13_connected();
    let ticket = tls13_server::new_session_ticket(&[1], b"ticket");
    client.receive(script::NOW, &server.handshake(&[ticket])).unwrap();
    tickets(client.take_sessions()).pop().unwrap()
}

/// The TLS 1.3 tickets among these sessions, newest last.
fn tickets(sessions: Vec<Session>) -> Vec<Tls13Ticket> {
    let ticket = |session| match session {
        Session::Tls13(ticket) => ticket,
        Session::Tls12(_) => panic!("a TLS 1.2 session from a TLS 1.3 connection"),
    };
    sessions.into_iter().map(ticket).collect()
}

/// The one TLS 1.2 session among these.
fn session(sessions: Vec<Session>) -> Tls12Session {
    match <[Session; 1]>::try_from(sessions) {
        Ok([Session::Tls12(session)]) => session,
        other => panic!("no single TLS 1.2 session: {other:?}"),
    }
}
