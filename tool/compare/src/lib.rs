//! Pairs of TLS libraries over memory or over loopback: what a handshake costs each side, in every library that is installed.
//!
//! [`compare`] makes a table of them, [`layers`] measures what it costs to start again at each level, and [`speed`] what the operations
//! cost that handshakes are made of. All load libraries in
//! child processes, so that a crash or a hang is one row: over memory one process for each pair, over loopback one for each side. In the
//! child, [`serve_requests`] answers. Samples are taken in an order in which each case precedes each equally often.
//!
//! ```
//! use reprise_compare::{StackRef, find};
//!
//! // Without a folder of plugins: what is built in.
//! let found = find(&[])?;
//! assert!(found.iter().any(|stack| stack.name == "rustls-aws-lc"));
//! assert!(found.iter().all(|stack| matches!(stack.at, StackRef::BuiltIn(_))));
//! # Ok::<(), std::io::Error>(())
//! ```

mod bulk;
mod callgrind;
mod case;
mod cell;
mod child;
mod children;
mod claims;
mod clock;
mod comparable;
mod compare;
mod comparison;
mod conclusion;
mod conformance;
mod cores;
mod critical_path;
mod keys;
mod layers;
mod libraries;
mod line_process;
mod link;
mod loopback;
mod matrix;
mod memory;
mod message;
mod pair;
mod resume;
mod scenario;
mod shares;
mod speed;
mod stacks;
mod witness;
mod worker;

pub use bulk::{Bulk, LARGEST_RECORD};
pub use callgrind::{Callgrind, NoValgrind};
pub use case::{Case, Key, NO_GROUP, REQUEST};
pub use child::serve_requests;
pub use compare::{compare, describe};
pub use comparison::{Audience, ComparisonPlan, Effort};
pub use conformance::{Check, CheckOutcome, KEYS as CONFORMANCE_KEYS, conformance};
pub use critical_path::{Change, ExplainError, ExplainPlan, Measured, explain};
pub use keys::{CertificateKeyError, Certificates, Keys};
pub use layers::{IdentityFiles, Layers, Material, MaterialError, RemoteServer, ResumedBy, layers, pem_of_certificates};
pub use libraries::{LIBRARIES, Library, LibrarySource};
pub use link::{LinkPlan, Replayed, losses, replay};
pub use message::{Failed, FailureKind};
pub use resume::OtherRun;
pub use scenario::{Scenario, Selection};
pub use speed::{Primitive, SpeedPlan, catalogue, speed};
pub use stacks::{FoundStack, StackRef, clean_path, find};
pub use witness::WireFacts;
pub use worker::Launcher;
