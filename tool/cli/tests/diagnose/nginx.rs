//! nginx.

use reprise_lab::{Identity, KeyKind, ServerSpec};
use reprise_servers::{ClientVerify, Nginx, NginxConfig};
use reprise_servers::{MisbehavingServer, ScriptStep};

use crate::diagnose::broken::{Broken, Software, Started, broken, shown};
use crate::diagnose::offers;
use reprise_harness::Lab;

pub(crate) const NGINX: Software = Software::new("nginx", "nginx", &["-v"]).revealing_itself();

/// The lines stand in the `http` block.
fn start(lab: &Lab, lines: &[String]) -> Started {
    let config = NginxConfig::new(vec![lab.identity(KeyKind::P256)]);
    Nginx::start(NginxConfig { http_directives: lines.join("\n"), ..config }).unwrap().into()
}

const fn nginx(cause: &'static str, told: &'static [&'static str]) -> Broken {
    broken(cause, &NGINX, told, start)
}

/// The same, and it asks clients for certificates.
fn asking(lab: &Lab, lines: &[String]) -> Started {
    let client_verify = ClientVerify::Optional(lab.authority.pem());
    let config = NginxConfig { client_verify, ..NginxConfig::new(vec![lab.identity(KeyKind::P256)]) };
    Nginx::start(NginxConfig { http_directives: lines.join("\n"), ..config }).unwrap().into()
}

/// Two server blocks of one listener, of which the name's own is not the first. A line `first { … }` or `second { … }` belongs to
/// that block, any other to the `http` block: what stands there, the blocks do not set themselves.
fn two_blocks(lab: &Lab, lines: &[String]) -> Started {
    let of_http: Vec<&str> = lines.iter().map(String::as_str).filter(|line| line.ends_with(';')).collect();
    let name = |directive: &str| directive.trim().split(' ').next().map(str::to_owned);
    let is_set = |directive: &str| of_http.iter().flat_map(|line| line.split(';')).any(|it| name(it) == name(directive));
    let block = |name: &str| {
        let inner = lines.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(" { ")?.strip_suffix(" }"));
        let directives = inner.unwrap_or_default().split_inclusive(';').map(str::trim);
        directives.filter(|directive| !is_set(directive)).collect::<Vec<_>>().join("\n")
    };
    let first = format!(
        "{}\nserver {{\nlisten {{address}} ssl;\nserver_name first;\nssl_protocols TLSv1.2 TLSv1.3;\n\
         ssl_certificate {{root}}/server-0-cert.pem;\nssl_certificate_key {{root}}/server-0-key.pem;\n{}\n}}",
        of_http.join("\n"),
        block("first")
    );
    let config = NginxConfig::new(vec![lab.identity(KeyKind::P256)]);
    Nginx::start(NginxConfig { http_directives: first, server_directives: block("second"), ..config }).unwrap().into()
}

/// The lines stand in the `server` block, in place of its own certificate where they name one.
fn serving(lab: &Lab, identity: Identity, lines: &[String]) -> Started {
    let other = lab.identity(KeyKind::P256);
    let files =
        vec![("ecdsa.pem", other.chain_pem().as_bytes().to_vec()), ("ecdsa.key", other.key_pem().as_bytes().to_vec())];
    let server_directives = lines.join("\n");
    Nginx::start(NginxConfig { server_directives, files, ..NginxConfig::new(vec![identity]) }).unwrap().into()
}

fn with_rsa_4096(lab: &Lab, lines: &[String]) -> Started {
    serving(lab, lab.identity(KeyKind::Rsa4096), lines)
}

fn with_a_chain_of_five(lab: &Lab, lines: &[String]) -> Started {
    let spec = ServerSpec { intermediates: 4, ..ServerSpec::new(KeyKind::P256) };
    serving(lab, lab.authority.server(&spec).unwrap(), lines)
}

fn behind_a_small_buffer(lab: &Lab, lines: &[String]) -> Started {
    offers::behind_a_small_buffer(start(lab, lines))
}

