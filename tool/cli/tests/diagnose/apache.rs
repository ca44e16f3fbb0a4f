//! Apache httpd. Three of these answer a paper of 2006 on clients of grids, whose every session was refused by an Apache "set to
//! use the session cache (both with the default dbm and the shm options)": a dbm that takes no session with a client's
//! certificate, a cache that forgets before the client is back, and one that is full before. The fourth stands in `nodes`.

use reprise_lab::KeyKind;
use reprise_servers::{Apache, ApacheConfig, ClientVerify};

use crate::diagnose::broken::{Broken, Software, Started, broken};
use crate::diagnose::offers;
use reprise_harness::Lab;

pub(crate) const APACHE: Software = Software::new("Apache", "apache2", &["-v"]).revealing_itself();

fn start(lab: &Lab, lines: &[String]) -> Started {
    let directives = format!("{}\n", lines.join("\n"));
    Apache::start(ApacheConfig { directives, ..ApacheConfig::new(lab.identity(KeyKind::P256)) }).unwrap().into()
}

/// The same, and it asks clients for certificates.
fn asking(lab: &Lab, lines: &[String]) -> Started {
    let config = ApacheConfig::new(lab.identity(KeyKind::P256));
    let client_verify = ClientVerify::Optional(lab.authority.pem());
    Apache::start(ApacheConfig { directives: format!("{}\n", lines.join("\n")), client_verify, ..config }).unwrap().into()
}

const fn apache(cause: &'static str, told: &'static [&'static str]) -> Broken {
    broken(cause, &APACHE, told, start)
}

fn behind_a_small_buffer(lab: &Lab, lines: &[String]) -> Started {
    offers::behind_a_small_buffer(start(lab, lines))
}

examined! {
    large_tickets_break_connections:
        broken("offer-breaks-connection", &APACHE, &[
            "SSLSessionCache shmcb:logs/ssl_scache(512000)", "SSLSessionTickets on"], behind_a_small_buffer)
            .flags(&["--tls", "1.3"]);
    no_cache_and_tickets_off_are_not_offered:
        apache("not-offered", &["SSLSessionCache none", "SSLSessionTickets off"]);
    a_dbm_takes_no_session_with_a_certificate:
        broken("session-too-large", &APACHE, &["SSLSessionCache dbm:logs/ssl_scache", "SSLSessionTickets off"], asking)
            .with_certificate(600);
    a_cache_of_two_seconds_forgets_before_the_client_is_back:
        apache("lifetime-short", &["SSLSessionCache shmcb:logs/ssl_scache(512000)", "SSLSessionCacheTimeout 2"])
            .flags(&["--tls", "1.2", "--patience", "4s"]);
    no_cache_that_gives_ids_never_accepts_them:
        apache("id-never-accepted", &["SSLSessionCache nonenotnull", "SSLSessionTickets off"]).and(&["not-offered"]);
    without_keep_alive_each_response_ends_the_connection:
        apache("connection-closed-after-response", &["KeepAlive Off"]).measured(&["--tls", "1.3", "--connections", "keepalive"]);
    a_group_that_nobody_offers_first_makes_handshakes_start_again:
        apache("hello-retry-request", &["SSLOpenSSLConfCmd Groups P-384"]).measured(&["--tls", "1.3", "--kinds", "full"]);
    two_tickets_run_out_in_a_burst:
        apache("tickets-run-out", &["SSLSessionTickets on"]).flags(&["--tls", "1.3"]);
    a_cache_of_a_few_sessions_is_too_small:
        apache("cache-too-small", &["SSLSessionCache shmcb:logs/ssl_scache(8192)", "SSLSessionTickets off"])
            .flags(&["--fill", "100", "--connections", "600"]);
}
