//! Sessions that outlive their process: as bytes, and resumed by another clock.

use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use reprise_engine::{Config, Offer, Session, SessionError, Tls13Ticket};
use reprise_lab::KeyKind;
use reprise_model::{EarlyData, Kind, Nanos};
use reprise_wire::{CipherSuite, Error};

use crate::FULL;
use crate::client::client;
use crate::pair::Pair;
use crate::server::{Resumption, Server, authority};

const SERVER: &str = "localhost:443";

fn date() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

/// A pair after a full handshake under this suite, and what that left behind.
fn connected(suite: CipherSuite, resumption: Resumption, offer: Offer) -> (Pair, Session) {
    let server =
        Server { cipher_suites: vec![suite], resumption, alpn: vec![b"h2".to_vec()], ..Server::with(KeyKind::P256) };
    let mut config = server.start();
    // rustls takes early data with stored sessions only.
    config.max_early_data_size = if config.ticketer.enabled() { 0 } else { 77 };
    let mut pair = Pair::new(Config { alpn: vec![b"h2".to_vec()], ..client(authority()) }, config);
    pair.complete(offer);
    let session = pair.client.take_sessions().pop().unwrap();
    (pair, session)
}

const TLS13: CipherSuite = CipherSuite::TLS_AES_256_GCM_SHA384;
const TLS12: CipherSuite = CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256;
const BY_ID: Offer = Offer::Full { session_ticket: false };

#[test]
fn every_kind_of_session_resumes_in_another_process() {
    let cases = [
        (TLS13, Resumption::Tickets, FULL, Kind::Ticket),
        (TLS13, Resumption::Stored, FULL, Kind::Early),
        (TLS12, Resumption::Tickets, FULL, Kind::Ticket),
        (TLS12, Resumption::Stored, BY_ID, Kind::Id),
    ];
    for (suite, resumption, offer, kind) in cases {
        let (mut pair, session) = connected(suite, resumption, offer);
        let saved = session.encode(SERVER, pair.now, date());
        // A second later, in a process that has just begun.
        pair.now = Nanos(3);
        let loaded = Session::decode(&saved, SERVER, pair.now, date() + Duration::from_secs(1)).unwrap();
        pair.connect(match (loaded, kind) {
            (Session::Tls13(ticket), Kind::Early) => Offer::Early(ticket),
            (Session::Tls13(ticket), _) => Offer::Ticket(ticket),
            (Session::Tls12(session), Kind::Id) => Offer::SessionId(session),
            (Session::Tls12(session), _) => Offer::SessionTicket(session),
        });
        pair.drive();
        assert_eq!(pair.outcome().kind, kind);
    }
}

#[test]
fn a_server_compares_the_calendar_age_with_its_own_clock() {
    let (mut pair, session) = connected(TLS13, Resumption::Stored, FULL);
    let saved = session.encode(SERVER, pair.now, date());
    // An hour by our calendar, no time at all by the server's clock: too much for early data (RFC 9846 §8.3).
    let Ok(Session::Tls13(ticket)) = Session::decode(&saved, SERVER, Nanos(3), date() + Duration::from_secs(3600)) else {
        panic!("no ticket")
    };
    pair.complete(Offer::Early(ticket));
    assert_eq!((pair.outcome().kind, pair.outcome().early_data), (Kind::Ticket, Some(EarlyData::Rejected)));
}

fn ticket_of(session: &Session) -> &Tls13Ticket {
    match session {
        Session::Tls13(ticket) => ticket,
        Session::Tls12(_) => panic!("a session of TLS 1.2"),
    }
}

#[test]
fn all_of_a_ticket_is_kept() {
    let (pair, session) = connected(TLS13, Resumption::Stored, FULL);
    let loaded = Session::decode(&session.encode(SERVER, pair.now, date()), SERVER, Nanos(0), date()).unwrap();
    let (saved, loaded) = (ticket_of(&session), ticket_of(&loaded));
    assert_eq!((loaded.suite, loaded.psk.as_ref()), (saved.suite, saved.psk.as_ref()));
    assert_eq!((&loaded.ticket, &loaded.alpn), (&saved.ticket, &Some(b"h2".to_vec())));
    assert_eq!((loaded.lifetime, loaded.age_add, loaded.max_early_data), (saved.lifetime, saved.age_add, Some(77)));
    assert!(loaded.leaf.is_some() && loaded.leaf == saved.leaf);
}

#[test]
fn all_of_a_tls12_session_is_kept() {
    for (resumption, offer) in [(Resumption::Tickets, FULL), (Resumption::Stored, BY_ID)] {
        let (pair, session) = connected(TLS12, resumption, offer);
        let loaded = Session::decode(&session.encode(SERVER, pair.now, date()), SERVER, Nanos(0), date()).unwrap();
        let (Session::Tls12(saved), Session::Tls12(loaded)) = (&session, &loaded) else { panic!("{loaded:?}") };
        assert_eq!((loaded.suite, loaded.master_secret.as_bytes()), (saved.suite, saved.master_secret.as_bytes()));
        assert_eq!((&loaded.session_id, &loaded.ticket), (&saved.session_id, &saved.ticket));
        assert!(loaded.extended_master_secret && (loaded.ticket.is_some() || !loaded.session_id.is_empty()));
    }
}

