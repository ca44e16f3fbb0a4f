//! What is measured: a server of the lab or another, and the files that a client's context is made of.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use reprise_connection::Target;
use reprise_connection::exchange::Request;
use reprise_lab::{
    Authority, ClientAuthRequest, EmbeddedConfig, EmbeddedResumption, EmbeddedServer, Identity, KeyKind, Listener,
    ServerSpec, start_delayed_relay,
};
use reprise_layers::{IdentityFiles, Material, RemoteServer, ResumedBy, pem_of_certificates};
use reprise_probe::{Interrupt, addresses_of, first_that_answers, platform_roots};
use tempfile::TempDir;

use super::LayersArgs;
use crate::connection_flags::ask_passphrase;

/// What is measured.
pub(super) struct Subject {
    pub(super) peer: RemoteServer,
    pub(super) material: Material,
    /// The kind of the client's key.
    pub(super) client_key: Option<String>,
    /// They live as long as it does.
    _folder: TempDir,
    _server: Option<EmbeddedServer>,
    _relay: Option<Listener>,
}

/// The passphrase of keys that the lab makes.
const PASSPHRASE: &str = "reprise";

impl Subject {
    pub(super) fn new(arguments: &LayersArgs, interrupt: &Interrupt) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a directory for certificates")?;
        let mut subject = match &arguments.target {
            None => Self::lab(arguments, folder)?,
            Some(target) => Self::at(arguments, target, folder, interrupt)?,
        };
        if let Some(delay) = arguments.delay.filter(|delay| !delay.is_zero()) {
            let relay = start_delayed_relay(subject.peer.address, delay)?;
            subject.peer.address = relay.address();
            subject.peer.delay = Some(delay);
            subject._relay = Some(relay);
        }
        Ok(subject)
    }

    fn at(arguments: &LayersArgs, target: &Target, folder: TempDir, interrupt: &Interrupt) -> anyhow::Result<Self> {
        let identity = match &arguments.cert {
            None => None,
            Some(chain) => Some(identity_files(chain, arguments.key.as_deref().unwrap_or(chain))?),
        };
        let trust = match arguments.ca.as_ref().or(arguments.capath.as_ref()) {
            Some(path) => path.clone(),
            None => {
                let path = folder.path().join("system-roots.pem");
                let roots = platform_roots()?;
                std::fs::write(&path, pem_of_certificates(roots.iter().map(|root| &**root)))
                    .with_context(|| format!("cannot write {}", path.display()))?;
                path
            }
        };
        let material = Material::new(&trust, identity)?;
        let address = address_of(target, arguments, interrupt)?;
        let client_key = material.has_identity().then(|| "of a file".to_owned());
        let peer = peer(arguments, format!("{target}{}", target.path), address, target.host.clone(), target);
        Ok(Self { peer, material, client_key, _folder: folder, _server: None, _relay: None })
    }

    fn lab(arguments: &LayersArgs, folder: TempDir) -> anyhow::Result<Self> {
        let authority = Authority::with_key(authority_key(arguments.server_key))?;
        let client = arguments.client_key.map(|kind| authority.client_with_key("client.test", kind)).transpose()?;
        let server = EmbeddedServer::start(EmbeddedConfig {
            resumption: match arguments.kind {
                ResumedBy::Id => EmbeddedResumption::Id,
                ResumedBy::Ticket => EmbeddedResumption::Ticket,
            },
            client_auth: match client {
                None => ClientAuthRequest::None,
                Some(_) => ClientAuthRequest::Required(authority.certificate().clone()),
            },
            keeps_transport: true,
            // A row waits while the others have their turn.
            handshake_timeout: arguments.timeout,
            ..EmbeddedConfig::new(authority.server(&ServerSpec::new(arguments.server_key))?)
        })?;
        let identity = client.map(|client| write_identity(&client, folder.path(), arguments.encrypted)).transpose()?;
        let trust = match arguments.ca.as_ref().or(arguments.capath.as_ref()) {
            Some(path) => path.clone(),
            None => write_trust(&authority, folder.path(), arguments)?,
        };
        let material = Material::new(&trust, identity)?;
        let address = server.address();
        let target = Target { host: "localhost".to_owned(), ..Target::at(address) };
        let peer = peer(arguments, "embedded lab".to_owned(), address, "localhost".to_owned(), &target);
        let client_key = arguments.client_key.map(|kind| kind.label().to_owned());
        Ok(Self { peer, material, client_key, _folder: folder, _server: Some(server), _relay: None })
    }
}

