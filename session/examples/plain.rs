//! A server with a thread for each connection. `example-plain CERTIFICATE KEY TICKET-KEY`, all of them files.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use reprise_session::key_file::{KeyFileFormat, KeyFiles, watch};
use reprise_session::rustls::{ClientAuth, ResumingServer, Resumption};
use rustls::ServerConfig;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [certificate, key, ticket_key] = &arguments[..] else { return Err("CERTIFICATE KEY TICKET-KEY".into()) };
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<_, _>>()?;
    let key = PrivateKeyDer::from_pem_file(key)?;

    let files = KeyFiles::new(KeyFileFormat::Nginx, [ticket_key]);
    let (ring, _watcher) = watch(files, Duration::from_secs(10))?;
    let resumption = Resumption::builder().tickets(ring).build()?;
    let client_auth = ClientAuth::none();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let config = client_auth.apply(builder).with_single_cert(chain, key)?;
    let server = ResumingServer::new(config, &client_auth, &resumption)?;

    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?);
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        let server = server.clone();
        thread::spawn(move || serve(&server, stream));
    }
    Ok(())
}

fn serve(server: &ResumingServer, stream: TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.set_nodelay(true)?;
    let mut tls = server.accept(stream)?;
    let _request = tls.read(&mut [0; 4096])?;
    tls.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n")?;
    tls.conn.send_close_notify();
    tls.flush()
}
