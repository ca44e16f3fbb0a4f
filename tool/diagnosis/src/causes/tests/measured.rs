//! What the rules make of a measurement.

use reprise_model::document::TicketRequestRecord;
use reprise_model::{
    ClientAuthentication, EarlyData, Facts, FaultName, HelloRetry, Kind, Nanos, Observation, Origin, PeerKey, Phase,
    PskMode, SharedGroups, Ticket, TicketKeyName, Verification,
};
use reprise_wire::{CipherSuite, NamedGroup};

use super::super::*;
use super::{Expected, assert_tells, told};
use crate::example::{Example, ticket};
use crate::series::MeasuredCase;

pub(super) fn full(tls: &str) -> Example {
    Example::new().run(tls, Kind::Full, 900)
}

/// A hundred tickets of TLS 1.3 that resumed.
pub(super) fn resumed() -> Example {
    full("1.3").run("1.3", Kind::Ticket, 300)
}

pub(super) fn early() -> Example {
    full("1.3").run("1.3", Kind::Early, 20)
}

/// A change of what was negotiated.
fn negotiating(change: impl Fn(&mut Facts)) -> impl Fn(&mut Observation) {
    move |observation| change(observation.outcome.as_mut().unwrap())
}

pub(super) fn check(cases: &[(&Cause, Example, Expected)]) {
    for (place, (cause, example, expected)) in cases.iter().enumerate() {
        assert_tells(cause, place, example.only(cause), expected);
    }
}

#[test]
fn what_is_never_accepted_or_given_is_told() {
    let ids = |count| full("1.2").refused("1.2", Kind::Id, count);
    let tickets = |count| full("1.3").refused("1.3", Kind::Ticket, count);
    let gives_id = |it: &mut Facts| it.session_id_given = true;
    let gives_ticket = |it: &mut Facts| it.tickets.add(ticket(None));
    let never_came = Example::new().refused("1.2", Kind::Ticket, 100).facts(|it| it.session_offered = false);
    let never_completed = Example::new().refused("1.3", Kind::Full, 0).refused("1.3", Kind::Ticket, 0);
    check(&[
        (
            &not_offered::CAUSE,
            tickets(100),
            &[
                "Fault, Likely",
                "TLS 1.3 tickets arrive and are never accepted",
                "100 of 100 connections that offered one ended in a full handshake",
            ],
        ),
        (&not_offered::CAUSE, tickets(100), &["nginx", "Apache", "HAProxy", "rustls", "GnuTLS", "Go", "Node", "Java"]),
        (
            &not_offered::CAUSE,
            full("1.2"),
            &["neither a session ID nor a ticket", "100 connections, and neither a session ID nor a ticket on any\n1 lines"],
        ),
        // What was given and not measured is not missing.
        (&not_offered::CAUSE, full("1.2").facts(gives_id), &[]),
        (&not_offered::CAUSE, full("1.3").first(1, negotiating(gives_ticket)), &[]),
        // A ticket that never came was not refused.
        (&not_offered::CAUSE, never_came, &["neither a session ID nor a ticket"]),
        (&not_offered::CAUSE, never_completed, &[]),
        (&not_offered::CAUSE, full("1.2").run("1.2", Kind::Id, 200).refused("1.2", Kind::Ticket, 100), &["Risk, Possible"]),
        // A server is not blamed for what the client did not offer.
        (&not_offered::CAUSE, tickets(100).psk_modes(&[PskMode::PskKe]), &[]),
        (
            &id_never_accepted::CAUSE,
            ids(20),
            &["Fault", "no cost", "20 of 20 connections that offered one ended in a full handshake\n1 lines"],
        ),
        // A few refusals may be chance.
        (&id_never_accepted::CAUSE, ids(1), &["Possible"]),
        (&id_never_accepted::CAUSE, ids(5), &["Possible"]),
        (&id_never_accepted::CAUSE, ids(6), &["Likely"]),
        // A ticket that resumes tells the cost, where full handshakes were measured.
        (&id_never_accepted::CAUSE, ids(100).run("1.2", Kind::Ticket, 200), &["Risk", "cost 700000 ns"]),
        (
            &id_never_accepted::CAUSE,
            Example::new().refused("1.2", Kind::Id, 100).run("1.2", Kind::Ticket, 200),
            &["Risk", "no cost"],
        ),
        (&id_never_accepted::CAUSE, full("1.2").run("1.2", Kind::Id, 200).of_which_full(50), &[]),
    ]);
}

