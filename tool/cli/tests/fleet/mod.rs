//! `reprise diagnose --together` against real fleets: who shares, who does not, and why.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

mod addresses;
mod apart;
mod by_chance;
mod examined;
mod healthy;
mod many;
mod meanwhile;
mod remedies;
mod rollout;
mod security;
