//! What is to be measured, as a line says it.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context, anyhow};

/// The fields of a line that say what a connection is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Row {
    pub(crate) is_tls13: bool,
    pub(crate) kind: String,
    /// By IANA's names, as the suite.
    pub(crate) group: String,
    pub(crate) suite: String,
    /// The folder of their files.
    pub(crate) certificates: PathBuf,
    pub(crate) mutual: bool,
    /// Whether the server's key pairs are made before the clock runs.
    pub(crate) makes_pairs_ahead: bool,
    /// Whether the client has verified the server's chain before.
    pub(crate) knows_chain: bool,
    /// Bytes of data in each record; 0: connections are measured, and no data.
    pub(crate) record: usize,
    pub(crate) client_sends: bool,
}

impl Row {
    /// With how many connections, or transfers, are to be measured.
    pub(crate) fn parse(line: &str) -> anyhow::Result<(Self, u32)> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [version, kind, group, suite, certificates, mutual, pairs, chain, record, sender, count] = words.as_slice()
        else {
            return Err(anyhow!("no row: {line}"));
        };
        let row = Self {
            is_tls13: *version == "1.3",
            kind: (*kind).to_owned(),
            group: (*group).to_owned(),
            suite: (*suite).to_owned(),
            certificates: certificates.into(),
            mutual: *mutual == "1",
            makes_pairs_ahead: *pairs == "ahead",
            knows_chain: *chain == "cached",
            record: number(record)?,
            client_sends: *sender == "client",
        };
        Ok((row, number(count)?))
    }

    pub(crate) fn resumes(&self) -> bool {
        self.kind != "full"
    }
}

pub(crate) fn number<T: FromStr>(word: &str) -> anyhow::Result<T> {
    word.parse().ok().with_context(|| format!("no number: {word}"))
}
