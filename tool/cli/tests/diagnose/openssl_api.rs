//! Programs on OpenSSL's API, in C.

use crate::diagnose::broken::{Broken, Software, Started, broken};
use crate::diagnose::compiled::Source;
use crate::diagnose::offers;
use reprise_harness::Lab;

const OPENSSL_API: Software =
    Software::new("OpenSSL API", "openssl", &["version"]).needing(&["cc", "/usr/include/openssl/ssl.h"]);

const SOURCE: Source = Source { text: include_str!("servers/openssl.c"), libraries: &["-lssl", "-lcrypto", "-lpthread"] };

/// The lines are statements about `ctx`.
fn start(lab: &Lab, lines: &[String]) -> Started {
    SOURCE.start(lab, lines)
}

fn two_nodes(lab: &Lab, lines: &[String]) -> Started {
    SOURCE.start_two(lab, lines)
}

const fn openssl(cause: &'static str, told: &'static [&'static str]) -> Broken {
    broken(cause, &OPENSSL_API, told, start)
}

const NO_TICKET: &str = "SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);";
const NO_CACHE: &str = "SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);";
/// As nginx's `ssl_session_cache none`.
const FORGETFUL: &str = "SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_SERVER | SSL_SESS_CACHE_NO_INTERNAL);";
const ASKS: &str = "SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);";
const CONTEXT: &str = "SSL_CTX_set_session_id_context(ctx, keys, 3);";
const EARLY: &str = "SSL_CTX_set_max_early_data(ctx, 16384);";

fn behind_a_small_buffer(lab: &Lab, lines: &[String]) -> Started {
    offers::behind_a_small_buffer(start(lab, lines))
}

examined! {
    large_tickets_break_connections:
        broken("offer-breaks-connection", &OPENSSL_API, &["# its defaults"], behind_a_small_buffer).flags(&["--tls", "1.3"]);
    neither_cache_nor_tickets_are_not_offered:
        openssl("not-offered", &[NO_CACHE, NO_TICKET]);
    a_cache_without_a_store_never_accepts_ids:
        openssl("id-never-accepted", &[FORGETFUL, NO_TICKET]).and(&["not-offered"]);
    a_cache_of_four_is_too_small:
        openssl("cache-too-small", &["SSL_CTX_sess_set_cache_size(ctx, 4);", NO_TICKET]);
    sessions_in_the_cache_alone_die_with_an_unclean_end:
        openssl("unclean-close-evicts", &[NO_TICKET]);
    a_connection_that_is_freed_without_shutdown_takes_its_session_along:
        openssl("unclean-close-evicts", &["answers_close_notify = 0;", NO_TICKET]);
    a_lifetime_of_two_seconds_is_short:
        openssl("lifetime-short", &["SSL_CTX_set_timeout(ctx, 2);"]).flags(&["--tls", "1.2", "--patience", "3s"]);
    one_ticket_runs_out_in_a_burst:
        openssl("tickets-run-out", &["SSL_CTX_set_num_tickets(ctx, 1);"]).flags(&["--tls", "1.3"]);
    verification_without_a_session_context:
        openssl("session-context-unset", &[ASKS]).and(&["id-never-accepted"]);
    a_store_takes_no_session_with_a_certificate:
        openssl("session-too-large", &[
            ASKS, CONTEXT, FORGETFUL, NO_TICKET,
            "SSL_CTX_sess_set_new_cb(ctx, keep_small_session); SSL_CTX_sess_set_get_cb(ctx, find_session);"])
            .with_certificate(1000).flags(&["--tls", "1.2"]);
    two_nodes_with_a_ticket_key_each_are_hidden_nodes:
        broken("hidden-nodes", &OPENSSL_API, &["# two nodes"], two_nodes).flags(&["--tls", "1.3"]);
    two_nodes_with_a_cache_each:
        broken("id-cache-per-process", &OPENSSL_API, &["# two nodes", NO_TICKET], two_nodes)
            .flags(&["--tls", "1.2"]);
    early_data_is_off_by_default:
        openssl("early-data-off", &["# its defaults"]).flags(&["--tls", "1.3"]);
    early_data_makes_tickets_stateful:
        openssl("early-data-stateful", &[EARLY]).flags(&["--tls", "1.3"])
            .and(&["unclean-close-evicts"]);
    a_group_that_nobody_offers_first_costs_early_data:
        openssl("early-data-hrr", &[EARLY, "SSL_CTX_set_options(ctx, SSL_OP_NO_ANTI_REPLAY);", "SSL_CTX_set1_groups_list(ctx, \"P-384\");"])
            .flags(&["--tls", "1.3"]).and(&["hello-retry-request"]);
    a_group_that_nobody_offers_first_makes_handshakes_start_again:
        openssl("hello-retry-request", &["SSL_CTX_set1_groups_list(ctx, \"P-384\");"]).measured(&["--tls", "1.3", "--kinds", "full"]);
    a_ticket_that_is_not_renewed:
        openssl("no-ticket-on-resumption", &["SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, without_renewal);"])
            .flags(&["--tls", "1.3"]);
}
