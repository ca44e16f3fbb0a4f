//! `reprise.load/1`: what a server holds, and who was the bottleneck.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    AnswerDifference, Bottleneck, ConditionRecord, LoadLatency, LoadPlan, LoadStage, LoadSweep, Provenance, Target,
};
use crate::{ClientCpu, Kind, Phase, Version};

/// What `load TARGET` prints as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadDocument {
    /// `reprise.load/1`.
    pub schema: String,
    /// Where the load went.
    pub target: Target,
    /// What was asked for.
    pub asked: LoadAsked,
    /// The time that counts: without the warm-up, and without what the last connections took after the end. Where the target died, up
    /// to the last connection that completed.
    pub seconds: f64,
    /// When that time was, by the clock of the generator's machine; null in results of versions that did not say so.
    #[serde(default)]
    pub window: Option<LoadWindow>,
    /// Connections that began and completed within the time that counts, by the kind that was observed.
    pub completed: BTreeMap<Kind, u64>,
    /// Connections that began within that time and completed after it: the rate does not count them, the latencies do, since
    /// without the slowest the others would look better than they were.
    #[serde(default)]
    pub late: u64,
    /// In an open loop, connections that were due within that time and never began, because every place was taken: no errors, since
    /// nothing was sent.
    #[serde(default)]
    pub not_started: u64,
    /// Connections that began within that time and failed, by name.
    pub errors: BTreeMap<String, u64>,
    /// For those names that leave open what was wrong, what the first of them said: the verifier's words for a certificate.
    #[serde(default)]
    pub error_reasons: BTreeMap<String, String>,
    /// Of the connections that began in the warm-up, those that completed, before its end or after. They are in no other figure
    /// but the processor times.
    pub warmup_completed: u64,
    /// And those that did not, by name.
    #[serde(default)]
    pub warmup_errors: BTreeMap<String, u64>,
    /// Those that were due in the warm-up and had never begun when the load ended.
    #[serde(default)]
    pub warmup_not_started: u64,
    /// Of the full handshakes, those that were made because there was no session to offer yet.
    pub primed: u64,
    /// Sessions that were offered and not accepted.
    pub refused: u64,
    /// Connections that offered a session and failed; they are among the errors.
    #[serde(default)]
    pub failed_offers: u64,
    /// The group whose key share the server wanted, by a HelloRetryRequest, instead of the first that was offered; null where
    /// it wanted none. Where there are several, that of the first name.
    #[serde(default)]
    pub wanted_group: Option<String>,
    /// The same by the name that was sent, which is empty where none was: other servers may stand behind other names.
    #[serde(default)]
    pub wanted_groups: BTreeMap<String, String>,
    /// Connections that completed, late or in the warm-up too, after a HelloRetryRequest. Without `asked.verify` a retry ends the connection and is
    /// an error, and the next connections share the wanted group at once.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hello_retries: u64,
    /// Responses by HTTP status: all those of the connections that completed, the late ones included.
    pub http_status: BTreeMap<u16, u64>,
    /// The kinds that the application answers otherwise than full handshakes; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers_differ: Vec<AnswerDifference>,
    /// Completed connections by the protocol that ALPN chose, the late ones included; `none` where the server chose none. Empty
    /// where none was offered.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub alpn: BTreeMap<String, u64>,
    /// Completed connections each second.
    pub rate: LoadRate,
    /// The processor time that the generator used, over all of the run; of several generators, the sum.
    pub client_cpu_ns: ClientCpu,
    /// The processor time that the server used, summed over its processes; null where the server was not named.
    pub server_cpu_ns: Option<u64>,
    /// Latencies by kind and phase, those of the late connections included. `receive` and `wait` are those of a connection's
    /// first request. In a closed loop they are those of the queue: connections at once by connections a second, whatever the kind.
    pub latency_ns: BTreeMap<Kind, BTreeMap<Phase, LoadLatency>>,
    /// In an open loop: from the time at which a connection was to begin until it was done, whatever held it up. `total`
    /// counts from when it did begin.
    pub latency_from_intended_ns: BTreeMap<Kind, LoadLatency>,
    /// The histograms that the latencies come from.
    pub histograms: Vec<LoadHistogram>,
    /// Who was the bottleneck.
    pub bottleneck: Bottleneck,
    /// What connections negotiated, by kind: the first of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handshakes: Vec<LoadHandshake>,
    /// Things the reader should know before believing the figures.
    pub warnings: Vec<String>,
    /// The search for the highest rate, where one was made; the rest of the document is of the highest that held.
    pub steps: Vec<LoadStep>,
    /// The stages of a rate that changes; absent where it does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<LoadStage>,
    /// Loads of several shares of resumed connections; absent where there was one load. The rest of the document is of the highest share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<LoadSweep>,
    /// The capacity that a rate needs; absent where none was asked for, or the sweep does not say what connections cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<LoadPlan>,
    /// What came of each `--fail-if`; absent where none was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ConditionRecord>,
    /// Whether Ctrl-C cut it short.
    pub interrupted: bool,
    /// How many generators this is the result of.
    pub generators: u64,
    /// Where this comes from.
    pub provenance: Provenance,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What a connection of a load negotiated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadHandshake {
    /// The version.
    pub tls: Version,
    /// The kind.
    pub kind: Kind,
    /// The suite.
    pub cipher: String,
    /// The group; null where there was no key exchange with one.
    pub group: Option<String>,
    /// The key of the server's certificate; null where it sent none, and where certificates were not looked at, as without `--verify`.
    pub peer_key: Option<String>,
    /// Whether the client sent a certificate.
    pub client_certificate: bool,
}

