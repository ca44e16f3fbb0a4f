//! What a simulated server is.

/// What a server is, and what is right to say of it.
pub(crate) struct Spec {
    /// The node behind each position of the balancer.
    pub(crate) positions: Vec<usize>,
    pub(crate) choice: Choice,
    /// The position that answers nothing.
    pub(crate) dead: Option<usize>,
    /// The position whose node accepts nothing.
    pub(crate) off: Option<usize>,
    /// Connections of others in a second.
    pub(crate) others: f64,
    pub(crate) accepts: bool,
    pub(crate) lifetime: f64,
    pub(crate) counts_whole_seconds: bool,
    /// Sessions that a node keeps, in each of so many parts.
    pub(crate) capacity: Option<usize>,
    pub(crate) parts: usize,
    /// Sessions that a connection gives.
    pub(crate) tickets: usize,
    pub(crate) is_single_use: bool,
    pub(crate) least_age: f64,
    pub(crate) most_depth: usize,
    pub(crate) bound_to: Option<&'static str>,
    /// Each connection has a key of its own.
    pub(crate) has_fresh_keys: bool,
    /// When all keys are replaced.
    pub(crate) key_changes: Vec<f64>,
    /// How many connections may come at once, and how many more in a second.
    pub(crate) limit: Option<(f64, f64)>,
    /// Which connections fail since they offer a session.
    pub(crate) breaking: Option<Breaking>,
    /// How often a resumed connection is answered with an error.
    pub(crate) resumed_errors: f64,
    /// The position whose node answers with errors.
    pub(crate) ill: Option<usize>,
    /// What no hypothesis describes.
    pub(crate) oddity: Option<Oddity>,
    pub(crate) shows_key_names: bool,
    /// Seconds that a connection takes.
    pub(crate) pace: f64,
    /// How often a session is not accepted, or a connection fails, for no reason.
    pub(crate) noise: f64,
    /// Groups of findings that say the same: one of each group is right.
    pub(crate) right: Vec<&'static [&'static str]>,
    /// Whether 60 connections and 40 s can tell.
    pub(crate) is_decidable: bool,
}

/// Connections that fail since they offer a session.
#[derive(Clone, Copy)]
pub(crate) struct Breaking {
    /// Whether only those fail whose session would be accepted, once it was.
    pub(crate) after_acceptance: bool,
    /// How many of them do.
    pub(crate) share: f64,
    /// Whether the session decides.
    pub(crate) is_of_session: bool,
    /// The only position at which they do.
    pub(crate) position: Option<usize>,
}

/// How a balancer chooses.
pub(crate) enum Choice {
    InTurn { jumps: f64 },
    ByChance { weights: Vec<f64>, stays: f64 },
    BySource(usize),
    ByName,
}

/// A policy that no hypothesis describes.
#[derive(Clone, Copy)]
pub(crate) enum Oddity {
    EveryThirdOffer,
    ByTimeOfDay { period: f64 },
    WhereQuiet { most: usize },
    LessWithUse,
    ByLastOutcome,
}
