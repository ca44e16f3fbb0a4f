//! Offers sessions where they must not be accepted: at another name, port or address than their own, where their holder is
//! refused. What each holder may do at each place is found out by full handshakes first.

mod crossing;
mod seen;

use std::net::SocketAddr;
use std::sync::Arc;

use reprise_engine::ClientIdentity;
use reprise_model::{Asked, Nanos, Version};

use crate::diagnose::{DiagnoseLimits, EarlyEnd};
use crate::failed::FailedConnection;
pub use crossing::cross;
pub use seen::{CameTo, Entry, Seen, same_response};

/// Who is given sessions and offers them.
#[derive(Clone)]
pub struct Holder {
    /// The file of its certificate; `None` for a client without one.
    pub name: Option<String>,
    /// Its certificate and key.
    pub identity: Option<Arc<ClientIdentity>>,
}

/// What was seen of all places and holders. Places are the targets, by their place in the order in which they were named, and so
/// are holders.
#[derive(Default)]
pub struct Isolation {
    /// What was seen of each target alone.
    pub places: Vec<Place>,
    /// Full handshakes, by target, holder and version.
    pub full: Vec<FullRun>,
    /// Sessions that were offered elsewhere.
    pub offers: Vec<OfferRun>,
    /// What ended it before its time.
    pub ended_by: Option<EarlyEnd>,
    /// How long it took.
    pub took: Nanos,
    /// What it was allowed.
    pub limits: DiagnoseLimits,
}

/// One target.
#[derive(Default)]
pub struct Place {
    /// Its address, as far as this machine knows it.
    pub address: Option<SocketAddr>,
    /// What its responses say that it is.
    pub software: Option<String>,
    /// Connections that were begun to it.
    pub connections: u32,
    /// Why nothing is known of it.
    pub failed: Option<FailedConnection>,
}

/// Full handshakes of one holder at one target, under one version.
pub struct FullRun {
    /// The target.
    pub place: usize,
    /// The holder.
    pub holder: usize,
    /// The version.
    pub tls: Version,
    /// Each of them.
    pub seen: Vec<Seen>,
}

/// Sessions that a holder was given at one target and offered at another, by one mechanism.
#[derive(Clone)]
pub struct OfferRun {
    /// The target that gave them.
    pub from: usize,
    /// The target that they were offered to.
    pub to: usize,
    /// The holder.
    pub holder: usize,
    /// The version and the mechanism by which they were offered.
    pub asked: Asked,
    /// The version that they were given under.
    pub session_tls: Version,
    /// Each of the connections that offered one.
    pub seen: Vec<Seen>,
}

impl Isolation {
    /// The full handshakes of this holder at this target, under this version.
    pub fn full(&self, place: usize, holder: usize, tls: Version) -> Option<&FullRun> {
        self.full.iter().find(|run| (run.place, run.holder, run.tls) == (place, holder, tls))
    }

    /// Whether this target gives the holder of these sessions what only others with a certificate are given: not what the holder's own
    /// full handshakes come to, nor what a client without a certificate is given, the same each time. What differs from time to
    /// time is no witness.
    pub fn gives_what_is_anothers(&self, run: &OfferRun, holders: &[Holder]) -> bool {
        let (place, tls) = (run.to, run.asked.tls);
        let response = |holder| same_response(self.full(place, holder, tls).into_iter().flat_map(|run| &run.seen));
        let entered = run.seen.iter().filter(|seen| seen.is_resumed() && seen.came_to() == CameTo::LetIn);
        let (Some(own), Some(given)) = (response(run.holder), same_response(entered)) else { return false };
        let is_given = |is_named: bool| {
            let others = holders.iter().enumerate().filter(move |(_, holder)| holder.name.is_some() == is_named);
            others.filter(|(place, _)| *place != run.holder).any(|(place, _)| response(place) == Some(given))
        };
        given != own && is_given(true) && !is_given(false)
    }

    /// Whether this target asks anybody for a certificate.
    pub fn asks_for_certificate(&self, place: usize) -> bool {
        let of_place = self.full.iter().filter(|run| run.place == place).flat_map(|run| &run.seen);
        of_place.into_iter().any(|seen| seen.asks_for_certificate == Some(true))
    }

    /// What they show that it may do.
    pub fn entry(&self, place: usize, holder: usize, tls: Version) -> Entry {
        self.full(place, holder, tls).map_or(Entry::Unclear, |run| Entry::of(&run.seen))
    }
}
