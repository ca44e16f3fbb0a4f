//! Which two handshakes of a scenario a reader would compare.

use reprise_model::{Kind, Version};
use reprise_pairs::{Case, NO_GROUP};

/// The full handshake with the resumed one; one version with the next; without client authentication with it; a TLS 1.2 resumption, which
/// has no key exchange, with a TLS 1.3 one in any group; a ticket with a key exchange and one without; a request after the handshake and
/// one in early data.
pub(crate) fn handshakes(from: &Case, with: &Case) -> bool {
    if with.kind == Kind::Psk {
        return is_compared_with_psk(from, with);
    }
    if from.key != with.key {
        return false;
    }
    let same_group = from.group == with.group;
    let same_version = from.version == with.version;
    let versions = from.version == Version::Tls12 && with.version == Version::Tls13;
    let same_request = from.request == with.request;
    let resumed =
        from.kind == Kind::Full && with.kind != Kind::Full && same_version && (same_request || with.kind == Kind::Early);
    let both_resumed = from.kind != Kind::Full && with.kind != Kind::Full && same_request;
    let newer = versions && same_request && (from.kind == with.kind && same_group || both_resumed);
    let by_ticket = same_version && from.kind == Kind::Ticket && same_request;
    let cheaper = by_ticket && (with.kind == Kind::Early || with.kind == Kind::Ticket && !from.psk_ke && with.psk_ke);
    let authenticated = same_version && from.kind == with.kind && !from.mutual && with.mutual;
    if from.mutual == with.mutual { (resumed || cheaper) && same_group || newer } else { authenticated && same_group }
}

/// A full handshake, by any key, with an external PSK; one that has a key exchange with one that has none; one version with the next,
/// each with a key exchange in the same group or both without.
fn is_compared_with_psk(from: &Case, psk: &Case) -> bool {
    let same_group = from.group == psk.group || psk.group() == NO_GROUP;
    let less = from.has_key_exchange() && !psk.has_key_exchange();
    let alike = from.has_key_exchange() == psk.has_key_exchange() && (same_group || from.group() == NO_GROUP);
    match from.kind {
        Kind::Full => from.version == psk.version && same_group && !from.mutual,
        Kind::Psk if from.version == psk.version => less && same_group,
        Kind::Psk => from.version == Version::Tls12 && alike,
        _ => false,
    }
}
