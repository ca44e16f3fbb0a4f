//! Handshakes over links that are not there: turns that were recorded over memory are replayed in virtual time.

mod crossing;
mod path;
mod replay;
mod tcp;

use reprise_model::Kind;
use reprise_model::document::{
    CompareCrossing, CompareLink, CompareLinkRow, CompareLinkTime, CompareLinks, CompareRecording,
};

use self::crossing::crossing;
pub use self::replay::{Replayed, losses, replay};

/// Over which links handshakes are replayed.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkPlan {
    /// The links; one at least.
    pub links: Vec<CompareLink>,
    /// The seed of what is lost.
    pub seed: u64,
}

/// Replays over a link that loses packets: 40 of them lie beyond the 99th percentile.
const TRIALS: u64 = 4_000;

impl LinkPlan {
    /// Replays every recording over every link, until `stops` says so.
    pub(crate) fn replay(&self, recordings: Vec<CompareRecording>, stops: impl Fn() -> bool) -> CompareLinks {
        let mut rows = Vec::new();
        for recording in &recordings {
            for link in self.links.iter().filter(|_| !stops()) {
                rows.extend(self.row(recording, link));
            }
        }
        CompareLinks { trials: TRIALS, crossings: self.crossings(&recordings), recordings, rows }
    }

    fn row(&self, recording: &CompareRecording, link: &CompareLink) -> Option<CompareLinkRow> {
        let trials = if link.loss > 0.0 { TRIALS } else { 1 };
        let ended: Vec<Replayed> =
            (0..trials).filter_map(|trial| replay(&recording.turns, link, losses(link.loss, self.seed, trial))).collect();
        Some(CompareLinkRow {
            client: recording.client.clone(),
            server: recording.server.clone(),
            case: recording.case.clone(),
            link: *link,
            ready: time(ended.iter().map(|replayed| replayed.ready_ns).collect())?,
            request: time(ended.iter().map(|replayed| replayed.request_ns).collect())?,
            unended: trials - ended.len() as u64,
        })
    }

    /// Of every two handshakes of one pair with one key, over the first link's bandwidth and initial window.
    fn crossings(&self, recordings: &[CompareRecording]) -> Vec<CompareCrossing> {
        let Some(first) = self.links.first() else { return Vec::new() };
        let most_ns = self.links.iter().map(|link| link.rtt_ns).max().unwrap_or_default();
        let mut crossings = Vec::new();
        for (place, one) in recordings.iter().enumerate() {
            let are_compared = |other: &&CompareRecording| {
                (&one.client, &one.server) == (&other.client, &other.server)
                    && (one.case.key == other.case.key || one.case.kind == Kind::Psk || other.case.kind == Kind::Psk)
            };
            let others = recordings.iter().skip(place + 1).filter(are_compared);
            crossings.extend(others.filter_map(|other| crossing(one, other, *first, most_ns)));
        }
        crossings
    }
}

fn time(mut times: Vec<u64>) -> Option<CompareLinkTime> {
    times.sort_unstable();
    let at = |share| reprise_stats::quantile(&times, share).map(|time| time.round() as u64);
    let sum: u128 = times.iter().map(|time| u128::from(*time)).sum();
    Some(CompareLinkTime {
        mean_ns: (sum / (times.len() as u128).max(1)) as u64,
        median_ns: at(0.5)?,
        p95_ns: at(0.95)?,
        p99_ns: at(0.99)?,
    })
}
