//! `reprise.measure/1`: what connections to one target cost.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    AnswerDifference, Calibration, Comparison, ConditionRecord, Finding, HelloRetrySummary, Provenance, Statistics,
};
use crate::{Asked, Bytes, ClientCpu, Failure, HelloRetryRecord, Kind, KindCounts, Phase, Phases, PskMode, Version};

/// What `measure TARGET` prints as JSON.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeasureDocument {
    /// `reprise.measure/1`.
    pub schema: String,
    /// A name for this result, `rsa-2048/ticket` in the lab; otherwise the target.
    pub label: String,
    /// What was measured.
    pub target: Target,
    /// One run for each version and kind, their samples interleaved.
    pub runs: Vec<Run>,
    /// What each kind of resumption saves against a full handshake, phase by phase.
    pub ratios: Vec<Ratio>,
    /// Every connection that was made, discovery and priming included.
    pub all_connections: AllConnections,
    /// Every counted connection.
    pub samples: Vec<SampleRecord>,
    /// How fast this machine was meanwhile; absent where that was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// What the server's processes used meanwhile; absent where they were not named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpu: Option<ServerCpu>,
    /// How many tickets were asked for (RFC 9149); absent where nothing was said of their number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket_request: Option<TicketRequestRecord>,
    /// This process's first connection, where it offered a session that another had saved; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_connection: Option<FirstConnection>,
    /// The software that the server reveals or that was named; absent where neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub software: Option<String>,
    /// The kinds that the application answers otherwise than full handshakes; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers_differ: Vec<AnswerDifference>,
    /// Connections that a HelloRetryRequest made start again, and what that costs; absent where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hello_retry: Option<HelloRetrySummary>,
    /// What the result means.
    pub findings: Vec<Finding>,
    /// Why connections failed, each distinct failure once.
    pub failures: Vec<Failure>,
    /// The versions that the server refused by an alert; absent where none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_versions: Vec<Version>,
    /// Things the reader should know before believing the figures.
    pub warnings: Vec<String>,
    /// Whether the order of the connections shows in the figures: `connect`, which cannot depend on the kind, differs between
    /// kinds by over 3 %.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub order_suspect: bool,
    /// Whether Ctrl-C or the target's death cut the measurement short.
    pub interrupted: bool,
    /// What is other than in the result of `--baseline`; absent where none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Box<Comparison>>,
    /// What came of each `--fail-if` (of the lab, all servers' stand beside its results); absent where none was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ConditionRecord>,
    /// Where this comes from.
    pub provenance: Provenance,
}

impl MeasureDocument {
    /// The name and version of this document's shape.
    pub const SCHEMA: &'static str = "reprise.measure/1";

    /// One of which nothing was measured yet.
    pub fn begun(label: String, target: Target, provenance: Provenance) -> Self {
        Self { schema: Self::SCHEMA.to_owned(), label, target, provenance, ..Self::default() }
    }

    /// The run for this version and kind.
    pub fn run(&self, tls: Version, kind: Kind) -> Option<&Run> {
        self.runs.iter().find(|run| run.asked == Asked { tls, kind })
    }

    /// How the application answers this kind otherwise than full handshakes, whose times then do not compare with it; `None` where
    /// it does not.
    pub fn answers_differ(&self, asked: Asked) -> Option<&AnswerDifference> {
        self.answers_differ.iter().find(|it| (it.tls, it.kind) == (asked.tls, asked.kind))
    }

    /// What connections of this version and kind gain on full handshakes in a phase.
    pub fn ratio(&self, asked: Asked, phase: Phase) -> Option<&Ratio> {
        self.ratios.iter().find(|it| (it.tls, it.to, it.phase, it.from) == (asked.tls, asked.kind, phase, Kind::Full))
    }
}

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Target {
    /// The host as it was given, name or address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The address that was connected to; null where the name did not resolve, or where a proxy resolves it.
    pub address: Option<String>,
    /// The path that was requested; null where no request was sent.
    pub path: Option<String>,
    /// The HTTP method of the request; absent where none was sent, and in results of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The proxy in between, `socks5h://HOST:PORT`, without its credentials; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// The version of the PROXY header that each connection began with, `v1` or `v2`; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy_protocol: Option<String>,
    /// The protocol that asks for TLS, `smtp`, `postgres`, …; absent where connections begin with TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starttls: Option<String>,
    /// The client in whose form each connection offers (`--like`); absent where it is Reprise's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<LikeRecord>,
    /// Whether each connection sends an encrypted_client_hello that holds nothing (`--ech-grease`); absent where none does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ech_grease: bool,
}

