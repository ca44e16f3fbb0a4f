//! A store that nodes share, here a table: what its answers come to. `reprise-session-valkey` has the real one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use reprise_session::ResumptionOffer;
use reprise_session::rustls::{ClientAuth, ResumingServer};
use reprise_session::store::{Answer, Answers, Fetch, Lookup, SharedStore, StoreKey, Written};
use reprise_session::ticket::Refused;
use rustls::{HandshakeKind, ServerConnection};

use super::pair::{Client, Connected, Fleet, VERSIONS, provider, server};

#[derive(Debug, Default)]
struct Table(Mutex<HashMap<StoreKey, Vec<u8>>>);

impl Table {
    fn answer(&self, lookup: Lookup) -> (StoreKey, Answer) {
        let mut table = self.0.lock().unwrap();
        let found = match lookup {
            Lookup::Get(key) => table.get(&key).cloned(),
            Lookup::Take(key) => table.remove(&key),
            _ => None,
        };
        (lookup.key(), found.map_or(Answer::Absent, Answer::Found))
    }
}

impl SharedStore for Table {
    fn fetch(&self, lookups: Vec<Lookup>) -> Fetch {
        let answers = lookups.into_iter().map(|lookup| self.answer(lookup)).collect();
        Box::pin(std::future::ready(Answers::new(answers).early_data(true)))
    }

    fn put(&self, key: StoreKey, entry: Vec<u8>, _lifetime: Duration) -> Option<Written> {
        self.0.lock().unwrap().insert(key, entry);
        Some(Box::pin(std::future::ready(())))
    }
}

fn node(fleet: &Fleet, table: &Arc<Table>) -> ResumingServer {
    let resumption = fleet.builder().shared_store(table.clone(), fleet.ring.clone()).build().unwrap();
    server(&fleet.identity(&["localhost"]), &ClientAuth::none(), &resumption, |_| ())
}

fn connect(client: &Client, node: &ResumingServer) -> Connected {
    client.connect_with(node, |offered| answered(node, offered)).unwrap()
}

/// What the table says to a hello.
fn answered(node: &ResumingServer, offered: &ResumptionOffer) -> Answers {
    let Some(mut fetch) = node.fetch(offered) else { return Answers::default() };
    match fetch.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answers) => answers,
        Poll::Pending => panic!("a table answers at once"),
    }
}

#[test]
fn every_node_resumes_every_nodes_sessions() {
    for version in VERSIONS {
        let fleet = Fleet::new();
        let table = Arc::new(Table::default());
        let nodes = [(); 5].map(|()| node(&fleet, &table));
        for issuer in &nodes {
            for other in &nodes {
                let client = fleet.client(version);
                assert!(!connect(&client, issuer).resumed);
                assert!(connect(&client, other).resumed);
            }
        }
    }
}

#[test]
fn of_two_nodes_one_resumes_in_every_order() {
    // Each node asks the store, and then begins the handshake; bit n says whose step the n-th is.
    let orders = (0u32..16).filter(|order| order.count_ones() == 2);
    for order in orders {
        let fleet = Fleet::new();
        let table = Arc::new(Table::default());
        let nodes = [(); 2].map(|()| node(&fleet, &table));
        let client = fleet.client(VERSIONS[1]);
        connect(&client, &nodes[0]);
        let mut hello = Vec::new();
        client.hello().write_tls(&mut hello).unwrap();
        let mut asked = [None, None];
        let mut resumed = [false, false];
        for step in 0..4 {
            let index = (order >> step & 1) as usize;
            match asked[index].take() {
                None => {
                    let offered = nodes[index].look_ahead().unwrap().receive(&hello).unwrap().unwrap();
                    let answers = answered(&nodes[index], &offered);
                    asked[index] = Some((offered, answers));
                }
                Some((offered, answers)) => {
                    let mut connection = ServerConnection::new(nodes[index].connection(&offered, answers).0).unwrap();
                    connection.read_tls(&mut &hello[..]).unwrap();
                    connection.process_new_packets().unwrap();
                    resumed[index] = connection.handshake_kind() == Some(HandshakeKind::Resumed);
                }
            }
        }
        assert!(resumed[0] != resumed[1], "{order:04b}: {resumed:?}");
    }
}

