//! The network between nodes and their store, with its faults.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// How much later a slow network carries what it gets.
const SLOW: Duration = Duration::from_millis(200);

/// What the network does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// It carries what it gets.
    Fine,
    /// It carries everything, [`SLOW`] later.
    Slow,
    /// It carries nothing, and says nothing of it.
    Cut,
}

/// Stands before a store.
pub struct Proxy {
    /// Where nodes find the store.
    pub address: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    network: AtomicU8,
    /// How many seconds the store's clock is ahead of its own, and how often it was asked for the time.
    ahead: AtomicU64,
    asked: AtomicU64,
}

impl Proxy {
    /// Before this store.
    pub fn before(store: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(store) else { continue };
                let pairs = [(client.try_clone(), server.try_clone()), (Ok(server), Ok(client))];
                for (from, to) in pairs {
                    let state = Arc::clone(&shared);
                    thread::spawn(move || carry(from.unwrap(), to.unwrap(), &state));
                }
            }
        });
        Self { address, state }
    }

    /// Changes the network for all connections, old and new.
    pub fn set(&self, network: Network) {
        self.state.network.store(network as u8, Ordering::SeqCst);
    }

    /// Puts the store's clock ahead by so many seconds.
    pub fn set_clock_ahead(&self, seconds: u64) {
        self.state.ahead.store(seconds, Ordering::SeqCst);
    }

    /// How often the store was asked for the time.
    pub fn asked_for_time(&self) -> u64 {
        self.state.asked.load(Ordering::SeqCst)
    }

    /// As a URL of a store.
    pub fn url(&self) -> String {
        format!("redis://{}", self.address)
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, state: &State) {
    // A delay keeps back nothing that comes later: what is on its way waits for its own time.
    let (under_way, arriving) = mpsc::channel::<(Instant, Vec<u8>)>();
    let writing = thread::spawn(move || {
        for (due, bytes) in arriving {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    });
    let mut buffer = [0; 1 << 14];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let network = state.network.load(Ordering::SeqCst);
        let carried = &mut buffer[..count];
        state.set_time(carried);
        let delay = if network == Network::Slow as u8 { SLOW } else { Duration::ZERO };
        let due = Instant::now() + delay;
        if network != Network::Cut as u8 && under_way.send((due, carried.to_vec())).is_err() {
            break;
        }
    }
    drop(under_way);
    let _ = writing.join();
}

impl State {
    /// Changes the answers to `TIME`: two strings, of which the first is ten digits of seconds.
    fn set_time(&self, bytes: &mut [u8]) {
        const BEGIN: &[u8] = b"*2\r\n$10\r\n";
        let starts: Vec<usize> =
            bytes.windows(BEGIN.len()).enumerate().filter(|(_, at)| *at == BEGIN).map(|(at, _)| at).collect();
        for start in starts {
            let Some(digits) = bytes.get_mut(start + BEGIN.len()..start + BEGIN.len() + 10) else { continue };
            let Some(seconds) = std::str::from_utf8(digits).ok().and_then(|text| text.parse::<u64>().ok()) else { continue };
            let ahead = self.ahead.load(Ordering::SeqCst);
            digits.copy_from_slice(format!("{:010}", seconds + ahead).as_bytes());
            self.asked.fetch_add(1, Ordering::SeqCst);
        }
    }
}
