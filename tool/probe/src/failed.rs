//! A connection that did not complete, with what was seen of it.

use reprise_connection::Fault;
use reprise_model::{FailureClass, FaultName, Observation};
use reprise_wire::NamedGroup;

/// Why something was not measured, and the connection that showed it.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedConnection {
    /// Why.
    pub fault: Fault,
    /// What was seen of the connection; `None` where none was begun.
    pub observation: Option<Box<Observation>>,
    /// The group that the server chose when it was shown all that is spoken, where it had not been offered.
    pub wanted_group: Option<NamedGroup>,
    /// Whether it was a full handshake where an external PSK is there too: a server may know PSKs alone.
    pub is_full_beside_psk: bool,
}

impl FailedConnection {
    /// Ctrl-C.
    pub(crate) fn interrupted() -> Self {
        Fault::interrupted().into()
    }

    /// Whether another version may do better.
    pub(crate) fn is_of_the_version(&self) -> bool {
        matches!(self.fault.class, FailureClass::Tls | FailureClass::Request)
    }

    /// Whether the server had chosen the version by then: it speaks it, and something after that fails.
    pub(crate) fn is_after_choice(&self) -> bool {
        self.is_of_the_version() && self.observation.as_ref().is_some_and(|seen| seen.chosen == Some(seen.asked.tls))
    }

    /// Whether Ctrl-C ended it.
    pub fn is_interruption(&self) -> bool {
        self.fault.name == FaultName::Interrupted
    }
}

impl From<Fault> for FailedConnection {
    fn from(fault: Fault) -> Self {
        Self { fault, observation: None, wanted_group: None, is_full_beside_psk: false }
    }
}
