//! What `reprise compare memory` says, beside massif.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use reprise_compare::Weigh;
use reprise_harness::Reprise;
use reprise_lab::{Authority, KeyKind, ServerSpec};
use reprise_model::{Kind, Version};
use reprise_pairs::{Amount, Ask, Case, Certificates, Dial, Failed, Job, Key, Listen, PrepareSide, Serve, StackRef};
use reprise_servers::require;
use reprise_wire::NamedGroup;

use super::memory::{bytes, row};
use super::plugins::folder;

/// Each holds 80 KiB of Reprise's own and a context.
const PREPARED: usize = 80;

#[track_caller]
#[allow(clippy::print_stdout, reason = "`just full` shows the ratio")]
fn is_near(what: &str, massif: f64, reprise: u64) {
    let ratio = massif / reprise as f64;
    println!("{what}: massif {massif:.0} bytes, Reprise {reprise}, ratio {ratio:.4}");
    assert!((0.97..1.03).contains(&ratio), "{what}: massif {massif:.0} bytes, Reprise {reprise}");
}

#[test]
#[ignore = "takes a minute: just full"]
fn massif_counts_the_same() {
    require!("valgrind");
    require!("vgdb");
    let Some(folder) = folder() else { return };
    for stack in ["openssl", "wolfssl"] {
        let command = format!("compare memory --quick --tls 1.3 --stacks {stack} --plugins");
        let (document, _) = Reprise::without_plugins(&command).arg(folder).run_for_json();
        let [client, server] = ["client", "server"].map(|side| row(&document, stack, side, "1.3"));
        // Two runs of unlike many connections differ by what the connections hold, and by the 16 KiB that Reprise has for each end of
        // a plugin's.
        let plugin = folder.join(format!("{stack}.so"));
        let [few, many] = [100, 1000].map(|connections| most_of_run(&plugin, connections));
        let idle = (many - few) as f64 / 900.0 - 2.0 * 16_384.0;
        is_near(&format!("{stack} idle, both sides"), idle, bytes(client, "idle") + bytes(server, "idle"));
        let [of_client, of_server] = peaks(&plugin);
        is_near(&format!("{stack} client, peak"), of_client as f64, bytes(client, "peak"));
        is_near(&format!("{stack} server, peak"), of_server as f64, bytes(server, "peak"));
    }
}

/// The most bytes of a process in which so many connections are alive. It counts nothing itself then, and says so.
fn most_of_run(plugin: &Path, connections: u32) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let mut side = Side::start(folder.path().join("weigh"), &plugin.with_file_name("reprise-heap"));
    side.post(&Weigh { job: job(plugin), connections });
    let failed = side.answer::<Weigh>().unwrap_err();
    assert!(failed.reason.contains("its malloc is another's"), "{failed:?}");
    most_bytes(&side.end())
}

/// Of all snapshots of a file of massif's.
fn most_bytes(file: &Path) -> u64 {
    let text = fs::read_to_string(file).unwrap();
    text.lines().filter_map(|line| line.strip_prefix("mem_heap_B=")?.parse().ok()).max().unwrap()
}

/// What one connection takes at most of the process of a client, and of a server, that makes such connections over TCP one after the other.
fn peaks(plugin: &Path) -> [u64; 2] {
    let folder = tempfile::tempdir().unwrap();
    let [mut client, mut server] = ["client", "server"].map(|name| Side::start(folder.path().join(name), Path::new("")));
    for (side, is_client) in [(&mut client, true), (&mut server, false)] {
        let patience = Duration::from_secs(60);
        let prepare = PrepareSide { job: job(plugin), is_client, core: None, patience, witnesses: false };
        // The first has read the plugin's file, which must not be the peak: the others hold more together.
        for _ in 0..PREPARED {
            side.ask(&prepare);
        }
    }
    let port = server.ask(&Listen { cell: 0 });
    server.post(&Serve { cell: 0 });
    client.ask(&Dial { cell: 0, port, amount: Amount::Counted(8) });
    // A connection without a byte is the last.
    drop(TcpStream::connect(("127.0.0.1", port)).unwrap());
    server.answer::<Serve>().unwrap();
    [client, server].map(|side| {
        let idle = side.snapshot();
        most_bytes(&side.end()) - idle
    })
}

/// A child process of `reprise compare` under massif.
struct Side {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// What massif writes in the end.
    file: PathBuf,
}

impl Side {
    fn start(file: PathBuf, preloaded: &Path) -> Self {
        let mut command = Command::new("valgrind");
        command.args(["--quiet", "--tool=massif", "--peak-inaccuracy=0.0"]);
        command.arg(format!("--massif-out-file={}", file.display())).arg(env!("CARGO_BIN_EXE_reprise")).arg("stack-child");
        let mut process = command.env("LD_PRELOAD", preloaded).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (requests, answers) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        Self { process, requests, answers: BufReader::new(answers), file }
    }

    fn post<A: Ask>(&mut self, question: &A) {
        self.requests.write_all(&question.line().unwrap()).unwrap();
    }

    fn answer<A: Ask>(&mut self) -> Result<A::Answer, Failed> {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        A::read(&line).unwrap()
    }

    fn ask<A: Ask>(&mut self, question: &A) -> A::Answer {
        self.post(question);
        self.answer::<A>().unwrap()
    }

    /// Bytes of its heap now.
    fn snapshot(&self) -> u64 {
        let now = self.file.with_extension("now");
        let pid = format!("--pid={}", self.process.id());
        let asked = Command::new("vgdb").args([&pid, "snapshot"]).arg(&now).output().unwrap();
        assert!(asked.status.success() && now.is_file(), "{}", String::from_utf8_lossy(&asked.stderr));
        most_bytes(&now)
    }

    /// All that massif has to say of it.
    fn end(mut self) -> PathBuf {
        drop(self.requests);
        assert!(self.process.wait().unwrap().success());
        self.file
    }
}

/// Both sides have the same certificates.
fn job(plugin: &Path) -> Job {
    static CERTIFICATES: std::sync::OnceLock<Certificates> = std::sync::OnceLock::new();
    let certificates = CERTIFICATES.get_or_init(|| {
        let authority = Authority::with_key(KeyKind::P256).unwrap();
        let server = authority.server(&ServerSpec::new(KeyKind::P256)).unwrap();
        let (server_chain, server_key) = (server.chain_pem().to_owned(), server.key_pem().to_owned());
        Certificates { root: authority.pem(), server_chain, server_key, ..Certificates::default() }
    });
    let case = Case::new(Version::Tls13, Kind::Full, Key::P256, NamedGroup::SECP256R1, false).unwrap();
    let stack = StackRef::Plugin(plugin.to_owned());
    Job { client: stack.clone(), server: stack, case, certificates: certificates.clone() }
}