/// A client whose ClientHello is offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LikeRecord {
    /// The name that `--like` takes.
    pub name: String,
    /// The program and its version.
    pub client: String,
    /// The day on which its ClientHello was captured.
    pub captured: String,
}

/// A process's first connection, with a session that another had saved. It is one of the samples too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FirstConnection {
    /// The client's port.
    pub local_port: u16,
    /// What was asked for.
    pub asked: Asked,
    /// What was observed.
    pub kind: Kind,
    /// How old the session was by the calendar, in nanoseconds.
    pub session_age_ns: u64,
    /// Nanoseconds by phase, in a process that has yet to warm up.
    pub phases: Phases,
}

/// The processor time of a server's processes on this machine, while it was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerCpu {
    /// How many connections it had meanwhile, discovery and priming included.
    pub connections: u64,
    /// What each took, on average over all kinds.
    pub per_connection_ns: u64,
}

/// How many tickets a client asks for (RFC 9149 §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TicketRequestRecord {
    /// After a full handshake.
    pub new_session: u8,
    /// After a resumption.
    pub resumption: u8,
}

/// The connections of one version and kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// What was asked for.
    pub asked: Asked,
    /// What was observed.
    pub observed: Observed,
    /// How many samples were of the asked kind: those that `phases` cover.
    pub n: u64,
    /// How many connections did not complete.
    pub failed: u64,
    /// Statistics by phase, over the samples of the asked kind.
    pub phases: BTreeMap<Phase, Statistics>,
    /// Bytes per connection, those before TLS included and the headers of TCP and IP not; null under n = 1.
    pub bytes: Option<Traffic>,
    /// Median of the round trips until application data could first be sent, those of a proxy and of STARTTLS included;
    /// null under n = 1.
    pub round_trips: Option<u64>,
    /// One more request on the same connection; null where connections were closed after the first.
    pub next_request: Option<NextRequestStatistics>,
    /// Responses by HTTP status.
    pub http_status: BTreeMap<u16, u64>,
    /// Processor time of the client for one connection, the mean of the samples of the asked kind; absent where the system does not tell, and
    /// where n = 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_cpu_ns: Option<ClientCpu>,
}

impl Run {
    /// How many connections were made for it, failed ones included. A file may claim any counts.
    pub fn made(&self) -> u64 {
        self.observed.kinds.total().saturating_add(self.failed)
    }
}

/// What was observed in a run. The single values are those of its first sample of the asked kind, or else of its first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Observed {
    /// `TLS 1.2` or `TLS 1.3`.
    pub version: Option<String>,
    /// The cipher suite.
    pub cipher: Option<String>,
    /// The group of the key exchange.
    pub group: Option<String>,
    /// The scheme in which the server signed.
    pub signature: Option<String>,
    /// The public key of the server's certificate.
    pub peer_key: Option<String>,
    /// Bytes of the server's certificates, DER, together; absent where none was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_bytes: Option<u32>,
    /// How many there are; absent where none was sent or looked at, and in results of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificates: Option<u8>,
    /// How their message was compressed (RFC 8879); absent where it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_compression: Option<CertificateCompressionRecord>,
    /// How a TLS 1.3 PSK was used.
    pub psk_mode: Option<PskMode>,
    /// The protocol that ALPN chose.
    pub alpn: Option<String>,
    /// How many samples of each kind.
    pub kinds: KindCounts,
    /// How many connections asked for a client certificate.
    pub client_certificate_requested: u64,
    /// On how many connections one was sent.
    pub client_certificate_sent: u64,
    /// On how many connections the server gave a ticket.
    pub tickets_given: u64,
    /// How many tickets the server gave in all.
    #[serde(default)]
    pub tickets_received: u64,
    /// How many tickets the server said it would give on the first of these connections (RFC 9149); null where it did not say.
    #[serde(default)]
    pub tickets_promised: Option<u8>,
    /// The shortest and the longest lifetime that the tickets state, in seconds (of TLS 1.2 a hint, and 0 says nothing); absent where none came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket_lifetime_s: Option<[u32; 2]>,
    /// TLS 1.2: on how many connections the server gave a session ID that a later one may offer.
    pub session_ids_given: u64,
    /// On how many connections the client offered a session, whatever became of it.
    pub sessions_offered: u64,
    /// On how many connections the server gave a ticket that allows early data.
    #[serde(default)]
    pub early_data_allowed: u64,
    /// The most bytes of early data that such a ticket allowed; null where none did.
    #[serde(default)]
    pub max_early_data: Option<u32>,
    /// On how many connections the request was sent as early data, whatever became of it.
    #[serde(default)]
    pub early_data_sent: u64,
    /// On how many of them the server accepted it.
    #[serde(default)]
    pub early_data_accepted: u64,
    /// On how many connections a HelloRetryRequest cost another round trip. It rejects early data, too (RFC 9846 §4.3.10).
    #[serde(default)]
    pub hello_retry_requests: u64,
}

