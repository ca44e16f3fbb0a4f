//! Every TLS library as an endpoint: rustls with either of its providers and our own engine are built in, C libraries come as
//! plugins through one header, `tls/stacks/include/reprise_stack.h`.
//!
//! A [`Stack`] makes a [`Context`] from [`ContextOptions`], a context makes endpoints: each one side of one connection after the
//! other, bytes in and bytes out. Loading a plugin runs its code: whoever does not trust it loads it in a process of its own.
//!
//! ```
//! use reprise_stack::{ContextOptions, SessionPlan, SessionMode, StackSessions, Side, built_in};
//! use reprise_model::{KeyPairs, Nanos, PskMode, Version};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let root = reprise_lab::Authority::new()?.pem();
//! for (name, stack) in built_in() {
//!     let client = stack.context(&ContextOptions {
//!         side: Side::Client,
//!         version: Version::Tls13,
//!         sessions: SessionMode::Ticket,
//!         suites: &[0x1301],
//!         groups: &[29],
//!         identity: None,
//!         trust: Some(&root),
//!         require_client_certificate: false,
//!         server_name: "localhost",
//!         psk: None,
//!         psk_mode: PskMode::PskDheKe,
//!         max_early_data: 0,
//!         key_pairs: KeyPairs::Fresh,
//!         max_fragment: None,
//!         releases_buffers: false,
//!         shares_all_groups: false,
//!         remembers_chains: false,
//!         date: rustls_pki_types::UnixTime::now(),
//!     })?;
//!     let mut hello = Vec::new();
//!     client.endpoint().begin(&mut StackSessions::new(), SessionPlan::default(), Nanos(0), &mut hello).unwrap();
//!     assert_eq!(hello[0], 22, "{name} begins with a handshake record");
//! }
//! # Ok(())
//! # }
//! ```

mod abilities;
mod account;
mod built_in;
mod chain_memory;
mod engine_stack;
mod error;
#[cfg(unix)]
mod ffi;
#[cfg(unix)]
mod heap;
mod optimised;
mod options;
#[cfg(unix)]
mod plugin;
mod primitive;
mod reused_pair;
mod rustls_stack;
mod session;

pub use abilities::{Abilities, Ability};
pub use account::{KeptBy, StackAccount};
pub use built_in::built_in;
pub use error::StackError;
#[cfg(unix)]
pub use heap::{Growth, Heap};
pub use options::{ContextOptions, Pem, SessionMode, Side, StackPsk};
#[cfg(unix)]
pub use plugin::Plugin;
pub use primitive::{EXPANSIONS, PrimitiveOptions, ReadyPrimitive, is_kem};
pub use session::{StackSession, StackSessions};

use reprise_connection::{Endpoint, EndpointEvent, Fault};
use reprise_model::{FaultName, Nanos};
use reprise_wire::Record;

/// A TLS library.
pub trait Stack {
    /// What it is.
    fn about(&self) -> &About;

    /// A configuration.
    ///
    /// # Errors
    /// [`StackError::Unsupported`] where the library cannot be held to it, [`StackError::Refused`] where it cannot read it.
    fn context(&self, options: &ContextOptions<'_>) -> Result<Box<dyn Context>, StackError>;

    /// An operation of the library, ready to be repeated.
    ///
    /// # Errors
    /// [`StackError::Unsupported`] where the library has none such; as [`Stack::context`].
    fn primitive(&self, _options: &PrimitiveOptions<'_>) -> Result<Box<dyn ReadyPrimitive>, StackError> {
        Err(StackError::unsupported(format!("the operations of {} are not called one by one", self.about().name)))
    }

    /// A configuration with the library's state, providers and generators for itself: OpenSSL's `OSSL_LIB_CTX`.
    ///
    /// # Errors
    /// [`StackError::Unsupported`] where the library has no such thing; as [`Stack::context`].
    fn context_with_library(&self, _options: &ContextOptions<'_>) -> Result<Box<dyn Context>, StackError> {
        Err(StackError::unsupported(format!(
            "{} has no library context that a program could create again",
            self.about().name
        )))
    }
}

/// A configuration of one side, with a server's session cache and ticket keys.
pub trait Context {
    /// A place for connections.
    fn endpoint(&self) -> Box<dyn StackEndpoint>;

    /// A session from the bytes that [`StackSession::export`] gave.
    ///
    /// # Errors
    /// [`StackError::Unsupported`] where the library has no such bytes, [`StackError::Refused`] where these are none.
    fn import(&self, bytes: &[u8]) -> Result<StackSession, StackError>;

