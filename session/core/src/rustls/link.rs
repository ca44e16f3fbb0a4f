//! One connection's own ticketer, session store and certificate resolver.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustls::server::{ClientHello, ProducesTickets, ResolvesServerCert, StoresServerSessions};
use rustls::sign::CertifiedKey;
use rustls_pki_types::UnixTime;
use zeroize::Zeroizing;

use super::bound::Bound;
use super::client_chain;
use super::resumption::{Settings, Store};
use crate::hello::MAX_IDENTITIES;
use crate::metrics::Issued;
use crate::policy::Policy;
use crate::random::SystemRandom;
use crate::ring_handle::RingHandle;
use crate::rotation::after;
use crate::store::{Answer, Answers, LocalStore, StoreKey, StoredState, Written};
use crate::ticket::{self, Refused, SealPurpose, Times};

/// rustls asks in this order: which certificate, then whether what the client offers can be opened, then for something to
/// give the client. So the link knows the policy first, and carries the time of the first authentication from what was
/// opened to what is sealed.
pub(super) struct Link {
    bound: Arc<Bound>,
    offers_tls13: bool,
    state: Mutex<State>,
}

struct State {
    /// Of the certificate and the name that this connection has; `None` until the certificate is chosen.
    policy: Option<Policy>,
    /// Of all sessions that were opened, the earliest: rustls does not say which one it resumed.
    first_authentication: Option<UnixTime>,
    /// When the client's certificates end, as the session says that was issued last.
    client_end: Option<UnixTime>,
    identities_left: usize,
    answers: Vec<(StoreKey, Answer)>,
    /// Why the first one offered was refused.
    refused: Option<Refused>,
    opened_ticket: bool,
    /// What was put into the shared store and has not been waited for.
    written: Vec<Written>,
}

impl Link {
    pub(super) fn new(bound: Arc<Bound>, answers: Answers, offers_tls13: bool) -> Self {
        let state = State {
            policy: None,
            first_authentication: None,
            client_end: None,
            identities_left: MAX_IDENTITIES,
            answers: answers.answers,
            refused: None,
            opened_ticket: false,
            written: Vec::new(),
        };
        Self { bound, offers_tls13, state: Mutex::new(state) }
    }

    /// Why the first session offered was refused; `None` if none was.
    pub(super) fn refused(&self) -> Option<Refused> {
        self.state().refused
    }

    /// Whether a ticket was opened, rather than a stored session found.
    pub(super) fn opened_ticket(&self) -> bool {
        self.state().opened_ticket
    }

    /// What was put since the last time.
    pub(super) fn take_written(&self) -> Vec<Written> {
        std::mem::take(&mut self.state().written)
    }

    pub(super) fn bound(&self) -> &Bound {
        &self.bound
    }

    fn settings(&self) -> &Settings {
        &self.bound.settings
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs one attempt to open what the client offers, within the budget of identities.
    fn attempt(
        &self,
        open: impl FnOnce(&mut State, &Policy, UnixTime) -> Result<ticket::Opened, Refused>,
    ) -> Option<Vec<u8>> {
        let now = self.settings().clock.current_time()?;
        let mut state = self.state();
        let opened = match (state.identities_left.checked_sub(1), state.policy) {
            (None, _) => Err(Refused::OverBudget),
            (_, None) => Err(Refused::Policy),
            (Some(left), Some(policy)) => {
                state.identities_left = left;
                open(&mut state, &policy, now)
            }
        };
        let still_holds = |opened: ticket::Opened| {
            self.bound.client_auth.check_again(&opened.state, now)?;
            Ok(opened)
        };
        match opened.and_then(still_holds) {
            Ok(mut opened) => {
                let first = opened.times.first_authentication;
                state.first_authentication = Some(state.first_authentication.map_or(first, |other| other.min(first)));
                Some(std::mem::take(&mut *opened.state))
            }
            Err(refused) => {
                state.refused.get_or_insert(refused);
                None
            }
        }
    }

    /// The policy, and the times of a session that is issued now.
    fn issue(&self) -> Option<(Policy, Times)> {
        let issued = self.settings().clock.current_time()?;
        let state = self.state();
        // Another node's clock may be ahead.
        let first_authentication = state.first_authentication.map_or(issued, |first| first.min(issued));
        Some((state.policy?, Times { first_authentication, issued }))
    }

    /// No session of a client whose certificate is over.
    fn holds(&self, state: &[u8], now: UnixTime) -> Option<()> {
        let end = client_chain::end(&client_chain::chain(state).ok()?);
        let end = if self.bound.client_auth.has_no_end() { None } else { end.ok()? };
        self.state().client_end = end;
        (!end.is_some_and(|end| client_chain::is_over(end, now))).then_some(())
    }

    fn seal(&self, ring: &RingHandle, purpose: SealPurpose<'_>, state: &[u8]) -> Option<Vec<u8>> {
        let (policy, times) = self.issue()?;
        self.holds(state, times.issued)?;
        ticket::seal(&ring.load(times.issued), &policy, purpose, times, state, &SystemRandom)
    }

    fn open_answer(&self, id: &[u8], keep: bool) -> Option<Vec<u8>> {
        let key = StoreKey::of(id);
        self.attempt(|state, policy, now| {
            let Store::Shared { ring, .. } = &self.settings().store else { return Err(Refused::Absent) };
            // Only a store that answered can say that there is none.
            let index = state.answers.iter().position(|(found, _)| *found == key).ok_or(Refused::Unanswered)?;
            let sealed = match state.answers.get(index) {
                Some((_, Answer::Found(sealed))) if keep => sealed.clone(),
                Some((_, Answer::Found(_))) => match state.answers.swap_remove(index).1 {
                    Answer::Found(sealed) => sealed,
                    _ => return Err(Refused::Absent),
                },
                Some((_, Answer::Unanswered)) => return Err(Refused::Unanswered),
                Some((_, Answer::Absent)) | None => return Err(Refused::Absent),
            };
            ticket::open(&ring.load(now), policy, SealPurpose::Entry(&key), &self.settings().limits, now, &sealed)
        })
    }

    /// Whether the store has it.
    fn put_session(&self, key: &[u8], value: &[u8]) -> bool {
        match &self.settings().store {
            Store::None => false,
            Store::Local(store) => {
                let (Some((policy, times)), Ok(id)) = (self.issue(), <&[u8; 32]>::try_from(key)) else { return false };
                let (entry, lifetime) = (pack(&policy, times, value), self.settings().limits.lifetime);
                let is_renewed = self.state().first_authentication.is_some();
                let put = if is_renewed { LocalStore::put_renewed } else { LocalStore::put };
                put(store, times.issued, id, &entry, lifetime)
            }
            Store::Shared { store, ring } => {
                let key = StoreKey::of(key);
                let Some(entry) = self.seal(ring, SealPurpose::Entry(&key), value) else { return false };
                let Some(written) = store.put(key, entry, self.settings().limits.lifetime) else { return false };
                self.state().written.push(written);
                true
            }
        }
    }

    fn open_local(&self, find: impl FnOnce(&LocalStore, UnixTime) -> Option<StoredState>) -> Option<Vec<u8>> {
        self.attempt(|_, policy, now| {
            let Store::Local(store) = &self.settings().store else { return Err(Refused::Absent) };
            let entry = find(store, now).ok_or(Refused::Absent)?;
            let (times, state) = unpack(&entry, policy)?;
            times.check(&self.settings().limits, now)?;
            Ok(ticket::Opened { times, state: Zeroizing::new(state.to_vec()) })
        })
    }
}

impl ResolvesServerCert for Link {
    fn resolve(&self, client_hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = client_hello.server_name().map(str::to_owned);
        let certificate = self.bound.config.cert_resolver.resolve(client_hello)?;
        self.state().policy = Some(self.bound.policy(&certificate, name.as_deref()));
        Some(certificate)
    }

