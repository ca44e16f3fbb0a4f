//! Our own measuring engine, as a client.

use std::sync::Arc;

use reprise_connection::{End, Endpoint, EngineClient, EnginePlan, Fault, SessionPolicy};
use reprise_engine::{
    CertificatePolicy, ClientIdentity, Config, ExternalPsk, FreshKeyShares, Offer, Session as EngineSession, Signer,
    Strictness, SystemEntropy, WebPkiVerifier,
};
use reprise_model::{ClientAuthentication, Facts, Kind, Nanos, Version};
use reprise_wire::{CipherSuite, NamedGroup, SignatureScheme};
use rustls::crypto::aws_lc_rs::sign::any_supported_type;
use rustls::sign::SigningKey;
use rustls_pki_types::{ServerName, UnixTime};

use crate::options::certificates;
use crate::session::LibrarySession;
use crate::{
    Ability, About, Context, ContextOptions, KeptBy, Pem, SessionMode, SessionPlan, Side, Stack, StackAccount,
    StackEndpoint, StackError, StackSession, StackSessions,
};

/// The measuring engine: a client alone.
pub(crate) struct EngineStack {
    about: About,
}

impl EngineStack {
    pub(crate) fn new() -> Self {
        const ABILITIES: [Ability; 11] = [
            Ability::Client,
            Ability::Tls12,
            Ability::Tls13,
            Ability::Id,
            Ability::Ticket,
            Ability::ClientAuth,
            Ability::PskKe,
            Ability::EarlyData,
            Ability::Psk,
            Ability::SharedContext,
            Ability::AllShares,
        ];
        Self { about: About::built_in("Reprise engine", env!("CARGO_PKG_VERSION"), &ABILITIES) }
    }
}

impl Stack for EngineStack {
    fn about(&self) -> &About {
        &self.about
    }

    fn context(&self, options: &ContextOptions<'_>) -> Result<Box<dyn Context>, StackError> {
        if options.side == Side::Server {
            return Err(StackError::unsupported("the engine is a client alone"));
        }
        if options.sessions == SessionMode::Id && options.version == Version::Tls13 {
            return Err(StackError::unsupported("TLS 1.3 has no session IDs"));
        }
        if options.psk.is_some() && options.version == Version::Tls12 {
            return Err(StackError::unsupported("the engine has no PSK suites of TLS 1.2"));
        }
        let roots = match (options.trust, options.psk) {
            (Some(trust), _) => certificates("roots", trust)?,
            (None, Some(_)) => Vec::new(),
            (None, None) => return Err(StackError::refused("context", "a client needs roots")),
        };
        let (verifier, _) = WebPkiVerifier::new(&roots);
        let name = ServerName::try_from(options.server_name.to_owned());
        let name = name.map_err(|error| StackError::refused("server name", error))?;
        let mut config = Config::new(
            name,
            CertificatePolicy::Verify(Arc::new(verifier)),
            Arc::new(FreshKeyShares),
            Arc::new(SystemEntropy),
        );
        config.versions = vec![options.version];
        config.cipher_suites = options.suites.iter().map(|&suite| CipherSuite(suite)).collect();
        config.groups = options.groups.iter().map(|&group| NamedGroup(group)).collect();
        if options.shares_all_groups {
            config.key_share_groups.clone_from(&config.groups);
        }
        config.strictness = Strictness::Strict;
        config.tls13.psk_modes = vec![options.psk_mode];
        config.identity = options.identity.map(identity_of).transpose()?.map(Arc::new);
        if let Some(unknown) = config.groups.iter().find(|group| !reprise_engine::GROUPS.contains(group)) {
            return Err(StackError::unsupported(format!("it has no group {unknown}")));
        }
        if let Some(unknown) = config.cipher_suites.iter().find(|suite| reprise_engine::suite::find(**suite).is_none()) {
            return Err(StackError::unsupported(format!("it has no suite {unknown}")));
        }
        let early_data = options.max_early_data > 0;
        let (sessions, date) = (options.sessions, options.date);
        Ok(Box::new(EngineContext { config: Arc::new(config), sessions, early_data, psk: psk_of(options), date }))
    }
}

/// The PSK, with the hash of the first suite.
fn psk_of(options: &ContextOptions<'_>) -> Option<ExternalPsk> {
    let psk = options.psk?;
    let hash = reprise_engine::suite::find(CipherSuite(*options.suites.first()?))?.hash;
    Some(ExternalPsk { identity: psk.identity.into(), key: psk.key.to_vec().into(), hash })
}

fn identity_of(pem: Pem<'_>) -> Result<ClientIdentity, StackError> {
    let (chain, key) = pem.read()?;
    let key = any_supported_type(&key);
    let key = key.map_err(|error| StackError::unsupported(format!("it does not take the key: {error}")))?;
    Ok(ClientIdentity { chain, signer: Box::new(RustlsSigner::new(key)) })
}

