use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::Instant;

use reprise_model::{ClientOffer, GivenSession, Nanos, Watched, WatchedConnection};
use zeroize::Zeroizing;

use crate::listener::lock;

/// So many connections are kept: what a peer can make the server hold is bounded.
const KEPT_CONNECTIONS: usize = 4096;

/// So many sessions are known again; the oldest is forgotten first.
const KEPT_SESSIONS: usize = 16_384;

/// What is known of all connections and of all sessions that were given on them.
#[derive(Debug)]
pub(super) struct Book {
    began: Instant,
    pages: Mutex<Pages>,
}

#[derive(Debug, Default)]
struct Pages {
    watched: Watched,
    arrived: u32,
    sessions: HashMap<Vec<u8>, Session>,
    by_age: VecDeque<Vec<u8>>,
}

/// A session that was given, under the ID or the ticket by which the client names it.
struct Session {
    given: GivenSession,
    /// What a ticket does not carry itself; none once it was taken.
    state: Option<Zeroizing<Vec<u8>>>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Session").field(&self.given).finish()
    }
}

impl Book {
    pub(super) fn new() -> Self {
        Self { began: Instant::now(), pages: Mutex::default() }
    }

    /// Since the server's start.
    pub(super) fn now(&self) -> Nanos {
        self.began.elapsed().into()
    }

    /// Enters a new connection, and returns its number.
    pub(super) fn arrive(&self, peer: SocketAddr) -> u32 {
        let now = self.now();
        let mut pages = lock(&self.pages);
        let number = pages.arrived;
        pages.arrived = number.saturating_add(1);
        if pages.watched.connections.len() < KEPT_CONNECTIONS {
            pages.watched.connections.push(WatchedConnection::new(number, peer, now));
        } else {
            pages.watched.unkept += 1;
        }
        number
    }

    /// Notes something about a connection, if it is kept.
    pub(super) fn note(&self, number: u32, note: impl FnOnce(&mut WatchedConnection)) {
        if let Some(connection) = connection(&mut lock(&self.pages), number) {
            note(connection);
        }
    }

    /// Keeps a session that is given on a connection, under the name that the client will offer it by.
    pub(super) fn give(&self, number: u32, name: Vec<u8>, state: Option<Vec<u8>>) {
        let mut pages = lock(&self.pages);
        let nth = match connection(&mut pages, number) {
            Some(connection) => {
                connection.sessions_given = connection.sessions_given.saturating_add(1);
                connection.sessions_given - 1
            }
            None => 0,
        };
        let given = GivenSession { connection: number, nth };
        pages.by_age.push_back(name.clone());
        pages.sessions.insert(name, Session { given, state: state.map(Zeroizing::new) });
        if pages.by_age.len() > KEPT_SESSIONS
            && let Some(oldest) = pages.by_age.pop_front()
        {
            pages.sessions.remove(&oldest);
        }
    }

    /// Which session has this name.
    pub(super) fn recognise(&self, name: &[u8]) -> Option<GivenSession> {
        lock(&self.pages).sessions.get(name).map(|session| session.given)
    }

    /// Whether a hello offers a session as the hello did that the session comes from: then it resumes, and nothing in it makes a full
    /// handshake of it.
    pub(super) fn is_offered_alike(&self, offer: &ClientOffer) -> bool {
        let pages = lock(&self.pages);
        let sources = offer.sessions.iter().filter_map(|session| usize::try_from(session.given?.connection).ok());
        let mut before = sources.filter_map(|number| pages.watched.connections.get(number)?.offer.as_ref());
        let is_alike = |before: &ClientOffer| {
            let suites = before.suites == offer.suites && before.versions == offer.versions;
            suites && before.sni == offer.sni && before.extended_master_secret == offer.extended_master_secret
        };
        before.any(is_alike)
    }

    /// The state of a session, which stays.
    pub(super) fn read_state(&self, name: &[u8]) -> Option<Vec<u8>> {
        lock(&self.pages).sessions.get(name)?.state.as_ref().map(|state| state.to_vec())
    }

    /// The state of a session, once. Its name stays known.
    pub(super) fn take_state(&self, name: &[u8]) -> Option<Vec<u8>> {
        lock(&self.pages).sessions.get_mut(name)?.state.take().map(|state| state.to_vec())
    }

    pub(super) fn watched(&self) -> Watched {
        lock(&self.pages).watched.clone()
    }

    pub(super) fn open(&self) -> usize {
        lock(&self.pages).watched.connections.iter().filter(|it| it.end.is_none()).count()
    }
}

/// Connections are kept from the first, without a gap.
fn connection(pages: &mut Pages, number: u32) -> Option<&mut WatchedConnection> {
    pages.watched.connections.get_mut(usize::try_from(number).ok()?)
}
