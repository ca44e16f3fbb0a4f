//! One end of a TCP connection in virtual time, as Linux has it: initial window (RFC 6928), slow start (RFC 5681), SACK (RFC 2018), RACK and
//! the tail loss probe (RFC 8985), the retransmission timer (RFC 6298, at least 200 ms), delayed acknowledgements.
//!
//! It moves numbers of bytes, not bytes, and is told the time. The receiver's window never closes: a handshake is far smaller. Nagle's
//! algorithm is off, as TLS clients and servers have it.

mod receiver;
mod sender;

use self::receiver::Receiver;
use self::sender::Sender;

/// Nanoseconds of virtual time.
pub(super) type Time = u64;

const MS: Time = 1_000_000;

/// Data of one segment: an MTU of 1,500 bytes less 20 of IP and 32 of TCP with timestamps.
pub(super) const MSS: u64 = 1_448;
/// Headers of IP and TCP with timestamps.
const HEADERS: u64 = 52;
/// The same of a SYN, which has options.
const SYN_BYTES: u64 = 60;
/// Until a SYN or its answer is sent again (RFC 6298 §2.1).
const SYN_TIMEOUT: Time = 1_000 * MS;
/// So many SYNs follow one another at the same distance (`tcp_syn_linear_timeouts`); then it doubles.
const LINEAR_SYNS: u32 = 4;

/// What is on its way.
#[derive(Clone, Debug)]
pub(super) struct Packet {
    is_syn: bool,
    start: u64,
    end: u64,
    /// `None` in the first SYN alone.
    acknowledges: Option<u64>,
    /// What has arrived beyond that.
    sacked: Vec<(u64, u64)>,
}

impl Packet {
    /// Bytes of the IP packet.
    pub(super) fn bytes(&self) -> u64 {
        if self.is_syn { SYN_BYTES } else { HEADERS + 8 * self.sacked.len().min(3) as u64 + self.end - self.start }
    }
}

/// How far the connection is established.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    Listening,
    /// The SYN, or the answer to one, was last sent then, for so many times.
    SynSent {
        at: Time,
        times: u32,
    },
    Established,
}

/// One end.
pub(super) struct Tcp {
    opening: Opening,
    is_client: bool,
    sender: Sender,
    receiver: Receiver,
    /// To be sent.
    pub(super) out: Vec<Packet>,
}

impl Tcp {
    pub(super) fn client(initcwnd: u64) -> Self {
        let mut tcp = Self::new(true, initcwnd);
        tcp.send_syn(0, 1);
        tcp
    }

    pub(super) fn server(initcwnd: u64) -> Self {
        Self::new(false, initcwnd)
    }

    fn new(is_client: bool, initcwnd: u64) -> Self {
        let (sender, receiver) = (Sender::new(initcwnd), Receiver::default());
        Self { opening: Opening::Listening, is_client, sender, receiver, out: Vec::new() }
    }

    pub(super) fn is_established(&self) -> bool {
        self.opening == Opening::Established
    }

    /// Bytes that have arrived in order.
    pub(super) fn received(&self) -> u64 {
        self.receiver.next()
    }

    /// The application writes so many bytes.
    pub(super) fn write(&mut self, now: Time, bytes: u64) {
        self.sender.write(bytes);
        self.send(now);
    }

    pub(super) fn receive(&mut self, now: Time, packet: &Packet) {
        match (self.opening, packet.is_syn) {
            (Opening::Listening, _) => return self.send_syn(now, 1),
            // The answer was lost, or is late.
            (Opening::SynSent { times, .. }, true) if !self.is_client => return self.send_syn(now, times),
            (Opening::SynSent { at, times }, _) => self.establish(now, at, times),
            (Opening::Established, true) => return self.acknowledge(),
            (Opening::Established, false) => {}
        }
        if let Some(acknowledged) = packet.acknowledges {
            self.sender.acknowledged(now, acknowledged, &packet.sacked);
        }
        let is_due = self.receiver.receive(now, packet.start, packet.end);
        self.send(now);
        // What was sent has acknowledged it.
        if is_due && self.receiver.owes() {
            self.acknowledge();
        }
    }

    fn establish(&mut self, now: Time, sent_at: Time, times: u32) {
        self.opening = Opening::Established;
        self.sender.establish(now - sent_at, times > 2);
        if self.is_client {
            self.acknowledge();
        }
    }

    /// When something is to be done without a packet that arrives.
    pub(super) fn due(&self) -> Option<Time> {
        match self.opening {
            Opening::Listening => None,
            Opening::SynSent { at, times } => Some(at + syn_timeout(times, self.is_client)),
            Opening::Established => self.sender.due().into_iter().chain(self.receiver.due()).min(),
        }
    }

    /// Does what is due.
    pub(super) fn wake(&mut self, now: Time) {
        if let Opening::SynSent { times, .. } = self.opening {
            return self.send_syn(now, times + 1);
        }
        if self.receiver.due().is_some_and(|due| due <= now) {
            self.acknowledge();
        }
        if self.sender.due().is_some_and(|due| due <= now) {
            self.sender.wake(now);
            self.send(now);
        }
    }

    fn send_syn(&mut self, now: Time, times: u32) {
        self.opening = Opening::SynSent { at: now, times };
        let acknowledges = (!self.is_client).then_some(0);
        self.out.push(Packet { is_syn: true, start: 0, end: 0, acknowledges, sacked: Vec::new() });
    }

    fn send(&mut self, now: Time) {
        if !self.is_established() {
            return;
        }
        while let Some((start, end)) = self.sender.next(now) {
            self.receiver.replies(now);
            self.push(start, end);
        }
    }

    fn acknowledge(&mut self) {
        let at = self.sender.next_byte();
        self.push(at, at);
    }

    fn push(&mut self, start: u64, end: u64) {
        let (acknowledges, sacked) = self.receiver.acknowledgement();
        self.out.push(Packet { is_syn: false, start, end, acknowledges: Some(acknowledges), sacked });
    }
}

/// How long after the last of so many SYNs another follows. Who answers has no linear timeouts.
fn syn_timeout(times: u32, is_client: bool) -> Time {
    let doubled = times.saturating_sub(if is_client { LINEAR_SYNS } else { 1 }).min(6);
    SYN_TIMEOUT << doubled
}
