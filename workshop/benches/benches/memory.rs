//! What `reprise compare memory` says that a connection holds, beside a plain loop over the same OpenSSL and the same rustls whose
//! connections stay, by the same counter. `cargo bench -p reprise-benches --bench memory` prints; `-- --check` fails where the ratio of a
//! side leaves its bounds. It needs a build of `reprise` in the same profile, and `cargo xtask stacks --system`.

#![allow(clippy::print_stdout)]

use std::io::stdin;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context, ensure};
use reprise_benches::{OpenSslArchives, Peer, built_over_openssl};
use reprise_compare::Weigh;
use reprise_lab::{Authority, KeyKind, ServerSpec};
use reprise_model::{Kind, Version};
use reprise_pairs::{Case, Certificates, Job, Key, StackRef};
use reprise_stack::{Growth, Heap};
use reprise_wire::NamedGroup;
use rustls::client::Resumption;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::server::NoServerSessionStorage;
use rustls::{ClientConfig, ClientConnection, Connection, RootCertStore, ServerConfig, ServerConnection};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};

const CONNECTIONS: u32 = 100;
const BOUNDS: [f64; 2] = [0.95, 1.05];
/// What this program is told to be the plain loop by.
const LOOP: &str = "rustls-loop";

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [LOOP, files @ ..] = arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        return plain_rustls(files);
    }
    let folder = tempfile::tempdir()?;
    let target = Path::new(env!("CARGO_BIN_EXE_plain-rustls")).parent().context("no target directory")?;
    let stacks = target.with_file_name("stacks");
    let counted = |program: &Path| {
        let mut command = Command::new(program);
        command.env("LD_PRELOAD", stacks.join("reprise-heap"));
        command
    };
    let mut of_rustls = counted(&std::env::current_exe()?);
    of_rustls.arg(LOOP);
    let mut is_within = true;
    for (name, stack, mut plain) in [
        (
            "OpenSSL",
            StackRef::Plugin(stacks.join("openssl.so")),
            counted(&built_over_openssl("memory", &OpenSslArchives::Installed, folder.path())?),
        ),
        ("rustls, aws-lc-rs", StackRef::BuiltIn("rustls-aws-lc".to_owned()), of_rustls),
    ] {
        let (texts, files) = certificates(folder.path())?;
        let mut plain = Peer::start(plain.args(files))?;
        println!("{name}: bytes that one side of a connection holds, beside a plain loop, {CONNECTIONS} connections");
        for version in [Version::Tls12, Version::Tls13] {
            let case = Case::new(version, Kind::Full, Key::P256, NamedGroup::SECP256R1, false).context("no such case")?;
            let (client, server, certificates) = (stack.clone(), stack.clone(), texts.clone());
            let mut compare = Peer::start(counted(&target.join("reprise")).arg("stack-child"))?;
            let job = Job { client, server, case, certificates };
            let weighed = compare.ask_child(&Weigh { job, connections: CONNECTIONS })?;
            let plain = plain.ask_plain(&format!("{} {CONNECTIONS}", version.number()))?;
            let sides = [("client", weighed.client), ("server", weighed.server)];
            for ((side, weights), plain) in sides.into_iter().zip(plain) {
                let held = reprise_stats::median(&weights.held).context("no samples")?;
                let ratio = held as f64 / plain as f64;
                is_within &= (BOUNDS[0]..=BOUNDS[1]).contains(&ratio);
                println!("  {version} {side}  {held:6}, plain {plain:6}, ratio {ratio:.3}");
            }
        }
    }
    ensure!(is_within || !arguments.iter().any(|argument| argument == "--check"), "a ratio is outside {BOUNDS:?}");
    Ok(())
}

/// As PEM, and in files: chain, key and root.
fn certificates(folder: &Path) -> anyhow::Result<(Certificates, [PathBuf; 3])> {
    let authority = Authority::with_key(KeyKind::P256)?;
    let server = authority.server(&ServerSpec::new(KeyKind::P256))?;
    let (chain, key, root) = (server.chain_pem(), server.key_pem(), authority.pem());
    let files = ["chain.pem", "key.pem", "root.pem"].map(|name| folder.join(name));
    for (file, text) in files.iter().zip([chain, key, &root]) {
        std::fs::write(file, text)?;
    }
    let (server_chain, server_key) = (chain.to_owned(), key.to_owned());
    let texts = Certificates { root, server_chain, server_key, ..Certificates::default() };
    Ok((texts, files))
}

