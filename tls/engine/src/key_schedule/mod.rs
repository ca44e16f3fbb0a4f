//! From shared secrets to traffic keys.

pub mod tls12;
pub mod tls13;
