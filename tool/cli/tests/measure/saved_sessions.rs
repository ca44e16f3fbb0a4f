//! Sessions from one process to the next: `--session-out` and `--session-in`.

use std::fs;
use std::path::{Path, PathBuf};

use reprise_lab::{EmbeddedConfig, EmbeddedResumption, EmbeddedServer, KeyKind};
use reprise_model::document::MeasureDocument;
use reprise_model::{Kind, Version};
use reprise_servers::{Nginx, NginxConfig, RealServer, SessionCache};

use reprise_harness::{DEADLINE, Lab, Outcome, Reprise, assert_agree};

/// A server, and a file for its sessions.
struct Saved {
    lab: Lab,
    server: EmbeddedServer,
    file: PathBuf,
}

impl Saved {
    fn of(change: impl FnOnce(&mut EmbeddedConfig)) -> Self {
        let lab = Lab::new();
        let server = lab.server_with(change);
        let file = lab.path("sessions");
        Self { lab, server, file }
    }

    fn by(resumption: EmbeddedResumption) -> Self {
        Self::of(|config| config.resumption = resumption)
    }

    fn call(&self, flags: &str) -> Reprise {
        self.lab.measure(self.server.address()).flags(flags)
    }

    /// Measures a little, and leaves sessions in the file.
    #[track_caller]
    fn leave(&self, flags: &str) -> Outcome {
        self.call(flags).args(["-n", "1", "--session-out"]).arg(&self.file).run().exits(0)
    }

    /// Measures with the sessions of the file.
    fn offer(&self, flags: &str) -> Outcome {
        self.call(flags).arg("--session-in").arg(&self.file).run()
    }
}

fn only_sample(document: &MeasureDocument) -> Kind {
    let [sample] = document.samples.as_slice() else { panic!("{:?}", document.samples) };
    assert_eq!(document.all_connections.full + document.all_connections.failed, 0, "no discovery and no priming");
    assert_eq!(
        document.first_connection.map(|first| (first.local_port, first.kind)),
        Some((sample.local_port, sample.kind))
    );
    sample.kind
}

#[test]
fn a_new_processs_first_connection_is_resumed() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let file = lab.path("sessions");
    for (session_tickets, tls, kind) in
        [(true, "1.3", Kind::Ticket), (true, "1.2", Kind::Ticket), (false, "1.2", Kind::Id), (true, "1.3", Kind::Early)]
    {
        let session_cache = SessionCache::Shared("1m".to_owned());
        let config = NginxConfig::new(vec![lab.identity(KeyKind::P256)]);
        let mut server = Nginx::start(NginxConfig { session_tickets, session_cache, early_data: true, ..config }).unwrap();
        let measure = |kind: Kind| lab.measure(server.address()).args(["--tls", tls, "--kinds", kind.name(), "-n"]);
        // An nginx that answers early data sends no ticket before the client has closed.
        let first = if kind == Kind::Early { Kind::Ticket } else { kind };
        let mut both = measure(first).args(["2", "--session-out"]).arg(&file).run().exits(0).document();
        let after = measure(kind).args(["1", "--session-in"]).arg(&file).run().exits(0).silently();
        let after = after.shows(&[&format!("offered a TLS {tls} session that was")]).document();
        assert_eq!(only_sample(&after), kind, "{kind} under {tls}");
        both.samples.extend(after.samples);
        let (all, more) = (&mut both.all_connections, after.all_connections);
        all.full += more.full;
        all.id += more.id;
        all.ticket += more.ticket;
        all.early += more.early;
        let made = usize::try_from(all.full + all.id + all.ticket + all.early).unwrap();
        assert_agree(&both, &server.accounts_when(made, DEADLINE).unwrap(), "both processes");
    }
}

