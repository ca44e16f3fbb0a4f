//! What is other than in an earlier result of the same target.

use serde::{Deserialize, Serialize};

use super::{Provenance, Statistics};
use crate::{Kind, Phase, Version};

/// A result against one or several earlier ones. They were measured one after the other and not in turns: what drifted between
/// them, the machine or the network, is part of what changed. What moved beside the handshake tells how much.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// The file that the earlier result was read from; of several the last one, which `differences` are against.
    pub file: String,
    /// All files; absent where there is only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Where the earlier result comes from; null where it has no result of this label.
    pub provenance: Option<Provenance>,
    /// What it comes to; absent in results of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<BaselineVerdict>,
    /// What knows nothing of TLS, and how it changed.
    #[serde(default)]
    pub controls: Vec<ControlChange>,
    /// Every phase of every version and kind that both have.
    pub phases: Vec<PhaseChange>,
    /// Every ratio that both have.
    pub ratios: Vec<RatioChange>,
    /// The server's processor time for a connection; absent where a result has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpu: Option<CpuChange>,
    /// What is of another kind, name or number: these have no interval.
    pub differences: Vec<Difference>,
    /// Why the two may not be comparable.
    pub warnings: Vec<String>,
}

/// One phase, before and after.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhaseChange {
    /// The version.
    pub tls: Version,
    /// The kind.
    pub kind: Kind,
    /// The phase.
    pub phase: Phase,
    /// In the earlier result.
    pub before: Statistics,
    /// How many samples that was.
    pub n_before: u64,
    /// In this one.
    pub after: Statistics,
    /// How many samples this is.
    pub n_after: u64,
    /// median(after) / median(before): above 1 means slower. Null where the earlier median is 0.
    pub ratio: Option<f64>,
    /// Its interval, 95 %, which covers what two runs of the same differ by; null under six samples on either side.
    pub ci95: Option<[f64; 2]>,
    /// What that comes to.
    pub change: Change,
    /// What is left of it when the controls have taken off what they moved by; null for phases before TLS, and where there is
    /// no control.
    #[serde(default)]
    pub own: Option<OwnChange>,
}

impl PhaseChange {
    /// The ratio that a gate looks at: what is left, where that is known.
    pub fn judged(&self) -> (Option<f64>, Option<[f64; 2]>, Change) {
        match self.own {
            Some(own) => (Some(own.ratio), own.ci95, Change::of(own.ci95)),
            None => (self.ratio, self.ci95, self.change),
        }
    }
}

/// The server's processor time for a connection, before and after. Waiting is no part of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuChange {
    /// In the earlier result; of several, the geometric mean.
    pub before_ns: u64,
    /// In this one.
    pub after_ns: u64,
    /// after / before: above 1 means that it costs more.
    pub ratio: f64,
    /// Its interval, 95 %, from what the earlier results differ by; null with fewer than two.
    pub ci95: Option<[f64; 2]>,
}

/// What is left of a change when the controls have taken off what they moved by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OwnChange {
    /// As the change beside it, each sample over the calibration's nearest, as far as the samples go along with it; and over the
    /// change of connecting, where that changed beyond its interval.
    pub ratio: f64,
    /// Its interval, 95 %, which holds the uncertainty of the control too; null where a part of it has none.
    pub ci95: Option<[f64; 2]>,
    /// What the change is put down to.
    pub cause: ChangeCause,
}

named! {
    /// What a change is put down to.
    pub enum ChangeCause {
        /// There is nothing to be put down: no change beyond the interval.
        None = "none",
        /// TLS itself, at the server or in what was negotiated: more changed than the controls did.
        Tls = "tls",
        /// The machine that measures: its calibration changed as much.
        Machine = "machine",
        /// The way to the target: connecting changed as much, and the machine's calibration did not.
        Network = "network",
        /// One of the two: connecting changed as much, and there is no calibration that would tell them apart.
        MachineOrNetwork = "machine_or_network",
        /// It cannot be told: there is no interval.
        Unknown = "unknown",
    }
}

/// What all changes of `tls` come to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BaselineVerdict {
    /// What they are put down to: TLS where any of them is by more than chance makes of as many.
    pub cause: ChangeCause,
    /// The same in one sentence.
    pub text: String,
}

/// A control, before and after.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ControlChange {
    /// Which.
    pub control: Control,
    /// Its median in the earlier result; of several, the geometric mean.
    pub before_ns: u64,
    /// Its median in this one.
    pub after_ns: u64,
    /// after / before: above 1 means slower.
    pub ratio: f64,
    /// Its interval, 95 %; null where it has none.
    pub ci95: Option<[f64; 2]>,
    /// What that comes to.
    pub change: Change,
}

named! {
    /// What is measured beside the handshakes and knows nothing of them.
    pub enum Control {
        /// Connecting to the target, over all versions and kinds.
        Connect = "connect",
        /// The handshake with a server inside the measuring process: see the `calibration` of a result.
        Calibration = "calibration",
    }
}

/// What a kind of resumption saves, before and after.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RatioChange {
    /// The version.
    pub tls: Version,
    /// The kind whose ratio to a full handshake it is.
    pub kind: Kind,
    /// The phase.
    pub phase: Phase,
    /// The ratio in the earlier result.
    pub before: f64,
    /// The ratio in this one.
    pub after: f64,
    /// after / before: above 1 means that resuming saves more. Null where that is no number.
    pub ratio: Option<f64>,
    /// Its interval, 95 %, from the intervals of both; null where either is.
    pub ci95: Option<[f64; 2]>,
    /// What that comes to: `slower` means that resuming saves less.
    pub change: Change,
}

named! {
    /// Whether a figure changed beyond its interval.
    pub enum Change {
        /// Worse: the whole interval lies on that side.
        Slower = "slower",
        /// Better: the whole interval lies on that side.
        Faster = "faster",
        /// The interval covers no change at all.
        None = "none",
        /// There is no interval.
        Unknown = "unknown",
    }
}

impl Change {
    /// Of a ratio that is above 1 where it is slower.
    pub fn of(ci95: Option<[f64; 2]>) -> Self {
        match ci95 {
            Some([low, _]) if low > 1.0 => Self::Slower,
            Some([_, high]) if high < 1.0 => Self::Faster,
            Some(_) => Self::None,
            None => Self::Unknown,
        }
    }

    /// The same of a ratio that is above 1 where it is faster.
    pub fn reversed(self) -> Self {
        match self {
            Self::Slower => Self::Faster,
            Self::Faster => Self::Slower,
            same => same,
        }
    }
}

/// One thing that is different, and that has no interval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// The version; null where it concerns all.
    pub tls: Option<Version>,
    /// The kind; null where it concerns all of a version.
    pub kind: Option<Kind>,
    /// A fixed name: `measured`, `kinds`, `failed`, `version`, `cipher`, `group`, `signature`, `peer_key`, `psk_mode`, `alpn`,
    /// `sent`, `received`, `round_trips`, `client_certificate`.
    pub what: String,
    /// In the earlier result; null where it was not known.
    pub before: Option<String>,
    /// In this one; null where it is not known.
    pub after: Option<String>,
}
