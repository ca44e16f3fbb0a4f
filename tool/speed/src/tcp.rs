//! What the kernel takes for a connection of TCP.

use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use reprise_model::Nanos;
use reprise_model::document::SpeedTcp;
use reprise_pairs::{Ask, Child, CpuClock, Failed, Launcher, Worker};
use serde::{Deserialize, Serialize};

use crate::cost::cost;
use crate::plan::SpeedPlan;

/// Connections of TCP that a sample is the mean of.
const TCP_CONNECTIONS: u32 = 100;

/// What the kernel takes for a connection of TCP.
pub fn tcp(plan: &SpeedPlan<'_>, launcher: &Launcher) -> Option<SpeedTcp> {
    let mut worker = Worker::new(launcher);
    let ask = |_| worker.ask(&TcpConnections { count: TCP_CONNECTIONS }).ok();
    let samples: Vec<TcpCost> = (0..plan.effort.samples).filter_map(ask).collect();
    let of = |side: fn(&TcpCost) -> u64| cost(&samples.iter().map(side).collect::<Vec<_>>(), 1, plan.seed);
    Some(SpeedTcp { client: of(|it| it.client_ns)?, server: of(|it| it.server_ns)? })
}

/// Makes so many connections of TCP over loopback.
#[derive(Serialize, Deserialize)]
pub(crate) struct TcpConnections {
    count: u32,
}

impl Ask for TcpConnections {
    const NAME: &'static str = "TcpConnections";
    type Answer = TcpCost;

    fn answer(self, _: &mut Child) -> Result<TcpCost, Failed> {
        connections(self.count)
    }
}

/// CPU time of connections of TCP over loopback, of both ends, without any data.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct TcpCost {
    /// Of one, at the end that connects.
    client_ns: u64,
    /// Of one, at the end that accepts.
    server_ns: u64,
}

/// Makes so many connections over loopback and closes them, and charges each call to the end that makes it: the least that the kernel takes
/// for a connection. What the kernel does for the other end within a call is charged to the caller.
fn connections(count: u32) -> Result<TcpCost, Failed> {
    let connect = || -> io::Result<TcpCost> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let (address, clock) = (listener.local_addr()?, CpuClock::calibrated());
        let (mut client_ns, mut server_ns) = (Nanos(0), Nanos(0));
        for _ in 0..count {
            let client = clock.time(&mut client_ns, || TcpStream::connect(address))?;
            let (mut server, _) = clock.time(&mut server_ns, || listener.accept())?;
            clock.time(&mut client_ns, || drop(client));
            // The end of the stream, and then its own: no state is left that waits for the peer.
            let ended = clock.time(&mut server_ns, || {
                let ended = server.read(&mut [0]);
                drop(server);
                ended
            })?;
            if ended != 0 {
                return Err(io::Error::other("a connection without data has brought some"));
            }
        }
        let each = |spent: Nanos| spent.0 / u64::from(count.max(1));
        Ok(TcpCost { client_ns: each(client_ns), server_ns: each(server_ns) })
    };
    connect().map_err(Failed::broken)
}
