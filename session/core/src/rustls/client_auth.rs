use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{VerifierBuilderError, WantsServerCert, WebPkiClientVerifier};
use rustls::{ConfigBuilder, RootCertStore, ServerConfig, WantsVerifier};
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer, UnixTime};

use super::client_chain;
use crate::policy::{Policy, PolicyBuilder};
use crate::ticket::Refused;

/// How clients prove who they are, in a form that sessions can be bound to: a rustls configuration does not show its
/// verifier, and a verifier shows neither its roots nor its CRLs.
///
/// ```
/// # use std::sync::Arc;
/// use reprise_session::rustls::ClientAuth;
/// # fn main() -> Result<(), rustls::Error> {
/// # let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
/// let client_auth = ClientAuth::none();
/// let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
/// // In the place of `with_no_client_auth` or `with_client_cert_verifier`:
/// let builder = client_auth.apply(builder);
/// # drop(builder);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ClientAuth {
    verifier: Arc<dyn ClientCertVerifier>,
    identity: Policy,
    /// Whether the verifier is asked at each resumption too: what it goes by may change without notice.
    asked_again: bool,
    /// Whether the caller says that it is in force, since nobody can see it.
    declared: bool,
}

impl ClientAuth {
    /// No certificate is asked for.
    pub fn none() -> Self {
        Self::custom(WebPkiClientVerifier::no_client_auth(), b"none")
    }

    /// A certificate is required, issued below one of `roots` and revoked by none of `crls`.
    ///
    /// # Errors
    /// [`VerifierBuilderError`] if there are no roots or a CRL cannot be read; roots that cannot be read count as absent.
    pub fn required(
        roots: &[CertificateDer<'_>],
        crls: &[CertificateRevocationListDer<'static>],
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, VerifierBuilderError> {
        Self::verified("required", roots, crls, provider)
    }

    /// The same, but a client may have no certificate.
    ///
    /// # Errors
    /// As [`ClientAuth::required`].
    pub fn optional(
        roots: &[CertificateDer<'_>],
        crls: &[CertificateRevocationListDer<'static>],
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, VerifierBuilderError> {
        Self::verified("optional", roots, crls, provider)
    }

    /// A verifier of another make. `identity` must differ wherever its judgement could: sessions are bound to it.
    pub fn custom(verifier: Arc<dyn ClientCertVerifier>, identity: &[u8]) -> Self {
        let identity = PolicyBuilder::new().field("custom", identity).build();
        Self { verifier, identity, asked_again: true, declared: false }
    }

    /// That of a configuration which was finished elsewhere, as crates for ACME do: `identity` says whatever its judgement of clients depends on, such as
    /// `none` where it asks for no certificate, and nobody checks that. A client's certificate ends its sessions; its verifier is not asked
    /// again.
    pub fn declared(identity: &[u8]) -> Self {
        let identity = PolicyBuilder::new().field("declared", identity).build();
        Self { verifier: WebPkiClientVerifier::no_client_auth(), identity, asked_again: false, declared: true }
    }

    /// Gives the verifier to a configuration in the making; one that is [`ClientAuth::declared`] asks for no certificate then.
    pub fn apply(
        &self,
        builder: ConfigBuilder<ServerConfig, WantsVerifier>,
    ) -> ConfigBuilder<ServerConfig, WantsServerCert> {
        builder.with_client_cert_verifier(Arc::clone(&self.verifier))
    }

    /// Until when a session with this state may be resumed; `None` if no certificate ends it.
    ///
    /// # Errors
    /// [`Refused::ClientCertificate`] if a certificate of the client's chain is over, or the caller's verifier refuses it now;
    /// [`Refused::Altered`].
    pub(super) fn check_again(&self, state: &[u8], now: UnixTime) -> Result<Option<UnixTime>, Refused> {
        let chain = client_chain::chain(state)?;
        let Some((leaf, intermediates)) = chain.split_first() else { return Ok(None) };
        let end = if self.has_no_end() { None } else { client_chain::end(&chain)? };
        let is_over = end.is_some_and(|end| client_chain::is_over(end, now));
        if is_over || self.asked_again && self.verifier.verify_client_cert(leaf, intermediates, now).is_err() {
            return Err(Refused::ClientCertificate);
        }
        Ok(end)
    }

    /// Whether clients have raw public keys, which do not end.
    pub(super) fn has_no_end(&self) -> bool {
        self.verifier.requires_raw_public_keys()
    }

    pub(super) fn identity(&self) -> &Policy {
        &self.identity
    }

    /// Whether this very configuration has the verifier. Sessions bound to client authentication that is not in force would
    /// be worse than none.
    ///
    /// rustls does not show the verifier, but each clone of the configuration holds it once more. There are more clones here
    /// than other holders, so connections that come and go meanwhile do not count.
    pub(super) fn is_applied(&self, config: &ServerConfig) -> bool {
        if self.declared {
            return true;
        }
        let clones = vec![config.clone(); Arc::strong_count(&self.verifier).saturating_add(64)];
        Arc::strong_count(&self.verifier) > clones.len()
    }

    fn verified(
        mode: &str,
        roots: &[CertificateDer<'_>],
        crls: &[CertificateRevocationListDer<'static>],
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, VerifierBuilderError> {
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(roots.iter().map(|root| root.clone().into_owned()));
        let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(store), provider).with_crls(crls.iter().cloned());
        let builder = if mode == "optional" { builder.allow_unauthenticated() } else { builder };
        // In whichever order they are configured.
        let sorted = |mut list: Vec<&'_ [u8]>| {
            list.sort_unstable();
            list.dedup();
            PolicyBuilder::new().list("", list.iter().copied()).build()
        };
        let identity = PolicyBuilder::new()
            .field("mode", mode.as_bytes())
            .field("roots", sorted(roots.iter().map(|root| root.as_ref()).collect()).as_bytes())
            .field("crls", sorted(crls.iter().map(|crl| crl.as_ref()).collect()).as_bytes())
            .build();
        Ok(Self { verifier: builder.build()?, identity, asked_again: false, declared: false })
    }
}