/// A Certificate message that was compressed (RFC 8879).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CertificateCompressionRecord {
    /// `zlib`, `brotli` or `zstd`.
    pub algorithm: String,
    /// Bytes of it on the wire.
    pub bytes: u32,
    /// Bytes of the message that it stands for.
    pub uncompressed_bytes: u32,
}

/// Bytes per connection, medians.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Traffic {
    /// By the client.
    pub sent: Bytes,
    /// From the server.
    pub received: Bytes,
    /// By the client before the server has said anything of TLS: the ClientHello, and early data; absent in results of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_flight: Option<Bytes>,
}

/// The spread of one more request on a connection that was kept alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NextRequestStatistics {
    /// How many.
    pub n: u64,
    /// Request sent to the first byte of the response.
    pub wait: Statistics,
    /// First byte of the response to the last.
    pub receive: Statistics,
}

/// How two kinds compare in one phase: median(from) / median(to). Above 1 means that `to` is faster.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ratio {
    /// The phase.
    pub phase: Phase,
    /// The version.
    pub tls: Version,
    /// The kind in the numerator.
    pub from: Kind,
    /// The kind in the denominator.
    pub to: Kind,
    /// The ratio.
    pub median: f64,
    /// Its interval, from the same interleaved samples; null under six of them.
    pub ci95: Option<[f64; 2]>,
    /// median(from) − median(to): what a connection of kind `to` saves, negative where it costs more.
    pub saved_ns: i64,
}

/// Every connection that was made, by observed kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AllConnections {
    /// See [`Kind::Full`].
    pub full: u64,
    /// See [`Kind::Id`].
    pub id: u64,
    /// See [`Kind::Ticket`].
    pub ticket: u64,
    /// See [`Kind::Psk`].
    pub psk: u64,
    /// See [`Kind::Early`].
    pub early: u64,
    /// Connections that did not complete.
    pub failed: u64,
}

impl AllConnections {
    /// How many there were, failed ones included.
    pub fn total(self) -> u64 {
        [self.full, self.id, self.ticket, self.psk, self.early, self.failed].into_iter().fold(0, u64::saturating_add)
    }

    /// Counts one more connection of this kind.
    pub fn add(&mut self, kind: Kind) {
        match kind {
            Kind::Full => self.full += 1,
            Kind::Id => self.id += 1,
            Kind::Ticket => self.ticket += 1,
            Kind::Psk => self.psk += 1,
            Kind::Early => self.early += 1,
        }
    }
}

/// One counted connection in a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampleRecord {
    /// The client's port, by which the server's own account can be joined.
    pub local_port: u16,
    /// What was asked for.
    pub asked: Asked,
    /// What was observed.
    pub kind: Kind,
    /// Nanoseconds by phase.
    pub phases: Phases,
    /// Its place among all connections of the measurement, discovery and priming included, in the order in which they were
    /// begun.
    #[serde(default)]
    pub index: Option<u32>,
    /// When it was begun, in nanoseconds since the measurement was.
    #[serde(default)]
    pub start_ns: Option<u64>,
    /// Where TCP connected to: the target's address, or its proxy's.
    #[serde(default)]
    pub address: Option<String>,
    /// The session that it offered; null where it offered none.
    #[serde(default)]
    pub offered: Option<OfferedRecord>,
    /// The status of the response; null where the service is not HTTP.
    #[serde(default)]
    pub http_status: Option<u16>,
    /// The HelloRetryRequest that cost it another round trip; absent where none came, and in results of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hello_retry: Option<HelloRetryRecord>,
}

/// A session that a connection offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OfferedRecord {
    /// How old it was.
    pub age_ns: u64,
    /// How many connections were begun since the one that issued it, this one included; null where another process's did.
    pub distance: Option<u32>,
    /// The `index` of the connection that issued it; null where another process's did, and for an external PSK.
    pub origin: Option<u32>,
    /// The first 16 bytes of the ticket, hexadecimal, in which many servers name the key; null where no ticket was offered.
    pub key_name: Option<String>,
}