/// Nodes would give TLS 1.2 tickets too.
#[test]
fn a_server_that_gives_nothing_under_tls12_is_no_fleet() {
    let example = full("1.3").refused("1.3", Kind::Ticket, 18).run("1.2", Kind::Full, 900);
    let findings = not_offered::CAUSE.measured.unwrap().find.findings(&example.case());
    assert_eq!(findings.into_iter().map(|it| it.confidence).max(), Some(Confidence::Likely));
}

#[test]
fn what_is_accepted_sometimes_is_told_with_its_pattern() {
    let tickets = |refused| resumed().of_which_full(refused);
    let ids = || full("1.2").run("1.2", Kind::Id, 300).of_which_full(75);
    let mut nth = 0;
    let by_origin = resumed().all(|it| {
        nth += 1;
        let was_resumed = nth % 2 == 0;
        it.index = 1_000 + nth;
        it.offered.as_mut().unwrap().origin = Some(Origin { index: it.index - 1 - nth % 3, was_resumed, is_last: true });
        it.outcome.as_mut().unwrap().kind = if was_resumed { Kind::Full } else { Kind::Ticket };
    });
    check(&[
        (&hidden_nodes::CAUSE, tickets(52), &["Possible, cost 312000 ns", "48 of 100 connections that offered one resumed"]),
        // Of a few resumptions nothing is concluded.
        (&hidden_nodes::CAUSE, tickets(95), &["Possible"]),
        (&hidden_nodes::CAUSE, tickets(2), &["Possible"]),
        // An error page is no refusal.
        (&hidden_nodes::CAUSE, tickets(50).first(50, |it| it.http_status = Some(503)), &[]),
        (&id_cache_per_process::CAUSE, ids().run("1.2", Kind::Ticket, 300), &["Possible"]),
        (&id_cache_per_process::CAUSE, ids(), &["Possible"]),
        (&resumed_ticket_refused::CAUSE, by_origin, &["Fault, Likely", "given by a full handshake"]),
    ]);
}

/// Ten sessions of the certificate 1 where the server shows 2, with tickets under the key 7 before and `key` since.
fn of_another_certificate(key: u8) -> Example {
    full("1.3").facts(|it| it.leaf = Some([2; 32])).refused("1.3", Kind::Ticket, 10).all(|it| {
        let offered = it.offered.as_mut().unwrap();
        (offered.leaf, offered.key_name) = (Some([1; 32]), Some(TicketKeyName([7; 16])));
        let facts = it.outcome.as_mut().unwrap();
        facts.leaf = Some([2; 32]);
        facts.tickets.add(Ticket { key_name: TicketKeyName([key; 16]), ..ticket(None) });
    })
}

#[test]
fn sessions_of_the_certificate_before_are_told() {
    let renewed = || of_another_certificate(7);
    let in_turns = renewed().run("1.2", Kind::Full, 900).facts(|it| it.leaf = Some([1; 32]));
    let in_turns = in_turns.run("1.2", Kind::Ticket, 900).facts(|it| (it.kind, it.leaf) = (Kind::Full, Some([2; 32])));
    let accepted_since = renewed().run("1.2", Kind::Ticket, 300).all(|it| it.offered.as_mut().unwrap().leaf = Some([1; 32]));
    let resumed = renewed().run("1.2", Kind::Ticket, 300).all(|it| it.offered.as_mut().unwrap().leaf = Some([2; 32]));
    check(&[
        (
            &certificate_renewed::CAUSE,
            renewed(),
            &["Risk, Likely", "another now", "10 connections offered", "certificate 0101010101010101…", "key is the same"],
        ),
        (&certificate_renewed::CAUSE, resumed, &["Likely", "100 of 100 resumed"]),
        // A reload that makes new keys refuses them as well.
        (&certificate_renewed::CAUSE, of_another_certificate(9), &["Possible", "another ticket key"]),
        // Nodes; a certificate that sessions do not hang on.
        (&certificate_renewed::CAUSE, in_turns, &[]),
        (&certificate_renewed::CAUSE, accepted_since, &[]),
        (&certificate_renewed::CAUSE, full("1.3").refused("1.3", Kind::Ticket, 10), &[]),
        // What explains the refusals is not told as well.
        (&not_offered::CAUSE, renewed(), &[]),
    ]);
}