/// nginx makes the context of sessions from its certificates: the same ticket key does not help.
#[test]
fn a_renewed_certificate_is_told_from_resumption_that_is_off() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let file = lab.path("sessions");
    let serve = |key, port| {
        let config = NginxConfig::new(vec![lab.identity(key)]);
        let http_directives = "ssl_session_ticket_key ticket.key;".to_owned();
        Nginx::start(NginxConfig { http_directives, files: vec![("ticket.key", vec![7; 80])], port, ..config }).unwrap()
    };
    let server = serve(KeyKind::P256, None);
    let address = server.address();
    let call = || lab.measure(address).flags("--tls 1.3 --kinds ticket -n 3");
    call().arg("--session-out").arg(&file).run().exits(0);
    drop(server);
    let _renewed = serve(KeyKind::P384, Some(address.port()));
    let document = call().arg("--session-in").arg(&file).run().document();
    let found: Vec<&str> = document.findings.iter().map(|finding| finding.id.as_str()).collect();
    assert_eq!(found.first(), Some(&"certificate-renewed"), "{found:?}");
    assert!(!found.iter().any(|id| ["not-offered", "lifetime-short", "hidden-nodes"].contains(id)), "{found:?}");
    let evidence = document.findings[0].evidence.join("\n");
    assert!(evidence.contains("The ticket key is the same as before"), "{evidence}");
}

#[test]
fn a_ticket_is_used_once_and_then_gone_from_the_file() {
    let saved = Saved::by(EmbeddedResumption::Ticket);
    saved.leave("--kinds full --tls 1.3");
    let mut size = fs::metadata(&saved.file).unwrap().len();
    let mut used = 0;
    // rustls gives two tickets with each full handshake: those of discovery and of the sample.
    while used < 10 {
        let outcome = saved.offer("-n 1 --kinds ticket");
        if outcome.code == 2 {
            outcome.says(&["no unused session left", "--session-out saves new ones"]);
            break;
        }
        assert_eq!(only_sample(&outcome.exits(0).document()), Kind::Ticket);
        let smaller = fs::metadata(&saved.file).unwrap().len();
        assert!(smaller < size, "a ticket was used and is still there");
        (size, used) = (smaller, used + 1);
    }
    assert!((2..10).contains(&used), "{used}");
    // In and out may be one file, and the chain goes on.
    saved.leave("--kinds ticket --tls 1.3");
    for _ in 0..3 {
        let chained = saved.call("-n 1 --kinds ticket --tls 1.3 --session-out").arg(&saved.file);
        let outcome = chained.arg("--session-in").arg(&saved.file).run().exits(0);
        assert_eq!(only_sample(&outcome.document()), Kind::Ticket);
    }
}

#[test]
fn the_version_and_the_kinds_are_those_of_the_file() {
    let saved = Saved::by(EmbeddedResumption::Id);
    saved.leave("--tls 1.2");
    let document = saved.offer("-n 2").exits(0).document();
    let runs: Vec<_> = document.runs.iter().map(|run| (run.asked.tls, run.asked.kind, run.n)).collect();
    assert_eq!(runs, [(Version::Tls12, Kind::Full, 2), (Version::Tls12, Kind::Id, 2)]);
    let first = document.first_connection.unwrap();
    assert_eq!((first.asked.kind, first.kind), (Kind::Id, Kind::Id));
}

