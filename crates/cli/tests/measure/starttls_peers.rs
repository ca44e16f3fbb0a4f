//! Protocols whose server is played: what the client says before TLS is what the protocol's document says, byte for byte.

use reprise_lab::Resumption;
use reprise_trace::{Kind, Version};

use crate::harness::{Gate, Lab, hears, says};

/// Measures through the script, and finds that tickets resume behind it.
#[track_caller]
fn assert_passes(protocol: &str, script: Vec<crate::harness::Turn>, round_trips: u64) {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let gate = Gate::before(server.address(), script);
    let call = lab.measure(gate.address()).args(["--starttls", protocol, "--no-request", "--kinds", "full,ticket"]);
    let outcome = call.count(2).run();
    assert_eq!(gate.misheard(), [""; 0]);
    let outcome = outcome.exits(0);
    assert_eq!(outcome.measured(Version::Tls13, Kind::Ticket).n, 2, "{protocol}");
    // The handshake is one more.
    assert_eq!(outcome.measured(Version::Tls13, Kind::Full).round_trips, Some(round_trips + 1), "{protocol}");
}

#[test]
fn ftp() {
    let script = vec![
        says("120 in 5 minutes\r\n220-welcome\r\n take care\r\n220 ready\r\n"),
        hears("AUTH TLS\r\n"),
        says("234 go on\r\n"),
    ];
    assert_passes("ftp", script, 2);
}

#[test]
fn pop3() {
    assert_passes("pop3", vec![says("+OK ready <1@x>\r\n"), hears("STLS\r\n"), says("+OK\r\n")], 2);
}

#[test]
fn ldap() {
    let request = b"\x30\x1d\x02\x01\x01\x77\x18\x80\x161.3.6.1.4.1.1466.20037";
    let response = b"\x30\x0c\x02\x01\x01\x78\x07\x0a\x01\x00\x04\x00\x04\x00";
    assert_passes("ldap", vec![hears(request), says(response)], 1);
}

#[test]
fn mysql() {
    let mut greeting = b"\x0a8.4.0\0\x01\0\0\0challeng\0".to_vec();
    greeting.extend(b"\xff\xff\x21\x02\x00\xff\xdf\x15\0\0\0\0\0\0\0\0\0\0challenge123\0mysql_native_password\0");
    let mut packet = vec![u8::try_from(greeting.len()).unwrap(), 0, 0, 0];
    packet.extend(greeting);
    let mut request = b"\x20\0\0\x01\x01\x8a\x08\0\0\0\0\x01\x21".to_vec();
    request.extend([0; 23]);
    assert_passes("mysql", vec![says(packet), hears(request)], 1);
}

#[test]
fn xmpp() {
    let header = "<?xml version='1.0'?><stream:stream to='127.0.0.1' version='1.0' xmlns='jabber:client' \
                  xmlns:stream='http://etherx.jabber.org/streams'>";
    let features = "<?xml version='1.0'?><stream:stream from='127.0.0.1' id='1' version='1.0'><stream:features>\
                    <starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'><required/></starttls></stream:features>";
    let script = vec![
        hears(header),
        says(features),
        hears("<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"),
        says("<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>"),
    ];
    assert_passes("xmpp", script, 2);
}
