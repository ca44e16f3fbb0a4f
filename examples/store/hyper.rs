//! A server on hyper. `example-store-hyper CERTIFICATE KEY STORE RING-KEY`, where STORE is the URL of Valkey or Redis.

#![allow(clippy::print_stdout)]

mod server;

use std::convert::Infallible;
use std::error::Error;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = server::server(&[])?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let server = server.clone();
        tokio::spawn(async move {
            let accepting = tokio::time::timeout(Duration::from_secs(10), server.accept_tokio(stream));
            let Ok(Ok(tls)) = accepting.await else { return };
            // What goes wrong from here on is between hyper and the client.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(tls), service_fn(hello)).await;
        });
    }
}

async fn hello(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(Response::new(Full::new(Bytes::from_static(b"hello\n"))))
}
