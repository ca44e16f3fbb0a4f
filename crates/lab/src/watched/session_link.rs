use std::fmt;
use std::sync::Arc;

use rustls::server::{ProducesTickets, StoresServerSessions};

use super::book::Book;

/// The sessions of one connection: rustls tells neither a store nor a ticketer which connection it asks for, so each has its
/// own.
pub(super) struct SessionLink {
    pub(super) book: Arc<Book>,
    /// The connection's number.
    pub(super) number: u32,
    pub(super) ticketer: Arc<dyn ProducesTickets>,
}

/// Session IDs of TLS 1.2 are read, tickets of TLS 1.3 are taken.
impl StoresServerSessions for SessionLink {
    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> bool {
        self.book.give(self.number, key, Some(value));
        true
    }

    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.book.read_state(key)
    }

    fn take(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.book.take_state(key)
    }

    fn can_cache(&self) -> bool {
        true
    }
}

/// Tickets of TLS 1.2.
impl ProducesTickets for SessionLink {
    fn enabled(&self) -> bool {
        self.ticketer.enabled()
    }

    fn lifetime(&self) -> u32 {
        self.ticketer.lifetime()
    }

    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        let ticket = self.ticketer.encrypt(plain)?;
        self.book.give(self.number, ticket.clone(), None);
        Some(ticket)
    }

    fn decrypt(&self, cipher: &[u8]) -> Option<Vec<u8>> {
        self.ticketer.decrypt(cipher)
    }
}

impl fmt::Debug for SessionLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SessionLink").field(&self.number).finish()
    }
}
