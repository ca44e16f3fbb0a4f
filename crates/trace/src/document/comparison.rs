//! What is other than in an earlier result of the same target.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Provenance, Statistics};
use crate::{Kind, Phase, Version};

/// A result against an earlier one. The two were measured one after the other and not in turns: what drifted between them,
/// the machine or the network, is part of what changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The file that the earlier result was read from.
    pub file: String,
    /// Where the earlier result comes from; null where it has no result of this label.
    pub provenance: Option<Provenance>,
    /// Every phase of every version and kind that both have.
    pub phases: Vec<PhaseChange>,
    /// Every ratio that both have.
    pub ratios: Vec<RatioChange>,
    /// What is of another kind, name or number: these have no interval.
    pub differences: Vec<Difference>,
    /// Why the two may not be comparable.
    pub warnings: Vec<String>,
}

/// One phase, before and after.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Its interval, 95 %, of two sets of samples that are independent; null under six samples on either side.
    pub ci95: Option<[f64; 2]>,
    /// What that comes to.
    pub change: Change,
}

/// What a kind of resumption saves, before and after.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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

/// Whether a figure changed beyond its interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Worse: the whole interval lies on that side.
    Slower,
    /// Better: the whole interval lies on that side.
    Faster,
    /// The interval covers no change at all.
    None,
    /// There is no interval.
    Unknown,
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

/// One thing that is not as it was, and that has no interval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
