//! What the rules make of experiments.

use reprise_model::{Asked, ClientAuthentication, EarlyData, Ended, Facts, FaultName, Kind, Nanos, PskMode, Ticket};
use reprise_probe::diagnose::{Step, Variation};

use reprise_judge::JudgedCause as Concluded;

use super::super::*;
use super::{Expected, assert_tells};
use crate::diagnose::scene::{ID, Scene, TICKET, TLS12, TLS12_ID, TLS13, ticket_of};

const FULL: Kind = Kind::Full;

/// A scene in which sessions resume, and then this experiment.
fn run(name: &str, asked: Asked, kinds: &[Kind]) -> Scene {
    Scene::resuming(asked).run(name, asked, kinds)
}

fn check(cases: Vec<(&Cause, Scene, Expected)>) {
    for (place, (cause, scene, expected)) in cases.into_iter().enumerate() {
        assert_tells(cause, place, scene.only(cause), expected);
    }
}

#[test]
fn what_is_varied_loses_the_session() {
    let fill = |kind| run("fill", TLS12_ID, &[FULL, FULL, FULL, kind]);
    let filled_twice = || fill(FULL).again(&[FULL; 4]);
    let closed = |kind| run("unclean-close", TLS12_ID, &[FULL, kind]).repeated();
    let unnamed = |kind| run("without-sni", TLS13, &[FULL, kind]).repeated();
    let without_hash = || run("other-suite", TLS13, &[FULL, TICKET]).run("no-suite-of-its-hash", TLS13, &[FULL, FULL]);
    let large = |kind| run("large-client-hello", TLS13, &[FULL, kind]);
    let in_segments = |large_too| large(large_too).run("segments", TLS13, &[FULL, TICKET]);
    let greased = |kind| in_segments(TICKET).run("ech-grease", TLS13, &[FULL, kind]);
    check(vec![
        (&cache_too_small::CAUSE, filled_twice(), &["Risk, Possible", "gone after 2 connections"]),
        (&cache_too_small::CAUSE, fill(ID).repeated(), &[]),
        (&cache_too_small::CAUSE, filled_twice().and_resuming(TLS12), &["Note"]),
        // It may take too many connections to be made again.
        (&cache_too_small::CAUSE, fill(FULL), &["Risk, Possible"]),
        (&cache_too_small::CAUSE, filled_twice().again(&[FULL; 4]), &["Likely"]),
        // A node that does not know the session is no small cache.
        (&cache_too_small::CAUSE, filled_twice().again(&[FULL, FULL, FULL, ID]), &[]),
        (&cache_too_small::CAUSE, filled_twice().control(TLS12_ID, &[FULL, ID, FULL]), &[]),
        (&unclean_close_evicts::CAUSE, closed(FULL), &["Risk"]),
        (&unclean_close_evicts::CAUSE, closed(ID), &[]),
        (&unclean_close_evicts::CAUSE, closed(FULL).and_resuming(TLS12), &["Note"]),
        // One finding, a line for each experiment.
        (
            &unclean_close_evicts::CAUSE,
            closed(FULL).run("reset", TLS12_ID, &[FULL, FULL]).repeated(),
            &["2 lines of evidence"],
        ),
        // A server that refuses anyway forgets nothing.
        (
            &unclean_close_evicts::CAUSE,
            Scene::refusing(TLS12_ID).run("unclean-close", TLS12_ID, &[FULL, FULL]).repeated(),
            &[],
        ),
        (&sni_differs::CAUSE, unnamed(FULL), &["Note"]),
        (&sni_differs::CAUSE, unnamed(TICKET), &[]),
        (
            &sni_differs::CAUSE,
            unnamed(FULL).and_resuming(TLS12).run("without-sni", TLS12, &[FULL, FULL]).repeated(),
            &["TLS 1.3 by ticket, TLS 1.2 by ticket"],
        ),
        (
            &connection_closed_after_response::CAUSE,
            run("keep-alive", TLS13, &[FULL]).answered(false),
            &["Note, Certain", "closes 1 of 1 connection after the first response"],
        ),
        (&connection_closed_after_response::CAUSE, run("keep-alive", TLS13, &[FULL]).answered(true), &[]),
        // What was not HTTP, and what was not asked for.
        (&connection_closed_after_response::CAUSE, run("keep-alive", TLS13, &[FULL]), &[]),
        (&connection_closed_after_response::CAUSE, Scene::resuming(TLS13).answered(false), &[]),
        (&suite_differs::CAUSE, run("other-suite", TLS13, &[FULL, FULL]).repeated(), &["Note"]),
        (&suite_differs::CAUSE, run("other-suite", TLS13, &[FULL, TICKET]).repeated(), &[]),
        (&suite_differs::CAUSE, without_hash().repeated(), &[]),
        (
            &suite_differs::CAUSE,
            without_hash().last_fails(FaultName::Alert(47)).repeated(),
            &["Note, Possible", "illegal_parameter", "no suite has the hash"],
        ),
        // Such suites are not served; nobody ended it.
        (
            &suite_differs::CAUSE,
            run("no-suite-of-its-hash", TLS13, &[FULL, FULL]).last_fails(FaultName::Alert(40)).repeated(),
            &[],
        ),
        (&suite_differs::CAUSE, without_hash().last_fails(FaultName::Unconfirmed).repeated(), &[]),
        (&large_client_hello::CAUSE, large(FULL).repeated(), &["is not resumed"]),
        (&large_client_hello::CAUSE, large(FULL), &[]),
        (&large_client_hello::CAUSE, large(TICKET).repeated(), &[]),
        (
            &large_client_hello::CAUSE,
            large(TICKET).last_fails(FaultName::ConnectionReset).repeated(),
            &["fails where it offers"],
        ),
        (&ech_grease_refused::CAUSE, greased(FULL).repeated().repeated(), &["Risk, Likely", "is not resumed"]),
        (&ech_grease_refused::CAUSE, greased(FULL), &[]),
        (&ech_grease_refused::CAUSE, greased(TICKET).repeated(), &[]),
        (
            &ech_grease_refused::CAUSE,
            in_segments(TICKET).run("ech-grease", TLS13, &[FULL]).last_fails(FaultName::ClosedEarly).repeated(),
            &["Possible", "fails, whether it offers a session or not"],
        ),
        // It is the size, or may be.
        (&ech_grease_refused::CAUSE, in_segments(FULL).run("ech-grease", TLS13, &[FULL, FULL]).repeated().repeated(), &[]),
        (&ech_grease_refused::CAUSE, run("ech-grease", TLS13, &[FULL, FULL]).repeated().repeated(), &[]),
    ]);
}

