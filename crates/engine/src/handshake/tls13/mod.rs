//! TLS 1.3 after the ServerHello (RFC 8446 §4.3 and on).

mod authentication;
mod encrypted_extensions;
mod finished;
mod traffic;

pub(crate) use authentication::{ExpectCertificateOrRequest, ExpectCertificateVerify};
pub(crate) use encrypted_extensions::ExpectEncryptedExtensions;
pub(crate) use finished::ExpectFinished;
pub(crate) use traffic::Traffic;

use reprise_wire::SignatureScheme;

use super::{Handshaking, State};
use crate::core::Core;
use crate::error::Error;
use crate::key_schedule::tls13::{EarlySecret, HandshakeSecret, TrafficSecret};
use crate::protection::Opener;

/// The secrets between ServerHello and Finished.
pub(super) struct HandshakeKeys {
    secret: HandshakeSecret,
    client: TrafficSecret,
    server: TrafficSecret,
}

/// What the server asked of the client's certificate, and how it will be answered.
pub(super) enum ClientCertificate {
    NotRequested,
    /// The scheme in which to sign; `None` where the client has no certificate.
    Requested(Option<SignatureScheme>),
}

/// Both hellos are known: from here on the server's messages are encrypted.
pub(super) fn begin(
    core: &mut Core,
    handshaking: Handshaking,
    early: EarlySecret,
    shared: &[u8],
    resumed: bool,
) -> Result<State, Error> {
    let secret = early.handshake(Some(shared))?;
    let transcript = handshaking.transcript.current();
    let client = secret.client_traffic(transcript.as_ref())?;
    let server = secret.server_traffic(transcript.as_ref())?;
    core.log_secret("CLIENT_HANDSHAKE_TRAFFIC_SECRET", &handshaking.client_random, client.as_bytes());
    core.log_secret("SERVER_HANDSHAKE_TRAFFIC_SECRET", &handshaking.client_random, server.as_bytes());
    core.receive_under(Opener::tls13(handshaking.suite, &server)?);

    let keys = HandshakeKeys { secret, client, server };
    Ok(State::Tls13EncryptedExtensions(Box::new(ExpectEncryptedExtensions { handshaking, keys, resumed })))
}
