//! OpenSSL's client, which is asked where a server does not say which connections it resumed.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::process::{ChildStdout, Command, Stdio};

use reprise_model::Version;
use tempfile::TempDir;

/// How `openssl s_client` speaks with a server.
pub(super) struct Bystander {
    address: SocketAddr,
    arguments: &'static [&'static str],
    question: &'static [u8],
    /// What the answer ends with. The tickets of TLS 1.3 have come before it.
    answer_end: &'static [u8],
}

impl Bystander {
    pub(super) fn of_ldap(address: SocketAddr) -> Self {
        Self {
            address,
            arguments: &["-starttls", "ldap"],
            // A search for no attribute of the root, and the success that ends its result.
            question: b"\x30\x2a\x02\x01\x02\x63\x25\x04\x00\x0a\x01\x00\x0a\x01\x00\x02\x01\x00\x02\x01\x00\x01\x01\x00\
                \x87\x0bobjectClass\x30\x05\x04\x031.1",
            answer_end: b"\x65\x07\x0a\x01\x00\x04\x00\x04\x00",
        }
    }

    /// Whose user `reprise` needs no password. s_client's SSLRequest promises attributes of the connection, which are none.
    pub(super) fn of_mysql(address: SocketAddr) -> Self {
        Self {
            address,
            arguments: &["-starttls", "mysql"],
            question: b"\x40\0\0\x02\x01\x8a\x08\0\0\0\0\x01\x21\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
                reprise\0\0mysql_native_password\0\0",
            // OK.
            answer_end: b"\x07\0\0\x03\0",
        }
    }

    pub(super) fn of_xmpp(address: SocketAddr) -> Self {
        Self {
            address,
            arguments: &["-starttls", "xmpp", "-xmpphost", "127.0.0.1"],
            question: b"<?xml version='1.0'?><stream:stream to='127.0.0.1' version='1.0' xmlns='jabber:client' \
                xmlns:stream='http://etherx.jabber.org/streams'>",
            answer_end: b"</stream:features>",
        }
    }

    /// Whether the session of one connection is resumed by the next.
    pub(super) fn resumes(&self, tls: Version) -> bool {
        let directory = TempDir::new().unwrap();
        let session = directory.path().join("session.pem");
        let session = session.to_str().unwrap();
        assert!(self.connect(tls, &["-sess_out", session]).contains("\nNew, TLSv1."));
        // Without anything to resume it writes nothing.
        std::fs::exists(session).unwrap() && self.connect(tls, &["-sess_in", session]).contains("\nReused, TLSv1.")
    }

    /// What it prints of one connection, which ends when it has been answered.
    fn connect(&self, tls: Version, more: &[&str]) -> String {
        let tls = if tls == Version::Tls12 { "-tls1_2" } else { "-tls1_3" };
        let mut command = Command::new("openssl");
        command
            .args(["s_client", tls, "-nocommands", "-connect", &self.address.to_string()])
            .args(self.arguments)
            .args(more);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        stdin.write_all(self.question).unwrap();
        let printed = self.read_to_answer(stdout);
        // The end of its input ends it.
        drop(stdin);
        child.wait().unwrap();
        printed
    }

    fn read_to_answer(&self, mut stdout: ChildStdout) -> String {
        let (mut printed, mut buffer) = (Vec::new(), [0; 4096]);
        while !printed.windows(self.answer_end.len()).any(|window| window == self.answer_end) {
            let count = stdout.read(&mut buffer).unwrap();
            assert!(count > 0, "no answer: {}", String::from_utf8_lossy(&printed));
            printed.extend_from_slice(&buffer[..count]);
        }
        String::from_utf8_lossy(&printed).into_owned()
    }
}
