//! Holds what was negotiated against what the runner told to expect.

use std::path::Path;

use reprise_engine::Tls13Ticket;
use reprise_model::{EarlyData, Kind, Outcome, Version};
use reprise_wire::{CipherSuite, NamedGroup, SignatureScheme};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use crate::failure::Failure;
use crate::settings::Settings;

/// What a handshake came to.
pub(crate) struct Negotiated<'a> {
    pub(crate) outcome: &'a Outcome,
    pub(crate) group: Option<&'a str>,
    pub(crate) signature: Option<&'a str>,
    pub(crate) chain: &'a [CertificateDer<'static>],
    pub(crate) session_offered: bool,
}

impl Negotiated<'_> {
    pub(crate) fn check(&self, settings: &Settings) -> Result<(), Failure> {
        let outcome = self.outcome;
        if let Some(version) = settings.expect_version {
            equal("the version", version, wire_version(outcome.version))?;
        }
        if let Some(suite) = settings.expect_cipher {
            equal("the cipher suite", CipherSuite(suite).to_string().as_str(), &outcome.cipher)?;
        }
        if let Some(group) = settings.expect_curve_id {
            equal("the group", Some(group), self.group.and_then(NamedGroup::from_name))?;
        }
        if let Some(scheme) = settings.expect_peer_signature_algorithm {
            equal("the signature scheme", Some(scheme), self.signature.and_then(SignatureScheme::from_name))?;
        }
        if let Some(retried) = settings.expect_hrr {
            equal("a HelloRetryRequest", retried, outcome.hello_retry_request)?;
        }
        if settings.expect_extended_master_secret {
            equal("an extended master secret", true, outcome.extended_master_secret)?;
        }
        if let Some(path) = &settings.expect_peer_cert_file {
            equal("the server's chain", &*read_chain(path)?, self.chain)?;
        }
        equal("ALPN", settings.expect_alpn.as_str(), outcome.alpn.as_deref().unwrap_or_default())?;
        equal("resumption", self.session_offered && !settings.expect_session_miss, outcome.kind != Kind::Full)
    }
}

/// Whether a new session is there, against whether it should be.
pub(crate) fn session(due: bool, given: bool) -> Result<(), Failure> {
    equal("a new session", due, given)
}

/// Whether a ticket allows early data, against whether it should.
pub(crate) fn early_data(settings: &Settings, ticket: &Tls13Ticket) -> Result<(), Failure> {
    let allowed = ticket.max_early_data.is_some_and(|bytes| bytes > 0);
    equal("a ticket that allows early data", settings.expect_ticket_supports_early_data, allowed)
}

/// What became of early data that was offered, against what should.
pub(crate) fn verdict(expected: Option<EarlyData>, found: Option<EarlyData>) -> Result<(), Failure> {
    if expected.is_some() { equal("early data", expected, found) } else { Ok(()) }
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, expected: T, found: T) -> Result<(), Failure> {
    if expected == found { Ok(()) } else { Err(Failure::Expectation(format!("{what}: {expected:?}, found {found:?}"))) }
}

fn wire_version(version: Version) -> u16 {
    match version {
        Version::Tls12 => 0x0303,
        Version::Tls13 => 0x0304,
    }
}

fn read_chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let unreadable = |error| Failure::Flags(format!("{}: {error}", path.display()));
    let certificates = CertificateDer::pem_file_iter(path).map_err(unreadable)?;
    certificates.collect::<Result<_, _>>().map_err(unreadable)
}