impl LoadDocument {
    /// The name and version of this document's shape.
    pub const SCHEMA: &'static str = "reprise.load/1";

    /// Fills in a latency; of no phase, that from the intended start.
    pub fn set_latency(&mut self, kind: Kind, phase: Option<Phase>, latency: LoadLatency) {
        match phase {
            Some(phase) => drop(self.latency_ns.entry(kind).or_default().insert(phase, latency)),
            None => drop(self.latency_from_intended_ns.insert(kind, latency)),
        }
    }

    /// All that completed in time.
    pub fn total_completed(&self) -> u64 {
        saturating_sum(&self.completed)
    }

    /// Whether anything completed, in time or not.
    pub fn has_any(&self) -> bool {
        self.completed_at_any_time() > 0
    }

    /// All that completed, in time or not.
    pub fn completed_at_any_time(&self) -> u64 {
        self.total_completed().saturating_add(self.late).saturating_add(self.warmup_completed)
    }

    /// All that failed.
    pub fn total_errors(&self) -> u64 {
        saturating_sum(&self.errors)
    }

    /// All that began in the warm-up and failed.
    pub fn total_warmup_errors(&self) -> u64 {
        saturating_sum(&self.warmup_errors)
    }
}

/// A file may claim any counts: their sum has an end.
fn saturating_sum<K>(counts: &BTreeMap<K, u64>) -> u64 {
    counts.values().copied().fold(0, u64::saturating_add)
}

/// When a load was, in nanoseconds since 1970 (UTC).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadWindow {
    /// The end of the warm-up.
    pub from_unix_ns: u64,
    /// The end of the time that counts.
    pub to_unix_ns: u64,
}

impl LoadWindow {
    /// The share of the longer of two windows that both have in common, 0 to 1.
    pub fn overlap(self, other: Self) -> f64 {
        let length = |from: u64, to: u64| to.saturating_sub(from);
        let common = length(self.from_unix_ns.max(other.from_unix_ns), self.to_unix_ns.min(other.to_unix_ns));
        let longer = length(self.from_unix_ns, self.to_unix_ns).max(length(other.from_unix_ns, other.to_unix_ns));
        common as f64 / longer.max(1) as f64
    }

    /// From the first beginning to the last end.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        Self { from_unix_ns: self.from_unix_ns.min(other.from_unix_ns), to_unix_ns: self.to_unix_ns.max(other.to_unix_ns) }
    }
}

