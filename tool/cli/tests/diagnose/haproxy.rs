//! HAProxy.

use reprise_lab::KeyKind;
use reprise_servers::{ClientVerify, HaProxy, HaProxyConfig, RealServer};

use crate::diagnose::broken::{Broken, Software, Started, broken};
use crate::diagnose::offers;
use reprise_harness::Lab;

pub(crate) const HAPROXY: Software = Software::new("HAProxy", "haproxy", &["-v"]);

/// What begins with `tune.` stands in the global section, all else on the bind line.
fn start(lab: &Lab, lines: &[String]) -> Started {
    let (global, bind): (Vec<&str>, Vec<&str>) =
        lines.iter().map(String::as_str).partition(|line| line.starts_with("tune."));
    let config = HaProxyConfig::new(lab.identity(KeyKind::P256));
    HaProxy::start(HaProxyConfig { global: global.join("\n    "), bind: bind.join(" "), ..config }).unwrap().into()
}

/// Two of them behind one address, and beside them the file of keys that remedies name.
fn two_nodes(lab: &Lab, lines: &[String]) -> Started {
    // Three keys of 80 bytes in Base64.
    let keys = ["B", "C", "D"].map(|letter| format!("{}A=\n", letter.repeat(106)));
    let keys = lab.file("ticket.keys", keys.concat());
    let lines = lines.iter().filter(|line| !line.starts_with('#'));
    let bind: Vec<String> = lines.map(|line| line.replace("ticket.keys", keys.to_str().unwrap())).collect();
    let config = HaProxyConfig { bind: bind.join(" "), ..HaProxyConfig::new(lab.identity(KeyKind::P256)) };
    let nodes = [(); 2].map(|()| HaProxy::start(config.clone()).unwrap());
    Started::behind_one_address(nodes.each_ref().map(HaProxy::address), nodes)
}

/// It asks for a client certificate and does not insist; these lines stand in its frontend.
fn asking_for_a_certificate(lab: &Lab, lines: &[String]) -> Started {
    let client_verify = ClientVerify::Optional(lab.authority.pem());
    let config = HaProxyConfig::new(lab.identity(KeyKind::P256));
    HaProxy::start(HaProxyConfig { client_verify, frontend: lines.join("\n    "), ..config }).unwrap().into()
}

const fn haproxy(cause: &'static str, told: &'static [&'static str]) -> Broken {
    broken(cause, &HAPROXY, told, start)
}

fn behind_a_small_buffer(lab: &Lab, lines: &[String]) -> Started {
    let lines: Vec<String> = lines.iter().filter(|line| !line.starts_with('#')).cloned().collect();
    offers::behind_a_small_buffer(start(lab, &lines))
}

examined! {
    large_tickets_break_connections:
        broken("offer-breaks-connection", &HAPROXY, &["# its defaults"], behind_a_small_buffer).flags(&["--tls", "1.3"]);
    a_rule_on_the_certificate_of_the_handshake_answers_otherwise:
        broken(
            "answers-differ",
            &HAPROXY,
            &["http-request return status 496 content-type text/plain string no unless { ssl_fc_has_crt }"],
            asking_for_a_certificate,
        )
        .with_certificate(8);
    no_cache_and_no_tickets_are_not_offered:
        haproxy("not-offered", &["tune.ssl.cachesize 0", "no-tls-tickets"]);
    a_cache_of_a_few_sessions_is_too_small:
        haproxy("cache-too-small", &["tune.ssl.cachesize 5", "no-tls-tickets"]);
    sessions_in_the_cache_alone_die_with_an_unclean_end:
        haproxy("unclean-close-evicts", &["no-tls-tickets"]);
    a_lifetime_of_two_seconds_is_short:
        haproxy("lifetime-short", &["tune.ssl.lifetime 2"]).flags(&["--tls", "1.2", "--patience", "3s"]);
    a_group_that_nobody_offers_first_costs_early_data:
        haproxy("early-data-hrr", &["allow-0rtt", "curves P-384"]).flags(&["--tls", "1.3"]).and(&["hello-retry-request"]);
    a_group_that_nobody_offers_first_makes_handshakes_start_again:
        haproxy("hello-retry-request", &["curves P-384"]).measured(&["--tls", "1.3"]);
    two_processes_with_a_ticket_key_each_are_hidden_nodes:
        broken("hidden-nodes", &HAPROXY, &["# two nodes"], two_nodes).flags(&["--tls", "1.3"]);
    early_data_is_off_unless_it_is_allowed:
        haproxy("early-data-off", &[]).flags(&["--tls", "1.3"]);
}
