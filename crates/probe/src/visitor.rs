//! Who makes the connections to one target.

use std::time::Duration;

use crate::application::Application;
use crate::clock::Clock;
use crate::interrupt::Interrupt;
use crate::options::ConnectionReuse;
use crate::route::Route;
use crate::socket::Dialer;

/// What all visits to one target have in common.
pub(crate) struct Visitor {
    pub(crate) clock: Clock,
    pub(crate) dialer: Dialer,
    pub(crate) interrupt: Interrupt,
    pub(crate) route: Route,
    pub(crate) application: Application,
    pub(crate) reuse: ConnectionReuse,
    pub(crate) timeout: Duration,
    pub(crate) ticket_wait: Duration,
    /// Whether the bytes of each connection are kept.
    pub(crate) records: bool,
}

impl Visitor {
    /// How many bytes of early data a connection would send: its request, if that may be replayed.
    pub(crate) fn early_data(&self) -> Option<usize> {
        self.application.early_data()
    }
}