    fn only_raw_public_keys(&self) -> bool {
        self.bound.config.cert_resolver.only_raw_public_keys()
    }
}

impl ProducesTickets for Link {
    fn enabled(&self) -> bool {
        self.settings().tickets.is_some()
    }

    /// Seconds until the ticket would be refused: its lifetime, or what is left of the chain or of the client's certificates.
    fn lifetime(&self) -> u32 {
        let (Some(ring), Some((_, times))) = (&self.settings().tickets, self.issue()) else { return 0 };
        let limits = match ring.load(times.issued).encryption_key(times.issued) {
            Some(key) => self.settings().limits.under(key),
            None => return 0,
        };
        let end = after(times.issued, limits.lifetime).min(after(times.first_authentication, limits.chain));
        let end = self.state().client_end.map_or(end, |client| end.min(client));
        u32::try_from(end.as_secs().saturating_sub(times.issued.as_secs())).unwrap_or(u32::MAX)
    }

    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        let ticket = self.seal(self.settings().tickets.as_ref()?, SealPurpose::Ticket, plain)?;
        if ticket.len() > self.settings().max_hello / HELLO_PER_TICKET {
            return None;
        }
        self.settings().metrics.issued(Issued::Ticket);
        Some(ticket)
    }

    fn decrypt(&self, cipher: &[u8]) -> Option<Vec<u8>> {
        let ring = self.settings().tickets.as_ref()?;
        let opened = self.attempt(|_, policy, now| {
            ticket::open(&ring.load(now), policy, SealPurpose::Ticket, &self.settings().limits, now, cipher)
        })?;
        self.state().opened_ticket = true;
        Some(opened)
    }
}

impl StoresServerSessions for Link {
    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> bool {
        let is_put = self.put_session(&key, &Zeroizing::new(value));
        if is_put {
            self.settings().metrics.issued(Issued::Stored);
        }
        is_put
    }

    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        if self.offers_tls13 {
            self.bound.saw_session_id();
        }
        match &self.settings().store {
            Store::None => None,
            Store::Local(_) => self.open_local(|store, now| store.get(now, key.try_into().ok()?)),
            Store::Shared { .. } => self.open_answer(key, true),
        }
    }

    fn take(&self, key: &[u8]) -> Option<Vec<u8>> {
        match &self.settings().store {
            Store::None => None,
            Store::Local(_) => self.open_local(|store, now| store.take(now, key.try_into().ok()?)),
            Store::Shared { .. } => self.open_answer(key, false),
        }
    }

    fn can_cache(&self) -> bool {
        !matches!(self.settings().store, Store::None)
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Link")
    }
}

/// A ticket, which has the client's whole chain in it, takes at most one part in so many of the largest hello that is accepted:
/// a client that comes back with it is not to be refused for it.
const HELLO_PER_TICKET: usize = 4;

/// What a local entry begins with: the policy and the times.
const PACKED: usize = 32 + ticket::TIMES_LEN;

fn pack(policy: &Policy, times: Times, state: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut entry = Zeroizing::new(Vec::with_capacity(PACKED.saturating_add(state.len())));
    entry.extend_from_slice(policy.as_bytes());
    times.write(&mut entry);
    entry.extend_from_slice(state);
    entry
}

fn unpack<'a>(entry: &'a [u8], policy: &Policy) -> Result<(Times, &'a [u8]), Refused> {
    let (bound_to, rest) = entry.split_first_chunk::<32>().ok_or(Refused::Altered)?;
    if bound_to != policy.as_bytes() {
        return Err(Refused::Policy);
    }
    Times::read(rest)
}
