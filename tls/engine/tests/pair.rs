//! A client and a server, and the wire between them.

use std::io::Write;
use std::sync::Arc;

use reprise_engine::{Config, Connection, Error, Offer};
use reprise_lab::rustls_turn;
use reprise_model::{Direction, Event, Nanos, Outcome, round_trips};
use rustls::{ServerConfig, ServerConnection};

use crate::client::{self, Lines};

/// How long a flight takes from one side to the other.
pub(crate) const LATENCY: Nanos = Nanos(5_000_000);

/// Our client and a rustls server over a wire in virtual time. `connect` begins a connection, `drive` moves its bytes
/// until neither side has anything more to say.
pub(crate) struct Pair {
    pub(crate) client_config: Arc<Config>,
    pub(crate) server_config: Arc<ServerConfig>,
    pub(crate) client: Connection,
    pub(crate) server: ServerConnection,
    pub(crate) now: Nanos,
    /// What the server's application has received.
    pub(crate) heard: Vec<u8>,
    /// The most bytes that arrive at once.
    pub(crate) segment: usize,
    /// All that went to the server on this connection, and all that came from it.
    pub(crate) sent: Vec<u8>,
    pub(crate) received: Vec<u8>,
}

/// Who ended a connection, and why.
#[derive(Debug, PartialEq)]
pub(crate) enum Ended {
    ByClient(Error),
    ByServer(rustls::Error),
}

impl Pair {
    pub(crate) fn new(client: Config, server: ServerConfig) -> Self {
        let (client_config, server_config) = (Arc::new(client), Arc::new(server));
        let now = Nanos(1_000_000_000);
        Self {
            client: client::start(&client_config, crate::FULL, now).unwrap(),
            server: ServerConnection::new(server_config.clone()).unwrap(),
            client_config,
            server_config,
            now,
            heard: Vec::new(),
            segment: usize::MAX,
            sent: Vec::new(),
            received: Vec::new(),
        }
    }

    /// Begins another connection.
    pub(crate) fn connect(&mut self, offer: Offer) {
        self.client = client::start(&self.client_config, offer, self.now).unwrap();
        self.server = ServerConnection::new(self.server_config.clone()).unwrap();
        self.heard.clear();
        self.sent.clear();
        self.received.clear();
    }

    /// With a first connection that has had all it wanted.
    pub(crate) fn completed(client: Config, server: ServerConfig) -> Self {
        let mut pair = Self::new(client, server);
        pair.drive();
        pair
    }

    /// Begins another connection, and moves bytes until both sides are silent.
    pub(crate) fn complete(&mut self, offer: Offer) {
        self.connect(offer);
        self.drive();
    }

    /// Moves bytes until both sides are silent.
    pub(crate) fn drive(&mut self) {
        self.try_drive().unwrap();
    }

    /// Moves bytes until both sides are silent or one has given up. A side that gives up still tells the other.
    pub(crate) fn try_drive(&mut self) -> Result<(), Ended> {
        loop {
            let to_server = self.client.take_outgoing(self.now);
            let (to_client, served) = self.deliver_to_server(&to_server);
            if !to_client.is_empty() {
                self.now = self.now + LATENCY;
            }
            let received = to_client.chunks(self.segment).try_for_each(|bytes| self.client.receive(self.now, bytes));
            self.received.extend_from_slice(&to_client);
            if let Err(error) = received {
                let alert = self.client.take_outgoing(self.now);
                let _ = self.deliver_to_server(&alert);
                return Err(Ended::ByClient(error));
            }
            served.map_err(Ended::ByServer)?;
            if to_server.is_empty() && to_client.is_empty() {
                return Ok(());
            }
        }
    }

    /// The handshake's round trips, from what was observed until data could be sent.
    pub(crate) fn round_trips(&self) -> u64 {
        let ready = self.client.ready().expect("no handshake was completed");
        round_trips(&self.client.events()[..ready.events])
    }

    pub(crate) fn outcome(&self) -> Outcome {
        self.client.outcome().expect("the server chose nothing").clone()
    }

    /// The server's application answers with what it has heard.
    pub(crate) fn echo(&mut self) {
        self.server.set_buffer_limit(None);
        self.server.writer().write_all(&std::mem::take(&mut self.heard)).unwrap();
    }

    /// From the next connection on, the key logs of the client and of the server.
    pub(crate) fn key_logs(&mut self) -> [Arc<Lines>; 2] {
        let [ours, theirs] = <[Arc<Lines>; 2]>::default();
        Arc::make_mut(&mut self.client_config).key_log = Some(ours.clone());
        Arc::make_mut(&mut self.server_config).key_log = theirs.clone();
        [ours, theirs]
    }

    /// The messages of this connection in one line.
    pub(crate) fn told(&self) -> String {
        self.story().join(" ")
    }

    /// The messages of this connection, as [`story`] tells them.
    pub(crate) fn story(&self) -> Vec<String> {
        self.client.events().iter().map(story).collect()
    }

    /// The server's turn: what it says to these bytes, and what it thinks of them.
    fn deliver_to_server(&mut self, bytes: &[u8]) -> (Vec<u8>, Result<(), rustls::Error>) {
        self.sent.extend_from_slice(bytes);
        if !bytes.is_empty() {
            self.now = self.now + LATENCY;
        }
        let mut said = Vec::new();
        let taken = rustls_turn(&mut self.server, bytes, &mut self.heard, &mut said);
        (said, taken)
    }
}

/// `> ClientHello`, `< {Finished}`: direction, name, and braces where it was protected.
pub(crate) fn story(event: &Event) -> String {
    let arrow = if event.direction == Direction::Sent { '>' } else { '<' };
    let name = event.what.name();
    if event.encrypted { format!("{arrow} {{{name}}}") } else { format!("{arrow} {name}") }
}
