//! `openssl s_server`: what programs on OpenSSL's API do.

use reprise_lab::KeyKind;
use reprise_servers::{SServer, SServerConfig};

use crate::diagnose::broken::{Broken, Software, Started, broken};
use reprise_harness::Lab;

pub(crate) const OPENSSL: Software = Software::new("OpenSSL s_server", "openssl", &["version"]);

/// The lines are arguments.
fn start(lab: &Lab, lines: &[String]) -> Started {
    let extra = lines.iter().flat_map(|line| line.split(' ')).map(str::to_owned).collect();
    SServer::start(SServerConfig { extra, ..SServerConfig::new(vec![lab.identity(KeyKind::P256)]) }).unwrap().into()
}

const fn s_server(cause: &'static str, told: &'static [&'static str]) -> Broken {
    broken(cause, &OPENSSL, told, start)
}

examined! {
    neither_cache_nor_tickets_are_not_offered:
        s_server("not-offered", &["-no_cache", "-no_ticket"]);
    no_tls13_tickets_are_not_offered:
        s_server("not-offered", &["-num_tickets 0"]).flags(&["--tls", "1.3"]);
    one_ticket_runs_out_in_a_burst:
        s_server("tickets-run-out", &["-num_tickets 1"]).flags(&["--tls", "1.3"]);
}
