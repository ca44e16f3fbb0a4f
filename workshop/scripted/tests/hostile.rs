//! The engine against every hostile server of the table: the error or the event that is due, in few bytes and little
//! memory, whatever is sent.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::alloc::System;

use reprise_engine::{Connection, Error};
use reprise_scripted::hostile::{Expected, HostileServer, cases};
use reprise_scripted::setting::{ConnectionEnd, REQUEST};
use reprise_scripted::{NOW, alert_of};
use reprise_servers::{Act, Actor};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The most that a client may hold at any time, and hand out in sessions: a chain of 256 KiB, twice while a buffer grows,
/// and 4,096 events.
const MOST_HELD: isize = 1280 * 1024;
/// What it may take from a server before it refuses: the longest message that it knows, and what leads to it.
const MOST_TAKEN: usize = 400 * 1024;
/// What a socket gives at once.
const READ: usize = 16 * 1024;
/// What a server that is borne for ever sends here.
const ENDLESS: usize = 64 << 20;

/// One test, so that nothing else in this process allocates.
#[test]
fn every_hostile_server_is_seen_through_in_bounded_space() {
    let cases = cases();
    assert!(cases.len() > 400, "{}", cases.len());
    let mut faults: Vec<String> = Vec::new();
    for case in &cases {
        if let Err(fault) = hold(case) {
            faults.push(format!("{}: {fault}", case.name));
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

fn hold(case: &HostileServer) -> Result<(), String> {
    let mut client = case.setting.client();
    let mut observed = Observed::default();
    observed.perform(case, &mut client);
    if observed.most_held > MOST_HELD {
        return Err(format!("the client held {} bytes", observed.most_held));
    }
    let refused = observed.error.as_ref().map(ToString::to_string);
    match case.expected {
        Expected::Refused(words) if words.ends_with("without a response") && refused.is_none() => {
            expect(client.ready().is_some() && client.is_peer_closed(), "it is not ready, or does not see the end")
        }
        Expected::Refused(words) => {
            expect(refused.as_ref().is_some_and(|error| error.starts_with(words)), format!("{refused:?}"))?;
            expect(observed.taken <= MOST_TAKEN, format!("it took {} bytes", observed.taken))?;
            let due = observed.error.as_ref().and_then(Error::alert).map(|alert| alert.to_string());
            expect(case.told.is_none_or(|told| due.as_deref() == Some(told)), format!("the alert {due:?}"))?;
            expect(due == alert_of(&mut client), format!("the server is not told {due:?}"))
        }
        Expected::Awaited("response") => expect(client.ready().is_some() && refused.is_none(), format!("{refused:?}")),
        Expected::Awaited(message) => {
            expect(client.waiting_for() == Some(message), format!("it waits for {:?}: {refused:?}", client.waiting_for()))
        }
        // A reset is the transport's affair.
        Expected::Broken(_) => expect(refused.is_none(), format!("{refused:?}")),
        Expected::Borne(event) => {
            let seen = client.events().iter().any(|seen| seen.what.name().eq_ignore_ascii_case(event));
            expect(refused.is_none() && client.ready().is_some(), format!("{refused:?}"))?;
            expect(
                seen,
                format!("no {event}: {:?}", client.events().iter().map(|seen| seen.what.name()).collect::<Vec<_>>()),
            )
        }
        Expected::BorneUntilTimeout => {
            expect(refused.is_none() && observed.taken >= ENDLESS, format!("{refused:?} after {} bytes", observed.taken))
        }
    }
}

fn expect(holds: bool, otherwise: impl Into<String>) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

/// What a client did.
#[derive(Default)]
struct Observed {
    error: Option<Error>,
    /// Bytes from the server.
    taken: usize,
    held: isize,
    most_held: isize,
}

impl Observed {
    fn perform(&mut self, case: &HostileServer, client: &mut Connection) {
        let mut play = case.play();
        let mut asked = false;
        while self.taken < ENDLESS {
            play.hear(&client.take_outgoing(NOW));
            match play.act() {
                Act::Send(bytes) => {
                    bytes.chunks(READ).for_each(|part| self.receive(client, part));
                    if self.error.is_some() {
                        return;
                    }
                }
                Act::Hear if client.ready().is_some() && !asked => {
                    asked = true;
                    client.send(NOW, REQUEST).unwrap();
                }
                Act::Hear => play.wait_no_longer(),
                Act::End(ConnectionEnd::Close) => {
                    self.error = client.receive_end(NOW).err();
                    return;
                }
                Act::End(_) => return,
            }
        }
    }

    /// What the client allocates while it takes bytes, and does not free, it holds.
    fn receive(&mut self, client: &mut Connection, bytes: &[u8]) {
        if self.error.is_some() {
            return;
        }
        let before = ALLOCATOR.stats();
        self.error = client.receive(NOW, bytes).err();
        drop(client.take_application_data());
        let during = ALLOCATOR.stats() - before;
        self.taken += bytes.len();
        let reallocated = during.bytes_reallocated;
        self.held += during.bytes_allocated as isize - during.bytes_deallocated as isize;
        self.most_held = self.most_held.max(self.held + reallocated.max(0));
    }
}
