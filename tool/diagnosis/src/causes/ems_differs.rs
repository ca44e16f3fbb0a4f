//! `ems-differs`: sessions made with the extended master secret are offered without it, or the reverse.
//!
//! RFC 7627 §5.3: the server must abort a resumption without the extension of a session that was made with it, and must not resume
//! a session that was made without it where the extension is offered. Found where a server resumes or does not abort, and where a
//! client changes the extension between the connections of one session.

use reprise_model::Version;
use reprise_model::document::{Confidence, Finding, Severity};
use reprise_probe::diagnose::ExperimentRun;

use super::{Cause, ExaminedRule, Rule, client_fix};
use crate::client::case::{ClientCase, Offered, named, outcome};
use crate::diagnose::examined::{Examined, ResumptionOutcome, by_outcome, came, mechanism};

pub(super) static CAUSE: Cause = Cause {
    slug: "ems-differs",
    title: "A session needs the extended master secret that made it",
    happens: "\
A TLS 1.2 session is made with the extended master secret (RFC 7627) or without it. RFC 7627 §5.3 asks a server to
refuse a session made without it, by a full handshake, when the client now offers it, and to end the connection when
a session made with it is offered without.",
    seen: "\
Of a server: a session made with the extension is offered without it. An alert (handshake_failure) is the right answer; a
server that goes on with a full handshake is reported as a note, and one that resumes as a risk, since that reopens the triple
handshake attack. The reverse, made without and offered with, is tried and shown by `--experiments`, and not judged. Of a
client that connects to `--listen`: it has the extension in one connection of a session and not in the other, which is a
fault.",
    confirm: "\
`s_client` sends the extension unless OpenSSL's configuration forbids it (from 3.0); an alert is the right answer:

```sh
openssl s_client -connect HOST:443 -tls1_2 -sess_out session.pem < /dev/null > /dev/null 2>&1
printf '%s\\n' 'openssl_conf = c' '[c]' 'ssl_conf = s' '[s]' 'system_default = d' '[d]' 'Options = -ExtendedMasterSecret' > no-ems.cnf
OPENSSL_CONF=no-ems.cnf openssl s_client -connect HOST:443 -tls1_2 -sess_in session.pem < /dev/null 2>&1 | grep -E '^(New|Reused)|alert'
```",
    costs: "\
Full handshakes, or failures, for clients of which some connections have the extension and some have not.",
    advice: "Let every client and every node use the extended master secret in every connection (RFC 7627), which all current libraries do by default:",
    fixes: &[
        client_fix("OpenSSL API", "SSL_CTX_clear_options(ctx, SSL_OP_NO_EXTENDED_MASTER_SECRET);", "its default; with s_client, no -ExtendedMasterSecret in the Options of openssl.cnf"),
        client_fix("Java", "", "jdk.tls.useExtendedMasterSecret stays true, its default"),
    ],
    separated_by: &["without-extended-master-secret", "with-extended-master-secret"],
    severities: &[Severity::Fault, Severity::Risk, Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    examined: Some(Rule { rank: 5, find: ExaminedRule::EachRun("without-extended-master-secret", of_experiments) }),
    watched: Some(Rule { rank: 12, find: of_client }),
    ..Cause::BLANK
};

fn of_experiments(examined: &Examined<'_>, run: &ExperimentRun) -> Option<Finding> {
    // A server that knows the extension not at all has nothing to compare.
    if !run.seen.first()?.observation.facts()?.extended_master_secret {
        return None;
    }
    let (severity, confidence, title) = match run.seen.iter().find_map(came)? {
        ResumptionOutcome::Resumed => (
            Severity::Risk,
            Confidence::Likely,
            "resumes a session without the extended master secret that it was made with",
        ),
        ResumptionOutcome::Refused if examined.always_resumes(run.asked) => (
            Severity::Note,
            Confidence::Possible,
            "answers a resumption without extended_master_secret with a full handshake, not with an alert",
        ),
        _ => return None,
    };
    let title = format!("{}: the server {title}", mechanism(run.asked));
    Some(CAUSE.finding(severity, confidence, title).because(by_outcome(&run.seen).chain([RFC.to_owned()])))
}

const RFC: &str = "RFC 7627, section 5.3, has the server abort such a handshake";

fn of_client(case: &ClientCase<'_>) -> Option<Finding> {
    let line = |it: Offered<'_>| {
        let (before, now) = (it.source.offer.as_ref()?.extended_master_secret, it.offer.extended_master_secret);
        let word = if now { "with" } else { "without" };
        let differs =
            || format!("{}: {word} it, unlike the session's connection; {}", named(it.connection), outcome(it.connection));
        (it.session.version == Version::Tls12 && before != now).then(differs)
    };
    let title = "The client changes extended_master_secret between the connections of one session: servers refuse or abort";
    case.found_in(&CAUSE, Severity::Fault, Confidence::Certain, title, case.offered().filter_map(line))
}
