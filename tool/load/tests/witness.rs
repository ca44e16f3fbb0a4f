//! nginx is the witness: what it logs is what we count, by kind.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::net::SocketAddr;
use std::sync::Arc;

use reprise_harness::load::load;
use reprise_harness::{DEADLINE, Lab, load};
use reprise_lab::{Identity, KeyKind, Versions};
use reprise_load::{Arrival, ArrivalSpread, Close, KeyShareMode, LoadEnd, LoadOptions, LoadOutcome, TlsOptions};
use reprise_model::{Kind, Version};
use reprise_servers::{Account, Nginx, NginxConfig, RealServer, SessionCache};
use reprise_wire::{CipherSuite, NamedGroup};

fn identity(key: KeyKind) -> Identity {
    Lab::new().identity(key)
}

fn options(address: SocketAddr, version: Version, kinds: &[Kind], count: u64) -> LoadOptions {
    LoadOptions {
        arrival: Arrival::Closed { connections: 8 },
        end: LoadEnd::Count(count),
        mix: kinds.iter().map(|&kind| (kind, 1)).collect(),
        sessions: 4,
        ..load::options_with(load::OK_REQUEST, address, version)
    }
}

/// Runs it against `nginx`, and holds it against what nginx has logged since.
fn agreed(nginx: &mut Nginx, options: &LoadOptions) -> (LoadOutcome, Vec<Account>) {
    let before = nginx.accounts().unwrap().len();
    let outcome = load(options);
    assert_eq!(outcome.errors(), Default::default());
    let full = outcome.completed(Kind::Full);
    let resumed = outcome.completed(Kind::Id) + outcome.completed(Kind::Ticket);
    let accounts = nginx.accounts_when(before + (full + resumed) as usize, DEADLINE).unwrap().split_off(before);
    assert_eq!(accounts.iter().filter(|account| !account.resumed).count() as u64, full);
    assert_eq!(accounts.iter().filter(|account| account.resumed).count() as u64, resumed);
    (outcome, accounts)
}

#[test]
fn full_handshakes_agree_for_every_suite_and_group() {
    reprise_servers::require!("nginx");
    for key in [KeyKind::P256, KeyKind::Rsa2048] {
        let tls12 = "ssl_ciphers ALL:!eNULL;".to_owned();
        let mut nginx =
            Nginx::start(NginxConfig { server_directives: tls12, ..NginxConfig::new(vec![identity(key)]) }).unwrap();
        for version in [Version::Tls12, Version::Tls13] {
            for suite in TlsOptions::new(version).cipher_suites {
                let of_key = |suite: CipherSuite| suite.name().unwrap().contains("ECDSA") == (key == KeyKind::P256);
                if version == Version::Tls12 && !of_key(suite) {
                    continue;
                }
                for group in [NamedGroup::X25519, NamedGroup::SECP256R1, NamedGroup::SECP384R1] {
                    for key_shares in [KeyShareMode::Unit, KeyShareMode::Reused, KeyShareMode::Fresh] {
                        let case = options(nginx.address(), version, &[Kind::Full], 12);
                        // In TLS 1.2 the certificate's curve must be among the groups.
                        let groups =
                            if version == Version::Tls12 { vec![group, NamedGroup::SECP256R1] } else { vec![group] };
                        let mut groups = groups;
                        groups.dedup();
                        let tls = TlsOptions { cipher_suites: vec![suite], groups, key_shares, ..TlsOptions::new(version) };
                        let (outcome, _) = agreed(&mut nginx, &LoadOptions { tls: Arc::new(tls), ..case });
                        assert_eq!(outcome.completed(Kind::Full), 12, "{suite} {group} {key_shares:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn every_kind_agrees_in_every_shape() {
    reprise_servers::require!("nginx");
    let config = |versions| NginxConfig {
        session_cache: SessionCache::Shared("1m".to_owned()),
        versions,
        ..NginxConfig::new(vec![identity(KeyKind::P256)])
    };
    let cases: [(Version, Versions, &[Kind]); 4] = [
        (Version::Tls12, Versions::Tls12, &[Kind::Full, Kind::Id, Kind::Ticket]),
        (Version::Tls12, Versions::Both, &[Kind::Id]),
        (Version::Tls13, Versions::Tls13, &[Kind::Ticket]),
        (Version::Tls13, Versions::Both, &[Kind::Full, Kind::Ticket]),
    ];
    for (version, versions, kinds) in cases {
        let mut nginx = Nginx::start(config(versions)).unwrap();
        for close in [Close::Rst, Close::Fin, Close::Notify] {
            for arrival in
                [Arrival::Closed { connections: 8 }, Arrival::Open { rate: 500.0, spread: ArrivalSpread::Poisson, most: 20 }]
            {
                for (requests, threads) in [(1, 1), (3, 2)] {
                    let case = options(nginx.address(), version, kinds, 120);
                    let case = LoadOptions { close, arrival, requests, threads, ..case };
                    let (outcome, accounts) = agreed(&mut nginx, &case);
                    assert_eq!(accounts.len(), 120);
                    // How many had to go before the first session came depends on the machine; that they did is counted.
                    let asked = outcome.completed(Kind::Full) - outcome.primed() - outcome.refused();
                    let expected = if kinds.contains(&Kind::Full) { 120 / kinds.len() as u64 } else { 0 };
                    assert!(asked.abs_diff(expected) <= 2, "{version} {close:?}: {asked} full of {expected}");
                    assert!(kinds.iter().all(|&kind| outcome.completed(kind) > 0), "{version} {close:?}");
                }
            }
        }
    }
}
