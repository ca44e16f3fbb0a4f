//! The messages in the clear that a peer owes us, and what can be wrong with them.

/// A message of the peer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// HTTP (RFC 9110 §9.3.6).
    ConnectResponse,
    /// SOCKS5 (RFC 1928 §3).
    MethodSelection,
    /// SOCKS5 (RFC 1929 §2).
    PasswordStatus,
    /// SOCKS5 (RFC 1928 §6).
    SocksReply,
    /// What a service says to everyone who connects.
    Greeting,
    /// SMTP.
    EhloReply,
    /// SMTP.
    StartTlsReply,
    /// FTP.
    AuthTlsReply,
    /// IMAP.
    StartTlsResponse,
    /// POP3.
    StlsResponse,
    /// LDAP.
    ExtendedResponse,
    /// PostgreSQL.
    SslRequestAnswer,
    /// XMPP.
    StreamFeatures,
    /// XMPP.
    StartTlsVerdict,
    /// The answer to the question under TLS, of any protocol.
    Answer,
}

/// What is wrong with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// These bytes have no place in the protocol.
    Unexpected(Vec<u8>),
    /// These bytes came with the last message in the clear, where the client's turn is.
    Injected(Vec<u8>),
    /// It goes on after so many bytes.
    TooLong(usize),
    /// The peer closed the connection before it was whole.
    Closed,
    /// The proxy wants a user name and a password, and there are none.
    AuthenticationRequired,
    /// The proxy does not accept those that there are.
    AuthenticationFailed,
    /// The service does not list TLS among what it can do.
    NotOffered,
    /// A proxy refuses the tunnel.
    NoTunnel {
        /// What it was asked for.
        to: String,
        /// HTTP's status, or SOCKS' reply code.
        code: u16,
        /// HTTP's status line; empty for SOCKS.
        said: Vec<u8>,
    },
    /// A service refuses.
    Refused {
        /// The code, where the protocol has one: of the reply, the result or the error.
        code: Option<u16>,
        /// Its words, or the whole of its message.
        said: Vec<u8>,
    },
    /// XMPP: the stream ends with an error (RFC 6120 §4.9).
    StreamError {
        /// The name of an element: `host-unknown`.
        condition: String,
        /// What the server has to say about it.
        text: Option<String>,
    },
}

impl Message {
    /// Its name, as its protocol's document has it: `greeting`, `reply to EHLO`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ConnectResponse => "response to CONNECT",
            Self::MethodSelection => "choice of a method",
            Self::PasswordStatus => "answer to the password",
            Self::SocksReply => "reply",
            Self::Greeting => "greeting",
            Self::EhloReply => "reply to EHLO",
            Self::StartTlsReply => "reply to STARTTLS",
            Self::AuthTlsReply => "reply to AUTH TLS",
            Self::StartTlsResponse => "response to STARTTLS",
            Self::StlsResponse => "response to STLS",
            Self::ExtendedResponse => "response to StartTLS",
            Self::SslRequestAnswer => "answer to SSLRequest",
            Self::StreamFeatures => "stream features",
            Self::StartTlsVerdict => "answer to starttls",
            Self::Answer => "answer",
        }
    }
}
