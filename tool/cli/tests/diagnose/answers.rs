//! Applications that answer by the kind of handshake, by chance, by time, and versions that fail: an own server with a switch.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use reprise_harness::{Lab, Outcome, Reprise};
use reprise_lab::{EmbeddedConfig, EmbeddedResumption, Guest, KeyKind, Listener};
use reprise_model::document::{DiagnoseDocument, Diagnosis, LoadDocument, MeasureDocument, Severity};
use rustls::{HandshakeKind, ProtocolVersion, ServerConfig, ServerConnection, StreamOwned};

/// What an application may see of a connection.
#[derive(Clone, Copy, Debug)]
struct Connection {
    is_tls13: bool,
    is_resumed: bool,
    /// How many came before it.
    place: usize,
}

/// A response; `None` closes the connection without one.
type Answer = fn(Connection) -> Option<String>;

fn response(status: u16, fields: &str, bytes: usize) -> Option<String> {
    Some(format!("HTTP/1.1 {status} A\r\nContent-Length: {bytes}\r\n{fields}\r\n{}", "x".repeat(bytes)))
}

/// A server that resumes, and whose application answers so.
fn start(lab: &Lab, answer: Answer) -> Listener {
    let resumption = EmbeddedResumption::Ticket;
    let config = EmbeddedConfig { resumption, ..EmbeddedConfig::new(lab.identity(KeyKind::P256)) };
    let config = Arc::new(config.to_rustls().unwrap());
    let place = AtomicUsize::new(0);
    let serve = move |guest: &Guest<'_>| {
        let place = place.fetch_add(1, Ordering::SeqCst);
        let _ = serve(&guest.stream, &config, |is_tls13, is_resumed| answer(Connection { is_tls13, is_resumed, place }));
    };
    Listener::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), 64, serve).unwrap()
}

fn serve(
    stream: &Arc<TcpStream>,
    config: &Arc<ServerConfig>,
    answer: impl FnOnce(bool, bool) -> Option<String>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let connection = ServerConnection::new(Arc::clone(config)).map_err(std::io::Error::other)?;
    let mut tls = StreamOwned::new(connection, &**stream);
    while tls.conn.is_handshaking() {
        tls.conn.complete_io(&mut tls.sock)?;
    }
    let is_tls13 = tls.conn.protocol_version() == Some(ProtocolVersion::TLSv1_3);
    let is_resumed = tls.conn.handshake_kind() == Some(HandshakeKind::Resumed);
    if let Some(answer) = answer(is_tls13, is_resumed) {
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            tls.read_exact(&mut byte)?;
            request.extend(byte);
        }
        tls.write_all(answer.as_bytes())?;
        tls.conn.send_close_notify();
        tls.flush()?;
    }
    stream.shutdown(std::net::Shutdown::Write)?;
    // Until the client leaves: to close with input unread would reset the connection.
    let _ = std::io::copy(&mut &**stream, &mut std::io::sink());
    Ok(())
}

fn diagnosed(answer: Answer) -> (Diagnosis, Outcome) {
    let lab = Lab::new();
    let server = start(&lab, answer);
    let target = format!("localhost:{}", server.address().port());
    let call = lab.diagnose(target).args(["--resolve", "127.0.0.1", "--patience", "0s", "--rate", "500"]);
    let outcome = call.args(["--fail-if", "answers.differ > 99"]).run();
    let document: DiagnoseDocument = outcome.json();
    let [diagnosis] = <[Diagnosis; 1]>::try_from(document.targets).unwrap();
    (diagnosis, outcome)
}

/// The causes of the findings that are more than notes.
fn causes(diagnosis: &Diagnosis) -> Vec<(&str, Severity)> {
    let grave = diagnosis.findings.iter().filter(|finding| finding.severity != Severity::Note);
    grave.map(|finding| (finding.id.as_str(), finding.severity)).collect()
}

