//! Every protocol against every real server that speaks another: an error, soon, and of the dialogue.

use std::net::SocketAddr;

use reprise_lab::{Identity, KeyKind};
use reprise_model::FailureClass;
use reprise_servers::{
    Dovecot, Exim, EximConfig, LoginProcesses, MailAccess, MariaDb, MariaDbConfig, Nginx, NginxConfig, PartialWitness,
    Postgres, ProFtpd, ProFtpdConfig, Prosody, ProsodyConfig, RealServer, Slapd,
};

use reprise_harness::Lab;

const PROTOCOLS: [&str; 8] = ["smtp", "imap", "pop3", "ftp", "ldap", "postgres", "mysql", "xmpp"];

/// Of a server that speaks `spoken`, asked for every other. All at once: where each waits for the other to begin, there is
/// nothing but the timeout.
#[track_caller]
fn assert_mistaken(lab: &Lab, address: SocketAddr, spoken: &str) {
    let others = PROTOCOLS.into_iter().filter(|protocol| *protocol != spoken);
    let call = |asked| lab.measure(address).args(["--starttls", asked]).timeout("5s").count(1).start();
    let calls: Vec<_> = others.map(|asked| (asked, call(asked))).collect();
    for (asked, call) in calls {
        let outcome = call.finish().exits(3).says(&["reprise: "]);
        let document = outcome.document();
        let [failure] = &*document.failures else { panic!("{asked} to {spoken}: {:?}", document.failures) };
        assert_eq!(failure.class, FailureClass::Starttls, "{asked} to {spoken}: {failure:?}");
    }
}

fn identity(lab: &Lab) -> Identity {
    lab.identity(KeyKind::P256)
}

#[test]
fn a_mail_server() {
    reprise_servers::require!("exim4");
    let lab = Lab::new();
    assert_mistaken(&lab, Exim::start(EximConfig::new(identity(&lab))).unwrap().address(), "smtp");
}

#[test]
fn mail_access() {
    reprise_servers::require!("dovecot");
    let lab = Lab::new();
    for (access, spoken) in [(MailAccess::Imap, "imap"), (MailAccess::Pop3, "pop3")] {
        let server = Dovecot::start(&identity(&lab), access, LoginProcesses::Shared).unwrap();
        assert_mistaken(&lab, server.address(), spoken);
    }
}

#[test]
fn a_file_server() {
    reprise_servers::require!("proftpd");
    let lab = Lab::new();
    assert_mistaken(&lab, ProFtpd::start(ProFtpdConfig::new(identity(&lab))).unwrap().address(), "ftp");
}

#[test]
fn a_directory() {
    reprise_servers::require!("slapd");
    let lab = Lab::new();
    assert_mistaken(&lab, Slapd::start(Some(&identity(&lab))).unwrap().address(), "ldap");
}

#[test]
fn databases() {
    reprise_servers::require!("postgres", "mariadbd", "my_print_defaults");
    let lab = Lab::new();
    assert_mistaken(&lab, Postgres::start(Some(&identity(&lab))).unwrap().address(), "postgres");
    assert_mistaken(&lab, MariaDb::start(&MariaDbConfig::new(identity(&lab))).unwrap().address(), "mysql");
}

#[test]
fn a_server_of_messages() {
    reprise_servers::require!("prosody");
    let lab = Lab::new();
    assert_mistaken(&lab, Prosody::start(ProsodyConfig::new(identity(&lab))).unwrap().address(), "xmpp");
}

/// A port that begins with TLS.
#[test]
fn a_web_server() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    assert_mistaken(&lab, Nginx::start(NginxConfig::new(vec![identity(&lab)])).unwrap().address(), "https");
}
