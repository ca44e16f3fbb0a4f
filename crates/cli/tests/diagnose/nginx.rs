//! nginx.

use reprise_lab::KeyKind;
use reprise_lab::servers::{Nginx, NginxConfig};

use crate::broken::{Broken, Software, Started, broken};
use crate::harness::Lab;

pub(crate) const NGINX: Software = Software { name: "nginx", program: Some("nginx"), version: &["-v"] };

/// The lines stand in the `http` block.
fn start(lab: &Lab, lines: &[String]) -> Started {
    let config = NginxConfig::new(vec![lab.identity(KeyKind::P256)]);
    Nginx::start(NginxConfig { http_directives: lines.join("\n"), ..config }).unwrap().into()
}

const fn nginx(cause: &'static str, told: &'static [&'static str]) -> Broken {
    broken(cause, &NGINX, told, start)
}

/// The name's own server block is not the listener's first. The lines are of that block.
fn second_block(lab: &Lab, lines: &[String]) -> Started {
    let first = "server {\nlisten {address} ssl;\nserver_name first;\nssl_protocols TLSv1.2 TLSv1.3;\nssl_certificate {root}/server-0-cert.pem;\n\
                 ssl_certificate_key {root}/server-0-key.pem;\nssl_session_cache off;\nssl_session_tickets off;\n}";
    let (http_directives, server_directives) = (first.to_owned(), lines.join("\n"));
    let config = NginxConfig::new(vec![lab.identity(KeyKind::P256)]);
    Nginx::start(NginxConfig { http_directives, server_directives, ..config }).unwrap().into()
}

/// The same, and the first has a cache where the second has none.
fn second_block_without(lab: &Lab, lines: &[String]) -> Started {
    let first = "server {\nlisten {address} ssl;\nserver_name first;\nssl_protocols TLSv1.2 TLSv1.3;\nssl_certificate {root}/server-0-cert.pem;\n\
                 ssl_certificate_key {root}/server-0-key.pem;\nssl_session_cache shared:SSL:1m;\n}";
    let (http_directives, server_directives) = (first.to_owned(), lines.join("\n"));
    let config = NginxConfig::new(vec![lab.identity(KeyKind::P256)]);
    Nginx::start(NginxConfig { http_directives, server_directives, ..config }).unwrap().into()
}

examined! {
    cache_and_tickets_off_are_not_offered:
        nginx("not-offered", &["ssl_session_cache off;", "ssl_session_tickets off;"]);
    cache_none_without_tickets_gives_ids_never_accepted:
        nginx("id-never-accepted", &["ssl_session_cache none;", "ssl_session_tickets off;"]).besides(&["not-offered"]);
    the_default_cache_gives_ids_never_accepted:
        nginx("id-never-accepted", &["ssl_session_cache none;"]);
    a_timeout_of_two_seconds_is_short:
        nginx("lifetime-short", &["ssl_session_cache shared:SSL:1m;", "ssl_session_timeout 2s;"])
            .flags(&["--tls", "1.2", "--patience", "3s"]);
    early_data_is_off_by_default:
        nginx("early-data-off", &["ssl_session_cache shared:SSL:1m;"]).flags(&["--tls", "1.3"]);
    a_group_that_nobody_offers_first_costs_early_data:
        nginx("early-data-hrr", &["ssl_session_cache shared:SSL:1m;", "ssl_early_data on;", "ssl_ecdh_curve secp384r1;"])
            .flags(&["--tls", "1.3"]).besides(&["early-data-replayable"]);
}
