//! A server on actix-web. `example-store-actix CERTIFICATE KEY STORE RING-KEY`, where STORE is the URL of Valkey or Redis.

#![allow(clippy::print_stdout)]

mod server;

use std::error::Error;
use std::io;
use std::net::TcpListener;
use std::time::Duration;

use actix_http::error::DispatchError;
use actix_http::{HttpService, Protocol};
use actix_service::{ServiceFactoryExt, fn_service, map_config};
use actix_web::dev::AppConfig;
use actix_web::{App, web};
use tokio::net::TcpStream;

#[actix_web::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = server::server(&[])?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?);
    let service = move || {
        let server = server.clone();
        let accept = fn_service(move |stream: TcpStream| {
            let server = server.clone();
            async move {
                let peer = stream.peer_addr().ok();
                stream.set_nodelay(true).map_err(DispatchError::Io)?;
                let accepting = tokio::time::timeout(Duration::from_secs(10), server.accept_tokio(stream));
                let tls = accepting.await.map_err(io::Error::from).flatten().map_err(DispatchError::Io)?;
                Ok::<_, DispatchError>((tls, Protocol::Http1, peer))
            }
        });
        let app = App::new().route("/", web::get().to(async || "hello\n"));
        accept.and_then(HttpService::build().finish(map_config(app, |_| AppConfig::default())))
    };
    Ok(actix_server::Server::build().listen("https", listener, service)?.run().await?)
}
