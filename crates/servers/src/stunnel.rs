//! stunnel, which speaks TLS for a server that does not.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use reprise_lab::Identity;

use super::Account;
use super::driver::{Driven, Driver, Ready};
use super::hang_up::listen;
use super::scratch::ScratchDir;
use crate::Result;

/// A running stunnel before a plain HTTP server. It keeps no account of its connections.
pub type Stunnel = Driven<Service>;

/// What stunnel speaks TLS for, and how.
#[derive(Debug)]
pub struct Service {
    identity: Identity,
    behind: SocketAddr,
    lines: String,
}

impl Stunnel {
    /// Starts stunnel with these `lines` in its service's section, `options = NO_TICKET` say; it accepts connections when this returns.
    ///
    /// # Errors
    /// As the other drivers of real servers.
    pub fn start(identity: &Identity, lines: &[&str]) -> Result<Self> {
        let behind = listen(|guest| answer(&guest.stream))?;
        let service = Service { identity: identity.clone(), behind: behind.address(), lines: lines.join("\n") };
        Ok(Self::of(&service)?.before(behind))
    }
}

impl Driver for Service {
    type Account = Account;

    const PROGRAM: &'static str = "stunnel";

    const READY: Ready = Ready::Says("Configuration successful");

    fn configuration(&self, directory: &ScratchDir) -> Result<String> {
        let [certificate, key] = directory.write_identity("server", &self.identity)?;
        let (behind, lines) = (self.behind, &self.lines);
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
