//! A model of what stands at the other end.

use crate::breaking::Breaking;
use crate::cause::{Causes, JudgedCause};
use crate::memory::Memory;
use crate::route::Route;

/// A model of what stands at the other end. It predicts the outcome of every attempt.
#[derive(Clone, Debug)]
pub(crate) struct Hypothesis {
    /// What it says is wrong.
    pub(crate) causes: Causes,
    /// How probable it is before anything is seen.
    pub(crate) prior: f64,
    /// What each node remembers.
    pub(crate) memory: Memory,
    /// Whether each connection gets a key of its own.
    pub(crate) has_fresh_keys: bool,
    /// Which connections fail since they offer a session.
    pub(crate) breaking: Option<Breaking>,
    /// How many connections it takes.
    pub(crate) limit: Option<RateLimit>,
    /// The way to a node; `None` where there is one.
    pub(crate) route: Option<Route>,
}

/// A bucket of tokens: a connection takes one, and fails where there is none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateLimit {
    pub(crate) burst: f64,
    pub(crate) a_second: f64,
}

impl Hypothesis {
    /// One node that remembers every session, but for what these causes say, which the caller adds.
    pub(crate) fn of(causes: &[JudgedCause]) -> Self {
        Self {
            causes: Causes::of(causes),
            prior: 0.0,
            memory: Memory::PERFECT,
            has_fresh_keys: false,
            breaking: None,
            limit: None,
            route: None,
        }
    }

    pub(crate) fn remembering(self, memory: Memory) -> Self {
        Self { memory, ..self }
    }

    pub(crate) fn breaking(self, breaking: Breaking) -> Self {
        Self { breaking: Some(breaking), ..self }
    }

    pub(crate) fn over(self, route: &Route) -> Self {
        Self { route: Some(route.clone()), ..self }
    }
}