#[test]
fn an_external_psk_that_is_refused_is_told() {
    let sometimes = || Example::new().run("1.3", Kind::Psk, 200).of_which_full(10);
    check(&[
        (
            &psk_refused::CAUSE,
            full("1.3").refused("1.3", Kind::Psk, 10),
            &["10 of 10 connections that offered it ended in a full handshake", "--psk-identity"],
        ),
        (&psk_refused::CAUSE, sometimes(), &["Possible", "The server accepts the external PSK only sometimes"]),
        (&psk_refused::CAUSE, Example::new().run("1.3", Kind::Psk, 200), &[]),
    ]);
    assert!(!told(&sometimes().only(&psk_refused::CAUSE).unwrap()).contains("--psk-identity"));
}

#[test]
fn a_key_exchange_that_is_left_out_is_told() {
    let with = |mode| resumed().facts(move |it| it.psk_mode = mode);
    let offering_psk_ke = |example: Example| example.psk_modes(&[PskMode::PskKe]);
    let given = full("1.3").facts(|it| it.tickets.add(ticket(None)));
    check(&[
        (&client_psk_mode::CAUSE, offering_psk_ke(with(Some(PskMode::PskKe))), &[]),
        (&client_psk_mode::CAUSE, offering_psk_ke(with(None)), &["No TLS 1.3 connection used psk_ke"]),
        (&client_psk_mode::CAUSE, with(None).psk_modes(&[PskMode::PskDheKe]), &[]),
        (&client_psk_mode::CAUSE, offering_psk_ke(full("1.2")), &[]),
        // `--kinds full`: no ticket came, or tickets came that no connection offered.
        (&client_psk_mode::CAUSE, offering_psk_ke(full("1.3")), &["Note, Certain"]),
        (&client_psk_mode::CAUSE, offering_psk_ke(given), &[]),
        (
            &no_forward_secrecy::CAUSE,
            with(Some(PskMode::PskKe)),
            &["Risk, Certain", "TLS 1.3 ticket: psk_ke on 100 of 100 connections\n1 lines"],
        ),
        (&no_forward_secrecy::CAUSE, with(Some(PskMode::PskDheKe)), &[]),
    ]);
}

