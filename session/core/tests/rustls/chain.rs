//! The chain is capped, not each ticket. Rule 4: at the cap the client gets a full handshake, never an alert.

use reprise_session::metrics::HandshakeKind;
use reprise_session::ticket::Refused;

use super::pair::{Fleet, MEANS, Means, VERSIONS};

#[test]
fn renewal_does_not_prolong_the_first_authentication() {
    for version in VERSIONS {
        let fleet = Fleet::new();
        let server = fleet.server(&fleet.resumption(Means::Tickets));
        let client = fleet.client(version);
        client.connect(&server);
        // The chain lasts 1,500 seconds; each resumption, 500 apart, renews a ticket of 600.
        for (elapsed, resumed) in [(500, true), (1000, true), (1500, false), (2000, true), (2500, true), (3000, false)] {
            fleet.clock.advance(500);
            // `connect` panics on an alert.
            assert_eq!(client.connect(&server).resumed, resumed, "{elapsed} s, {:?}", version.version);
        }
        assert_eq!(fleet.counters.refused(Refused::OverCap), 2);
        assert_eq!(fleet.counters.handshakes(HandshakeKind::Full), 3);
        assert_eq!(fleet.counters.handshakes(HandshakeKind::Ticket), 4);
    }
}

#[test]
fn a_stored_chain_is_capped_too() {
    let fleet = Fleet::new();
    let server = fleet.server(&fleet.resumption(Means::Store));
    let client = fleet.client(VERSIONS[1]);
    client.connect(&server);
    let resumed = [500, 1000, 1500].map(|_| {
        fleet.clock.advance(500);
        client.connect(&server).resumed
    });
    assert_eq!(resumed, [true, true, false]);
    assert_eq!(fleet.counters.refused(Refused::OverCap), 1);
}

#[test]
fn a_session_expires_though_its_client_believes_otherwise() {
    for version in VERSIONS {
        for means in MEANS {
            let fleet = Fleet::new();
            let server = fleet.server(&fleet.resumption(means));
            let client = fleet.client(version);
            client.connect(&server);
            // rustls says 24 hours of stored sessions under TLS 1.3, and cannot be told otherwise.
            fleet.clock.advance(600);
            assert!(!client.connect(&server).resumed, "{:?} {means:?}", version.version);
        }
    }
}

#[test]
fn tickets_in_their_life_survive_every_rotation() {
    for version in VERSIONS {
        let fleet = Fleet::new();
        let server = fleet.server(&fleet.resumption(Means::Tickets));
        for start in 0..40 {
            let (inside, outside) = (fleet.client(version), fleet.client(version));
            inside.connect(&server);
            outside.connect(&server);
            fleet.clock.advance(599);
            assert!(inside.connect(&server).resumed, "{start}");
            fleet.clock.advance(1);
            assert!(!outside.connect(&server).resumed, "{start}");
            fleet.clock.advance(37);
        }
        assert!(fleet.ring.load(fleet.clock.now()).version() > 20);
    }
}
