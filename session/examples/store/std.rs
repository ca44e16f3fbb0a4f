//! A server with a thread for each connection. `example-store-std CERTIFICATE KEY STORE RING-KEY`, where STORE is the URL of Valkey or Redis.

#![allow(clippy::print_stdout)]

mod server;

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use reprise_session::rustls::ResumingServer;

fn main() -> Result<(), Box<dyn Error>> {
    let server = server::server(&[])?;
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
