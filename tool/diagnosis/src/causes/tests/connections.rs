//! What the rules make of connections that a session does not explain: of answers, failures and waits.

use reprise_model::document::{AnswerDifference, AnswerPart, AnswerRecord};
use reprise_model::{Bytes, ClientAuthentication, Facts, FaultName, Kind, Nanos, Observation, Phase, Version};

use super::super::*;
use super::measured::{check, early, full, resumed};
use crate::example::{Example, another_status};
use crate::series::MeasuredCase;

#[test]
fn answers_that_follow_the_kind_are_told() {
    let status = |kind, status, confidence| another_status("1.3", kind, status, confidence);
    let answered = |difference: AnswerDifference| resumed().answering_otherwise(difference);
    let part = |part, resumed: AnswerRecord| {
        let difference = status(Kind::Ticket, 302, Confidence::Certain);
        let full =
            AnswerRecord { status: Some(302), location: Some("/home".to_owned()), bytes: 5_000, ..difference.full.clone() };
        AnswerDifference { part, resumed: AnswerRecord { status: Some(302), ..resumed }, full, ..difference }
    };
    let record = || status(Kind::Ticket, 302, Confidence::Certain).resumed;
    check(&[
        (&answers_differ::CAUSE, resumed(), &[]),
        (
            &answers_differ::CAUSE,
            answered(status(Kind::Ticket, 496, Confidence::Certain)),
            &[
                "Fault, Certain",
                "Resumed connections are answered with HTTP status 496, full handshakes with HTTP status 200",
                "TLS 1.3 by ticket: HTTP status 496 on 99 of 100; full handshakes, made in turn with them: HTTP status 200 on 99",
                "http-request deny deny_status 403 unless { ssl_c_used }",
            ],
        ),
        (&answers_differ::CAUSE, answered(status(Kind::Ticket, 421, Confidence::Possible)), &["Fault, Possible"]),
        (&answers_differ::CAUSE, answered(status(Kind::Ticket, 302, Confidence::Likely)), &["Risk, Likely"]),
        (
            &answers_differ::CAUSE,
            answered(part(AnswerPart::Location, AnswerRecord { location: Some("/login".to_owned()), ..record() })),
            &["Risk, Certain", "HTTP status 302 to /login, full handshakes with HTTP status 302 to /home"],
        ),
        (&answers_differ::CAUSE, answered(part(AnswerPart::Size, record())), &["Risk", "status 302 and 100 bytes"]),
        (
            &answers_differ::CAUSE,
            answered(part(AnswerPart::Close, AnswerRecord { keeps_alive: false, ..record() })),
            &["Note, Certain", "and closed, full handshakes with HTTP status 302, and kept open"],
        ),
        (
            &answers_differ::CAUSE,
            early().answering_otherwise(status(Kind::Early, 403, Confidence::Certain)),
            &["Fault, Certain", "Early data is answered with HTTP status 403"],
        ),
        // It has a cause of its own.
        (&answers_differ::CAUSE, early().answering_otherwise(status(Kind::Early, 425, Confidence::Certain)), &[]),
        (
            &error_responses::CAUSE,
            answered(status(Kind::Ticket, 496, Confidence::Certain)).all(|it| it.http_status = Some(496)),
            &[],
        ),
    ]);
}

#[test]
fn a_version_that_is_chosen_and_fails_is_told() {
    let fails = |count: u64| {
        let fails = Example::new().run("1.2", Kind::Full, 900).refused("1.3", Kind::Full, count);
        fails.all(|it| {
            it.chosen = Some(Version::Tls13);
            it.phases.tls = Some(Nanos(900_000));
            it.sent = Bytes(41_000);
            it.outcome = Err(FaultName::ClosedEarly);
        })
    };
    const TITLE: &str = "Every TLS 1.3 connection fails after its handshake (closed early), and TLS 1.2 works";
    check(&[
        (
            &version_fails::CAUSE,
            fails(6),
            &[
                "Fault, Certain",
                TITLE,
                "6 of 6 connections in which the server chose TLS 1.3 failed: closed early on 6",
                "had sent 41000 bytes",
            ],
        ),
        (&version_fails::CAUSE, fails(3), &["Fault, Likely"]),
        (&version_fails::CAUSE, fails(1), &["Fault, Possible"]),
        (
            &version_fails::CAUSE,
            fails(3).all(|it| it.phases.tls = None).all(|it| it.outcome = Err(FaultName::Alert(80))),
            &["fails in its handshake, after the ServerHello (alert internal_error)"],
        ),
        // It is not spoken; once it worked; nothing works; it is this side that fails.
        (&version_fails::CAUSE, fails(6).all(|it| it.chosen = None), &[]),
        (&version_fails::CAUSE, fails(6).refused("1.3", Kind::Ticket, 2), &[]),
        (
            &version_fails::CAUSE,
            Example::new().refused("1.3", Kind::Full, 6).all(|it| it.outcome = Err(FaultName::Timeout)),
            &[],
        ),
        (&version_fails::CAUSE, fails(6).all(|it| it.outcome = Err(FaultName::PortsExhausted)), &[]),
    ]);
}

