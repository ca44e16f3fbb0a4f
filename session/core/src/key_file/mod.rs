//! Key files as other servers have them: read, written, rotated, and watched for changes.
//!
//! What a file says counts, never when it was written. A key that [`KeyPeriod`] named says when it encrypts; any other is
//! used as its server uses it, by its place, for as long as it stands there. Sessions are not shared with those servers, whose
//! tickets have other formats; what is shared is the file, and whoever rotates it.

mod format;
mod read;
mod schedule;
mod sealing;
mod watch;
mod write;

pub use format::{KeyFileError, KeyFileFormat};
pub use read::{FileTimes, KeyFiles};
pub use schedule::{KeyPeriod, new_keys, replaced_keys, rotated_keys};
pub use watch::{Watcher, watch, watch_with};
pub use write::{NamedFile, StagedKeys, files, lock, stage_ring, write, write_ring};
