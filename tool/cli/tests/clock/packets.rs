//! A capture on loopback, and what each connection's packets say of its phases.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use reprise_harness::wait_until;

/// dumpcap at work on the loopback interface.
pub(crate) struct Capture {
    dumpcap: Child,
    file: PathBuf,
    log: PathBuf,
}

impl Capture {
    /// Captures what goes from and to this port; `None` where capturing is not allowed.
    pub(crate) fn start(directory: &Path, port: u16) -> Option<Self> {
        let (file, log) = (directory.join("loopback.pcapng"), directory.join("dumpcap.log"));
        let mut dumpcap = Command::new("dumpcap")
            .args(["-i", "lo", "-B", "64", "-f", &format!("tcp port {port}"), "-w"])
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let mut refused = false;
        // The file's name is said once the interface is open.
        wait_until("the capture", || {
            refused = dumpcap.try_wait().unwrap().is_some();
            refused || fs::read_to_string(&log).unwrap().contains("File:")
        });
        (!refused).then_some(Self { dumpcap, file, log })
    }

    /// Ends the capture once it holds the end of each of these connections, and reads it with the secrets of `key_log`.
    pub(crate) fn finish(mut self, key_log: &Path, port: u16, clients: &[u16]) -> BTreeMap<u16, Vec<Packets>> {
        let mut connections: BTreeMap<u16, Vec<Packets>> = BTreeMap::new();
        // What was captured is written in batches: the file is read until it is complete.
        wait_until("every packet in the capture", || {
            connections = read(&self.file, key_log, port);
            let is_whole = |client| connections.get(client).is_some_and(|them| them.iter().all(|it| it.closing.is_some()));
            clients.iter().all(is_whole)
        });
        kill_process(Pid::from_child(&self.dumpcap), Signal::INT).unwrap();
        self.dumpcap.wait().unwrap();
        let said = fs::read_to_string(&self.log).unwrap();
        assert!(said.contains("dropped on interface 'Loopback: lo'") && said.contains("/0 (pcap:0"), "{said}");
        connections
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        let _ = self.dumpcap.kill();
        let _ = self.dumpcap.wait();
    }
}

/// When the packets of one connection passed, in nanoseconds of the capture's clock.
#[derive(Debug, Default)]
pub(crate) struct Packets {
    pub(crate) syn: u64,
    pub(crate) syn_ack: u64,
    pub(crate) client_hello: u64,
    /// The last of the server's data before the request.
    pub(crate) last_of_handshake: u64,
    pub(crate) request: Option<u64>,
    pub(crate) first_of_response: Option<u64>,
    pub(crate) last_of_response: u64,
    /// What the client sent first after the response: its close_notify.
    pub(crate) closing: Option<u64>,
}

impl Packets {
    fn take(&mut self, at: u64, from_client: bool, frame: &Frame<'_>) {
        let response_has_begun = self.first_of_response.is_some();
        match (from_client, frame) {
            (true, Frame { syn: true, .. }) => self.syn = at,
            (false, Frame { syn: true, .. }) => self.syn_ack = at,
            (_, Frame { bytes: "0", .. }) => {}
            (true, _) if self.client_hello == 0 => self.client_hello = at,
            (true, Frame { application_data: true, .. }) if self.request.is_none() => self.request = Some(at),
            (true, _) if response_has_begun => self.closing = self.closing.or(Some(at)),
            (true, _) => {}
            (false, _) if self.request.is_none() => self.last_of_handshake = at,
            (false, Frame { application_data: true, .. }) => {
                self.first_of_response = self.first_of_response.or(Some(at));
                self.last_of_response = at;
            }
            // Tickets, or the server's close_notify.
            (false, _) => {}
        }
    }
}

struct Frame<'f> {
    syn: bool,
    bytes: &'f str,
    application_data: bool,
}

/// By the client's port, which on a busy machine may serve more than one connection in turn.
fn read(file: &Path, key_log: &Path, port: u16) -> BTreeMap<u16, Vec<Packets>> {
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(file).arg("-o").arg(format!("tls.keylog_file:{}", key_log.display()));
    tshark.args(["-d", &format!("tcp.port=={port},tls"), "-T", "fields", "-E", "separator=;"]);
    for field in ["frame.time_epoch", "tcp.srcport", "tcp.dstport", "tcp.flags.syn", "tcp.len", "tls.record.content_type"] {
        tshark.args(["-e", field]);
    }
    // A file that is being written may end in the middle of a packet, which tshark says and leaves out.
    let output = tshark.stdin(Stdio::null()).output().unwrap();
    let mut connections: BTreeMap<u16, Vec<Packets>> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let [at, from, to, syn, bytes, content_types] = line.split(';').collect::<Vec<_>>().try_into().unwrap();
        let from_client = to == port.to_string();
        let client = if from_client { from } else { to };
        // As tshark has decrypted them: 23 is application data (RFC 9846 §5.1).
        let application_data = content_types.split(',').any(|content_type| content_type == "23");
        let frame = Frame { syn: matches!(syn, "1" | "True"), bytes, application_data };
        let connections = connections.entry(client.parse().unwrap()).or_default();
        if from_client && frame.syn {
            connections.push(Packets::default());
        }
        if let Some(connection) = connections.last_mut() {
            connection.take(nanoseconds(at), from_client, &frame);
        }
    }
    connections
}

/// From tshark's seconds with nine decimals.
fn nanoseconds(epoch: &str) -> u64 {
    epoch.replace('.', "").parse().unwrap()
}
