//! A recorded handshake in virtual time: each side takes its turns as soon as what it waits for has arrived, while the other takes its own.
//! As programs read sockets: what has arrived is taken at once, and what comes of it is sent at once.
//!
//! ```text
//! client's turns ──> its TCP ──> path ──> server's TCP ──> server's turns
//!                <──         <──      <──              <──
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use reprise_model::document::{CompareLink, CompareReached, CompareSide, CompareTurn};
use reprise_stats::Chance;

use super::path::Path;
use super::tcp::{Packet, Tcp, Time};

/// How far a replay came, in nanoseconds since the client's SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// Until the client's handshake is complete.
    pub ready_ns: u64,
    /// Until the server has the client's request.
    pub request_ns: u64,
}

/// A connection that takes longer is not waited for.
const LONGEST: Time = 120_000_000_000;

/// Which packets are lost in each direction, the client's first: the same ones for the same seed and trial.
pub fn losses(loss: f64, seed: u64, trial: u64) -> [Chance; 2] {
    let seed = seed ^ trial.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    [Chance::new(loss, seed), Chance::new(loss, !seed)]
}

/// Replays turns over a link; `None` where the connection has not come that far after two minutes.
pub fn replay(turns: &[CompareTurn], link: &CompareLink, losses: [Chance; 2]) -> Option<Replayed> {
    let [to_server, to_client] = losses.map(|losses| Path::new(link, losses));
    let side = |side, tcp, path| Side { turns: of(turns, side), tcp, path, taken: 0, busy: None };
    let client = side(CompareSide::Client, Tcp::client(link.initcwnd), to_server);
    let server = side(CompareSide::Server, Tcp::server(link.initcwnd), to_client);
    let mut replay = Replay { sides: [client, server], packets: BinaryHeap::new(), now: 0, ready: None, request: None };
    replay.run()
}

fn of(turns: &[CompareTurn], side: CompareSide) -> Vec<CompareTurn> {
    // The first is taken from the end.
    turns.iter().rev().filter(|turn| turn.side == side).copied().collect()
}

struct Replay {
    /// The client, and the server.
    sides: [Side; 2],
    packets: BinaryHeap<Arrival>,
    now: Time,
    ready: Option<Time>,
    request: Option<Time>,
}

struct Side {
    /// Those that are to come, the last first.
    turns: Vec<CompareTurn>,
    tcp: Tcp,
    path: Path,
    /// Bytes that turns have taken.
    taken: u64,
    /// The turns that have begun, and until when they take.
    busy: Option<(Time, Vec<CompareTurn>)>,
}

/// A packet under way: when it arrives, how many were sent before it, and at which side.
struct Arrival {
    at: (Time, u64),
    side: usize,
    packet: Packet,
}

impl Replay {
    fn run(&mut self) -> Option<Replayed> {
        let mut sent = 0;
        while self.now < LONGEST {
            for index in 0..self.sides.len() {
                self.proceed(index, &mut sent);
            }
            if let (Some(ready_ns), Some(request_ns)) = (self.ready, self.request) {
                return Some(Replayed { ready_ns, request_ns });
            }
            let arrival = self.packets.peek().map(|arrival| arrival.at.0);
            let of_sides = self.sides.iter().flat_map(|side| [side.busy.as_ref().map(|(end, _)| *end), side.tcp.due()]);
            self.now = of_sides.flatten().chain(arrival).min()?.max(self.now);
            while let Some(arrival) = self.packets.peek().filter(|arrival| arrival.at.0 <= self.now) {
                let side = arrival.side;
                let arrival = self.packets.pop()?;
                self.sides.get_mut(side)?.tcp.receive(self.now, &arrival.packet);
            }
        }
        None
    }

