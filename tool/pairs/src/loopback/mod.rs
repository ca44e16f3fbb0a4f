//! Connections over TCP on 127.0.0.1, each side in a process of its own.
//!
//! ```text
//! client:  connect │ begin ── ClientHello ──> … Finished │ wait for the end │ end
//!                  └ the clock starts                    └ ready            └ wall
//! server:   accept │ begin … Finished, tickets ── end of stream ──> wait for the client's end │ end
//! ```
//!
//! A side's CPU time is that of its library's turns, as over memory; what sockets cost is the kernel's. What each sends and
//! receives is kept, and read by the witness once the connection is over.

mod apart;
mod dialer;
mod end;
mod server;
mod side;

pub use apart::{Apart, SideProcess};
pub use dialer::{Amount, Dial};
pub use server::{Listen, Serve};
pub use side::PrepareSide;
