//! Servers that want another group first get it from then on, each under its own name.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use reprise_harness::Lab;
use reprise_harness::load::{document, load, options};
use reprise_lab::NamedGroup;
use reprise_load::{LoadEnd, LoadOptions, TlsOptions, WeightedName};
use reprise_model::{FaultName, LoadNotice, Version};

/// Forwards a connection to the server of the name in its ClientHello, as a balancer would.
fn by_name(servers: &[(&'static str, SocketAddr)]) -> SocketAddr {
    let servers = servers.to_vec();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming() {
            let client = client.unwrap();
            let mut hello = [0; 4096];
            let has = |hello: &[u8], name: &str| hello.windows(name.len()).any(|window| window == name.as_bytes());
            let server = loop {
                let length = client.peek(&mut hello).unwrap();
                if let Some((_, server)) = servers.iter().find(|(name, _)| has(&hello[..length], name)) {
                    break TcpStream::connect(server).unwrap();
                }
            };
            let (client_again, server_again) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut &client_again, &mut &server_again));
            thread::spawn(move || std::io::copy(&mut &server, &mut &client));
        }
    });
    address
}

#[test]
fn each_name_keeps_the_group_that_its_server_wants() {
    let lab = Lab::new();
    let server = |group| lab.server_with(|config| config.groups = vec![group]);
    let (one, other) = (server(NamedGroup::secp384r1), server(NamedGroup::secp256r1));
    let address = by_name(&[("one.example", one.address()), ("other.example", other.address())]);
    let name = |name: &str| WeightedName { name: Some(name.to_owned()), weight: 1 };
    let tls =
        TlsOptions { server_names: vec![name("one.example"), name("other.example")], ..TlsOptions::new(Version::Tls13) };
    let options = LoadOptions { tls: Arc::new(tls), end: LoadEnd::Count(20), ..options(address, Version::Tls13) };
    let outcome = load(&options);
    let document = document(&outcome, &options);
    // The first under each name.
    assert_eq!(document.errors, BTreeMap::from([("hello_retry_request".to_owned(), 2)]));
    assert_eq!(document.total_completed(), 18);
    let wanted = [("one.example", "secp384r1"), ("other.example", "secp256r1")];
    assert_eq!(document.wanted_groups, wanted.map(|(name, group)| (name.to_owned(), group.to_owned())).into());
    let retries = LoadNotice::Failures { fault: FaultName::HelloRetryRequest, count: 2 };
    assert!(outcome.notices(&document, &options).contains(&retries));
}
