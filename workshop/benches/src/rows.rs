//! What `reprise compare` and the plain loops both measure, as one list.

use std::path::Path;

use reprise_model::document::BulkSender;
use reprise_model::{KeyPairs, Kind, ServerChain, Version};
use reprise_pairs::{Bulk, Case, Key, LARGEST_RECORD, NO_GROUP};
use reprise_wire::NamedGroup;

/// Bytes of one transfer of data, of whole records at most.
pub const TRANSFER: usize = 1 << 16;

/// A case, and how it is measured.
pub struct Row {
    /// The case.
    pub case: Case,
    /// Connections of a sample, or transfers.
    pub count: u32,
    /// Within which the interval of the client's ratio must lie, and of the server's.
    pub bounds: [[f64; 2]; 2],
    /// Which libraries have it.
    pub of: Libraries,
}

/// Which libraries have a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Libraries {
    /// All of them.
    All,
    /// OpenSSL of any version.
    OpenSsl,
    /// rustls.
    Rustls,
    /// rustls, and OpenSSL since 3.5.
    PostQuantum,
}

/// A library that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    /// That of Debian.
    OpenSsl,
    /// OpenSSL 3.5, from its source: only what an older one does not have.
    OpenSsl35,
    /// rustls over aws-lc-rs.
    Rustls,
}

impl Row {
    /// Whether it is measured with that library.
    pub fn is_of(&self, library: Measured) -> bool {
        match library {
            Measured::OpenSsl => matches!(self.of, Libraries::All | Libraries::OpenSsl),
            Measured::OpenSsl35 => self.of == Libraries::PostQuantum,
            Measured::Rustls => self.of != Libraries::OpenSsl,
        }
    }
}

/// A case and how many connections, or transfers, of it, as the plain programs read it; the certificates are in this folder.
pub fn line(case: Case, certificates: &Path, count: u32) -> String {
    let Case { version, kind, mutual, key_pairs, chain, bulk, .. } = case;
    let group = if case.group() == NO_GROUP { "none".to_owned() } else { case.group().to_string() };
    let (record, sender) = bulk.map_or((0, BulkSender::Server), |bulk| (bulk.record, bulk.sender));
    let (suite, certificates, mutual) = (case.suite(), certificates.display(), u8::from(mutual));
    let version = version.number();
    format!("{version} {kind} {group} {suite} {certificates} {mutual} {key_pairs} {chain} {record} {sender} {count}")
}

/// A full handshake.
const FULL: [[f64; 2]; 2] = [[0.95, 1.05], [0.97, 1.03]];
/// One that is resumed is short, and made of turns that the reading of a clock is a part of.
const SHORT: [[f64; 2]; 2] = [[0.93, 1.07]; 2];
/// Data in records.
const DATA: [[f64; 2]; 2] = [[0.95, 1.05]; 2];
/// How often ML-DSA tries until it has a signature is chance: the mean of a sample varies.
const ML_DSA: [[f64; 2]; 2] = [[0.95, 1.05], [0.90, 1.10]];

/// All rows.
pub fn rows() -> Vec<Row> {
    use Libraries::{All, OpenSsl, PostQuantum, Rustls};
    use Version::{Tls12, Tls13};
    let p256 = |version, kind, mutual| Case::new(version, kind, Key::P256, NamedGroup::SECP256R1, mutual);
    let full = |version| p256(version, Kind::Full, false);
    let hybrid = |kind, key| Case::new(Tls13, kind, key, NamedGroup::X25519MLKEM768, false);
    let with_chain = |chain| full(Tls13).map(|case| case.with_chain(chain));
    let ahead = |version| full(version).map(|case| case.with_key_pairs(KeyPairs::Ahead));
    let data = |version, sender, record| full(version).map(|case| case.with_bulk(Bulk { sender, record, hardware: true }));
    let (client, server) = (BulkSender::Client, BulkSender::Server);
    let listed = [
        (full(Tls12), 6, FULL, All),
        (p256(Tls12, Kind::Id, false), 80, SHORT, All),
        (p256(Tls12, Kind::Ticket, false), 80, SHORT, All),
        (full(Tls13), 6, FULL, All),
        (p256(Tls13, Kind::Ticket, false), 10, SHORT, All),
        (p256(Tls12, Kind::Full, true), 5, FULL, All),
        (p256(Tls13, Kind::Full, true), 5, FULL, All),
        (Case::by_psk(Tls12, NO_GROUP), 80, SHORT, OpenSsl),
        (Case::by_psk(Tls12, NamedGroup::SECP256R1), 10, SHORT, OpenSsl),
        (Case::by_psk(Tls13, NamedGroup::SECP256R1), 10, SHORT, OpenSsl),
        (with_chain(ServerChain::Two), 5, FULL, All),
        (with_chain(ServerChain::Three), 4, FULL, All),
        (with_chain(ServerChain::Stored), 5, FULL, All),
        (with_chain(ServerChain::Cached), 8, FULL, Rustls),
        (ahead(Tls12), 6, FULL, Rustls),
        (ahead(Tls13), 6, FULL, Rustls),
        (hybrid(Kind::Full, Key::P256), 6, FULL, PostQuantum),
        (hybrid(Kind::Ticket, Key::P256), 8, SHORT, PostQuantum),
        (hybrid(Kind::Full, Key::ML_DSA_65), 12, ML_DSA, PostQuantum),
        (data(Tls12, server, LARGEST_RECORD), 200, DATA, All),
        (data(Tls13, server, LARGEST_RECORD), 200, DATA, All),
        (data(Tls13, server, 4096), 150, DATA, All),
        (data(Tls13, server, 512), 50, DATA, All),
        (data(Tls13, client, LARGEST_RECORD), 200, DATA, All),
    ];
    let row = |(case, count, bounds, of): (Option<Case>, u32, [[f64; 2]; 2], Libraries)| {
        Some(Row { case: case?, count, bounds, of })
    };
    listed.into_iter().filter_map(row).collect()
}
