//! A stall of 20 ms before each of the server's records in turn stands in the phase to which that record belongs, and in
//! no other.

use std::net::SocketAddr;

use reprise_lab::EmbeddedResumption;
use reprise_model::document::MeasureDocument;
use reprise_model::{Kind, Phase, Version};
use reprise_servers::{Relay, RelayFault, RelayRule};

use crate::clock::{COUNT, LATE, PATH, PHASES, STALL, quartile};
use reprise_harness::Lab;

/// RFC 9846 §5.1, as TLS 1.2 has it.
const APPLICATION_DATA: u8 = 23;
const ALERT: u8 = 21;

#[test]
fn a_stall_stands_in_its_own_phase_under_tls_1_2() {
    for kind in [Kind::Full, Kind::Id] {
        let stalls = Stalls::of(Version::Tls12, kind);
        for (record, content_type) in stalls.records.iter().enumerate() {
            // The content types are open to see, so the phase of each record is known beforehand.
            let data_before = stalls.records.iter().take(record).filter(|&&it| it == APPLICATION_DATA).count();
            let expected = match (*content_type, data_before) {
                // close_notify is no part of any phase.
                (ALERT, 1..) => None,
                (APPLICATION_DATA, 0) => Some(Phase::Wait),
                (_, 0) => Some(Phase::Tls),
                _ => Some(Phase::Receive),
            };
            assert_eq!(stalls.at(record), expected, "{kind}, record {record} of {:?}", stalls.records);
        }
    }
}

#[test]
fn a_stall_stands_in_its_own_phase_under_tls_1_3() {
    for kind in [Kind::Full, Kind::Ticket] {
        let stalls = Stalls::of(Version::Tls13, kind);
        let found: Vec<Option<Phase>> = (0..stalls.records.len()).map(|record| stalls.at(record)).collect();
        // What the records hold is hidden, but their order is not: first those of the handshake, open ones included, then
        // tickets and the first of the response, then the rest of it, then close_notify.
        let phases = [Some(Phase::Tls), Some(Phase::Wait), Some(Phase::Receive), None];
        let mut in_order = found.clone();
        in_order.dedup();
        assert_eq!(in_order, phases, "{kind}: {found:?}");
        let open = stalls.records.iter().take_while(|&&it| it != APPLICATION_DATA).count();
        assert!(found.iter().take(open + 1).all(|&phase| phase == Some(Phase::Tls)), "{kind}: {found:?}");
    }
}

/// One version and kind, and the content types of the records that the server sends on a connection of it.
struct Stalls {
    lab: Lab,
    server: reprise_lab::EmbeddedServer,
    version: Version,
    kind: Kind,
    records: Vec<u8>,
}

impl Stalls {
    fn of(version: Version, kind: Kind) -> Self {
        let lab = Lab::new();
        let server = lab.server(if kind == Kind::Id { EmbeddedResumption::Id } else { EmbeddedResumption::Ticket });
        let mut stalls = Self { lab, server, version, kind, records: Vec::new() };
        let relay = Relay::transparent(stalls.server.address()).unwrap();
        let document = stalls.measure(relay.address());
        assert_eq!(document.run(version, kind).unwrap().observed.kinds.of(kind), u64::from(COUNT));
        stalls.records = relay.records().pop().unwrap();
        assert!(stalls.records.len() >= 5, "{:?}", stalls.records);
        stalls
    }

    /// The phase in which a stall at this record is found; `None` where there is none.
    fn at(&self, record: usize) -> Option<Phase> {
        let rule = RelayRule { skip_connections: 0, record, fault: RelayFault::Pause(STALL) };
        let relay = Relay::start(self.server.address(), rule).unwrap();
        let document = self.measure(relay.address());
        let stalled: Vec<Phase> =
            PHASES.into_iter().filter(|&phase| quartile(&document.samples, self.kind, phase) >= STALL - LATE).collect();
        assert!(stalled.len() <= 1, "{} at record {record}: in all of {stalled:?}", self.kind);
        let in_total = quartile(&document.samples, self.kind, Phase::Total) >= STALL - LATE;
        assert_eq!(in_total, !stalled.is_empty(), "{} at record {record}: the total", self.kind);
        stalled.first().copied()
    }

    fn measure(&self, address: SocketAddr) -> MeasureDocument {
        let target = format!("{address}{PATH}");
        let call = self.lab.measure(target).count(COUNT);
        let call = call.args(["--tls", self.version.number(), "--kinds", self.kind.name()]);
        call.run().exits(0).document()
    }
}
