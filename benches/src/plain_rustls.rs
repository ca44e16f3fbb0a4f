//! A loop over rustls as one would write it: client and server in one thread, each side's CPU on the thread's clock. What
//! `reprise compare` says of rustls is held against it; `plain/openssl.c` is the same over OpenSSL.
//!
//! `plain-rustls CHAIN KEY ROOT`, then on standard input lines `VERSION KIND COUNT`, answered by `CLIENT SERVER`: mean
//! nanoseconds of a connection. The kind `b16384` is 64 KiB of data in records of so many bytes, sent by the server.

#![allow(clippy::print_stdout)]

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{Read, Write, stdin};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, ensure};
use nix::time::{ClockId, clock_gettime};
use rustls::client::{ClientSessionMemoryCache, Resumption, Tls12Resumption};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::server::{NoServerSessionStorage, ServerSessionMemoryCache};
use rustls::{ClientConfig, ClientConnection, Connection, HandshakeKind, RootCertStore, ServerConfig, ServerConnection};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};

const WARM_UP: u32 = 10;

fn main() -> anyhow::Result<()> {
    let files: Vec<_> = std::env::args_os().skip(1).collect();
    let [chain, key, root] = files.as_slice() else { anyhow::bail!("plain-rustls CHAIN KEY ROOT") };
    let mut prepared = HashMap::new();
    for line in stdin().lines() {
        let line = line?;
        let mut words = line.split_whitespace();
        let (Some(version), Some(kind), Some(count)) = (words.next(), words.next(), words.next()) else {
            anyhow::bail!("no VERSION KIND COUNT: {line}");
        };
        let count: u32 = count.parse()?;
        let record: Option<usize> = kind.strip_prefix('b').and_then(|record| record.parse().ok());
        let ends = match prepared.entry((version.to_owned(), kind.to_owned())) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let kind = if record.is_some() { "full" } else { kind };
                let mut ends = Ends::new(version, kind, chain.as_ref(), key.as_ref(), root.as_ref())?;
                for _ in 0..WARM_UP {
                    ends.connect()?;
                }
                ends.reading = cost_of_reading();
                place.insert(ends)
            }
        };
        if record.is_some() {
            ends.complete()?;
        }
        // The first is not counted: the caches are another's.
        ends.once(kind, record)?;
        (ends.client.spent, ends.server.spent) = (0, 0);
        for _ in 0..count {
            ends.once(kind, record)?;
        }
        println!("{} {}", ends.client.spent / u64::from(count), ends.server.spent / u64::from(count));
        std::io::stdout().flush()?;
    }
    Ok(())
}

struct Ends {
    client_config: Arc<ClientConfig>,
    server_config: Arc<ServerConfig>,
    client: End,
    server: End,
    reading: u64,
    data: Vec<u8>,
    heard: Vec<u8>,
}

#[derive(Default)]
struct End {
    connection: Option<Connection>,
    sent: Vec<u8>,
    spent: u64,
}

