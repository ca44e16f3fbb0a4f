//! The client against every hostile server of the engine's table: the engine's error in bounded memory, but for what follows from
//! unit key shares and from answering no retry.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::alloc::System;
use std::sync::Arc;

use reprise_connection::exchange::Http1;
use reprise_connection::{Attempt, Begin, Fault, Input, Progress};
use reprise_load::{ConnectionPlan, LoadClient, LoadShared, TlsOptions};
use reprise_model::{FaultName, Kind};
use reprise_scripted::NOW;
use reprise_scripted::hostile::{Expected, HostileServer, cases};
use reprise_scripted::setting::{ConnectionEnd, REQUEST};
use reprise_servers::{Act, Actor};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The most that a client may hold at any time: a message of 128 KiB, twice while a buffer grows, and what a read leaves.
const MOST_HELD: isize = 512 * 1024;
/// What a socket gives at once.
const READ: usize = 16 * 1024;
/// What a server that is borne for ever sends here.
const ENDLESS: usize = 2 << 20;

/// What a connection comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// All that was wanted came.
    Done,
    /// Something is awaited still.
    Open,
    /// It failed.
    Failed(FaultName),
}

/// What the client makes of servers by design, where the table wants another outcome: the names of cases, and why.
#[rustfmt::skip]
const BY_DESIGN: &[(Outcome, &[&str])] = &[
    // What comes after all that was wanted is not read.
    (Outcome::Done, &[
        "TLS 1.2: an end in the middle of close_notify",
        "TLS 1.3: an end in the middle of close_notify",
        "TLS 1.2, id: an end in the middle of close_notify",
        "TLS 1.2, ticket: an end in the middle of close_notify",
        "TLS 1.3, ticket: an end in the middle of close_notify",
    ]),
    // A unit share takes the server's point as the secret: with that one, nothing decrypts.
    (Outcome::Failed(FaultName::BadRecordMac), &["TLS 1.3: a key share that is the point at infinity"]),
    // A retry ends the connection; the next one begins with the group that is wanted.
    (Outcome::Failed(FaultName::HelloRetryRequest), &[
        "TLS 1.3: retries for ever",
        "TLS 1.3: another suite",
        "TLS 1.3: another version",
        "TLS 1.3: another group",
        "TLS 1.3: a second retry",
        "TLS 1.3: a cookie of 60 kB",
        "TLS 1.3, ticket: after a retry, another hash",
        "TLS 1.3, ticket: after a retry, a PSK that nobody offered",
        "TLS 1.3, ticket: a retry under another hash, and the PSK after it",
    ]),
];

