//! `reprise.trace/1`: a full and a resumed handshake, message by message.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{FirstConnection, HelloRetrySummary, Provenance, Ratio, Run, Target, TicketRequestRecord};
use crate::{Asked, Bytes, Direction, Event, Failure, Fingerprint, Kind, Observation, Outcome, Phases, Version, What};

/// What `trace TARGET` prints as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceDocument {
    /// `reprise.trace/1`.
    pub schema: String,
    /// What was traced.
    pub target: Target,
    /// One for each version.
    pub traces: Vec<Trace>,
    /// Further connections of the same versions and kinds, counted as `measure` counts them: their medians stand beside the messages.
    /// Absent where none were wanted, and in results of before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counted: Vec<Run>,
    /// What each kind among them saves against a full handshake; absent likewise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ratios: Vec<Ratio>,
    /// Whether the client had a certificate to send.
    pub client_certificate_given: bool,
    /// How many tickets were asked for (RFC 9149); absent where nothing was said of their number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket_request: Option<TicketRequestRecord>,
    /// This process's first connection, where it offered a session that another had saved: the second of its trace; absent
    /// otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_connection: Option<FirstConnection>,
    /// Those of them that a HelloRetryRequest made start again, and what that costs; absent where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hello_retry: Option<HelloRetrySummary>,
    /// Why connections failed.
    pub failures: Vec<Failure>,
    /// Things the reader should know before believing what is shown.
    pub warnings: Vec<String>,
    /// Whether Ctrl-C or the target's death cut the trace short; absent where neither did.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Where this comes from.
    pub provenance: Provenance,
}

impl TraceDocument {
    /// The name and version of this document's shape.
    pub const SCHEMA: &'static str = "reprise.trace/1";

    /// The counted connections of this version and kind.
    pub fn counted(&self, tls: Version, kind: Kind) -> Option<&Run> {
        self.counted.iter().find(|run| run.asked == Asked { tls, kind } && run.n > 0)
    }
}

/// A connection that offered nothing, and one that offered what the first had left behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Trace {
    /// What the second connection was made for; where the server gave nothing to offer, what the first hoped for.
    pub asked: Asked,
    /// The connection that offered nothing; null where none came about, as with a server that knows PSKs alone.
    pub full: Option<TracedConnection>,
    /// The one that offered something; null where there was nothing to offer, or where it failed. Its outcome says whether it
    /// resumed.
    pub resumed: Option<TracedConnection>,
    /// The messages of the full handshake that the other did without, by comparison of what was observed on both.
    pub skipped: Vec<SkippedMessage>,
}

impl Trace {
    /// Puts two connections side by side.
    pub fn new(asked: Asked, full: Option<TracedConnection>, resumed: Option<TracedConnection>) -> Self {
        let both = full.as_ref().zip(resumed.as_ref());
        let skipped = both.map(|(full, resumed)| skipped(full, resumed)).unwrap_or_default();
        Self { asked, full, resumed, skipped }
    }

    /// Whether the second connection resumed what the first had left behind.
    pub fn has_resumed(&self) -> bool {
        self.resumed.as_ref().is_some_and(|resumed| resumed.outcome.kind == self.asked.kind)
    }
}

/// One connection with everything that was observed on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TracedConnection {
    /// The client's port, by which a server's own account or a capture is joined to this.
    pub local_port: u16,
    /// When it was begun, in nanoseconds since the trace was.
    #[serde(default)]
    pub start_ns: Option<u64>,
    /// What was negotiated and how.
    pub outcome: Outcome,
    /// Nanoseconds by phase.
    pub phases: Phases,
    /// Bytes written to the socket over the whole connection.
    pub sent: Bytes,
    /// Bytes read from it.
    pub received: Bytes,
    /// Round trips until application data could first be sent.
    pub round_trips: u64,
    /// The most bytes of early data that a ticket of this connection allows the next one; null where none does.
    #[serde(default)]
    pub max_early_data: Option<u32>,
    /// The status of the response; null where no request was sent.
    pub http_status: Option<u16>,
    /// How many of the events are the handshake: up to the last Finished.
    pub handshake_events: usize,
    /// By what the first ClientHello is known; absent in results of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
    /// Every message in and out; times count from the first handshake byte.
    pub events: Vec<Event>,
}

impl TracedConnection {
    /// What was seen of a connection, its facts in names, with its messages and the fingerprint of its first ClientHello.
    pub fn new(seen: &Observation, outcome: Outcome, messages: Vec<Event>, fingerprint: Option<Fingerprint>) -> Self {
        let begun = messages.first().map(|event| event.at).unwrap_or_default();
        let events: Vec<Event> = messages.into_iter().map(|event| Event { at: event.at.since(begun), ..event }).collect();
        let is_finished =
            |event: &Event| matches!(&event.what, What::Handshake { message } if message.as_ref() == "Finished");
        Self {
            local_port: seen.local_port().unwrap_or_default(),
            start_ns: Some(seen.start.0),
            outcome,
            phases: seen.phases,
            sent: seen.sent,
            received: seen.received,
            round_trips: seen.round_trips,
            max_early_data: seen.max_early_data(),
            http_status: seen.http_status,
            fingerprint,
            handshake_events: events.iter().rposition(is_finished).map_or(0, |last| last + 1),
            events,
        }
    }

