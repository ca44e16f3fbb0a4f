//! The server, and what its process is asked.

use std::io;
use std::net::{Ipv4Addr, TcpListener};

use reprise_model::{Kind, Nanos};
use serde::{Deserialize, Serialize};
use socket2::SockRef;

use super::end::{End, Setup};
use crate::ask::Ask;
use crate::case::Case;
use crate::cell::check;
use crate::child::Child;
use crate::clock::CpuClock;
use crate::failed::Failed;
use crate::transport::Says;

/// Opens a port on 127.0.0.1 for a server: its number.
#[derive(Serialize, Deserialize)]
pub struct Listen {
    /// The number of the server.
    pub cell: usize,
}

impl Ask for Listen {
    const NAME: &'static str = "Listen";
    type Answer = u16;

    fn answer(self, child: &mut Child) -> Result<u16, Failed> {
        child.kept::<Server>(self.cell)?.listen().map_err(Failed::broken)
    }
}

/// Serves connections to that port one after the other, until one ends without a byte.
#[derive(Serialize, Deserialize)]
pub struct Serve {
    /// The number of the server.
    pub cell: usize,
}

impl Ask for Serve {
    const NAME: &'static str = "Serve";
    type Answer = ServedConnections;

    fn answer(self, child: &mut Child) -> Result<ServedConnections, Failed> {
        child.kept::<Server>(self.cell)?.serve()
    }
}

/// The same connections of the server's.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ServedConnections {
    pub connections: Vec<Served>,
    pub thread_ns: u64,
}

/// The same connection of the server's.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Served {
    pub server_ns: u64,
    /// `None` where the server was not to read along.
    pub kind: Option<Kind>,
}

/// A server.
pub(super) struct Server {
    case: Case,
    end: End,
    listener: Option<TcpListener>,
}

impl Server {
    pub(super) fn new(setup: Setup) -> Self {
        Self { case: setup.case, end: End::new("the server", setup), listener: None }
    }

    pub(super) fn clock(&self) -> CpuClock {
        self.end.clock
    }

    /// Opens a port.
    fn listen(&mut self) -> io::Result<u16> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        // Whoever forgets about it leaves no process behind.
        SockRef::from(&listener).set_read_timeout(Some(self.end.patience * 4))?;
        let port = listener.local_addr()?.port();
        self.listener = Some(listener);
        Ok(port)
    }

    /// Serves until a connection ends without a byte: each, and the CPU time of the thread.
    fn serve(&mut self) -> Result<ServedConnections, Failed> {
        let Self { case, end, listener } = self;
        let listener = listener.take().ok_or_else(|| Failed::broken("no port was opened"))?;
        let (mut connections, mut thread) = (Vec::new(), Nanos(0));
        loop {
            let (mut stream, _) = listener.accept().map_err(end.socket_failed())?;
            let clock = end.clock;
            let done = clock.time(&mut thread, || {
                let made = end.handshake(&mut stream, None, Says::Nothing, false);
                end.finish(made)
            });
            let Some((_, account, spent)) = done? else {
                return Ok(ServedConnections { connections, thread_ns: end.thread_ns(thread) });
            };
            let observed = end.observed(false)?;
            if let Some(observed) = observed {
                check(*case, observed, [None, Some(account)], observed.kind.is_resumption())?;
                if Says::of(*case) != Says::Nothing {
                    end.party.check_request(observed)?;
                }
            }
            connections.push(Served { server_ns: spent.0, kind: observed.map(|observed| observed.kind) });
        }
    }
}
