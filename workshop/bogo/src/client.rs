//! From the runner's flags to the engine's configuration.

use std::sync::Arc;

use reprise_engine::{
    CertificatePolicy, ClientIdentity, Config, EcdhKeyShare, Error, FreshKeyShares, GROUPS, Offer, SIGNATURE_SCHEMES,
    Session, Signer, Strictness, SystemEntropy, Tls13Ticket,
};
use reprise_model::{Nanos, Version};
use reprise_probe::load_identity;
use reprise_wire::{NamedGroup, SignatureScheme};
use rustls_pki_types::ServerName;

use crate::exporter::Exporter;
use crate::failure::Failure;
use crate::settings::Settings;
use crate::verifier::ToldVerifier;

/// Offers what BoringSSL's own client would by default, as far as the engine speaks it, and what the flags say.
pub(crate) fn config(settings: &Settings, verifier: Arc<ToldVerifier>, exporter: Arc<Exporter>) -> Result<Config, Failure> {
    let name = settings.host_name.clone().unwrap_or_else(|| "test".to_owned());
    let name = ServerName::try_from(name).map_err(|error| Failure::Flags(format!("-host-name: {error}")))?;
    let certificates = CertificatePolicy::Verify(verifier);
    Ok(Config {
        versions: versions(settings)?,
        groups: groups(settings)?,
        sni: settings.host_name.clone(),
        alpn: settings.advertise_alpn.clone(),
        identity: identity(settings)?.map(Arc::new),
        key_log: Some(exporter),
        signature_schemes: signature_schemes(settings)?,
        strictness: Strictness::Strict,
        keeps_messages: false,
        ..Config::new(name, certificates, Arc::new(FreshKeyShares), Arc::new(SystemEntropy))
    })
}

/// Offers a session in whatever way it can be, if it still can; a new one with a ticket, unless told otherwise.
pub(crate) fn offer(settings: &Settings, session: Option<Session>, now: Nanos) -> Offer {
    match session {
        Some(Session::Tls13(ticket)) if !ticket.is_expired(now) => {
            if settings.enable_early_data && may_be_early(settings, &ticket) {
                Offer::Early(ticket)
            } else {
                Offer::Ticket(ticket)
            }
        }
        Some(Session::Tls12(session)) if session.ticket.is_some() && !settings.no_ticket => Offer::SessionTicket(session),
        Some(Session::Tls12(session)) if !session.session_id.is_empty() => Offer::SessionId(session),
        _ => Offer::Full { session_ticket: !settings.no_ticket },
    }
}

/// Whether early data can go with a ticket: the server must have allowed it, and its protocol must be offered again.
fn may_be_early(settings: &Settings, ticket: &Tls13Ticket) -> bool {
    ticket.max_early_data.is_some_and(|bytes| bytes > 0)
        && ticket.alpn.as_ref().is_none_or(|protocol| settings.advertise_alpn.contains(protocol))
}

fn versions(settings: &Settings) -> Result<Vec<Version>, Failure> {
    let known = [(Version::Tls12, 0x0303, settings.no_tls12), (Version::Tls13, 0x0304, settings.no_tls13)];
    let allowed = settings.min_version..=settings.max_version.unwrap_or(u16::MAX);
    let versions: Vec<_> =
        known.into_iter().filter(|(_, number, off)| !off && allowed.contains(number)).map(|(version, ..)| version).collect();
    if versions.is_empty() {
        return Err(Failure::Unimplemented("no version but what is older than TLS 1.2".to_owned()));
    }
    Ok(versions)
}

fn groups(settings: &Settings) -> Result<Vec<NamedGroup>, Failure> {
    let groups = if settings.curves.is_empty() { EcdhKeyShare::GROUPS.to_vec() } else { settings.curves.clone() };
    if let Some(group) = groups.iter().find(|group| !GROUPS.contains(group)) {
        return Err(Failure::Unimplemented(format!("the group {group}")));
    }
    match settings.key_shares[..] {
        [] => Ok(groups),
        [share] if groups.first() == Some(&share) => Ok(groups),
        _ => Err(Failure::Unimplemented("key shares of other groups than the first".to_owned())),
    }
}

/// By default all but Ed25519, which BoringSSL does not offer unless told to.
fn signature_schemes(settings: &Settings) -> Result<Vec<SignatureScheme>, Failure> {
    if settings.verify_prefs.is_empty() {
        return Ok(SIGNATURE_SCHEMES.iter().copied().filter(|&scheme| scheme != SignatureScheme::ED25519).collect());
    }
    match settings.verify_prefs.iter().find(|scheme| !SIGNATURE_SCHEMES.contains(scheme)) {
        Some(scheme) => Err(Failure::Unimplemented(format!("the signature scheme {scheme}"))),
        None => Ok(settings.verify_prefs.clone()),
    }
}

fn identity(settings: &Settings) -> Result<Option<ClientIdentity>, Failure> {
    let (Some(certificate), Some(key)) = (&settings.cert_file, &settings.key_file) else { return Ok(None) };
    let no_passphrase = |_: &std::path::Path| Err("the runner's keys have none".to_owned());
    let identity = load_identity(certificate, key, &no_passphrase)
        .map_err(|error| Failure::Unimplemented(format!("a client key: {error}")))?;
    if settings.signing_prefs.is_empty() {
        return Ok(Some(identity));
    }
    let schemes = settings.signing_prefs.iter().copied().filter(|scheme| identity.signer.schemes().contains(scheme));
    let signer = Preferring { schemes: schemes.collect(), signer: identity.signer };
    Ok(Some(ClientIdentity { chain: identity.chain, signer: Box::new(signer) }))
}

/// A signer with schemes and preferences that are the runner's.
struct Preferring {
    schemes: Vec<SignatureScheme>,
    signer: Box<dyn Signer>,
}

impl Signer for Preferring {
    fn schemes(&self) -> &[SignatureScheme] {
        &self.schemes
    }

    fn sign(&self, scheme: SignatureScheme, message: &[u8]) -> Result<Vec<u8>, Error> {
        self.signer.sign(scheme, message)
    }
}
