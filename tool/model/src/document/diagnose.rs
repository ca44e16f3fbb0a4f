//! `reprise.diagnose/1`: whether targets resume, and if not, why.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{
    AnswerDifference, ConditionRecord, Confidence, Finding, Fleet, IsolationRecord, LikeRecord, Provenance, Severity,
};
use crate::{Asked, Failure};

/// What `diagnose TARGET…` and `diagnose --listen` print as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiagnoseDocument {
    /// `reprise.diagnose/1`.
    pub schema: String,
    /// One for each target, in the order in which they were named.
    pub targets: Vec<Diagnosis>,
    /// What the targets are together, with `--together`: then `targets` has only those that had to be asked alone. Absent without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<Fleet>,
    /// Sessions of one place that were offered at another (`--isolation`); absent where none was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub isolation: Vec<IsolationRecord>,
    /// What came of each `--fail-if`; absent where none was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<ConditionRecord>,
    /// Where this comes from.
    pub provenance: Provenance,
}

impl DiagnoseDocument {
    /// The name and version of this document's shape.
    pub const SCHEMA: &'static str = "reprise.diagnose/1";

    /// Of targets that were asked alone.
    pub fn of(targets: Vec<Diagnosis>, provenance: Provenance) -> Self {
        let schema = Self::SCHEMA.to_owned();
        Self { schema, targets, fleet: None, isolation: Vec::new(), conditions: Vec::new(), provenance }
    }
}

impl DiagnoseDocument {
    /// Every finding, each with what it is about.
    pub fn findings(&self) -> impl Iterator<Item = (&str, &Finding)> {
        let of_targets = self.targets.iter().flat_map(|it| it.findings.iter().map(|finding| (it.target.as_str(), finding)));
        let of_fleet = self.fleet.iter().flat_map(|fleet| fleet.findings.iter().map(|finding| (FLEET, finding)));
        of_fleet.chain(of_targets)
    }

    /// The fleet, told as one target, and the targets: for formats that know targets alone.
    pub fn subjects(&self) -> impl Iterator<Item = Cow<'_, Diagnosis>> {
        self.fleet.iter().map(|fleet| Cow::Owned(fleet.as_target())).chain(self.targets.iter().map(Cow::Borrowed))
    }
}

/// What findings about a fleet are about.
const FLEET: &str = "fleet";

impl Fleet {
    fn as_target(&self) -> Diagnosis {
        Diagnosis {
            target: FLEET.to_owned(),
            reached: self.nodes.iter().any(|node| node.reached),
            incomplete: self.incomplete,
            verdict: self.verdict.clone(),
            findings: self.findings.clone(),
            connections: self.connections,
            seconds: self.seconds,
            warnings: self.warnings.clone(),
            ..Diagnosis::default()
        }
    }
}

impl Diagnosis {
    /// Whether the target was not reached, or was gone before the end.
    pub fn has_failed(&self) -> bool {
        !self.reached || self.failure.is_some()
    }
}

impl Finding {
    /// Whether it is a fault, and the wire leaves no other reading.
    pub fn is_certain_fault(&self) -> bool {
        (self.severity, self.confidence) == (Severity::Fault, Confidence::Certain)
    }

    /// Whether it makes a diagnosis a bad answer: experiments have ruled out other readings, so that likely is enough.
    pub fn fails_a_diagnosis(&self) -> bool {
        self.severity == Severity::Fault && self.confidence != Confidence::Possible
    }
}

