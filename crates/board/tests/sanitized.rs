//! The library on this computer with each TLS library, under sanitizers: what they find ends the server with an error.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use reprise_harness::posix_server::PosixServer;
use reprise_servers::missing;

const LIBRARIES: [&str; 3] = ["bearssl", "mbedtls2", "mbedtls3"];

/// The server with this library, built with these settings; `None`, and said so, where a program is missing.
fn build(library: &str, sanitizers: &str, settings: &[&str]) -> Option<PathBuf> {
    if let Some(not_run) = ["make", "cc", "apt-get", "openssl"].into_iter().find_map(missing) {
        not_run.announce();
        return None;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let run = |command: &mut Command| {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    run(Command::new(root.join("firmware/sources/fetch.sh")).arg(root.join("target/firmware/sources")).arg(library));
    let name = format!("posix-{library}-{}", sanitizers.replace(',', "-"));
    let mut make = Command::new("make");
    make.arg("-C").arg(root.join("firmware")).args(["-j2", "MACHINE=posix", "OPT=-O1", "I15=0"]);
    make.args([format!("STACK={library}"), format!("SANITIZE={sanitizers}"), format!("NAME={name}")]).args(settings);
    run(&mut make);
    Some(root.join(format!("target/firmware/{name}.elf")))
}

/// A client that asks for a page, or resumes five times. What the server says is not looked at: it may be nonsense to it.
fn client(address: &str, options: &[&str], said: &[u8]) {
    let mut client = Command::new("openssl")
        .args(["s_client", "-connect", address, "-tls1_2"])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    client.stdin.take().unwrap().write_all(said).unwrap();
    client.wait().unwrap();
}

#[test]
fn every_library_serves_under_address_and_undefined_behaviour_sanitizers() {
    for library in LIBRARIES {
        let tickets = if library == "bearssl" { "TICKETS=0" } else { "TICKETS=1" };
        let Some(program) = build(library, "address,undefined", &[tickets]) else { return };
        for key in ["p256", "rsa1024"] {
            let server = PosixServer::start_with(&program, library, key, &[]);
            client(&server.address, &["-reconnect", "-no_ticket"], b"Q\n");
            client(&server.address, &["-servername", "other.example", "-ign_eof"], b"GET / HTTP/1.0\r\n\r\n");
            client(&server.address, &["-cipher", "RC4"], b"");
            assert_eq!(server.finish(), "5 hits, 0 misses", "{library}, {key}");
        }
        if library != "bearssl" {
            let server = PosixServer::start_with(&program, library, "p256", &["tickets", "no-cache"]);
            client(&server.address, &["-reconnect"], b"Q\n");
            assert_eq!(server.finish(), "0 hits, 0 misses", "{library} with tickets");
        }
    }
}

#[test]
fn two_threads_share_a_server_without_a_race() {
    for library in LIBRARIES {
        let Some(program) = build(library, "thread", &["THREADS=1"]) else { return };
        let server = PosixServer::start_with(&program, library, "p256", &["threads", "2"]);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| client(&server.address, &["-reconnect"], b"Q\n"));
            }
        });
        // A client may be back at the other thread before the first has stored its session: that is a miss.
        let cache = server.finish();
        let counts: Vec<u32> = cache.split(' ').filter_map(|word| word.parse().ok()).collect();
        assert!(counts.iter().sum::<u32>() == 20 && counts[0] >= 10, "{library}: {cache}");
    }
}
