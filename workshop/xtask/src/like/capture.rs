//! A port that reads ClientHellos and answers none.

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::bail;
use reprise_wire::{Handshake, ProtocolVersion, first_message};

use super::programs::{Client, Run};

/// So many connections show whether the order of extensions changes.
const CONNECTIONS: usize = 3;
/// A browser takes some seconds to begin.
const PATIENCE: Duration = Duration::from_secs(40);
/// No ClientHello here is longer.
const LONGEST: usize = 16_384;

/// The bodies of the ClientHellos of a client's first connections, each with the version in its record.
pub(super) fn hellos_of(client: &Client) -> anyhow::Result<Vec<(ProtocolVersion, Vec<u8>)>> {
    let mut hellos = Vec::new();
    while hellos.len() < CONNECTIONS {
        let hello = match &client.run {
            Run::Built(hello) => hello()?,
            Run::Program(command) => captured(command)?,
        };
        let Some((version, message)) = first_message(&hello)? else { bail!("it sent no whole ClientHello") };
        hellos.push((version, message.get(Handshake::HEADER_LEN..).unwrap_or_default().to_vec()));
    }
    Ok(hellos)
}

/// What a program sends first to a port that never answers.
fn captured(command: impl Fn(&str, &std::path::Path) -> anyhow::Result<std::process::Command>) -> anyhow::Result<Vec<u8>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let folder = tempfile::tempdir()?;
    let url = format!("https://localhost:{}/", listener.local_addr()?.port());
    let mut command = command(&url, folder.path())?;
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let deadline = Instant::now() + PATIENCE;
    let hello = loop {
        if Instant::now() > deadline {
            break Err(anyhow::anyhow!("it did not connect within {} s", PATIENCE.as_secs()));
        }
        match listener.accept() {
            // A browser opens connections that it may use later: those say nothing.
            Ok((stream, _)) => {
                let received = first_bytes(stream)?;
                if !received.is_empty() {
                    break Ok(received);
                }
            }
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let _ = child.kill();
    let _ = child.wait();
    hello
}

/// All that comes until the ClientHello is whole.
fn first_bytes(mut stream: TcpStream) -> anyhow::Result<Vec<u8>> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut received = Vec::new();
    let mut buffer = [0; 4096];
    while received.len() < LONGEST && first_message(&received)?.is_none() {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(count) => received.extend_from_slice(buffer.get(..count).unwrap_or_default()),
        }
    }
    Ok(received)
}
