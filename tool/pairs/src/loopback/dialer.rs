//! The client, and what its process is asked.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};

use reprise_model::{Kind, Nanos};
use reprise_stack::StackSession;
use serde::{Deserialize, Serialize};

use super::end::{End, Setup};
use crate::ask::Ask;
use crate::batch::OnAClock;
use crate::cell::Cell;
use crate::child::Child;
use crate::clock::CpuClock;
use crate::failed::Failed;
use crate::transport::{Connected, Says, Transport};

/// Makes connections to a port.
#[derive(Serialize, Deserialize)]
pub struct Dial {
    /// The number of the client.
    pub cell: usize,
    /// The server's port.
    pub port: u16,
    /// How many.
    pub amount: Amount,
}

impl Ask for Dial {
    const NAME: &'static str = "Dial";
    type Answer = DialedConnections;

    fn answer(self, child: &mut Child) -> Result<DialedConnections, Failed> {
        child.kept::<Cell<Dialer>>(self.cell)?.dial(self.port, self.amount)
    }
}

/// How many connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Amount {
    /// Until they are warm.
    WarmUp,
    /// So many that are counted, after one that is not.
    Counted(u32),
}

/// Connections of a client over loopback, in the order in which they were made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DialedConnections {
    pub connections: Vec<Dialed>,
    /// CPU time of the thread meanwhile.
    pub thread_ns: u64,
    /// Bytes of the last connection.
    pub sent: u64,
    pub received: u64,
}

/// One connection of a client over loopback.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Dialed {
    pub client_ns: u64,
    pub on_a_clock: OnAClock,
    /// `None` where the client was not to read along.
    pub kind: Option<Kind>,
    /// Whether it is among the figures.
    pub is_counted: bool,
}

/// A client, and what it has made since it was last asked.
pub(super) struct Dialer {
    end: End,
    port: u16,
    made: Vec<Dialed>,
}

impl Transport for Dialer {
    fn connect(&mut self, session: Option<StackSession>, says: Says) -> Result<Connected, Failed> {
        let Self { end, port, made } = self;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, *port));
        let stream = TcpStream::connect_timeout(&address, end.patience).map_err(end.socket_failed());
        let shaken = stream.and_then(|mut stream| end.handshake(&mut stream, session, says, true));
        let untouched = || Failed::because("the client: its peer ended the connection");
        let (marks, account, client) = end.finish(shaken)?.ok_or_else(untouched)?;
        let observed = end.observed(true)?;
        let wall = Nanos::from(marks.over);
        let on_a_clock = OnAClock { wall_ns: wall.0, ready_ns: Nanos::from(marks.ready).0 };
        let kind = observed.map(|observed| observed.kind);
        made.push(Dialed { client_ns: client.0, on_a_clock, kind, is_counted: false });
        Ok(Connected {
            client,
            cost: wall,
            observed,
            accounts: [Some(account), None],
            sent: end.sent.len() as u64,
            received: end.received.len() as u64,
            ..Connected::default()
        })
    }

    fn take_session(&mut self) -> Option<StackSession> {
        self.end.party.take_session()
    }

    fn clock(&self) -> CpuClock {
        self.end.clock
    }
}

impl Dialer {
    pub(super) fn new(setup: Setup) -> Self {
        Self { end: End::new("the client", setup), port: 0, made: Vec::new() }
    }
}

impl Cell<Dialer> {
    /// Makes connections to a port: each that was made, and which of them count.
    fn dial(&mut self, port: u16, amount: Amount) -> Result<DialedConnections, Failed> {
        self.transport.port = port;
        self.transport.made.clear();
        let clock = self.transport.clock();
        let mut thread = Nanos(0);
        let last = match amount {
            Amount::WarmUp => clock.time(&mut thread, || self.warm_up())?.1,
            Amount::Counted(count) => {
                let mut last = clock.time(&mut thread, || self.connect())?;
                for _ in 0..count {
                    last = clock.time(&mut thread, || self.connect())?;
                    if let Some(made) = self.transport.made.last_mut() {
                        made.is_counted = true;
                    }
                }
                last
            }
        };
        Ok(DialedConnections {
            connections: std::mem::take(&mut self.transport.made),
            thread_ns: self.transport.end.thread_ns(thread),
            sent: last.sent,
            received: last.received,
        })
    }
}
