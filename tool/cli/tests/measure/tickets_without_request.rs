//! `--no-request`: tickets that arrive after the handshake are read before the connection closes.

use reprise_lab::{EmbeddedResumption, KeyKind};
use reprise_model::{Kind, Phase, Version};
use reprise_servers::{MisbehavingServer, Relay, RelayFault, RelayRule, ScriptStep};
use reprise_servers::{RealServer, SServer, SServerConfig};

use reprise_harness::{Lab, assert_account_for};

#[test]
fn tickets_are_awaited_and_resume() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let call = lab.measure(server.address()).arg("--no-request").args(["--kinds", "full,ticket"]).count(4);
    let outcome = call.run().exits(0);
    for tls in [Version::Tls12, Version::Tls13] {
        let [full, ticket] = [Kind::Full, Kind::Ticket].map(|kind| outcome.measured(tls, kind));
        assert_eq!((full.n, ticket.n), (4, 4), "{tls}");
        assert_eq!(full.observed.tickets_given, 4, "{tls}");
        assert!(ticket.phases.contains_key(&Phase::Tls) && !ticket.phases.contains_key(&Phase::Wait), "{tls}");
    }
    let all = outcome.document().all_connections;
    let resumed = server.accounts().iter().filter(|account| account.resumed).count() as u64;
    assert_eq!((all.full + all.ticket, all.ticket), (server.completed(), resumed));
    assert_eq!(outcome.document().target.path, None);
}

#[test]
fn openssls_server_agrees() {
    reprise_servers::require!("openssl");
    let lab = Lab::new();
    let mut server = SServer::start(SServerConfig::new(vec![lab.identity(KeyKind::P256)])).unwrap();
    let outcome = lab.measure(server.address()).arg("--no-request").count(3).run().exits(0);
    assert_account_for(&mut server, &outcome.document(), "--no-request");
    assert_eq!(outcome.measured(Version::Tls13, Kind::Ticket).n, 3);
}

#[test]
fn close_notify_shows_that_a_ticketless_server_has_finished() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Off);
    let arguments = ["--no-request", "--ticket-wait", "20ms", "--tls", "1.3"];
    let outcome = lab.measure(server.address()).args(arguments).count(2).run().exits(0);
    assert_eq!(outcome.measured(Version::Tls13, Kind::Full).n, 2);
    assert_eq!(outcome.document().all_connections.full, server.completed());

    // Its handshake is in the first records; without the one after them, nothing under its application keys has come.
    let relay = Relay::transparent(server.address()).unwrap();
    lab.measure(relay.address()).args(arguments).count(1).run().exits(0);
    let record = relay.records()[0].len() - 1;
    let rule = RelayRule { skip_connections: 0, record, fault: RelayFault::Close };
    let relay = Relay::start(server.address(), rule).unwrap();
    let outcome = lab.measure(relay.address()).args(arguments).run();
    outcome.exits(3).says(&["no record under its application keys", "--ticket-wait"]);

    let rule = RelayRule { fault: RelayFault::Stall, ..rule };
    let relay = Relay::start(server.address(), rule).unwrap();
    let outcome = lab.measure(relay.address()).args(arguments).run();
    outcome.exits(3).says(&["sent nothing more before", "no record under its application keys", "--ticket-wait"]);
}

#[test]
fn a_request_to_a_service_that_is_not_http_says_so() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Off);
    let greeting =
        MisbehavingServer::start(vec![ScriptStep::Send(b"220 mail.example ESMTP\r\n".to_vec()), ScriptStep::Stall]).unwrap();
    lab.measure(greeting.address()).timeout("2s").run().exits(3).says(&["does not speak TLS", "STARTTLS"]);
    lab.measure(server.address()).args(["--no-request", "--path", "/x"]).run().exits(2).says(&["cannot be used with"]);
}
