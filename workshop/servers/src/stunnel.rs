//! stunnel, which speaks TLS for a server that does not.

use std::io::{Read, Write};
use std::net::TcpStream;

use reprise_lab::{Identity, Listener};

use super::Account;
use super::driver::{Driven, Driver, ReadySign};
use super::hang_up::listen;
use super::scratch::ScratchDir;
use crate::Result;

/// A running stunnel before a plain HTTP server. It keeps no account of its connections.
pub type Stunnel = Driven<StunnelConfig>;

/// What stunnel speaks TLS for, and how.
#[derive(Debug)]
pub struct StunnelConfig {
    identity: Identity,
    behind: Listener,
    lines: String,
}

impl StunnelConfig {
    /// With these `lines` in its service's section, `options = NO_TICKET` say.
    ///
    /// # Errors
    /// [`LabError::Listen`](reprise_lab::LabError::Listen) if there is no port to be had for the plain server.
    pub fn new(identity: Identity, lines: &[&str]) -> Result<Self> {
        Ok(Self { identity, behind: listen(|guest| answer(&guest.stream))?, lines: lines.join("\n") })
    }
}

impl Driver for StunnelConfig {
    type Account = Account;

    const PROGRAM: &'static str = "stunnel";

    const READY: ReadySign = ReadySign::Says("Configuration successful");

    fn configuration(&self, directory: &ScratchDir) -> Result<String> {
        let [certificate, key] = directory.write_identity("server", &self.identity)?;
        let (behind, lines) = (self.behind.address(), &self.lines);
        let service = format!("accept = {{address}}\nconnect = {behind}\ncert = {certificate}\nkey = {key}\n{lines}\n");
        Ok(format!("foreground = yes\npid =\ndebug = 5\n[https]\n{service}"))
    }

    fn accounts(_: &ScratchDir) -> Result<Vec<Account>> {
        Ok(Vec::new())
    }
}

/// One request, one response.
fn answer(mut client: &TcpStream) {
    let (mut request, mut byte) = (Vec::new(), [0]);
    while !request.ends_with(b"\r\n\r\n") && matches!(client.read(&mut byte), Ok(1)) {
        request.extend(byte);
    }
    let _ = client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
}