#[test]
fn early_data_lost_to_grease_is_told_apart() {
    let early = |with, without| {
        let verdict = |facts: &mut Facts| {
            let accepted = facts.kind == Kind::Early;
            facts.early_data = Some(if accepted { EarlyData::Accepted } else { EarlyData::Rejected });
        };
        run("ech-grease-early-data", TLS13, &[FULL, without, FULL, with]).facts(verdict).repeated().repeated()
    };
    check(vec![
        (
            &ech_grease_refused::CAUSE,
            early(TICKET, Kind::Early),
            &[
                "Risk, Likely",
                "early data is rejected where the ClientHello greases ECH",
                "accepted on 3 connections and rejected on 0; with it accepted on 0 and rejected on 3",
            ],
        ),
        (&ech_grease_refused::CAUSE, early(Kind::Early, Kind::Early), &[]),
        // It is rejected anyway, or by chance.
        (&ech_grease_refused::CAUSE, early(TICKET, TICKET), &[]),
        (&ech_grease_refused::CAUSE, early(Kind::Early, TICKET), &[]),
    ]);
}

#[test]
fn what_is_varied_gains_the_session() {
    let both = |mode| {
        let scene = Scene::refusing(TLS13).run("both-psk-modes", TLS13, &[FULL, TICKET]);
        scene.facts(move |facts| facts.psk_mode = Some(mode)).repeated()
    };
    let uncertified = |kind| Scene::refusing(TLS12_ID).run("no-certificate-at-all", TLS12_ID, &[FULL, kind]).repeated();
    let unnamed = |kind| Scene::refusing(TLS13).run("no-sni-at-all", TLS13, &[FULL, kind]).repeated();
    let open = |asked, kinds: &[Kind]| {
        let steps: Vec<Kind> = kinds.iter().flat_map(|kind| [FULL, *kind]).collect();
        Scene::refusing(asked).run("while-open", asked, &steps)
    };
    let freed = |kinds: &[Kind]| open(TLS12_ID, kinds).ended(Ended::Fin);
    let given_with_a_name = Scene::refusing(TLS13).run("no-sni-at-all", TLS13, &[FULL]).key_names(&[1; 8]);
    check(vec![
        (&client_psk_mode::CAUSE, both(PskMode::PskKe), &["Fault"]),
        (&client_psk_mode::CAUSE, both(PskMode::PskDheKe), &[]),
        (&session_too_large::CAUSE, uncertified(ID), &["Fault"]),
        (&session_too_large::CAUSE, uncertified(FULL), &[]),
        (
            &unclean_close_evicts::CAUSE,
            freed(&[ID; 3]),
            &[
                "Fault, Likely",
                "the server ends without close_notify",
                "0 of 6 connections",
                "While it was open",
                "Let the server end",
            ],
        ),
        (&unclean_close_evicts::CAUSE, freed(&[ID]), &["Possible"]),
        (&unclean_close_evicts::CAUSE, freed(&[ID; 3]).and_resuming(TLS12), &["Risk"]),
        (&unclean_close_evicts::CAUSE, open(TLS13, &[TICKET; 3]).ended(Ended::Fin), &["Fault", "TLS 1.3 by ticket"]),
        // It serves one connection at a time.
        (
            &unclean_close_evicts::CAUSE,
            freed(&[ID]).last_fails(FaultName::Timeout),
            &["Fault, Possible", "which may be why", "id-never-accepted"],
        ),
        // The cache is off; the server says that it ends the connection; nobody has seen its end; sessions live on.
        (&unclean_close_evicts::CAUSE, freed(&[FULL; 3]), &[]),
        (&unclean_close_evicts::CAUSE, freed(&[ID, ID, FULL]), &[]),
        (&unclean_close_evicts::CAUSE, open(TLS12_ID, &[ID; 3]).ended(Ended::CloseNotify), &[]),
        (&unclean_close_evicts::CAUSE, open(TLS12_ID, &[ID; 3]), &[]),
        (&unclean_close_evicts::CAUSE, run("while-open", TLS12_ID, &[FULL, ID]).ended(Ended::Fin), &[]),
        (&vhost_directives::CAUSE, unnamed(TICKET), &["2 lines of evidence"]),
        (&vhost_directives::CAUSE, unnamed(FULL).key_names(&[1; 10]), &[]),
        (&vhost_directives::CAUSE, given_with_a_name, &["not given without it"]),
    ]);
}

