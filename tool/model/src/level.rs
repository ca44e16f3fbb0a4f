//! At which level a client starts again for each request.

use std::str::FromStr;

named! {
    /// What a client makes anew for each request, with everything below it in this list; what stands above it, it keeps.
    pub enum Level {
        /// A process that loads the library, does nothing and ends: without any connection.
        Load = "load",
        /// The process.
        Run = "run",
        /// The library's initialisation: the process has loaded it and never initialised it, and forks for each request.
        Lib = "lib",
        /// OpenSSL's library context (`OSSL_LIB_CTX`), within one process.
        Libctx = "libctx",
        /// The configuration: roots, key and certificate are read.
        Ctx = "ctx",
        /// The TCP connection.
        Bio = "bio",
        /// The TLS session, on the same TCP connection, after both have said close_notify.
        Ssl = "ssl",
        /// The request alone.
        Msg = "msg",
    }
}

impl Level {
    /// Those of which each contains the next.
    pub const NESTED: [Self; 6] = [Self::Run, Self::Lib, Self::Ctx, Self::Bio, Self::Ssl, Self::Msg];

    /// Whether it takes another process for each request.
    pub fn is_of_processes(self) -> bool {
        self <= Self::Lib
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::of_name(name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            format!("unknown level '{name}'; known: {known}")
        })
    }
}
