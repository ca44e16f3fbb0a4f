//! What does not resume is shown as what it was.

use reprise_lab::Resumption;
use reprise_model::Kind;

use crate::traced::{VERSIONS, full, messages, only, skipped, trace};
use reprise_harness::Lab;

#[test]
fn a_refused_resumption_is_two_full_ladders_and_a_sentence() {
    let lab = Lab::new();
    let server = lab.server(Resumption::RefusedTicket);
    for (_, tls) in VERSIONS {
        let (outcome, document) = trace(&lab, server.address(), &["--tls", tls]);
        let outcome = outcome.exits(0);
        let traced = only(&document);
        let second = traced.resumed.as_ref().unwrap();
        assert_eq!((full(traced).outcome.kind, second.outcome.kind), (Kind::Full, Kind::Full), "{tls}");
        assert!(second.outcome.session_offered && !traced.has_resumed());
        assert_eq!(messages(full(traced).handshake()), messages(second.handshake()), "{tls}");
        assert_eq!(skipped(traced), [""; 0]);
        assert!(!outcome.page.contains("skipped "), "{}", outcome.page);
        outcome.shows(&["ticket refused", "Refused: the second connection offered the ticket", "Nothing was skipped."]);
    }
}

#[test]
fn a_kind_that_was_named_and_not_observed_is_a_bad_answer() {
    let lab = Lab::new();
    for resumption in [Resumption::RefusedTicket, Resumption::Off] {
        let server = lab.server(resumption);
        let (outcome, _) = trace(&lab, server.address(), &["--kind", "ticket", "--tls", "1.3"]);
        outcome.exits(1).says(&["ticket under TLS 1.3 was not observed"]);
    }
}

/// Asked for an ID, a server is not asked for a ticket, so nothing is known of its tickets.
#[test]
fn a_server_without_session_ids_is_not_said_to_resume_nothing() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Ticket);
    let (outcome, _) = trace(&lab, server.address(), &["--kind", "id"]);
    let outcome = outcome.exits(1).shows(&["The server issued no session ID; --kind ticket shows whether it issues \
        tickets."]);
    assert!(!outcome.page.contains("every connection pays"), "{}", outcome.page);
}

#[test]
fn a_server_that_gives_nothing_is_one_ladder_and_a_sentence() {
    let lab = Lab::new();
    let server = lab.server(Resumption::Off);
    for (_, tls) in VERSIONS {
        let (outcome, document) = trace(&lab, server.address(), &["--tls", tls]);
        assert!(only(&document).resumed.is_none());
        outcome.exits(0).silently().shows(&["every connection pays for a full handshake"]);
    }
    assert_eq!(server.completed(), 2, "nothing to offer, no second connection");
}
