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
//! equally often. In the child, `inside` makes those from *ctx* on itself, and `process` has a small C program make the others.

mod advice;
mod claims;
mod client;
mod inside;
mod job;
mod level_cell;
mod material;
mod measure;
mod plan;
mod process;
mod random;
mod requests;

pub use job::{LevelJob, ResumedBy};
pub use level_cell::{LevelReady, PrepareLevel, RunLevel};
pub use material::{IdentityFiles, Material, MaterialError, pem_of_certificates};
pub use measure::layers;
pub use plan::{Layers, RemoteServer};
pub use requests::{LevelBatch, Seen};

use reprise_pairs::Question;

/// What a child process is asked of levels.
pub const QUESTIONS: &[Question] =
    &[Question::of::<PrepareLevel>(), Question::of::<RunLevel>(), Question::of::<random::TimeRandom>()];
