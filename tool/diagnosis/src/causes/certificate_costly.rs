//! `certificate-costly`: a key or a chain that makes full handshakes dear: RSA of more than 2048 bits, many certificates, a root among them.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{CertificateChain, Facts, Kind, Nanos, PeerKey, Phase, Version};

use super::{Cause, MeasuredRule, Rule};
use crate::figures::{connections, from_to, percent};
use crate::savings::{best_resumption, interval_ns, median_ns};
use crate::series::MeasuredCase;
use crate::traffic::FIRST_WINDOW;

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Certain],
    measured: Some(Rule { rank: 5, find: MeasuredRule::Once(of_measurement) }),
    ..page!("certificate-costly")
};

/// RSA keys up to this length are what most clients meet.
const USUAL_RSA_BITS: u16 = 2048;
/// A server's own certificate and two intermediates.
const USUAL_CERTIFICATES: u8 = 3;
/// From this share of a full handshake on, the key is more than all else.
const MOST: f64 = 0.5;

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    let version = [Version::Tls13, Version::Tls12].into_iter().find(|version| costly(case, *version).is_some())?;
    let Costly { key, chain } = costly(case, version)?;
    let cost = Cost::of(case, version);
    let is_large_key = is_large(key);
    let is_flight_more = u64::from(chain.bytes) > FIRST_WINDOW;
    let share = cost.as_ref().filter(|cost| cost.is_difference).map_or(0.0, Cost::share);
    let severity = if is_flight_more || is_large_key && share >= MOST { Severity::Risk } else { Severity::Note };
    let certificates = match chain.certificates {
        1 => "1 certificate".to_owned(),
        count => format!("{count} certificates"),
    };
    let title = match (is_large_key, &cost) {
        (true, Some(cost)) if cost.is_difference => {
            format!("The {key} key takes {} of a full {version} handshake", percent(share))
        }
        (true, _) => format!("The server's key is {key}: each full handshake waits for its signature"),
        (false, _) => format!("The server sends {certificates}, {} bytes, in each full handshake", chain.bytes),
    };
    let root = if chain.has_root { ", the last a root" } else { "" };
    let flight = is_flight_more.then(|| {
        format!(
            "The chain exceeds the first {FIRST_WINDOW} bytes that TCP sends (RFC 6928): over a network a round trip more"
        )
    });
    let evidence =
        [Some(format!("Key {key}; {certificates}, {} bytes{root}", chain.bytes)), cost.as_ref().map(Cost::words), flight];
    let difference = cost.filter(|cost| cost.is_difference).map(|cost| Nanos(cost.ns));
    let finding = case.found(&CAUSE, severity, Confidence::Certain, title).because(evidence.into_iter().flatten());
    Some(finding.costing(difference).costing_cpu(case.cpu_cost(version)))
}

/// A certificate whose key or chain costs more than usual.
struct Costly {
    key: PeerKey,
    chain: CertificateChain,
}

fn costly(case: &MeasuredCase<'_>, version: Version) -> Option<Costly> {
    let of = |facts: &Facts| Some(Costly { key: facts.peer_key?, chain: facts.chain? });
    let is_costly = |it: &Costly| {
        let CertificateChain { certificates, bytes, has_root } = it.chain;
        is_large(it.key) || certificates > USUAL_CERTIFICATES || has_root || u64::from(bytes) > FIRST_WINDOW
    };
    case.full_handshakes(version).into_iter().filter_map(of).find(is_costly)
}

fn is_large(key: PeerKey) -> bool {
    matches!(key, PeerKey::Rsa { bits } if bits > USUAL_RSA_BITS)
}

/// What key and chain cost a full handshake.
struct Cost {
    version: Version,
    full_ns: u64,
    ns: u64,
    n: u64,
    /// Whether it is what resumed connections do without; else it is what is left beside the round trips.
    is_difference: bool,
}

impl Cost {
    fn of(case: &MeasuredCase<'_>, version: Version) -> Option<Self> {
        let full = case.figures.run(version, Kind::Full)?;
        let (full_ns, connect_ns) = (median_ns(full, Phase::Tls)?, median_ns(full, Phase::Connect));
        let cost = |ns, is_difference| Self { version, full_ns, ns, n: full.n, is_difference };
        if let Some((resumed, saving)) = best_resumption(case.figures, version).filter(|(_, saving)| saving.is_shown()) {
            let fewer = full.round_trips.unwrap_or_default().saturating_sub(resumed.round_trips.unwrap_or_default());
            let turns = fewer.saturating_mul(connect_ns.unwrap_or_default());
            return Some(cost(saving.saved().0.saturating_sub(turns), true)).filter(|cost| cost.ns > 0);
        }
        let is_direct = case.figures.target.proxy.is_none() && case.figures.target.starttls.is_none();
        let is_sure = interval_ns(full, Phase::Tls).is_some() && is_direct;
        let turns = full.round_trips?.checked_mul(connect_ns?).filter(|_| is_sure)?;
        Some(cost(full_ns.saturating_sub(turns), false)).filter(|cost| cost.ns > 0)
    }

    fn share(&self) -> f64 {
        if self.full_ns == 0 { 0.0 } else { self.ns as f64 / self.full_ns as f64 }
    }

    fn words(&self) -> String {
        let (part, whole) = from_to(self.ns, self.full_ns);
        let (share, of) = (percent(self.share()), connections(self.n));
        let Self { version, .. } = self;
        match self.is_difference {
            true => format!(
                "Key and chain take {part} of {whole} of a full {version} handshake, {share}: resumed ones do without ({of})"
            ),
            false => format!(
                "Beside its round trips a full {version} handshake takes {part} of {whole}, {share}, key and chain among it ({of})"
            ),
        }
    }
}