/// A loop over rustls as one would write it: on standard input lines `VERSION COUNT`, answered by `CLIENT SERVER`, as `plain/memory.c` does.
fn plain_rustls(files: &[&str]) -> anyhow::Result<()> {
    let [chain, key, root] = files else { anyhow::bail!("{LOOP} CHAIN KEY ROOT") };
    let heap = Heap::find().context("reprise-heap is not preloaded")?;
    for line in stdin().lines() {
        let line = line?;
        let (version, count) = line.split_once(' ').with_context(|| format!("no VERSION COUNT: {line}"))?;
        let count: i64 = count.parse()?;
        let (client, server) = configured(version, [chain, key, root])?;
        let mut alive = Vec::new();
        let mut held = [0; 2];
        for number in -4..count {
            if number == 0 {
                held = [0; 2];
            }
            let ends = connected(heap, &client, &server)?;
            held.iter_mut().zip(&ends).for_each(|(held, end)| *held += end.growth.grown);
            alive.push(ends);
        }
        println!("{} {}", held[0] / count, held[1] / count);
    }
    Ok(())
}

fn configured(version: &str, [chain, key, root]: [&str; 3]) -> anyhow::Result<(Arc<ClientConfig>, Arc<ServerConfig>)> {
    let (version, suite) = match version {
        "1.3" => (&rustls::version::TLS13, aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256),
        _ => (&rustls::version::TLS12, aws_lc_rs::cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256),
    };
    let kx_groups = vec![aws_lc_rs::kx_group::SECP256R1];
    let provider = CryptoProvider { cipher_suites: vec![suite], kx_groups, ..aws_lc_rs::default_provider() };
    let provider = Arc::new(provider);
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(root)?)?;
    let client = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_protocol_versions(&[version])?;
    let mut client = client.with_root_certificates(roots).with_no_client_auth();
    client.resumption = Resumption::disabled();
    let chain = CertificateDer::pem_file_iter(chain)?.collect::<Result<_, _>>()?;
    let server = ServerConfig::builder_with_provider(provider).with_protocol_versions(&[version])?;
    let mut server = server.with_no_client_auth().with_single_cert(chain, PrivateKeyDer::from_pem_file(key)?)?;
    server.session_storage = Arc::new(NoServerSessionStorage {});
    server.send_tls13_tickets = 0;
    Ok((Arc::new(client), Arc::new(server)))
}

/// One side of a connection that stays, and by how much its turns have made the heap grow.
struct End {
    connection: Option<Box<Connection>>,
    growth: Growth,
}

fn connected(heap: Heap, client: &Arc<ClientConfig>, server: &Arc<ServerConfig>) -> anyhow::Result<[End; 2]> {
    let name = ServerName::try_from("localhost")?;
    let mut ends = [(); 2].map(|()| End { connection: None, growth: Growth::default() });
    // Nobody's: it is there before, and has room for a flight.
    let [mut flight, mut answer] = [(); 2].map(|()| Vec::with_capacity(1 << 16));
    let [client_end, server_end] = &mut ends;
    client_end.turn(heap, || Ok(ClientConnection::new(Arc::clone(client), name)?.into()), &[], &mut flight)?;
    while !flight.is_empty() {
        server_end.turn(heap, || Ok(ServerConnection::new(Arc::clone(server))?.into()), &flight, &mut answer)?;
        flight.clear();
        client_end.turn(heap, || anyhow::bail!("it is there"), &answer, &mut flight)?;
        answer.clear();
    }
    let is_complete = |end: &End| end.connection.as_ref().is_some_and(|connection| !connection.is_handshaking());
    ensure!(ends.iter().all(is_complete), "the handshake is not complete");
    Ok(ends)
}

impl End {
    /// Makes the connection where there is none, takes what the peer sent, goes on, and leaves what is to be sent.
    fn turn(
        &mut self,
        heap: Heap,
        make: impl FnOnce() -> anyhow::Result<Connection>,
        mut received: &[u8],
        sent: &mut Vec<u8>,
    ) -> anyhow::Result<()> {
        let connection = &mut self.connection;
        let (done, growth) = heap.watch(|| {
            let connection = match connection {
                Some(connection) => connection,
                None => connection.insert(Box::new(make()?)),
            };
            while !received.is_empty() {
                connection.read_tls(&mut received)?;
                connection.process_new_packets()?;
            }
            while connection.wants_write() {
                connection.write_tls(sent)?;
            }
            Ok(())
        });
        self.growth.then(growth);
        done
    }
}
