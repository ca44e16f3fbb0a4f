//! The client's second flight: Certificate, ClientKeyExchange, CertificateVerify, ChangeCipherSpec, Finished (RFC 5246
//! §7.4.6 to §7.4.9).

use reprise_model::ClientAuthentication;
use reprise_wire::codec::vec24;
use reprise_wire::{CertificateVerify, ClientKeyExchange, HandshakeType, NamedGroup, SignatureScheme};
use zeroize::Zeroizing;

use super::Handshake12;
use super::finished::{LastFlights, Order, send_finished};
use crate::core::Core;
use crate::error::{Error, Unspoken};
use crate::handshake::State;
use crate::key_schedule::tls12::MasterSecret;
use crate::protection::Sealer;

/// What the premaster secret is agreed on with.
pub(super) enum ExchangeKey {
    /// The server's ephemeral share.
    Ecdhe { group: NamedGroup, public: Vec<u8> },
    /// The RSA key of its certificate, SubjectPublicKeyInfo.
    Rsa { spki: Vec<u8> },
}

pub(super) fn send(
    core: &mut Core,
    mut handshake: Handshake12,
    peer_key: ExchangeKey,
    request: Option<Option<SignatureScheme>>,
) -> Result<State, Error> {
    if request.is_some() {
        send_certificate(core, &mut handshake)?;
    }
    let premaster = send_key_exchange(core, &mut handshake, &peer_key)?;
    let suite = handshake.handshaking.suite;
    let client_random = handshake.handshaking.client_random;
    let master = if handshake.extended_master_secret {
        MasterSecret::extended(suite, &premaster, handshake.handshaking.transcript.current().as_ref())?
    } else {
        MasterSecret::new(suite, &premaster, &client_random, &handshake.server_random)?
    };
    core.log_secret("CLIENT_RANDOM", &client_random, master.as_bytes());
    if let Some(Some(scheme)) = request {
        send_certificate_verify(core, &mut handshake, scheme)?;
    }
    handshake.handshaking.transcript.forget_messages();

    let keys = master.key_block(suite, &client_random, &handshake.server_random)?;
    core.send_change_cipher_spec();
    core.send_under(Sealer::tls12(suite, &keys.client)?);
    send_finished(core, &mut handshake, &master)?;
    Ok(LastFlights { handshake, master, keys, ticket: None, order: Order::ServerLast, since: None }.begin())
}

/// The client's certificate, or an empty list where there is none to show (RFC 5246 §7.4.6).
fn send_certificate(core: &mut Core, handshake: &mut Handshake12) -> Result<(), Error> {
    let config = core.config.clone();
    handshake.send(core, HandshakeType::CERTIFICATE, |out| {
        vec24(out, |out| {
            for der in config.identity.iter().flat_map(|identity| &identity.chain) {
                vec24(out, |out| out.extend_from_slice(der));
            }
        });
    })
}

/// ClientKeyExchange; returns the premaster secret.
fn send_key_exchange(
    core: &mut Core,
    handshake: &mut Handshake12,
    peer_key: &ExchangeKey,
) -> Result<Zeroizing<Vec<u8>>, Error> {
    let msg_type = HandshakeType::CLIENT_KEY_EXCHANGE;
    match peer_key {
        ExchangeKey::Ecdhe { group, public } => {
            let share = core.config.key_shares.share(*group)?;
            let exchange = ClientKeyExchange::Ecdhe { public: share.public() };
            handshake.send(core, msg_type, |out| exchange.emit(out))?;
            share.agree(public)
        }
        ExchangeKey::Rsa { spki } => {
            // What fails here is the server's key, which nobody has looked at so far but for its length.
            let premaster = core.config.entropy.rsa_premaster(spki).map_err(|_| Error::Unspoken(Unspoken::RsaKey))?;
            let exchange = ClientKeyExchange::Rsa { encrypted: &premaster.encrypted };
            handshake.send(core, msg_type, |out| exchange.emit(out))?;
            Ok(Zeroizing::new(premaster.secret.to_vec()))
        }
    }
}

/// CertificateVerify over the messages themselves (RFC 5246 §7.4.8).
fn send_certificate_verify(core: &mut Core, handshake: &mut Handshake12, scheme: SignatureScheme) -> Result<(), Error> {
    let config = core.config.clone();
    let identity = config.identity.as_ref().ok_or(Error::NoCommonSignatureScheme)?;
    let messages = handshake.handshaking.transcript.messages().ok_or(Error::Crypto("CertificateVerify"))?;
    let signature = identity.signer.sign(scheme, messages)?;
    let verify = CertificateVerify { scheme, signature: &signature };
    handshake.send(core, HandshakeType::CERTIFICATE_VERIFY, |out| verify.emit(out))?;
    core.note(|facts| facts.client_authentication = ClientAuthentication::Sent);
    Ok(())
}
