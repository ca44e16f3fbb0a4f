//! Key files as other servers have them, read and written, and watched for changes.
//!
//! A file holds names and keys but no times, so the times come from when it was read or made: see [`FileTimes`]. Sessions are
//! not shared with those servers, whose tickets have other formats; what is shared is the file, and whoever rotates it.

mod format;
mod read;
mod sealing;
mod watch;
mod write;

pub use format::{Format, KeyFileError};
pub use read::{FileTimes, KeyFiles};
pub use watch::{Watcher, watch};
pub use write::write;
