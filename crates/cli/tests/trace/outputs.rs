//! Where a trace goes: its document, its pages, its capture.

use std::fs;

use reprise_lab::Resumption;

use crate::traced::trace;
use reprise_harness::{Lab, Reprise};

#[test]
fn on_a_terminal_what_was_skipped_is_struck_through() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let call = || lab.trace(server.address());
    let coloured = call().env("CLICOLOR_FORCE", "1").run().exits(0).page;
    assert!(coloured.contains("\u{1b}[2m\u{1b}[9m⇐ Certificate\u{1b}[0m"), "{coloured:?}");
    let plain = call().env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").run().exits(0).page;
    assert!(!plain.contains('\u{1b}') && plain.contains("skipped  ⇐ Certificate"));
}

#[test]
fn markdown_says_what_was_skipped_and_csv_has_each_message() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let call = |format| lab.trace(server.address()).args([format, "-"]).run().exits(0).page;
    let markdown = call("--markdown");
    assert!(markdown.starts_with("# https://") && markdown.contains("| skipped |  | ⇐ Certificate |"), "{markdown}");
    let csv = call("--csv");
    assert!(csv.starts_with(
        "tls,connection,kind,at_ns,direction,message,size,encrypted,skipped\n1.3,first,full,0,sent,ClientHello,"
    ));
    assert_eq!(csv.lines().filter(|line| line.ends_with(",true")).count(), 2, "{csv}");
}

#[test]
fn a_capture_holds_secrets_and_is_readable_for_its_owner_alone() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let pcap = lab.path("trace.pcapng");
    let (outcome, _) = trace(&lab, server.address(), &["--pcap", pcap.to_str().unwrap()]);
    let outcome = outcome.exits(0);
    let bytes = fs::read(&pcap).unwrap();
    assert!(bytes.windows(24).any(|window| window == b"CLIENT_TRAFFIC_SECRET_0 "));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&pcap).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert!(!outcome.json.unwrap().contains("SECRET"), "documents hold none");
}

#[test]
fn a_key_log_of_the_users_own_is_still_written() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let log = lab.path("keys.log");
    lab.trace(server.address()).env("SSLKEYLOGFILE", &log).run().exits(0);
    let secrets = fs::read_to_string(&log).unwrap();
    assert_eq!(secrets.lines().filter(|line| line.starts_with("CLIENT_TRAFFIC_SECRET_0 ")).count(), 2);
}

#[test]
fn the_capture_and_a_document_cannot_share_a_file() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let shared = lab.path("both");
    let call = lab.trace(server.address()).arg("--json").arg(&shared).arg("--pcap").arg(&shared);
    call.run().exits(2).says(&["--json and --pcap name the same file"]);
    assert_eq!(server.completed(), 0);
}

#[cfg(unix)]
#[test]
fn a_full_disk_under_a_document_costs_no_capture() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let document = lab.path("trace.json");
    let target = server.address().to_string();
    let arguments = ["trace", &target, "--insecure", "--pcap", "-", "--json", document.to_str().unwrap()];
    let outcome = Reprise::on_a_full_disk(arguments).run().exits(2).says(&["cannot write", "trace.json"]);
    assert!(outcome.page.len() > 1000 && !document.exists());
}

/// A terminal that scrolls away is no place for secrets, nor for bytes that are no text.
#[cfg(target_os = "linux")]
#[test]
fn no_capture_goes_to_a_terminal() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let user = ptsname(&terminal, Vec::new()).unwrap();
    let user = fs::OpenOptions::new().write(true).open(user.to_str().unwrap()).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_reprise"));
    command.args(["trace", &server.address().to_string(), "--insecure", "--pcap", "-"]);
    let ended = command.stdout(user).stderr(std::process::Stdio::piped()).output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("write it to a file or a pipe"));
    assert_eq!(server.completed(), 0, "found before anything is traced");
}
