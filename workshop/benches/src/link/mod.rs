//! A real link: two network namespaces joined by TUN devices, between which packets are held back, queued and lost; and TLS over it.

mod forwarder;
mod namespace;
mod tls;

pub use forwarder::{Conditions, Forwarder};
pub use namespace::in_namespace;
pub use tls::{Client, Connected, Ends, Server, SideOptions};
