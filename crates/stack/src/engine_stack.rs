//! Our own measuring engine, as a client.

use std::sync::Arc;

use reprise_connection::{Detail, End, Endpoint, EndpointEvent, EngineClient, EnginePlan, Fault};
use reprise_engine::{
    CertificatePolicy, ClientIdentity, Config, FreshKeyShares, Offer, Session as EngineSession, Signer, Strictness,
    SystemEntropy, WebPkiVerifier,
};
use reprise_model::{ClientAuthentication, Facts, FaultName, Kind, Nanos, Version};
use reprise_wire::{CipherSuite, NamedGroup, SignatureScheme};
use rustls::crypto::aws_lc_rs::sign::any_supported_type;
use rustls::sign::SigningKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};

use crate::session::Kept;
use crate::{
    Abilities, About, Account, Context, KeptBy, Options, Pem, Plan, Session, SessionMode, Sessions, Side, Stack,
    StackEndpoint, StackError,
};

/// The measuring engine: a client alone.
pub(crate) struct EngineStack {
    about: About,
}

impl EngineStack {
    pub(crate) fn new() -> Self {
        let abilities = Abilities {
            client: true,
            tls12: true,
            tls13: true,
            id: true,
            ticket: true,
            client_auth: true,
            psk_ke: true,
            early_data: true,
            ..Abilities::default()
        };
        Self {
            about: About {
                name: "Reprise engine".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                flags: "built in".to_owned(),
                abilities,
                sha256: None,
            },
        }
    }
}

impl Stack for EngineStack {
    fn about(&self) -> &About {
        &self.about
    }

    fn context(&self, options: &Options<'_>) -> Result<Box<dyn Context>, StackError> {
        if options.side == Side::Server {
            return Err(StackError::unsupported("the engine is a client alone"));
        }
        if options.sessions == SessionMode::Id && options.version == Version::Tls13 {
            return Err(StackError::unsupported("TLS 1.3 has no session IDs"));
        }
        let trust = options.trust.ok_or(StackError::refused("context", "a client needs roots"))?;
        let roots = CertificateDer::pem_slice_iter(trust.as_bytes()).collect::<Result<Vec<_>, _>>();
        let roots = roots.map_err(|error| StackError::refused("roots", error))?;
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
        Ok(Box::new(EngineContext { config: Arc::new(config), sessions: options.sessions, early_data }))
    }
}

fn identity_of(pem: Pem<'_>) -> Result<ClientIdentity, StackError> {
    let chain = CertificateDer::pem_slice_iter(pem.chain.as_bytes()).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|error| StackError::refused("certificate chain", error))?;
    let key = PrivateKeyDer::from_pem_slice(pem.key.as_bytes());
    let key = key.map_err(|error| StackError::refused("private key", error))?;
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

struct EngineContext {
    config: Arc<Config>,
    sessions: SessionMode,
    early_data: bool,
}

impl Context for EngineContext {
    fn endpoint(&self) -> Box<dyn StackEndpoint> {
        let (config, sessions, early_data) = (Arc::clone(&self.config), self.sessions, self.early_data);
        Box::new(EngineEndpoint { config, sessions, early_data, client: EngineClient::default(), left: Vec::new() })
    }

    fn import(&self, _bytes: &[u8]) -> Result<Session, StackError> {
        Err(StackError::unsupported("the engine's sessions are saved by reprise measure --session-out"))
    }
}

struct EngineEndpoint {
    config: Arc<Config>,
    sessions: SessionMode,
    early_data: bool,
    client: EngineClient,
    /// The engine's own pool, empty between connections.
    left: Vec<EngineSession>,
}

impl EngineEndpoint {
    fn offer(&self, session: Option<Session>) -> Result<Offer, Fault> {
        let by_ticket = self.sessions == SessionMode::Ticket;
        match session {
            None => Ok(Offer::Full { session_ticket: by_ticket }),
            Some(Session(Kept::Engine(session))) => Ok(match *session {
                EngineSession::Tls13(ticket) if self.early_data && ticket.max_early_data.is_some() => Offer::Early(ticket),
                EngineSession::Tls13(ticket) => Offer::Ticket(ticket),
                EngineSession::Tls12(session) if by_ticket => Offer::SessionTicket(session),
                EngineSession::Tls12(session) => Offer::SessionId(session),
            }),
            Some(_) => {
                Err(Fault::new(FaultName::NothingToOffer).with(Detail::Said(b"the session is another library's".into())))
            }
        }
    }
}

impl Endpoint for EngineEndpoint {
    type Shared = Sessions;
    type Plan = Plan;

    fn begin(&mut self, _shared: &mut Sessions, plan: Plan, now: Nanos, out: &mut Vec<u8>) -> Result<(), Fault> {
        let offer = self.offer(plan.session)?;
        let whole = EnginePlan { config: Arc::clone(&self.config), offer, date: UnixTime::now() };
        self.client.begin(&mut self.left, whole, now, out)?;
        match plan.early_data {
            Some(data) => self.client.send_early(now, &data, out).map(drop),
            None => Ok(()),
        }
    }

    fn receive<'r>(
        &mut self,
        _shared: &mut Sessions,
        now: Nanos,
        record: &'r mut [u8],
        out: &mut Vec<u8>,
    ) -> Result<EndpointEvent<'r>, Fault> {
        self.client.receive(&mut self.left, now, record, out)
    }

    fn receive_end(&mut self, now: Nanos, in_record: bool, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.client.receive_end(now, in_record, out)
    }

    fn send(&mut self, now: Nanos, data: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        self.client.send(now, data, out)
    }

    fn close(&mut self, now: Nanos, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.client.close(now, out)
    }

    fn facts(&self) -> Option<Facts> {
        self.client.facts()
    }

    fn is_confirmed(&self) -> bool {
        self.client.is_confirmed()
    }

    fn end(&mut self, shared: &mut Sessions, how: End) {
        self.client.end(&mut self.left, how);
        // The newest is the last that the server gave.
        let newest = self.left.drain(..).next_back().filter(|_| how == End::Completed && self.sessions != SessionMode::Off);
        shared.extend(newest.map(|session| Session(Kept::Engine(Box::new(session)))));
    }
}

impl StackEndpoint for EngineEndpoint {
    fn early_data(&self) -> &[u8] {
        &[]
    }

    fn account(&self) -> Result<Account, StackError> {
        let facts = self.client.facts().ok_or(StackError::refused("account", "the server has not chosen yet"))?;
        Ok(Account {
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
