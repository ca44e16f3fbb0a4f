//! Facts in names.

use reprise_model::{Facts, HelloRetry, HelloRetryRecord, Outcome, SharedGroups};
use reprise_wire::{CipherSuite, NamedGroup, SignatureScheme};

/// The facts of a connection in IANA's names, as documents have them.
pub fn outcome_of(facts: &Facts) -> Outcome {
    Outcome {
        version: facts.version,
        kind: facts.kind,
        cipher: CipherSuite(facts.cipher).to_string(),
        group: facts.group.map(|group| NamedGroup(group).to_string()),
        signature: facts.signature.map(|scheme| SignatureScheme(scheme).to_string()),
        peer_key: facts.peer_key.map(|key| key.to_string()),
        certificates: facts.chain.map(|chain| chain.certificates),
        chain_bytes: facts.chain.map(|chain| chain.bytes),
        psk_mode: facts.psk_mode,
        alpn: facts.alpn.map(|alpn| alpn.to_string()),
        verification: facts.verification,
        client_authentication: facts.client_authentication,
        extended_master_secret: facts.extended_master_secret,
        hello_retry_request: facts.hello_retry.is_some(),
        hello_retry: facts.hello_retry.map(hello_retry_record),
        early_data: facts.early_data,
        session_offered: facts.session_offered,
        tickets: facts.tickets.count,
        tickets_promised: facts.tickets_promised,
        session_id_given: facts.session_id_given,
    }
}

/// The groups of a HelloRetryRequest in IANA's names.
pub fn hello_retry_record(retry: HelloRetry) -> HelloRetryRecord {
    let shared = (!retry.shared.is_empty()).then(|| shared_names(retry.shared));
    HelloRetryRecord { group: retry.wanted.map(|group| NamedGroup(group).to_string()), shared }
}

/// "X25519MLKEM768 and x25519": the groups of the key shares of one ClientHello.
pub fn shared_names(groups: SharedGroups) -> String {
    groups.iter().map(|group| NamedGroup(group).to_string()).collect::<Vec<_>>().join(" and ")
}
