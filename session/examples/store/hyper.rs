//! A server on hyper. `example-store-hyper CERTIFICATE KEY STORE RING-KEY`, where STORE is the URL of Valkey or Redis.

#![allow(clippy::print_stdout)]

mod server;

use std::convert::Infallible;
use std::error::Error;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::{rt::TokioIo, server::graceful::GracefulShutdown};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = server::server(&[])?;
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
