//! At which level a client starts again for each request.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a client makes anew for each request, with everything below it in this list; what stands above it, it keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// A process that loads the library, does nothing and ends: without any connection.
    Load,
    /// The process.
    Run,
    /// The library's initialisation: the process has loaded it and never initialised it, and forks for each request.
    Lib,
    /// OpenSSL's library context (`OSSL_LIB_CTX`), within one process.
    Libctx,
    /// The configuration: roots, key and certificate are read.
    Ctx,
    /// The TCP connection.
    Bio,
    /// The TLS session, on the same TCP connection, after both have said close_notify.
    Ssl,
    /// The request alone.
    Msg,
}

impl Level {
    /// Every level, the dearest first.
    pub const ALL: [Self; 8] = [Self::Load, Self::Run, Self::Lib, Self::Libctx, Self::Ctx, Self::Bio, Self::Ssl, Self::Msg];

    /// Those of which each contains the next.
    pub const NESTED: [Self; 6] = [Self::Run, Self::Lib, Self::Ctx, Self::Bio, Self::Ssl, Self::Msg];

    /// Its name in options and documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Run => "run",
            Self::Lib => "lib",
            Self::Libctx => "libctx",
            Self::Ctx => "ctx",
            Self::Bio => "bio",
            Self::Ssl => "ssl",
            Self::Msg => "msg",
        }
    }

    /// Whether it takes another process for each request.
    pub fn is_of_processes(self) -> bool {
        self <= Self::Lib
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|level| level.name() == name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            format!("unknown level '{name}'; known: {known}")
        })
    }
}
