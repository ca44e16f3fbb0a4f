//! What real clients send: their ClientHellos as rows of data, which the engine can offer in their place, and the fingerprints by
//! which a client is known.
//!
//! ```
//! use reprise_clients::ClientRow;
//!
//! let go = ClientRow::named("go").unwrap();
//! println!("{}: {}", go.name, go.client);
//! assert!(!go.hello.permutes);
//! ```

mod decompress;
mod fingerprint;
mod hello;
mod row;

pub use decompress::Decompressor;
pub use fingerprint::{Transport, fingerprint};
pub use hello::{ClientOffer, ExtensionRecord, HelloError, HelloRecord, Said};
pub use row::{ClientRow, RowFile, rows};
