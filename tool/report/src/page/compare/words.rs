//! The names of stacks and handshakes.

use reprise_model::document::{BulkSender, CompareBulk, CompareCase, cipher_of};
use reprise_model::{KeyPairs, Kind, PskMode, ServerChain, Version};

/// `1.3 ticket psk_ke p-256 x25519 mutual + request`; `1.2 psk secp256r1 AES_128_GCM_SHA256`, where the suite also says how.
pub(in crate::page) fn words(case: &CompareCase) -> String {
    if let Some(bulk) = &case.bulk {
        return of_bulk(case, bulk);
    }
    if case.kind == Kind::Psk {
        return format!("{}{}", by_psk(case), prepared(case));
    }
    let mutual = if case.mutual { " mutual" } else { "" };
    let resumed_without = case.kind != Kind::Full && case.tls == Version::Tls12;
    // TLS 1.2 resumes without a key exchange.
    let group = if resumed_without { String::new() } else { format!(" {}", case.group) };
    let request = if case.request > 0 && case.kind != Kind::Early { " + request" } else { "" };
    let mode = psk_ke(case.psk_mode);
    let retried = if case.retried { " retried" } else { "" };
    let shares = if case.hybrid_share { " + hybrid share" } else { "" };
    format!(
        "{} {}{mode} {}{group}{mutual}{request}{retried}{shares}{}",
        case.tls.number(),
        case.kind,
        case.key,
        prepared(case)
    )
}

/// What was there before the handshake, where that is not as usual.
fn prepared(case: &CompareCase) -> String {
    let chain = match case.chain {
        ServerChain::One => "",
        ServerChain::Two => " chain of 2",
        ServerChain::Three => " chain of 3",
        ServerChain::Stored => " issuer stored",
        ServerChain::Cached => " chain cached",
    };
    let pairs = match case.key_pairs {
        KeyPairs::Fresh => "",
        KeyPairs::Ahead => " keys ahead",
        KeyPairs::Reused => " keys reused",
    };
    let fragments = case.max_fragment.map(|most| format!(" {most} B")).unwrap_or_default();
    let released = if case.releases_buffers { " released" } else { "" };
    format!("{chain}{pairs}{fragments}{released}")
}

/// `1.3 AES_128_GCM_SHA256 16384 B`, with what is unlike the most common row.
fn of_bulk(case: &CompareCase, bulk: &CompareBulk) -> String {
    let sender = if bulk.sender == BulkSender::Client { " client sends" } else { "" };
    let hardware = if bulk.hardware { "" } else { " software AES" };
    format!("{} {} {} B{sender}{hardware}", case.tls.number(), cipher_of(&case.cipher), bulk.record)
}

/// What an external PSK is used with: of TLS 1.2 the group, if there is one, and the cipher.
fn by_psk(case: &CompareCase) -> String {
    let mut words = vec![case.tls.number().to_owned(), format!("{}{}", case.kind, psk_ke(case.psk_mode))];
    words.extend((case.group != "none").then(|| case.group.clone()));
    // TLS 1.3 has the same for each of its rows.
    words.extend((case.tls == Version::Tls12).then(|| cipher_of(&case.cipher).to_owned()));
    words.join(" ")
}

/// The mode that is not the usual one.
pub(super) fn psk_ke(mode: Option<PskMode>) -> String {
    let named = mode.filter(|mode| *mode == PskMode::PskKe);
    named.map(|mode| format!(" {}", mode.name())).unwrap_or_default()
}

/// "1.3 full to ticket p-256".
pub(super) fn change(from: &CompareCase, to: &CompareCase) -> String {
    match (&from.bulk, &to.bulk) {
        (Some(data), Some(with)) if data.hardware != with.hardware => format!("{}: software to hardware AES", words(to)),
        _ => of_words(&words(from), &words(to)),
    }
}

/// The words that both have at their ends are said once, so that a narrow page has room for the rest.
fn of_words(from: &str, to: &str) -> String {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let (from, mut to) = (words(from), words(to));
    let same = |one: &mut dyn Iterator<Item = &String>, other: &mut dyn Iterator<Item = &String>| {
        one.zip(other).take_while(|(one, other)| one == other).count()
    };
    let ahead = same(&mut from.iter(), &mut to.iter());
    let behind = same(&mut from.iter().skip(ahead).rev(), &mut to.iter().skip(ahead).rev());
    let from = from.get(..from.len() - behind).unwrap_or_default().join(" ");
    to.drain(..ahead);
    format!("{from} to {}", to.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_handshakes_share_is_said_once() {
        assert_eq!(of_words("1.3 full p-256 secp256r1", "1.3 ticket p-256 secp256r1"), "1.3 full to ticket p-256 secp256r1");
        assert_eq!(of_words("1.2 full rsa-2048", "1.3 full rsa-2048"), "1.2 to 1.3 full rsa-2048");
        assert_eq!(of_words("1.3 ticket p-256 + request", "1.3 early p-256"), "1.3 ticket p-256 + request to early p-256");
    }
}
