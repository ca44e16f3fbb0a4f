//! What went over the wire, message by message.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{Bytes, Nanos};

/// One message in or out, as the engine saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Event {
    /// When its last byte was handed to the engine, or when the engine made it.
    pub at: Nanos,
    /// Which way it went.
    pub direction: Direction,
    /// What it was.
    pub what: What,
    /// Its size: a handshake message with its four-byte header, otherwise the plaintext of the record.
    pub size: Bytes,
    /// Whether it travelled under record protection.
    pub encrypted: bool,
    /// What a handshake message says, in the order of its bytes; empty where messages were not kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
    /// The extensions of a handshake message, in their order; empty where messages were not kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<Extension>,
}

impl Event {
    /// A message of which only its outside is known.
    pub fn new(at: Nanos, direction: Direction, what: What, size: Bytes, encrypted: bool) -> Self {
        Self { at, direction, what, size, encrypted, fields: Vec::new(), extensions: Vec::new() }
    }
}

/// A field of a handshake message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Field {
    /// The name of its RFC: `cipher_suites`, `ticket_lifetime`.
    pub name: Cow<'static, str>,
    /// Its value, for a reader.
    pub value: String,
}

/// An extension of a handshake message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Extension {
    /// Its number (IANA, TLS ExtensionType Values).
    #[serde(rename = "type")]
    pub number: u16,
    /// Its name there; `0x0a0a` where it has none.
    pub name: Cow<'static, str>,
    /// Bytes of its data, without type and length.
    pub size: Bytes,
    /// What its data says, for a reader; null where it is empty, or is not decoded.
    pub value: Option<String>,
}

named! {
    /// Which way a message went.
    pub enum Direction {
        /// By the client.
        Sent = "sent",
        /// From the server.
        Received = "received",
    }
}

/// What a message was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum What {
    /// A handshake message, by its RFC name. A ServerHello with the special random of RFC 9846 §4.2.3 is a
    /// `HelloRetryRequest`.
    Handshake {
        /// The RFC's name: `ClientHello`, `NewSessionTicket`, …
        message: Cow<'static, str>,
    },
    /// A ChangeCipherSpec record. Under TLS 1.3 it means nothing (RFC 9846 §5).
    ChangeCipherSpec,
    /// An alert, by its RFC name.
    Alert {
        /// `close_notify`, `handshake_failure`, …
        description: Cow<'static, str>,
    },
    /// A record of application data.
    ApplicationData,
    /// A rule that the server broke without harm to the connection: what it came with was taken all the same. Its size is
    /// zero.
    Violation {
        /// The rule, in words.
        rule: Cow<'static, str>,
    },
}

impl What {
    /// The name by which it is shown.
    pub fn name(&self) -> &str {
        match self {
            Self::Handshake { message } => message,
            Self::ChangeCipherSpec => "ChangeCipherSpec",
            Self::Alert { description } => description,
            Self::ApplicationData => "application data",
            Self::Violation { rule } => rule,
        }
    }
}