/// One test, so that nothing else in this process allocates.
#[test]
fn hostile_servers_are_seen_through_as_the_engine_sees_them() {
    // It offers no early data.
    let cases: Vec<HostileServer> = cases().into_iter().filter(|case| case.setting.kind != Kind::Early).collect();
    assert!(cases.len() > 300, "{}", cases.len());
    let mut faults: Vec<String> = Vec::new();
    for case in &cases {
        let (outcome, most_held) = LoadConnection::perform(case);
        if most_held > MOST_HELD {
            faults.push(format!("{}: the client held {most_held} bytes", case.name));
        }
        let by_design = BY_DESIGN.iter().find(|(_, names)| names.contains(&case.name.as_str()));
        let expected = by_design.map_or_else(|| of_engine(case), |(outcome, _)| *outcome);
        if outcome != expected {
            faults.push(format!("{}: {outcome:?}, not {expected:?}", case.name));
        }
    }
    let names = BY_DESIGN.iter().flat_map(|(_, names)| *names);
    let unknown = names.filter(|name| !cases.iter().any(|case| case.name == **name));
    faults.extend(unknown.map(|name| format!("no case is called '{name}'")));
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// What the table wants of the engine, by the name that its error has.
fn of_engine(case: &HostileServer) -> Outcome {
    match case.expected {
        Expected::Borne(_) => Outcome::Done,
        Expected::Awaited(_) | Expected::Broken(_) | Expected::BorneUntilTimeout => Outcome::Open,
        Expected::Refused(words) if words.ends_with("without a response") => Outcome::Failed(FaultName::NoResponse),
        Expected::Refused(_) => Outcome::Failed(engine_error(case)),
    }
}

fn engine_error(case: &HostileServer) -> FaultName {
    let (mut client, mut play, mut asked) = (case.setting.client(), case.play(), false);
    let error = loop {
        play.hear(&client.take_outgoing(NOW));
        let result = match play.act() {
            Act::Send(bytes) => client.receive(NOW, &bytes),
            Act::Hear if client.ready().is_some() && !asked => {
                asked = true;
                client.send(NOW, REQUEST)
            }
            Act::Hear => {
                play.wait_no_longer();
                Ok(())
            }
            Act::End(_) => break client.receive_end(NOW).err(),
        };
        drop(client.take_application_data());
        if result.is_err() {
            break result.err();
        }
    };
    Fault::of_engine(error.unwrap_or_else(|| panic!("{}: the engine bears it", case.name)), false).name
}

struct LoadConnection {
    attempt: Attempt<LoadClient, Http1>,
    shared: LoadShared,
    held: isize,
    most_held: isize,
}

impl LoadConnection {
    fn perform(case: &HostileServer) -> (Outcome, isize) {
        let setting = &case.setting;
        let mut tls = TlsOptions::new(setting.version);
        tls.alpn = if setting.alpn { vec![b"http/1.1".to_vec()] } else { Vec::new() };
        let mut shared = LoadShared::new(&tls, 1, &[Kind::Full, setting.kind]).unwrap();
        if let Some(session) = setting.session() {
            shared.hold(session);
        }
        let attempt = Attempt::new(LoadClient::default(), Http1::new(Arc::from(REQUEST), false));
        let mut connection = Self { attempt, shared, held: 0, most_held: 0 };
        let outcome = match connection.converse(case) {
            Err(fault) => Outcome::Failed(fault.name),
            Ok(()) if connection.attempt.is_done() => Outcome::Done,
            Ok(()) => Outcome::Open,
        };
        (outcome, connection.most_held)
    }

    fn converse(&mut self, case: &HostileServer) -> Result<(), Fault> {
        let kind = if case.setting.resumes() { case.setting.kind } else { Kind::Full };
        let begin = Begin { plan: ConnectionPlan { kind, name: 0 }, prologue: None, requests: 1, early: None };
        self.attempt.begin(&mut self.shared, begin, NOW)?;
        self.attempt.connected(NOW, || None)?;
        let (mut play, mut taken) = (case.play(), 0);
        while taken < ENDLESS {
            let said = self.attempt.outgoing(NOW).to_vec();
            self.attempt.sent(said.len());
            play.hear(&said);
            match play.act() {
                Act::Send(mut bytes) => {
                    taken += bytes.len();
                    for part in bytes.chunks_mut(READ) {
                        self.receive(part)?;
                        if self.attempt.is_done() {
                            return Ok(());
                        }
                    }
                }
                Act::Hear => play.wait_no_longer(),
                Act::End(ConnectionEnd::Close) => return self.attempt.receive_end(NOW),
                Act::End(_) => return Ok(()),
            }
        }
        Ok(())
    }

    /// What the client allocates while it takes bytes, and does not free, it holds.
    fn receive(&mut self, bytes: &mut [u8]) -> Result<(), Fault> {
        let before = ALLOCATOR.stats();
        let mut input = Input::new(bytes, NOW);
        let mut progress = Ok(Progress::Boundary);
        while progress == Ok(Progress::Boundary) {
            progress = self.attempt.receive(&mut self.shared, &mut input, NOW);
        }
        let during = ALLOCATOR.stats() - before;
        self.held += during.bytes_allocated as isize - during.bytes_deallocated as isize;
        self.most_held = self.most_held.max(self.held + during.bytes_reallocated.max(0));
        progress.map(|_| ())
    }
}