/// The shape of a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadAsked {
    /// `1.2` or `1.3`.
    pub tls: crate::Version,
    /// The groups that were offered, by IANA's names, in order of preference.
    #[serde(default)]
    pub groups: Vec<String>,
    /// The cipher suites, likewise.
    #[serde(default)]
    pub cipher_suites: Vec<String>,
    /// The kinds by weight.
    pub mix: BTreeMap<Kind, u32>,
    /// Connections at once: as many as the descriptor limit has room for; null in an open loop.
    pub connections: Option<u64>,
    /// Connections each second, of several stages on average; null in a closed loop.
    pub rate: Option<f64>,
    /// Requests on each connection.
    pub requests: u32,
    /// Threads of the generator.
    pub threads: u64,
    /// `unit`, `reused` or `fresh`.
    pub key_shares: String,
    /// `rst`, `fin` or `notify`.
    pub close: String,
    /// Whether certificates were verified.
    pub verify: bool,
    /// What a rate had to hold, where the highest was searched for.
    #[serde(default)]
    pub step: Option<LoadStepTarget>,
    /// How long the load was to last, the warm-up not included; null where `count` ends it, and here and below in results of
    /// versions that did not say so.
    #[serde(default)]
    pub duration_ns: Option<u64>,
    /// After how many connections it was to end; null where `duration_ns` ends it.
    #[serde(default)]
    pub count: Option<u64>,
    /// What began in this time is not counted.
    #[serde(default)]
    pub warmup_ns: Option<u64>,
    /// Over how long the load grew to its full size.
    #[serde(default)]
    pub ramp_ns: Option<u64>,
    /// How the connections of an open loop were spread, `constant` or `poisson`; null in a closed loop.
    #[serde(default)]
    pub spread: Option<String>,
    /// How many connections an open loop may have at once; null in a closed loop.
    #[serde(default)]
    pub most_connections: Option<u64>,
    /// What the arrivals of a Poisson process came from.
    #[serde(default)]
    pub seed: Option<u64>,
    /// How many sessions were held for resumption.
    #[serde(default)]
    pub sessions: Option<u64>,
    /// Whether TLS 1.3 tickets were used more than once.
    #[serde(default)]
    pub reuse_tickets: Option<bool>,
    /// How long one connection was given.
    #[serde(default)]
    pub timeout_ns: Option<u64>,
    /// The names that were sent, by weight; an empty one for none.
    #[serde(default)]
    pub server_names: BTreeMap<String, u32>,
    /// The protocols that were offered by ALPN, in order of preference.
    #[serde(default)]
    pub alpn: Vec<String>,
    /// The method of the requests; null where none was made.
    #[serde(default)]
    pub method: Option<String>,
}

/// What a rate is to hold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadStepTarget {
    /// Which quantile of the latency from the intended start, 0 to 1.
    pub quantile: f64,
    /// What it must not exceed.
    pub latency_ns: u64,
}

/// Completed connections each second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadRate {
    /// Over all of the time that counts.
    pub mean: f64,
    /// The same by kind.
    #[serde(default)]
    pub mean_by_kind: BTreeMap<Kind, f64>,
    /// The same second by second; the last may be a part of one.
    pub per_second: Vec<u64>,
    /// The same by kind.
    pub per_second_by_kind: BTreeMap<Kind, Vec<u64>>,
    /// The latency `total` of what completed in each second, by kind and true to two digits; null for a second in which nothing did.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub latency_per_second: BTreeMap<Kind, Vec<Option<LoadLatency>>>,
}

/// A histogram that can be merged with others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadHistogram {
    /// Of which kind.
    pub kind: Kind,
    /// Of which phase; null for the latency from the intended start.
    pub phase: Option<Phase>,
    /// HdrHistogram's V2 format, compressed, in base64; values in nanoseconds.
    pub hdr_v2: String,
}

/// One rate of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadStep {
    /// Connections each second that were asked for.
    pub rate: f64,
    /// That completed each second.
    pub held: f64,
    /// The latency that was held against the target: the quantile of `asked.step`.
    pub latency_ns: u64,
    /// On how many connections it is judged.
    #[serde(default)]
    pub samples: u64,
    /// Connections that failed.
    pub errors: u64,
    /// Connections that were due and found no place.
    #[serde(default)]
    pub not_started: u64,
    /// Whether it held.
    pub passed: bool,
}
