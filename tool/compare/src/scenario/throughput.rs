//! What do the records of bulk data cost, by suite, by size and by side, with the CPU's AES instructions and without?

use reprise_model::document::{BulkSender, CompareDocument, CompareRow, cipher_of};
use reprise_model::{Kind, Version};
use reprise_pairs::{Bulk, Case, Key, LARGEST_RECORD};
use reprise_wire::{CipherSuite, NamedGroup};

use super::{BOTH, Scenario};
use crate::conclusion::times_as_much;

pub(super) const SCENARIO: Scenario = Scenario {
    name: "throughput",
    help: "Bulk data: what records cost, by suite, size and direction, with AES instructions and without",
    versions: BOTH,
    keys: &[Key::P256],
    groups: |_| &[NamedGroup::SECP256R1],
    kinds: &[],
    beside: |version, key, group| {
        let Some(handshake) = Case::new(version, Kind::Full, key, group, false) else { return Vec::new() };
        let of = |suite, bulk| handshake.with_suite(suite).map(|case| case.with_bulk(bulk));
        let mut cases: Vec<Case> = suites(version, key).iter().filter_map(|&suite| of(suite, LARGEST)).collect();
        // How it is without AES instructions is asked of AES, and what small records cost and who sends, of the most common suite.
        let aes = suites(version, key).iter().filter(|suite| suite.to_string().contains("_AES_128_"));
        cases.extend(aes.filter_map(|&suite| of(suite, Bulk { hardware: false, ..LARGEST })));
        if version == Version::Tls13 {
            let of_default = |bulk| handshake.with_bulk(bulk);
            cases.extend(SMALLER.map(|record| of_default(Bulk { record, ..LARGEST })));
            cases.push(of_default(Bulk { sender: BulkSender::Client, ..LARGEST }));
        }
        cases
    },
    compares: |from, to| {
        let (Some(data), Some(with)) = (from.bulk, to.bulk) else { return false };
        let [suite, to_suite] = [from, to].map(|case| case.suite().to_string());
        let [cipher, to_cipher] = [&suite, &to_suite].map(|suite| cipher_of(suite));
        let same_cipher = cipher == to_cipher;
        let newer = (from.version, to.version) == (Version::Tls12, Version::Tls13) && same_cipher && data == with;
        let same_version = from.version == to.version;
        let by_hardware = !data.hardware && with == Bulk { hardware: true, ..data };
        let larger = data.record < with.record && with == Bulk { record: LARGEST_RECORD, ..data };
        let chacha20 = cipher.starts_with("CHACHA20") && is_gcm(to_cipher) && data == with;
        newer || same_version && (same_cipher && (by_hardware || larger) || chacha20)
    },
    concludes: |document| {
        let sentences = [
            fastest(document),
            times_as_much(document, "Without AES instructions AES-128-GCM under TLS 1.3", |from, to| {
                is_gcm(&to.cipher)
                    && to.tls == Version::Tls13
                    && from.hardware() == Some(false)
                    && to.hardware() == Some(true)
            }),
            times_as_much(document, "Data in records of 512 bytes in place of 16384", |from, to| {
                from.record() == Some(512) && to.record() == Some(LARGEST_RECORD.into())
            }),
            times_as_much(
                document,
                "ChaCha20-Poly1305 under TLS 1.3, where AES-128-GCM has AES instructions,",
                |from, to| {
                    from.cipher.contains("CHACHA20")
                        && from.tls == Version::Tls13
                        && is_gcm(&to.cipher)
                        && to.record() == Some(LARGEST_RECORD.into())
                },
            ),
        ];
        sentences.into_iter().flatten().collect()
    },
};

/// A server that sends as fast as it can.
const LARGEST: Bulk = Bulk { sender: BulkSender::Server, record: LARGEST_RECORD, hardware: true };

/// What fits a TCP segment of Ethernet, what a small board has room for, and between them and the largest.
const SMALLER: [u16; 3] = [4096, 1400, 512];

fn suites(version: Version, key: Key) -> &'static [CipherSuite] {
    match version {
        Version::Tls13 => &[
            CipherSuite::TLS_AES_128_GCM_SHA256,
            CipherSuite::TLS_AES_256_GCM_SHA384,
            CipherSuite::TLS_CHACHA20_POLY1305_SHA256,
        ],
        Version::Tls12 if key.is_rsa() => &[
            CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
            CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256,
            CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        ],
        Version::Tls12 => &[
            CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
            CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256,
            CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        ],
    }
}

fn is_gcm(cipher: &str) -> bool {
    cipher.contains("AES_128_GCM")
}

/// Whose core sends the most of all rows, and receives the most.
fn fastest(document: &CompareDocument) -> Option<String> {
    let best = |of_sender: bool| {
        let rate = |row: &CompareRow| row.rates().map(|[sent, received]| if of_sender { sent } else { received });
        let rates = document.rows.iter().filter_map(|row| Some((row, rate(row)?)));
        let (row, rate) = rates.max_by(|(_, one), (_, other)| one.median.total_cmp(&other.median))?;
        let spread = rate.ci95.map(|[low, high]| format!(" ({low:.0}–{high:.0})")).unwrap_or_default();
        let stack = if of_sender == row.case.bulk.as_ref().is_some_and(|bulk| bulk.sender == BulkSender::Client) {
            &row.client
        } else {
            &row.server
        };
        Some(format!("{:.0} MB/s{spread} with {stack}, {}", rate.median, row.case.cipher))
    };
    Some(format!("The most that one core sends is {}; the most that it receives is {}.", best(true)?, best(false)?))
}
