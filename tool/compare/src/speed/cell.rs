//! In the child process: an operation that was made ready and checked, and TCP connections without data.

use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use reprise_model::Nanos;
use reprise_stack::{PrimitiveOptions, ReadyPrimitive, Stack};

use super::check;
use super::message::{PrimitiveJob, TcpCost};
use crate::clock::CpuClock;
use crate::message::Failed;

/// An operation that was made ready.
pub(crate) struct PrimitiveCell {
    primitive: Box<dyn ReadyPrimitive>,
    clock: CpuClock,
}

/// Before each sample, so many that do not count, and no more than a quarter of it: another operation has had the caches, and what a library
/// remembers of a key.
const WARM_UP: u64 = 4;

impl PrimitiveCell {
    /// Makes it ready, and checks what it comes to.
    pub(crate) fn new(stack: &dyn Stack, job: &PrimitiveJob) -> Result<Self, Failed> {
        let PrimitiveJob { operation, algorithm, length, .. } = *job;
        let options = PrimitiveOptions { operation, algorithm, length, key: job.key.as_deref() };
        let mut primitive = stack.primitive(&options)?;
        primitive.prepare(1)?;
        primitive.run(1)?;
        check::output(job, &primitive.output()?)?;
        Ok(Self { primitive, clock: CpuClock::calibrated() })
    }

    /// What one takes.
    pub(crate) fn warm_up(&mut self) -> Result<u64, Failed> {
        self.run(WARM_UP)?;
        Ok(self.run(WARM_UP)? / WARM_UP)
    }

    /// CPU time of so many.
    pub(crate) fn run(&mut self, count: u64) -> Result<u64, Failed> {
        let (mut spent, warm_up, count) = (Nanos(0), WARM_UP.min(count / 4) as usize, count as usize);
        self.primitive.prepare(warm_up)?;
        self.primitive.run(warm_up)?;
        self.primitive.prepare(count)?;
        self.clock.time(&mut spent, || self.primitive.run(count))?;
        Ok(spent.0)
    }
}

/// Makes so many connections over loopback and closes them, and charges each call to the end that makes it: the least that the kernel takes
/// for a connection. What the kernel does for the other end within a call is charged to the caller.
pub(crate) fn tcp_connections(count: u32) -> Result<TcpCost, Failed> {
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