#[test]
fn a_sealed_file_takes_its_passphrase_and_shows_nothing() {
    let saved = Saved::by(EmbeddedResumption::Ticket);
    let lab = &saved.lab;
    let right = lab.file("right", "correct horse\n");
    let with = |flag: &str, passphrase: &Path| {
        let call = saved.call("-n 1 --kinds ticket --tls 1.3").arg(flag).arg(&saved.file);
        call.arg("--session-passphrase-file").arg(passphrase).run()
    };
    with("--session-out", &right).exits(0);
    let bytes = fs::read(&saved.file).unwrap();
    assert!(!bytes.windows(9).any(|window| window == b"127.0.0.1"));
    with("--session-in", &lab.file("wrong", "battery\n")).exits(2).says(&["the passphrase is wrong"]);
    with("--session-in", &lab.file("empty", "\n")).exits(2).says(&["the passphrase is empty"]);
    with("--session-in", &lab.path("none")).exits(2).says(&["none"]);
    saved
        .offer("-n 1 --kinds ticket --tls 1.3")
        .exits(2)
        .says(&["are encrypted and need a passphrase", "--session-passphrase-file"]);
    assert_eq!(fs::read(&saved.file).unwrap(), bytes, "what was refused changes nothing");

    fs::write(&saved.file, &bytes[..bytes.len() - 1]).unwrap();
    with("--session-in", &right).exits(2).says(&["damaged"]);
    fs::write(&saved.file, &bytes).unwrap();
    assert_eq!(only_sample(&with("--session-in", &right).exits(0).document()), Kind::Ticket);
}

#[test]
fn sessions_are_offered_only_to_their_own_server() {
    let saved = Saved::by(EmbeddedResumption::Ticket);
    let (one, other) = (saved.server.address(), saved.lab.server(EmbeddedResumption::Ticket));
    saved.leave("");
    let elsewhere = saved.lab.measure(other.address()).arg("--session-in").arg(&saved.file).run().exits(2);
    elsewhere.says(&[&format!("belong to {one} and are not offered to {}", other.address())]);
    saved.offer("--sni localhost").exits(2).says(&["are not offered to localhost:"]);

    let insecure = |flag: &str| Reprise::measure(one).flags("-k -n 1 --tls 1.3").arg(flag).arg(&saved.file).run();
    insecure("--session-out").exits(0);
    saved.offer("-n 1 --tls 1.3").exits(2).says(&["made with --insecure", "was not verified"]);
    insecure("--session-in").exits(0);
}

#[cfg(unix)]
#[test]
fn a_file_is_private_and_one_that_is_not_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let saved = Saved::by(EmbeddedResumption::Ticket);
    saved.leave("");
    assert_eq!(fs::metadata(&saved.file).unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(&saved.file, fs::Permissions::from_mode(0o604)).unwrap();
    saved.offer("").exits(2).says(&["other users can read", "mode 604", "chmod 600"]);
}

#[test]
fn a_file_that_leaves_nothing_to_offer_is_refused() {
    let none = Saved::by(EmbeddedResumption::Off);
    none.leave("--tls 1.3").says(&["the server issued no session"]);
    none.offer("").exits(2).says(&["no unused session left"]);
    let saved = Saved::by(EmbeddedResumption::Ticket);
    fs::write(&saved.file, "-----BEGIN CERTIFICATE-----").unwrap();
    saved.offer("").exits(2).says(&["not a session file"]);
    fs::remove_file(&saved.file).unwrap();
    saved.leave("--tls 1.3");
    saved.offer("--tls 1.2").exits(2).says(&["no session of the version in --tls"]);
    saved.offer("--kinds full").exits(2).says(&["needs a kind that resumes"]);
}

/// A session is offered with its suite, and early data goes by its ticket's protocol: what leaves these out leaves it out.
#[test]
fn a_session_excluded_by_flags_is_neither_offered_nor_lost() {
    let saved = Saved::of(|config| {
        (config.resumption, config.max_early_data) = (EmbeddedResumption::Id, 4096);
        config.alpn = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    });
    saved.leave("--tls 1.3 --kinds full");
    let (kept, connections) = (fs::read(&saved.file).unwrap(), saved.server.completed());
    let by_suite = saved.offer("--ciphers TLS_CHACHA20_POLY1305_SHA256").exits(2);
    by_suite.says(&["has a session of TLS_AES", "which is not in --ciphers"]);
    let by_protocol = saved.offer("--kinds early --alpn h2").exits(2);
    by_protocol.says(&["early data uses http/1.1", "add --alpn http/1.1"]);
    assert_eq!((fs::read(&saved.file).unwrap(), saved.server.completed()), (kept, connections));
}
