//! Other people's clients against the emulated board, over a bridge to TCP.
#![allow(clippy::unwrap_used, reason = "a test's own functions")]

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use reprise_board::{BoardKey, BoardStack, Cpu, Firmware, Image, Optimization, ResponseMode, Setup, bridge};
use reprise_servers::missing;

/// Runs `client` against a board with BearSSL and a P-256 key, unless something is not installed. Returns how many sessions
/// the board's cache found.
fn with_board(client: impl FnOnce(SocketAddr)) -> Option<u32> {
    let needs = ["arm-none-eabi-gcc", "make", "openssl", "curl"];
    if let Some(not_run) = needs.into_iter().find_map(missing) {
        not_run.announce();
        return None;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let firmware = Firmware { folder: root.join("firmware"), output: root.join("target/firmware") };
    let image = Image::usual(Cpu::CortexM0, BoardStack::BearSsl, Optimization::Size);
    firmware.build(image).unwrap();
    let mut board = firmware.boot(image, &Setup::usual(BoardKey::P256, ResponseMode::Http)).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| bridge::serve(&listener, &mut board, || done.load(Ordering::Relaxed)).unwrap());
        // The bridge ends even if the client fails.
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| client(address)));
        done.store(true, Ordering::Relaxed);
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
    Some(board.mark().unwrap().hits)
}

#[test]
fn openssl_reconnects_and_reuses_its_session() {
    let hits = with_board(|address| {
        let address = address.to_string();
        let mut client = Command::new("openssl")
            .args(["s_client", "-connect", &address, "-tls1_2", "-reconnect", "-servername", "board.example"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        client.stdin.take().unwrap().write_all(b"Q\n").unwrap();
        let output = client.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!((text.matches("New, TLSv1.2").count(), text.matches("Reused, TLSv1.2").count()), (1, 5), "{text}");
    });
    assert!(hits.is_none_or(|hits| hits == 5), "{hits:?}");
}

#[test]
fn curl_resumes_on_its_second_connection() {
    let hits = with_board(|address| {
        assert_eq!(curl(address, &["--header", "Connection: close"], ["/", "/"]), "200 1\n200 1\n");
    });
    assert!(hits.is_none_or(|hits| hits == 1), "{hits:?}");
}

#[test]
fn curl_fetches_pages_on_one_connection() {
    with_board(|address| assert_eq!(curl(address, &[], ["/", "/none"]), "200 1\n404 0\n"));
}

#[test]
fn curl_is_served_beside_clients_that_flood_and_stall() {
    let hits = with_board(|address| {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // It floods, and reconnects as soon as it is refused: with its turns, curl has to be content with the other place.
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    if let Ok(mut stream) = TcpStream::connect(address) {
                        let _ = stream.write_all(&[0x5a; 64 << 10]);
                    }
                }
            });
            let served = std::panic::catch_unwind(|| curl(address, &["--header", "Connection: close"], ["/", "/"]));
            done.store(true, Ordering::Relaxed);
            assert_eq!(served.unwrap(), "200 1\n200 1\n");
        });
        // This one says half of a record, and no more, for as long as it is there.
        let mut stalling = TcpStream::connect(address).unwrap();
        stalling.write_all(&[0x16, 3, 1, 2, 0]).unwrap();
        assert_eq!(curl(address, &[], ["/", "/none"]), "200 1\n404 0\n");
    });
    assert!(hits.is_none_or(|hits| hits == 1), "{hits:?}");
}

/// Fetches two paths, and says of each its status and how many connections were made for it.
fn curl(address: SocketAddr, options: &[&str], paths: [&str; 2]) -> String {
    let url = format!("https://board.example:{}", address.port());
    let resolve = format!("board.example:{}:127.0.0.1", address.port());
    let output = Command::new("curl")
        .args(["--silent", "--show-error", "--insecure", "--max-time", "60", "--resolve", &resolve])
        .args(["--write-out", "%{http_code} %{num_connects}\n", "--output", "/dev/null", "--output", "/dev/null"])
        .args(options)
        .args(paths.map(|path| format!("{url}{path}")))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
