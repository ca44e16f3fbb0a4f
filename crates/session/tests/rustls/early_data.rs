//! Single use where it matters. Rule 5.

use std::io::Write;

use reprise_session::rustls::{ClientAuth, ResumingServer};
use rustls::ServerConnection;

use super::pair::{Client, Fleet, Means, VERSIONS, drive, server};

/// Sends early data; whether the server took it, and what the client sent first.
fn early(client: &Client, server: &ResumingServer) -> (bool, Vec<u8>) {
    let mut connection = client.hello();
    let Some(mut writer) = connection.early_data() else { return (false, Vec::new()) };
    writer.write_all(b"GET /").unwrap();
    let mut sent = Vec::new();
    connection.write_tls(&mut sent).unwrap();
    let mut served = ServerConnection::new(server.connection(&Default::default(), Default::default()).0).unwrap();
    served.read_tls(&mut &sent[..]).unwrap();
    served.process_new_packets().unwrap();
    let taken = served.early_data().is_some();
    drive(&mut connection, &mut served).unwrap();
    (taken, sent)
}

#[test]
fn replayed_early_data_is_refused() {
    let fleet = Fleet::new();
    let resumption = fleet.resumption(Means::Store);
    let identity = fleet.identity(&["localhost"]);
    let [one, other] =
        [(); 2].map(|()| server(&identity, &ClientAuth::none(), &resumption, |config| config.max_early_data_size = 1000));
    let mut client = fleet.client(VERSIONS[1]);
    client.config.enable_early_data = true;
    client.connect(&one);
    let (taken, sent) = early(&client, &one);
    assert!(taken);
    for node in [&one, &other] {
        let mut replayed = ServerConnection::new(node.connection(&Default::default(), Default::default()).0).unwrap();
        replayed.read_tls(&mut &sent[..]).unwrap();
        replayed.process_new_packets().unwrap();
        assert!(replayed.early_data().is_none());
    }
}