    /// The messages of the handshake alone.
    pub fn handshake(&self) -> &[Event] {
        self.events.get(..self.handshake_events).unwrap_or(&self.events)
    }

    /// How many messages the handshake took; early data and what came meanwhile are none of them.
    pub fn handshake_messages(&self) -> u64 {
        let is_handshake = |event: &&Event| matches!(event.what, What::Handshake { .. } | What::ChangeCipherSpec);
        self.handshake().iter().filter(is_handshake).count() as u64
    }
}

/// A message that a resumed handshake did without.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SkippedMessage {
    /// Its place among the events of the first connection, from 0.
    pub index: usize,
    /// Which way it went there.
    pub direction: Direction,
    /// What it was.
    pub what: What,
    /// Its size there.
    pub size: Bytes,
}

/// The messages of the full handshake without a counterpart on the other connection: one of the same name that went the
/// same way. Where a message occurs twice and was answered once, the later one is what was skipped.
fn skipped(full: &TracedConnection, resumed: &TracedConnection) -> Vec<SkippedMessage> {
    let mut counterparts: HashMap<(Direction, &str), usize> = HashMap::new();
    for event in &resumed.events {
        *counterparts.entry((event.direction, event.what.name())).or_default() += 1;
    }
    let mut skipped = Vec::new();
    for (index, event) in full.handshake().iter().enumerate() {
        match counterparts.get_mut(&(event.direction, event.what.name())) {
            Some(left) if *left > 0 => *left -= 1,
            _ => {
                let Event { direction, what, size, .. } = event.clone();
                skipped.push(SkippedMessage { index, direction, what, size });
            }
        }
    }
    skipped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClientAuthentication, Kind, Nanos, Purpose, Verification, Version};

    fn observation() -> Observation {
        Observation::begun(0, Nanos(0), Purpose::Sample, Asked { tls: Version::Tls12, kind: Kind::Full })
    }

    fn connection(kind: Kind, messages: &[&'static str]) -> TracedConnection {
        let events = messages.iter().enumerate().map(|(index, message)| {
            let direction = if message.starts_with('>') { Direction::Sent } else { Direction::Received };
            let what = What::Handshake { message: message[1..].into() };
            Event::new(Nanos(1_000 + index as u64), direction, what, Bytes(10), false)
        });
        let outcome = Outcome {
            version: Version::Tls12,
            kind,
            cipher: String::new(),
            group: None,
            signature: None,
            peer_key: None,
            certificates: None,
            chain_bytes: None,
            psk_mode: None,
            alpn: None,
            verification: Verification::Verified,
            client_authentication: ClientAuthentication::NotRequested,
            extended_master_secret: true,
            hello_retry_request: false,
            hello_retry: None,
            early_data: None,
            session_offered: kind != Kind::Full,
            tickets: 0,
            tickets_promised: None,
            session_id_given: false,
        };
        TracedConnection::new(&observation(), outcome, events.collect(), None)
    }

    const FULL: [&str; 9] = [
        ">ClientHello",
        "<ServerHello",
        "<Certificate",
        "<ServerKeyExchange",
        "<ServerHelloDone",
        ">ClientKeyExchange",
        ">Finished",
        "<Finished",
        "<NewSessionTicket",
    ];

    fn names(full: &[&'static str], resumed: &[&'static str]) -> Vec<String> {
        let trace = Trace::new(
            Asked { tls: Version::Tls12, kind: Kind::Id },
            Some(connection(Kind::Full, full)),
            Some(connection(Kind::Id, resumed)),
        );
        trace.skipped.iter().map(|skipped| skipped.what.name().to_owned()).collect()
    }

    #[test]
    fn what_has_no_counterpart_is_skipped_in_any_order() {
        let abbreviated = [">ClientHello", "<ServerHello", "<Finished", ">Finished"];
        assert_eq!(names(&FULL, &abbreviated), ["Certificate", "ServerKeyExchange", "ServerHelloDone", "ClientKeyExchange"]);
    }

    #[test]
    fn a_refused_resumption_skips_nothing() {
        assert_eq!(names(&FULL, &FULL), [""; 0]);
    }

    #[test]
    fn certificates_are_told_apart_by_direction() {
        let mutual = [">ClientHello", "<Certificate", ">Certificate", ">Finished"];
        let one_way = [">ClientHello", "<Certificate", ">Finished"];
        assert_eq!(names(&mutual, &one_way), ["Certificate"]);
    }

    #[test]
    fn a_handshake_ends_with_its_last_finished_and_begins_at_zero() {
        let full = connection(Kind::Full, &FULL);
        assert_eq!((full.handshake().len(), full.handshake().last().map(|event| event.at)), (8, Some(Nanos(7))));
    }
}
