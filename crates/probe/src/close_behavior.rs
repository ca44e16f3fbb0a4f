//! How a connection behaves beside what it negotiates: how it closes, and how its first bytes go.

/// How a connection behaves beside what it negotiates. By default as well-behaved clients do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CloseBehavior {
    /// How it ends.
    pub(crate) close: CloseMethod,
    /// How many bytes of the ClientHello go in a segment of their own, before the rest; `None` sends all at once.
    pub(crate) first_segment: Option<usize>,
    /// Whether what comes is acknowledged at once, so that a server that waits for acknowledgements does not wait (Linux).
    pub(crate) acknowledges_at_once: bool,
    /// Whether the same is asked once more, where the server keeps the connection open.
    pub(crate) asks_again: bool,
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CloseMethod {
    /// With a close_notify, and with patience for the server's.
    #[default]
    CloseNotify,
    /// With a FIN alone.
    Fin,
    /// With a reset.
    Reset,
}
