//! FTP's data channel: servers that ask for the control connection's session there, and what is printed to change that.

use reprise_harness::Lab;
use reprise_lab::KeyKind;
use reprise_model::document::{Confidence, DiagnoseDocument, Diagnosis, Severity};
use reprise_servers::{FTP_USER, ProFtpd, ProFtpdConfig, RealServer, Vsftpd, require};

const CAUSE: &str = "data-channel-session";

/// What is said of this server, with these further flags and this password.
fn diagnosed(lab: &Lab, address: std::net::SocketAddr, flags: &[&str], password: &str) -> Diagnosis {
    let call = lab.diagnose(address).args(["--starttls", "ftp", "--rate", "1000", "--patience", "0s"]).args(flags);
    let document: DiagnoseDocument = call.env("REPRISE_FTP_PASSWORD", password).run().json();
    document.targets.into_iter().next().unwrap()
}

fn vsftpd(line: &str) -> Diagnosis {
    let lab = Lab::new();
    let server = Vsftpd::start(&lab.identity(KeyKind::P256), &[line.to_owned()]).unwrap();
    diagnosed(&lab, server.address(), &[], "")
}

fn proftpd(directives: &str, password: &str) -> Diagnosis {
    let lab = Lab::new();
    let config = ProFtpdConfig { directives: directives.to_owned(), ..ProFtpdConfig::new(lab.identity(KeyKind::P256)) };
    let server = ProFtpd::start(config).unwrap();
    diagnosed(&lab, server.address(), &["--tls", "1.3", "--ftp-user", FTP_USER[0]], password)
}

/// That the session is asked for on the data connection under so many versions, and the server's reply without it.
#[track_caller]
fn assert_required(diagnosis: &Diagnosis, versions: usize, reply: &str) {
    let found: Vec<_> = diagnosis.findings.iter().filter(|it| it.id == CAUSE).collect();
    let [finding] = *found else { panic!("{diagnosis:#?}") };
    assert_eq!((finding.severity, finding.confidence), (Severity::Note, Confidence::Certain));
    let of = |part: &str| finding.evidence.iter().filter(|line| line.contains(part)).count();
    assert_eq!(of("2 of 2 listings that offered the session (2 resumed it) were complete: 226"), versions, "{finding:#?}");
    assert_eq!(of("0 of 2 listings without the session were complete: "), versions, "{finding:#?}");
    assert_eq!(of(reply), versions, "{finding:#?}");
}

#[track_caller]
fn assert_open(diagnosis: &Diagnosis, listings: usize) {
    assert!(diagnosis.findings.iter().all(|it| it.id != CAUSE), "{diagnosis:#?}");
    let said = format!("{listings} of {listings} listings were complete that offered the control connection's session");
    assert!(diagnosis.figures.iter().any(|it| it.contains(&said)), "{:#?}\n{:#?}", diagnosis.figures, diagnosis.warnings);
}

#[test]
fn vsftpd_asks_for_the_session_on_the_data_channel() {
    require!("vsftpd");
    assert_required(&vsftpd("require_ssl_reuse=YES"), 2, "522 ");
}

/// What is printed to fix it.
#[test]
fn vsftpd_lets_data_through_where_it_is_told_to() {
    require!("vsftpd");
    assert_open(&vsftpd("require_ssl_reuse=NO"), 4);
}

#[test]
fn proftpd_asks_for_the_session_on_the_data_channel() {
    require!("proftpd");
    assert_required(&proftpd("", FTP_USER[1]), 1, "425 ");
}

/// What is printed to fix it.
#[test]
fn proftpd_lets_data_through_where_it_is_told_to() {
    require!("proftpd");
    assert_open(&proftpd("TLSOptions NoSessionReuseRequired", FTP_USER[1]), 2);
}

#[test]
fn who_is_not_let_in_is_told_what_was_not_tried() {
    require!("proftpd");
    let diagnosis = proftpd("", "wrong");
    let said = "FTP's data channel was not tried: lab is not let in (530 ";
    assert!(diagnosis.warnings.iter().any(|it| it.starts_with(said)), "{:#?}", diagnosis.warnings);
}
