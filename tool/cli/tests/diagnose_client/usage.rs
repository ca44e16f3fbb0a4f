//! Flags, clients that cannot be judged, and what ends a run.

use reprise_lab::{Authority, KeyKind, ServerSpec};
use reprise_model::document::Subject;

use crate::diagnose_client::diagnosis;
use reprise_harness::Reprise;

fn listening(arguments: &[&str]) -> Reprise {
    Reprise::new(["diagnose", "--listen", "0"].iter().chain(arguments))
}

#[test]
fn a_command_that_never_connects_is_not_reached() {
    let outcome = listening(&["--json", "-", "--", "true"]).run().exits(3).says(&["no client connected to 127.0.0.1:"]);
    let diagnosis = diagnosis(&outcome);
    assert!(!diagnosis.reached && diagnosis.subject == Subject::Client);
    assert_eq!(diagnosis.failure.unwrap().name, "no_connection");
}

#[test]
fn a_client_that_refuses_the_certificate_is_told_of_the_ca() {
    reprise_servers::require!("curl");
    let curl = ["--", "curl", "-s", "--cacert", "/etc/ssl/certs/ca-certificates.crt", "{url}"];
    let outcome = listening(&curl).run().exits(3).says(&["CA file to trust:", "make it trust the CA file"]);
    outcome.shows(&["The client refuses the server's certificate", "unknown_ca"]);
}

#[test]
fn one_kept_connection_is_healthy_and_not_judged() {
    reprise_servers::require!("curl");
    let outcome = listening(&["--", "curl", "-s", "{url}", "{url}"]).run().exits(0);
    outcome.shows(&["No verdict: the client made one connection", "It served 2 requests: keep-alive"]);
}

/// Under TLS 1.2 curl asks for no tickets, and the ID of a session is in no extension.
#[test]
fn curl_has_two_ja4_where_it_resumes_and_one_stable_form() {
    reprise_servers::require!("curl");
    for (flags, differs) in [(&["--tlsv1.3"][..], true), (&["--tlsv1.2", "--tls-max", "1.2"], false)] {
        let curl =
            [&["--json", "-", "--", "curl", "-s", "-H", "Connection: close"], flags, &["{url}", "{url}", "{url}"]].concat();
        let outcome = listening(&curl).run().exits(0);
        let diagnosis = diagnosis(&outcome);
        let [of_curl] = diagnosis.fingerprints.as_slice() else { panic!("{:#?}", diagnosis.fingerprints) };
        let ([new], [resuming]) = (of_curl.ja4_without_session.as_slice(), of_curl.ja4_with_session.as_slice()) else {
            panic!("{of_curl:#?}")
        };
        assert_eq!((of_curl.connections, new != resuming), (3, differs), "{of_curl:#?}");
        // The suites are the same in all three; session_ticket is there under TLS 1.3 alone, and in no stable form.
        let suites = |ja4: &str| ja4.split('_').nth(1).map(str::to_owned);
        assert!(suites(new) == suites(resuming) && suites(new) == suites(&of_curl.stable), "{of_curl:#?}");
        assert_eq!(*new != of_curl.stable, differs, "{of_curl:#?}");
    }
    let page = listening(&["--", "curl", "-s", "--tlsv1.3", "-H", "Connection: close", "{url}", "{url}", "{url}"]).run();
    page.exits(0).shows(&["with a session; stable form t13d", "JA4: a rule that knows this client by its first connection"]);
}

/// It waits, and closes its socket with tickets and response in it: whether it would offer a session that it has read is not known.
#[test]
fn a_client_that_leaves_its_response_unread_is_not_judged() {
    reprise_servers::require!("python3");
    let judged = |then: &str| {
        let script = format!(
            "
import socket, ssl, time
context = ssl.create_default_context()
for _ in range(4):
    it = context.wrap_socket(socket.create_connection(('localhost', {{port}})), server_hostname='localhost')
    it.sendall(b'GET / HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n')
    {then}
    it.close()
"
        );
        diagnosis(&listening(&["--json", "-", "--", "python3", "-c", &script]).run())
    };
    let unread = judged("time.sleep(0.1)");
    assert!(unread.verdict.starts_with("No verdict") && unread.findings.is_empty(), "{unread:#?}");
    assert!(
        unread.warnings.iter().any(|it| it.starts_with("The client left 4 of 4 connections with the response")),
        "{unread:#?}"
    );
    let read = judged("while it.recv(4096): pass");
    assert!(read.findings.iter().any(|it| it.id == "client-never-offers"), "{read:#?}");
}

/// It speaks HTTP/1.0, and waits for the end of each connection that it is not told is kept.
#[test]
fn ab_keeps_its_connection() {
    reprise_servers::require!("ab");
    let outcome = listening(&["--", "ab", "-k", "-n", "5", "{url}"]).run().exits(0);
    outcome.shows(&["It served 5 requests: keep-alive"]);
}

#[test]
fn a_certificate_of_ones_own_is_served() {
    reprise_servers::require!("curl");
    let directory = tempfile::tempdir().unwrap();
    let authority = Authority::new().unwrap();
    let spec = ServerSpec { names: vec!["own.test".to_owned()], ..ServerSpec::new(KeyKind::Rsa2048) };
    let files = authority.server(&spec).unwrap().write_pem(directory.path(), "own").unwrap();
    let ca = directory.path().join("ca.pem");
    std::fs::write(&ca, authority.pem()).unwrap();
    let (certificate, key) = (files.certificate.to_str().unwrap(), files.key.to_str().unwrap());
    let curl = "curl -s -H 'Connection: close' --cacert $0 --connect-to own.test:443:{ip}:{port} https://own.test/ \
                https://own.test/ https://own.test/";
    let outcome =
        listening(&["--cert", certificate, "--key", key, "--json", "-", "--", "sh", "-c", curl]).arg(&ca).run().exits(0);
    let diagnosis = diagnosis(&outcome);
    assert!(diagnosis.verdict.starts_with("It resumes"), "{}", diagnosis.verdict);
    assert!(!outcome.stderr.contains("CA file"), "{}", outcome.stderr);
}

#[test]
fn a_command_that_hangs_is_ended() {
    let outcome = listening(&["--for", "300ms", "--", "sleep", "3600"]).run().exits(3);
    outcome.shows(&["was still running", "No client connected"]);
}

#[test]
fn without_a_command_the_time_ends_it() {
    listening(&["--for", "200ms"]).run().exits(3).shows(&["No client connected to 127.0.0.1:"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_was_watched() {
    let directory = tempfile::tempdir().unwrap();
    let connected = directory.path().join("connected");
    let script = format!("curl -s {{url}}; touch {}; sleep 3600", connected.to_str().unwrap());
    reprise_servers::require!("curl");
    let running = listening(&["--", "sh", "-c", &script]).start();
    reprise_harness::wait_until("curl has connected", || connected.exists());
    running.interrupt();
    running.finish().exits(130).shows(&["No verdict: the client made one connection", "interrupted"]);
}
