//! Sessions kept in a file between one process and the next.

mod file;
mod format;
mod seal;
mod sessions;

pub use file::{Destination, FileError, Loaded, load};
pub use format::{FormatError, Parsed, Sealed, SessionFile, parse};
pub use seal::SealingKey;
pub use sessions::{Unused, server};
