//! One TLS connection as one value, without any input or output.
//!
//! An [`Attempt`] is an [`Endpoint`] (the TLS library), the [`Exchange`] on top of it (HTTP, another protocol, silence), a
//! [`Prologue`] before it (proxy, PROXY header, STARTTLS) and the one phase clock. Whoever drives it moves bytes and reads the
//! clock; it ends in what was seen, or in a [`Fault`] with one fixed name. The same value runs over a blocking socket, over
//! an event loop, in memory against another endpoint, and in virtual time.
//!
//! ```
//! use reprise_connection::Target;
//!
//! let target: Target = "[2001:db8::7]:8443".parse()?;
//! assert_eq!(target.authority(), "[2001:db8::7]:8443");
//! # Ok::<(), reprise_connection::TargetError>(())
//! ```

mod attempt;
mod clock;
mod endpoint;
mod engine_client;
pub mod exchange;
mod fault;
mod input;
pub mod prologue;
mod target;

pub use attempt::{Attempt, Begin, Progress};
pub use endpoint::{End, Endpoint, EndpointEvent, MessageLog};
pub use engine_client::{AsPlanned, EngineClient, EnginePlan, SessionPolicy};
pub use exchange::{Exchange, Reply};
pub use fault::{Detail, Fault, IoError, RequestPart, fault_name};
pub use input::Input;
pub use prologue::{
    ClearTextFault, Message, Peer, Problem, Prologue, PrologueStep, Proxy, ProxyError, ProxyProtocol, Route, ServerReply,
    StartTls, Unexpected,
};
pub use target::{Target, TargetError};
