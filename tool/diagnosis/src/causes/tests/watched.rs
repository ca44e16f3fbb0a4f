//! What the rules make of the connections of a client.

use reprise_model::{Nanos, Version, WatchedEnd};

use super::super::*;
use super::{Expected, assert_tells};
use crate::client::example::Client;

fn full(count: usize) -> Client {
    (0..count).fold(Client::new(), |client, _| client.full())
}

fn check(cases: &[(&Cause, Client, Expected)]) {
    for (place, (cause, client, expected)) in cases.iter().enumerate() {
        assert_tells(cause, place, client.only(cause), expected);
    }
}

#[test]
fn a_session_is_offered_where_something_else_is_said() {
    let resumed = || full(1).resumed(0);
    let tls12 = || full(1).refused(0).tls12();
    let refused = || full(1).refused(0);
    check(&[
        (&alpn_differs::CAUSE, resumed(), &[]),
        (&alpn_differs::CAUSE, resumed().offers_of(1, |offer| offer.alpn = vec!["h2".to_owned()]), &["Note"]),
        (&ems_differs::CAUSE, tls12(), &[]),
        (&ems_differs::CAUSE, tls12().offers_of(1, |offer| offer.extended_master_secret = false), &["Certain"]),
        (&sni_differs::CAUSE, Client::new().to("a.test").full().to("b.test").refused(0), &["a session of a.test"]),
        (&sni_differs::CAUSE, Client::new().to("a.test").full().resumed(0), &[]),
        (&suite_differs::CAUSE, refused(), &[]),
        (&suite_differs::CAUSE, refused().offers_of(1, |offer| offer.suites = vec![0x1302]), &["TLS_AES_128_GCM_SHA256"]),
        (&suite_differs::CAUSE, refused().offers_of(1, |offer| offer.suites = vec![0x1303]), &[]),
        (&version_differs::CAUSE, full(3).offers_of(1, |offer| offer.versions = vec![Version::Tls12]), &["Note"]),
        (&version_differs::CAUSE, full(2), &[]),
        (&early_data_offered::CAUSE, resumed(), &[]),
        (&early_data_offered::CAUSE, resumed().offers_of(1, |offer| offer.early_data = true), &["Note"]),
    ]);
}

#[test]
fn ftp_data_connections_that_do_not_resume_are_told() {
    let refused = || full(1).full().data_of(0);
    let of_another = full(2).resumed(0).data_of(1);
    check(&[
        (&data_channel_session::CAUSE, full(3), &[]),
        (&data_channel_session::CAUSE, full(1).resumed(0).data_of(0), &[]),
        (&data_channel_session::CAUSE, full(1).resumed(0).data_of(0).resumed(1).data_of(0), &[]),
        (&data_channel_session::CAUSE, full(1).refused(0).data_of(0), &[]),
        (
            &data_channel_session::CAUSE,
            refused(),
            &["Fault, Certain", "1 of 1 data connections", "it offered no session", "522"],
        ),
        (&data_channel_session::CAUSE, of_another, &["1 of 1", "a session of another connection, resumed"]),
        (&data_channel_session::CAUSE, refused().gives(0), &[]),
        (&client_never_offers::CAUSE, refused(), &[]),
    ]);
}

