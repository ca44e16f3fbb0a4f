use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustls::server::{ProducesTickets, StoresServerSessions};

use super::book::Book;

/// The sessions of one connection: rustls tells neither a store nor a ticketer which connection it asks for, so each has its
/// own.
pub(super) struct SessionLink {
    book: Arc<Book>,
    /// The connection's number.
    number: u32,
    ticketer: Arc<dyn ProducesTickets>,
    /// Whether a connection that resumes by ticket gets another.
    renews: bool,
    was_read: AtomicBool,
}

impl SessionLink {
    pub(super) fn new(book: Arc<Book>, number: u32, ticketer: Arc<dyn ProducesTickets>, renews: bool) -> Self {
        Self { book, number, ticketer, renews, was_read: AtomicBool::new(false) }
    }
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

/// Tickets of TLS 1.2. As most servers do, nginx, Apache and HAProxy among them, this one gives none on a connection that resumes: rustls
/// asks whether it should once the ticket that was offered has been read.
impl ProducesTickets for SessionLink {
    fn enabled(&self) -> bool {
        self.ticketer.enabled() && (self.renews || !self.was_read.load(Ordering::Relaxed))
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
        let plain = self.ticketer.decrypt(cipher)?;
        self.was_read.store(true, Ordering::Relaxed);
        Some(plain)
    }
}

impl fmt::Debug for SessionLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SessionLink").field(&self.number).finish()
    }
}
