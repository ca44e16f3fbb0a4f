//! What lies between the transport and the first byte of TLS: a proxy, a PROXY header, STARTTLS.

mod conversation;
mod dialogue;
pub(crate) mod fault;
mod proxy;
mod proxy_protocol;
mod route;
mod starttls;

use std::net::SocketAddr;

use reprise_model::{FailureClass, Phase};

use crate::fault::Fault;

pub(crate) use dialogue::Unexpected;
pub use fault::{ClearTextFault, Message, Peer, Problem};
pub use proxy::{Proxy, ProxyError};
pub use proxy_protocol::ProxyProtocol;
pub use route::Route;
pub use starttls::StartTls;
pub(crate) use starttls::{Introduction, Service};

/// A conversation in the clear before TLS begins, without any input or output. One value for each connection.
pub trait Prologue: Send {
    /// The transport is established, from this address of the client's. What is said first is appended to `out`.
    fn begin(&mut self, client: SocketAddr, out: &mut Vec<u8>) -> PrologueStep;

    /// Takes bytes that have come; none after a [`PrologueStep::Passed`], to go on.
    ///
    /// # Errors
    /// A refusal, bytes that have no place, or bytes that came before their turn.
    fn receive(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<PrologueStep, Fault>;

    /// The peer has closed.
    fn receive_end(&mut self) -> Fault;

    /// What is awaited now, and at which stage: for an error of the transport.
    fn awaited(&self) -> (FailureClass, &'static str);

    /// How many round trips it has taken so far.
    fn round_trips(&self) -> u64;
}

/// How far a prologue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrologueStep {
    /// More must come.
    Waiting,
    /// This stage is over and another follows.
    Passed(Phase),
    /// The ClientHello is due; the stage that was over last, if it is one that is timed.
    Over(Option<Phase>),
}
