//! Five processes with one store, and servers on OpenSSL: what the session library promises them.

#[cfg(feature = "valkey")]
mod busy;
#[cfg(feature = "valkey")]
mod diagnosed;
#[cfg(feature = "valkey")]
mod faults;
#[cfg(feature = "valkey")]
mod fleet;
#[cfg(feature = "valkey")]
mod formats;
#[cfg(feature = "valkey")]
mod memcached;
#[cfg(feature = "openssl")]
mod openssl;
#[cfg(feature = "valkey")]
mod peers;
#[cfg(feature = "valkey")]
mod topologies;
