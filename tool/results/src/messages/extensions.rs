//! Extensions by their IANA names, with the values that a reader looks for.

use reprise_model::{Bytes, Extension};
use reprise_wire::extensions::{
    CertificateAuthorities, CompressCertificate, Cookie, EarlyDataLimit, EcPointFormats, KeyShareClientHello, KeyShareEntry,
    KeyShareHelloRetryRequest, KeyShareServerHello, OfferedPsks, ProtocolNameList, PskKeyExchangeModes, RecordSizeLimit,
    RenegotiationInfo, SelectedPsk, SelectedVersion, ServerNameList, SignatureAlgorithms, StatusRequest, SupportedGroups,
    SupportedVersions, TicketRequest, TicketRequestHint,
};
use reprise_wire::{ExtensionType, Extensions};

use super::{bytes, listed};

/// An extension has the form that its message gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Also that of a CertificateRequest, which asks as a ClientHello does.
    ClientHello,
    /// Also that of EncryptedExtensions, and of whatever else answers.
    ServerHello,
    HelloRetryRequest,
    NewSessionTicket,
}

pub(super) fn described(extensions: Extensions<'_>, form: Form) -> Vec<Extension> {
    let describe = |(kind, data): (ExtensionType, &[u8])| Extension {
        number: kind.0,
        name: kind.name().map_or_else(|| kind.to_string().into(), Into::into),
        size: Bytes::from(data.len()),
        value: value(kind, data, form),
    };
    extensions.iter().map(describe).collect()
}

/// `None` where the data is empty and the extension's presence says it all, or where it cannot be read.
fn value(kind: ExtensionType, data: &[u8], form: Form) -> Option<String> {
    match kind {
        // RFC 5077 §3.2: an empty one asks for a ticket, or promises one.
        ExtensionType::SESSION_TICKET => {
            return Some(match (data, form) {
                ([], Form::ClientHello) => "empty: asks for a ticket".to_owned(),
                ([], _) => "empty: a ticket follows".to_owned(),
                (ticket, _) => format!("a ticket of {}", bytes(ticket)),
            });
        }
        _ if data.is_empty() => return None,
        _ => {}
    }
    let is_offer = form == Form::ClientHello;
    match kind {
        ExtensionType::SERVER_NAME => ServerNameList::parse(data).ok()?.host_name().map(text),
        ExtensionType::ALPN => Some(listed(ProtocolNameList::parse(data).ok()?.iter().map(text))),
        ExtensionType::SUPPORTED_GROUPS => Some(listed(SupportedGroups::parse(data).ok()?.values.iter())),
        ExtensionType::SIGNATURE_ALGORITHMS | ExtensionType::SIGNATURE_ALGORITHMS_CERT => {
            Some(listed(SignatureAlgorithms::parse(data).ok()?.values.iter()))
        }
        ExtensionType::SUPPORTED_VERSIONS if is_offer => Some(listed(SupportedVersions::parse(data).ok()?.values.iter())),
        ExtensionType::SUPPORTED_VERSIONS => Some(SelectedVersion::parse(data).ok()?.selected_version.to_string()),
        ExtensionType::KEY_SHARE => key_share(data, form),
        ExtensionType::PSK_KEY_EXCHANGE_MODES => Some(listed(PskKeyExchangeModes::parse(data).ok()?.iter())),
        ExtensionType::PRE_SHARED_KEY if is_offer => offered_psks(data),
        ExtensionType::PRE_SHARED_KEY => {
            Some(format!("selected_identity {}", SelectedPsk::parse(data).ok()?.selected_identity))
        }
        ExtensionType::EARLY_DATA => {
            Some(format!("max_early_data_size {}", EarlyDataLimit::parse(data).ok()?.max_early_data_size))
        }
        ExtensionType::TICKET_REQUEST if is_offer => {
            let TicketRequest { new_session_count, resumption_count } = TicketRequest::parse(data).ok()?;
            Some(format!("new_session_count {new_session_count}, resumption_count {resumption_count}"))
        }
        ExtensionType::TICKET_REQUEST => {
            Some(format!("expected_count {}", TicketRequestHint::parse(data).ok()?.expected_count))
        }
        ExtensionType::EC_POINT_FORMATS => {
            let format = |format: &u8| if *format == 0 { "uncompressed".to_owned() } else { format!("format {format}") };
            Some(listed(EcPointFormats::parse(data).ok()?.formats.iter().map(format)))
        }
        ExtensionType::RENEGOTIATION_INFO => {
            let bound = RenegotiationInfo::parse(data).ok()?.renegotiated_connection;
            Some(if bound.is_empty() { "empty: the first handshake".to_owned() } else { bytes(bound) })
        }
        ExtensionType::STATUS_REQUEST => match StatusRequest::parse(data) {
            Ok(StatusRequest::Ocsp { .. }) if is_offer => Some("ocsp".to_owned()),
            _ => None,
        },
        ExtensionType::RECORD_SIZE_LIMIT => Some(RecordSizeLimit::parse(data).ok()?.record_size_limit.to_string()),
        ExtensionType::COOKIE => Some(bytes(Cookie::parse(data).ok()?.cookie)),
        ExtensionType::COMPRESS_CERTIFICATE => Some(listed(CompressCertificate::parse(data).ok()?.values.iter())),
        ExtensionType::CERTIFICATE_AUTHORITIES => {
            Some(format!("{} names", CertificateAuthorities::parse(data).ok()?.authorities.iter().count()))
        }
        _ => None,
    }
}