#[test]
fn age_is_by_calendar_across_processes_else_by_clock() {
    let (pair, session) = connected(TLS13, Resumption::Tickets, FULL);
    let fresh = ticket_of(&session);
    let millis = |count: u64| Duration::from_millis(count);
    // 5 s old when it is saved, 10 s by the calendar in between, 2 s in the new process.
    let saved = session.encode(SERVER, pair.now + Nanos::from(millis(5_000)), date());
    let load = |date| Session::decode(&saved, SERVER, Nanos(7), date).unwrap();
    let loaded = load(date() + millis(10_000));
    let ticket = ticket_of(&loaded);
    let later = Nanos(7) + Nanos::from(millis(2_000));
    assert_eq!(ticket.received.age(later), Nanos::from(millis(17_000)));
    assert_eq!(ticket.obfuscated_age(later), fresh.age_add.wrapping_add(17_000));
    assert!(!ticket.is_expired(later));
    let day = Duration::from_secs(u64::from(fresh.lifetime));
    assert!(ticket_of(&load(date() + day)).is_expired(Nanos(7)));

    // A calendar that was set back makes nothing younger than new.
    assert_eq!(ticket_of(&load(date() - day)).received.age(Nanos(7)), Nanos(0));
    assert_eq!(ticket_of(&load(SystemTime::UNIX_EPOCH - day)).received.age(Nanos(7)), Nanos(0));

    // And again, from the second process to a third.
    let again = loaded.encode(SERVER, later, date() + millis(12_000));
    let third = Session::decode(&again, SERVER, Nanos(0), date() + millis(20_000)).unwrap();
    assert_eq!(ticket_of(&third).received.age(Nanos(0)), Nanos::from(millis(25_000)));
}

#[test]
fn what_is_no_session_for_this_server_says_why() {
    let (pair, session) = connected(TLS13, Resumption::Tickets, FULL);
    let saved = session.encode(SERVER, pair.now, date());
    let load = |bytes: &[u8], server| Session::decode(bytes, server, Nanos(0), date()).err();
    let other = SessionError::OtherServer { saved: SERVER.to_owned(), asked: "localhost:8443".to_owned() };
    assert_eq!(other.to_string(), "the session is of localhost:443, not of localhost:8443");
    assert_eq!(load(&saved, "localhost:8443"), Some(other));
    assert_eq!(load(b"", SERVER), Some(SessionError::NotASession));
    assert_eq!(load(b"-----BEGIN SSL SESSION PARAMETERS-----", SERVER), Some(SessionError::NotASession));
    let edited = |at: usize, value: u8| {
        let mut bytes = saved.to_vec();
        bytes[at] = value;
        bytes
    };
    assert_eq!(load(&edited(15, 3), SERVER), Some(SessionError::UnknownFormat(3)));
    let suite = 15 + 1 + 2 + SERVER.len();
    assert_eq!(load(&edited(suite + 1, 4), SERVER), Some(SessionError::UnknownSuite(CipherSuite(0x1304))));
    // A suite of another hash has PSKs of another length.
    assert_eq!(load(&edited(suite + 1, 1), SERVER), Some(SessionError::Damaged(Error::BadLength)));
    assert_eq!(load(&[&saved[..], b"!"].concat(), SERVER), Some(SessionError::Damaged(Error::TrailingData)));
    for length in 0..saved.len() {
        assert!(load(&saved[..length], SERVER).is_some(), "{length}");
    }
}

#[test]
fn the_buffer_never_grows_since_it_would_leave_secrets_behind() {
    for (suite, resumption, offer) in
        [(TLS13, Resumption::Tickets, FULL), (TLS12, Resumption::Tickets, FULL), (TLS12, Resumption::Stored, BY_ID)]
    {
        let (pair, session) = connected(suite, resumption, offer);
        for server in [String::new(), "x".repeat(60_000)] {
            let saved = session.encode(&server, pair.now, date());
            let longest = match &session {
                Session::Tls13(ticket) => ticket.ticket.len() + ticket.alpn.as_ref().map_or(0, Vec::len),
                Session::Tls12(session) => session.ticket.as_ref().map_or(0, |ticket| ticket.ticket.len()),
            };
            assert_eq!(saved.capacity(), 256 + server.len() + longest);
        }
    }
}

proptest! {

    #[test]
    fn what_was_saved_is_loaded(master in any::<[u8; 48]>(), id in proptest::collection::vec(any::<u8>(), 0..=32), hint: u32) {
        let body = [&master[..], &[1, id.len() as u8], &id, &[0, 1, 9], &hint.to_be_bytes()].concat();
        let of_format = |format: u8, leaf: &[u8]| {
            [b"reprise session", &[format][..], b"\x00\x01s", &TLS12.0.to_be_bytes(), &[0; 8], &body, leaf].concat()
        };
        let (before, bytes) = (of_format(1, &[]), of_format(2, &[&[32][..], &master[..32]].concat()));
        let load = |bytes: &[u8]| Session::decode(bytes, "s", Nanos(0), SystemTime::UNIX_EPOCH).unwrap();
        prop_assert_eq!(&load(&bytes).encode("s", Nanos(0), SystemTime::UNIX_EPOCH)[..], &bytes[..]);
        prop_assert_eq!(load(&before).leaf(), None);
    }
}
