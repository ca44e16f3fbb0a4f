//! What lies between the transport and the first byte of TLS: a proxy, a PROXY header, STARTTLS.

mod conversation;
mod dialogue;
pub(crate) mod fault;
mod message;
mod proxy;
mod proxy_protocol;
mod route;
mod server_side;
mod starttls;

use reprise_model::Phase;

pub use conversation::Prologue;
pub use dialogue::Unexpected;
pub(crate) use dialogue::{Dialogue, Length, Turn};
pub use fault::{ClearTextFault, Peer};
pub use message::{Message, Problem};
pub use proxy::{Proxy, ProxyError};
pub use proxy_protocol::ProxyProtocol;
pub use route::Route;
pub use server_side::{DataCommand, ServerReply};
pub(crate) use starttls::{Introduction, Service};
pub use starttls::{StartTls, reply};

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
