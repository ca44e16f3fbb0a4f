//! A server on hyper. `example-hyper CERTIFICATE KEY TICKET-KEY`, all of them files.

#![allow(clippy::print_stdout)]

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response, server::conn::http1, service::service_fn};
use hyper_util::{rt::TokioIo, server::graceful::GracefulShutdown};
use reprise_session::key_file::{KeyFileFormat, KeyFiles, watch};
use reprise_session::rustls::{ClientAuth, ResumingServer, Resumption};
use rustls::ServerConfig;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

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

    let mut listener = server.listen(TcpListener::bind("127.0.0.1:0").await?);
    println!("{}", listener.local_addr()?);
    let (connections, mut terminate) = (GracefulShutdown::new(), signal(SignalKind::terminate())?);
    loop {
        let (tls, _) = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = terminate.recv() => break,
        };
        let connection = http1::Builder::new().serve_connection(TokioIo::new(tls), service_fn(hello));
        // What goes wrong from here on is between hyper and the client.
        tokio::spawn(connections.watch(connection));
    }
    // Once told to end, it answers what clients have asked.
    connections.shutdown().await;
    Ok(())
}

async fn hello(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(Response::new(Full::new(Bytes::from_static(b"hello\n"))))
}