/// What was found out about one server, or about the clients of one program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Diagnosis {
    /// The server as it was named; for a client the program, or the address that it was awaited at.
    pub target: String,
    /// Which side is judged.
    pub subject: Subject,
    /// The address that answered; null where none did.
    pub address: Option<String>,
    /// Further addresses that the name has, of which none was asked; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_addresses: Vec<String>,
    /// The software that it reveals or that was named; null where neither.
    pub software: Option<String>,
    /// The client in whose form each connection offered (`--like`); absent where it was Reprise's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<LikeRecord>,
    /// Whether each connection sends an encrypted_client_hello that holds nothing (`--ech-grease`); absent where only experiments do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ech_grease: bool,
    /// Whether a handshake completed: without one nothing is known.
    pub reached: bool,
    /// Why not, or what ended the diagnosis before its time; null where nothing did.
    pub failure: Option<Failure>,
    /// Whether it ended before everything was tried: by Ctrl-C, by the target's death or by a limit.
    #[serde(default)]
    pub incomplete: bool,
    /// One sentence.
    pub verdict: String,
    /// The kinds that the application answers otherwise than full handshakes; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers_differ: Vec<AnswerDifference>,
    /// What was found, the worst first.
    pub findings: Vec<Finding>,
    /// What was tried, in the order of time.
    pub experiments: Vec<ExperimentRecord>,
    /// Connections that were made, or that came.
    pub connections: u32,
    /// How long it took.
    pub seconds: f64,
    /// The nodes behind this one address, where what was seen shows that there are several; absent where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<BalancedNodes>,
    /// What each mechanism came to.
    pub matrix: Vec<MechanismRecord>,
    /// By what a client's ClientHellos are known, one for each stable form, in the order in which they came; absent of a server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fingerprints: Vec<FingerprintRecord>,
    /// What connections cost, new and resumed, in sentences.
    pub figures: Vec<String>,
    /// What the reader should know before believing it: what was not tried, and why.
    pub warnings: Vec<String>,
}

/// Several nodes behind one address, as far as they can be told apart: those that share their sessions look like one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BalancedNodes {
    /// At least so many (97.5 %).
    pub low: u32,
    /// The likeliest number.
    pub likely: u32,
    /// How probable that number is, in percent; absent in results of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub likely_percent: Option<u32>,
    /// At most so many (97.5 %); null where it may be more than are told apart.
    pub high: Option<u32>,
    /// How the balancer chooses; null where that is open.
    pub policy: Option<BalancingPolicy>,
}

named! {
    /// How a balancer chooses the node of a connection.
    pub enum BalancingPolicy {
        /// One after the other.
        InTurn = "in-turn",
        /// Each as often, whatever came before.
        Random = "random",
        /// Some more often than others, in turn or at random.
        Weighted = "weighted",
        /// At random, and then the same again for a while.
        Sticky = "sticky",
    }
}

named! {
    /// Which side of a connection is judged.
    #[derive(Default)]
    pub enum Subject {
        /// A server.
        #[default]
        Server = "server",
        /// A client program.
        Client = "client",
    }
}

/// One experiment and what it came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExperimentRecord {
    /// A fixed slug, `second-use`.
    pub name: String,
    /// What it varies, for people.
    pub varies: String,
    /// The version and the mechanism that it was made under; null where it belongs to none.
    pub asked: Option<Asked>,
    /// How often it was made again, since a difference that is seen once may be chance.
    #[serde(default)]
    pub repeats: u32,
    /// How many connections it made, those of the repeats too.
    pub connections: u32,
    /// How many of them offered a session.
    pub offered: u32,
    /// How many of those resumed.
    pub resumed: u32,
    /// How many connections failed.
    pub failed: u32,
    /// The causes that it tells apart: slugs.
    pub separates: Vec<String>,
    /// What it came to, in one sentence.
    pub outcome: String,
}

/// The ClientHellos of one stable form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FingerprintRecord {
    /// JA4 without the extensions that come and go with a session, a retry or the length, and without their count.
    pub stable: String,
    /// JA4 of those that offered no session.
    pub ja4_without_session: Vec<String>,
    /// JA4 of those that offered one.
    pub ja4_with_session: Vec<String>,
    /// How many there were.
    pub connections: u32,
}

/// One version and mechanism, over all experiments that vary nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MechanismRecord {
    /// The version and the mechanism.
    pub asked: Asked,
    /// Whether the server gave anything to resume by it.
    pub given: bool,
    /// The shortest and the longest lifetime that its tickets state, in seconds (of TLS 1.2 a hint, and 0 says nothing); null where none came.
    #[serde(default)]
    pub lifetime_s: Option<[u32; 2]>,
    /// Connections that offered it, nothing else being changed.
    pub offered: u32,
    /// How many of them resumed.
    pub resumed: u32,
}