#[test]
fn a_client_that_keeps_few_names_is_told() {
    let to = |names: &[&'static str]| names.iter().fold(Client::new(), |client, name| client.to(name).full());
    let one = Client::new().to("a.test").full().resumed(0).to("b.test").full().to("a.test").full().resumed(3);
    let all = to(&["a.test", "b.test"]).to("a.test").resumed(0);
    check(&[
        (&client_cache_small::CAUSE, one, &["Fault, Likely", "The client remembers the sessions of only one name"]),
        (&client_cache_small::CAUSE, to(&["a.test", "b.test", "a.test", "b.test"]), &["Possible"]),
        (&client_cache_small::CAUSE, all, &[]),
        (&client_cache_small::CAUSE, to(&["a.test", "a.test", "b.test", "a.test"]), &[]),
    ]);
}

#[test]
fn a_client_that_leaves_before_its_tickets_is_told() {
    let ended = |end| full(3).unanswered(end);
    let waiting = || ended(WatchedEnd::CloseNotify).ended_after(Nanos(700_000_000));
    check(&[
        (&client_closes_early::CAUSE, ended(WatchedEnd::Reset), &["Fault, Certain"]),
        (&client_closes_early::CAUSE, ended(WatchedEnd::CloseNotify), &["Possible"]),
        // A client that waits to be greeted has read its tickets.
        (&client_closes_early::CAUSE, waiting(), &[]),
        (&client_never_offers::CAUSE, waiting(), &["Fault"]),
        // One connection or an answer accuses nobody.
        (&client_closes_early::CAUSE, full(1).unanswered(WatchedEnd::Reset), &[]),
        (&client_closes_early::CAUSE, full(2), &[]),
        // Nor one that asked for another protocol, or said by an alert why it left.
        (&client_closes_early::CAUSE, ended(WatchedEnd::Fin).offers(|offer| offer.alpn = vec!["h2".to_owned()]), &[]),
        (&client_closes_early::CAUSE, ended(WatchedEnd::Broken).alerts("decode_error"), &[]),
    ]);
}

#[test]
fn a_client_that_forgets_or_never_offers_is_told() {
    let forgetting = || full(1).resumed(0).full();
    let mute = |count| full(count).offers(|offer| offer.psk_modes = None).gives(0);
    let processes = || full(2).in_processes(&[10, 11]);
    check(&[
        (&client_config_rebuilt::CAUSE, forgetting().resumed(2).full(), &["Fault, Likely"]),
        (&client_config_rebuilt::CAUSE, forgetting(), &["Risk"]),
        (&client_config_rebuilt::CAUSE, full(1).resumed(0).resumed(1), &[]),
        // The silence of a library that resumes by itself is likely this.
        (&client_config_rebuilt::CAUSE, full(3).agent("Java/17.0.15"), &["Likely"]),
        (&client_config_rebuilt::CAUSE, full(3).agent("curl/7.88.1"), &["Possible"]),
        (&client_config_rebuilt::CAUSE, full(3), &["Possible"]),
        (&client_config_rebuilt::CAUSE, processes(), &["Note, Certain"]),
        (&client_never_offers::CAUSE, processes(), &[]),
        (&client_never_offers::CAUSE, full(2), &["Fault, Possible", "no session offered"]),
        // A library that waits to be told is the likelier cause.
        (&client_never_offers::CAUSE, full(3).agent("Python-urllib/3.11"), &["Likely"]),
        // Without PSK modes servers on OpenSSL give tickets all the same; Go's client then has no cache for them.
        (&client_never_offers::CAUSE, mute(2), &["Fault, Possible", "those on OpenSSL do all the same"]),
        (&client_never_offers::CAUSE, mute(2).agent("Go-http-client/1.1"), &["Fault, Likely"]),
        (&client_never_offers::CAUSE, mute(1), &["Note"]),
        // What it read before it sent an alert, or went away, is not known.
        (&client_never_offers::CAUSE, full(3).alerts("decode_error"), &[]),
        (&client_never_offers::CAUSE, full(3).leaves_before_tickets(), &[]),
        // Java finds sessions by a host that an SSLEngine was not told.
        (&client_never_offers::CAUSE, full(3).agent("Java/17.0.15").nameless(), &["Possible", "No server_name"]),
        (&client_config_rebuilt::CAUSE, full(3).agent("Java/17.0.15").nameless(), &["Possible"]),
        // Whoever offers or cannot yet is not accused.
        (&client_never_offers::CAUSE, full(1), &[]),
        (&client_never_offers::CAUSE, full(1).resumed(0), &[]),
        (&client_never_offers::CAUSE, full(2).at_once(), &[]),
    ]);
}

#[test]
fn a_client_that_uses_tickets_otherwise_is_told() {
    let modes = |modes: &'static [u8]| full(2).offers(|offer| offer.psk_modes = Some(modes.to_vec()));
    let once = || full(1).resumed(0).full().resumed(2).full().gives_where_full();
    let burst = || full(1).then(Client::new().resumed(0).full().full().at_once());
    let twice: Expected = &["The client offers one ticket 2 times", "1 of the 2"];
    check(&[
        (&no_ticket_on_resumption::CAUSE, once().tls12(), &["Risk, Likely", "any number of times"]),
        (&no_ticket_on_resumption::CAUSE, once(), &[]),
        (&no_ticket_on_resumption::CAUSE, full(1).resumed(0).resumed(0).tls12(), &[]),
        (&client_psk_mode::CAUSE, modes(&[0]), &["Fault"]),
        (&client_psk_mode::CAUSE, modes(&[0, 1]), &[]),
        (&client_psk_mode::CAUSE, modes(&[1]), &[]),
        (&client_reuses_ticket::CAUSE, full(1).resumed(0).refused(0), twice),
        (&client_reuses_ticket::CAUSE, full(1).resumed(0).resumed(0).tls12(), &[]),
        (&client_reuses_ticket::CAUSE, full(1).resumed(0).resumed(1), &[]),
        (&tickets_run_out::CAUSE, burst(), &["Risk, Likely", "2 connections"]),
        (&client_config_rebuilt::CAUSE, burst(), &[]),
        (&tickets_run_out::CAUSE, full(1).resumed(0).full(), &[]),
        (&tickets_run_out::CAUSE, full(2).at_once(), &[]),
    ]);
}
