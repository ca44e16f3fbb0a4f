//! TLS records and handshake messages of TLS 1.2 and 1.3: parse and emit, one message per file.
//!
//! Parsing borrows from the input and allocates nothing; emitting appends to a `Vec<u8>`. What is not known is kept
//! as it came: an unlisted cipher suite is a [`CipherSuite`] without a name, an unlisted extension stays in
//! [`Extensions`] as its bytes. Nothing here holds state, reads a clock, or decides what is acceptable: a value that
//! is well formed but unwanted is the engine's business.
//!
//! ```
//! use reprise_wire::{ClientHello, Handshake, HandshakeType, Record};
//!
//! # fn offered(bytes: &[u8]) -> Result<Option<usize>, reprise_wire::Error> {
//! let Some((record, _consumed)) = Record::parse(bytes)? else { return Ok(None) };
//! let Some((message, _consumed)) = Handshake::parse(record.fragment)? else { return Ok(None) };
//! if message.msg_type != HandshakeType::CLIENT_HELLO {
//!     return Ok(None);
//! }
//! let hello = ClientHello::parse(message.body)?;
//! Ok(Some(hello.cipher_suites.len()))
//! # }
//! # assert_eq!(offered(&[22, 3, 1]), Ok(None));
//! ```

pub mod codec;
mod error;
pub mod extensions;
mod first_message;
pub mod handshake;
mod list;
mod protocol;
mod record;
mod registry;

pub use codec::Reader;
pub use error::Error;
pub use extensions::{Extensions, ExtensionsBuilder};
pub use first_message::first_message;
pub use handshake::*;
pub use list::{Element, List, List16};
pub use protocol::{Alert, ChangeCipherSpec};
pub use record::{HEADER_LEN, MAX_CIPHERTEXT_TLS12, MAX_CIPHERTEXT_TLS13, MAX_PLAINTEXT, Record};
pub use registry::*;