#[test]
fn early_data_is_told_by_what_becomes_of_it() {
    let fate = |fate| early().facts(move |it| it.early_data = Some(fate));
    let retried =
        |it: &mut Facts| it.hello_retry = Some(HelloRetry { shared: SharedGroups::of([0x1d]), wanted: Some(0x18) });
    let reject = negotiating(|it| it.early_data = Some(EarlyData::Rejected));
    let too_early = |early_data| fate(early_data).all(|it| it.http_status = Some(425));
    let given = |bytes| move |it: &mut Facts| it.tickets.add(ticket(bytes));
    let refused = || early().of_which_full(100);
    check(&[
        (
            &early_data_hrr::CAUSE,
            fate(EarlyData::Rejected).facts(retried),
            &["\nA HelloRetryRequest came on 100 connections", "--groups"],
        ),
        (&early_data_hrr::CAUSE, fate(EarlyData::Rejected), &[]),
        (
            &early_data_rejected::CAUSE,
            fate(EarlyData::Rejected),
            &["rejects it\nRejected on 100 of 100 connections that sent it", "replay protection"],
        ),
        (
            &early_data_rejected::CAUSE,
            fate(EarlyData::Accepted).first(60, reject),
            &["sometimes rejects it\nRejected on 60 of 100"],
        ),
        (&early_data_rejected::CAUSE, fate(EarlyData::Accepted), &[]),
        (&early_data_rejected::CAUSE, fate(EarlyData::Rejected).facts(retried), &[]),
        (&early_data_replayable::CAUSE, fate(EarlyData::Accepted), &["Accepted on 100 of 100 connections that sent it"]),
        (&early_data_replayable::CAUSE, fate(EarlyData::Rejected), &[]),
        (&early_data_too_early::CAUSE, too_early(EarlyData::Accepted), &["\nStatus 425 on 100 of 100 connections"]),
        (&early_data_too_early::CAUSE, too_early(EarlyData::Rejected), &[]),
        (&early_data_too_early::CAUSE, early(), &[]),
        (
            &early_data_off::CAUSE,
            refused().facts(given(None)),
            &["\nTickets on 100 connections, max_early_data_size above 0 on 0\n1 lines", "ssl_early_data on;"],
        ),
        // A ticket that allows too little allows it; and without tickets none is to blame.
        (&early_data_off::CAUSE, refused().facts(given(Some(64))), &[]),
        (&early_data_off::CAUSE, refused(), &[]),
        // Nobody asked for early data.
        (&early_data_off::CAUSE, resumed().facts(given(None)), &[]),
    ]);
}

#[test]
fn early_data_that_is_answered_late_is_told() {
    let held = |answered| full("1.3").all(move |it| it.answered_before_finished = answered);
    check(&[
        (&early_data_late::CAUSE, held(Some(false)), &["Note, Certain", "No response came before it on 100 connections"]),
        (&early_data_late::CAUSE, held(Some(true)), &[]),
        (&early_data_late::CAUSE, held(None), &[]),
    ]);
}

#[test]
fn early_data_that_is_never_answered_is_told() {
    let failing = |example: Example, name| example.refused("1.3", Kind::Early, 3).all(|it| it.outcome = Err(name));
    check(&[
        (
            &early_data_unanswered::CAUSE,
            failing(full("1.3"), FaultName::EarlyDataUnanswered),
            &[
                "Fault, Likely",
                "\nNo response on 3 of 3 connections that sent early data\nThe same request after the handshake was answered \
                 on 100 connections\n2 lines",
            ],
        ),
        // Where nothing is answered, early data may not be to blame.
        (&early_data_unanswered::CAUSE, failing(Example::new(), FaultName::EarlyDataUnanswered), &["Possible"]),
        (&early_data_unanswered::CAUSE, failing(full("1.3"), FaultName::Timeout), &[]),
    ]);
}

#[test]
fn what_a_resumption_saves_is_told_where_it_is_little() {
    let taking = |us| Example::new().run("1.3", Kind::Full, 400).run("1.3", Kind::Ticket, us);
    let exchanging = |it: &mut Facts| it.psk_mode = Some(PskMode::PskDheKe);
    check(&[
        (
            &little_to_save::CAUSE,
            taking(388).interval([1.01, 1.05]).facts(exchanging),
            &[
                "Note, Likely",
                "\nFull 400, ticket 388 µs: saves 12.0 µs, 3 % of the full handshake\nFull to resumed 1.03 (95 % interval \
                 1.01–1.05)\n",
                "fresh key exchange",
            ],
        ),
        (
            &little_to_save::CAUSE,
            taking(440).interval([0.85, 0.95]),
            &["\nFull 400, ticket 440 µs: costs 40.0 µs more, 10 % of the full handshake\n"],
        ),
        (
            &little_to_save::CAUSE,
            taking(200).interval([0.7, 5.0]),
            &["Possible", "\n100 connections are too few to show", "either may be faster\n", "--count"],
        ),
        // Of too few samples for an interval nothing is said.
        (&little_to_save::CAUSE, taking(398).without_intervals("1.3", Kind::Ticket), &[]),
        (&little_to_save::CAUSE, taking(350).interval([1.1, 1.2]), &[]),
    ]);
}

