//! What it costs to start again at each level: process, library, context, TCP connection, TLS session, request.
//!
//! The same request is made again and again, each time started again at one level. Everything below that level is made anew
//! with it, everything above is kept:
//!
//! ```text
//! run ─> lib ─> ctx ─> bio ─> ssl ─> msg
//! ```
//!
//! [`layers`] asks a child process for each stack to make batches of requests, in an order in which each level precedes each
//! equally often. In the child, `cell` makes those from *ctx* on itself, and `process` has a small C program make the others.

mod advice;
mod cell;
mod client;
mod material;
mod measure;
mod message;
mod process;

pub use material::{IdentityFiles, Material, MaterialError, pem_of_certificates};
pub use measure::{Layers, RemoteServer, layers};
pub use message::ResumedBy;

pub(crate) use cell::LevelCell;
pub(crate) use message::{LevelJob, LevelReady};
pub(crate) use process::random_bytes;
