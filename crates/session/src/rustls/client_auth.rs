use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{VerifierBuilderError, WantsServerCert, WebPkiClientVerifier};
use rustls::{ConfigBuilder, RootCertStore, ServerConfig, WantsVerifier};
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer};

use crate::policy::{Policy, PolicyBuilder};

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
#[derive(Debug)]
pub struct ClientAuth {
    verifier: Arc<dyn ClientCertVerifier>,
    identity: Policy,
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
        // A clone of its own, whose count tells whether a configuration has it: see `is_applied`.
        Self { verifier: Arc::new(Own(verifier)), identity: PolicyBuilder::new().field("custom", identity).build() }
    }

    /// Gives the verifier to a configuration in the making.
    pub fn apply(
        &self,
        builder: ConfigBuilder<ServerConfig, WantsVerifier>,
    ) -> ConfigBuilder<ServerConfig, WantsServerCert> {
        builder.with_client_cert_verifier(Arc::clone(&self.verifier))
    }

    pub(super) fn identity(&self) -> &Policy {
        &self.identity
    }

    /// Whether some configuration has the verifier. Sessions bound to client authentication that is not in force would be
    /// worse than none.
    pub(super) fn is_applied(&self) -> bool {
        Arc::strong_count(&self.verifier) > 1
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
        Ok(Self { verifier: builder.build()?, identity })
    }
}

use own::Own;

mod own {
    use std::sync::Arc;

    use rustls::client::danger::HandshakeSignatureValid;
    use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
    use rustls::{DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};
    use rustls_pki_types::{CertificateDer, UnixTime};

    /// Someone else's verifier behind a count of ours.
    #[derive(Debug)]
    pub(super) struct Own(pub(super) Arc<dyn ClientCertVerifier>);

    impl ClientCertVerifier for Own {
        fn offer_client_auth(&self) -> bool {
            self.0.offer_client_auth()
        }

        fn client_auth_mandatory(&self) -> bool {
            self.0.client_auth_mandatory()
        }

        fn root_hint_subjects(&self) -> &[DistinguishedName] {
            self.0.root_hint_subjects()
        }

        fn verify_client_cert(
            &self,
            end_entity: &CertificateDer<'_>,
            intermediates: &[CertificateDer<'_>],
            now: UnixTime,
        ) -> Result<ClientCertVerified, Error> {
            self.0.verify_client_cert(end_entity, intermediates, now)
        }

        fn verify_tls12_signature(
            &self,
            message: &[u8],
            cert: &CertificateDer<'_>,
            dss: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            self.0.verify_tls12_signature(message, cert, dss)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            cert: &CertificateDer<'_>,
            dss: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            self.0.verify_tls13_signature(message, cert, dss)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.0.supported_verify_schemes()
        }

        fn requires_raw_public_keys(&self) -> bool {
            self.0.requires_raw_public_keys()
        }
    }
}
