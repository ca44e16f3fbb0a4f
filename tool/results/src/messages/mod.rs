//! What a handshake message says, field by field: bytes to names and values that a reader knows from the RFC.
//!
//! Nothing here decides anything. What cannot be read, since a peer may send anything, is left out.

mod extensions;

use std::fmt::Display;

use reprise_model::{Event, Field, Version, What};
use reprise_wire::{
    CertificateEntry, CertificateRequestTls12, CertificateRequestTls13, CertificateTls12, CertificateTls13,
    CertificateVerify, ClientHello, EncryptedExtensions, Extensions, Handshake, HandshakeType, NewSessionTicketTls12,
    NewSessionTicketTls13, ServerHello, ServerKeyExchangeEcdhe,
};

use self::extensions::{Form, described};

/// The events with what their handshake messages say. `raw` are the bytes of these messages, header included, in the same
/// order; those of one that failed half-way may be fewer.
pub(crate) fn described_events(events: &[Event], raw: &[Vec<u8>], version: Version) -> Vec<Event> {
    let mut raw = raw.iter();
    let with_content = |event: &Event| match event.what {
        What::Handshake { .. } => raw.next().map_or_else(|| event.clone(), |raw| event_with_content(event, raw, version)),
        _ => event.clone(),
    };
    events.iter().map(with_content).collect()
}

fn event_with_content(event: &Event, raw: &[u8], version: Version) -> Event {
    let content = match Handshake::parse(raw) {
        Ok(Some((message, _))) => content(&message, version).unwrap_or_default(),
        _ => Content::default(),
    };
    Event { fields: content.fields, extensions: content.extensions, ..event.clone() }
}

#[derive(Default)]
struct Content {
    fields: Vec<Field>,
    extensions: Vec<reprise_model::Extension>,
}

impl Content {
    fn of(fields: Vec<Field>, extensions: Option<Extensions<'_>>, form: Form) -> Self {
        Self { fields, extensions: extensions.map(|them| described(them, form)).unwrap_or_default() }
    }
}

fn content(message: &Handshake<'_>, version: Version) -> Option<Content> {
    let body = message.body;
    Some(match (message.msg_type, version) {
        (HandshakeType::CLIENT_HELLO, _) => {
            let hello = ClientHello::parse(body).ok()?;
            let fields = vec![
                field("legacy_version", hello.legacy_version),
                field("session_id", session_id(hello.session_id)),
                field("cipher_suites", listed(hello.cipher_suites.iter())),
            ];
            Content::of(fields, hello.extensions, Form::ClientHello)
        }
        (HandshakeType::SERVER_HELLO, _) => {
            let hello = ServerHello::parse(body).ok()?;
            let form = if hello.is_hello_retry_request() { Form::HelloRetryRequest } else { Form::ServerHello };
            let fields = vec![
                field("legacy_version", hello.legacy_version),
                field("session_id", session_id(hello.session_id)),
                field("cipher_suite", hello.cipher_suite),
            ];
            Content::of(fields, hello.extensions, form)
        }
        (HandshakeType::ENCRYPTED_EXTENSIONS, _) => {
            let extensions = EncryptedExtensions::parse(body).ok()?.extensions;
            Content::of(Vec::new(), Some(extensions), Form::ServerHello)
        }
        (HandshakeType::CERTIFICATE, Version::Tls13) => {
            let certificate = CertificateTls13::parse(body).ok()?;
            let own = certificate.entries.iter().next();
            let sizes = certificate.entries.iter().map(|CertificateEntry { cert_data, .. }| cert_data.len());
            let fields = vec![field("certificate_list", chain(sizes))];
            Content::of(fields, own.map(|entry| entry.extensions), Form::ServerHello)
        }
        (HandshakeType::CERTIFICATE, Version::Tls12) => {
            let certificate = CertificateTls12::parse(body).ok()?;
            let sizes = certificate.iter().map(<[u8]>::len);
            Content::of(vec![field("certificate_list", chain(sizes))], None, Form::ServerHello)
        }
        (HandshakeType::CERTIFICATE_REQUEST, Version::Tls13) => {
            let request = CertificateRequestTls13::parse(body).ok()?;
            Content::of(Vec::new(), Some(request.extensions), Form::ClientHello)
        }
        (HandshakeType::CERTIFICATE_REQUEST, Version::Tls12) => {
            let request = CertificateRequestTls12::parse(body).ok()?;
            let fields = vec![
                field("supported_signature_algorithms", listed(request.signature_schemes.iter())),
                field("certificate_authorities", format_args!("{} names", request.authorities.iter().count())),
            ];
            Content::of(fields, None, Form::ServerHello)
        }
        (HandshakeType::SERVER_KEY_EXCHANGE, _) => {
            let exchange = ServerKeyExchangeEcdhe::parse(body).ok()?;
            let fields = vec![
                field("named_curve", exchange.group),
                field("public", bytes(exchange.public)),
                field("algorithm", exchange.scheme),
                field("signature", bytes(exchange.signature)),
            ];
            Content::of(fields, None, Form::ServerHello)
        }
        (HandshakeType::CERTIFICATE_VERIFY, _) => {
            let verify = CertificateVerify::parse(body).ok()?;
            let fields = vec![field("algorithm", verify.scheme), field("signature", bytes(verify.signature))];
            Content::of(fields, None, Form::ServerHello)
        }
        (HandshakeType::NEW_SESSION_TICKET, Version::Tls13) => {
            let ticket = NewSessionTicketTls13::parse(body).ok()?;
            let fields = vec![
                field("ticket_lifetime", format_args!("{} s", ticket.lifetime)),
                field("ticket_nonce", bytes(ticket.nonce)),
                field("ticket", bytes(ticket.ticket)),
            ];
            Content::of(fields, Some(ticket.extensions), Form::NewSessionTicket)
        }
        (HandshakeType::NEW_SESSION_TICKET, Version::Tls12) => {
            let ticket = NewSessionTicketTls12::parse(body).ok()?;
            let fields = vec![
                field("ticket_lifetime_hint", format_args!("{} s", ticket.lifetime_hint)),
                field("ticket", bytes(ticket.ticket)),
            ];
            Content::of(fields, None, Form::ServerHello)
        }
        (HandshakeType::FINISHED, _) => Content::of(vec![field("verify_data", bytes(body))], None, Form::ServerHello),
        _ => Content::default(),
    })
}

