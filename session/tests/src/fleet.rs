//! Nodes, each a process of its own.

use std::fs::Permissions;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use reprise_engine::Config;
use reprise_lab::{Authority, KeyKind, ServerSpec};
use reprise_model::Version;
use tempfile::TempDir;

use crate::client::{self, FULL};

/// What the nodes of a fleet have in common: certificates, the key that seals their ring, and their settings.
pub struct Fleet {
    /// It signs the servers' certificates.
    pub authority: Authority,
    folder: TempDir,
    program: PathBuf,
    /// Settings of every node, as `name=value`.
    pub settings: Vec<String>,
}

/// One process; ended when dropped.
pub struct Node {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Fleet {
    /// A fleet of `program`, which is `session-node`, with these settings.
    pub fn new(program: impl Into<PathBuf>, settings: &[&str]) -> Self {
        let fleet = Self {
            authority: Authority::new().unwrap(),
            folder: tempfile::tempdir().unwrap(),
            program: program.into(),
            settings: settings.iter().map(|&setting| setting.to_owned()).collect(),
        };
        let mut key = [0; 32];
        aws_lc_rs::rand::fill(&mut key).unwrap();
        let path = fleet.file("ring.key", key);
        std::fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
        let names = ["localhost", "127.0.0.1"].map(str::to_owned).to_vec();
        let identity = fleet.authority.server(&ServerSpec { names, ..ServerSpec::new(KeyKind::P256) }).unwrap();
        identity.write_pem(fleet.folder.path(), "server").unwrap();
        fleet
    }

    /// A file of the fleet's folder with this content.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Starts a node with the fleet's settings and these.
    pub fn node(&self, settings: &[&str]) -> Node {
        let folder = self.folder.path();
        let path = |name: &str| folder.join(name).display().to_string();
        let mut command = Command::new(&self.program);
        command.arg(format!("certificate={}", path("server-cert.pem"))).arg(format!("key={}", path("server-key.pem")));
        command.arg(format!("ring-key={}", path("ring.key"))).args(&self.settings).args(settings);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().parse().unwrap_or_else(|_| panic!("a node does not start: {line:?}"));
        Node { child, address }
    }

    /// Five of them.
    pub fn five(&self, settings: &[&str]) -> Vec<Node> {
        (0..5).map(|_| self.node(settings)).collect()
    }

    /// A client of the fleet.
    pub fn client(&self, version: Version) -> Arc<Config> {
        client::config(&self.authority, version)
    }

    /// What a node says at `path`.
    pub fn ask(&self, node: &Node, path: &str) -> String {
        client::visit(node.address, &self.client(Version::Tls13), FULL, path).unwrap().body
    }

    /// One of a node's metrics: the value of the line that begins with `name`.
    pub fn metric(&self, node: &Node, name: &str) -> f64 {
        let page = self.ask(node, "/metrics");
        let line = page.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name} in {page}"));
        line.rsplit(' ').next().unwrap().parse().unwrap()
    }

    /// Where the certificates are.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// Where they listen.
pub fn addresses(nodes: &[Node]) -> Vec<SocketAddr> {
    nodes.iter().map(|node| node.address).collect()
}

impl Node {
    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
