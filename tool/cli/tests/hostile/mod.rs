//! What a user reads of every hostile server of `reprise_scripted::hostile`: the real program, over sockets.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use reprise_harness::{Outcome, Reprise};
use reprise_model::{Kind, Version};
use reprise_probe::saved::{Destination, SessionFile};
use reprise_scripted::NOW;
use reprise_scripted::hostile::{Expected, HostileServer, cases};
use reprise_scripted::play::Deviation;
use reprise_scripted::setting::{ConnectionEnd, Line, Setting};
use reprise_servers::start_played;
use tempfile::TempDir;

/// Cases that are played at the same time, since some last until their timeout.
const AT_ONCE: usize = 16;

#[test]
fn a_user_reads_what_a_hostile_server_did() {
    let mut faults = Vec::new();
    let directory = tempfile::tempdir().unwrap();
    let (in_vain, others): (Vec<HostileServer>, Vec<HostileServer>) = cases().into_iter().partition(is_in_vain);
    for batch in in_vain.chunks(AT_ONCE).chain(others.chunks(AT_ONCE)) {
        let started: Vec<_> = batch.iter().map(|case| start(case, &directory)).collect();
        for (case, (_server, running)) in batch.iter().zip(started) {
            let outcome = running.finish();
            if let Err(fault) = read(case, &outcome) {
                faults.push(format!("{}: {fault}: exit {}, {}", case.name, outcome.code, outcome.stderr.trim()));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// A server that answers early data before the client has finished, and takes nothing more.
#[test]
fn a_whole_response_counts_though_nobody_takes_the_finished() {
    let setting = Setting { gives_ticket: false, ..Setting::resumed(Version::Tls13, Kind::Early) };
    let lines = setting.lines();
    let answer = lines.len() - 3;
    let deviations = vec![(answer - 1, Deviation::Omit), (answer + 1, Deviation::Instead(Line::End(ConnectionEnd::Reset)))];
    assert_eq!(lines[answer - 1], Line::Wait);
    let (name, expected) = (String::new(), Expected::Borne(""));
    let case = HostileServer { name, setting, deviations, expected, told: None };
    let directory = tempfile::tempdir().unwrap();
    // Whether the reset comes before the Finished leaves is chance.
    for _ in 0..20 {
        let (_server, running) = start(&case, &directory);
        let outcome = running.finish().exits(0);
        assert_eq!(outcome.measured(Version::Tls13, Kind::Early).n, 1);
    }
}

fn start(case: &HostileServer, directory: &TempDir) -> (reprise_lab::Listener, reprise_harness::Running) {
    let played = case.clone();
    let server = start_played(move || played.play()).unwrap();
    // Longer than anything takes here that is not awaited in vain.
    let timeout = if is_in_vain(case) { "4s" } else { "30s" };
    let measure = Reprise::measure(server.address()).arg("--insecure").args(["--tls", case.setting.version.number()]);
    let measure = match sessions(case, server.address(), directory.path()) {
        Some(path) => measure.arg("--session-in").arg(path),
        None => measure,
    };
    let kind = if case.setting.resumes() { case.setting.kind } else { Kind::Full };
    let running = measure.args(["--kinds", &kind.to_string(), "--timeout", timeout]).count(1).start();
    (server, running)
}

/// The session that both sides hold, in a file from which the program's first connection resumes it.
fn sessions(case: &HostileServer, server: SocketAddr, directory: &Path) -> Option<PathBuf> {
    let session = case.setting.session()?;
    let server = server.to_string();
    let path = directory.join(server.replace(':', "-"));
    let sessions = vec![session.encode(&server, NOW, SystemTime::now())];
    Destination::open(&path, None).unwrap().write(&SessionFile { server, verified: false, sessions }).unwrap();
    Some(path)
}

fn is_in_vain(case: &HostileServer) -> bool {
    matches!(case.expected, Expected::Awaited(_) | Expected::BorneUntilTimeout)
}

fn read(case: &HostileServer, outcome: &Outcome) -> Result<(), &'static str> {
    let (code, words) = match case.expected {
        Expected::Refused(words) => (3, words.to_owned()),
        Expected::Awaited(message) => (3, format!("no {message} within 4 s")),
        Expected::Broken(message) => {
            (3, format!("the connection broke while waiting for {message}: connection reset by peer"))
        }
        Expected::Borne(_) => (0, String::new()),
        Expected::BorneUntilTimeout => (3, "no response within 4 s".to_owned()),
    };
    let said = outcome.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    if outcome.code != code {
        return Err("another exit code is due");
    }
    if said.contains(&words) { Ok(()) } else { Err("it does not say what the server did") }
}