impl Ends {
    fn new(version: &str, kind: &str, chain: &Path, key: &Path, root: &Path) -> anyhow::Result<Self> {
        let provider = aws_lc_rs::default_provider();
        let suite = match version {
            "1.3" => aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256,
            _ => aws_lc_rs::cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        };
        let groups = vec![aws_lc_rs::kx_group::SECP256R1];
        let provider = Arc::new(CryptoProvider { cipher_suites: vec![suite], kx_groups: groups, ..provider });
        let versions = if version == "1.3" { &rustls::version::TLS13 } else { &rustls::version::TLS12 };

        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(root)?)?;
        let mut client = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[versions])?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let cache = || Resumption::store(Arc::new(ClientSessionMemoryCache::new(4)));
        client.resumption = match kind {
            "full" => Resumption::disabled(),
            "id" => cache().tls12_resumption(Tls12Resumption::SessionIdOnly),
            _ => cache(),
        };

        let chain = CertificateDer::pem_file_iter(chain)?.collect::<Result<_, _>>()?;
        let mut server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[versions])?
            .with_no_client_auth()
            .with_single_cert(chain, PrivateKeyDer::from_pem_file(key)?)?;
        server.session_storage = Arc::new(NoServerSessionStorage {});
        server.send_tls13_tickets = 0;
        match kind {
            "id" => server.session_storage = ServerSessionMemoryCache::new(1024),
            "ticket" => {
                server.ticketer = aws_lc_rs::Ticketer::new()?;
                server.send_tls13_tickets = 1;
            }
            _ => {}
        }
        Ok(Self {
            client_config: Arc::new(client),
            server_config: Arc::new(server),
            client: End::default(),
            server: End::default(),
            reading: 0,
            data: vec![0; 1 << 16],
            heard: vec![0; 1 << 16],
        })
    }

    /// One transfer, or one connection of this kind.
    fn once(&mut self, kind: &str, record: Option<usize>) -> anyhow::Result<()> {
        if let Some(record) = record {
            return self.transfer(record);
        }
        let seen = self.connect()?;
        ensure!((seen == HandshakeKind::Resumed) == (kind != "full"), "{kind} was asked for, {seen:?} observed");
        Ok(())
    }

    /// One connection, and what the server says of it.
    fn connect(&mut self) -> anyhow::Result<HandshakeKind> {
        self.complete()?;
        let kind = self.server.connection.as_ref().and_then(|connection| connection.handshake_kind());
        let reading = self.reading;
        for end in [&mut self.client, &mut self.server] {
            end.timed(reading, |end| {
                end.connection = None;
                Ok(())
            })?;
        }
        kind.context("the handshake is not complete")
    }

    /// 64 KiB from the server to the client.
    fn transfer(&mut self, record: usize) -> anyhow::Result<()> {
        let Self { client, server, data, heard, reading, .. } = self;
        let data = data.get(..data.len() / record * record).unwrap_or_default();
        server.timed(*reading, |server| {
            for data in data.chunks(record) {
                server.connection.as_mut().context("no connection")?.writer().write_all(data)?;
                server.flush()?;
            }
            Ok(())
        })?;
        client.timed(*reading, |client| client.receive_data(&server.sent, heard))?;
        server.sent.clear();
        Ok(())
    }

    /// A handshake, to its end on both sides.
    fn complete(&mut self) -> anyhow::Result<()> {
        let (client_config, server_config, reading) = (&self.client_config, &self.server_config, self.reading);
        let name = ServerName::try_from("localhost")?;
        self.client.timed(reading, |client| {
            client.connection = Some(ClientConnection::new(Arc::clone(client_config), name)?.into());
            client.flush()
        })?;
        self.server.timed(reading, |server| {
            server.connection = Some(ServerConnection::new(Arc::clone(server_config))?.into());
            Ok(())
        })?;
        while !(self.client.sent.is_empty() && self.server.sent.is_empty()) {
            let flight = std::mem::take(&mut self.client.sent);
            self.server.timed(reading, |server| server.receive(&flight))?;
            let flight = std::mem::take(&mut self.server.sent);
            self.client.timed(reading, |client| client.receive(&flight))?;
        }
        Ok(())
    }
}

impl End {
    fn timed(&mut self, reading: u64, work: impl FnOnce(&mut Self) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let begun = now();
        work(self)?;
        self.spent += (now() - begun).saturating_sub(reading);
        Ok(())
    }

    fn receive(&mut self, mut flight: &[u8]) -> anyhow::Result<()> {
        let connection = self.connection.as_mut().context("no connection")?;
        while !flight.is_empty() {
            connection.read_tls(&mut flight)?;
            connection.process_new_packets()?;
        }
        self.flush()
    }

    fn receive_data(&mut self, mut flight: &[u8], heard: &mut [u8]) -> anyhow::Result<()> {
        let connection = self.connection.as_mut().context("no connection")?;
        let mut received = 0;
        while !flight.is_empty() {
            connection.read_tls(&mut flight)?;
            let length = connection.process_new_packets()?.plaintext_bytes_to_read();
            connection.reader().read_exact(heard.get_mut(received..received + length).context("too much data")?)?;
            received += length;
        }
        Ok(())
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        let connection = self.connection.as_mut().context("no connection")?;
        while connection.wants_write() {
            connection.write_tls(&mut self.sent)?;
        }
        Ok(())
    }
}

fn cost_of_reading() -> u64 {
    let mut gaps: Vec<u64> = (0..2001)
        .map(|_| {
            let begun = now();
            now() - begun
        })
        .collect();
    gaps.sort_unstable();
    gaps.get(1000).copied().unwrap_or_default()
}

fn now() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
    time.map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}
