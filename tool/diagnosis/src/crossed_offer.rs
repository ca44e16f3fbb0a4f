//! Sessions of one place that were offered at another, as the rules of causes see them.

use reprise_model::FaultName;
use reprise_model::document::IsolationRecord;
use reprise_probe::isolation::{OfferRun, Seen};

use crate::diagnose::examined::named;

/// Sessions that were offered, with what the rules ask of them.
pub(crate) struct CrossedOffer<'a> {
    pub(crate) record: IsolationRecord,
    pub(crate) run: &'a OfferRun,
    /// What full handshakes of the holder show there.
    pub(crate) full: &'a [Seen],
}

impl CrossedOffer<'_> {
    /// The connections that resumed a session.
    pub(crate) fn accepted(&self) -> impl Iterator<Item = &Seen> {
        self.run.seen.iter().filter(|seen| seen.is_resumed())
    }
}

/// `HTTP 200`, `alert certificate_required`.
pub(crate) fn outcome(seen: &Seen) -> String {
    match (seen.observation.outcome, seen.observation.http_status) {
        (Ok(_), Some(status)) => format!("HTTP {status}"),
        (Ok(_), None) => "completed".to_owned(),
        (Err(FaultName::Alert(_)), _) => seen.observation.outcome.err().map(named).unwrap_or_default(),
        (Err(name), _) => named(name),
    }
}
