//! What tests rely on where a server does not start, does not answer, or is not there. What each driver tells of connections is held against
//! clients of four makes in `tool/cli/tests`: `measure/every_server` and `differential`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;

use reprise_harness::Lab;
use reprise_lab::KeyKind;
use reprise_servers::{Nginx, NginxConfig, RealServer};

#[test]
fn nginx_tells_why_it_did_not_start() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let server_directives = "no_such_directive on;".to_owned();
    let config = NginxConfig { server_directives, ..NginxConfig::new(vec![lab.identity(KeyKind::P256)]) };
    let error = Nginx::start(config).unwrap_err();
    assert!(matches!(error, reprise_servers::DriverError::Died { .. }), "{error}");
    assert!(error.to_string().contains("no_such_directive"), "{error}");
}

#[test]
fn nginx_leaves_nothing_behind() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let nginx = Nginx::start(NginxConfig { workers: 2, ..NginxConfig::new(vec![lab.identity(KeyKind::P256)]) }).unwrap();
    let (address, pid) = (nginx.address(), nginx.pid());
    drop(nginx);
    assert!(TcpStream::connect(address).is_err(), "no worker lives on");
    assert!(!PathBuf::from(format!("/proc/{pid}")).exists(), "reaped");
}

#[test]
fn connections_that_do_not_come_are_missed() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let mut nginx = Nginx::start(NginxConfig::new(vec![lab.identity(KeyKind::P256)])).unwrap();
    let error = nginx.accounts_when(1, Duration::ZERO).unwrap_err().to_string();
    assert_eq!(error, "nginx accounted for 0 connections of 1 within 0ns");
}

#[test]
fn a_program_that_is_not_installed_is_named() {
    assert_eq!(reprise_servers::missing("sh"), None);
    let not_run = reprise_servers::missing("no-such-server").unwrap();
    assert_eq!(not_run.to_string(), "NOT RUN: needs no-such-server");
}

/// What an ignored test of this file prints in such an environment, in which it passes or fails as said.
#[track_caller]
fn said_by(test: &str, variables: &[(&str, &str)], passes: bool) -> String {
    let mut program = std::process::Command::new(std::env::current_exe().unwrap());
    program.args(["--exact", test, "--ignored", "--nocapture"]).envs(variables.iter().copied());
    let output = program.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.success(), passes, "{said}");
    said
}

#[test]
#[ignore = "run by the test below"]
fn a_test_that_needs_what_nobody_has() {
    reprise_servers::require!("sh", "no-such-server");
    unreachable!("there is no such server");
}

#[test]
fn a_missing_program_fails_only_where_servers_are_required() {
    for (value, passes) in [("0", true), ("1", false)] {
        let said = said_by("a_test_that_needs_what_nobody_has", &[("REPRISE_REQUIRE_SERVERS", value)], passes);
        assert!(said.contains("NOT RUN: needs no-such-server"), "{said}");
    }
}

#[test]
#[ignore = "run by the test below"]
fn a_test_that_needs_a_network_of_its_own() {
    assert!(reprise_servers::own_network().is_none());
}

#[test]
fn a_refused_namespace_fails_where_servers_are_required() {
    let directory = tempfile::tempdir().unwrap();
    let unshare = directory.path().join("unshare");
    std::fs::write(&unshare, "#!/bin/sh\necho 'Operation not permitted' >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&unshare, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let path = format!("{}:{}", directory.path().display(), std::env::var("PATH").unwrap());
    for (required, by_design, passes) in [("0", "0", true), ("1", "0", false), ("1", "1", true)] {
        let variables = [("PATH", &*path), ("REPRISE_REQUIRE_SERVERS", required), ("REPRISE_WITHOUT_NAMESPACES", by_design)];
        let said = said_by("a_test_that_needs_a_network_of_its_own", &variables, passes);
        assert!(said.contains("NOT RUN: needs a network of its own (Operation not permitted)"), "{said}");
    }
}
