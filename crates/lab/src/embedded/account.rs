use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use std::time::Duration;

use crate::listener::lock;

/// What an embedded server saw of one connection whose handshake completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionAccount {
    /// The client's port, which joins this account to the client's.
    pub peer_port: u16,
    /// `TLSv1.2` or `TLSv1.3`.
    pub version: String,
    /// The cipher suite, by its IANA name.
    pub cipher: String,
    /// The group of the key exchange, by its IANA name; none in an abbreviated TLS 1.2 handshake.
    pub group: Option<String>,
    /// Whether the session was resumed.
    pub resumed: bool,
    /// Whether a HelloRetryRequest was sent.
    pub retried: bool,
    /// Whether the server knows the client's certificate: sent in this handshake, or remembered with the session.
    pub client_cert: bool,
    /// Bytes of early data that were accepted; none if there was no early data or it was rejected.
    pub early_data: Option<usize>,
    /// The name the client asked for.
    pub sni: Option<String>,
    /// The application protocol that was agreed on.
    pub alpn: Option<Vec<u8>>,
    /// From the arrival of the client's first bytes to the end of the handshake, as the server's clock shows it.
    pub handshake: Duration,
    /// How many well-formed requests arrived so far.
    pub requests: u64,
}

/// A handshake that an embedded server could not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandshakeFailure {
    /// The client's port.
    pub peer_port: u16,
    /// What rustls or the socket said.
    pub reason: String,
}

/// So many accounts are kept of each kind: what a peer can make the server hold is bounded.
const KEPT: usize = 65_536;

/// The book in which connections are entered.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pages: Mutex<Pages>,
}

#[derive(Debug, Default)]
struct Pages {
    completed: u64,
    accounts: BTreeMap<u64, ConnectionAccount>,
    failures: VecDeque<HandshakeFailure>,
    misheard: VecDeque<String>,
}

/// Where an account stands in the ledger.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry(u64);

impl Ledger {
    pub(super) fn enter(&self, account: ConnectionAccount) -> Entry {
        let mut pages = lock(&self.pages);
        let entry = pages.completed;
        pages.completed += 1;
        pages.accounts.insert(entry, account);
        if pages.accounts.len() > KEPT {
            pages.accounts.pop_first();
        }
        Entry(entry)
    }

    pub(super) fn count_request(&self, entry: Entry) {
        if let Some(account) = lock(&self.pages).accounts.get_mut(&entry.0) {
            account.requests += 1;
        }
    }

    pub(super) fn enter_failure(&self, failure: HandshakeFailure) {
        let mut pages = lock(&self.pages);
        pages.failures.push_back(failure);
        if pages.failures.len() > KEPT {
            pages.failures.pop_front();
        }
    }

    pub(super) fn enter_misheard(&self, what: String) {
        let mut pages = lock(&self.pages);
        pages.misheard.push_back(what);
        if pages.misheard.len() > KEPT {
            pages.misheard.pop_front();
        }
    }

    pub(super) fn misheard(&self) -> Vec<String> {
        lock(&self.pages).misheard.iter().cloned().collect()
    }

    pub(super) fn accounts(&self) -> Vec<ConnectionAccount> {
        lock(&self.pages).accounts.values().cloned().collect()
    }

    pub(super) fn failures(&self) -> Vec<HandshakeFailure> {
        lock(&self.pages).failures.iter().cloned().collect()
    }

    pub(super) fn completed(&self) -> u64 {
        lock(&self.pages).completed
    }
}
