//! Two processes of each example: what the one gave resumes at the other. And the guide shows them as they are.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use reprise_lab::{Authority, KeyKind, ServerSpec};
use reprise_model::{Kind, Version};
use reprise_session::key_file::{Format, write};
use reprise_session::{KeyRing, Rotation, SystemRandom};
use reprise_session_tests::client::{FULL, config, visit};
use rustls_pki_types::UnixTime;

#[test]
fn plain_resumes_at_the_other_process() {
    resumes_at_the_other_process(env!("CARGO_BIN_EXE_example-plain"));
}

#[cfg(feature = "tokio")]
#[test]
fn tokio_hyper_and_axum_resume_at_the_other_process() {
    resumes_at_the_other_process(env!("CARGO_BIN_EXE_example-tokio"));
    resumes_at_the_other_process(env!("CARGO_BIN_EXE_example-hyper"));
    resumes_at_the_other_process(env!("CARGO_BIN_EXE_example-axum"));
}

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn resumes_at_the_other_process(program: &str) {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new().unwrap();
    let files = authority.server(&ServerSpec::new(KeyKind::P256)).unwrap().write_pem(folder.path(), "server").unwrap();
    let ticket_key = folder.path().join("ticket.key");
    let rotation = Rotation::new(Duration::from_secs(3600)).unwrap();
    let ring = KeyRing::generate(&rotation, UnixTime::now(), &SystemRandom).unwrap();
    write(&ticket_key, Format::Nginx, &ring.keys().collect::<Vec<_>>()).unwrap();
    let start = || -> (Running, SocketAddr) {
        let mut command = Command::new(program);
        let mut child = command.args([&files.certificate, &files.key, &ticket_key]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let running = Running(child);
        (running, line.trim().parse().unwrap())
    };
    let [(_one, one), (_other, other)] = [start(), start()];
    for version in [Version::Tls12, Version::Tls13] {
        let client = config(&authority, version, None);
        let first = visit(one, &client, FULL, "/").unwrap();
        assert_eq!((first.kind, first.body.as_str()), (Kind::Full, "hello\n"), "{program}");
        assert_eq!(visit(other, &client, first.offer(), "/").unwrap().kind, Kind::Ticket, "{program} {version:?}");
    }
}

#[test]
fn every_example_has_fewer_than_60_lines() {
    for name in ["plain", "tokio", "hyper", "axum"] {
        let lines = source(name).lines().count();
        assert!(lines < 60, "{name}: {lines}");
    }
}

#[test]
fn the_guide_shows_what_the_examples_say() {
    let guide = std::fs::read_to_string(root().join("docs/guide/17-session-library.md")).unwrap();
    for name in ["plain", "tokio", "hyper", "axum"] {
        let heading = format!("```diff\n--- without/{name}.rs\n+++ examples/{name}.rs\n");
        let (_, block) = guide.split_once(&heading).unwrap_or_else(|| panic!("no diff of {name}"));
        let (block, _) = block.split_once("```").unwrap();
        let source = source(name);
        for line in block.lines() {
            match line.split_at_checked(1) {
                Some(("+" | " ", line)) => assert!(source.contains(line), "{name}: {line}"),
                Some(("-", line)) => assert!(!source.contains(line), "{name}: {line}"),
                _ => panic!("{name}: {line:?}"),
            }
        }
    }
}

fn source(name: &str) -> String {
    std::fs::read_to_string(root().join(format!("examples/{name}.rs"))).unwrap()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}
