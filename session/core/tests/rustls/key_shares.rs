//! A pool of key pairs under real connections, on either side.

use std::collections::BTreeSet;
use std::sync::Arc;

use reprise_session::rustls::{ClientAuth, KeySharePool};
use reprise_wire::extensions::KeyShareClientHello;
use reprise_wire::{ClientHello, ExtensionType, Handshake, Record};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::kx_group::X25519;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::version::TLS13;

use super::pair::{Client, Fleet, VERSIONS};

fn pool(capacity: usize) -> &'static KeySharePool {
    let pool = Box::leak(Box::new(KeySharePool::new(X25519, capacity)));
    pool.fill(capacity).unwrap();
    pool
}

fn provider(pool: &'static KeySharePool) -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider { kx_groups: vec![pool], ..aws_lc_rs::default_provider() })
}

#[test]
fn a_server_takes_one_pair_for_each_handshake_of_either_version() {
    let fleet = Fleet::new();
    let identity = fleet.identity(&["localhost"]);
    let pool = pool(3);
    let builder = ServerConfig::builder_with_provider(provider(pool)).with_safe_default_protocol_versions().unwrap();
    let builder = ClientAuth::none().apply(builder);
    let mut config = builder.with_single_cert(identity.chain().to_vec(), identity.key_der()).unwrap();
    config.send_tls13_tickets = 0;
    let config = Arc::new(config);
    for (done, version) in (1..).zip([VERSIONS[0], VERSIONS[1], VERSIONS[0], VERSIONS[1]]) {
        fleet.client(version).connect_plainly(&config);
        let counted = pool.statistics();
        assert_eq!((counted.taken, counted.missed), (done.min(3), done - done.min(3)), "{version:?}");
    }
}

#[test]
fn two_client_hellos_never_share_a_key() {
    let fleet = Fleet::new();
    let pool = pool(4);
    let mut client = Client::new(&fleet.authority, &TLS13, None);
    let mut roots = rustls::RootCertStore::empty();
    roots.add(fleet.authority.certificate().clone()).unwrap();
    let builder = rustls::ClientConfig::builder_with_provider(provider(pool)).with_protocol_versions(&[&TLS13]).unwrap();
    client.config = builder.with_root_certificates(roots).with_no_client_auth();
    // The last two find it empty.
    let shares: BTreeSet<Vec<u8>> = (0..6).map(|_| share(&client)).collect();
    assert_eq!(shares.len(), 6);
    assert_eq!((pool.statistics().taken, pool.statistics().missed), (4, 2));
}

/// The public key of a ClientHello.
fn share(client: &Client) -> Vec<u8> {
    let mut bytes = Vec::new();
    client.hello().write_tls(&mut bytes).unwrap();
    let (record, _) = Record::parse(&bytes).unwrap().unwrap();
    let (message, _) = Handshake::parse(record.fragment).unwrap().unwrap();
    let hello = ClientHello::parse(message.body).unwrap();
    let data = hello.extensions.unwrap().find(ExtensionType::KEY_SHARE).unwrap();
    let shares = KeyShareClientHello::parse(data).unwrap();
    shares.client_shares.iter().next().unwrap().key_exchange.to_vec()
}
