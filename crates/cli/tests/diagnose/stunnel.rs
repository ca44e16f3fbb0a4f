//! stunnel.

use reprise_lab::KeyKind;
use reprise_lab::servers::Stunnel;

use crate::broken::{Broken, Software, Started, broken};
use crate::harness::Lab;

const STUNNEL: Software =
    Software { name: "stunnel", program: Some("stunnel"), version: &["-version"], reveals_itself: false, needs: &[] };

/// The lines stand in the section of its service.
fn start(lab: &Lab, lines: &[String]) -> Started {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    Stunnel::start(&lab.identity(KeyKind::P256), &lines).unwrap().into()
}

const fn stunnel(cause: &'static str, told: &'static [&'static str]) -> Broken {
    broken(cause, &STUNNEL, told, start)
}

examined! {
    without_tickets_what_a_resumed_connection_gives_is_refused:
        stunnel("resumed-ticket-refused", &["options = NO_TICKET"]).measured(&["--tls", "1.3"]);
    a_cache_of_four_is_too_small:
        stunnel("cache-too-small", &["sessionCacheSize = 4", "options = NO_TICKET"]).flags(&["--tls", "1.2"]);
}
