//! What can be wrong with a stack, named.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a library cannot be used, or not so.
#[derive(Debug, Error)]
pub enum StackError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The plugin.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The loader refuses the file.
    #[error("cannot load {}: {reason}", path.display())]
    NotLoaded {
        /// The plugin.
        path: PathBuf,
        /// The loader's words.
        reason: String,
    },
    /// It is a library, and no plugin.
    #[error("{} is no plugin: it exports no {symbol}", path.display())]
    NoPlugin {
        /// The file.
        path: PathBuf,
        /// What it would have to export.
        symbol: &'static str,
    },
    /// It was built against another header.
    #[error("{} is a plugin of ABI version {found}, and this program loads version {wanted}: build it again",
        path.display())]
    WrongAbi {
        /// The plugin.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// Ours.
        wanted: u32,
    },
    /// Its table is shorter than the functions that every plugin has.
    #[error("{} is a plugin with a table of {found} bytes, where {wanted} are needed", path.display())]
    TableTooSmall {
        /// The plugin.
        path: PathBuf,
        /// Bytes that it claims.
        found: u32,
        /// Bytes that there must be.
        wanted: u32,
    },
    /// A function or a text of its table is missing.
    #[error("{} is a plugin without {what}", path.display())]
    Missing {
        /// The plugin.
        path: PathBuf,
        /// The field of `reprise_stack`.
        what: &'static str,
    },
    /// Another process-wide start failed.
    #[error("{} could not be initialised: {said}", path.display())]
    NotInitialised {
        /// The plugin.
        path: PathBuf,
        /// The library's words.
        said: String,
    },
    /// The library cannot do it.
    #[error("{what}")]
    Unsupported {
        /// What was asked for, and by whom.
        what: String,
    },
    /// The library refuses its input, or fails.
    #[error("{call}: {said}")]
    Refused {
        /// The call.
        call: &'static str,
        /// The library's words, or the name of the error.
        said: String,
    },
    /// A plugin broke the contract of the header.
    #[error("the plugin breaks its contract: {call} returned {returned}")]
    BrokenContract {
        /// The call.
        call: &'static str,
        /// What it returned.
        returned: i64,
    },
}

impl StackError {
    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported { what: what.into() }
    }

    pub(crate) fn refused(call: &'static str, said: impl ToString) -> Self {
        Self::Refused { call, said: said.to_string() }
    }
}
