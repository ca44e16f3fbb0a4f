//! A store in memcached, by its text protocol (`doc/protocol.txt`): what a kind of store has to know, and all else is `store::remote`'s.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use reprise_session::store::remote::{Read, Refusal, StoreBackend, StoreConnection, StoreError, Write};
use rustls_pki_types::UnixTime;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufStream};
use tokio::net::TcpStream;
use tokio::sync::Mutex;

/// A longer lifetime would be taken for a time since 1970.
const LONGEST: u64 = 30 * 86_400;

/// One server.
pub struct Memcached(pub SocketAddr);

/// One connection, over which one is answered at a time. It is gone while it is in use: whoever gives up has left an answer in it.
#[derive(Clone)]
pub struct MemcachedConnection(Arc<Mutex<Option<BufStream<TcpStream>>>>);

/// What came before the last line of an answer, and that line.
#[derive(Default)]
struct Said {
    entry: Option<Vec<u8>>,
    /// Another one after each write.
    unique: String,
    time: Option<u64>,
    last: String,
}

impl StoreBackend for Memcached {
    type Connection = MemcachedConnection;

    async fn connect(&mut self) -> Result<MemcachedConnection, StoreError> {
        let stream = TcpStream::connect(self.0).await.map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        Ok(MemcachedConnection(Arc::new(Mutex::new(Some(BufStream::new(stream))))))
    }
}

impl StoreConnection for MemcachedConnection {
    async fn read(&mut self, reads: &[Read]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let mut found = Vec::with_capacity(reads.len());
        for read in reads {
            let (Read::Get(key) | Read::Take(key)) = read;
            let Said { entry, unique, .. } = self.ask("gets", format!("gets {}\r\n", name(key)).as_bytes()).await?;
            let is_ours = match read {
                Read::Take(_) if entry.is_some() => {
                    // Over at once, if nobody has taken it since.
                    let command = format!("cas {} 0 -1 0 {unique}\r\n\r\n", name(key));
                    self.ask("cas", command.as_bytes()).await?.last == "STORED"
                }
                _ => true,
            };
            found.push(entry.filter(|_| is_ours));
        }
        Ok(found)
    }

    async fn write(&mut self, writes: &[Write]) -> Result<(), StoreError> {
        for write in writes {
            self.store("set", "", write).await?;
        }
        Ok(())
    }

    async fn compare_and_set(&mut self, seen: Option<&[u8]>, write: &Write) -> Result<bool, StoreError> {
        let Some(seen) = seen else { return self.store("add", "", write).await };
        let found = self.ask("gets", format!("gets {}\r\n", name(&write.key)).as_bytes()).await?;
        Ok(found.entry.is_some_and(|entry| entry == seen) && self.store("cas", &found.unique, write).await?)
    }

    async fn time(&mut self) -> Result<UnixTime, StoreError> {
        let seconds = self.ask("stats", b"stats\r\n").await?.time.ok_or(StoreError::Failed("no time".to_owned()))?;
        Ok(UnixTime::since_unix_epoch(Duration::from_secs(seconds)))
    }
}

impl MemcachedConnection {
    /// Whether it stored that.
    async fn store(&self, command: &'static str, unique: &str, write: &Write) -> Result<bool, StoreError> {
        let Write { key, entry, lifetime } = write;
        let seconds = lifetime.as_secs().clamp(1, LONGEST);
        let line = format!("{command} {} 0 {seconds} {} {unique}\r\n", name(key), entry.len());
        Ok(self.ask(command, &[line.as_bytes(), entry, b"\r\n"].concat()).await?.last == "STORED")
    }

    async fn ask(&self, command: &'static str, bytes: &[u8]) -> Result<Said, StoreError> {
        let mut place = self.0.lock().await;
        let mut stream = place.take().ok_or(StoreError::Failed("an answer is left in the connection".to_owned()))?;
        let said = exchange(&mut stream, bytes).await.map_err(failed)?;
        *place = Some(stream);
        if said.last.contains("ERROR") {
            return Err(StoreError::Refused(Refusal::new(command, said.last, String::new())));
        }
        Ok(said)
    }
}

async fn exchange(stream: &mut BufStream<TcpStream>, command: &[u8]) -> std::io::Result<Said> {
    stream.write_all(command).await?;
    stream.flush().await?;
    let mut said = Said::default();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let mut words = line.split_whitespace();
        match (words.next(), words.next(), words.next(), words.next(), words.next()) {
            (Some("VALUE"), _, _, Some(length), Some(unique)) => {
                said.unique = unique.to_owned();
                let length: usize = length.parse().map_err(std::io::Error::other)?;
                let mut entry = vec![0; length + 2];
                stream.read_exact(&mut entry).await?;
                entry.truncate(length);
                said.entry = Some(entry);
            }
            (Some("STAT"), Some("time"), Some(time), ..) => said.time = time.parse().ok(),
            (Some("STAT"), ..) => {}
            _ => return Ok(Said { last: line.trim_end().to_owned(), ..said }),
        }
    }
}

/// A key in letters that the protocol allows.
fn name(key: &[u8]) -> String {
    key.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn failed(error: std::io::Error) -> StoreError {
    StoreError::Failed(error.to_string())
}
