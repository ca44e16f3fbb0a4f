//! Apache httpd. Three of these answer a paper of 2006, whose client was refused every session by an Apache "set to use the
//! session cache (both with the default dbm and the shm options)": a cache that cannot be written, a client that ends without
//! close_notify, and a cache that forgets before the client comes back.

use reprise_lab::KeyKind;
use reprise_lab::servers::{Apache, ApacheConfig};

use crate::broken::{Broken, Software, Started, broken};
use crate::harness::Lab;

pub(crate) const APACHE: Software = Software { name: "Apache", program: Some("apache2"), version: &["-v"] };

fn start(lab: &Lab, lines: &[String]) -> Started {
    let directives = format!("{}\n", lines.join("\n"));
    Apache::start(ApacheConfig { directives, ..ApacheConfig::new(lab.identity(KeyKind::P256)) }).unwrap().into()
}

const fn apache(cause: &'static str, told: &'static [&'static str]) -> Broken {
    broken(cause, &APACHE, told, start)
}

examined! {
    no_cache_and_tickets_off_are_not_offered:
        apache("not-offered", &["SSLSessionCache none", "SSLSessionTickets off"]);
    a_cache_of_one_second_forgets_before_the_client_is_back:
        apache("lifetime-short", &["SSLSessionCache shmcb:logs/ssl_scache(512000)", "SSLSessionCacheTimeout 1"])
            .flags(&["--tls", "1.2", "--patience", "3s"]);
    a_cache_of_a_few_sessions_is_too_small:
        apache("cache-too-small", &["SSLSessionCache shmcb:logs/ssl_scache(8192)", "SSLSessionTickets off"])
            .flags(&["--fill", "100", "--connections", "600"]).besides(&["unclean-close-evicts"]);
}