    /// Ends and begins what a side can end and begin now.
    fn proceed(&mut self, index: usize, sent: &mut u64) {
        let Some(side) = self.sides.get_mut(index) else { return };
        loop {
            if let Some((_, turns)) = side.busy.take_if(|(end, _)| *end <= self.now) {
                side.tcp.write(self.now, turns.iter().map(|turn| turn.sends).sum());
                for turn in turns {
                    match (turn.side, turn.reaches) {
                        (CompareSide::Client, CompareReached::Ready) => self.ready = Some(self.now),
                        (CompareSide::Server, CompareReached::Request) => self.request = Some(self.now),
                        _ => {}
                    }
                }
            }
            if side.busy.is_some() || !side.tcp.is_established() {
                break;
            }
            let turns = side.begin();
            if turns.is_empty() {
                break;
            }
            side.busy = Some((self.now + turns.iter().map(|turn| turn.cpu_ns).sum::<u64>(), turns));
        }
        if side.tcp.due().is_some_and(|due| due <= self.now) {
            side.tcp.wake(self.now);
        }
        for packet in side.tcp.out.drain(..) {
            *sent += 1;
            if let Some(at) = side.path.carry(self.now, packet.bytes()) {
                self.packets.push(Arrival { at: (at, *sent), side: 1 - index, packet });
            }
        }
    }
}

impl Side {
    /// The turns that what has arrived is enough for; one that takes nothing is alone.
    fn begin(&mut self) -> Vec<CompareTurn> {
        let mut begun = Vec::new();
        let received = self.tcp.received();
        while let Some(turn) =
            self.turns.pop_if(|turn| self.taken + turn.takes <= received && (begun.is_empty() || turn.takes > 0))
        {
            self.taken += turn.takes;
            begun.push(turn);
            if turn.takes == 0 {
                break;
            }
        }
        begun
    }
}

impl Ord for Arrival {
    /// The heap gives the greatest first, which is to be the earliest.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        Reverse(self.at).cmp(&Reverse(other.at))
    }
}

impl PartialOrd for Arrival {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Arrival {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Arrival {}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn link(rtt_ms: u64) -> CompareLink {
        CompareLink { rtt_ns: rtt_ms * MS, bandwidth: None, loss: 0.0, initcwnd: 10 }
    }

    fn turn(side: CompareSide, takes: u64, sends: u64, reaches: CompareReached) -> CompareTurn {
        CompareTurn { side, takes, cpu_ns: 0, sends, reaches }
    }

    /// A full handshake of TLS 1.3 with a flight of the server of so many bytes.
    fn full(flight: u64) -> Vec<CompareTurn> {
        use CompareReached::{Nothing, Ready, Request};
        use CompareSide::{Client, Server};
        vec![
            turn(Client, 0, 300, Nothing),
            turn(Server, 0, 0, Nothing),
            turn(Server, 300, flight, Nothing),
            turn(Client, flight, 74, Ready),
            turn(Client, 0, 86, Nothing),
            turn(Server, 74, 0, Nothing),
            turn(Server, 86, 0, Request),
        ]
    }

    fn over(turns: &[CompareTurn], link: CompareLink) -> Replayed {
        replay(turns, &link, losses(link.loss, 1, 0)).expect("it ends")
    }

    /// The first trial in which these packets of the client are the only ones of the first eight that are lost in either direction.
    fn trial_that_loses(lost: &[usize]) -> u64 {
        let is_it = |trial: &u64| {
            let [mut client, mut server] = losses(0.1, 1, *trial);
            (0..8).all(|packet| client.happens() == lost.contains(&packet)) && (0..8).all(|_| !server.happens())
        };
        (0..1_000_000).find(is_it).expect("there is one")
    }

    #[test]
    fn a_round_trip_of_tcp_one_of_tls_and_half_of_the_request() {
        let replayed = over(&full(2_000), link(40));
        assert_eq!(replayed, Replayed { ready_ns: 80 * MS, request_ns: 100 * MS });
    }

