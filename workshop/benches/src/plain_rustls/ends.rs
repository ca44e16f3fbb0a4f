//! Both ends of a connection, each with what it has spent.

use std::io::{Read, Write};
use std::sync::Arc;

use anyhow::{Context, ensure};
use rustls::{ClientConfig, ClientConnection, Connection, HandshakeKind, ServerConfig, ServerConnection};
use rustls_pki_types::ServerName;

use crate::ahead::PairsAhead;
use crate::clock::{cost_of_reading, now};
use crate::row::Row;
use crate::{TRANSFER, configs};

const WARM_UP: u32 = 10;

pub(crate) struct Ends {
    row: Row,
    client_config: Arc<ClientConfig>,
    server_config: Arc<ServerConfig>,
    pairs: Option<&'static PairsAhead>,
    client: End,
    server: End,
    /// What a reading of the clock costs.
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
    /// Warm.
    pub(crate) fn prepared(row: &Row) -> anyhow::Result<Self> {
        let (server_config, pairs) = configs::server(row)?;
        let mut ends = Self {
            row: row.clone(),
            client_config: Arc::new(configs::client(row)?),
            server_config: Arc::new(server_config),
            pairs,
            client: End::default(),
            server: End::default(),
            reading: 0,
            // Until they are written, all its pages are one, which stays in the fastest cache.
            data: (0..TRANSFER).map(|index| index as u8).collect(),
            heard: vec![0; TRANSFER],
        };
        for _ in 0..WARM_UP {
            ends.connect()?;
        }
        ends.reading = cost_of_reading();
        Ok(ends)
    }

    /// Mean nanoseconds of each side, the client's first.
    pub(crate) fn measure(&mut self, count: u32) -> anyhow::Result<[u64; 2]> {
        if self.row.record > 0 {
            self.complete()?;
        }
        // The first is not counted: the caches are another's.
        self.once()?;
        (self.client.spent, self.server.spent) = (0, 0);
        for _ in 0..count {
            self.once()?;
        }
        Ok([self.client.spent, self.server.spent].map(|spent| spent / u64::from(count)))
    }

    /// One transfer, or one connection of its kind.
    fn once(&mut self) -> anyhow::Result<()> {
        if self.row.record > 0 {
            return self.transfer();
        }
        let seen = self.connect()?;
        ensure!(
            (seen == HandshakeKind::Resumed) == self.row.resumes(),
            "{} was asked for, {seen:?} observed",
            self.row.kind
        );
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

    /// Data from one side to the other, in records of one size.
    fn transfer(&mut self) -> anyhow::Result<()> {
        let Self { client, server, data, heard, reading, row, .. } = self;
        let (sender, receiver) = if row.client_sends { (client, server) } else { (server, client) };
        let data = data.get(..data.len() / row.record * row.record).unwrap_or_default();
        sender.timed(*reading, |sender| {
            for data in data.chunks(row.record) {
                sender.connection.as_mut().context("no connection")?.writer().write_all(data)?;
                sender.flush()?;
            }
            Ok(())
        })?;
        receiver.timed(*reading, |receiver| receiver.receive_data(&sender.sent, heard))?;
        sender.sent.clear();
        Ok(())
    }

    /// A handshake, to its end on both sides.
    fn complete(&mut self) -> anyhow::Result<()> {
        let (client_config, server_config, reading) = (&self.client_config, &self.server_config, self.reading);
        let name = ServerName::try_from("localhost")?;
        self.pairs.map_or(Ok(()), PairsAhead::make)?;
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
