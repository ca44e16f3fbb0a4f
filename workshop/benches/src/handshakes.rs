//! Handshakes in memory between the engine and a rustls server: what `workshop/benches/instructions.rs` counts. Only what runs
//! below [`client_turn`] is the client's.

use std::hint::black_box;
use std::sync::Arc;

use anyhow::{Context, bail};
use reprise_engine::{
    CertificatePolicy, Config, Connection, EcdhKeyShare, Entropy, Error, KeyShare, KeyShares, Offer, Session, Start,
    WebPkiVerifier,
};
use reprise_lab::{Authority, Identity, KeyKind, ServerSpec, rustls_turn};
use reprise_model::{Nanos, Version};
use reprise_wire::NamedGroup;
use rustls::crypto::aws_lc_rs;
use rustls::{ServerConfig, ServerConnection};
use rustls_pki_types::{ServerName, UnixTime};

/// `handshakes SCENARIO COUNT`, the scenario one of `full-1.3`, `ticket-1.3`, `full-1.2`, `id-1.2`.
fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(scenario), Some(count)) = (arguments.next(), arguments.next()) else { bail!("handshakes SCENARIO COUNT") };
    let (kind, version) = scenario.split_once('-').context("a scenario is KIND-VERSION")?;
    let version: Version = version.parse().map_err(anyhow::Error::msg)?;
    let authority = Authority::new()?;
    let identity = authority.server(&ServerSpec::new(KeyKind::P256))?;
    let server = server(&identity)?;
    let client = client(&authority, version)?;

    let mut sessions = handshake(&client, &server, Offer::Full { session_ticket: false })?;
    for _ in 0..count.parse::<u32>()? {
        let offer = match (kind, sessions.pop()) {
            ("full", _) => Offer::Full { session_ticket: false },
            (_, Some(Session::Tls13(ticket))) => Offer::Ticket(ticket),
            (_, Some(Session::Tls12(session))) => Offer::SessionId(session),
            (_, None) => bail!("the server gave no session"),
        };
        sessions = black_box(handshake(&client, &server, offer)?);
    }
    Ok(())
}

/// One handshake until the server's tickets are in.
fn handshake(client: &Arc<Config>, server: &Arc<ServerConfig>, offer: Offer) -> anyhow::Result<Vec<Session>> {
    let mut server = ServerConnection::new(server.clone())?;
    let (mut client, mut to_server) = client_start(client.clone(), offer)?;
    while !to_server.is_empty() || server.wants_write() {
        let mut to_client = Vec::new();
        rustls_turn(&mut server, &to_server, &mut Vec::new(), &mut to_client)?;
        to_server = client_turn(&mut client, &to_client)?;
    }
    client.ready().context("the handshake is not done")?;
    Ok(client.take_sessions())
}

#[inline(never)]
fn client_start(config: Arc<Config>, offer: Offer) -> Result<(Connection, Vec<u8>), Error> {
    let date = UnixTime::now();
    let mut client = Connection::start(config, Start { offer, date }, Nanos(0))?;
    let hello = client.take_outgoing(Nanos(0));
    Ok((client, hello))
}

#[inline(never)]
fn client_turn(client: &mut Connection, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    client.receive(Nanos(0), bytes)?;
    Ok(client.take_outgoing(Nanos(0)))
}

fn server(identity: &Identity) -> anyhow::Result<Arc<ServerConfig>> {
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(identity.chain().to_vec(), identity.key_der())?;
    Ok(Arc::new(config))
}

fn client(authority: &Authority, version: Version) -> anyhow::Result<Arc<Config>> {
    let (verifier, _) = WebPkiVerifier::new(&[authority.certificate().clone()]);
    let verify = CertificatePolicy::Verify(Arc::new(verifier));
    let config = Config::new(ServerName::try_from("localhost")?, verify, Arc::new(Fixed), Arc::new(Fixed));
    Ok(Arc::new(Config { versions: vec![version], ..config }))
}

/// The same key share and random each time, so that instructions can be compared from run to run.
struct Fixed;

impl KeyShares for Fixed {
    fn share(&self, group: NamedGroup) -> Result<Box<dyn KeyShare>, Error> {
        Ok(Box::new(EcdhKeyShare::from_private_key(group, &[7; 32])?))
    }
}

impl Entropy for Fixed {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        bytes.fill(7);
        Ok(())
    }

    fn encrypt_premaster(&self, _public_key: &[u8], _premaster: &[u8; 48]) -> Result<Vec<u8>, Error> {
        Err(Error::NothingToOffer("no RSA key exchange here"))
    }
}
