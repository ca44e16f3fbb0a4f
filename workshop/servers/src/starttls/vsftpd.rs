//! vsftpd, an FTP server on OpenSSL, in a directory of its own, where anonymous is let in.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use reprise_lab::{Guest, Identity, Listener};

use crate::hang_up::listen;
use crate::scratch::ScratchDir;
use crate::unprivileged::run_as_nobody;
use crate::{Result, find};

/// A vsftpd for each connection, as a super-server starts it: it does not say when it listens by itself.
#[derive(Debug)]
pub struct Vsftpd {
    // It drops first: the processes end with their connections.
    listener: Listener,
    _directory: ScratchDir,
}

impl Vsftpd {
    /// Starts it with these further lines of its configuration.
    ///
    /// # Errors
    /// [`LabError::File`](reprise_lab::LabError::File) if its directory cannot be written,
    /// [`LabError::Listen`](reprise_lab::LabError::Listen) if there is no port.
    pub fn start(identity: &Identity, lines: &[String]) -> Result<Self> {
        let directory = ScratchDir::new("vsftpd", true)?;
        directory.make_directory("files")?;
        directory.make_directory("empty")?;
        let [certificate, key] = directory.write_identity("server", identity)?;
        let root = directory.root().display();
        // Its own choice of suites leaves none for TLS 1.2.
        let text = format!(
            "listen=NO
background=NO
run_as_launching_user=YES
seccomp_sandbox=NO
anonymous_enable=YES
no_anon_password=YES
local_enable=NO
anon_root={root}/files
secure_chroot_dir={root}/empty
xferlog_enable=NO
ssl_enable=YES
allow_anon_ssl=YES
rsa_cert_file={certificate}
rsa_private_key_file={key}
ssl_ciphers=HIGH
{}
",
            lines.join("\n")
        );
        let file = directory.write("vsftpd.conf", &text)?;
        let program = find("vsftpd").unwrap_or_else(|| "vsftpd".into());
        let serve = move |guest: &Guest<'_>| {
            let end =
                || guest.stream.try_clone().map_or_else(|_| Stdio::null(), |socket| Stdio::from(OwnedFd::from(socket)));
            let mut command = Command::new(&program);
            run_as_nobody(&mut command);
            command.arg(&file).stdin(end()).stdout(end()).stderr(Stdio::null());
            if let Ok(mut child) = command.spawn() {
                drop(command);
                let _ = child.wait();
            }
        };
        Ok(Self { listener: listen(serve)?, _directory: directory })
    }

    /// Where clients connect.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }
}
