//! Against Apache, whose log is the witness.

use std::time::Duration;

use reprise_harness::{Lab, Reprise};
use reprise_lab::KeyKind;
use reprise_servers::require;
use reprise_servers::{Apache, ApacheConfig, RealServer};
use serde_json::Value;

use super::{layers, plugins, row, skipped};

struct Site {
    apache: Apache,
    lab: Lab,
}

impl Site {
    fn new(directives: &str, session_tickets: bool) -> Self {
        let lab = Lab::new();
        let config = ApacheConfig {
            session_cache: true,
            session_tickets,
            directives: directives.to_owned(),
            ..ApacheConfig::new(lab.identity(KeyKind::P256))
        };
        Self { apache: Apache::start(config).unwrap(), lab }
    }

    /// What `call` finds with this site as its target.
    fn measured_by(&self, call: Reprise) -> Value {
        let target = format!("localhost:{}", self.apache.address().port());
        let (document, outcome) = call.arg(target).arg("--ca").arg(self.lab.ca()).run_for_json();
        outcome.exits(0);
        document
    }

    /// Holds every connection that was reported against Apache's log, which must have no others.
    #[track_caller]
    fn agrees_with(&mut self, document: &Value) {
        let rows = document["rows"].as_array().unwrap().iter();
        let connections = rows.flat_map(|row| row["connections"].as_array().unwrap());
        let mut reported: Vec<(u64, bool)> =
            connections.map(|it| (it["local_port"].as_u64().unwrap(), it["kind"] != "full")).collect();
        let accounts = self.apache.accounts_when(reported.len(), Duration::from_secs(20)).unwrap();
        let mut logged: Vec<(u64, bool)> = accounts.iter().map(|it| (u64::from(it.client_port), it.resumed)).collect();
        reported.sort_unstable();
        logged.sort_unstable();
        assert_eq!(reported, logged);
    }
}

#[track_caller]
fn apache_agrees(tls: &str, kind: &str, session_tickets: bool) {
    require!("apache2");
    let Some(folder) = plugins::folder() else { return };
    let mut site = Site::new("", session_tickets);
    let call = layers("--levels run,lib,libctx,ctx,bio,msg -n 8 --stacks openssl,rustls-ring --plugins").arg(folder);
    let document = site.measured_by(call.args(["--tls", tls, "--kind", kind]));
    for level in ["run", "lib", "libctx", "ctx", "bio"] {
        let with = row(&document, "openssl", level, true);
        assert_eq!((&with["requests"], &with["handshakes"]), (&8.into(), &8.into()), "{level}");
        assert_eq!((&with["kinds"][kind], &with["refused"]), (&8.into(), &0.into()), "{level}: {with:#}");
    }
    site.agrees_with(&document);
}

#[test]
fn apache_logs_each_connection_of_tls13() {
    apache_agrees("1.3", "ticket", true);
}

#[test]
fn apache_logs_each_connection_of_its_session_cache() {
    apache_agrees("1.2", "id", false);
}

/// What each kind of shutdown makes of the level that needs the TCP connection again.
#[track_caller]
fn does_not_permit_ssl(variable: &str, what: &str) {
    require!("apache2");
    let set = match variable {
        "" => String::new(),
        name => {
            format!(
                "LoadModule setenvif_module /usr/lib/apache2/modules/mod_setenvif.so\nSetEnvIf User-Agent \".*\" {name}\n"
            )
        }
    };
    let document = Site::new(&set, true).measured_by(layers("--levels bio,ssl,msg --stacks rustls-ring -n 6"));
    let (outcome, reason) = skipped(&document, "rustls-ring", "ssl");
    assert_eq!(outcome, "unsupported");
    assert!(reason.contains(what), "{reason}");
    assert_eq!(row(&document, "rustls-ring", "msg", false)["requests"], 6);
}

#[test]
fn a_standard_shutdown_closes_the_tcp_connection() {
    does_not_permit_ssl("", "says close_notify, and then closes the TCP connection");
}

#[test]
fn an_accurate_shutdown_closes_the_tcp_connection() {
    does_not_permit_ssl("ssl-accurate-shutdown", "says close_notify, and then closes the TCP connection");
}

#[test]
fn an_unclean_shutdown_says_no_close_notify() {
    does_not_permit_ssl("ssl-unclean-shutdown", "answers close_notify by closing the TCP connection");
}

#[test]
fn without_keep_alive_there_is_no_next_request() {
    require!("apache2");
    let document = Site::new("KeepAlive Off\n", true).measured_by(layers("--levels bio,msg --stacks rustls-ring -n 6"));
    let (outcome, reason) = skipped(&document, "rustls-ring", "msg");
    assert_eq!(outcome, "unsupported");
    assert!(reason.contains("closes the connection after each request"), "{reason}");
    assert_eq!(row(&document, "rustls-ring", "bio", true)["kinds"]["ticket"], 6);
}

#[test]
fn a_few_requests_a_connection_are_enough_for_msg() {
    require!("apache2");
    let mut site = Site::new("MaxKeepAliveRequests 3\n", true);
    let document = site.measured_by(layers("--levels msg --stacks rustls-ring -n 12"));
    assert_eq!(row(&document, "rustls-ring", "msg", false)["requests"], 12);
    site.agrees_with(&document);
}
