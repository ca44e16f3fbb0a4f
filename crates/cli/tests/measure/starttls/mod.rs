//! `--starttls` against real servers: the kinds that are observed are what the server says, or what its configuration
//! must lead to.

mod bystander;
mod databases;
mod directory;
mod files;
mod mail;
mod messages;
mod mistaken;
mod refused;
mod scripted;

use std::collections::HashMap;

use reprise_model::document::{MeasureDocument, Run};
use reprise_model::{Phase, Version};
use reprise_servers::PartialWitness;

use reprise_harness::{DEADLINE, Lab, Outcome};

const COUNT: u32 = 4;

const VERSIONS: [Version; 2] = [Version::Tls12, Version::Tls13];

fn measure(lab: &Lab, address: std::net::SocketAddr, protocol: &str) -> Outcome {
    lab.measure(address).args(["--starttls", protocol]).count(COUNT).run().exits(0)
}

/// Every phase of a run is there, in the clear and under TLS.
#[track_caller]
fn assert_phases(run: &Run) {
    for phase in [Phase::Connect, Phase::Starttls, Phase::Tls, Phase::Wait, Phase::Receive, Phase::Total] {
        assert!(run.phases.contains_key(&phase), "{phase} in {:?}", run.asked);
    }
    assert!(!run.phases.contains_key(&Phase::Proxy));
}

/// How many connections were made in all.
pub(crate) fn made(document: &MeasureDocument) -> usize {
    let all = document.all_connections;
    usize::try_from(all.full + all.id + all.ticket).unwrap()
}

/// Every sample is a connection that the server knows of, under the same version.
#[track_caller]
pub(crate) fn assert_known(document: &MeasureDocument, server: &impl PartialWitness) {
    let connected = server.connected_when(made(document), DEADLINE).unwrap();
    assert_eq!((connected.len(), document.all_connections.failed), (made(document), 0));
    let by_port: HashMap<u16, String> = connected.into_iter().map(|one| (one.client_port, one.version)).collect();
    for sample in &document.samples {
        let version = if sample.asked.tls == Version::Tls12 { "TLSv1.2" } else { "TLSv1.3" };
        assert_eq!(by_port.get(&sample.local_port).map(String::as_str), Some(version), "{sample:?}");
    }
}
