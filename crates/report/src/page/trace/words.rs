//! What a trace means, in sentences. Each rests on what was observed on these very connections.

use reprise_trace::document::{Trace, TraceDocument, TracedConnection};
use reprise_trace::{ClientAuthentication, Direction, Kind, Verification, Version};

/// "resumed by ticket", "ticket refused".
pub(super) fn name_of_second(trace: &Trace) -> String {
    match trace.resumed.as_ref().map(|second| second.outcome.kind) {
        Some(Kind::Full) if trace.asked.kind != Kind::Full => format!("{} refused", means(trace.asked.kind)),
        Some(kind) => format!("resumed by {}", means(kind)),
        None => String::new(),
    }
}

/// What was skipped or why nothing was, how the server proved itself, and what became of the client's certificate.
pub(super) fn about(document: &TraceDocument, trace: &Trace) -> Vec<String> {
    let mut sentences = vec![about_resuming(trace)];
    if let Some(second) = &trace.resumed {
        sentences.extend(about_the_server(trace, second));
    }
    sentences.extend(about_the_client(document, trace));
    sentences
}

fn about_resuming(trace: &Trace) -> String {
    let means = means(trace.asked.kind);
    if trace.resumed.is_none() {
        return match (gave_something(trace), trace.asked.tls, trace.asked.kind) {
            (true, ..) => format!("The server gave a {means}; the connection that offered it did not complete."),
            (_, Version::Tls12, Kind::Ticket) if trace.full.outcome.session_id_given => {
                "The server gave no ticket, though a session ID: --kind id traces a resumption with that.".to_owned()
            }
            (_, Version::Tls12, Kind::Ticket) => {
                "The server gave neither a session ID nor a ticket: every connection pays the full handshake.".to_owned()
            }
            _ => format!("The server gave no {means}: every connection pays the full handshake."),
        };
    }
    if !trace.has_resumed() {
        let skipped = if trace.skipped.is_empty() { " Nothing was skipped." } else { "" };
        return format!(
            "Refused: the second connection offered the {means} that the first had left behind, and the server answered \
             with a full handshake.{skipped}"
        );
    }
    let handshake = trace.full.handshake();
    let all: u64 = handshake.iter().map(|event| event.size.0).fold(0, u64::saturating_add);
    let skipped: u64 = trace.skipped.iter().map(|skipped| skipped.size.0).fold(0, u64::saturating_add);
    let by_whom = [("the server's", Direction::Received), ("the client's", Direction::Sent)];
    let names: Vec<String> =
        by_whom.iter().filter_map(|(whose, direction)| Some(format!("{whose} {}", names(trace, *direction)?))).collect();
    match trace.skipped.len() {
        0 => "Resumed, and no message was skipped.".to_owned(),
        count => format!(
            "Resumed: {count} of the {} messages of the full handshake were skipped, {skipped} of {all} bytes: {}.",
            handshake.len(),
            names.join("; ")
        ),
    }
}

/// The skipped messages that went this way: "Certificate, CertificateVerify".
fn names(trace: &Trace, direction: Direction) -> Option<String> {
    let skipped = trace.skipped.iter().filter(|skipped| skipped.direction == direction);
    let names: Vec<&str> = skipped.map(|skipped| skipped.what.name()).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

fn gave_something(trace: &Trace) -> bool {
    match trace.asked.kind {
        Kind::Id => trace.full.outcome.session_id_given,
        _ => trace.full.outcome.tickets > 0,
    }
}

fn about_the_server(trace: &Trace, second: &TracedConnection) -> Option<String> {
    if second.outcome.verification != Verification::Inherited {
        return None;
    }
    let first = match trace.full.outcome.verification {
        Verification::Verified => "its certificate was verified",
        Verification::ChainSkipped => "its signature was checked and its chain, on request, was not",
        Verification::SignatureUnverified => "on request, nothing of its certificate was verified",
        Verification::Inherited => return None,
    };
    Some(format!(
        "The server: in the full handshake {first}; in the resumed one it sent none, and only its Finished proves that it \
         knows the session's secret."
    ))
}

fn about_the_client(document: &TraceDocument, trace: &Trace) -> Option<String> {
    let first = trace.full.outcome.client_authentication;
    let second = trace.resumed.as_ref().map(|second| second.outcome.client_authentication);
    let in_first = match first {
        ClientAuthentication::Sent => {
            "the server asked for its certificate (CertificateRequest), and it was sent (Certificate) and its key proved \
             (CertificateVerify)"
        }
        ClientAuthentication::RequestedNoneSent => {
            "the server asked for its certificate (CertificateRequest), and there was none to send: an empty Certificate went \
             out"
        }
        ClientAuthentication::NotRequested if document.client_certificate_given => {
            return Some(
                "The client: a certificate was given to it with --cert, and the server did not ask for one: none was sent."
                    .to_owned(),
            );
        }
        ClientAuthentication::NotRequested => return None,
    };
    let in_second = match (trace.has_resumed(), second) {
        (_, None) => String::new(),
        (true, Some(ClientAuthentication::NotRequested)) => {
            let relies = match first {
                ClientAuthentication::Sent => {
                    "Having seen none, it relies on the authentication that the session inherits from the full handshake: \
                     until the session expires, whoever holds it is that client. That the certificate expires or is revoked \
                     meanwhile goes unnoticed, unless the server looks for it."
                }
                _ => "It relies on what the session inherits: a client without a certificate.",
            };
            format!(" In the resumed one the server neither asked for a certificate nor got one. {relies}")
        }
        (true, Some(ClientAuthentication::Sent)) => " In the resumed one the same.".to_owned(),
        (true, Some(ClientAuthentication::RequestedNoneSent)) => {
            " In the resumed one the server asked, and none was sent.".to_owned()
        }
        (false, Some(again)) if again == first => " In the second, full as well, the same.".to_owned(),
        (false, Some(ClientAuthentication::Sent)) => " In the second it was asked for and sent.".to_owned(),
        (false, Some(_)) => " In the second none was sent.".to_owned(),
    };
    Some(format!("The client: in the full handshake {in_first}.{in_second}"))
}

fn means(kind: Kind) -> &'static str {
    match kind {
        Kind::Id => "session ID",
        Kind::Psk => "external PSK",
        Kind::Early => "ticket, with early data",
        Kind::Ticket | Kind::Full => "ticket",
    }
}
