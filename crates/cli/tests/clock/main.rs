//! Whether the phases that `measure` prints are true, and those of `load` the same: against stalls whose place is known, and against the packets.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's own functions")]

mod capture;
mod interim;
mod packets;
mod stalls;
mod three_commands;