#[test]
fn over_a_long_way_the_round_trips_are_counted() {
    let far = |connect: u64, resumed_round_trips| {
        let full = Example::new().timed_run("1.3", Kind::Full, [connect, connect + 900, connect + 100]).round_trips(1);
        let full = full.timed_run("1.3", Kind::Ticket, [connect, connect + 200, connect + 100]);
        full.round_trips(resumed_round_trips)
    };
    check(&[
        (
            &latency_rules::CAUSE,
            far(50_000, 1),
            &[
                "\nA round trip takes 50.00 ms (connect); a full connection waits for 3: 150 of 151 ms, 99 %\nRound trips before \
                 data may be sent: full 1, ticket 1\n2 lines",
                "Early data",
            ],
        ),
        // On loopback computing rules.
        (&latency_rules::CAUSE, far(40, 1), &[]),
        (&latency_rules::CAUSE, far(50_000, 1).without_intervals("1.3", Kind::Full), &[]),
        (&latency_rules::CAUSE, far(50_000, 1).without_intervals("1.3", Kind::Ticket), &[]),
        // A saved round trip is a saving.
        (&latency_rules::CAUSE, far(50_000, 0), &[]),
        (
            &latency_rules::CAUSE,
            far(50_000, 1).next_request(50_200),
            &["\nThe next request on a kept-alive connection takes 50.20 ms\n3 lines"],
        ),
    ]);
    let example = far(50_000, 1);
    let mut wide = example.case().figures.clone();
    wide.runs[0].phases.get_mut(&Phase::Connect).unwrap().ci95_ns = Some([20_000_000, 80_000_000]);
    let rule = latency_rules::CAUSE.measured.unwrap().find;
    assert_eq!(rule.findings(&MeasuredCase { figures: &wide, ..example.case() }), [], "the interval leaves it open");
}

#[test]
fn a_client_that_runs_out_of_tickets_is_told_what_that_costs() {
    let gives_two = |it: &mut Facts| (0..2).for_each(|_| it.tickets.add(ticket(None)));
    let given = |tls| full(tls).facts(gives_two);
    let again = || given("1.3").run("1.3", Kind::Ticket, 300);
    let one = full("1.3").facts(|it| it.tickets.add(ticket(None)));
    check(&[
        (
            &no_ticket_on_resumption::CAUSE,
            again(),
            &[
                // A third of 600 µs.
                "Note, Likely, cost 200000 ns",
                "\nNo ticket on any of 100 connections that resumed; 100 full ones brought 200\nA client that uses each ticket \
                 once, as it should, gets 2.0 per full handshake: 33 % of its connections are full\n2 lines",
            ],
        ),
        (&no_ticket_on_resumption::CAUSE, one.run("1.3", Kind::Ticket, 300), &["Risk"]),
        (&no_ticket_on_resumption::CAUSE, again().facts(gives_two), &[]),
        (&no_ticket_on_resumption::CAUSE, again().first(1, negotiating(gives_two)), &[]),
        // TLS 1.2 needs no new ticket; refused tickets and error pages are other causes.
        (&no_ticket_on_resumption::CAUSE, given("1.2").run("1.2", Kind::Ticket, 300), &[]),
        (&no_ticket_on_resumption::CAUSE, given("1.3").refused("1.3", Kind::Ticket, 100), &[]),
        (&no_ticket_on_resumption::CAUSE, again().all(|it| it.http_status = Some(503)), &[]),
    ]);
    let example = again();
    let mut figures = again().document();
    figures.ticket_request = Some(TicketRequestRecord { new_session: 2, resumption: 0 });
    let rule = no_ticket_on_resumption::CAUSE.measured.unwrap().find;
    assert_eq!(rule.findings(&MeasuredCase { figures: &figures, ..example.case() }), [], "the client asked for none");
}

