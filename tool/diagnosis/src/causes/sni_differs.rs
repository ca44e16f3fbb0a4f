//! `sni-differs`: a session resumes only under the name that it was made for, by design (RFC 6066 §3).
//!
//! Found at a server that refuses it without its name, and at a client that offers it under another name: RFC 9846 §4.7.1 has clients
//! resume only if the name matches.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_probe::diagnose::ExperimentRun;

use super::{Cause, ExaminedRule, Rule, client_fix};
use crate::client::case::{ClientCase, Offered, named, outcome};
use crate::diagnose::examined::{Examined, evidence, mechanism};

pub(super) static CAUSE: Cause = Cause {
    slug: "sni-differs",
    title: "Sessions resume only under the server name that made them",
    happens: "\
A client may only resume with the server name of the session (RFC 6066 §3, RFC 9846 §4.7.1 allows more if the
certificate covers both), and some servers compare it: rustls and Deno refuse a session whose name differs or is absent, Apache
that of another virtual host. Others resume all the same, under TLS 1.2 too: nginx (one certificate, one cache), HAProxy, Envoy,
Node, Go, Java and `openssl s_server`. At the former a client that connects by address once and by name the other time, or without
SNI, makes full handshakes.",
    seen: "\
Of a server: a session resumes with its name and, offered without SNI, does not. That is as it should be, and a note; another
name of the same address is not tried, and is by hand what the commands below are with -servername. Of a client that
connects to `--listen`: it offers a session under another name than the one that the session was given for, which is a
risk.",
    confirm: "\
Save with a name, and offer without; `Reused` says that this server does not compare them:

```sh
openssl s_client -connect HOST:443 -servername HOST -tls1_2 -sess_out session.pem \\
  < /dev/null > /dev/null 2>&1
openssl s_client -connect HOST:443 -noservername -tls1_2 -sess_in session.pem \\
  < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "A full handshake whenever the name changes.",
    advice: "Let a client keep its sessions by the name that it sends as SNI, and offer each to that name alone:",
    fixes: &[
        client_fix(
            "OpenSSL API",
            "SSL_set_tlsext_host_name(ssl, host);",
            "before each SSL_connect, with the name of the session's first connection; s_client: the same -servername with -sess_in as with -sess_out",
        ),
        client_fix(
            "Python ssl",
            "sessions[host] = connection.session",
            "one for each name; wrap_socket then gets server_hostname=host and session=sessions.get(host)",
        ),
        client_fix(
            "Node",
            "tls.connect({ host, port, servername: name, session: sessions[name] })",
            "one session for each name",
        ),
    ],
    separated_by: &["without-sni"],
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    examined: Some(Rule { rank: 18, find: ExaminedRule::Once(of_experiments) }),
    watched: Some(Rule { rank: 8, find: of_client }),
    ..Cause::BLANK
};

fn of_experiments(examined: &Examined<'_>) -> Option<Finding> {
    // A connection that fails without a name may fail for the name alone: a server has no certificate for none.
    let runs: Vec<(&ExperimentRun, Confidence)> =
        examined.runs("without-sni").filter_map(|run| Some((run, examined.loses(run)?))).collect();
    let evidence: Vec<String> = runs.iter().flat_map(|(run, _)| evidence(run)).collect();
    let by: Vec<String> = runs.iter().map(|(run, _)| mechanism(run.asked)).collect();
    let confidence = runs.iter().map(|(_, confidence)| *confidence).min()?;
    let title = format!("Sessions resume only under their own server name ({})", by.join(", "));
    Some(CAUSE.finding(Severity::Note, confidence, title).because(evidence).by_design())
}

fn of_client(case: &ClientCase<'_>) -> Option<Finding> {
    let line = |it: Offered<'_>| {
        let before = it.source.offer.as_ref()?.sni.as_deref();
        let of = before.unwrap_or("no name");
        let differs = || format!("{}: a session of {of}; {}", named(it.connection), outcome(it.connection));
        (before != it.offer.sni.as_deref()).then(differs)
    };
    let title = "The client offers sessions of one name to another";
    case.found_in(&CAUSE, Severity::Risk, Confidence::Certain, title, case.offered().filter_map(line))
}
