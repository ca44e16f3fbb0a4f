//! `reprise trace` as its users meet it: against embedded servers, nginx, and tshark as a second pair of eyes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

mod capture;
mod counted;
mod ladders;
mod lesson;
mod outputs;
mod resumptions;
mod routes;
mod traced;
