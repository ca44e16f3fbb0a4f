//! Programs on GnuTLS's API, in C.

use crate::diagnose::broken::{Broken, Software, Started, broken};
use crate::diagnose::compiled::Source;
use reprise_harness::Lab;

const GNUTLS: Software =
    Software::new("GnuTLS", "gnutls-serv", &["--version"]).needing(&["cc", "/usr/include/gnutls/gnutls.h"]);

const SOURCE: Source = Source { text: include_str!("servers/gnutls.c"), libraries: &["-lgnutls", "-lpthread"] };

/// The lines are statements about `session`.
fn start(lab: &Lab, lines: &[String]) -> Started {
    SOURCE.start(lab, lines)
}

fn two_nodes(lab: &Lab, lines: &[String]) -> Started {
    SOURCE.start_two(lab, lines)
}

const fn gnutls(cause: &'static str, told: &'static [&'static str]) -> Broken {
    broken(cause, &GNUTLS, told, start)
}

const TICKETS: &str = "gnutls_session_ticket_enable_server(session, &key);";
const BY_HAND: &str = "gnutls_init(&session, GNUTLS_SERVER | GNUTLS_NO_AUTO_SEND_TICKET);";

examined! {
    without_a_ticket_key_nothing_is_offered:
        gnutls("not-offered", &["# its defaults"]).flags(&["--tls", "1.3"]);
    without_a_store_ids_are_never_accepted:
        gnutls("id-never-accepted", &["# its defaults"]).flags(&["--tls", "1.2"]);
    // Its ticket keys change every three minutes then, which may fall into the examination.
    a_lifetime_of_a_minute_is_short:
        gnutls("lifetime-short", &[TICKETS, "gnutls_db_set_cache_expiration(session, 60);"])
            .flags(&["--tls", "1.2"]).and(&["id-never-accepted"]);
    two_tickets_run_out_in_a_burst:
        gnutls("tickets-run-out", &[TICKETS]).flags(&["--tls", "1.3"]);
    tickets_after_full_handshakes_alone:
        gnutls("no-ticket-on-resumption", &[
            TICKETS, BY_HAND, "gnutls_session_ticket_send(session, gnutls_session_is_resumed(session) ? 0 : 2, 0);"])
            .flags(&["--tls", "1.3"]);
    early_data_is_off_by_default:
        gnutls("early-data-off", &[TICKETS]).flags(&["--tls", "1.3"]);
    two_nodes_with_a_ticket_key_each_are_hidden_nodes:
        broken("hidden-nodes", &GNUTLS, &["# two nodes", "gnutls_session_ticket_enable_server(session, &own_key);"], two_nodes)
            .flags(&["--tls", "1.3"]);
}
