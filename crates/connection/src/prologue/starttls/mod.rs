//! Services that begin in the clear and are asked for TLS: one protocol, one file.

mod ftp;
mod imap;
mod ldap;
mod mysql;
mod pop3;
mod postgres;
mod reply;
mod smtp;
mod xmpp;

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use super::dialogue::{Dialogue, Unexpected};
use super::server_side::{ServerReply, ServerSide};

/// A protocol that asks for TLS in the clear, by the names of `openssl s_client -starttls`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartTls {
    /// RFC 3207.
    Smtp,
    /// RFC 9051 §6.2.1.
    Imap,
    /// RFC 2595 §4.
    Pop3,
    /// RFC 4217 §4.
    Ftp,
    /// RFC 4511 §4.14.
    Ldap,
    /// PostgreSQL's SSLRequest.
    Postgres,
    /// MySQL's SSLRequest.
    MySql,
    /// RFC 6120 §5, client to server.
    Xmpp,
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

/// Makes what speaks a protocol on one connection.
type NewService = fn(Introduction) -> Box<dyn Service>;

impl StartTls {
    /// Every protocol.
    pub const ALL: [Self; 8] =
        [Self::Smtp, Self::Imap, Self::Pop3, Self::Ftp, Self::Ldap, Self::Postgres, Self::MySql, Self::Xmpp];

    /// The name, the port and what speaks either side of the protocol: one line for each.
    fn row(self) -> (&'static str, u16, NewService, &'static ServerSide) {
        match self {
            Self::Smtp => ("smtp", 25, |it| Box::new(smtp::Smtp { client: it.client }), &smtp::SERVER),
            Self::Imap => ("imap", 143, |_| Box::new(imap::Imap), &imap::SERVER),
            Self::Pop3 => ("pop3", 110, |_| Box::new(pop3::Pop3), &pop3::SERVER),
            Self::Ftp => ("ftp", 21, |_| Box::new(ftp::Ftp), &ftp::SERVER),
            Self::Ldap => ("ldap", 389, |_| Box::new(ldap::Ldap), &ldap::SERVER),
            Self::Postgres => ("postgres", 5432, |_| Box::new(postgres::Postgres), &postgres::SERVER),
            Self::MySql => ("mysql", 3306, |_| Box::new(mysql::MySql), &mysql::SERVER),
            Self::Xmpp => ("xmpp", 5222, |it| Box::new(xmpp::Xmpp { host: it.host }), &xmpp::SERVER),
        }
    }

    /// The name, as `openssl s_client -starttls` has it.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// The port on which IANA knows the protocol.
    pub fn default_port(self) -> u16 {
        self.row().1
    }

    /// What a server says first; nothing where clients do.
    pub fn greeting(self) -> &'static [u8] {
        self.row().3.greeting
    }

    /// A server's answer to the first whole message in `heard`, which is taken; none until it has come. Under TLS the server lets
    /// nobody in.
    ///
    /// # Errors
    /// [`Unexpected`] if a client of this protocol does not begin so.
    pub fn reply(self, heard: &mut Vec<u8>, is_under_tls: bool) -> Result<Option<ServerReply>, Unexpected> {
        self.row().3.reply(heard, is_under_tls)
    }

    pub(crate) fn service(self, introduction: Introduction) -> Box<dyn Service> {
        (self.row().2)(introduction)
    }
}

impl fmt::Display for StartTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for StartTls {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|protocol| protocol.name() == text);
        known.ok_or_else(|| format!("unknown STARTTLS protocol '{text}': use {}", Self::ALL.map(Self::name).join(", ")))
    }
}