#[test]
fn data_connections_resume_or_get_nothing() {
    const RESUMED: (bool, bool) = (true, true);
    let of = |with, without| Scene::resuming(TLS13).transfers(with, without);
    let cause = &data_channel_session::CAUSE;
    check(vec![
        (cause, of([RESUMED; 2], [true; 2]), &[]),
        (cause, of([RESUMED; 2], [false; 2]), &["Note, Certain", "0 of 2 listings without the session", "522 refused"]),
        (cause, of([(false, false); 2], [false; 2]), &["Fault, Likely", "No data connection gets anything"]),
        (cause, of([(false, false); 2], [true; 2]), &["Fault, Certain", "where they offer"]),
        (cause, of([(false, true); 2], [true; 2]), &["Note, Certain", "makes a full handshake"]),
        // Now one way and now the other, and a listing that is refused for another reason.
        (cause, of([RESUMED; 2], [true, false]), &[]),
        (cause, of([(true, false); 2], [false; 2]), &[]),
        (cause, Scene::resuming(TLS13), &[]),
    ]);
}

#[test]
fn sessions_are_offered_in_a_burst() {
    let burst = |kinds: &[Kind], without| Scene::resuming(TLS13).burst(TLS13, kinds, without);
    let two_tickets: Expected =
        &["Note", "\nA connection gives 2 tickets: of 8 connections at once, the others cannot resume\n"];
    check(vec![
        (&tickets_run_out::CAUSE, burst(&[TICKET, TICKET], 6), two_tickets),
        (&tickets_run_out::CAUSE, burst(&[TICKET; 8], 0), &[]),
        (&tickets_run_out::CAUSE, burst(&[TICKET, FULL], 6).repeated(), &["Risk"]),
    ]);
}

