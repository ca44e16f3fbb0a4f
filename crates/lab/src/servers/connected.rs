/// What a server says of one connection, where it does not say whether the session was resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connected {
    /// The client's port, which joins this account to the client's.
    pub client_port: u16,
    /// `TLSv1.2` or `TLSv1.3`.
    pub version: String,
}
