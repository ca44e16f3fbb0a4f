//! The sessions that are resumed in plays, the same in every run: client and server both hold them from the start.

use reprise_engine::key_schedule::tls12::MasterSecret;
use reprise_engine::suite::find;
use reprise_engine::{Receipt, Secret, Tls12Session, Tls12Ticket, Tls13Ticket};
use reprise_wire::CipherSuite;

use crate::NOW;

/// Bytes of early data that the ticket allows.
pub const MAX_EARLY_DATA: u32 = 16_384;

/// A TLS 1.2 session with the extended master secret, by its ID or by its ticket.
pub fn tls12() -> Tls12Session {
    Tls12Session {
        suite: find(CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256).unwrap(),
        master_secret: MasterSecret::from_bytes(&[12; 48]).unwrap(),
        extended_master_secret: true,
        session_id: vec![5; 32],
        ticket: Some(Tls12Ticket { ticket: b"ticket of TLS 1.2".to_vec(), lifetime_hint: 300 }),
        received: Receipt::fresh(NOW),
        leaf: None,
    }
}

/// A TLS 1.3 ticket that is good for a day and allows early data.
pub fn tls13() -> Tls13Ticket {
    Tls13Ticket {
        suite: find(CipherSuite::TLS_AES_128_GCM_SHA256).unwrap(),
        psk: Secret::new(&[13; 32]).unwrap(),
        ticket: b"ticket of TLS 1.3".to_vec(),
        lifetime: 86_400,
        age_add: 7,
        max_early_data: Some(MAX_EARLY_DATA),
        received: Receipt::fresh(NOW),
        alpn: None,
        leaf: None,
    }
}
