//! One clock for all: a stall of the server and an expensive verification stand in the same phase under `measure`, `load` and
//! `load --verify`.
#![cfg(target_os = "linux")]

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use reprise_lab::{Authority, EmbeddedResumption};
use reprise_model::document::LoadDocument;
use reprise_model::{Kind, Phase, Version};
use reprise_servers::{Relay, RelayFault, RelayRule};
use reprise_stats::histogram::decode;

use crate::clock::{COUNT, LATE, PATH, PHASES, STALL, quartile};
use reprise_harness::{Lab, Reprise};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    Measure,
    Load,
    LoadVerify,
}

const COMMANDS: [Command; 3] = [Command::Measure, Command::Load, Command::LoadVerify];

#[test]
fn a_stall_stands_in_the_same_phase_under_every_command() {
    for version in [Version::Tls12, Version::Tls13] {
        let lab = Lab::new();
        let server = lab.server(EmbeddedResumption::Ticket);
        let relay = Relay::transparent(server.address()).unwrap();
        quartiles(Command::Load, relay.address(), version, &lab.ca());
        let records = relay.records().pop().unwrap();
        assert!(records.len() >= 5, "{records:?}");
        let mut met = Vec::new();
        for record in 0..records.len() {
            let stalled = COMMANDS.map(|command| {
                let rule = RelayRule { skip_connections: 0, record, fault: RelayFault::Pause(STALL) };
                let relay = Relay::start(server.address(), rule).unwrap();
                let run = || -> Vec<Phase> {
                    let times = quartiles(command, relay.address(), version, &lab.ca());
                    PHASES.into_iter().zip(times).filter(|(_, time)| *time >= STALL - LATE).map(|(phase, _)| phase).collect()
                };
                // A stall that stands in two phases does so in every run; a machine that is busy throughout one run adds a phase to it.
                let stands = run();
                (0..2).fold(stands, |stands, _| if stands.len() > 1 { run() } else { stands })
            });
            let [measure, load, load_verify]: [Vec<Phase>; 3] = stalled;
            // The last may be a close_notify, for which nobody waits.
            let is_awaited = record + 1 < records.len();
            assert!(measure.len() == 1 || measure.is_empty() && !is_awaited, "{version} record {record}: {measure:?}");
            assert_eq!((&load, &load_verify), (&measure, &measure), "{version} record {record} of {records:?}");
            met.extend(measure);
        }
        met.dedup();
        assert_eq!(met, [Phase::Tls, Phase::Wait, Phase::Receive], "{version}");
    }
}

/// Roots of the same name as the one that signed the certificate: each is tried, and its signature does not fit. Verifiers stop
/// at a hundred.
const STRANGERS: usize = 90;

#[test]
fn an_expensive_verification_stands_in_tls_under_every_command() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let mut roots: String = (0..STRANGERS).map(|_| Authority::new().unwrap().pem()).collect();
    roots += &lab.authority.pem();
    let roots = lab.file("roots.pem", roots);
    for version in [Version::Tls12, Version::Tls13] {
        for command in [Command::Measure, Command::LoadVerify] {
            let [_, tls, wait, _] = quartiles(command, server.address(), version, &lab.ca());
            let [_, dear_tls, dear_wait, _] = quartiles(command, server.address(), version, &roots);
            let (more_tls, more_wait) = (dear_tls.saturating_sub(tls), dear_wait.saturating_sub(wait));
            let case = format!("{version} {command:?}: tls {tls:?} to {dear_tls:?}, wait {wait:?} to {dear_wait:?}");
            assert!(more_tls > Duration::from_millis(2) && more_tls > 4 * more_wait, "{case}");
        }
    }
}

/// The first quartile of each phase of full handshakes, trusting the roots in this file.
fn quartiles(command: Command, address: SocketAddr, version: Version, roots: &PathBuf) -> [Duration; 4] {
    let target = format!("{address}{PATH}");
    if command == Command::Measure {
        let call = Reprise::measure(target).arg("--ca").arg(roots).count(COUNT);
        let document = call.args(["--tls", version.number(), "--kinds", "full"]).run().exits(0).document();
        return PHASES.map(|phase| quartile(&document.samples, Kind::Full, phase));
    }
    let mut call = Reprise::load(target).count(COUNT).flags("--quiet --connections 1 --tls").arg(version.number());
    if command == Command::LoadVerify {
        call = call.arg("--verify").arg("--ca").arg(roots);
    }
    let document: LoadDocument = call.run().exits(0).json();
    assert_eq!(document.completed[&Kind::Full], u64::from(COUNT));
    PHASES.map(|phase| {
        let of = document.histograms.iter().find(|it| (it.kind, it.phase) == (Kind::Full, Some(phase))).unwrap();
        Duration::from_nanos(decode(&of.hdr_v2).unwrap().value_at_quantile(0.25))
    })
}
