//! Loads of several shares of resumed connections, what a connection costs the server, and what capacity follows from it.

use serde::{Deserialize, Serialize};

use super::Verdict;

/// Loads that differ in the share of connections that offer a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadSweep {
    /// One load each, in ascending order of the share; they were made in a random order.
    pub shares: Vec<LoadShare>,
    /// How many processors the server could use at once: those that its busy processes and threads may run on, or its CPU limit; null
    /// where the server was not named.
    pub server_processors: Option<f64>,
    /// What a connection costs the server, by a straight line through the shares; null where the server was not named, or the shares that
    /// resumed do not differ.
    pub costs: Option<LoadCosts>,
}

/// One load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadShare {
    /// The share of the connections that were to offer a session, 0 to 1.
    pub asked: f64,
    /// The share of the completed connections that resumed one; null where none completed.
    pub resumed: Option<f64>,
    /// Connections that completed, those of the warm-up and the late ones included, as in `resumed` and `server_cpu_ns`.
    pub connections: u64,
    /// Connections that failed, those of the warm-up included.
    pub failed: u64,
    /// Connections that completed each second of the time that counts.
    pub rate: f64,
    /// The server's processor time for each connection that completed; null where the server was not named or none completed.
    pub server_cpu_ns: Option<u64>,
    /// Who was the bottleneck: unless it was the server, it could do more than `rate`.
    pub bottleneck: Verdict,
}

/// The server's processor time for a connection, with the 95 % interval, which two shares do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadCosts {
    /// With a full handshake.
    pub full_ns: u64,
    /// Its interval.
    pub full_ci95_ns: Option<[u64; 2]>,
    /// With a resumed session.
    pub resumed_ns: u64,
    /// Its interval.
    pub resumed_ci95_ns: Option<[u64; 2]>,
}

/// What processors a server needs, and how long it takes after a restart that loses all sessions until clients resume again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadPlan {
    /// Connections each second.
    pub rate: f64,
    /// The share that resumes, 0 to 1.
    pub share: f64,
    /// Whether that is the measured share of the load in which the most connections offered a session.
    pub share_is_measured: bool,
    /// Processors that the rate needs at that share.
    pub processors: f64,
    /// The 95 % interval.
    pub processors_ci95: Option<[f64; 2]>,
    /// Processors that it needs when all handshakes are full.
    pub restart_processors: f64,
    /// The 95 % interval.
    pub restart_processors_ci95: Option<[f64; 2]>,
    /// Processors that the server has.
    pub server_processors: f64,
    /// Whether they were given, and are not those that the measured server could use.
    pub server_processors_are_given: bool,
    /// The time between two connections of one client; null where it was not given.
    pub gap_ns: Option<u64>,
    /// How many clients make the rate; null without the gap.
    pub clients: Option<u64>,
    /// How long after the restart clients resume as before and nothing waits any more; null without the gap, and where the server does
    /// not have the processors for the rate even then.
    pub recovery_ns: Option<u64>,
}
