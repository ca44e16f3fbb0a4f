//! RFC 9149: tickets asked for by number.

use reprise_lab::EmbeddedResumption;
use reprise_model::document::TicketRequestRecord;
use reprise_model::{Kind, Version};

use reprise_harness::Lab;

#[test]
fn a_server_that_does_not_answer_is_said_not_to() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let outcome = lab.measure(server.address()).count(2).args(["--ticket-requests", "5,3"]).run().exits(0);
    assert_eq!(outcome.document().ticket_request, Some(TicketRequestRecord { new_session: 5, resumption: 3 }));
    let full = outcome.measured(Version::Tls13, Kind::Full).observed;
    assert_eq!((full.tickets_received, full.tickets_promised), (4, None), "rustls sends two, whatever is asked");
    outcome.shows(&["requested 5, and 3 on resumption; the server did not answer the request (RFC 9149)", "2.0 (full)"]);
}

#[test]
fn what_is_not_asked_is_not_told() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let outcome = lab.measure(server.address()).count(1).run().exits(0);
    assert_eq!(outcome.document().ticket_request, None);
    assert!(!outcome.page.contains("RFC 9149"));
}