fn key_share(data: &[u8], form: Form) -> Option<String> {
    let entry = |KeyShareEntry { group, key_exchange }| format!("{group} ({})", bytes(key_exchange));
    match form {
        Form::ClientHello => Some(listed(KeyShareClientHello::parse(data).ok()?.client_shares.iter().map(entry))),
        Form::HelloRetryRequest => Some(KeyShareHelloRetryRequest::parse(data).ok()?.selected_group.to_string()),
        Form::ServerHello | Form::NewSessionTicket => Some(entry(KeyShareServerHello::parse(data).ok()?.server_share)),
    }
}

fn offered_psks(data: &[u8]) -> Option<String> {
    let OfferedPsks { identities, binders } = OfferedPsks::parse(data).ok()?;
    let pair = identities.iter().zip(binders.iter());
    let one = pair.map(|(identity, binder)| {
        let (size, age) = (bytes(identity.identity), identity.obfuscated_ticket_age);
        format!("identity of {size}, obfuscated_ticket_age {age}, binder of {}", bytes(binder.0))
    });
    Some(listed(one))
}

/// A name that a peer wrote: bytes that are no text are shown as such.
fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(kind: ExtensionType, data: &[u8], form: Form) -> Option<String> {
        value(kind, data, form)
    }

    #[test]
    fn a_form_depends_on_the_message() {
        let versions = ExtensionType::SUPPORTED_VERSIONS;
        assert_eq!(shown(versions, &[4, 3, 4, 3, 3], Form::ClientHello).as_deref(), Some("TLS 1.3, TLS 1.2"));
        assert_eq!(shown(versions, &[3, 4], Form::ServerHello).as_deref(), Some("TLS 1.3"));
        let share = [0, 29, 0, 1, 9];
        assert_eq!(shown(ExtensionType::KEY_SHARE, &share, Form::ServerHello).as_deref(), Some("x25519 (1 byte)"));
        assert_eq!(shown(ExtensionType::KEY_SHARE, &[0, 29], Form::HelloRetryRequest).as_deref(), Some("x25519"));
    }

    #[test]
    fn an_empty_session_ticket_asks_or_promises() {
        let ticket = ExtensionType::SESSION_TICKET;
        assert_eq!(shown(ticket, &[], Form::ClientHello).as_deref(), Some("empty: asks for a ticket"));
        assert_eq!(shown(ticket, &[], Form::ServerHello).as_deref(), Some("empty: a ticket follows"));
        assert_eq!(shown(ticket, &[1, 2], Form::ClientHello).as_deref(), Some("a ticket of 2 bytes"));
    }

    #[test]
    fn no_data_of_any_extension_is_trusted() {
        for kind in ExtensionType::NAMED.iter().copied().chain([ExtensionType(0x0a0a)]) {
            for form in [Form::ClientHello, Form::ServerHello, Form::HelloRetryRequest, Form::NewSessionTicket] {
                for data in [&[][..], &[0], &[0xff; 3], &[0, 1, 2, 3, 4, 5, 6, 7]] {
                    let _ = shown(kind, data, form);
                }
            }
        }
        assert_eq!(shown(ExtensionType(0x0a0a), &[1], Form::ClientHello), None);
    }
}
