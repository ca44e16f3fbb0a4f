//! Middleboxes before a good server that break what is offered through them.

use std::sync::atomic::{AtomicUsize, Ordering};

use reprise_lab::KeyKind;
use reprise_servers::{MiddleboxRefusal, start_inspector, start_router, start_with_wrong_secrets};
use reprise_servers::{Nginx, NginxConfig, RealServer};
use reprise_wire::{ClientHello, ExtensionType, Handshake, Record};

use crate::diagnose::broken::{Broken, Started, broken};
use crate::diagnose::nginx::NGINX;
use reprise_harness::Lab;

fn good_nginx(lab: &Lab) -> Nginx {
    let http_directives = "ssl_session_cache shared:SSL:1m;".to_owned();
    Nginx::start(NginxConfig { http_directives, ..NginxConfig::new(vec![lab.identity(KeyKind::P256)]) }).unwrap()
}

/// A good nginx, and before it whoever refuses what this says.
fn behind(lab: &Lab, judge: impl Fn(&[u8]) -> Option<MiddleboxRefusal> + Send + Sync + 'static) -> Started {
    let nginx = good_nginx(lab);
    let inspector = start_inspector(nginx.address(), judge).unwrap();
    Started { address: inspector.address(), server: Some(Box::new(nginx)), _others: vec![Box::new(inspector)] }
}

/// The ClientHello that a record begins with; one that is cut is none.
fn hello_of(record: &[u8]) -> Option<ClientHello<'_>> {
    let (record, _) = Record::parse(record).ok()??;
    let (handshake, _) = Handshake::parse(record.fragment).ok()??;
    ClientHello::parse(handshake.body).ok()
}

fn has_ech(record: &[u8]) -> bool {
    let extensions = hello_of(record).and_then(|hello| hello.extensions);
    extensions.is_some_and(|all| all.find(ExtensionType::ENCRYPTED_CLIENT_HELLO).is_some())
}

/// Whether this ClientHello offers a session.
fn offers(record: &[u8]) -> bool {
    let Some(hello) = hello_of(record) else { return false };
    let extension = |extension| hello.extensions.as_ref().and_then(|all| all.find(extension));
    let is_tls13 =
        extension(ExtensionType::SUPPORTED_VERSIONS).is_some_and(|versions| versions.windows(2).any(|it| it == [3, 4]));
    extension(ExtensionType::PRE_SHARED_KEY).is_some()
        || extension(ExtensionType::SESSION_TICKET).is_some_and(|ticket| !ticket.is_empty())
        || (!is_tls13 && !hello.session_id.is_empty())
}

fn alerting(lab: &Lab, _: &[String]) -> Started {
    behind(lab, |record| offers(record).then_some(MiddleboxRefusal::Alert(80)))
}

fn closing(lab: &Lab, _: &[String]) -> Started {
    behind(lab, |record| offers(record).then_some(MiddleboxRefusal::Close))
}

fn hanging(lab: &Lab, _: &[String]) -> Started {
    behind(lab, |record| offers(record).then_some(MiddleboxRefusal::Silence))
}

fn short_sighted(lab: &Lab, _: &[String]) -> Started {
    behind(lab, |record| (record.len() > 1400).then_some(MiddleboxRefusal::Close))
}

fn closing_ech(lab: &Lab, _: &[String]) -> Started {
    behind(lab, |record| has_ech(record).then_some(MiddleboxRefusal::Close))
}

/// Two nodes that do not know each other's sessions, and a router that deals clients to them in turn where it sees encrypted_client_hello.
fn scattering_ech(lab: &Lab, _: &[String]) -> Started {
    let (one, other) = (good_nginx(lab), good_nginx(lab));
    let (to_one, to_other, greased) = (one.address(), other.address(), AtomicUsize::new(0));
    let router = start_router(move |record| match has_ech(record) && greased.fetch_add(1, Ordering::SeqCst) % 2 == 1 {
        true => to_other,
        false => to_one,
    });
    let router = router.unwrap();
    Started::without_account(router.address(), (one, other, router))
}

