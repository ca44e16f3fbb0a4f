//! What is said of each connection is what the server says of it: HAProxy and Apache, with resumption off, by cache, by
//! ticket.

use reprise_lab::KeyKind;
use reprise_lab::servers::{Apache, ApacheConfig, HaProxy, HaProxyConfig, RealServer};
use reprise_trace::{Kind, Version};

use crate::harness::{Lab, assert_account_for};

const COUNT: u32 = 10;

/// The kinds of resumption that came out as asked in every connection, under each version.
fn resumed(lab: &Lab, server: &mut impl RealServer, case: &str) -> Vec<(Version, Kind)> {
    let outcome = lab.measure(server.address()).count(COUNT).run().exits(0);
    let document = outcome.document();
    assert_account_for(server, &document, case);
    let all = |run: &&reprise_trace::document::Run| run.n == u64::from(COUNT) && run.asked.kind != Kind::Full;
    document.runs.iter().filter(all).map(|run| (run.asked.tls, run.asked.kind)).collect()
}

const BY_CACHE: [(Version, Kind); 2] = [(Version::Tls12, Kind::Id), (Version::Tls13, Kind::Ticket)];
const BY_TICKET: [(Version, Kind); 2] = [(Version::Tls12, Kind::Ticket), (Version::Tls13, Kind::Ticket)];

#[test]
fn haproxy() {
    reprise_lab::require!("haproxy");
    let lab = Lab::new();
    for (session_tickets, cache_size, expected) in
        [(false, 0, &[][..]), (false, 20_000, &BY_CACHE[..]), (true, 0, &BY_TICKET[..])]
    {
        let config = HaProxyConfig { session_tickets, cache_size, ..HaProxyConfig::new(lab.identity(KeyKind::P256)) };
        let mut server = HaProxy::start(config).unwrap();
        let case = format!("tickets {session_tickets} cache {cache_size}");
        assert_eq!(resumed(&lab, &mut server, &case), expected, "{case}");
    }
}

#[test]
fn apache() {
    reprise_lab::require!("apache2");
    let lab = Lab::new();
    for (session_tickets, session_cache, expected) in
        [(false, false, &[][..]), (false, true, &BY_CACHE[..]), (true, false, &BY_TICKET[..])]
    {
        let config = ApacheConfig { session_tickets, session_cache, ..ApacheConfig::new(lab.identity(KeyKind::Rsa2048)) };
        let mut server = Apache::start(config).unwrap();
        let case = format!("tickets {session_tickets} cache {session_cache}");
        assert_eq!(resumed(&lab, &mut server, &case), expected, "{case}");
    }
}
