//! The network between nodes and their store, with its faults.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::Duration;

/// What the network does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// It carries what it gets.
    Fine,
    /// It carries everything, 200 ms later.
    Slow,
    /// It carries nothing, and says nothing of it.
    Cut,
}

/// Stands before a store.
pub struct Proxy {
    /// Where nodes find the store.
    pub address: SocketAddr,
    network: Arc<AtomicU8>,
}

impl Proxy {
    /// Before this store.
    pub fn before(store: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let network = Arc::new(AtomicU8::new(Network::Fine as u8));
        let state = Arc::clone(&network);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(store) else { continue };
                let pairs = [(client.try_clone(), server.try_clone()), (Ok(server), Ok(client))];
                for (from, to) in pairs {
                    let state = Arc::clone(&state);
                    thread::spawn(move || carry(from.unwrap(), to.unwrap(), &state));
                }
            }
        });
        Self { address, network }
    }

    /// Changes the network for all connections, old and new.
    pub fn set(&self, network: Network) {
        self.network.store(network as u8, Ordering::SeqCst);
    }

    /// As a URL of a store.
    pub fn url(&self) -> String {
        format!("redis://{}", self.address)
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, network: &AtomicU8) {
    let mut buffer = [0; 1 << 14];
    while let Ok(count) = from.read(&mut buffer) {
        let state = network.load(Ordering::SeqCst);
        if state == Network::Slow as u8 {
            thread::sleep(Duration::from_millis(200));
        }
        if count == 0 || state != Network::Cut as u8 && to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