    #[test]
    fn cpu_time_of_both_sides_is_in_it_once() {
        let mut turns = full(2_000);
        turns.iter_mut().for_each(|turn| turn.cpu_ns = MS);
        let replayed = over(&turns, link(40));
        // The client's first two turns and the request's; the server's that answers, and the last two, which are taken at once.
        assert_eq!(replayed.ready_ns, 80 * MS + 3 * MS);
        assert_eq!(replayed.request_ns, 100 * MS + 6 * MS - MS);
    }

    #[test]
    fn a_flight_beyond_the_initial_window_takes_a_round_trip_more() {
        let at = |flight, initcwnd| over(&full(flight), CompareLink { initcwnd, ..link(40) }).ready_ns / MS;
        assert_eq!([at(14_480, 10), at(14_481, 10), at(14_481, 11)], [80, 120, 80]);
        // Two segments, then four, then eight.
        assert_eq!([at(6 * 1_448, 2), at(6 * 1_448 + 1, 2)], [120, 160]);
    }

    #[test]
    fn bandwidth_is_that_of_packets() {
        let slow = CompareLink { bandwidth: Some(1_000_000), ..link(40) };
        let took = over(&full(14_480), slow).ready_ns;
        // SYN, its answer, 300 bytes, ten segments of 1,500 bytes; the server's acknowledgement goes before them.
        let bytes = 60 + 60 + 52 + 352 + 52 + 15_000;
        assert_eq!(took, 80 * MS + bytes * 8_000);
    }

    #[test]
    fn a_lost_syn_takes_a_second_and_a_lost_hello_the_timeout() {
        let losing = CompareLink { loss: 0.1, ..link(40) };
        let with = |lost: &[usize]| {
            let trial = trial_that_loses(lost);
            replay(&full(2_000), &losing, losses(0.1, 1, trial)).expect("it ends").ready_ns / MS
        };
        assert_eq!(with(&[]), 80);
        assert_eq!(with(&[0]), 1_080, "SYN");
        assert_eq!(with(&[1]), 80, "the acknowledgement of the answer to it: the ClientHello has it too");
        assert_eq!(with(&[2]), 80 + 240, "the ClientHello: 40 ms and 200 ms");
    }

    #[test]
    fn a_segment_that_others_overtake_is_sent_again_at_once() {
        let losing = CompareLink { loss: 0.1, ..link(40) };
        // The server's packets: the answer to the SYN, an acknowledgement, then ten segments, of which the third is lost.
        let is_it = |trial: &u64| {
            let [mut client, mut server] = losses(0.1, 1, *trial);
            (0..20).all(|_| !client.happens()) && (0..20).all(|packet| server.happens() == (packet == 4))
        };
        let trial = (0..10_000_000).find(is_it).expect("there is one");
        let replayed = replay(&full(14_480), &losing, losses(0.1, 1, trial)).expect("it ends");
        assert_eq!(replayed.ready_ns, 120 * MS);
    }

    #[test]
    fn every_connection_ends_or_is_given_up() {
        let bad = CompareLink { loss: 0.5, initcwnd: 1, bandwidth: Some(64_000), ..link(300) };
        let ended = (0..2_000).filter(|trial| replay(&full(20_000), &bad, losses(0.5, 3, *trial)).is_some()).count();
        assert!(ended > 0, "none has ended");
        let lossless = over(&full(20_000), CompareLink { loss: 0.0, ..bad });
        let least =
            (0..2_000).filter_map(|trial| replay(&full(20_000), &bad, losses(0.5, 3, trial))).map(|it| it.ready_ns).min();
        assert!(least.is_some_and(|least| least >= lossless.ready_ns), "loss saves time");
    }

    #[test]
    fn a_recording_without_an_end_has_none() {
        assert_eq!(replay(&full(2_000)[..3], &link(40), losses(0.0, 0, 0)), None);
        assert_eq!(replay(&[], &link(40), losses(0.0, 0, 0)), None);
    }
}
