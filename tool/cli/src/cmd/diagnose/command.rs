//! The client program that `diagnose --listen` runs.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use anyhow::Context;

/// What the program is told about the server.
pub(super) struct Surroundings<'a> {
    /// What its URL begins with: `https`, or the protocol that begins in the clear.
    pub(super) scheme: &'a str,
    pub(super) host: &'a str,
    pub(super) address: std::net::SocketAddr,
    /// What to trust, and whether the program's environment is to say so.
    pub(super) ca: &'a Path,
    pub(super) sets_trust: bool,
}

/// A program at work; what is left of it ends when this is dropped.
pub(super) struct RunningCommand {
    child: Child,
    has_ended: bool,
}

/// The variables by which OpenSSL (and with it Python, Ruby, Go), curl, Python's requests and Node find what to trust.
const TRUST: [&str; 4] = ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"];

impl Surroundings<'_> {
    pub(super) fn url(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.to_owned() };
        format!("{}://{host}:{}/", self.scheme, self.address.port())
    }

    /// Starts the program, its output on standard error.
    pub(super) fn start(&self, words: &[OsString]) -> anyhow::Result<RunningCommand> {
        let (program, arguments) = words.split_first().context("no command")?;
        let mut command = Command::new(program);
        command.args(arguments.iter().map(|argument| self.replaced(argument)));
        command.env("REPRISE_URL", self.url());
        if self.sets_trust {
            command.envs(TRUST.map(|name| (name, self.ca)));
        }
        command.stdin(Stdio::null()).stdout(Stdio::from(std::io::stderr()));
        // A group of its own, so that its children end with it, and Ctrl-C reaches it through us alone.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn().with_context(|| format!("cannot run {}", program.display()))?;
        Ok(RunningCommand { child, has_ended: false })
    }

    fn replaced(&self, argument: &OsStr) -> OsString {
        let Some(text) = argument.to_str().filter(|text| text.contains('{')) else { return argument.to_owned() };
        let port = self.address.port().to_string();
        let values = [
            ("{url}", self.url()),
            ("{host}", self.host.to_owned()),
            ("{port}", port),
            ("{ip}", self.address.ip().to_string()),
            ("{address}", self.address.to_string()),
            ("{ca}", self.ca.display().to_string()),
        ];
        values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value)).into()
    }
}

impl RunningCommand {
    /// How it ended; none while it runs.
    pub(super) fn ended(&mut self) -> anyhow::Result<Option<ExitStatus>> {
        let status = self.child.try_wait().context("cannot wait for the command")?;
        self.has_ended |= status.is_some();
        Ok(status)
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process_group};
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_become_the_servers_address() {
        let surroundings = Surroundings {
            scheme: "https",
            host: "a.test",
            address: ([127, 0, 0, 1], 8443).into(),
            ca: Path::new("/tmp/ca.pem"),
            sets_trust: true,
        };
        let replaced = |text: &str| surroundings.replaced(OsStr::new(text)).into_string().unwrap();
        assert_eq!(replaced("{url}status/404"), "https://a.test:8443/status/404");
        assert_eq!(replaced("{host}:{port}:{ip} {address} {ca}"), "a.test:8443:127.0.0.1 127.0.0.1:8443 /tmp/ca.pem");
        assert_eq!(replaced("{}"), "{}");
    }
}
