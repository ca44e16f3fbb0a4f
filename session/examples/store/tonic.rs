//! A gRPC server on tonic, with the health service. `example-store-tonic CERTIFICATE KEY STORE RING-KEY`, where STORE is the URL of Valkey or Redis.

#![allow(clippy::print_stdout)]

mod server;

use std::error::Error;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tonic::service::Routes;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = server::server(&["h2"])?;
    let (_reporter, health) = tonic_health::server::health_reporter();
    let router = Routes::new(health).prepare().into_axum_router();
    let mut listener = server.listen(TcpListener::bind("127.0.0.1:0").await?);
    println!("{}", listener.local_addr()?);
    loop {
        let ((tls, _), router) = (listener.accept().await, router.clone());
        tokio::spawn(async move {
            let builder = auto::Builder::new(TokioExecutor::new());
            // What goes wrong from here on is between tonic and the client.
            let _ = builder.serve_connection(TokioIo::new(tls), TowerToHyperService::new(router)).await;
        });
    }
}
