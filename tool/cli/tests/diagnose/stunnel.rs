//! stunnel.

use reprise_lab::KeyKind;
use reprise_servers::{RealServer, Stunnel, StunnelConfig};

use crate::diagnose::broken::{Broken, Software, Started, broken};
use crate::diagnose::sessiond::SessionCacheServer;
use reprise_harness::Lab;

const STUNNEL: Software = Software::new("stunnel", "stunnel", &["-version"]);

/// The lines stand in the section of its service.
fn start(lab: &Lab, lines: &[String]) -> Started {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    Stunnel::start(StunnelConfig::new(lab.identity(KeyKind::P256), &lines).unwrap()).unwrap().into()
}

/// Two of them behind one address. What remedies call `HEX` and `HOST:PORT` is the same for both.
fn two_nodes(lab: &Lab, lines: &[String]) -> Started {
    let cache = SessionCacheServer::start();
    let key = "07".repeat(32);
    let of_stunnel = lines.iter().filter(|line| !line.starts_with('#')).map(|line| match line.as_str() {
        "ticketKeySecret = HEX" => format!("ticketKeySecret = {key}\nticketMacSecret = {key}"),
        line => line.replace("HOST:PORT", &cache.address().to_string()),
    });
    let lines: Vec<String> = of_stunnel.collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let identity = lab.identity(KeyKind::P256);
    let nodes = [(); 2].map(|()| Stunnel::start(StunnelConfig::new(identity.clone(), &lines).unwrap()).unwrap());
    Started::behind_one_address(nodes.each_ref().map(Stunnel::address), (nodes, cache))
}

const fn stunnel(cause: &'static str, told: &'static [&'static str]) -> Broken {
    broken(cause, &STUNNEL, told, start)
}

examined! {
    without_tickets_what_a_resumed_connection_gives_is_refused:
        stunnel("resumed-ticket-refused", &["options = NO_TICKET"]).measured(&["--tls", "1.3"]);
    one_curve_makes_handshakes_start_again:
        stunnel("hello-retry-request", &["curves = P-384"]).measured(&["--tls", "1.3", "--kinds", "full"]);
    a_cache_of_four_is_too_small:
        stunnel("cache-too-small", &["sessionCacheSize = 4", "options = NO_TICKET"]).flags(&["--tls", "1.2"]);
    two_nodes_with_a_ticket_key_each_are_hidden_nodes:
        broken("hidden-nodes", &STUNNEL, &["# two nodes"], two_nodes).flags(&["--tls", "1.3"]);
    two_nodes_with_a_cache_each:
        broken("id-cache-per-process", &STUNNEL, &["# two nodes", "options = NO_TICKET"], two_nodes)
            .flags(&["--tls", "1.2"]);
}
