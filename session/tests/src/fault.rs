//! What may befall a store and the network before it.

use crate::proxy::{Network, Proxy};
use crate::store::Store;

/// A store with the network before it.
pub struct Surroundings {
    store: Store,
    proxy: Proxy,
}

type Act = fn(&mut Surroundings);

/// One fault, and how it ends.
pub struct Fault {
    /// As tables call it.
    pub name: &'static str,
    /// It happens.
    pub befall: Act,
    /// It is over.
    pub heal: Act,
    /// Whether nodes can read meanwhile.
    pub reads: bool,
    /// Whether nodes can write meanwhile.
    pub writes: bool,
}

/// Every fault.
pub const FAULTS: [Fault; 7] = [
    outage("store killed", |it| it.store.kill(), |it| it.store.start_again()),
    outage("store stopped", |it| it.store.pause(), |it| it.store.go_on()),
    Fault {
        reads: true,
        writes: true,
        ..outage("store flushed", |it| assert_eq!(it.store.ask("FLUSHALL"), "+OK\r\n"), |_| ())
    },
    outage(
        "wrong password",
        // Those that are connected stay so until their connections end.
        |it| drop(it.store.ask("CONFIG SET requirepass another\r\nCLIENT KILL TYPE normal SKIPME yes")),
        |it| drop(it.store.ask("AUTH another\r\nCONFIG SET requirepass \"\"")),
    ),
    Fault {
        reads: true,
        ..outage(
            "store full",
            |it| drop(it.store.ask("CONFIG SET maxmemory-policy noeviction\r\nCONFIG SET maxmemory 1")),
            |it| drop(it.store.ask("CONFIG SET maxmemory 0")),
        )
    },
    outage("network slow, 200 ms", |it| it.proxy.set(Network::Slow), |it| it.proxy.set(Network::Fine)),
    outage("network cut", |it| it.proxy.set(Network::Cut), |it| it.proxy.set(Network::Fine)),
];

const fn outage(name: &'static str, befall: Act, heal: Act) -> Fault {
    Fault { name, befall, heal, reads: false, writes: false }
}

impl Surroundings {
    /// All is well.
    pub fn fine() -> Self {
        let store = Store::start(&[]);
        let proxy = Proxy::before(store.address());
        Self { store, proxy }
    }

    /// Where nodes find the store.
    pub fn setting(&self) -> String {
        format!("store={}", self.proxy.url())
    }
}
