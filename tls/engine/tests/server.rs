//! rustls as the server that does everything right.

use std::sync::Arc;

use reprise_lab::KeyKind;
pub(crate) use reprise_scripted::certificates::{authority, certificate};
use reprise_wire::{CipherSuite, NamedGroup};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::server::{NoServerSessionStorage, ServerSessionMemoryCache, WebPkiClientVerifier};
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};

/// What a rustls server is made of.
pub(crate) struct Server {
    pub(crate) key: KeyKind,
    pub(crate) versions: &'static [&'static SupportedProtocolVersion],
    /// Empty for all.
    pub(crate) cipher_suites: Vec<CipherSuite>,
    /// Empty for rustls' own choice.
    pub(crate) groups: Vec<NamedGroup>,
    pub(crate) resumption: Resumption,
    pub(crate) client_authentication: ClientAuthentication,
    pub(crate) alpn: Vec<Vec<u8>>,
}

pub(crate) enum Resumption {
    Off,
    Stored,
    Tickets,
}

#[derive(PartialEq)]
pub(crate) enum ClientAuthentication {
    Off,
    Optional,
    Required,
}

pub(crate) static ONLY_TLS12: [&SupportedProtocolVersion; 1] = [&TLS12];
pub(crate) static ONLY_TLS13: [&SupportedProtocolVersion; 1] = [&TLS13];
static BOTH: [&SupportedProtocolVersion; 2] = [&TLS12, &TLS13];

impl Server {
    /// With a certificate of this kind, both versions, tickets.
    pub(crate) fn with(key: KeyKind) -> Self {
        Self {
            key,
            versions: &BOTH,
            cipher_suites: Vec::new(),
            groups: Vec::new(),
            resumption: Resumption::Tickets,
            client_authentication: ClientAuthentication::Off,
            alpn: Vec::new(),
        }
    }

    pub(crate) fn start(&self) -> ServerConfig {
        let provider = Arc::new(self.provider());
        let identity = certificate(self.key);
        let verifier = match self.client_authentication {
            ClientAuthentication::Off => WebPkiClientVerifier::no_client_auth(),
            _ => {
                let mut roots = RootCertStore::empty();
                roots.add(authority().certificate().clone()).unwrap();
                let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
                let optional = self.client_authentication == ClientAuthentication::Optional;
                let builder = if optional { builder.allow_unauthenticated() } else { builder };
                builder.build().unwrap()
            }
        };
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(self.versions)
            .unwrap()
            .with_client_cert_verifier(verifier)
            .with_single_cert(identity.chain().to_vec(), identity.key_der())
            .unwrap();
        config.session_storage = Arc::new(NoServerSessionStorage {});
        match self.resumption {
            Resumption::Off => config.send_tls13_tickets = 0,
            Resumption::Stored => config.session_storage = ServerSessionMemoryCache::new(64),
            Resumption::Tickets => config.ticketer = aws_lc_rs::Ticketer::new().unwrap(),
        }
        config.alpn_protocols = self.alpn.clone();
        config
    }

    fn provider(&self) -> CryptoProvider {
        let mut provider = aws_lc_rs::default_provider();
        if !self.cipher_suites.is_empty() {
            let known = provider.cipher_suites.clone();
            let find = |id: &CipherSuite| *known.iter().find(|suite| u16::from(suite.suite()) == id.0).unwrap();
            provider.cipher_suites = self.cipher_suites.iter().map(find).collect();
        }
        if !self.groups.is_empty() {
            let known = aws_lc_rs::ALL_KX_GROUPS;
            let find = |id: &NamedGroup| *known.iter().find(|group| u16::from(group.name()) == id.0).unwrap();
            provider.kx_groups = self.groups.iter().map(find).collect();
        }
        provider
    }
}
