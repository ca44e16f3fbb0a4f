//! A server on tokio. `example-tokio CERTIFICATE KEY TICKET-KEY`, all of them files.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use reprise_session::key_file::{KeyFileFormat, KeyFiles, watch};
use reprise_session::rustls::{ClientAuth, ResumingServer, Resumption};
use rustls::ServerConfig;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
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

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let server = server.clone();
        tokio::spawn(async move { tokio::time::timeout(Duration::from_secs(10), serve(&server, stream)).await });
    }
}

async fn serve(server: &ResumingServer, stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut tls = server.accept_tokio(stream).await?;
    let _request = tls.read(&mut [0; 4096]).await?;
    tls.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n").await?;
    tls.shutdown().await
}
