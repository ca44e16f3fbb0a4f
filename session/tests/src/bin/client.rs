//! A command-line client of a server on OpenSSL: `session-client ADDRESS AUTHORITY FOLDER KEYS` says whether its one connection resumed.

#![cfg(unix)]
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;

use openssl::ssl::{SslConnector, SslMethod};
use reprise_session::RingHandle;
use reprise_session::key_file::{KeyFileFormat, KeyFiles};
use reprise_session_openssl::ClientSessions;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [address, authority, folder, keys] = &arguments[..] else { return Err("ADDRESS AUTHORITY FOLDER KEYS".into()) };
    let ring = RingHandle::new(KeyFiles::new(KeyFileFormat::Reprise, [keys]).read()?);
    let sessions = ClientSessions::new(folder, authority.as_bytes(), ring)?;
    let mut builder = SslConnector::builder(SslMethod::tls_client())?;
    builder.set_ca_file(authority)?;
    sessions.apply(&mut builder)?;
    let mut ssl = builder.build().configure()?.into_ssl("localhost")?;
    sessions.offer(&mut ssl, address);
    let mut tls = ssl.connect(TcpStream::connect(address)?)?;
    tls.write_all(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    tls.read_to_end(&mut answer)?;
    println!("{}", if tls.ssl().session_reused() { "resumed" } else { "full" });
    Ok(())
}
