//! The rows: one file for each client, written by `cargo xtask like NAME` from what the client itself sent.

use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use reprise_engine::{Config, is_grease};
use reprise_wire::{CipherSuite, NamedGroup, SignatureScheme};
use serde::{Deserialize, Serialize};

use crate::decompress::Decompressor;
use crate::hello::{ClientOffer, HelloRecord};

/// One client, and the ClientHello that it sent: a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowFile {
    /// The name that `--like` takes.
    pub name: String,
    /// The program, its version and that of its TLS library.
    pub client: String,
    /// The day on which it was captured.
    pub captured: String,
    /// What the client did for it.
    pub by: String,
    /// Whether its next connection shares the group that a HelloRetryRequest asked for, and pays for it no more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remembers_retry: bool,
    /// What it sent.
    pub hello: HelloRecord,
}

/// One client, and what the engine offers in its place.
#[derive(Debug)]
pub struct ClientRow {
    /// As the file has it.
    file: RowFile,
    offer: ClientOffer,
}

impl Deref for ClientRow {
    type Target = RowFile;

    fn deref(&self) -> &RowFile {
        &self.file
    }
}

macro_rules! row_files {
    ($($name:literal,)*) => {
        /// Each row, as its file has it.
        const FILES: &[&str] = &[$(include_str!(concat!("rows/", $name, ".json"))),*];
    };
}

// In the order in which a list of them shows them.
row_files! {
    "chrome",
    "firefox",
    "curl-openssl-3.0",
    "curl-openssl-3.6",
    "go",
    "node-20",
    "node-26",
    "java-17",
    "python",
    "rustls",
    "gnutls",
}

/// Every row; a file that cannot be read has none, which a test refuses.
pub fn rows() -> &'static [ClientRow] {
    static ROWS: LazyLock<Vec<ClientRow>> = LazyLock::new(|| {
        let files = FILES.iter().filter_map(|file| serde_json::from_str::<RowFile>(file).ok());
        files.filter_map(|file| Some(ClientRow { offer: file.hello.offer().ok()?, file })).collect()
    });
    &ROWS
}

impl ClientRow {
    /// The row of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        rows().iter().find(|row| row.name == name)
    }

    /// The groups that it offers, in order of preference, without the place of GREASE.
    pub fn groups(&self) -> Vec<NamedGroup> {
        let groups = self.offer.groups.iter().filter(|group| !is_grease(**group));
        groups.copied().map(NamedGroup).collect()
    }

    /// The groups that get a key share, likewise.
    pub fn key_share_groups(&self) -> Vec<NamedGroup> {
        let groups = self.offer.key_share_groups.iter().filter(|group| !is_grease(**group));
        groups.copied().map(NamedGroup).collect()
    }

    /// Makes `config` offer what this client offers, in its form: suites, groups, shares, schemes, PSK modes and extensions. The
    /// versions that are accepted, the name, ALPN, and the client's certificate stay.
    pub fn apply(&self, config: &mut Config) {
        config.cipher_suites = self.offer.suites.iter().copied().map(CipherSuite).collect();
        config.groups = self.offer.groups.iter().copied().map(NamedGroup).collect();
        config.key_share_groups = self.offer.key_share_groups.iter().copied().map(NamedGroup).collect();
        config.signature_schemes = self.offer.signature_schemes.iter().copied().map(SignatureScheme).collect();
        config.tls13.psk_modes.clone_from(&self.offer.psk_modes);
        config.form = Some(Arc::clone(&self.offer.form));
        config.decompressor = Some(Arc::new(Decompressor));
    }
}

#[cfg(test)]
mod tests {
    use reprise_engine::{CertificatePolicy, Connection, FreshKeyShares, Offer, Start, SystemEntropy};
    use reprise_model::{Nanos, Version};
    use reprise_wire::{ClientHello, ExtensionType, Handshake, ProtocolVersion, first_message};
    use rustls_pki_types::{ServerName, UnixTime};

    use super::*;

    #[test]
    fn every_row_can_be_read_and_offered() {
        for file in FILES {
            let row: RowFile = serde_json::from_str(file).unwrap_or_else(|error| panic!("{error}: {file}"));
            row.hello.offer().unwrap_or_else(|error| panic!("{}: {error}", row.name));
            let row = ClientRow::named(&row.name).unwrap();
            assert!(!row.offer.suites.is_empty() && !row.groups().is_empty(), "{}", row.name);
            assert!(row.key_share_groups().iter().all(|group| row.groups().contains(group)), "{}", row.name);
        }
    }

    /// The ClientHello of a connection in a client's form.
    fn hello_of(row: &ClientRow, versions: &[Version], offer: Offer) -> (ProtocolVersion, Vec<u8>) {
        let name = ServerName::try_from("localhost").unwrap();
        let policy = CertificatePolicy::AcceptAnyChain;
        let mut config = Config::new(name, policy, Arc::new(FreshKeyShares), Arc::new(SystemEntropy));
        config.versions = versions.to_vec();
        config.alpn = row.hello.alpn();
        row.apply(&mut config);
        let start = Start { offer, date: UnixTime::now() };
        let mut connection = Connection::start(Arc::new(config), start, Nanos(0)).unwrap();
        let mut sent = Vec::new();
        connection.append_outgoing(&mut sent);
        let (version, message) = first_message(&sent).unwrap().unwrap();
        (version, message[Handshake::HEADER_LEN..].to_vec())
    }

    #[test]
    fn what_is_offered_is_what_the_client_sent() {
        for row in rows() {
            let full = || Offer::Full { session_ticket: true };
            let records = [(); 4].map(|()| {
                let (version, body) = hello_of(row, &[Version::Tls13], full());
                HelloRecord::read(version, &body).unwrap()
            });
            let seen = records.iter().skip(1).fold(records[0].clone(), |seen, record| seen.beside(record));
            assert_eq!(row.hello.differences(&seen), [""; 0], "{}", row.name);
        }
    }

    #[test]
    fn a_form_without_tls13_says_nothing_of_it() {
        for row in rows() {
            let (_, body) = hello_of(row, &[Version::Tls12], Offer::Full { session_ticket: true });
            let hello = ClientHello::parse(&body).unwrap();
            let extensions = hello.extensions.unwrap();
            for extension in
                [ExtensionType::SUPPORTED_VERSIONS, ExtensionType::KEY_SHARE, ExtensionType::PSK_KEY_EXCHANGE_MODES]
            {
                assert_eq!(extensions.find(extension), None, "{}: {extension}", row.name);
            }
            assert!(hello.cipher_suites.iter().all(|suite| suite.0 >> 8 != 0x13), "{}", row.name);
        }
    }
}
