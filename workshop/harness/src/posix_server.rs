//! The TLS library for microcontrollers as a server on this computer.

use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// It runs until [`PosixServer::finish`], or until its input ends with the test.
pub struct PosixServer {
    /// Where it listens.
    pub address: String,
    child: Child,
    said: Lines<BufReader<ChildStdout>>,
}

impl PosixServer {
    /// Starts this program, which is built with BearSSL, with a P-256 key.
    pub fn start(program: &Path) -> Self {
        Self::start_with(program, "bearssl", "p256", &[])
    }

    /// Starts it with this TLS library and key, and more arguments.
    pub fn start_with(program: &Path, library: &str, key: &str, more: &[&str]) -> Self {
        let keys = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tool/board/keys");
        let mut server = Command::new(program);
        server.arg(library).args(["crt", "key"].map(|kind| keys.join(format!("{key}.{kind}")))).args(more);
        let mut child = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = said.next().unwrap().unwrap().replace("listening on ", "");
        Self { address, child, said }
    }

    /// Ends its input, and returns what it tells of its cache then: `5 hits, 0 misses`.
    pub fn finish(mut self) -> String {
        drop(self.child.stdin.take());
        let cache = self.said.next().unwrap().unwrap();
        assert!(self.child.wait().unwrap().success());
        cache.strip_prefix("cache: ").unwrap().to_owned()
    }
}
