//! `reprise trace` as its users meet it: against embedded servers, nginx, and tshark as a second pair of eyes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

mod capture;
mod client_authentication;
#[path = "../measure/harness/mod.rs"]
#[allow(dead_code, unused_imports, reason = "what measure's tests need besides")]
mod harness;
mod ladders;
mod outputs;
mod refusals;
mod resumptions;
mod routes;
mod traced;
mod usage;
mod witness;