#[test]
fn clients_of_tls12_do_not_hide_sessions_of_tls13() {
    let fleet = Fleet::new();
    let table = Arc::new(Table::default());
    let [one, other] = [(); 2].map(|()| node(&fleet, &table));
    let [old, new] = VERSIONS.map(|version| fleet.client(version));
    let both = Client::of_versions(&fleet.authority, &VERSIONS, None);
    for _ in 0..3 {
        // A session ID was asked for, and found: that says nothing of the next client.
        for client in [&old, &new, &both] {
            connect(client, &one);
            assert!(connect(client, &other).resumed);
        }
    }
}

#[test]
fn a_tls12_server_finds_ids_of_clients_that_offer_more() {
    let fleet = Fleet::new();
    let table = Arc::new(Table::default());
    let resumption = fleet.builder().shared_store(table.clone(), fleet.ring.clone()).build().unwrap();
    let auth = ClientAuth::none();
    let identity = fleet.identity(&["localhost"]);
    let builder = rustls::ServerConfig::builder_with_provider(provider()).with_protocol_versions(&[VERSIONS[0]]).unwrap();
    let config = auth.apply(builder).with_single_cert(identity.chain().to_vec(), identity.key_der()).unwrap();
    let node = ResumingServer::new(config, &auth, &resumption).unwrap();
    let both = Client::of_versions(&fleet.authority, &VERSIONS, None);
    // It learns what it does not speak from the first that offers more, which may cost that one its session.
    connect(&both, &node);
    connect(&both, &node);
    assert!(connect(&both, &node).resumed);
}

#[test]
fn the_store_sees_no_secret_and_cannot_swap_entries() {
    let fleet = Fleet::new();
    let table = Arc::new(Table::default());
    let node = node(&fleet, &table);
    let [one, two] = [(); 2].map(|()| fleet.client(VERSIONS[0]));
    connect(&one, &node);
    connect(&two, &node);
    {
        let mut entries = table.0.lock().unwrap();
        assert_eq!(entries.len(), 2);
        // The name is part of every session; it stands nowhere.
        assert!(entries.values().all(|entry| !entry.windows(9).any(|window| window == b"localhost")));
        let keys: Vec<_> = entries.keys().copied().collect();
        let [first, second] = [keys[0], keys[1]].map(|key| entries.remove(&key).unwrap());
        entries.extend([(keys[0], second), (keys[1], first)]);
    }
    assert!(!connect(&one, &node).resumed && !connect(&two, &node).resumed);
    assert_eq!(fleet.counters.refused(Refused::Altered), 2);
}

#[test]
fn an_altered_or_unanswered_entry_is_a_full_handshake() {
    for version in VERSIONS {
        let fleet = Fleet::new();
        let table = Arc::new(Table::default());
        let node = node(&fleet, &table);
        let client = fleet.client(version);
        connect(&client, &node);
        table.0.lock().unwrap().values_mut().for_each(|entry| *entry.last_mut().unwrap() ^= 1);
        assert!(!connect(&client, &node).resumed);
        assert_eq!(fleet.counters.refused(Refused::Altered), 1);
        client.sessions.clear();
        connect(&client, &node);
        let unanswered = client.connect_with(&node, |offered| {
            let keys = offered.lookups(false).into_iter().map(|lookup| (lookup.key(), Answer::Unanswered));
            Answers::new(keys.collect())
        });
        assert!(!unanswered.unwrap().resumed);
        assert_eq!(fleet.counters.refused(Refused::Unanswered), 1);
    }
}

#[test]
fn early_data_needs_a_store_that_is_sure() {
    let fleet = Fleet::new();
    let table = Arc::new(Table::default());
    let resumption = fleet.builder().shared_store(table, fleet.ring.clone()).build().unwrap();
    let early = |config: &mut rustls::ServerConfig| config.max_early_data_size = 1000;
    let node = server(&fleet.identity(&["localhost"]), &ClientAuth::none(), &resumption, early);
    let mut offered = ResumptionOffer::default();
    offered.identities.push(StoreKey::new([1; 32]));
    let allowed =
        |early_data| node.connection(&offered, Answers::new(Vec::new()).early_data(early_data)).0.max_early_data_size;
    assert_eq!([allowed(true), allowed(false)], [1000, 0]);
}
