//! What can go wrong with a server on a board.

use std::path::PathBuf;

use thiserror::Error;

use crate::machine::MachineFault;

/// Why there is no measurement.
#[derive(Debug, Error)]
pub enum Fault {
    /// The machine.
    #[error(transparent)]
    Machine(#[from] MachineFault),
    /// Our engine is not content with the server.
    #[error("the server on the board: {0}")]
    Tls(#[from] reprise_engine::Error),
    /// The board refuses a frame.
    #[error("the board refuses {0}")]
    Refused(&'static str),
    /// The board's main function has ended, or its CPU has trapped.
    #[error("the firmware has crashed")]
    Crashed,
    /// No frame.
    #[error("the board sends what is no frame: is the image of another version?")]
    Nonsense,
    /// The server closed, or said nothing more.
    #[error("the server on the board stopped {0}")]
    Stopped(&'static str),
    /// The handshake was not of the kind that was to be measured.
    #[error("the handshake was {observed}, not {wanted}: nothing was measured")]
    Kind {
        /// What was asked for.
        wanted: reprise_trace::Kind,
        /// What was observed.
        observed: reprise_trace::Kind,
    },
    /// Where it happened.
    #[error("{place}: {fault}")]
    On {
        /// The image, and the key of its certificate.
        place: String,
        /// What.
        fault: Box<Self>,
    },
    /// A tool that is not installed.
    #[error("needs {program}: apt-get install {package}")]
    Missing {
        /// The program.
        program: &'static str,
        /// Debian's package.
        package: &'static str,
    },
    /// There are no sources.
    #[error("{0} has no firmware/Makefile: run this in a checkout of Reprise, or give --firmware")]
    NoSources(PathBuf),
    /// A file.
    #[error("cannot read {path}: {error}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Compiler or linker, or the download of a stack's sources.
    #[error("cannot build {what}:\n{output}")]
    Build {
        /// What.
        what: String,
        /// What make said.
        output: String,
    },
}

impl Fault {
    /// The same, with the image and the key that it happened with.
    pub(crate) fn on(self, image: crate::Image, key: crate::Key) -> Self {
        Self::On { place: format!("{image}, {}", key.name()), fault: Box::new(self) }
    }
}