#[test]
fn an_answer_that_waits_for_an_acknowledgement_is_nagle() {
    let tried = |tls, plain, at_once| full(tls).trials(tls, plain, at_once);
    check(&[
        (
            &nagle::CAUSE,
            tried("1.3", [42, 0], [1, 0]),
            &[
                "Risk, Likely, cost 41000000 ns",
                "The first response waits 41.00 ms",
                "of the tickets before it",
                "setsockopt",
            ],
        ),
        (&nagle::CAUSE, tried("1.3", [43, 44], [1, 1]), &["Each response waits 42.00 ms", "leaves in two writes"]),
        (&nagle::CAUSE, tried("1.2", [1, 44], [1, 1]), &["cost 43000000 ns", "Each response"]),
        // An application that is slow is as slow where each segment is acknowledged at once.
        (&nagle::CAUSE, tried("1.3", [42, 41], [41, 42]), &[]),
        // No acknowledgement is delayed so long.
        (&nagle::CAUSE, tried("1.3", [900, 900], [1, 1]), &[]),
        (&nagle::CAUSE, tried("1.3", [12, 12], [1, 1]), &[]),
    ]);
    let both = tried("1.3", [43, 44], [1, 1]).trials("1.2", [1, 44], [1, 1]);
    check(&[(&nagle::CAUSE, both, &["3 lines of evidence", "TLS 1.3: a first response takes", "TLS 1.2: a second one"])]);
    // One of three is slow, whatever is acknowledged.
    let at_times = tried("1.3", [42, 42], [1, 1]);
    let case = at_times.case();
    let mut trials = case.trials.to_vec();
    for trial in trials.iter_mut().skip(4) {
        trial.observation.phases.wait = Some(Nanos(1_000_000));
        trial.observation.next_request = None;
    }
    let Some(Rule { find, .. }) = nagle::CAUSE.measured else { panic!() };
    assert_eq!(find.findings(&MeasuredCase { trials: &trials, ..case }), []);
}

#[test]
fn offers_that_fail_beside_connections_that_complete_are_told() {
    let fails = |name| {
        move |seen: &mut Observation| {
            seen.client = Some(([127, 0, 0, 1], 40_000).into());
            seen.outcome = Err(name);
        }
    };
    let tickets = || Example::new().run("1.3", Kind::Ticket, 300);
    let cut = || tickets().all(fails(FaultName::ConnectionReset));
    let asks = |facts: &mut Facts| facts.client_authentication = ClientAuthentication::Sent;
    let uncertain = || tickets().all(fails(FaultName::Alert(80))).run("1.3", Kind::Full, 900);
    check(&[
        (
            &offer_breaks_connection::CAUSE,
            cut().run("1.3", Kind::Full, 900),
            &[
                "Fault, Certain",
                "Offering a session breaks the connection: TLS 1.3 by ticket, connection reset",
                "100 of 100 connections that offered a session failed, 100 of 100 that offered none completed",
            ],
        ),
        (&offer_breaks_connection::CAUSE, uncertain(), &["Fault, Certain", "internal_error"]),
        // Nobody knows whether the target was there any more; the server asks for a certificate; all is well.
        (&offer_breaks_connection::CAUSE, full("1.3").run("1.3", Kind::Ticket, 300).all(fails(FaultName::Timeout)), &[]),
        (&offer_breaks_connection::CAUSE, uncertain().facts(asks), &[]),
        (&session_context_unset::CAUSE, uncertain().facts(asks), &["Fault, Certain", "100 connections offered a session"]),
        (&session_context_unset::CAUSE, uncertain(), &[]),
        (&offer_breaks_connection::CAUSE, resumed(), &[]),
        // A connection that was never made offered nothing.
        (
            &offer_breaks_connection::CAUSE,
            tickets().all(|seen| seen.outcome = Err(FaultName::Timeout)).run("1.3", Kind::Full, 900),
            &[],
        ),
    ]);
}

#[test]
fn connections_that_take_a_step_longer_are_told() {
    let slow = |one_in, phase, ms: u64| full("1.3").slow(one_in, phase, ms * 1_000);
    let slow_by_chance = slow(3, Phase::Tls, 2_000).samples(|it| it.index = it.index.map(|index| index * 37 % 101));
    let elsewhere = slow(2, Phase::Wait, 60).samples(|it| {
        if it.index.unwrap() % 2 == 0 {
            it.address = Some("192.0.2.7".to_owned());
        }
    });
    check(&[
        (
            &some_connections_slow::CAUSE,
            slow(3, Phase::Wait, 1_000),
            &[
                "Risk, Likely, cost 340",
                "34 of 100 connections take 1.00 s longer until the response begins",
                "One of each 3 in turn",
                "wait: ",
                "on 66 connections, 1.00 s on 34 (medians)",
                "default-server check",
            ],
        ),
        (&some_connections_slow::CAUSE, slow(10, Phase::Connect, 1_000), &["a SYN that is not answered and sent again"]),
        (&some_connections_slow::CAUSE, slow_by_chance, &["Likely", "no address and no turn", "waits in vain for a node"]),
        (&some_connections_slow::CAUSE, elsewhere, &["Likely", "All 50 went to 192.0.2.7", "none of the other 50"]),
        (&some_connections_slow::CAUSE, slow(4, Phase::Wait, 41), &["an acknowledgement that is delayed"]),
        (&some_connections_slow::CAUSE, slow(3, Phase::Wait, 15), &[]),
        (&some_connections_slow::CAUSE, slow(1, Phase::Wait, 1_000), &[]),
        // A kind that takes longer each time is no mode of another.
        (
            &some_connections_slow::CAUSE,
            slow(200, Phase::Wait, 0).timed_run("1.3", Kind::Ticket, [50, 90_000, 100]).slow(200, Phase::Wait, 0),
            &[],
        ),
    ]);
}
