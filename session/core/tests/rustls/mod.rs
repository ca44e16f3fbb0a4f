//! The adapter against rustls' own client, in memory: each rule of what a session store must never get wrong.
#![cfg(feature = "rustls")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod binding;
mod budget;
mod chain;
mod client_end;
mod crl;
mod early_data;
mod flights;
mod key_shares;
mod line;
#[cfg(feature = "tokio")]
mod listener;
mod metrics;
mod pair;
mod shared;
