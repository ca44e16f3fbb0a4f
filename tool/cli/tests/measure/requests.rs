//! The request: what the server logs is what was asked for, and its status is shown.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use reprise_lab::KeyKind;
use reprise_model::{Kind, Version};
use reprise_servers::{MisbehavingServer, ScriptStep};
use reprise_servers::{Nginx, NginxConfig, RealServer};

use reprise_harness::{Lab, wait_until};

/// An nginx that logs `fields` of each request.
struct Witness {
    nginx: Nginx,
    log: PathBuf,
}

impl Witness {
    fn start(lab: &Lab, fields: &str) -> Self {
        let log = lab.path("requests.log");
        let config = NginxConfig {
            http_directives: format!("log_format requests '{fields}';"),
            server_directives: format!("access_log {} requests;", log.display()),
            ..NginxConfig::new(vec![lab.identity(KeyKind::P256)])
        };
        Self { nginx: Nginx::start(config).unwrap(), log }
    }

    /// The lines of `count` requests.
    fn lines(&self, count: u64) -> Vec<String> {
        let lines = || fs::read_to_string(&self.log).unwrap_or_default().lines().map(str::to_owned).collect::<Vec<_>>();
        wait_until("the log", || lines().len() as u64 >= count);
        lines()
    }
}

#[test]
fn path_method_and_headers_arrive_with_every_request() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let witness = Witness::start(&lab, "$request_method $request_uri $http_x_test $http_host $http_user_agent");
    let call = lab.measure(format!("{}/ignored", witness.nginx.address())).count(2);
    let call =
        call.args(["--method", "POST", "--path", "/ok?a=b", "-H", "X-Test: one two", "--header", "Host: other.example"]);
    let document = call.run().exits(0).document();
    let all = document.all_connections;
    for line in witness.lines(all.full + all.ticket) {
        assert_eq!(line, concat!("POST /ok?a=b one two other.example reprise/", env!("CARGO_PKG_VERSION")));
    }
    assert_eq!(document.target.path.as_deref(), Some("/ok?<hidden>"));
}

#[test]
fn the_path_of_an_https_url_is_requested() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let witness = Witness::start(&lab, "$request");
    let outcome = lab.measure(format!("https://{}/64k", witness.nginx.address())).count(1).run().exits(0);
    let all = outcome.document().all_connections;
    assert!(witness.lines(all.full + all.ticket).iter().all(|line| line == "GET /64k HTTP/1.1"));
    assert!(outcome.measured(Version::Tls13, Kind::Full).bytes.unwrap().received.0 > 64 * 1024);
}

#[test]
fn a_status_is_warned_of_unless_it_is_a_success() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let nginx = Nginx::start(NginxConfig::new(vec![lab.identity(KeyKind::P256)])).unwrap();
    for status in [301, 404, 503] {
        let outcome = lab.measure(nginx.address()).args(["--path", &format!("/status/{status}")]).count(2).run().exits(0);
        assert_eq!(outcome.measured(Version::Tls13, Kind::Full).http_status.get(&status), Some(&2));
        let findings = outcome.document().findings;
        let finding = findings.iter().find(|finding| finding.id == "error-responses").unwrap();
        let remedy = &finding.remedy.as_ref().unwrap().text;
        assert!(finding.title.contains(&status.to_string()) && remedy.contains("--path"), "{finding:?}");
        outcome.shows(&[&format!("{status} × ")]);
    }
    for path in ["/", "/status/204"] {
        let outcome = lab.measure(nginx.address()).args(["--path", path]).count(2).run().exits(0);
        assert!(outcome.document().findings.iter().all(|finding| finding.id != "error-responses"));
    }
}

#[test]
fn secrets_of_the_command_line_do_not_reach_the_document() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let nginx = Nginx::start(NginxConfig::new(vec![lab.identity(KeyKind::P256)])).unwrap();
    let header = ["-H", "Authorization: Bearer hush"];
    let target = nginx.address();
    for call in [lab.measure(target).args(["--path", "/?token=hush"]), lab.measure(format!("{target}/?token=hush"))] {
        let outcome = call.args(header).count(1).run().exits(0);
        assert!(!outcome.page.contains("hush"), "{}", outcome.page);
        assert!(!outcome.json.unwrap().contains("hush"));
    }
}

#[test]
fn a_response_that_trickles_for_ever_ends_at_the_timeout() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    // A byte is always there before anyone grows impatient.
    let pause = ScriptStep::ReadUntilIdle(Duration::from_millis(20));
    let head = ScriptStep::Send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".to_vec());
    let trickle = [pause.clone(), ScriptStep::Send(b"x".to_vec())].into_iter().cycle().take(3_000);
    let upstream = MisbehavingServer::start([pause, head].into_iter().chain(trickle).collect()).unwrap();
    let config = NginxConfig {
        server_directives: format!("location = /slow {{ proxy_pass http://{}; proxy_buffering off; }}", upstream.address()),
        ..NginxConfig::new(vec![lab.identity(KeyKind::P256)])
    };
    let nginx = Nginx::start(config).unwrap();
    let outcome = lab.measure(format!("{}/slow", nginx.address())).timeout("1s").args(["--tls", "1.3"]).run();
    outcome.exits(3).says(&["no response within 1 s", "--timeout"]);
}

/// RFC 6066, section 3.
#[test]
fn sni_is_lowercase_without_the_last_dot() {
    reprise_servers::require!("nginx");
    let lab = Lab::new();
    let witness = Witness::start(&lab, "$ssl_server_name");
    let port = witness.nginx.address().port();
    let sessions = lab.path("sessions");
    let call = |target: &str| {
        let arguments = ["-n", "1", "--tls", "1.3", "--kinds", "ticket", "--resolve", "127.0.0.1"];
        lab.measure(format!("{target}:{port}")).args(arguments)
    };
    let first = call("127.0.0.1").args(["--sni", "LocalHost.", "--session-out"]).arg(&sessions).run().exits(0).document();
    // The sessions are of that name, however it is written.
    let second = call("LOCALHOST.").arg("--session-in").arg(&sessions).run().exits(0).document();
    let made = first.all_connections.full + first.all_connections.ticket + second.all_connections.ticket;
    let names = witness.lines(made);
    assert!(names.iter().all(|name| name == "localhost"), "{names:?}");
}
