//! What the connections to one target have in common.

use std::time::Duration;

use reprise_connection::exchange::{Application, ConnectionReuse};
use reprise_connection::prologue::Route;

use crate::clock::Clock;
use crate::interrupt::Interrupt;

/// What the connections to one target have in common.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) clock: Clock,
    pub(crate) interrupt: Interrupt,
    pub(crate) route: Route,
    pub(crate) application: Application,
    pub(crate) reuse: ConnectionReuse,
    pub(crate) timeout: Duration,
    pub(crate) ticket_wait: Duration,
    /// How long a server is waited for that is to close; shorter once it has let that pass.
    pub(crate) close_wait: Duration,
    /// What the last TCP handshake took.
    pub(crate) round_trip: Duration,
    /// Whether every message and every byte is kept.
    pub(crate) keeps_messages: bool,
    /// Whether what the responses say that the server is is kept: with the messages always.
    pub(crate) keeps_software: bool,
}
