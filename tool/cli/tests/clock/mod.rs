//! Whether the phases that `measure` prints are true, and those of `load` the same: against stalls whose place is known, and against the packets.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

mod capture;
mod interim;
mod packets;
mod stalls;
mod three_commands;

use std::time::Duration;

use reprise_model::document::SampleRecord;
use reprise_model::{Kind, Phase};

/// What a server's record is late by.
const STALL: Duration = Duration::from_millis(20);
/// A client that comes late to the bytes before the stall finds so much less of it.
const LATE: Duration = Duration::from_millis(4);
/// A busy machine delays many connections on its own account, and lets some clients come late: of so many connections, the
/// first quartile is moved by neither.
const COUNT: u32 = 16;
/// Some records of response, so that one of them is not the first and belongs to `receive`.
const PATH: &str = "/bytes/40000";
/// Where a record can be awaited, and `connect`, which is to be left alone.
const PHASES: [Phase; 4] = [Phase::Connect, Phase::Tls, Phase::Wait, Phase::Receive];

/// The first quartile of this phase of the connections of this kind, of which there are [`COUNT`].
fn quartile(samples: &[SampleRecord], kind: Kind, phase: Phase) -> Duration {
    let samples = samples.iter().filter(|sample| sample.kind == kind);
    let mut times: Vec<Duration> = samples.map(|sample| sample.phases.of(phase).unwrap().into()).collect();
    assert_eq!(times.len(), COUNT as usize);
    times.sort_unstable();
    times[times.len() / 4]
}