#[test]
fn certificates_of_clients_are_told() {
    use ClientAuthentication::{NotRequested, RequestedNoneSent, Sent};
    let with = |tls, authentication| full(tls).facts(move |it| it.client_authentication = authentication);
    let answered = |authentication, status| with("1.3", authentication).all(move |it| it.http_status = Some(status));
    let asks_again = negotiating(|it| it.client_authentication = RequestedNoneSent);
    check(&[
        (
            &client_authentication_inherited::CAUSE,
            with("1.2", Sent).run("1.2", Kind::Id, 200),
            &[
                "Note, Certain",
                "\nTLS 1.2 full: certificate requested on 100 of 100 connections, sent on 100\nTLS 1.2 id: certificate \
                 requested on 0 of 100 connections\n2 lines",
            ],
        ),
        // Refused resumptions that ask again do not hide it.
        (
            &client_authentication_inherited::CAUSE,
            with("1.2", Sent).run("1.2", Kind::Id, 200).of_which_full(30).first(30, asks_again),
            &["Note"],
        ),
        // An external PSK inherits nothing, nor does a session without a certificate.
        (&client_authentication_inherited::CAUSE, with("1.3", Sent).run("1.3", Kind::Psk, 200), &[]),
        (&client_authentication_inherited::CAUSE, with("1.2", RequestedNoneSent).run("1.2", Kind::Id, 200), &[]),
        (&client_authentication_inherited::CAUSE, full("1.2").run("1.2", Kind::Id, 200), &[]),
        (
            &client_certificate_missing::CAUSE,
            answered(RequestedNoneSent, 400),
            &[
                "Risk",
                "\nCertificate requested and none sent on 100 of 100 connections; each got an error response (400)\n1 lines",
                "\nSet one with --cert FILE --key FILE",
            ],
        ),
        // Who is served without lacks none.
        (&client_certificate_missing::CAUSE, answered(RequestedNoneSent, 200), &[]),
        (
            &client_certificate_missing::CAUSE,
            answered(RequestedNoneSent, 200).first(3, |it| it.http_status = Some(503)),
            &[],
        ),
        (&client_certificate_missing::CAUSE, answered(Sent, 403), &[]),
        (&client_certificate_missing::CAUSE, answered(NotRequested, 403), &[]),
    ]);
}

#[test]
fn full_handshakes_that_are_not_alike_are_told() {
    let alike = || {
        full("1.3").facts(|it| {
            (it.peer_key, it.leaf, it.group) = (Some(PeerKey::P256), Some([1; 32]), Some(NamedGroup::X25519.0));
        })
    };
    let other_key = negotiating(|it| it.peer_key = Some(PeerKey::Rsa { bits: 2048 }));
    let other_leaf = negotiating(|it| it.leaf = Some([0xab; 32]));
    let other_suite = negotiating(|it| {
        (it.cipher, it.group) = (CipherSuite::TLS_AES_256_GCM_SHA384.0, Some(NamedGroup::SECP256R1.0));
    });
    check(&[
        (&node_certificate_differs::CAUSE, alike().run("1.3", Kind::Ticket, 200), &[]),
        (
            &node_certificate_differs::CAUSE,
            alike().first(1, other_key),
            &["\nFull TLS 1.3 handshakes were not all alike", "\np-256 on 99, rsa-2048 on 1\n1 lines"],
        ),
        (
            &node_certificate_differs::CAUSE,
            alike().first(40, other_leaf),
            &["\nSHA-256 of the certificates: 01010101… on 60, abababab… on 40\n1 lines"],
        ),
        (&node_protocol_differs::CAUSE, alike(), &[]),
        (
            &node_protocol_differs::CAUSE,
            alike().first(30, other_suite),
            &["\nTLS_AES_128_GCM_SHA256 on 70, TLS_AES_256_GCM_SHA384 on 30\nsecp256r1 on 30, x25519 on 70\n2 lines"],
        ),
    ]);
}

