//! Certificates, made once for each process.

use std::sync::OnceLock;

use reprise_lab::{Authority, Identity, KeyKind, ServerSpec};

/// The authority that all clients of these tests trust.
pub fn authority() -> &'static Authority {
    static AUTHORITY: OnceLock<Authority> = OnceLock::new();
    AUTHORITY.get_or_init(|| Authority::new().unwrap())
}

/// A certificate for `localhost` with a key of this kind, made once.
pub fn certificate(kind: KeyKind) -> &'static Identity {
    const KINDS: [KeyKind; 4] = [KeyKind::Rsa2048, KeyKind::P256, KeyKind::P384, KeyKind::Ed25519];
    static IDENTITIES: [OnceLock<Identity>; KINDS.len()] = [const { OnceLock::new() }; KINDS.len()];
    let place = KINDS.iter().zip(&IDENTITIES).find(|(known, _)| **known == kind);
    let (_, place) = place.unwrap_or_else(|| panic!("no test has a certificate with {kind}"));
    place.get_or_init(|| authority().server(&ServerSpec::new(kind)).unwrap())
}
