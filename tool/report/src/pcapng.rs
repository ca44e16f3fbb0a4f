//! Recordings as a pcapng file (draft-ietf-opsawg-pcapng) that holds the secrets too: Wireshark opens it decrypted.
//!
//! TCP and IP were never seen: the frames are made up around the bytes that went over the socket, each read or write a
//! segment at its time, with a handshake before and a FIN where a direction ended. Nothing is lost or sent twice in them.

use std::net::{IpAddr, SocketAddr};

use etherparse::PacketBuilder;
use reprise_model::{Direction, Nanos, Recording};

const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const DECRYPTION_SECRETS: u32 = 0x0A;

/// Frames begin with their IP header (LINKTYPE_RAW).
const RAW_IP: u16 = 101;
/// "TLSK": the lines of a key log file.
const TLS_KEY_LOG: u32 = 0x544C_534B;
/// The option that gives the unit of time; 9 is 10^-9 s.
const IF_TSRESOL: u16 = 9;

/// A segment's bytes: with its headers it stays below what an IP packet can hold.
const MAX_SEGMENT: usize = 16 * 1024;
const WINDOW: u16 = 65_535;
const HOPS: u8 = 64;

/// The file. `secrets` are key log lines; `origin_unix_ns` is when the recordings' times began, in nanoseconds since the
/// Unix epoch. Who has the file has the secrets.
pub fn write(recordings: &[Recording], secrets: &str, origin_unix_ns: u64) -> Vec<u8> {
    let mut out = Vec::new();
    block(&mut out, SECTION_HEADER, |body| {
        body.extend(0x1A2B_3C4D_u32.to_le_bytes()); // by which the byte order is known
        body.extend(1_u16.to_le_bytes());
        body.extend(0_u16.to_le_bytes());
        body.extend(u64::MAX.to_le_bytes()); // length of the section: not told
    });
    block(&mut out, INTERFACE_DESCRIPTION, |body| {
        body.extend(RAW_IP.to_le_bytes());
        body.extend([0, 0]);
        body.extend(0_u32.to_le_bytes()); // no limit to a frame
        body.extend(IF_TSRESOL.to_le_bytes());
        body.extend(1_u16.to_le_bytes());
        body.extend([9, 0, 0, 0]);
        body.extend([0, 0, 0, 0]); // end of options
    });
    // Before the packets that they are for: a reader goes through the file once.
    block(&mut out, DECRYPTION_SECRETS, |body| {
        body.extend(TLS_KEY_LOG.to_le_bytes());
        body.extend(length(secrets.len()));
        body.extend(secrets.as_bytes());
    });
    for recording in recordings {
        for Frame { at, bytes } in frames(recording) {
            let time = origin_unix_ns.saturating_add(at.0);
            block(&mut out, ENHANCED_PACKET, |body| {
                body.extend(0_u32.to_le_bytes());
                body.extend(((time >> 32) as u32).to_le_bytes());
                body.extend((time as u32).to_le_bytes());
                body.extend(length(bytes.len()));
                body.extend(length(bytes.len()));
                body.extend(&bytes);
            });
        }
    }
    out
}

/// One IP packet.
struct Frame {
    at: Nanos,
    bytes: Vec<u8>,
}

fn frames(recording: &Recording) -> Vec<Frame> {
    let mut client = Side { address: recording.client, next: 0, has_ended: false };
    let mut server = Side { address: recording.server, next: 0, has_ended: false };
    let mut frames = Vec::new();
    frames.extend(client.says(&server, recording.connecting, Flags::Syn, &[]));
    frames.extend(server.says(&client, recording.connected, Flags::SynAck, &[]));
    frames.extend(client.says(&server, recording.connected, Flags::Ack, &[]));
    for segment in &recording.segments {
        let (from, to) = match segment.direction {
            Direction::Sent => (&mut client, &mut server),
            Direction::Received => (&mut server, &mut client),
        };
        if from.has_ended {
            continue;
        }
        if segment.bytes.is_empty() {
            frames.extend(from.says(to, segment.at, Flags::Fin, &[]));
            from.has_ended = true;
            frames.extend(to.says(from, segment.at, Flags::Ack, &[]));
        }
        for payload in segment.bytes.chunks(MAX_SEGMENT) {
            frames.extend(from.says(to, segment.at, Flags::Push, payload));
        }
    }
    frames
}

