//! What can go wrong with a server on a board.

use std::path::PathBuf;

use thiserror::Error;

use crate::machine::MachineFault;

/// Why there is no measurement.
#[derive(Debug, Error)]
pub enum BoardError {
    /// The machine.
    #[error(transparent)]
    Machine(#[from] MachineFault),
    /// The connection failed, as the client saw it.
    #[error("the connection to the server on the board failed: {}", said(.0))]
    Connection(reprise_connection::Fault),
    /// The board refuses a frame.
    #[error("the board refuses {0}")]
    Refused(&'static str),
    /// The board's main function has ended, or its CPU has trapped.
    #[error("the firmware has crashed")]
    Crashed,
    /// One frame is answered by so much that there will be no end: the server goes on by itself.
    #[error("the server on the board does not come to an end: it answers one frame with ever more {0}")]
    Endless(&'static str),
    /// No frame.
    #[error("the board sends what is no frame: is the image of another version?")]
    Nonsense,
    /// The server closed, or said nothing more.
    #[error("the server on the board stopped: it owes the {0}")]
    Stopped(&'static str),
    /// The handshake was not of the kind that was to be measured.
    #[error("the handshake was {observed}, not {wanted}: nothing was measured")]
    Kind {
        /// What was asked for.
        wanted: reprise_model::Kind,
        /// What was observed.
        observed: reprise_model::Kind,
    },
    /// The response was not the one that was to be measured.
    #[error("the response was not 200 OK: nothing was measured")]
    Response,
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
    /// Sockets of this computer.
    #[error("the network fails: {0}")]
    Network(std::io::Error),
    /// A file.
    #[error("cannot use {path}: {error}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The sources of the TLS stacks.
    #[error("cannot fetch the sources of the TLS stacks (firmware/sources/sources.list):\n{0}")]
    Fetch(String),
    /// Compiler or linker.
    #[error("cannot build {image}:\n{said}")]
    Build {
        /// The image's name.
        image: String,
        /// What make said.
        said: String,
    },
}

impl From<reprise_connection::Fault> for BoardError {
    fn from(fault: reprise_connection::Fault) -> Self {
        Self::Connection(fault)
    }
}

fn said(fault: &reprise_connection::Fault) -> String {
    fault.engine_error().map_or_else(|| fault.name.to_string(), ToString::to_string)
}
