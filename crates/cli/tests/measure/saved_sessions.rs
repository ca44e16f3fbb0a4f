//! Sessions from one process to the next: `--session-out` and `--session-in`.

use std::fs;
use std::path::Path;

use reprise_lab::{KeyKind, Resumption};
use reprise_model::document::MeasureDocument;
use reprise_model::{Kind, Version};
use reprise_servers::{Nginx, NginxConfig, RealServer, SessionCache};

use reprise_harness::{DEADLINE, Lab, Reprise, assert_agree};

fn nginx(lab: &Lab, session_tickets: bool) -> Nginx {
    let session_cache = SessionCache::Shared("1m".to_owned());
    let identities = vec![lab.identity(KeyKind::P256)];
    Nginx::start(NginxConfig { session_tickets, session_cache, early_data: true, ..NginxConfig::new(identities) }).unwrap()
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

/// A process that leaves sessions behind, and one whose only connection offers them.
fn first_of_a_new_process(lab: &Lab, server: &Nginx, tls: &str, kind: Kind) -> [MeasureDocument; 2] {
    let file = lab.path("sessions");
    let measure = |kind: Kind| lab.measure(server.address()).args(["--tls", tls, "--kinds", kind.name(), "-n"]);
    // An nginx that answers early data sends no ticket before the client has closed.
    let first = if kind == Kind::Early { Kind::Ticket } else { kind };
    let before = measure(first).args(["2", "--session-out"]).arg(&file).run().exits(0);
    let after = measure(kind).args(["1", "--session-in"]).arg(&file).run().exits(0).silently();
    let age = "offered a TLS ".to_owned() + tls + " session that was";
    let [before, after] = [before, after.shows(&[&age])].map(|outcome| outcome.document());
    [before, after]
}

#[test]
fn a_new_processs_first_connection_is_resumed() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    for (tickets, tls, kind) in
        [(true, "1.3", Kind::Ticket), (true, "1.2", Kind::Ticket), (false, "1.2", Kind::Id), (true, "1.3", Kind::Early)]
    {
        let mut server = nginx(&lab, tickets);
        let [before, after] = first_of_a_new_process(&lab, &server, tls, kind);
        assert_eq!(only_sample(&after), kind, "{kind} under {tls}");
        let mut both = before;
        both.samples.extend(after.samples);
        for (all, more) in [
            (&mut both.all_connections.full, after.all_connections.full),
            (&mut both.all_connections.id, after.all_connections.id),
            (&mut both.all_connections.ticket, after.all_connections.ticket),
            (&mut both.all_connections.early, after.all_connections.early),
        ] {
            *all += more;
        }
        let accounts = server.accounts_when(accounts_expected(&both), DEADLINE).unwrap();
        assert_agree(&both, &accounts, "both processes");
    }
}

fn accounts_expected(document: &MeasureDocument) -> usize {
    let all = document.all_connections;
    usize::try_from(all.full + all.id + all.ticket + all.early).unwrap()
}

#[test]
fn a_ticket_is_used_once_and_then_gone_from_the_file() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let file = lab.path("sessions");
    lab.measure(server.address())
        .args(["-n", "1", "--kinds", "full", "--tls", "1.3", "--session-out"])
        .arg(&file)
        .run()
        .exits(0);
    let measure = || lab.measure(server.address()).args(["-n", "1", "--kinds", "ticket", "--session-in"]).arg(&file).run();
    let mut size = fs::metadata(&file).unwrap().len();
    let mut used = 0;
    // rustls gives two tickets with each full handshake: those of discovery and of the sample.
    while used < 10 {
        let outcome = measure();
        if outcome.code == 2 {
            outcome.says(&["no unused session left", "--session-out saves new ones"]);
            break;
        }
        assert_eq!(only_sample(&outcome.exits(0).document()), Kind::Ticket);
        let smaller = fs::metadata(&file).unwrap().len();
        assert!(smaller < size, "a ticket was used and is still there");
        (size, used) = (smaller, used + 1);
    }
    assert!((2..10).contains(&used), "{used}");
}