/// A key as rustls reads it, signing for the engine.
struct RustlsSigner {
    key: Arc<dyn SigningKey>,
    schemes: Vec<SignatureScheme>,
}

/// What a client's key may sign in, best first.
const SCHEMES: [SignatureScheme; 6] = [
    SignatureScheme::ED25519,
    SignatureScheme::ECDSA_SECP256R1_SHA256,
    SignatureScheme::ECDSA_SECP384R1_SHA384,
    SignatureScheme::RSA_PSS_RSAE_SHA256,
    SignatureScheme::RSA_PSS_RSAE_SHA384,
    SignatureScheme::RSA_PKCS1_SHA256,
];

impl RustlsSigner {
    fn new(key: Arc<dyn SigningKey>) -> Self {
        let schemes = SCHEMES.into_iter().filter(|scheme| key.choose_scheme(&[scheme.0.into()]).is_some()).collect();
        Self { key, schemes }
    }
}

impl Signer for RustlsSigner {
    fn schemes(&self) -> &[SignatureScheme] {
        &self.schemes
    }

    fn sign(&self, scheme: SignatureScheme, message: &[u8]) -> Result<Vec<u8>, reprise_engine::Error> {
        let signer = self.key.choose_scheme(&[scheme.0.into()]);
        signer.and_then(|signer| signer.sign(message).ok()).ok_or(reprise_engine::Error::Crypto("signing"))
    }
}

#[derive(Clone)]
struct EngineContext {
    config: Arc<Config>,
    sessions: SessionMode,
    early_data: bool,
    psk: Option<ExternalPsk>,
    date: UnixTime,
}

const NOT_EXPORTED: &str = "the engine's sessions are saved by reprise measure --session-out";

impl Context for EngineContext {
    fn endpoint(&self) -> Box<dyn StackEndpoint> {
        Box::new(EngineClient::new(self.clone()))
    }

    fn import(&self, _bytes: &[u8]) -> Result<StackSession, StackError> {
        Err(StackError::unsupported(NOT_EXPORTED))
    }

    fn for_another_thread(&self) -> Result<Box<dyn Context + Send>, StackError> {
        Ok(Box::new(self.clone()))
    }
}

impl LibrarySession for EngineSession {
    fn again(&self) -> Option<StackSession> {
        Some(StackSession::new(self.clone()))
    }

    fn export(&self) -> Result<Vec<u8>, StackError> {
        Err(StackError::unsupported(NOT_EXPORTED))
    }

    fn library(&self) -> &'static str {
        "engine"
    }
}

impl SessionPolicy for EngineContext {
    type Shared = StackSessions;
    type Plan = SessionPlan;

    fn plan(&mut self, _shared: &mut StackSessions, plan: SessionPlan, _now: Nanos) -> Result<(EnginePlan, Vec<u8>), Fault> {
        let by_ticket = self.sessions == SessionMode::Ticket;
        let offer = match plan.session.map(StackSession::into_own).transpose()? {
            None => match &self.psk {
                Some(psk) => Offer::External(psk.clone()),
                None => Offer::Full { session_ticket: by_ticket },
            },
            Some(EngineSession::Tls13(ticket)) if self.early_data && ticket.max_early_data.is_some() => Offer::Early(ticket),
            Some(EngineSession::Tls13(ticket)) => Offer::Ticket(ticket),
            Some(EngineSession::Tls12(session)) if by_ticket => Offer::SessionTicket(session),
            Some(EngineSession::Tls12(session)) => Offer::SessionId(session),
        };
        let engine = EnginePlan { config: Arc::clone(&self.config), offer, date: self.date };
        Ok((engine, plan.early_data.unwrap_or_default()))
    }

    fn keep(&mut self, shared: &mut StackSessions, _facts: Option<&Facts>, left: Vec<EngineSession>, how: End) {
        // The newest is the last that the server gave.
        let newest = left.into_iter().next_back().filter(|_| how == End::Completed && self.sessions != SessionMode::Off);
        shared.extend(newest.map(StackSession::new));
    }
}

impl StackEndpoint for EngineClient<EngineContext> {
    fn early_data(&self) -> &[u8] {
        &[]
    }

    fn account(&self) -> Result<StackAccount, StackError> {
        let facts = self.facts().ok_or(StackError::refused("account", "the server has not chosen yet"))?;
        Ok(StackAccount {
            version: match facts.version {
                Version::Tls12 => 0x0303,
                Version::Tls13 => 0x0304,
            },
            suite: facts.cipher,
            group: facts.group,
            resumed: Some(facts.kind != Kind::Full),
            resumed_by: match facts.kind {
                Kind::Id => Some(KeptBy::Cache),
                Kind::Ticket | Kind::Early => Some(KeptBy::Ticket),
                Kind::Full | Kind::Psk => None,
            },
            client_certificate: Some(facts.client_authentication == ClientAuthentication::Sent),
            early_data: Some(facts.kind == Kind::Early),
        })
    }
}
