//! stunnel, which speaks TLS for a server that does not.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};

use reprise_lab::{Identity, Listener};

use super::site::{Ready, ScratchDir, Site};
use super::{Account, RealServer, RunningServer};
use crate::Result;

/// A running stunnel before a plain HTTP server. It keeps no account of its connections.
#[derive(Debug)]
pub struct Stunnel {
    site: Site,
    _behind: Listener,
}

impl Stunnel {
    /// Starts stunnel with these `lines` in its service's section, `options = NO_TICKET` say; it accepts connections when this returns.
    ///
    /// # Errors
    /// As the other drivers of real servers.
    pub fn start(identity: &Identity, lines: &[&str]) -> Result<Self> {
        let ground = ScratchDir::new(PROGRAM)?;
        let files = identity.write_pem(ground.root(), "server")?;
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let behind = Listener::start(any, MAX_CONNECTIONS, |guest| answer(&guest.stream))?;
        let lines = lines.join("\n");
        let site = ground.start(Ready::Says("Configuration successful"), |ground, address, command| {
            let (to, certificate, key) = (behind.address(), files.certificate.display(), files.key.display());
            let service = format!("accept = {address}\nconnect = {to}\ncert = {certificate}\nkey = {key}\n{lines}\n");
            let file = ground.write("stunnel.conf", &format!("foreground = yes\npid =\ndebug = 5\n[https]\n{service}"))?;
            command.arg(file);
            Ok(())
        })?;
        Ok(Self { site, _behind: behind })
    }
}

impl RealServer for Stunnel {
    fn running(&self) -> RunningServer {
        self.site.running()
    }

    fn accounts(&mut self) -> Result<Vec<Account>> {
        Ok(Vec::new())
    }
}

const PROGRAM: &str = "stunnel";
const MAX_CONNECTIONS: usize = 64;

/// One request, one response.
fn answer(mut client: &TcpStream) {
    let (mut request, mut byte) = (Vec::new(), [0]);
    while !request.ends_with(b"\r\n\r\n") && matches!(client.read(&mut byte), Ok(1)) {
        request.extend(byte);
    }
    let _ = client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
}