#[test]
fn in_and_out_may_be_one_file_and_the_chain_goes_on() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let file = lab.path("sessions");
    let measure = || lab.measure(server.address()).args(["-n", "1", "--kinds", "ticket", "--tls", "1.3"]);
    measure().arg("--session-out").arg(&file).run().exits(0);
    for _ in 0..3 {
        let outcome = measure().arg("--session-in").arg(&file).arg("--session-out").arg(&file).run().exits(0);
        assert_eq!(only_sample(&outcome.document()), Kind::Ticket);
    }
}

#[test]
fn the_version_and_the_kinds_are_those_of_the_file() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Id);
    let file = lab.path("sessions");
    lab.measure(server.address()).args(["-n", "1", "--tls", "1.2", "--session-out"]).arg(&file).run().exits(0);
    let outcome = lab.measure(server.address()).args(["-n", "2", "--session-in"]).arg(&file).run().exits(0);
    let runs: Vec<_> = outcome.document().runs.iter().map(|run| (run.asked.tls, run.asked.kind, run.n)).collect();
    assert_eq!(runs, [(Version::Tls12, Kind::Full, 2), (Version::Tls12, Kind::Id, 2)]);
    let first = outcome.document().first_connection.unwrap();
    assert_eq!((first.asked.kind, first.kind), (Kind::Id, Kind::Id));
}

#[test]
fn a_sealed_file_takes_its_passphrase_and_shows_nothing() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let (file, right, wrong) = (lab.path("sealed"), lab.file("right", "correct horse\n"), lab.file("wrong", "battery\n"));
    let measure = |flag: &str, passphrase: Option<&Path>| {
        let call = lab.measure(server.address()).args(["-n", "1", "--kinds", "ticket", "--tls", "1.3", flag]).arg(&file);
        match passphrase {
            Some(path) => call.arg("--session-passphrase-file").arg(path).run(),
            None => call.run(),
        }
    };
    measure("--session-out", Some(&right)).exits(0);
    let bytes = fs::read(&file).unwrap();
    assert!(!bytes.windows(9).any(|window| window == b"127.0.0.1"));
    measure("--session-in", Some(&wrong)).exits(2).says(&["the passphrase is wrong"]);
    measure("--session-in", None).exits(2).says(&["sealed", "--session-passphrase-file"]);
    measure("--session-in", Some(&lab.file("empty", "\n"))).exits(2).says(&["the passphrase is empty"]);
    measure("--session-in", Some(&lab.path("none"))).exits(2).says(&["none"]);
    assert_eq!(fs::read(&file).unwrap(), bytes, "what was refused changes nothing");

    fs::write(&file, &bytes[..bytes.len() - 1]).unwrap();
    measure("--session-in", Some(&right)).exits(2).says(&["damaged"]);
    fs::write(&file, &bytes).unwrap();
    assert_eq!(only_sample(&measure("--session-in", Some(&right)).exits(0).document()), Kind::Ticket);
}

#[test]
fn sessions_are_offered_only_to_their_own_server() {
    let lab = Lab::new();
    let [one, other] = [(); 2].map(|()| lab.server(Resumption::Ticket));
    let file = lab.path("sessions");
    lab.measure(one.address()).args(["-n", "1", "--session-out"]).arg(&file).run().exits(0);
    let elsewhere = lab.measure(other.address()).arg("--session-in").arg(&file).run().exits(2);
    elsewhere.says(&[&format!("belong to {} and are not offered to {}", one.address(), other.address())]);
    let renamed = lab.measure(one.address()).args(["--sni", "localhost", "--session-in"]).arg(&file).run();
    renamed.exits(2).says(&["are not offered to localhost:"]);

    let insecure = |call: Reprise| call.args(["-n", "1", "--tls", "1.3"]);
    insecure(Reprise::measure(one.address()).arg("--insecure")).arg("--session-out").arg(&file).run().exits(0);
    let verifying = insecure(lab.measure(one.address())).arg("--session-in").arg(&file).run().exits(2);
    verifying.says(&["made with --insecure", "was not verified"]);
    insecure(Reprise::measure(one.address()).arg("--insecure")).arg("--session-in").arg(&file).run().exits(0);
}