examined! {
    large_tickets_break_connections:
        broken("offer-breaks-connection", &NGINX, &["ssl_session_cache shared:SSL:1m;", "ssl_session_tickets on;"],
            behind_a_small_buffer).flags(&["--tls", "1.3"]);
    cache_and_tickets_off_are_not_offered:
        nginx("not-offered", &["ssl_session_cache off;", "ssl_session_tickets off;"]);
    cache_none_without_tickets_gives_ids_never_accepted:
        nginx("id-never-accepted", &["ssl_session_cache none;", "ssl_session_tickets off;"]).and(&["not-offered"]);
    the_default_cache_gives_ids_never_accepted:
        nginx("id-never-accepted", &["ssl_session_cache none;"]);
    a_timeout_of_two_seconds_is_short:
        nginx("lifetime-short", &["ssl_session_cache shared:SSL:1m;", "ssl_session_timeout 2s;"])
            .flags(&["--tls", "1.2", "--patience", "3s"]);
    a_cache_takes_no_session_of_more_than_four_kilobytes:
        broken("session-too-large", &NGINX, &["ssl_session_cache shared:SSL:1m;", "ssl_session_tickets off;"], asking)
            .with_certificate(4000);
    two_tickets_run_out_in_a_burst:
        nginx("tickets-run-out", &["ssl_session_cache shared:SSL:1m;"]).flags(&["--tls", "1.3"]);
    early_data_is_off_by_default:
        nginx("early-data-off", &["ssl_session_cache shared:SSL:1m;"]).flags(&["--tls", "1.3"]);
    a_group_that_nobody_offers_first_costs_early_data:
        nginx("early-data-hrr", &["ssl_session_cache shared:SSL:1m;", "ssl_early_data on;", "ssl_ecdh_curve secp384r1;"])
            .flags(&["--tls", "1.3"]).and(&["hello-retry-request"]);
    a_group_that_nobody_offers_first_makes_handshakes_start_again:
        nginx("hello-retry-request", &["ssl_session_cache shared:SSL:1m;", "ssl_ecdh_curve secp384r1;"]).flags(&["--tls", "1.3"]);
    an_rsa_key_of_4096_bits_is_most_of_a_handshake:
        broken("certificate-costly", &NGINX, &["# RSA-4096"], with_rsa_4096).measured(&["--tls", "1.3"]);
    a_chain_of_five_is_counted:
        broken("certificate-costly", &NGINX, &["# a chain of five"], with_a_chain_of_five).measured(&["--tls", "1.3"]);
    a_small_cache_is_too_small:
        nginx("cache-too-small", &["ssl_session_cache shared:SSL:32k;", "ssl_session_tickets off;"])
            .flags(&["--tls", "1.2", "--fill", "300", "--connections", "600"]);
    without_keep_alive_each_response_ends_the_connection:
        nginx("connection-closed-after-response", &["keepalive_timeout 0;"]).measured(&["--tls", "1.3", "--connections", "keepalive"]);
    a_limit_of_one_request_ends_the_connection:
        nginx("connection-closed-after-response", &["ssl_session_cache shared:SSL:1m;", "keepalive_requests 1;"]);
    tls13_gives_no_tickets:
        nginx("not-offered", &["ssl_session_cache shared:SSL:1m;", "ssl_conf_command NumTickets 0;"]);
    tls13_alone_gives_no_tickets:
        nginx("not-offered", &["ssl_conf_command NumTickets 0;"]).flags(&["--tls", "1.3"]);
    a_block_that_is_not_the_first_has_the_tickets:
        broken("default-host-tickets-off", &NGINX, &[
            "first { ssl_session_cache off; ssl_session_tickets off; }", "second { ssl_session_tickets on; }"], two_blocks);
    a_block_that_is_not_the_first_has_the_cache:
        broken("vhost-directives", &NGINX, &[
            "first { ssl_session_cache off; ssl_session_tickets off; }",
            "second { ssl_session_cache shared:SSL:10m; ssl_session_tickets off; }"], two_blocks);
    tickets_are_off_in_the_default_block_alone:
        broken("default-host-tickets-off", &NGINX, &[
            "first { ssl_session_tickets off; }", "second { ssl_session_tickets on; }"], two_blocks)
            .and(&["id-never-accepted"]);
    a_block_that_is_not_the_first_switches_all_off:
        broken("vhost-directives", &NGINX, &[
            "first { ssl_session_cache shared:SSL:10m; }", "second { ssl_session_cache off; ssl_session_tickets off; }"],
            two_blocks);
}

#[test]
fn a_kept_connection_saves_only_where_the_server_keeps_it() {
    reprise_servers::require!("nginx");
    for (line, is_kept) in
        [("keepalive_timeout 75s;", true), ("keepalive_timeout 0;", false), ("keepalive_requests 1;", false)]
    {
        let lines = ["ssl_session_cache shared:SSL:1m;", line].map(str::to_owned);
        let diagnosis =
            nginx("connection-closed-after-response", &[]).flags(&["--tls", "1.3"]).diagnose(&Lab::new(), &lines);
        let says = diagnosis.figures.iter().any(|it| it.contains("kept-alive"));
        let is_found = diagnosis.findings.iter().any(|it| it.id == "connection-closed-after-response");
        assert_eq!((says, is_found), (is_kept, !is_kept), "{line} {:?} {}", diagnosis.figures, shown(&diagnosis));
    }
}

/// What another server says of itself goes through nginx.
fn disguised(lab: &Lab, lines: &[String]) -> Started {
    let response = "HTTP/1.1 200 OK\r\nServer: Apache/2.4.99\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n";
    let behind =
        MisbehavingServer::start(vec![ScriptStep::Read(1), ScriptStep::Send(response.into()), ScriptStep::Close]).unwrap();
    let location = format!("location = / {{ proxy_pass http://{}; proxy_pass_header Server; }}", behind.address());
    let (http_directives, server_directives) = (lines.join("\n"), location);
    let config = NginxConfig::new(vec![lab.identity(KeyKind::P256)]);
    let nginx = Nginx::start(NginxConfig { http_directives, server_directives, ..config }).unwrap();
    Started { _others: vec![Box::new(behind)], ..nginx.into() }
}

#[test]
fn no_cause_depends_on_what_a_server_says_that_it_is() {
    reprise_servers::require!("nginx");
    let told = ["ssl_session_cache none;", "ssl_session_tickets off;"].map(str::to_owned);
    let found = |start: fn(&Lab, &[String]) -> Started| {
        let diagnosis = broken("id-never-accepted", &NGINX, &[], start).diagnose(&Lab::new(), &told);
        let findings = diagnosis.findings.into_iter().map(|it| (it.id, it.severity, it.confidence, it.title));
        (diagnosis.software.unwrap(), findings.collect::<Vec<_>>())
    };
    let ((own, of_nginx), (said, of_disguised)) = (found(start), found(disguised));
    assert_eq!((&*own, &*said), ("nginx", "Apache/2.4.99"));
    assert!(!of_nginx.is_empty());
    assert_eq!(of_nginx, of_disguised);
}