#[test]
fn answers_that_follow_the_kind_lead_the_page() {
    let cases: [(Answer, Severity, i32, &str); 4] = [
        (
            |it| response(if it.is_resumed { 421 } else { 200 }, "", 2),
            Severity::Fault,
            1,
            "Resumed connections are answered with HTTP status 421, full handshakes with HTTP status 200",
        ),
        (|it| response(if it.is_resumed { 503 } else { 200 }, "", 2), Severity::Fault, 1, "HTTP status 503"),
        (
            |it| {
                response(302, &format!("Location: /{}?n={}\r\n", if it.is_resumed { "login" } else { "home" }, it.place), 0)
            },
            Severity::Risk,
            0,
            "HTTP status 302 to /login, full handshakes with HTTP status 302 to /home",
        ),
        (|it| response(200, "", if it.is_resumed { 40 } else { 5_000 }), Severity::Risk, 0, "HTTP status 200 and 40 bytes"),
    ];
    for (answer, severity, code, title) in cases {
        let (diagnosis, outcome) = diagnosed(answer);
        assert_eq!(causes(&diagnosis), [("answers-differ", severity)], "{}", outcome.page);
        assert_eq!(outcome.code, code, "{}", outcome.page);
        assert!(diagnosis.verdict.contains(title), "{}", diagnosis.verdict);
        let figures = diagnosis.figures.join("\n");
        assert!(!figures.contains("Resuming by") && figures.contains("their times are not compared"), "{figures}");
    }
}

#[test]
fn answers_that_do_not_follow_the_kind_are_silent() {
    let silent: [Answer; 4] = [
        |it| response([200, 403][it.place % 2], "", 2),
        |it| response([200, 403][it.place.wrapping_mul(2_654_435_761) >> 9 & 1], "", 2),
        |it| response(200, "", 100 + it.place % 40 + usize::from(it.is_resumed) * 20),
        |it| response(302, &format!("Location: /{}\r\n", it.place), 0),
    ];
    for answer in silent {
        let (diagnosis, outcome) = diagnosed(answer);
        assert_eq!(diagnosis.answers_differ, [], "{}", outcome.page);
        assert!(causes(&diagnosis).iter().all(|(id, _)| *id != "answers-differ"), "{}", outcome.page);
    }
}

#[test]
fn measure_and_load_compare_no_times_of_different_answers() {
    let lab = Lab::new();
    let server = start(&lab, |it| response(if it.is_resumed { 496 } else { 200 }, "", 2));
    let target = format!("localhost:{}", server.address().port());
    let outcome = lab.measure(&target).args(["--resolve", "127.0.0.1", "--fail-if", "answers.differ > 0"]).count(20).run();
    let document: MeasureDocument = outcome.document();
    assert_eq!(outcome.code, 1, "{}", outcome.page);
    assert_eq!(document.findings[0].id, "answers-differ", "{}", outcome.page);
    assert!(document.findings.iter().all(|finding| finding.id != "error-responses"), "{}", outcome.page);
    assert!(document.ratios.is_empty() && !outcome.page.contains("less time"), "{}", outcome.page);
    let outcome = outcome.shows(&["their times are not compared", "met --fail-if 'answers.differ > 0'"]);
    drop(outcome);

    let flags = "--tls 1.3 --mix full=1,ticket=1 --count 200 --connections 2";
    let load = Reprise::load(format!("127.0.0.1:{}", server.address().port())).flags(flags);
    let outcome = load.args(["--fail-if", "ticket.answers.differ > 0"]).run();
    let document: LoadDocument = outcome.json();
    assert_eq!((outcome.code, document.answers_differ.len()), (1, 1), "{}", outcome.page);
    assert!(!outcome.page.contains("none failed"), "{}", outcome.page);
    outcome.shows(&["resumed connections are answered with HTTP status 496", "reprise explain answers-differ"]);
}

/// As where the client's certificate chain is longer than the server takes.
#[test]
fn a_version_that_fails_after_its_handshake_leads_the_page() {
    let answer: Answer = |it| if it.is_tls13 { None } else { response(200, "", 2) };
    let (diagnosis, outcome) = diagnosed(answer);
    assert_eq!(outcome.code, 1, "{}", outcome.page);
    let first = &diagnosis.findings[0];
    assert_eq!((first.id.as_str(), first.severity), ("version-fails", Severity::Fault), "{}", outcome.page);
    assert!(diagnosis.verdict.starts_with("Every TLS 1.3 connection fails after its handshake"), "{}", diagnosis.verdict);

    let lab = Lab::new();
    let server = start(&lab, answer);
    let target = format!("localhost:{}", server.address().port());
    let outcome = lab.measure(target).args(["--resolve", "127.0.0.1"]).count(3).run();
    assert_eq!(outcome.document().findings[0].id, "version-fails", "{}", outcome.page);
    assert_eq!(outcome.code, 1, "{}", outcome.page);
}
