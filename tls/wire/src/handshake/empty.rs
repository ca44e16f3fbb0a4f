use crate::Error;

/// Defines the messages that are a header and nothing else.
macro_rules! empty_messages {
    ($($(#[$doc:meta])* $Message:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $Message;

        impl $Message {
            /// Reads a whole body, which must be empty.
            pub fn parse(body: &[u8]) -> Result<Self, Error> {
                if body.is_empty() { Ok($Message) } else { Err(Error::TrailingData) }
            }

            /// Appends nothing.
            pub fn emit(&self, _out: &mut Vec<u8>) {}
        }
    )*};
}

empty_messages! {
    /// The server asks for a renegotiation (RFC 5246, section 7.4.1.1).
    HelloRequest;
    /// The end of the server's TLS 1.2 hello messages (RFC 5246, section 7.4.5).
    ServerHelloDone;
    /// The client has sent all its early data (RFC 9846, section 4.6).
    EndOfEarlyData;
}