fn peer(arguments: &LayersArgs, shown: String, address: SocketAddr, name: String, target: &Target) -> RemoteServer {
    let request = Request { method: arguments.method.clone(), ..Request::default() };
    let text = request.text(target, None);
    RemoteServer {
        target: shown,
        address,
        name,
        method: arguments.method.clone(),
        request: String::from_utf8_lossy(&text).into_owned(),
        delay: None,
    }
}

/// The first address that answers.
fn address_of(target: &Target, arguments: &LayersArgs, interrupt: &Interrupt) -> anyhow::Result<SocketAddr> {
    if let Some(address) = target.address() {
        return Ok(SocketAddr::new(address, target.port));
    }
    let addresses = addresses_of(&target.host, target.port, None, arguments.timeout, interrupt)
        .map_err(|fault| anyhow::anyhow!("cannot resolve {}: {}", target.host, fault.name))?;
    let answers = first_that_answers(&addresses, arguments.timeout, interrupt);
    match answers.map_err(|fault| anyhow::anyhow!("{}", fault.name))?.or(addresses.first().copied()) {
        Some(address) => Ok(address),
        None => bail!("{} has no address", target.host),
    }
}

fn identity_files(chain: &Path, key: &Path) -> anyhow::Result<IdentityFiles> {
    let text = std::fs::read_to_string(key).with_context(|| format!("cannot read {}", key.display()))?;
    let passphrase = if text.contains("BEGIN ENCRYPTED PRIVATE KEY") {
        let asked = ask_passphrase(key).map_err(anyhow::Error::msg);
        Some(asked.with_context(|| format!("{} is encrypted and needs a passphrase", key.display()))?.to_string())
    } else {
        None
    };
    Ok(IdentityFiles { chain: chain.to_owned(), key: key.to_owned(), passphrase })
}

fn write_identity(client: &Identity, folder: &Path, encrypted: bool) -> anyhow::Result<IdentityFiles> {
    let files = client.write_pem(folder, "client")?;
    if encrypted {
        let text = client.encrypted_key_pem(PASSPHRASE)?;
        std::fs::write(&files.key, text.as_bytes()).with_context(|| format!("cannot write {}", files.key.display()))?;
    }
    let passphrase = encrypted.then(|| PASSPHRASE.to_owned());
    Ok(IdentityFiles { chain: files.certificate, key: files.key, passphrase })
}

/// The lab's root and as many others as are wanted, which sign nothing.
fn write_trust(authority: &Authority, folder: &Path, arguments: &LayersArgs) -> anyhow::Result<PathBuf> {
    let mut roots = vec![authority.pem()];
    for _ in 1..arguments.cas {
        roots.push(Authority::with_key(authority_key(arguments.server_key))?.pem());
    }
    let trust = folder.join("roots");
    let written = if arguments.ca_directory {
        std::fs::create_dir(&trust).and_then(|()| {
            let mut numbered = roots.iter().enumerate();
            numbered.try_for_each(|(number, root)| std::fs::write(trust.join(format!("{number}.pem")), root))
        })
    } else {
        std::fs::write(&trust, roots.concat())
    };
    written.with_context(|| format!("cannot write {}", trust.display()))?;
    Ok(trust)
}

/// Many verifiers take no root of Ed25519, and a large RSA key takes its time to be made.
fn authority_key(server: KeyKind) -> KeyKind {
    match server {
        KeyKind::Ed25519 => KeyKind::P256,
        kind if kind.is_rsa() => KeyKind::Rsa2048,
        kind => kind,
    }
}
