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
    static RSA: OnceLock<Identity> = OnceLock::new();
    static P256: OnceLock<Identity> = OnceLock::new();
    static P384: OnceLock<Identity> = OnceLock::new();
    static ED25519: OnceLock<Identity> = OnceLock::new();
    let place = match kind {
        KeyKind::Rsa2048 => &RSA,
        KeyKind::P256 => &P256,
        KeyKind::P384 => &P384,
        KeyKind::Ed25519 => &ED25519,
        other => panic!("no test has a certificate with {other}"),
    };
    place.get_or_init(|| authority().server(&ServerSpec::new(kind)).unwrap())
}
