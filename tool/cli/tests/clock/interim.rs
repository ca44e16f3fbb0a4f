//! `wait` lasts until the final response: an interim one (RFC 9110 §15.2) ends nothing.

use std::net::SocketAddr;

use reprise_lab::EmbeddedResumption;
use reprise_model::document::SampleRecord;
use reprise_model::{Kind, Phase};
use reprise_servers::{Relay, RelayFault, RelayRule};

use crate::clock::{COUNT, LATE, STALL, quartile};
use reprise_harness::Lab;

#[test]
fn what_passes_after_100_continue_is_waited_for() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Off);
    let samples = |address: SocketAddr| -> Vec<SampleRecord> {
        let call = lab.measure(address).args(["--tls", "1.3", "--kinds", "full", "-X", "POST"]).count(COUNT);
        call.args(["-H", "Expect: 100-continue"]).run().exits(0).document().samples
    };
    let relay = Relay::transparent(server.address()).unwrap();
    samples(relay.address());
    // The last record is a close_notify, the one before it the final response.
    let record = relay.records().last().unwrap().len() - 2;
    let rule = RelayRule { skip_connections: 0, record, fault: RelayFault::Pause(STALL) };
    let relay = Relay::start(server.address(), rule).unwrap();
    let stalled = samples(relay.address());
    let [wait, receive] = [Phase::Wait, Phase::Receive].map(|phase| quartile(&stalled, Kind::Full, phase));
    assert!(wait >= STALL - LATE && receive < STALL - LATE, "{wait:?} {receive:?}");
}