    /// A server's whose key pairs are made ahead: makes them for so many connections, each of which uses one.
    ///
    /// # Errors
    /// [`StackError::Unsupported`] where the context is another, [`StackError::Refused`] where a connection had none before.
    fn pregenerate(&self, _count: usize) -> Result<(), StackError> {
        Err(StackError::unsupported("this context makes no key pairs ahead"))
    }

    /// The same configuration, session cache and ticket keys for another thread, whose endpoints make connections while those of this one do.
    ///
    /// # Errors
    /// [`StackError::Unsupported`] where nobody says that several threads may use a context at once.
    fn for_another_thread(&self) -> Result<Box<dyn Context + Send>, StackError> {
        Err(StackError::unsupported("nothing says that several threads may use one context of this library at once"))
    }
}

/// What one connection is to be.
#[derive(Debug, Default)]
pub struct SessionPlan {
    /// A client's: the session to resume.
    pub session: Option<StackSession>,
    /// A client's: what it says before the server has answered, as far as the session allows; its context must allow it too.
    pub early_data: Option<Vec<u8>>,
}

impl From<Option<StackSession>> for SessionPlan {
    fn from(session: Option<StackSession>) -> Self {
        Self { session, early_data: None }
    }
}

/// One side of one connection after the other. What a client learns goes to [`StackSessions`].
pub trait StackEndpoint: Endpoint<Shared = StackSessions, Plan = SessionPlan> {
    /// A server's: the early data that it has accepted so far. Application data is what comes after it.
    fn early_data(&self) -> &[u8];

    /// Protects application data in records of so many bytes, the last of what is left.
    ///
    /// # Errors
    /// As [`Endpoint::send`].
    fn send_data(&mut self, data: &[u8], record: usize, out: &mut Vec<u8>) -> Result<(), Fault> {
        data.chunks(record).try_for_each(|record| self.send(Nanos(0), record, out))
    }

    /// Takes whole records, and passes on what they come to. Here a record at a time; a library that reads a socket without regard to
    /// records is given them so.
    ///
    /// # Errors
    /// As [`Endpoint::receive`].
    fn receive_all(
        &mut self,
        sessions: &mut StackSessions,
        records: &mut [u8],
        out: &mut Vec<u8>,
        hear: &mut dyn FnMut(EndpointEvent<'_>),
    ) -> Result<(), Fault> {
        receive_each(self, sessions, records, out, hear)
    }

    /// What the library says of the connection, once its handshake is complete.
    ///
    /// # Errors
    /// If it is not complete, or the library fails.
    fn account(&self) -> Result<StackAccount, StackError>;
}

/// Takes records one by one.
fn receive_each<E: StackEndpoint + ?Sized>(
    endpoint: &mut E,
    sessions: &mut StackSessions,
    mut records: &mut [u8],
    out: &mut Vec<u8>,
    hear: &mut dyn FnMut(EndpointEvent<'_>),
) -> Result<(), Fault> {
    while let Some((_, length)) = Record::parse(records).map_err(|_| Fault::new(FaultName::Malformed))? {
        let (record, after) = records.split_at_mut(length);
        records = after;
        hear(endpoint.receive(sessions, Nanos(0), record, out)?);
    }
    Ok(())
}

/// There is no connection.
fn closed() -> Fault {
    Fault::new(FaultName::Closed)
}

/// What a library is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// The library's own name: `OpenSSL`.
    pub name: String,
    /// Its version, as it says it.
    pub version: String,
    /// How it was built; empty where nothing is known.
    pub flags: String,
    /// Algorithms for which the plugin's file has assembler, CPU instructions or code for one curve; none where that cannot be told.
    pub optimised: Vec<String>,
    /// What it can do.
    pub abilities: Abilities,
    /// SHA-256 of the plugin's file, in hexadecimal; `None` where it is built in.
    pub sha256: Option<String>,
}

impl About {
    fn built_in(name: &str, version: &str, abilities: &[Ability]) -> Self {
        let (name, version, flags) = (name.to_owned(), version.to_owned(), "built in".to_owned());
        Self { name, version, flags, optimised: Vec::new(), abilities: Abilities::of(abilities), sha256: None }
    }

    /// Whether the library says that it can make such a context.
    ///
    /// # Errors
    /// [`StackError::Unsupported`], with what is missing.
    pub fn check(&self, options: &ContextOptions<'_>) -> Result<(), StackError> {
        match self.abilities.missing(options) {
            None => Ok(()),
            Some(missing) => Err(StackError::unsupported(format!("{} has no {missing}", self.name))),
        }
    }
}
