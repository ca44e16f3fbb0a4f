//! The library on this computer with each TLS library, under sanitizers: what they find ends the server with an error.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use reprise_harness::posix_server::PosixServer;
use reprise_servers::{missing, require};

const LIBRARIES: [&str; 3] = ["bearssl", "mbedtls2", "mbedtls3"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Tests share the images: one builds at a time.
static BUILDING: Mutex<()> = Mutex::new(());

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The server with this library, built with these settings; `None`, and said so, where a program is missing.
fn build(library: &str, sanitizers: &str, settings: &[&str]) -> Option<PathBuf> {
    if let Some(not_run) = ["make", "cc", "apt-get", "openssl"].into_iter().find_map(missing) {
        not_run.announce();
        return None;
    }
    let root = root();
    let _building = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
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
fn every_library_serves_under_sanitizers() {
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

/// `New` or `Reused`, or what OpenSSL refuses.
fn kind(address: &str, options: &[&str]) -> String {
    let mut client = Command::new("openssl")
        .args(["s_client", "-connect", address, "-tls1_2"])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    client.stdin.take().unwrap().write_all(b"Q\n").unwrap();
    let output = client.wait_with_output().unwrap();
    let [said, refused] = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    let refused = refused.lines().find(|line| line.contains(":error:")).map(str::to_owned);
    let kind = || said.lines().find_map(|line| line.split_once(", TLSv1.2")).map_or("nothing", |(kind, _)| kind).to_owned();
    refused.unwrap_or_else(kind)
}

/// RFC 5246 section 7.4.1.3: OpenSSL ends a connection that resumes under another suite. So a cache does, and so do tickets.
#[test]
fn a_session_of_another_suite_makes_a_full_handshake() {
    let folder = tempfile::tempdir().unwrap();
    let session = folder.path().join("session").display().to_string();
    for library in ["mbedtls2", "mbedtls3"] {
        let Some(program) = build(library, "address,undefined", &["TICKETS=1"]) else { return };
        for (key, one) in [("p256", "ECDHE-ECDSA-AES128-GCM-SHA256"), ("rsa1024", "ECDHE-RSA-AES128-GCM-SHA256")] {
            let all = "DEFAULT@SECLEVEL=0";
            let one = format!("{one}@SECLEVEL=0");
            for kept in [&["tickets", "no-cache"][..], &[]] {
                let server = PosixServer::start_with(&program, library, key, kept);
                let ticket: &[&str] = if kept.is_empty() { &["-no_ticket"] } else { &[] };
                let with =
                    |suites: &str, more: &[&str]| kind(&server.address, &[&["-cipher", suites], ticket, more].concat());
                let which = format!("{library}, {key}, {kept:?}");
                assert_eq!(with(&one, &["-sess_out", &session]), "New", "{which}");
                assert_eq!(with(&one, &["-sess_in", &session]), "Reused", "{which}");
                // Mbed TLS likes another of those that are offered now better.
                assert_eq!(with(all, &["-sess_in", &session]), "New", "{which}");
                assert_eq!(with(all, &["-sess_out", &session]), "New", "{which}");
                assert_eq!(with(all, &["-sess_in", &session]), "Reused", "{which}");
                // The session's suite is not offered any more.
                assert_eq!(with(&one, &["-sess_in", &session]), "New", "{which}");
                server.finish();
            }
        }
    }
}

#[test]
fn a_corrupt_record_is_answered_with_an_alert() {
    // BearSSL has no alert for it.
    for library in ["mbedtls2", "mbedtls3"] {
        let Some(program) = build(library, "address,undefined", &["TICKETS=1"]) else { return };
        let server = PosixServer::start_with(&program, library, "p256", &[]);
        let mut answered = types_after_a_corrupt_record(&server.address);
        answered.dedup();
        // An alert, and the end.
        assert_eq!(answered, [21], "{library}");
        server.finish();
    }
}

/// Asks for a page through a relay that alters the request's last bit: the types of the records that come back then.
fn types_after_a_corrupt_record(address: &str) -> Vec<u8> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let relay = listener.local_addr().unwrap().to_string();
    let is_corrupt = AtomicBool::new(false);
    let is_corrupt = &is_corrupt;
    std::thread::scope(|scope| {
        scope.spawn(|| client(&relay, &["-ign_eof"], b"GET / HTTP/1.0\r\n\r\n"));
        let (mut asking, _) = listener.accept().unwrap();
        let mut answering = TcpStream::connect(address).unwrap();
        let (mut answers, mut back) = (answering.try_clone().unwrap(), asking.try_clone().unwrap());
        let heard = scope.spawn(move || {
            let mut types = Vec::new();
            while let Some(record) = read_record(&mut answers) {
                if is_corrupt.load(Ordering::SeqCst) {
                    types.push(record[0]);
                }
                // The client may have gone.
                let _ = back.write_all(&record);
            }
            let _ = back.shutdown(std::net::Shutdown::Both);
            types
        });
        while let Some(mut record) = read_record(&mut asking) {
            if record[0] == 23 && !is_corrupt.swap(true, Ordering::SeqCst) {
                *record.last_mut().unwrap() ^= 1;
            }
            if answering.write_all(&record).is_err() {
                break;
            }
        }
        heard.join().unwrap()
    })
}

/// A record with its header; `None` at the end.
fn read_record(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut record = vec![0; 5];
    stream.read_exact(&mut record).ok()?;
    let length = usize::from(u16::from_be_bytes([record[3], record[4]]));
    record.resize(5 + length, 0);
    stream.read_exact(&mut record[5..]).ok()?;
    Some(record)
}

/// Those that came before the handshake, in pieces, and in its middle: `make fuzz-tls` goes on from there.
#[test]
fn malformed_messages_of_clients_harm_no_library() {
    for library in LIBRARIES {
        let tickets = if library == "bearssl" { "TICKETS=0" } else { "TICKETS=1" };
        if build(library, "address,undefined", &[tickets]).is_none() {
            return;
        }
        let _building = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut make = Command::new("make");
        make.arg("-C").arg(root().join("firmware")).args(["-j2", "check-tls"]).arg(format!("STACK={library}"));
        let said = run(&mut make);
        assert!(said.lines().any(|line| line.ends_with(": 2000 inputs")), "{library}: {said}");
    }
}

/// Requests with long cookies on one connection, bodies of several records, twenty requests at once.
#[test]
fn every_library_answers_pipelined_requests() {
    require!("curl");
    for library in LIBRARIES {
        let tickets = if library == "bearssl" { "TICKETS=0" } else { "TICKETS=1" };
        let Some(program) = build(library, "address,undefined", &[tickets]) else { return };
        let server = PosixServer::start_with(&program, library, "p256", &["body", "200000"]);
        let page = format!("https://{}/", server.address);
        let folder = tempfile::tempdir().unwrap();
        let body = |len: usize| {
            let path = folder.path().join(len.to_string());
            std::fs::write(&path, vec![b'a'; len]).unwrap();
            format!("@{}", path.display())
        };
        let cookie = format!("long={}", "c".repeat(300));
        assert_eq!(curl(&["--cookie", &cookie, &page, &page, &format!("{page}none")]), "200 1\n200 0\n404 0\n", "{library}");
        assert_eq!(curl(&["--data-binary", &body(200_000), &page, &page]), "200 1\n200 0\n", "{library}");
        assert_eq!(curl(&["--data-binary", &body(200_001), &page]), "413 1\n", "{library}");
        assert_eq!(
            curl(&["--header", "transfer-encoding: chunked", "--data-binary", &body(9), &page]),
            "411 1\n",
            "{library}"
        );
        let one = "GET / HTTP/1.1\r\nHost: board.example\r\n\r\n";
        let all = one.repeat(19) + &one.replace("Host", "Connection: close\r\nHost");
        assert_eq!(said_to(&server.address, &all).matches("HTTP/1.1 200 ").count(), 20, "{library}");
        server.finish();
        // The limits are the caller's.
        let server = PosixServer::start_with(&program, library, "p256", &["head", "256"]);
        assert_eq!(curl(&["--cookie", &cookie, &format!("https://{}/", server.address)]), "431 1\n", "{library}");
        server.finish();
    }
}

/// The status of each request, and how many connections were made for it.
fn curl(arguments: &[&str]) -> String {
    let said = ["--silent", "--insecure", "--write-out", "%{stderr}%{http_code} %{num_connects}\\n"];
    let output = Command::new("curl").args(said).args(arguments).output().unwrap();
    String::from_utf8(output.stderr).unwrap()
}

/// What comes back to these bytes, until the server closes.
fn said_to(address: &str, bytes: &str) -> String {
    let mut client = Command::new("openssl")
        .args(["s_client", "-connect", address, "-tls1_2", "-quiet"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    client.stdin.take().unwrap().write_all(bytes.as_bytes()).unwrap();
    String::from_utf8_lossy(&client.wait_with_output().unwrap().stdout).into_owned()
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
