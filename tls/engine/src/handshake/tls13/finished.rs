//! The server's Finished, and the client's last flight (RFC 9846 §4.5.3).

use aws_lc_rs::constant_time::verify_slices_are_equal;
use reprise_model::ClientAuthentication;
use reprise_wire::codec::{vec8, vec16, vec24};
use reprise_wire::{CertificateVerify, Finished, HandshakeType, SignatureScheme};

use super::{ClientCertificate, ExpectTraffic, Handshake13, signed_content};
use crate::core::Core;
use crate::error::{Error, Misbehaviour};
use crate::handshake::checks::expect;
use crate::handshake::{Handshaking, State};
use crate::joiner::Message;
use crate::protection::{Opener, Sealer};

pub(crate) struct ExpectFinished {
    pub(super) handshake: Handshake13,
}

impl ExpectFinished {
    pub(crate) fn handle(self, core: &mut Core, message: &Message<'_>) -> Result<State, Error> {
        let Handshake13 { mut handshaking, keys, client_certificate } = self.handshake;
        let received = expect(message, HandshakeType::FINISHED, Finished::parse)?;
        let due = keys.server.finished(handshaking.transcript.current().as_ref())?;
        verify_slices_are_equal(due.as_ref(), received.verify_data).map_err(|_| Misbehaviour::BadFinished)?;
        handshaking.transcript.add(message.raw);

        // The application secrets end with the server's Finished; resumption includes the client's (RFC 9846 §7.1).
        let transcript = handshaking.transcript.current();
        let suite = handshaking.suite;
        let master = keys.secret.master()?;
        let client = master.client_traffic(transcript.as_ref())?;
        let server = master.server_traffic(transcript.as_ref())?;
        let random = &handshaking.client_random;
        core.log_secret("CLIENT_TRAFFIC_SECRET_0", random, client.as_bytes());
        core.log_secret("SERVER_TRAFFIC_SECRET_0", random, server.as_bytes());
        if core.config.key_log.is_some() {
            core.log_secret("EXPORTER_SECRET", random, master.exporter(transcript.as_ref())?.as_ref());
        }
        message.ends_record()?;
        core.receive_under(Opener::tls13(suite, &server)?);

        core.send_change_cipher_spec();
        if core.early_data.end() {
            // RFC 9846 §4.6: the last message under the keys of the early data.
            let mut end = Vec::new();
            handshaking.append(&mut end, HandshakeType::END_OF_EARLY_DATA, |_| {});
            core.send_handshake(&end)?;
            core.send_under(Sealer::tls13(suite, &keys.client)?);
        }
        let mut flight = match client_certificate {
            ClientCertificate::Requested(scheme) => certificate(core, &mut handshaking, scheme)?,
            ClientCertificate::NotRequested => Vec::new(),
        };
        let verify_data = keys.client.finished(handshaking.transcript.current().as_ref())?;
        let finished = Finished { verify_data: verify_data.as_ref() };
        handshaking.append(&mut flight, HandshakeType::FINISHED, |out| finished.emit(out));
        core.send_handshake(&flight)?;

        core.send_under(Sealer::tls13(suite, &client)?);
        core.become_ready();
        let resumption = master.resumption(handshaking.transcript.current().as_ref())?;
        Ok(State::Tls13Traffic(Box::new(ExpectTraffic::new(suite, resumption, client, server))))
    }
}

/// Certificate and CertificateVerify, or an empty Certificate where there is none to show (RFC 9846 §4.5.1).
fn certificate(core: &mut Core, handshaking: &mut Handshaking, scheme: Option<SignatureScheme>) -> Result<Vec<u8>, Error> {
    let config = core.config.clone();
    let identity = config.identity.as_ref().zip(scheme);

    let mut flight = Vec::new();
    handshaking.append(&mut flight, HandshakeType::CERTIFICATE, |out| {
        vec8(out, |_| {}); // certificate_request_context
        vec24(out, |out| {
            for der in identity.iter().flat_map(|(identity, _)| &identity.chain) {
                vec24(out, |out| out.extend_from_slice(der));
                vec16(out, |_| {}); // extensions
            }
        });
    });

    let Some((identity, scheme)) = identity else { return Ok(flight) };
    let signed = signed_content(b"TLS 1.3, client CertificateVerify", handshaking.transcript.current().as_ref());
    let signature = identity.signer.sign(scheme, &signed)?;
    let verify = CertificateVerify { scheme, signature: &signature };
    handshaking.append(&mut flight, HandshakeType::CERTIFICATE_VERIFY, |out| verify.emit(out));
    core.note(|facts| facts.client_authentication = ClientAuthentication::Sent);
    Ok(flight)
}