#[test]
fn what_the_judge_concludes_is_found() {
    let concluded = |cause, asked| Scene::resuming(asked).judged(asked, cause);
    let of_length = |length| {
        let ticket = Ticket { length, max_early_data: Some(16_384), ..ticket_of(7_200) };
        concluded(Concluded::SingleUse, TLS13).facts(move |facts| facts.tickets.add(ticket))
    };
    let failing = || Scene::resuming(TLS12).everything_fails_from(3, FaultName::ConnectionReset);
    let fill = || concluded(Concluded::NotShared, TLS12_ID).run("fill", TLS12_ID, &[FULL; 4]).repeated();
    check(vec![
        (&single_use::CAUSE, concluded(Concluded::SingleUse, TLS13), &["Note, Likely", "more than 10,000 times likelier"]),
        (&single_use::CAUSE, concluded(Concluded::SingleUse, TLS12_ID), &["Risk"]),
        (&single_use::CAUSE, concluded(Concluded::NotShared, TLS13), &[]),
        (&hidden_nodes::CAUSE, concluded(Concluded::NotShared, TLS13), &["Risk, Likely"]),
        (&id_cache_per_process::CAUSE, concluded(Concluded::NotShared, TLS12_ID), &["Risk, Likely"]),
        // Whoever has tickets resumes at every node.
        (
            &id_cache_per_process::CAUSE,
            Scene::resuming(TLS12).and_resuming(TLS12_ID).judged(TLS12_ID, Concluded::NotShared),
            &["Note, Likely"],
        ),
        (&restart_lost_keys::CAUSE, concluded(Concluded::Restart, TLS12), &["Risk, Likely"]),
        (&node_down::CAUSE, concluded(Concluded::NodeDown, TLS12), &["Fault, Likely"]),
        (&rate_limited::CAUSE, failing().and_resuming(TLS12).judged(TLS12, Concluded::RateLimit), &["Note, Likely"]),
        // A server that died lets nobody through again.
        (&rate_limited::CAUSE, failing().judged(TLS12, Concluded::RateLimit), &[]),
        (&early_data_stateful::CAUSE, of_length(32), &["Note, Likely"]),
        (&early_data_stateful::CAUSE, of_length(208), &[]),
        // A node that does not know the session is no small cache.
        (&cache_too_small::CAUSE, fill(), &[]),
    ]);
}

#[test]
fn what_was_negotiated_tells_the_cause() {
    let without_extension = |kind| {
        let scene = run("without-extended-master-secret", TLS12, &[FULL, kind]);
        scene.facts(|facts| facts.extended_master_secret = true)
    };
    let stating = |asked, lifetime_s| Scene::resuming(asked).facts(move |facts| facts.tickets.add(ticket_of(lifetime_s)));
    let allowing =
        |max_early_data| move |facts: &mut Facts| facts.tickets.add(Ticket { max_early_data, ..ticket_of(7_200) });
    let waited = |kind| run("patience", TLS13, &[FULL, TICKET, FULL, kind, TICKET]);
    check(vec![
        (&ems_differs::CAUSE, without_extension(TICKET), &["Risk"]),
        (&ems_differs::CAUSE, without_extension(FULL), &["Note"]),
        (&ems_differs::CAUSE, without_extension(TICKET).last_fails(FaultName::Alert(40)), &[]),
        (&early_data_off::CAUSE, Scene::resuming(TLS13).facts(allowing(None)), &["Note"]),
        (&early_data_off::CAUSE, Scene::resuming(TLS13).facts(allowing(Some(16_384))), &[]),
        (&early_data_off::CAUSE, Scene::refusing(TLS13).facts(allowing(None)), &[]),
        (&lifetime_invalid::CAUSE, stating(TLS13, 0), &["Fault"]),
        (&lifetime_invalid::CAUSE, stating(TLS13, 604_801), &["Risk"]),
        (&lifetime_invalid::CAUSE, stating(TLS13, 604_800), &[]),
        // Under TLS 1.2 it is unspecified.
        (&lifetime_invalid::CAUSE, stating(TLS12, 0), &[]),
        (&lifetime_short::CAUSE, stating(TLS13, 299), &["Note"]),
        (&lifetime_short::CAUSE, stating(TLS13, 59), &["Risk, Certain"]),
        (&lifetime_short::CAUSE, stating(TLS13, 0), &[]),
        (&lifetime_short::CAUSE, stating(TLS13, 300), &[]),
        (&lifetime_short::CAUSE, waited(FULL), &["Possible"]),
        (&lifetime_short::CAUSE, waited(TICKET), &[]),
    ]);
}

