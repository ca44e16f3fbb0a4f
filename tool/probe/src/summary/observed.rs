//! What was seen of the connections of one series, counted.

use reprise_engine::outcome_of;
use reprise_model::document::{CertificateCompressionRecord, Observed};
use reprise_model::{ClientAuthentication, EarlyData, Kind, Observation};

use reprise_wire::CertificateCompressionAlgorithm;

use crate::series::Series;

/// Counts, and what was negotiated: of the first connection that was of the asked kind, else of the first.
pub(super) fn observed(series: &Series) -> Observed {
    let mut observed = Observed::default();
    for (seen, facts) in series.completed() {
        observed.kinds.add(facts.kind);
        observed.client_certificate_requested +=
            u64::from(facts.client_authentication != ClientAuthentication::NotRequested);
        observed.client_certificate_sent += u64::from(facts.client_authentication == ClientAuthentication::Sent);
        observed.tickets_given += u64::from(facts.tickets.count > 0);
        observed.tickets_received += u64::from(facts.tickets.count);
        for ticket in facts.tickets.iter() {
            let [shortest, longest] = observed.ticket_lifetime_s.unwrap_or([ticket.lifetime_s; 2]);
            observed.ticket_lifetime_s = Some([shortest.min(ticket.lifetime_s), longest.max(ticket.lifetime_s)]);
        }
        observed.session_ids_given += u64::from(facts.session_id_given);
        observed.sessions_offered += u64::from(facts.session_offered);
        observed.early_data_sent += u64::from(facts.early_data.is_some());
        observed.hello_retry_requests += u64::from(facts.hello_retry.is_some());
        observed.early_data_accepted += u64::from(facts.early_data == Some(EarlyData::Accepted));
        observed.early_data_allowed += u64::from(seen.max_early_data().is_some());
        observed.max_early_data = observed.max_early_data.max(seen.max_early_data());
    }
    // A kind that was asked and never seen is a count of zero, not an absent one.
    observed.kinds.0.entry(series.asked.kind).or_default();
    observed.kinds.0.entry(Kind::Full).or_default();
    let of_asked_kind = series.of_asked_kind().find_map(Observation::facts);
    if let Some(facts) = of_asked_kind.or_else(|| series.completed().map(|(_, facts)| facts).next()) {
        let outcome = outcome_of(facts);
        observed.version = Some(outcome.version.to_string());
        observed.cipher = Some(outcome.cipher);
        observed.group = outcome.group;
        observed.signature = outcome.signature;
        observed.peer_key = outcome.peer_key;
        observed.certificate_bytes = facts.certificate_bytes;
        observed.certificates = outcome.certificates;
        observed.certificate_compression = facts.certificate_compression.map(|it| CertificateCompressionRecord {
            algorithm: CertificateCompressionAlgorithm(it.algorithm).to_string(),
            bytes: it.compressed,
            uncompressed_bytes: it.uncompressed,
        });
        observed.psk_mode = outcome.psk_mode;
        observed.tickets_promised = outcome.tickets_promised;
        observed.alpn = outcome.alpn;
    }
    observed
}
