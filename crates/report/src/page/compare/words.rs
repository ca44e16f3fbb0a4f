//! The names of stacks and handshakes.

use reprise_model::document::CompareCase;
use reprise_model::{Kind, PskMode, Version};

/// Both stacks, or the one that was measured with itself.
pub(in crate::page) fn stack(client: &str, server: &str) -> String {
    if client == server { client.to_owned() } else { format!("{client} → {server}") }
}

/// `1.3 ticket psk_ke p-256 x25519 mutual + request`; `1.2 psk secp256r1 AES_128_GCM_SHA256`, where the suite also says how.
pub(in crate::page) fn words(case: &CompareCase) -> String {
    if case.kind == Kind::Psk {
        return by_psk(case);
    }
    let mutual = if case.mutual { " mutual" } else { "" };
    let resumed_without = case.kind != Kind::Full && case.tls == Version::Tls12;
    // TLS 1.2 resumes without a key exchange.
    let group = if resumed_without { String::new() } else { format!(" {}", case.group) };
    let request = if case.request > 0 && case.kind != Kind::Early { " + request" } else { "" };
    let mode = psk_ke(case.psk_mode);
    format!("{} {}{mode} {}{group}{mutual}{request}", case.tls.number(), case.kind, case.key)
}

/// What an external PSK is used with: of TLS 1.2 the group, if there is one, and the cipher.
fn by_psk(case: &CompareCase) -> String {
    let mut words = vec![case.tls.number().to_owned(), format!("{}{}", case.kind, psk_ke(case.psk_mode))];
    words.extend((case.group != "none").then(|| case.group.clone()));
    words.extend(case.cipher.split_once("_WITH_").map(|(_, cipher)| cipher.to_owned()));
    words.join(" ")
}

/// The mode that is not the usual one.
pub(super) fn psk_ke(mode: Option<PskMode>) -> String {
    let named = mode.filter(|mode| *mode == PskMode::PskKe);
    named.map(|mode| format!(" {}", mode.name())).unwrap_or_default()
}
