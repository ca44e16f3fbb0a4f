//! Why nothing can be said: no handshake completed.

use reprise_model::{Failure, FailureClass, WatchedHandshake};

use super::case::ClientCase;

/// None if a handshake completed.
pub(super) fn failure(case: &ClientCase<'_>, address: &str) -> Option<Failure> {
    if case.completed().next().is_some() {
        return None;
    }
    let failed = case.connections().iter().rev().find_map(|it| match &it.handshake {
        WatchedHandshake::Failed(end) => Some((it, end)),
        WatchedHandshake::Unfinished | WatchedHandshake::Completed(_) => None,
    });
    let Some((connection, end)) = failed else {
        return Some(nobody(case, address));
    };
    let alert = end.alert.as_deref();
    let (name, message, hint) = match (end.class, alert) {
        (FailureClass::Certificate, Some(alert)) => (
            "certificate_refused",
            format!("the client refuses the server's certificate: it sent the alert {alert}"),
            "make it trust the CA file shown above, or serve a certificate that it trusts with --cert and --key",
        ),
        (FailureClass::Starttls, _) => (
            "no_tls",
            format!("no handshake began: {}", end.reason),
            "a client that speaks another protocol first, and asks for TLS there, needs --starttls NAME (smtp, imap, pop3, ftp, ldap, \
             postgres, mysql, xmpp); one that begins with TLS, as for an https URL, needs none",
        ),
        (_, Some(alert)) => (
            "handshake_refused",
            format!("the client ends the handshake with the alert {alert}"),
            "look at the client's own log: the server speaks TLS 1.2 and 1.3 with the usual suites and groups",
        ),
        (_, None) => (
            "handshake_failed",
            format!("no handshake completed: {}", end.reason),
            "a client that does not trust the certificate may leave without an alert: check its trust first, then its log",
        ),
    };
    Some(Failure {
        class: end.class,
        name: name.to_owned(),
        message,
        hint: Some(hint.to_owned()),
        local_port: Some(connection.peer.port()),
    })
}

fn nobody(case: &ClientCase<'_>, address: &str) -> Failure {
    let (name, message) = match case.connections().len() {
        0 => ("no_connection", format!("no client connected to {address}")),
        _ => ("no_handshake", format!("clients connected to {address} and never sent a whole ClientHello")),
    };
    Failure {
        class: FailureClass::Connect,
        name: name.to_owned(),
        message,
        hint: Some(
            "check the address that the client uses ({url} in the command's arguments, REPRISE_URL in its environment), its \
             proxy settings, and that it speaks TLS from the first byte: if it speaks another protocol first, use --starttls NAME"
                .to_owned(),
        ),
        local_port: None,
    }
}
