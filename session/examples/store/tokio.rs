//! A server on tokio. `example-store-tokio CERTIFICATE KEY STORE RING-KEY`, where STORE is the URL of Valkey or Redis.

#![allow(clippy::print_stdout)]

mod server;

use std::error::Error;
use std::io;
use std::time::Duration;

use reprise_session::rustls::ResumingServer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = server::server(&[])?;
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
