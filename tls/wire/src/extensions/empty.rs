use crate::Error;

/// The data of an extension that says all by being there: `extended_master_secret` (RFC 7627), `post_handshake_auth`
/// (RFC 9846, section 4.3.6), `early_data` in a hello (section 4.2.10), `encrypt_then_mac` (RFC 7366), a server's
/// `server_name` and `status_request` (RFC 6066), a client's `signed_certificate_timestamp` (RFC 6962).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Empty;

impl Empty {
    /// Reads the data, of which there must be none.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        if data.is_empty() { Ok(Empty) } else { Err(Error::TrailingData) }
    }

    /// Appends nothing.
    pub fn emit(&self, _out: &mut Vec<u8>) {}
}