#[test]
fn what_endangers_sessions_is_told() {
    let giving = |it: &mut Facts| it.tickets.add(ticket(None));
    let zero = |it: &mut Observation| it.ticket_key_is_zero = true;
    let share = |it: &mut Facts| it.key_share = Some([7; 8]);
    let left = |seconds| move |it: &mut Facts| it.leaf_left_s = Some(seconds);
    check(&[
        (&ticket_key_zero::CAUSE, full("1.3").facts(giving), &[]),
        (&ticket_key_zero::CAUSE, full("1.3").facts(giving).first(2, zero), &["Fault, Certain", " on 2 of 100 connections"]),
        (&key_share_reused::CAUSE, full("1.3"), &[]),
        (&key_share_reused::CAUSE, full("1.3").first(1, negotiating(share)), &[]),
        (
            &key_share_reused::CAUSE,
            full("1.3").first(3, negotiating(share)),
            &["Note, Certain", "1 keys in 3 handshakes, one of them 3 times"],
        ),
        // The tickets live for 300 s.
        (&session_outlives_certificate::CAUSE, full("1.3").facts(giving).facts(left(300)), &[]),
        (
            &session_outlives_certificate::CAUSE,
            full("1.3").facts(giving).facts(left(299)),
            &["Note, Certain", "given for 5 minutes; the certificate ends in 4 minutes"],
        ),
        // It had expired before, and nobody verifies it.
        (&session_outlives_certificate::CAUSE, full("1.3").facts(giving).facts(left(0)), &[]),
        (&session_outlives_certificate::CAUSE, full("1.2").facts(left(10)).run("1.2", Kind::Id, 200), &[]),
    ]);
}

#[test]
fn a_lifetime_of_seconds_is_told_as_tickets_state_it() {
    let stating = |lifetime_s| full("1.3").facts(move |it| it.tickets.add(Ticket { lifetime_s, ..ticket(None) }));
    check(&[
        (
            &lifetime_short::CAUSE,
            stating(59),
            &[
                "Risk, Certain",
                "TLS 1.3 tickets last 59 s: a client that returns later makes a full handshake",
                "100 tickets state 59 s at most",
            ],
        ),
        (&lifetime_short::CAUSE, stating(60), &[]),
        // Under TLS 1.2 it is unspecified, under 1.3 invalid.
        (&lifetime_short::CAUSE, stating(0), &[]),
    ]);
}

#[test]
fn a_session_of_an_expired_certificate_is_told() {
    let age = |seconds: u64| {
        move |it: &mut Observation| {
            let offered = it.offered.as_mut().unwrap();
            offered.age = Nanos(seconds * 1_000_000_000);
            offered.origin = Some(Origin { index: 0, was_resumed: false, is_last: true });
        }
    };
    let made = || full("1.2").facts(|it| it.leaf_left_s = Some(60));
    let resumed = |seconds| made().run("1.2", Kind::Id, 200).all(age(seconds));
    check(&[
        (&session_outlives_certificate::CAUSE, resumed(60), &[]),
        (&session_outlives_certificate::CAUSE, resumed(65), &["Risk, Certain", "resumed 5 seconds after the end"]),
    ]);
}

#[test]
fn responses_and_signatures_are_told() {
    let answered = |status| full("1.3").all(move |it| it.http_status = Some(status));
    let verified = |how| full("1.2").facts(move |it| it.verification = how);
    let closed = || Example::new().refused("1.3", Kind::Full, 4);
    let weak = |it: &mut Facts| it.peer_key = Some(PeerKey::Rsa { bits: 1024 });
    check(&[
        (
            &error_responses::CAUSE,
            answered(301).first(3, |it| it.http_status = Some(404)),
            &["\nHTTP status 301 on 97, 404 on 3 of 100 connections\n", "--path"],
        ),
        // A success and a service without HTTP.
        (&error_responses::CAUSE, answered(204).first(3, |it| it.http_status = None), &[]),
        (&connection_closed_after_response::CAUSE, closed(), &[]),
        (
            &connection_closed_after_response::CAUSE,
            closed().keep_alive(),
            &["\nThe server closes 4 of 4 connections after the first response"],
        ),
        (
            &signature_unverified::CAUSE,
            verified(Verification::SignatureUnverified).facts(weak),
            &["its rsa-1024 key is too weak"],
        ),
        (&signature_unverified::CAUSE, verified(Verification::ChainSkipped), &[]),
    ]);
}