/// A router that reads the first segment alone, and of three connections that do not fit into it lets one pass, whose segments came together.
fn first_segment_alone(lab: &Lab, _: &[String]) -> Started {
    let large = AtomicUsize::new(0);
    behind(lab, move |record| {
        let is_cut = record.len() > FIRST_SEGMENT && large.fetch_add(1, Ordering::SeqCst) % 3 != 1;
        is_cut.then_some(MiddleboxRefusal::Close)
    })
}

/// More than a ClientHello with a key share of X25519MLKEM768 has, and less than one that offers a ticket beside it.
const FIRST_SEGMENT: usize = 1_600;

/// A server that resumes every third session with another secret than the client's.
fn wrong_secrets(lab: &Lab, lines: &[String]) -> Started {
    let config = NginxConfig { http_directives: lines.join("\n"), ..NginxConfig::new(vec![lab.identity(KeyKind::P256)]) };
    let nginx = Nginx::start(config).unwrap();
    let relay = start_with_wrong_secrets(nginx.address(), 3).unwrap();
    Started { address: relay.address(), server: Some(Box::new(nginx)), _others: vec![Box::new(relay)] }
}

/// A good server, and before it whoever ends large offers: a middlebox that reads only so much.
pub(crate) fn behind_a_small_buffer(server: Started) -> Started {
    let judge = |record: &[u8]| offered_length(record).is_some_and(|length| length > 64).then_some(MiddleboxRefusal::Close);
    let inspector = start_inspector(server.address, judge).unwrap();
    Started::without_account(inspector.address(), (server, inspector))
}

/// How long the ticket is that this ClientHello offers; of several the first.
fn offered_length(record: &[u8]) -> Option<usize> {
    let extensions = hello_of(record)?.extensions?;
    let identity = |psk: &[u8]| Some(usize::from(u16::from_be_bytes([*psk.get(2)?, *psk.get(3)?])));
    let of_psk = extensions.find(ExtensionType::PRE_SHARED_KEY).and_then(identity);
    of_psk.or_else(|| extensions.find(ExtensionType::SESSION_TICKET).map(|ticket| ticket.len()))
}

/// What would help against real ones (shorter tickets, none at all) does not help against these.
const fn behind_one(cause: &'static str, told: &'static [&'static str], start: fn(&Lab, &[String]) -> Started) -> Broken {
    broken(cause, &NGINX, told, start).beyond_directives()
}

examined! {
    an_alert_where_a_session_is_offered:
        behind_one("offer-breaks-connection", &["# behind a middlebox that answers offers with an alert"], alerting);
    an_end_where_a_session_is_offered:
        behind_one("offer-breaks-connection", &["# behind a middlebox that ends who offers"], closing);
    silence_where_a_session_is_offered:
        behind_one("offer-breaks-connection", &["# behind a middlebox that leaves offers unanswered"], hanging)
            .flags(&["--timeout", "1s", "--tls", "1.3"]);
    an_end_of_some_that_offer_a_session:
        behind_one("offer-breaks-connection", &["# behind a router that reads the first segment alone"], first_segment_alone)
            .flags(&["--groups", "X25519MLKEM768,x25519", "--tls", "1.3"]);
    every_third_session_resumed_with_another_secret:
        broken("offer-breaks-connection", &NGINX, &["ssl_session_cache shared:SSL:1m;", "ssl_session_tickets off;"], wrong_secrets)
            .flags(&["--tls", "1.2"]).beyond_directives();
    an_end_where_the_hello_is_large:
        behind_one("large-client-hello", &["# behind a middlebox that ends large hellos"], short_sighted);
    an_end_where_ech_is_greased:
        behind_one("ech-grease-refused", &["# behind a middlebox that ends hellos with encrypted_client_hello"], closing_ech);
    a_session_refused_where_ech_is_greased:
        behind_one("ech-grease-refused", &["# two nodes", "# behind a router that deals hellos with encrypted_client_hello in turn"], scattering_ech);
}
