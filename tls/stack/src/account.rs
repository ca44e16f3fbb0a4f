//! What a library says of one connection.

use std::fmt;

/// What a library says of one connection: `None` where it does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StackAccount {
    /// IANA's number of the version: 0x0303, 0x0304.
    pub version: u16,
    /// IANA's number of the suite.
    pub suite: u16,
    /// IANA's number of the group.
    pub group: Option<u16>,
    /// Whether it was resumed.
    pub resumed: Option<bool>,
    /// By what.
    pub resumed_by: Option<KeptBy>,
    /// A server's: whether the session has a certificate of the client's.
    pub client_certificate: Option<bool>,
    /// Whether there was early data and the server accepted it.
    pub early_data: Option<bool>,
}

/// Where a session was that was resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptBy {
    /// In the server's cache, under a session ID.
    Cache,
    /// In a ticket.
    Ticket,
}

impl fmt::Display for KeptBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cache => "a session ID",
            Self::Ticket => "a ticket",
        })
    }
}
