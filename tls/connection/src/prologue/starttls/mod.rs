//! Services that begin in the clear and are asked for TLS: one protocol, one file.

pub mod reply;

use std::fmt;
use std::net::IpAddr;

use super::dialogue::{Dialogue, Unexpected};
use super::server_side::{ServerReply, ServerSide};

/// Declares the module of each protocol and lists the protocols.
macro_rules! protocols {
    ($($(#[$doc:meta])+ $variant:ident in $module:ident,)+) => {
        $(mod $module;)+

        /// A protocol that asks for TLS in the clear, by the names of `openssl s_client -starttls`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum StartTls {
            $($(#[$doc])+ $variant,)+
        }

        impl StartTls {
            /// Every protocol.
            pub const ALL: [Self; [$(stringify!($variant)),+].len()] = [$(Self::$variant),+];

            fn protocol(self) -> &'static Protocol {
                match self {
                    $(Self::$variant => &$module::PROTOCOL,)+
                }
            }
        }
    };
}

protocols! {
    /// RFC 3207.
    Smtp in smtp,
    /// RFC 9051 §6.2.1.
    Imap in imap,
    /// RFC 2595 §4.
    Pop3 in pop3,
    /// RFC 4217 §4.
    Ftp in ftp,
    /// RFC 4511 §4.14.
    Ldap in ldap,
    /// PostgreSQL's SSLRequest.
    Postgres in postgres,
    /// MySQL's SSLRequest.
    MySql in mysql,
    /// RFC 6120 §5, client to server.
    Xmpp in xmpp,
}

/// What a protocol's file says of it.
struct Protocol {
    /// As `openssl s_client -starttls` has it.
    name: &'static str,
    /// On which IANA knows it.
    port: u16,
    /// Makes what speaks it on one connection.
    new: fn(Introduction) -> Box<dyn Service>,
    server: &'static ServerSide,
}

/// Who introduces itself to whom.
pub(crate) struct Introduction {
    /// The target's host, as it was given.
    pub(crate) host: String,
    /// The client's own address.
    pub(crate) client: IpAddr,
}

/// What there is to know of one protocol: its dialogue in the clear, until the server's consent, and its question under TLS. How
/// long [`Message::Answer`](super::Message::Answer) is, the dialogue says. It is given whatever the server says.
pub(crate) trait Service: Dialogue {
    /// Something harmless that has an answer, under TLS. Under TLS 1.3 the answer shows that the server has finished the
    /// handshake too.
    fn question(&self) -> Vec<u8>;

    /// What a client says before it closes, so that the server need not complain of its going.
    fn farewell(&self, _answer: &[u8]) -> Vec<u8> {
        b"QUIT\r\n".to_vec()
    }
}

impl StartTls {
    /// The name, as `openssl s_client -starttls` has it.
    pub fn name(self) -> &'static str {
        self.protocol().name
    }

    /// The port on which IANA knows the protocol.
    pub fn default_port(self) -> u16 {
        self.protocol().port
    }

    /// What a server says first; nothing where clients do.
    pub fn greeting(self) -> &'static [u8] {
        self.protocol().server.greeting
    }

    /// A server's answer to the first whole message in `heard`, which is taken; none until it has come. Under TLS the server lets
    /// nobody in, but for one of FTP, whose directory is empty.
    ///
    /// # Errors
    /// [`Unexpected`] if a client of this protocol does not begin so.
    pub fn reply(self, heard: &mut Vec<u8>, is_under_tls: bool) -> Result<Option<ServerReply>, Unexpected> {
        self.protocol().server.reply(heard, is_under_tls)
    }

    pub(crate) fn service(self, introduction: Introduction) -> Box<dyn Service> {
        (self.protocol().new)(introduction)
    }
}

impl fmt::Display for StartTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
