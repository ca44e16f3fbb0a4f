//! Samples for tests, built by hand.

use reprise_trace::{Asked, Bytes, ClientAuthentication, Kind, Nanos, Outcome, Phases, Sample, Verification, Version};

/// A connection under TLS 1.3 that was asked for as `asked` and came out as `kind`, with a handshake of so many microseconds.
pub(crate) fn sample(asked: Kind, kind: Kind, tls_us: u64) -> Sample {
    let is_full = kind == Kind::Full;
    Sample {
        local_port: 1,
        asked: Asked { tls: Version::Tls13, kind: asked },
        outcome: Outcome {
            version: Version::Tls13,
            kind,
            cipher: "TLS_AES_128_GCM_SHA256".to_owned(),
            group: Some("x25519".to_owned()),
            signature: is_full.then(|| "ecdsa_secp256r1_sha256".to_owned()),
            peer_key: is_full.then(|| "p-256".to_owned()),
            psk_mode: None,
            alpn: None,
            verification: if is_full { Verification::Verified } else { Verification::Inherited },
            client_authentication: ClientAuthentication::NotRequested,
            extended_master_secret: true,
            hello_retry_request: false,
            early_data: None,
            session_offered: asked != Kind::Full,
            tickets: 1,
            tickets_promised: None,
            session_id_given: false,
        },
        phases: Phases { tls: Some(Nanos(tls_us * 1_000)), ..Phases::default() },
        sent: Bytes(1),
        received: Bytes(1),
        round_trips: 1,
        max_early_data: None,
        http_status: Some(200),
        next_request: None,
        events: Vec::new(),
    }
}