/// One end of the connection, as TCP keeps account of it.
struct Side {
    address: SocketAddr,
    /// The sequence number of its next byte.
    next: u32,
    has_ended: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flags {
    Syn,
    SynAck,
    Ack,
    Push,
    Fin,
}

impl Side {
    /// A packet to the other side. `None` only if it could not be built: writing to memory fails for nothing else.
    fn says(&mut self, other: &Self, at: Nanos, flags: Flags, payload: &[u8]) -> Option<Frame> {
        let ip = match (self.address.ip(), other.address.ip()) {
            (IpAddr::V4(from), IpAddr::V4(to)) => PacketBuilder::ipv4(from.octets(), to.octets(), HOPS),
            (from, to) => PacketBuilder::ipv6(v6(from), v6(to), HOPS),
        };
        let mut tcp = ip.tcp(self.address.port(), other.address.port(), self.next, WINDOW);
        if flags != Flags::Syn {
            tcp = tcp.ack(other.next);
        }
        tcp = match flags {
            Flags::Syn | Flags::SynAck => tcp.syn(),
            Flags::Ack => tcp,
            Flags::Push => tcp.psh(),
            Flags::Fin => tcp.fin(),
        };
        // SYN and FIN take a sequence number each (RFC 9293 §3.4).
        let counts = !matches!(flags, Flags::Ack | Flags::Push);
        self.next = self.next.wrapping_add(payload.len() as u32).wrapping_add(u32::from(counts));
        let mut bytes = Vec::with_capacity(tcp.size(payload.len()));
        tcp.write(&mut bytes, payload).ok()?;
        Some(Frame { at, bytes })
    }
}

fn v6(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

/// A block: type, length, body padded to four bytes, length again.
fn block(out: &mut Vec<u8>, kind: u32, write: impl FnOnce(&mut Vec<u8>)) {
    let mut body = Vec::new();
    write(&mut body);
    body.resize(body.len().next_multiple_of(4), 0);
    let whole = length(body.len() + 12);
    out.extend(kind.to_le_bytes());
    out.extend(whole);
    out.extend(body);
    out.extend(whole);
}

fn length(length: usize) -> [u8; 4] {
    u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use reprise_model::Segment;

    use super::*;

    fn recording(client: &str, server: &str) -> Recording {
        let segment = |at, direction, bytes: &[u8]| Segment { at: Nanos(at), direction, bytes: bytes.to_vec() };
        Recording {
            client: client.parse().unwrap(),
            server: server.parse().unwrap(),
            connecting: Nanos(10),
            connected: Nanos(20),
            segments: vec![
                segment(30, Direction::Sent, &[1; 20_000]),
                segment(40, Direction::Received, b"answer"),
                segment(50, Direction::Sent, b""),
                segment(60, Direction::Received, b""),
            ],
        }
    }

    #[test]
    fn a_long_write_is_several_segments_without_gaps() {
        let frames = frames(&recording("127.0.0.1:40000", "127.0.0.1:443"));
        let mut next = [None::<u32>; 2];
        let mut bytes = [0, 0];
        for frame in &frames {
            let packet = etherparse::SlicedPacket::from_ip(&frame.bytes).unwrap();
            let Some(etherparse::TransportSlice::Tcp(tcp)) = packet.transport else { panic!("no TCP") };
            let side = usize::from(tcp.source_port() == 443);
            assert!(next[side].is_none_or(|next| next == tcp.sequence_number()));
            let length = tcp.payload().len() as u32;
            next[side] = Some(tcp.sequence_number() + length + u32::from(tcp.syn()) + u32::from(tcp.fin()));
            bytes[side] += length;
        }
        assert_eq!((frames.len(), bytes), (10, [20_000, 6]));
        assert!(frames.is_sorted_by_key(|frame| frame.at));
    }

    #[test]
    fn every_block_tells_its_length_twice_and_in_whole_words() {
        let file = write(&[recording("[::1]:40000", "[::1]:443")], "CLIENT_RANDOM 00 11\n", 1 << 60);
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
        let (mut at, mut kinds) = (0, Vec::new());
        while at < file.len() {
            let length = word(at + 4) as usize;
            assert_eq!((length % 4, word(at + length - 4) as usize), (0, length));
            kinds.push(word(at));
            at += length;
        }
        assert_eq!(kinds[..3], [SECTION_HEADER, INTERFACE_DESCRIPTION, DECRYPTION_SECRETS]);
        assert_eq!(kinds[3..], [ENHANCED_PACKET; 10]);
    }
}
