//! Connections of a real socket, through their handshakes.

use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::thread;

use reprise_session::metrics::HandshakeFailure;
use reprise_session::rustls::ResumingListener;
use rustls::StreamOwned;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use super::pair::{Fleet, Means, VERSIONS};

#[test]
fn a_client_that_says_nothing_holds_up_nobody() {
    let fleet = Fleet::new();
    let server = fleet.server(&fleet.resumption(Means::Tickets));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut listener = server.listen(TcpListener::bind("127.0.0.1:0").await.unwrap());
        let address = listener.local_addr().unwrap();
        let _silent = TcpStream::connect(address).unwrap();
        // And one that goes away.
        drop(TcpStream::connect(address).unwrap());
        let client = fleet.client(VERSIONS[1]).hello();
        let visiting = thread::spawn(move || visit(client, address));
        let peer = serve(&mut listener).await;
        assert!(peer.ip().is_loopback());
        assert_eq!(visiting.join().unwrap(), "hello");
        assert_eq!(fleet.counters.handshakes_failed(HandshakeFailure::Closed), 1);
        // Whoever is not done when the listener ends is counted as well.
        drop(listener);
    });
    drop(runtime);
    assert_eq!(fleet.counters.handshakes_failed(HandshakeFailure::Timeout), 1);
}

async fn serve(listener: &mut ResumingListener) -> SocketAddr {
    let (mut tls, peer) = listener.accept().await;
    assert!(tls.get_ref().0.nodelay().unwrap());
    tls.write_all(b"hello").await.unwrap();
    tls.shutdown().await.unwrap();
    peer
}

fn visit(client: rustls::ClientConnection, address: SocketAddr) -> String {
    let mut tls = StreamOwned::new(client, TcpStream::connect(address).unwrap());
    let mut answer = String::new();
    tls.read_to_string(&mut answer).unwrap();
    answer
}
