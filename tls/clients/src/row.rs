//! The rows: one file for each client, written by `cargo xtask like NAME` from what the client itself sent.

use std::sync::LazyLock;

use reprise_engine::Config;
use reprise_wire::{CipherSuite, NamedGroup, SignatureScheme};
use serde::{Deserialize, Serialize};

use crate::hello::{HelloError, HelloRecord};

/// One client, and the ClientHello that it sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientRow {
    /// The name that `--like` takes.
    pub name: String,
    /// The program, its version and that of its TLS library.
    pub client: String,
    /// The day on which it was captured.
    pub captured: String,
    /// What the client did for it.
    pub by: String,
    /// What it sent.
    pub hello: HelloRecord,
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
    static ROWS: LazyLock<Vec<ClientRow>> =
        LazyLock::new(|| FILES.iter().filter_map(|file| serde_json::from_str(file).ok()).collect());
    &ROWS
}

impl ClientRow {
    /// The row of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        rows().iter().find(|row| row.name == name)
    }

    /// Makes `config` offer what this client offers, in its form: suites, groups, shares, schemes, PSK modes and extensions. The
    /// versions that are accepted, the name, ALPN, and the client's certificate stay.
    ///
    /// # Errors
    /// If the row names what has no number.
    pub fn apply(&self, config: &mut Config) -> Result<(), HelloError> {
        let numbers = |list: Vec<u16>| list.into_iter();
        config.cipher_suites = numbers(self.hello.suites()?).map(CipherSuite).collect();
        config.groups = numbers(self.hello.groups()?).map(NamedGroup).collect();
        config.key_share_groups = numbers(self.hello.key_share_groups()?).map(NamedGroup).collect();
        config.signature_schemes = numbers(self.hello.signature_schemes()?).map(SignatureScheme).collect();
        config.tls13.psk_modes = self.hello.psk_modes()?;
        config.form = Some(std::sync::Arc::new(self.hello.form()?));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_read_and_offered() {
        for file in FILES {
            let row: ClientRow = serde_json::from_str(file).unwrap_or_else(|error| panic!("{error}: {file}"));
            row.hello.form().unwrap_or_else(|error| panic!("{}: {error}", row.name));
            assert!(!row.hello.suites().unwrap().is_empty(), "{}", row.name);
            assert!(!row.hello.groups().unwrap().is_empty(), "{}", row.name);
        }
        assert_eq!(rows().len(), FILES.len());
    }
}