#[test]
fn a_flight_that_waits_for_an_acknowledgement_is_nagle() {
    let ms = |ms: u64| Nanos(ms * 1_000_000);
    let stalled = |plain, at_once| {
        let scene = run("quick-acknowledgement", TLS12, &[FULL; 8]).stalls(ms(plain));
        scene.stall_in(Step::Prime(Variation::AcknowledgesAtOnce), ms(at_once))
    };
    check(vec![
        (&nagle::CAUSE, stalled(41, 1), &["Risk", "cost 41000000 ns"]),
        (&nagle::CAUSE, stalled(5, 1), &[]),
        // No acknowledgement is delayed so long.
        (&nagle::CAUSE, stalled(900, 1), &[]),
        // It stands still whenever it is acknowledged.
        (&nagle::CAUSE, stalled(41, 40), &[]),
    ]);
}

#[test]
fn an_answer_that_waits_for_an_acknowledgement_is_nagle() {
    let [again, quick] = [Variation::AsksAgain, Variation::AcknowledgesAtOnce].map(Step::Prime);
    let answered = |before: &[Kind], plain, at_once| {
        let scene = run("keep-alive", TLS13, before).run("quick-acknowledgement", TLS13, &[FULL; 12]);
        scene.answers_in(again, plain).answers_in(quick, at_once)
    };
    let fast_before = || run("keep-alive", TLS13, &[FULL; 8]).answers_in(again, [1, 1]);
    let slow_later = fast_before().run("quick-acknowledgement", TLS13, &[FULL; 12]).answers_in(quick, [1, 1]);
    check(vec![
        (&nagle::CAUSE, answered(&[FULL; 8], [42, 0], [1, 0]), &["Risk, Likely, cost 41000000 ns", "the tickets before it"]),
        (&nagle::CAUSE, answered(&[FULL; 8], [42, 43], [1, 1]), &["Each response waits 41.00 ms"]),
        (&nagle::CAUSE, answered(&[FULL; 8], [42, 43], [42, 43]), &[]),
        // Nothing is known of what came later.
        (&nagle::CAUSE, slow_later, &[]),
    ]);
}

#[test]
fn what_changes_while_it_is_examined_tells_the_cause() {
    let certificates = |keys: [u8; 8], leaf: fn(u32) -> [u8; 32]| Scene::refusing(TLS13).key_names(&keys).leaves(leaf);
    let own = |index: u32| [u8::try_from(index).unwrap(); 32];
    let refuses = node_protocol_differs::REFUSES;
    let failing_from = |place, name| Scene::resuming(TLS13).everything_fails_from(place, name);
    let giving = |names: &[u8]| Scene::of("resume", TLS13, &vec![FULL; names.len()]).primes().key_names(names);
    check(vec![
        (&node_certificate_differs::CAUSE, certificates([1; 8], own), &["Risk"]),
        // The certificate is the same; nodes with a key each.
        (&node_certificate_differs::CAUSE, certificates([1; 8], |_| [7; 32]), &[]),
        (&node_certificate_differs::CAUSE, certificates([1, 2, 1, 2, 1, 2, 1, 2], own), &[]),
        (&node_protocol_differs::CAUSE, Scene::resuming(TLS13), &[]),
        // The version is not spoken.
        (&node_protocol_differs::CAUSE, failing_from(0, refuses), &[]),
        (&node_protocol_differs::CAUSE, failing_from(4, refuses), &["Risk"]),
        (&node_protocol_differs::CAUSE, failing_from(4, FaultName::Timeout), &[]),
        (&rotation_stalled::CAUSE, giving(&[1, 1, 0, 0, 0]), &["Fault"]),
        // Not every connection gives one.
        (&rotation_stalled::CAUSE, giving(&[1, 0, 1, 0, 0]), &[]),
        (&rotation_stalled::CAUSE, giving(&[0, 0, 0, 0, 0]), &[]),
        (&rotation_stalled::CAUSE, giving(&[1, 1, 1, 0, 0]), &[]),
    ]);
}

