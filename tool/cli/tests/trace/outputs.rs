//! Where a trace goes: its document, its pages, its capture.

use std::fs;

use reprise_lab::EmbeddedResumption;

use crate::trace::traced::trace;
use reprise_harness::Lab;

#[test]
fn a_capture_holds_secrets_and_is_readable_for_its_owner_alone() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
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

/// A terminal that scrolls away is no place for secrets, nor for bytes that are no text.
#[cfg(target_os = "linux")]
#[test]
fn no_capture_goes_to_a_terminal() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
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
