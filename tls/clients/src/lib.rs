//! What real clients send: their ClientHellos as rows of data, which the engine can offer in their place, and the fingerprints by
//! which a client is known.
//!
//! ```
//! use reprise_clients::ClientRow;
//!
//! let go = ClientRow::named("go").unwrap();
//! println!("{}: {}", go.name, go.client);
//! let form = go.hello.form().unwrap();
//! assert!(!form.permutes);
//! ```

mod fingerprint;
mod hello;
mod row;

pub use fingerprint::{Fingerprint, Transport, fingerprint};
pub use hello::{ExtensionRecord, HelloError, HelloRecord, Said};
pub use row::{ClientRow, rows};
