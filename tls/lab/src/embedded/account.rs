use std::collections::VecDeque;
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
    accounts: VecDeque<ConnectionAccount>,
    failures: VecDeque<HandshakeFailure>,
    misheard: VecDeque<String>,
}

fn keep<T>(kept: &mut VecDeque<T>, new: T) {
    kept.push_back(new);
    if kept.len() > KEPT {
        kept.pop_front();
    }
}

/// Where an account stands in the ledger.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry(u64);

impl Ledger {
    pub(super) fn enter(&self, account: ConnectionAccount) -> Entry {
        let mut pages = lock(&self.pages);
        let entry = pages.completed;
        pages.completed += 1;
        keep(&mut pages.accounts, account);
        Entry(entry)
    }

    pub(super) fn count_request(&self, entry: Entry) {
        let mut pages = lock(&self.pages);
        let oldest = pages.completed - pages.accounts.len() as u64;
        let place = entry.0.checked_sub(oldest).and_then(|place| usize::try_from(place).ok());
        if let Some(account) = place.and_then(|place| pages.accounts.get_mut(place)) {
            account.requests += 1;
        }
    }

    pub(super) fn enter_failure(&self, failure: HandshakeFailure) {
        keep(&mut lock(&self.pages).failures, failure);
    }

    pub(super) fn enter_misheard(&self, what: String) {
        keep(&mut lock(&self.pages).misheard, what);
    }

    pub(super) fn misheard(&self) -> Vec<String> {
        lock(&self.pages).misheard.iter().cloned().collect()
    }

    pub(super) fn accounts(&self) -> Vec<ConnectionAccount> {
        lock(&self.pages).accounts.iter().cloned().collect()
    }

    pub(super) fn failures(&self) -> Vec<HandshakeFailure> {
        lock(&self.pages).failures.iter().cloned().collect()
    }

    pub(super) fn completed(&self) -> u64 {
        lock(&self.pages).completed
    }
}
