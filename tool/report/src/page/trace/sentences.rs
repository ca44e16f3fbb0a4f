//! The sentences of a trace: what a message is for, why a resumed handshake does without it, and what came of the connections. Each
//! of the last rests on what was observed on these very connections.

use reprise_model::Direction::Sent;
use reprise_model::Version::{Tls12, Tls13};
use reprise_model::document::{TicketRequestRecord, Trace, TraceDocument, TracedConnection};
use reprise_model::{
    ClientAuthentication, Direction, EarlyData, HelloRetryRecord, Kind, Nanos, PskMode, Verification, Version,
};

use super::steps::Step;

/// What the message does; `None` for what there are no words for.
pub(super) fn purpose(step: &Step<'_>, version: Version) -> Option<&'static str> {
    Some(match (step.name(), step.event.direction, version) {
        ("ClientHello", _, Tls13) => {
            "The client offers versions, cipher suites, groups and signature schemes. It guesses which group the server \
             prefers and sends its half of the key exchange for it (key_share), which saves a round trip."
        }
        ("ClientHello", ..) => "The client offers versions, cipher suites, groups and signature schemes.",
        ("HelloRetryRequest", ..) => {
            "The server wants another group than the one that the client sent a key share for. The client must start again, \
             which costs a round trip."
        }
        ("ServerHello", _, Tls13) => {
            "The server chooses the version and the cipher suite and sends its half of the key exchange. Both sides now have \
             keys: everything that follows is encrypted."
        }
        ("ServerHello", ..) => "The server chooses the version and the cipher suite.",
        ("EncryptedExtensions", ..) => {
            "The server answers the extensions that need not be readable by others, such as ALPN."
        }
        ("CertificateRequest", ..) => "The server asks for a certificate of the client (mutual TLS).",
        ("Certificate", Sent, _) => "The client's certificate and the chain to its CA; empty if it has none.",
        ("Certificate", ..) => {
            "The server's certificate and the chain to its CA. The client checks names, dates and signatures."
        }
        ("CertificateStatus", ..) => "The CA's word that the certificate is not revoked (OCSP stapling).",
        ("CertificateVerify", Sent, _) => {
            "A signature over the handshake so far: the client has the key of its certificate."
        }
        ("CertificateVerify", ..) => {
            "A signature over the handshake so far: the server has the key of its certificate. This is the most expensive \
             step of the server."
        }
        ("ServerKeyExchange", ..) => {
            "The server's half of the key exchange, signed with the key of its certificate. This is the most expensive step \
             of the server."
        }
        ("ServerHelloDone", ..) => "The server has no more to say for now.",
        ("ClientKeyExchange", ..) => "The client's half of the key exchange. Both sides can now compute the keys.",
        ("Finished", Sent, _) => {
            "A checksum over the whole handshake, with a key that only both sides know. The server sees that nobody has changed \
             a message."
        }
        ("Finished", ..) => {
            "A checksum over the whole handshake, with a key that only both sides know. The client sees that nobody has changed \
             a message, and that the server has the keys."
        }
        ("NewSessionTicket", ..) => "A ticket with which the client can resume this session on a later connection.",
        ("EndOfEarlyData", ..) => "The end of the early data. The client goes on with the keys of the handshake.",
        ("KeyUpdate", ..) => "This side changes its keys.",
        ("HelloRequest", ..) => "The server asks for another handshake.",
        ("ChangeCipherSpec", _, Tls13) => {
            "It means nothing in TLS 1.3. It makes the handshake look like TLS 1.2 to middleboxes (RFC 9846, appendix E.4)."
        }
        ("ChangeCipherSpec", ..) => "What this side sends from here on is encrypted with the new keys.",
        ("close_notify", ..) => "This side sends nothing more. It shows that nothing was cut off.",
        ("early data", ..) => {
            "The request, encrypted with a key of the session, before the server has said anything. Someone who records it \
             can send it again."
        }
        ("application data", Sent, _) => "The request.",
        ("application data", ..) => "The response.",
        _ => return None,
    })
}

/// What is different in the message that resumes.
pub(super) fn on_resumption(step: &Step<'_>, trace: &Trace) -> Option<&'static str> {
    let has_resumed = trace.has_resumed();
    Some(match (step.name(), trace.asked.tls, trace.asked.kind) {
        ("ClientHello", Tls13, Kind::Psk) => {
            "The second one also names the external PSK (pre_shared_key) and proves with a binder that the client knows it."
        }
        ("ClientHello", Tls13, Kind::Early) => {
            "The second one also carries the ticket (pre_shared_key), a binder which proves that the client knows its secret, \
             and early_data."
        }
        ("ClientHello", Tls13, _) => {
            "The second one also carries the ticket (pre_shared_key) and a binder, which proves that the client knows its \
             secret."
        }
        ("ClientHello", Tls12, Kind::Id) => "The second one carries the ID of the session (session_id).",
        ("ClientHello", Tls12, _) => "The second one carries the ticket (session_ticket).",
        ("ServerHello", Tls13, _) if has_resumed => "The second one accepts the session (pre_shared_key).",
        ("ServerHello", Tls12, _) if has_resumed => {
            "The second one accepts the session: it repeats the session ID of the client."
        }
        _ => return None,
    })
}

/// Why the resumed handshake does without the message.
pub(super) fn of_skipping(step: &Step<'_>, trace: &Trace) -> &'static str {
    match (step.name(), step.event.direction, trace.asked.kind) {
        ("Certificate" | "CertificateVerify" | "CertificateRequest" | "CertificateStatus", _, Kind::Psk) => {
            "Skipped: both sides know the external PSK, which takes the place of certificates."
        }
        ("Certificate" | "CertificateVerify", Sent, _) => {
            "Skipped on resumption: the session keeps the identity that the client proved in the full handshake."
        }
        ("Certificate" | "CertificateStatus", ..) => {
            "Skipped on resumption: only the server of the full handshake, whose certificate was checked there, knows the \
             secret of the session."
        }
        ("CertificateVerify", ..) => "Skipped on resumption: without a certificate there is nothing to sign.",
        ("CertificateRequest", ..) => {
            "Skipped on resumption: the session keeps what the client proved in the full handshake."
        }
        ("ServerKeyExchange" | "ClientKeyExchange", ..) => {
            "Skipped on resumption: TLS 1.2 makes the new keys from the secret of the session and two fresh random values, \
             without another key exchange."
        }
        ("ServerHelloDone", ..) => {
            "Skipped on resumption: the server need not wait for the client, and goes on to its Finished."
        }
        ("NewSessionTicket", ..) => {
            "Skipped on resumption: the server gives no new ticket, and the client keeps the one it has."
        }
        ("HelloRetryRequest", ..) => "Skipped: this time the client sent a key share for a group that the server takes.",
        _ => "Skipped: the second connection has no such message.",
    }
}

/// "resumed by ticket", "ticket refused".
pub(super) fn name_of_second(trace: &Trace) -> String {
    match trace.resumed.as_ref().map(|second| second.outcome.kind) {
        Some(Kind::Full) if trace.asked.kind != Kind::Full => format!("{} refused", means(trace.asked.kind)),
        Some(Kind::Psk) => "by external PSK".to_owned(),
        Some(Kind::Ticket) if fate_of_early_data(trace) == Some(EarlyData::Rejected) => {
            "resumed by ticket, early data rejected".to_owned()
        }
        Some(kind) => format!("resumed by {}", means(kind)),
        None => String::new(),
    }
}

/// What was skipped or why nothing was, how the server proved itself, and what became of the client's certificate.
pub(super) fn about(document: &TraceDocument, trace: &Trace) -> Vec<String> {
    let mut sentences: Vec<String> = about_hello_retry(document, trace).into_iter().collect();
    sentences.push(about_resuming(document, trace));
    if let Some(second) = &trace.resumed {
        sentences.extend(about_early_data(trace).map(str::to_owned));
        sentences.extend(about_the_server(trace, second));
        sentences.extend(about_secrecy(trace, second));
    }
    sentences.extend(about_the_client(document, trace));
    sentences.extend(about_tickets(document, trace));
    let first = document.first_connection.filter(|first| first.asked == trace.asked);
    sentences.extend(first.map(reprise_results::about_first_connection));
    sentences
}

/// Which connections started again, why, and how long each took until then.
fn about_hello_retry(document: &TraceDocument, trace: &Trace) -> Option<String> {
    let both = [("full", &trace.full), ("second", &trace.resumed)];
    let retried: Vec<(&str, &TracedConnection, &HelloRetryRecord)> = both
        .into_iter()
        .filter_map(|(name, connection)| {
            let connection = connection.as_ref()?;
            Some((name, connection, connection.outcome.hello_retry.as_ref()?))
        })
        .collect();
    let (_, _, retry) = retried.first()?;
    let asks = match (&retry.group, &retry.shared) {
        (Some(group), Some(shared)) => format!("the server asks for {group} where the client shares {shared}"),
        (Some(group), None) => format!("the server asks for a key share of {group}"),
        (None, _) => "the server wants its cookie back".to_owned(),
    };
    let took = |connection: &TracedConnection| {
        let asked = connection.events.iter().find(|event| event.what.name() == "HelloRetryRequest")?;
        Some(asked.at.to_string())
    };
    let took = retried.iter().filter_map(|(name, it, _)| Some(format!("{} on the {name} connection", took(it)?)));
    let took: Vec<String> = took.collect();
    let compared = document.hello_retry.as_ref().and_then(|retry| Some((retry, retry.comparison?.shown_cost_ns()?)));
    let compared = compared.map_or_else(String::new, |(retry, cost)| {
        format!(" With {} shared at once, further connections take {} less.", retry.group, Nanos(cost))
    });
    Some(format!(
        "Started again (HelloRetryRequest): {asks}. That took {}.{compared} `reprise explain hello-retry-request` says what to change.",
        took.join(", ")
    ))
}

/// What came of asking for a number of tickets (RFC 9149).
fn about_tickets(document: &TraceDocument, trace: &Trace) -> Option<String> {
    let TicketRequestRecord { new_session, resumption } = document.ticket_request?;
    if trace.asked.tls != Version::Tls13 {
        return None;
    }
    let given = |connection: &TracedConnection| match connection.outcome.tickets_promised {
        Some(promised) => format!("{} came, {promised} promised", connection.outcome.tickets),
        None => format!("{} came, and the server did not answer the request", connection.outcome.tickets),
    };
    let full = trace.full.as_ref()?;
    let second = trace.resumed.as_ref().map(|second| format!(" On the second, {resumption} were: {}.", given(second)));
    Some(format!(
        "Tickets: {new_session} were requested on the first connection (RFC 9149): {}.{}",
        given(full),
        second.unwrap_or_default()
    ))
}

fn about_resuming(document: &TraceDocument, trace: &Trace) -> String {
    let means = means(trace.asked.kind);
    if trace.resumed.is_none() {
        return match (gave_something(trace), trace.asked.tls, trace.asked.kind) {
            (true, ..) => format!("The server issued a {means}; the connection that offered it did not complete."),
            (_, Version::Tls12, Kind::Ticket) if trace.full.as_ref().is_some_and(|full| full.outcome.session_id_given) => {
                "The server issued a session ID but no ticket: trace it with --kind id.".to_owned()
            }
            (_, Version::Tls12, Kind::Ticket) => {
                "The server issued neither a session ID nor a ticket: every connection pays for a full handshake.".to_owned()
            }
            // It was not asked for a ticket.
            (_, _, Kind::Id) => "The server issued no session ID; --kind ticket shows whether it issues tickets.".to_owned(),
            _ => format!("The server issued no {means}: every connection pays for a full handshake."),
        };
    }
    if trace.resumed.as_ref().is_some_and(|second| second.outcome.kind == Kind::Full) {
        let skipped = if trace.skipped.is_empty() { " Nothing was skipped." } else { "" };
        if trace.asked.kind == Kind::Psk {
            return format!(
                "Refused: the second connection offered the external PSK, and the server answered with a full \
                    handshake.{skipped} A wrong key would have caused an alert: check --psk-identity, --psk-hash and \
                    --psk-mode."
            );
        }
        let offered = match document.first_connection {
            Some(_) => format!("the first connection offered the saved {means}"),
            None => format!("the second connection offered the {means} of the first"),
        };
        return format!("Refused: {offered}, and the server answered with a full handshake.{skipped}");
    }
    let done = if trace.asked.kind == Kind::Psk { "By external PSK" } else { "Resumed" };
    let Some(full) = &trace.full else {
        return format!("{done}. There is no full handshake to compare it with.");
    };
    let handshake = full.handshake();
    let all: u64 = handshake.iter().map(|event| event.size.0).fold(0, u64::saturating_add);
    let skipped: u64 = trace.skipped.iter().map(|skipped| skipped.size.0).fold(0, u64::saturating_add);
    let by_whom = [("the server's", Direction::Received), ("the client's", Sent)];
    let names: Vec<String> =
        by_whom.iter().filter_map(|(whose, direction)| Some(format!("{whose} {}", names(trace, *direction)?))).collect();
    match trace.skipped.len() {
        0 => format!("{done}, and no message was skipped."),
        count => format!(
            "{done}: {count} of the {} messages of the full handshake were skipped, {skipped} of {all} bytes: {}.",
            handshake.len(),
            names.join("; ")
        ),
    }
}

fn fate_of_early_data(trace: &Trace) -> Option<EarlyData> {
    trace.resumed.as_ref()?.outcome.early_data
}

fn about_early_data(trace: &Trace) -> Option<&'static str> {
    if trace.asked.kind != Kind::Early {
        return None;
    }
    Some(match fate_of_early_data(trace) {
        Some(EarlyData::Accepted) => {
            "Early data: the request was sent with the ClientHello, before any round trip, and the server accepted it. An \
                attacker can replay it (RFC 9846, section 8)."
        }
        Some(EarlyData::Rejected) => {
            "Early data: the request was sent with the ClientHello, and the server skipped it (RFC 9846, section 4.3.10). \
                It was sent again after the handshake."
        }
        None if trace.full.as_ref().is_none_or(|full| full.max_early_data.is_some()) => {
            "Early data: the ticket allows fewer bytes than the request has."
        }
        None => {
            "Early data: the tickets of the first connection allow none, so none was sent. nginx: ssl_early_data on; HAProxy: \
             allow-0rtt."
        }
    })
}

/// The skipped messages that went this way: "Certificate, CertificateVerify".
fn names(trace: &Trace, direction: Direction) -> Option<String> {
    let skipped = trace.skipped.iter().filter(|skipped| skipped.direction == direction);
    let names: Vec<&str> = skipped.map(|skipped| skipped.what.name()).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

fn gave_something(trace: &Trace) -> bool {
    trace.full.as_ref().is_some_and(|full| match trace.asked.kind {
        Kind::Id => full.outcome.session_id_given,
        _ => full.outcome.tickets > 0,
    })
}

fn about_the_server(trace: &Trace, second: &TracedConnection) -> Option<String> {
    if second.outcome.verification != Verification::Inherited {
        return None;
    }
    let (one, secret) = match second.outcome.kind {
        Kind::Psk => ("second", "PSK"),
        _ => ("resumed one", "session's secret"),
    };
    let Some(full) = &trace.full else {
        return Some(format!(
            "The server: it sent no certificate, and only its Finished proves that it knows the {secret}."
        ));
    };
    let first = match full.outcome.verification {
        Verification::Verified => "its certificate was verified",
        Verification::ChainSkipped => "its signature was verified; its chain was not, as requested",
        Verification::SignatureUnverified => "its certificate was not verified, as requested",
        Verification::Inherited => return None,
    };
    Some(format!(
        "The server: in the full handshake {first}; in the {one} it sent none, and only its Finished proves that it knows \
            the {secret}."
    ))
}

/// RFC 9846 §2.2: with psk_ke there is no forward secrecy.
fn about_secrecy(trace: &Trace, second: &TracedConnection) -> Option<String> {
    (second.outcome.psk_mode == Some(PskMode::PskKe)).then(|| {
        let which = if trace.full.is_some() { "second connection" } else { "connection" };
        format!(
            "The keys of the {which} derive from the PSK alone (psk_ke): the server sent no key share, so a later leak of \
                the PSK decrypts recorded traffic."
        )
    })
}

fn about_the_client(document: &TraceDocument, trace: &Trace) -> Option<String> {
    let first = trace.full.as_ref()?.outcome.client_authentication;
    let second = trace.resumed.as_ref().map(|second| second.outcome.client_authentication);
    let in_first = match first {
        ClientAuthentication::Sent => {
            "the server requested its certificate (CertificateRequest); it sent the certificate (Certificate) and proved \
                possession of the key (CertificateVerify)"
        }
        ClientAuthentication::RequestedNoneSent => {
            "the server requested its certificate (CertificateRequest); it had none and sent an empty Certificate"
        }
        ClientAuthentication::NotRequested if document.client_certificate_given => {
            return Some(
                "The client: it has a certificate (--cert), but the server requested none, so none was sent.".to_owned(),
            );
        }
        ClientAuthentication::NotRequested => return None,
    };
    let in_second = match (trace.has_resumed(), second) {
        (_, None) => String::new(),
        (true, Some(ClientAuthentication::NotRequested)) => {
            let relies = match first {
                _ if trace.asked.kind == Kind::Psk => {
                    "A PSK replaces certificates on both sides: it alone identifies the client."
                }
                ClientAuthentication::Sent => {
                    "It relies on the authentication of the full handshake, which the session inherits: until the session \
                        expires, anyone who holds it is that client. If the certificate expires or is revoked in the \
                        meantime, the server does not notice unless it checks."
                }
                _ => "It relies on what the session inherits: a client without a certificate.",
            };
            let one = if trace.asked.kind == Kind::Psk { "second" } else { "resumed one" };
            format!(" In the {one} the server neither requested nor received a certificate. {relies}")
        }
        (true, Some(ClientAuthentication::Sent)) => " The resumed one: the same.".to_owned(),
        (true, Some(ClientAuthentication::RequestedNoneSent)) => {
            " In the resumed one the server requested a certificate, and none was sent.".to_owned()
        }
        (false, Some(again)) if again == first => " The second, also full: the same.".to_owned(),
        (false, Some(ClientAuthentication::Sent)) => " In the second it was requested and sent.".to_owned(),
        (false, Some(_)) => " In the second none was sent.".to_owned(),
    };
    Some(format!("The client: in the full handshake {in_first}.{in_second}"))
}

fn means(kind: Kind) -> &'static str {
    match kind {
        Kind::Id => "session ID",
        Kind::Psk => "external PSK",
        Kind::Early => "ticket with early data",
        Kind::Ticket | Kind::Full => "ticket",
    }
}