#[cfg(unix)]
#[test]
fn a_file_is_private_and_one_that_is_not_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let file = lab.path("sessions");
    lab.measure(server.address()).args(["-n", "1", "--session-out"]).arg(&file).run().exits(0);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o604)).unwrap();
    let outcome = lab.measure(server.address()).arg("--session-in").arg(&file).run();
    outcome.exits(2).says(&["other users can read", "mode 604", "chmod 600"]);
}

#[test]
fn a_server_that_gives_nothing_leaves_nothing() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Off);
    let file = lab.path("sessions");
    let outcome = lab.measure(server.address()).args(["-n", "1", "--tls", "1.3", "--session-out"]).arg(&file).run().exits(0);
    outcome.says(&["the server issued no session"]);
    lab.measure(server.address()).arg("--session-in").arg(&file).run().exits(2).says(&["no unused session left"]);
}

#[test]
fn flags_that_make_no_sense_and_files_that_are_none() {
    let lab = Lab::new();
    let target = "127.0.0.1:1";
    let refused = |arguments: &[&str], words: &[&str]| {
        lab.measure(target).args(arguments).run().exits(2).says(words);
    };
    refused(&["--session-in", "no-such-file"], &["cannot read the sessions in no-such-file"]);
    refused(&["--session-out", "no-such-folder/file"], &["cannot write sessions to no-such-folder/file"]);
    refused(&["--session-passphrase-file", "a"], &["--session-in or --session-out"]);
    let other = lab.file("other", "-----BEGIN CERTIFICATE-----");
    refused(&["--session-in", other.to_str().unwrap()], &["not a session file"]);
    Reprise::new(["measure", "--session-out", "a"]).run().exits(2).says(&["need a target"]);

    let server = lab.server(Resumption::Ticket);
    let file = lab.path("sessions");
    lab.measure(server.address()).args(["-n", "1", "--tls", "1.3", "--session-out"]).arg(&file).run().exits(0);
    let with_file = |arguments: &[&str], words: &[&str]| {
        let call = lab.measure(server.address()).arg("--session-in").arg(&file);
        call.args(arguments).run().exits(2).says(words);
    };
    with_file(&["--tls", "1.2"], &["no session of the version in --tls"]);
    with_file(&["--kinds", "full"], &["needs a kind that resumes"]);
}

/// A session is offered with its suite, and early data goes by its ticket's protocol: what leaves these out leaves it out.
#[test]
fn a_session_excluded_by_flags_is_neither_offered_nor_lost() {
    let lab = Lab::new();
    let server = lab.server_with(|config| {
        config.resumption = Resumption::Id;
        config.max_early_data = 4096;
        config.alpn = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    });
    let file = lab.path("sessions");
    let call = |arguments: &[&str]| lab.measure(server.address()).args(["-n", "1"]).args(arguments);
    call(&["--tls", "1.3", "--kinds", "full", "--session-out"]).arg(&file).run().exits(0);
    let (kept, connections) = (fs::read(&file).unwrap(), server.completed());
    let refused = |arguments: &[&str]| call(arguments).arg("--session-in").arg(&file).run().exits(2);
    refused(&["--ciphers", "TLS_CHACHA20_POLY1305_SHA256"]).says(&["has a session of TLS_AES", "which is not in --ciphers"]);
    refused(&["--kinds", "early", "--alpn", "h2"]).says(&["early data uses http/1.1", "add --alpn http/1.1"]);
    assert_eq!((fs::read(&file).unwrap(), server.completed()), (kept, connections));
}
