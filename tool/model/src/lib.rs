//! The shared vocabulary of Reprise: what was observed on one connection ([`Event`], [`Facts`], [`Observation`]) and the
//! versioned documents that are made of it ([`document`]).
//!
//! Floor 0: plain data. Nothing here reads a clock, opens a socket or draws randomness; every other crate may use it.
//!
//! ```
//! use reprise_model::{Kind, Nanos, Version};
//!
//! assert!(Kind::Ticket.exists_under(Version::Tls12) && !Kind::Id.exists_under(Version::Tls13));
//! assert_eq!(Nanos(2_500_000).as_millis_f64(), 2.5);
//! ```

#[macro_use]
mod named;

mod answer;
mod capture;
mod client_cpu;
mod event;
mod facts;
mod failure;
mod fault_name;
mod fingerprint;
mod kind;
mod level;
mod load_notice;
mod observation;
mod offered;
mod operation;
mod outcome;
mod phase;
mod prepared;
mod round_trips;
mod units;
mod watched;

pub mod document;
#[cfg(feature = "schema")]
pub mod schema;

pub use answer::{Answer, AnsweredConnection, Location, answers_that_differ};
pub use capture::{Recording, Segment};
pub use client_cpu::ClientCpu;
pub use event::{Direction, Event, Extension, Field, What};
pub use facts::{
    CertificateChain, CertificateCompression, Facts, HelloRetry, PeerKey, Protocol, SharedGroups, Ticket, TicketKeyName,
    Tickets, key_share_ending,
};
pub use failure::{Failure, FailureClass, NextRequest};
pub use fault_name::FaultName;
pub use fingerprint::Fingerprint;
pub use kind::{Asked, Kind, KindCounts, PskMode, Version};
pub use level::Level;
pub use load_notice::{
    BottleneckReason, CpuRestraint, DescriptorShortage, LoadNotice, LocalPorts, ProcessorShare, RefusalCause,
};
pub use observation::{Ended, Observation, Purpose};
pub use offered::{Offered, Origin};
pub use operation::Operation;
pub use outcome::{ClientAuthentication, EarlyData, HelloRetryRecord, Outcome, Verification};
pub use phase::{Phase, Phases};
pub use prepared::{KeyPairs, ServerChain};
pub use round_trips::round_trips;
pub use units::{Bytes, Nanos};
pub use watched::{
    Agreed, ClientOffer, GivenSession, HandshakeEnd, OfferedSession, Watched, WatchedConnection, WatchedEnd,
    WatchedHandshake,
};
