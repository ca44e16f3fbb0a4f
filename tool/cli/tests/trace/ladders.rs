//! The page of every kind of trace: which messages, in which order, which of them skipped, and what is said of them. Pages stand in
//! `snapshots`, without their figures.

use std::path::Path;

use reprise_lab::{ClientAuthRequest, EmbeddedConfig, EmbeddedResumption, NamedGroup, Versions};
use reprise_model::{Direction, Event, Nanos, Version};

use crate::trace::traced::{full, only, trace};
use reprise_harness::{Lab, assert_page};

/// A server, what it is asked, and what comes of it.
struct Case {
    server: fn(&Lab, &mut EmbeddedConfig),
    /// Where it has a `CERT`, a client's certificate and key stand in its place.
    flags: &'static str,
    code: i32,
    /// The name of the page's file.
    page: Option<&'static str>,
    /// On the page; on standard error where the code is not 0.
    words: &'static [&'static str],
}

const fn case(server: fn(&Lab, &mut EmbeddedConfig), flags: &'static str) -> Case {
    Case { server, flags, code: 0, page: None, words: &[] }
}

impl Case {
    const fn page(self, page: &'static str) -> Self {
        Self { page: Some(page), ..self }
    }

    const fn words(self, code: i32, words: &'static [&'static str]) -> Self {
        Self { code, words, ..self }
    }
}

fn tickets(_: &Lab, config: &mut EmbeddedConfig) {
    config.resumption = EmbeddedResumption::Ticket;
}

fn ids(_: &Lab, config: &mut EmbeddedConfig) {
    config.resumption = EmbeddedResumption::Id;
}

fn refuses(_: &Lab, config: &mut EmbeddedConfig) {
    config.resumption = EmbeddedResumption::RefusedTicket;
}

fn off(_: &Lab, config: &mut EmbeddedConfig) {
    config.resumption = EmbeddedResumption::Off;
}

fn early(_: &Lab, config: &mut EmbeddedConfig) {
    (config.resumption, config.max_early_data) = (EmbeddedResumption::Id, 4096);
}

/// By a HelloRetryRequest.
fn rejects_early_data(lab: &Lab, config: &mut EmbeddedConfig) {
    early(lab, config);
    config.groups = vec![NamedGroup::secp384r1];
}

fn ids_under_tls12(_: &Lab, config: &mut EmbeddedConfig) {
    (config.resumption, config.versions) = (EmbeddedResumption::Id, Versions::Tls12);
}

fn requires_certificates(lab: &Lab, config: &mut EmbeddedConfig) {
    tickets(lab, config);
    config.client_auth = ClientAuthRequest::Required(lab.authority.certificate().clone());
}

fn requests_certificates(lab: &Lab, config: &mut EmbeddedConfig) {
    tickets(lab, config);
    config.client_auth = ClientAuthRequest::Optional(lab.authority.certificate().clone());
}

const CASES: &[Case] = &[
    case(tickets, "").page("ticket-of-tls13"),
    case(ids, "--tls 1.2").page("id-of-tls12"),
    case(tickets, "--tls 1.2").page("ticket-of-tls12"),
    case(tickets, "--no-request --tls 1.3").page("without-a-request"),
    case(early, "--kind early").page("early-data-accepted"),
    case(rejects_early_data, "--kind early").page("early-data-rejected").words(1, &["early under TLS 1.3 was not observed"]),
    case(requires_certificates, "CERT --tls 1.2,1.3").page("client-certificate"),
    case(requests_certificates, "").page("client-without-certificate"),
    case(refuses, "").page("ticket-refused"),
    case(off, "--tls 1.2").page("nothing-to-offer"),
    // The newest version that the target speaks, and the kind that it offers.
    case(ids_under_tls12, "").words(0, &["resumed by session ID", "TLS 1.3 is not traced"]),
    // A kind of one version alone chooses the version.
    case(ids, "--kind id").words(0, &["TLS 1.2 TLS_", "resumed by session ID"]),
    case(ids, "--kind early").words(1, &["early under TLS 1.3 was not observed"]),
    case(refuses, "--kind ticket --tls 1.3").words(1, &["ticket under TLS 1.3 was not observed"]),
    case(refuses, "--tls 1.2").words(0, &["Refused: the second connection offered the ticket", "Nothing was skipped."]),
    case(off, "--kind ticket --tls 1.3").words(1, &["ticket under TLS 1.3 was not observed"]),
    case(off, "--tls 1.3").words(0, &["every connection pays for a full handshake"]),
    case(tickets, "CERT").words(0, &["the server requested none, so none was sent"]),
];

