//! Two TLS libraries as the ends of one connection, each side's CPU on its own clock: what `reprise compare`, `speed`, `layers` and
//! `explain` share.
//!
//! Libraries are loaded in child processes, so that a crash or a hang is one row: over memory one process for each pair, over loopback
//! one for each side. A question to a child is an [`Ask`], which has a type of answer; in the child, [`serve`] answers. A [`Run`]
//! takes samples in an order in which each row precedes each equally often.
//!
//! ```
//! use reprise_pairs::{StackRef, find};
//!
//! // Without a folder of plugins: what is built in.
//! let found = find(&[])?;
//! assert!(found.iter().any(|stack| stack.name == "rustls-aws-lc"));
//! assert!(found.iter().all(|stack| matches!(stack.at, StackRef::BuiltIn(_))));
//! # Ok::<(), std::io::Error>(())
//! ```

mod ask;
mod batch;
mod bulk;
mod case;
mod cell;
mod certificates;
mod child;
mod children;
mod clock;
mod cores;
mod cpu_switches;
mod describe;
mod failed;
mod handshakes;
mod in_memory;
mod job;
mod key;
mod line_process;
mod loopback;
mod pair;
mod party;
mod run;
mod shares;
mod stacks;
mod statistics;
mod transport;
mod witness;
mod worker;

pub use ask::{Ask, Question, serve};
pub use batch::{Batch, OnAClock};
pub use bulk::{Bulk, LARGEST_RECORD};
pub use case::{Case, NO_GROUP, REQUEST};
pub use cell::{Cell, ThreadedBatch, check, side_context};
pub use certificates::{CertificateKeyError, Certificates, Keys};
pub use child::Child;
pub use children::Children;
pub use clock::CpuClock;
pub use cpu_switches::without_cpu_instructions;
pub use describe::{Described, describe};
pub use failed::{Failed, FailureKind};
pub use handshakes::{Handshake, HandshakePlan, Handshakes, skip};
pub use in_memory::{Prepare, Ready, RunPrepared, RunThreads};
pub use job::Job;
pub use key::Key;
pub use line_process::LineProcess;
pub use loopback::{Amount, Apart, Dial, Listen, PrepareSide, Serve, SideProcess};
pub use pair::Pair;
pub use party::{Party, words};
pub use run::{Audience, Effort, Row, Run};
pub use stacks::{FoundStack, StackRef, clean_path, find};
pub use statistics::statistics;
pub use transport::{Connected, Says, Transport};
pub use witness::{WireFacts, Witness};
pub use worker::{Launcher, Worker};

/// What a child process is asked of pairs.
pub const QUESTIONS: &[Question] = &[
    Question::of::<describe::Describe>(),
    Question::of::<in_memory::Prepare>(),
    Question::of::<in_memory::RunPrepared>(),
    Question::of::<in_memory::RunThreads>(),
    Question::of::<in_memory::Record>(),
    Question::of::<loopback::PrepareSide>(),
    Question::of::<loopback::Listen>(),
    Question::of::<loopback::Serve>(),
    Question::of::<loopback::Dial>(),
];
