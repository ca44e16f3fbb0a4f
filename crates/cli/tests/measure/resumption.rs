//! What is said of each connection is what the server says of it: nginx in the three configurations of the seed, and
//! OpenSSL's own server.

use reprise_lab::{Identity, KeyKind, Resumption, Versions};
use reprise_model::{Kind, Version};
use reprise_servers::{Nginx, NginxConfig, RealServer, SServer, SServerConfig, SessionCache};

use reprise_harness::{Lab, Outcome, assert_account_for};

const COUNT: u32 = 12;

/// `ssl_session_tickets` and `ssl_session_cache`, as the seed has them.
#[derive(Clone, Copy, Debug)]
enum Configuration {
    Off,
    SharedCache,
    Tickets,
}

impl Configuration {
    fn start(self, identity: &Identity) -> Nginx {
        let session_cache = match self {
            Self::SharedCache => SessionCache::Shared("10m".to_owned()),
            Self::Off | Self::Tickets => SessionCache::Off,
        };
        let session_tickets = matches!(self, Self::Tickets);
        Nginx::start(NginxConfig { session_tickets, session_cache, ..NginxConfig::new(vec![identity.clone()]) }).unwrap()
    }
}

fn for_each_key(mut test: impl FnMut(&Lab, &Identity, &str)) {
    let lab = Lab::new();
    for key in [KeyKind::Rsa2048, KeyKind::P256] {
        test(&lab, &lab.identity(key), key.label());
    }
}

/// What was asked, and how many came out so.
fn kinds(outcome: &Outcome) -> Vec<(Version, Kind, u64)> {
    outcome.document().runs.iter().map(|run| (run.asked.tls, run.asked.kind, run.n)).collect()
}

const ALL: u64 = COUNT as u64;

#[test]
fn nothing_resumes_without_cache_though_tickets_arrive() {
    reprise_servers::require!("nginx");
    for_each_key(|lab, identity, key| {
        let mut nginx = Configuration::Off.start(identity);
        let outcome = lab.measure(nginx.address()).count(COUNT).run().exits(0);
        assert_account_for(&mut nginx, &outcome.document(), key);
        let expected =
            [(Version::Tls12, Kind::Full, ALL), (Version::Tls13, Kind::Full, ALL), (Version::Tls13, Kind::Ticket, 0)];
        assert_eq!(kinds(&outcome), expected, "{key}");
        outcome.shows(&[
            "TLS 1.2 offers no resumption: neither a session ID nor a ticket arrives",
            "TLS 1.3 tickets arrive and are never accepted",
            "12 of 12 connections that offered one ended in a full handshake",
            "refused: 12 of 12 were full",
            "ssl_session_cache shared:",
        ]);
    });
}

#[test]
fn a_kind_that_is_named_and_never_observed_is_a_bad_answer() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let mut nginx = Configuration::Off.start(&lab.identity(KeyKind::P256));
    let outcome = lab.measure(nginx.address()).count(COUNT).args(["--kinds", "ticket", "--tls", "1.3"]).run().exits(1);
    assert_account_for(&mut nginx, &outcome.document(), "ticket");
    let run = outcome.measured(Version::Tls13, Kind::Ticket);
    assert_eq!((run.n, run.observed.kinds.of(Kind::Ticket), run.observed.kinds.of(Kind::Full)), (0, 0, ALL));
    outcome.says(&["ticket under TLS 1.3 was observed in 0 of 12 connections"]);
}

#[test]
fn a_kind_of_no_supported_version_is_an_error_if_named() {
    let lab = Lab::new();
    for (versions, kinds, missed) in
        [(Versions::Tls13, "id", "id"), (Versions::Tls13, "full,id", "id"), (Versions::Tls12, "early", "early")]
    {
        let server = lab.server_with(|config| (config.resumption, config.versions) = (Resumption::Ticket, versions));
        let outcome = lab.measure(server.address()).count(2).args(["--kinds", kinds]).run().exits(1);
        outcome.says(&[&format!("{missed} was not observed: no version that supports it could be measured")]);
    }
}