#[test]
fn every_kind_of_trace_has_its_page() {
    let lab = Lab::new();
    let client = lab.client("client.example");
    let files = ["--cert", client.certificate.to_str().unwrap(), "--key", client.key.to_str().unwrap()];
    for case in CASES {
        let server = lab.server_with(|config| (case.server)(&lab, config));
        let certificate = if case.flags.contains("CERT") { &files[..] } else { &[] };
        let flags = case.flags.split_whitespace().filter(|flag| *flag != "CERT");
        let arguments: Vec<&str> = flags.chain(certificate.iter().copied()).collect();
        let (outcome, document) = trace(&lab, server.address(), &arguments);
        let outcome = outcome.exits(case.code);
        let outcome = if case.code == 0 { outcome.silently().shows(case.words) } else { outcome.says(case.words) };
        if let Some(page) = case.page {
            assert_page(&outcome.page, &Path::new(SNAPSHOTS).join(format!("{page}.txt")));
        }
        assert!(!outcome.page.contains('\u{1b}'), "no escape sequences off a terminal");
        let connections = document.traces.iter().map(|trace| 1 + usize::from(trace.resumed.is_some())).sum::<usize>();
        assert_eq!(server.accounts().len(), connections, "{}: nothing to offer, no second connection", case.flags);
    }
}

const SNAPSHOTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/trace/snapshots");

/// Asked for an ID, a server is not asked for a ticket, so nothing is known of its tickets.
#[test]
fn a_server_without_session_ids_is_not_said_to_resume_nothing() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let outcome = lab.trace(server.address()).args(["--kind", "id"]).run().exits(1);
    let outcome = outcome.shows(&["The server issued no session ID; --kind ticket shows whether it issues tickets."]);
    assert!(!outcome.page.contains("every connection pays"), "{}", outcome.page);
}

#[test]
fn times_count_from_the_client_hello_and_never_run_backwards() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let (_, document) = trace(&lab, server.address(), &["--tls", "1.2,1.3"]);
    assert_eq!(document.traces.iter().map(|trace| trace.asked.tls).collect::<Vec<_>>(), [Version::Tls12, Version::Tls13]);
    for connection in document.traces.iter().flat_map(|trace| [full(trace), trace.resumed.as_ref().unwrap()]) {
        let times: Vec<Nanos> = connection.events.iter().map(|event| event.at).collect();
        assert_eq!(times.first(), Some(&Nanos(0)));
        assert!(times.is_sorted(), "{times:?}");
        let from_server = connection.handshake().iter().rfind(|event| event.direction == Direction::Received).unwrap();
        assert!(connection.phases.tls.unwrap() >= from_server.at, "no data before the server's Finished");
        let (sent, received): (Vec<_>, Vec<_>) =
            connection.events.iter().partition(|event| event.direction == Direction::Sent);
        let bytes = |events: Vec<&Event>| events.iter().map(|event| event.size.0).sum::<u64>();
        assert!(bytes(sent) < connection.sent.0 && bytes(received) < connection.received.0, "records add to messages");
    }
}

/// The page's facts are the document's, and what was skipped in it is what the full handshake had.
#[test]
fn the_document_names_what_was_skipped() {
    let lab = Lab::new();
    let server = lab.server(EmbeddedResumption::Ticket);
    let (_, document) = trace(&lab, server.address(), &[""; 0]);
    let traced = only(&document);
    let events = traced.skipped.iter().map(|skipped| &full(traced).events[skipped.index]);
    let skipped: Vec<_> = events.map(|event| (event.what.name().to_owned(), event.direction, event.size)).collect();
    let told = traced.skipped.iter().map(|it| (it.what.name().to_owned(), it.direction, it.size));
    assert_eq!(skipped, told.collect::<Vec<_>>());
    let names: Vec<&str> = skipped.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["Certificate", "CertificateVerify"]);
    assert!(traced.has_resumed());
}
