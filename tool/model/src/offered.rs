//! What a connection offers, and where it has it from.

use crate::{Kind, Nanos, TicketKeyName};

/// What a connection offered to begin from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered {
    /// By what it was offered: `id`, `ticket`, `psk`, or `early` for a ticket with early data.
    pub kind: Kind,
    /// How old the session was.
    pub age: Nanos,
    /// Which connection it came from; `None` where another process left it behind, and for an external PSK.
    pub origin: Option<Origin>,
    /// The first bytes of the ticket; `None` where no ticket was offered.
    pub key_name: Option<TicketKeyName>,
    /// SHA-256 of the certificate that the server had shown for the session; `None` where that is not known.
    pub leaf: Option<[u8; 32]>,
}

/// The connection that a session came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Its place among all connections that the schedule began.
    pub index: u32,
    /// Whether that one was resumed itself.
    pub was_resumed: bool,
    /// Whether it is the last that that one gave: servers give one or two tickets at once.
    pub is_last: bool,
}