#[test]
fn a_shared_cache_resumes_by_id_and_by_ticket() {
    reprise_servers::require!("nginx");
    for_each_key(|lab, identity, key| {
        let mut nginx = Configuration::SharedCache.start(identity);
        let outcome = lab.measure(nginx.address()).count(COUNT).run().exits(0).silently();
        assert_account_for(&mut nginx, &outcome.document(), key);
        let expected = [
            (Version::Tls12, Kind::Full, ALL),
            (Version::Tls12, Kind::Id, ALL),
            (Version::Tls13, Kind::Full, ALL),
            (Version::Tls13, Kind::Ticket, ALL),
        ];
        assert_eq!(kinds(&outcome), expected, "{key}");
        let named = lab.measure(nginx.address()).count(3).args(["--kinds", "id"]).run().exits(0);
        assert_eq!(kinds(&named), [(Version::Tls12, Kind::Id, 3)], "{key}");
    });
}

#[test]
fn tickets_resume_without_a_cache() {
    reprise_servers::require!("nginx");
    for_each_key(|lab, identity, key| {
        let mut nginx = Configuration::Tickets.start(identity);
        let outcome = lab.measure(nginx.address()).count(COUNT).run().exits(0).silently();
        assert_account_for(&mut nginx, &outcome.document(), key);
        let expected = [
            (Version::Tls12, Kind::Full, ALL),
            (Version::Tls12, Kind::Ticket, ALL),
            (Version::Tls13, Kind::Full, ALL),
            (Version::Tls13, Kind::Ticket, ALL),
        ];
        assert_eq!(kinds(&outcome), expected, "{key}");
    });
}

#[test]
fn a_resumed_handshake_skips_what_it_is_said_to_skip() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let nginx = Configuration::Tickets.start(&lab.identity(KeyKind::Rsa2048));
    let outcome = lab.measure(nginx.address()).count(3).run().exits(0);
    for (tls, round_trips) in [(Version::Tls12, [2, 1]), (Version::Tls13, [1, 1])] {
        let [full, ticket] = [Kind::Full, Kind::Ticket].map(|kind| outcome.measured(tls, kind));
        assert_eq!([full.round_trips, ticket.round_trips], round_trips.map(Some), "{tls}");
        assert_eq!(full.observed.peer_key.as_deref(), Some("rsa-2048"), "{tls}");
        assert_eq!((&ticket.observed.peer_key, &ticket.observed.signature), (&None, &None), "{tls}");
        assert!(full.bytes.unwrap().received > ticket.bytes.unwrap().received, "{tls}: the certificate is saved");
    }
    assert_eq!(outcome.measured(Version::Tls12, Kind::Ticket).observed.group, None);
    assert_eq!(outcome.measured(Version::Tls13, Kind::Ticket).observed.group.as_deref(), Some("x25519"));
}

#[test]
fn openssls_server_agrees_with_tickets_and_without() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    for tickets in [true, false] {
        let config = SServerConfig { tickets, ..SServerConfig::new(vec![lab.identity(KeyKind::P256)]) };
        let mut server = SServer::start(config).unwrap();
        let outcome = lab.measure(server.address()).count(4).run().exits(0);
        assert_account_for(&mut server, &outcome.document(), "s_server");
        let tls12 = if tickets { Kind::Ticket } else { Kind::Id };
        for (tls, kind) in [(Version::Tls12, tls12), (Version::Tls13, Kind::Ticket)] {
            assert_eq!(outcome.measured(tls, kind).n, 4, "{kind} under {tls}");
        }
    }
}

#[test]
fn a_servers_software_is_known_and_its_remedies_are_shown() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let config = NginxConfig::new(vec![lab.identity(KeyKind::P256)]);
    let config = NginxConfig { session_tickets: false, session_cache: SessionCache::Off, ..config };
    let server = Nginx::start(config).unwrap();
    let call = |flags: &[&str]| lab.measure(server.address()).count(6).args(flags).run().exits(0);
    let revealed = call(&[]).shows(&["nginx: ssl_session_cache shared"]);
    assert!(revealed.document().software.unwrap().starts_with("nginx"));
    assert!(!revealed.page.contains("HAProxy: "), "{}", revealed.page);
    let remedies = |outcome: &Outcome| outcome.document().findings[0].remedies.len();
    let named = call(&["--server-software", "haproxy"]).shows(&["HAProxy: "]);
    assert!(!named.page.contains("nginx: "), "{}", named.page);
    let in_full = call(&["-v"]).shows(&["nginx: ", "HAProxy: "]);
    assert_eq!((remedies(&revealed), remedies(&named)), (remedies(&in_full), remedies(&in_full)), "the document has all");
}