#[test]
fn an_offer_that_breaks_the_connection_is_told() {
    let refused = || Scene::resuming(TLS12).resumptions_fail(FaultName::Alert(80));
    let asks = |facts: &mut Facts| facts.client_authentication = ClientAuthentication::Sent;
    let cut = FaultName::ConnectionReset;
    let identities = || run("identities", TLS13, &[FULL, TICKET]).last_fails(FaultName::Alert(50));
    let unnamed = || run("without-sni", TLS13, &[FULL, TICKET]).last_fails(cut);
    let some = || Scene::resuming(TLS12_ID).failing(&[2, 6], FaultName::BadRecordMac);
    let judged = || some().judged(TLS12_ID, Concluded::OfferBreaks);
    let some_refuse_the_version =
        || Scene::resuming(TLS13).failing(&[2, 6], node_protocol_differs::REFUSES).judged(TLS13, Concluded::OfferBreaks);
    let large = |failing: &[usize]| {
        let scene = Scene::resuming(TLS12_ID).failing(&[2, 6], cut).judged(TLS12_ID, Concluded::OfferBreaks);
        scene.run("as-large-as-an-offer", TLS12_ID, &[FULL; 11]).failing(failing, cut)
    };
    let always = Scene::resuming(TLS13).resumptions_fail(FaultName::Alert(40));
    check(vec![
        (&offer_breaks_connection::CAUSE, always, &["Fault, Certain", "handshake_failure"]),
        // A target that fell silent is not diagnosed.
        (&offer_breaks_connection::CAUSE, Scene::resuming(TLS13).everything_fails_from(1, FaultName::Timeout), &[]),
        (&offer_breaks_connection::CAUSE, identities().controlled(None).repeated(), &["Risk", "40 PSK identities"]),
        // Without a session it fails too, or nobody knows; once is chance.
        (&offer_breaks_connection::CAUSE, identities().controlled(Some(FaultName::Alert(50))).repeated(), &[]),
        (&offer_breaks_connection::CAUSE, identities().repeated(), &[]),
        (&offer_breaks_connection::CAUSE, identities().controlled(None), &[]),
        (&offer_breaks_connection::CAUSE, unnamed().controlled(None).repeated(), &["no server_name"]),
        (&offer_breaks_connection::CAUSE, unnamed().controlled(Some(cut)).repeated(), &[]),
        // An alert that no other connection meets is of no node.
        (&node_protocol_differs::CAUSE, some_refuse_the_version(), &[]),
        (&offer_breaks_connection::CAUSE, some_refuse_the_version(), &["Fault, Likely", "breaks some", "protocol_version"]),
        // Some of them fail, and the judge knows why.
        (&offer_breaks_connection::CAUSE, judged(), &["Fault, Likely", "breaks some connections", "2 of 6", "2 of 2"]),
        (&offer_breaks_connection::CAUSE, judged().accepted(), &["2 of them failed after the server had accepted"]),
        (&offer_breaks_connection::CAUSE, some().judged(TLS12_ID, Concluded::NodeDown), &[]),
        (&offer_breaks_connection::CAUSE, large(&[9, 13, 17]), &["since its ClientHello is larger", "3 of 5 connections"]),
        (&offer_breaks_connection::CAUSE, large(&[9, 10, 13, 17]), &["breaks some connections: "]),
        (&offer_breaks_connection::CAUSE, large(&[]), &["breaks some connections: "]),
        // It asks for no certificate.
        (&session_context_unset::CAUSE, refused(), &[]),
        (&session_context_unset::CAUSE, refused().facts(asks), &["Fault"]),
    ]);
}

#[test]
fn an_offer_that_breaks_one_version_is_told_beside_another() {
    let cut = FaultName::ConnectionReset;
    let scene = Scene::resuming(TLS13).resumptions_fail(cut).and_resuming(TLS12);
    let mut found = scene.run("large-client-hello", TLS12, &[FULL, TICKET]).last_fails(cut).repeated().found();
    let of_offers = [offer_breaks_connection::CAUSE.slug, large_client_hello::CAUSE.slug];
    found.retain(|slug| of_offers.contains(&slug.as_str()));
    assert_eq!(found, of_offers);
}

#[test]
fn a_hello_in_segments_that_fails_without_a_session_is_no_offer() {
    let scene = run("segments", TLS13, &[FULL]).last_fails(FaultName::ConnectionReset).repeated();
    assert_eq!(scene.found(), [large_client_hello::CAUSE.slug]);
    assert_eq!(run("segments", TLS13, &[FULL, TICKET]).found(), [""; 0]);
}

#[test]
fn early_data_that_is_never_taken_makes_nothing_stateful() {
    let of = |verdict| {
        let ticket = Ticket { length: 32, max_early_data: Some(16_384), ..ticket_of(7_200) };
        let scene = Scene::resuming(TLS13).judged(TLS13, Concluded::SingleUse).run("early-data", TLS13, &[FULL, TICKET]);
        scene.facts(move |facts| facts.tickets.add(ticket)).facts(move |facts| facts.early_data = Some(verdict))
    };
    check(vec![
        (&early_data_stateful::CAUSE, of(EarlyData::Rejected), &[]),
        (&early_data_stateful::CAUSE, of(EarlyData::Accepted), &["Note, Likely"]),
    ]);
}