fn field(name: &'static str, value: impl Display) -> Field {
    Field { name: name.into(), value: value.to_string() }
}

fn session_id(id: &[u8]) -> String {
    if id.is_empty() { "empty".to_owned() } else { bytes(id) }
}

fn bytes(bytes: &[u8]) -> String {
    match bytes.len() {
        1 => "1 byte".to_owned(),
        count => format!("{count} bytes"),
    }
}

fn chain(sizes: impl Iterator<Item = usize>) -> String {
    let sizes: Vec<String> = sizes.map(|size| size.to_string()).collect();
    match sizes.as_slice() {
        [] => "empty".to_owned(),
        [one] => format!("1 certificate of {one} bytes"),
        several => format!("{} certificates of {} bytes", several.len(), several.join(", ")),
    }
}

fn listed(values: impl Iterator<Item = impl Display>) -> String {
    values.map(|value| value.to_string()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use reprise_model::{Bytes, Direction, Nanos};
    use reprise_wire::handshake::frame;

    use super::*;

    fn event(message: &'static str) -> Event {
        Event::new(Nanos(0), Direction::Received, What::Handshake { message: message.into() }, Bytes(1), true)
    }

    #[test]
    fn a_ticket_shows_its_lifetime_and_what_early_data_it_allows() {
        let mut raw = Vec::new();
        let early_data = [0, 42, 0, 4, 0, 0, 0x40, 0];
        let extensions = Extensions::parse(&early_data).unwrap();
        let ticket = NewSessionTicketTls13 { lifetime: 7200, age_add: 1, nonce: &[0; 8], ticket: &[7; 200], extensions };
        frame(&mut raw, HandshakeType::NEW_SESSION_TICKET, |out| ticket.emit(out));
        let events = described_events(&[event("NewSessionTicket")], &[raw], Version::Tls13);
        let values: Vec<_> = events[0].fields.iter().map(|field| (&*field.name, &*field.value)).collect();
        assert_eq!(values, [("ticket_lifetime", "7200 s"), ("ticket_nonce", "8 bytes"), ("ticket", "200 bytes")]);
        let extension = &events[0].extensions[0];
        assert_eq!((extension.number, &*extension.name, extension.size), (42, "early_data", Bytes(4)));
        assert_eq!(extension.value.as_deref(), Some("max_early_data_size 16384"));
    }

    #[test]
    fn what_cannot_be_read_is_left_out() {
        for raw in [&[][..], &[11], &[11, 0, 0, 1, 0xff], &[1, 0, 0, 0]] {
            let events = described_events(&[event("Certificate")], &[raw.to_vec()], Version::Tls13);
            assert_eq!(events, [event("Certificate")]);
        }
    }

    #[test]
    fn only_handshake_messages_take_bytes() {
        let data = Event { what: What::ApplicationData, ..event("") };
        let mut raw = Vec::new();
        frame(&mut raw, HandshakeType::FINISHED, |out| out.extend([0; 32]));
        let events = described_events(&[data.clone(), event("Finished"), event("Finished")], &[raw], Version::Tls13);
        assert_eq!((events[0] == data, events[1].fields.len(), events[2].fields.len()), (true, 1, 0));
    }
}
