//! `diagnose` finds nothing wrong with a server that keeps sessions and seals tickets: no fault, no risk.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::panic::resume_unwind;
use std::thread;

use reprise_lab::KeyKind;
use reprise_model::document::{DiagnoseDocument, Diagnosis, Severity};
use reprise_servers::{
    Dovecot, DovecotConfig, LoginProcesses, MailAccess, MariaDb, MariaDbConfig, NotRun, PartialWitness, Prosody,
    ProsodyConfig, RealServer, Stunnel, StunnelConfig, missing,
};

use super::subjects::{self, Subject};
use super::{Identity, is_installed};
use reprise_harness::{Lab, Reprise};

#[test]
fn a_healthy_server_has_no_fault_and_no_risk() {
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let mut subjects = subjects::all();
    subjects.retain(is_installed);
    thread::scope(|scope| {
        let (lab, identity) = (&lab, &identity);
        let diagnose = |subject| scope.spawn(move || diagnose_subject(lab, identity, subject));
        let under_way: Vec<_> = subjects.iter().map(diagnose).collect();
        under_way.into_iter().for_each(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
    });
}

#[test]
fn a_healthy_service_that_begins_in_the_clear_has_none_either() {
    let lab = Lab::new();
    let identity = lab.identity(KeyKind::P256);
    let diagnose = |name: &str, protocol: &str, address: SocketAddr| {
        assert_healthy(name, lab.diagnose(address).args(["--starttls", protocol]));
    };
    // Exim and ProFTPD give session IDs that their next process does not know: that is found, and rightly.
    if is_there(&["dovecot"]) {
        let server = Dovecot::start(DovecotConfig {
            identity: identity.clone(),
            access: MailAccess::Imap,
            processes: LoginProcesses::Shared,
        })
        .unwrap();
        diagnose("Dovecot", "imap", server.address());
    }
    if is_there(&["stunnel"]) {
        let server = Stunnel::start(StunnelConfig::new(identity.clone(), &["options = -NO_TICKET"]).unwrap()).unwrap();
        assert_healthy("stunnel", lab.diagnose(server.address()));
    }
    if is_there(&["prosodyctl", "prosody"]) {
        let config = ProsodyConfig { session_tickets: true, nagle: false, ..ProsodyConfig::new(identity.clone()) };
        let server = Prosody::start(config).unwrap();
        diagnose("Prosody", "xmpp", server.address());
    }
}

/// As it comes: its first answer waits behind the tickets of TLS 1.3 until the client acknowledges them. The remedy is how the one
/// above is set.
#[cfg(target_os = "linux")]
#[test]
fn prosody_holds_its_first_answer_back() {
    if !is_there(&["prosodyctl", "prosody"]) {
        return;
    }
    let lab = Lab::new();
    let config = ProsodyConfig { session_tickets: true, ..ProsodyConfig::new(lab.identity(KeyKind::P256)) };
    let server = Prosody::start(config).unwrap();
    let call = lab.diagnose(server.address()).args(["--starttls", "xmpp", "--rate", "500"]);
    let document: DiagnoseDocument = call.run().exits(0).json();
    let wrong: Vec<_> = document.targets[0].findings.iter().filter(|it| it.severity != Severity::Note).collect();
    assert_eq!(wrong.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["nagle"], "{wrong:?}");
    let remedies: Vec<&str> = wrong[0].remedies.iter().map(|it| it.text.as_str()).collect();
    assert!(remedies.contains(&"network_settings = { nagle = false }"), "{remedies:?}");
}

/// As it comes: OpenSSL takes a session out of its cache when the connection ends without close_notify.
#[test]
fn mariadb_forgets_sessions_of_unclean_ends() {
    if !is_there(&["mariadbd", "my_print_defaults"]) {
        return;
    }
    let lab = Lab::new();
    let server = MariaDb::start(MariaDbConfig::new(lab.identity(KeyKind::P256))).unwrap();
    let call = lab.diagnose(server.address()).args(["--starttls", "mysql", "--tls", "1.2", "--rate", "500"]);
    let outcome = call.run().exits(0);
    let document: DiagnoseDocument = outcome.json();
    // Whether resuming saves much of a whole request depends on the machine.
    let found = document.targets[0].findings.iter().map(|finding| finding.id.as_str()).filter(|id| *id != "little-to-save");
    assert_eq!(found.collect::<Vec<_>>(), ["unclean-close-evicts"], "{outcome:?}");
}

fn is_there(programs: &[&str]) -> bool {
    let not_run = programs.iter().find_map(|program| missing(program));
    not_run.iter().for_each(NotRun::announce);
    not_run.is_none()
}

fn diagnose_subject(lab: &Lab, identity: &Identity, subject: &Subject) {
    let Some(setting) = subject.settings.last() else { return };
    let server = (setting.start)(identity);
    assert_healthy(subject.name, lab.diagnose(server.address()));
}

fn assert_healthy(name: &str, call: Reprise) {
    let outcome = call.args(["--rate", "500"]).run().exits(0);
    let document: DiagnoseDocument = outcome.json();
    let diagnosis = &document.targets[0];
    let Diagnosis { verdict, connections, seconds, warnings, .. } = diagnosis;
    let _ = writeln!(io::stderr(), "{name}: {verdict} ({connections} in {seconds:.1} s) {}", warnings.join("; "));
    let wrong = diagnosis.findings.iter().filter(|finding| finding.severity != Severity::Note);
    assert_eq!(wrong.collect::<Vec<_>>(), Vec::<&_>::new(), "{name}: {:#?}", diagnosis.experiments);
    assert!(diagnosis.reached && diagnosis.verdict.starts_with("It resumes"), "{name}: {diagnosis:?}");
    assert!((70..=200).contains(connections) && warnings.is_empty(), "{name}: {connections} {warnings:?}");
}
