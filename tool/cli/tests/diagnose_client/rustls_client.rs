//! A client program on rustls: this test's own program, called again for this one function.

use std::env;
use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

type Done<T> = Result<T, Box<dyn Error>>;

const ROUNDS: usize = 4;

/// Functions made of what remedies print, and for each way its code as text.
macro_rules! printed {
    ($($way:literal: fn $name:ident($($given:pat_param in $type:ty),*) -> $result:ty { { $($code:tt)* } $then:expr })*) => {
        $(fn $name($($given: $type),*) -> $result {
            $($code)*
            $then
        })*
        const PRINTED: &[(&str, &str)] = &[$(($way, stringify!($($code)*))),*];
    };
}

printed! {
    "rebuild": fn share(config in Arc<ClientConfig>, name in ServerName<'static>) -> Done<ClientConnection> {
        { let conn = ClientConnection::new(Arc::clone(&config), name)?; } Ok(conn)
    }
    "disabled": fn keep_sessions(config in &mut ClientConfig) -> Done<()> {
        { config.resumption = rustls::client::Resumption::in_memory_sessions(256); } Ok(())
    }
    "cache-of-eight": fn keep_more_sessions(config in &mut ClientConfig) -> Done<()> {
        { config.resumption = rustls::client::Resumption::in_memory_sessions(4096); } Ok(())
    }
    "close-early": fn read(conn in &mut ClientConnection, mut socket in &TcpStream) -> Done<()> {
        { conn.read_tls(&mut socket)?; conn.process_new_packets()?; } Ok(())
    }
}

/// The code of this way's function is what is printed; white space apart.
#[track_caller]
pub(crate) fn assert_says(way: &str, printed: &str) {
    let (_, code) = PRINTED.iter().find(|(known, _)| *known == way).unwrap();
    let dense = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(dense(code), dense(printed), "{way}");
}

#[test]
#[ignore = "a client program, run by other tests"]
fn acts_as_client() {
    let way = env::var("REPRISE_TEST_WAY").unwrap();
    let is_fixed = env::var_os("REPRISE_TEST_FIXED").is_some();
    let mut config = new_config();
    let localhost = ["localhost"; ROUNDS];
    match way.as_str() {
        "right" => visit(&localhost, || Arc::clone(&config)),
        "rebuild" if is_fixed => visit(&localhost, || Arc::clone(&config)),
        "rebuild" => visit(&localhost, new_config),
        "disabled" => {
            let own = Arc::get_mut(&mut config).unwrap();
            own.resumption = rustls::client::Resumption::disabled();
            if is_fixed {
                keep_sessions(own).unwrap();
            }
            visit(&localhost, || Arc::clone(&config));
        }
        "cache-of-eight" => {
            let own = Arc::get_mut(&mut config).unwrap();
            own.resumption = rustls::client::Resumption::in_memory_sessions(8);
            if is_fixed {
                keep_more_sessions(own).unwrap();
            }
            let names = ["a.test", "a.test", "b.test", "c.test", "a.test", "b.test", "c.test", "a.test", "b.test", "c.test"];
            visit(&names, || Arc::clone(&config));
        }
        "close-early" => {
            for _ in 0..ROUNDS {
                let mut open = connect(&config, "localhost");
                if is_fixed {
                    read(&mut open.conn, &open.sock).unwrap();
                }
            }
        }
        "at-once" => {
            finish(connect(&config, "localhost"));
            let open: Vec<_> = (0..ROUNDS + 2).map(|_| connect(&config, "localhost")).collect();
            open.into_iter().for_each(finish);
        }
        other => panic!("no way {other}"),
    }
}

/// A request to each of these names.
fn visit(names: &[&'static str], config: impl Fn() -> Arc<ClientConfig>) {
    for name in names {
        finish(connect(&config(), name));
    }
}

fn new_config() -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(env::var("SSL_CERT_FILE").unwrap()).unwrap()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    Arc::new(builder.with_root_certificates(roots).with_no_client_auth())
}

type Stream = StreamOwned<ClientConnection, TcpStream>;

/// A connection whose handshake is over, and on which nothing was read after it.
fn connect(config: &Arc<ClientConfig>, name: &'static str) -> Stream {
    let url = env::var("REPRISE_URL").unwrap();
    let (_, port) = url.trim_end_matches('/').rsplit_once(':').unwrap();
    let mut socket = TcpStream::connect(("127.0.0.1", port.parse().unwrap())).unwrap();
    let mut tls = share(Arc::clone(config), ServerName::try_from(name).unwrap()).unwrap();
    while tls.is_handshaking() {
        tls.complete_io(&mut socket).unwrap();
    }
    StreamOwned::new(tls, socket)
}

fn finish(mut stream: Stream) {
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
}
