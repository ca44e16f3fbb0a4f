//! `reprise load` and `reprise report --merge`, as a user runs them.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

mod commands;
mod cpu_limits;
mod endings;
mod gates;
mod harness;
mod kubernetes;
mod plan;
mod routes;
