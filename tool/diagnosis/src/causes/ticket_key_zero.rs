//! `ticket-key-zero`: tickets are authenticated with a key of zero bytes, which everyone has.

use reprise_model::Observation;
use reprise_model::document::{Confidence, Finding, Severity};

use super::{Cause, MeasuredRule, Rule, fix};
use crate::fleet::{FleetCase, FleetFinding};
use crate::series::MeasuredCase;

pub(super) static CAUSE: Cause = Cause {
    slug: "ticket-key-zero",
    title: "Tickets are authenticated with a key of zero bytes",
    happens: "\
A server whose ticket key was never set seals its tickets with zeros. GnuTLS did so from 3.6.4 to 3.6.13, until the first rotation of
the key (CVE-2020-13777), and load balancers did whose configuration lacked one. Everyone can then open the tickets: under TLS 1.2 they
decrypt what was recorded, and under every version make tickets of their own, and with them be any client.

Apache 2.4.71 with OpenSSL 3 and `SSLSessionTicketKeyFile` has zeros for the tag alone: it takes the tag's key from memory that it has
wiped by then. The cipher's key is that of the file, so such tickets cannot be opened, but anyone can change them.",
    seen: "\
The tag of a ticket verifies under a key of zero bytes, in the layout of OpenSSL, GnuTLS or Go. Chance does not do that: 2^-160 at most.
Other layouts are not looked at.",
    confirm: "\
Take a ticket (`openssl s_client -connect HOST:443 -tls1_2 -sess_out s.pem`, `openssl sess_id -in s.pem -text`), and compute the tag of
all but its last 32 bytes:

```sh
head -c -32 ticket.bin | openssl dgst -sha256 -mac HMAC -macopt hexkey:0000000000000000000000000000000000000000000000000000000000000000
```",
    costs: "No time. Tickets can be changed by anyone; where the cipher's key is zeros too, what was recorded can be read and clients \
    can be impersonated.",
    advice: "Replace the key at once by random bytes. Where the cipher's key was zeros too, take what went over these connections for \
    read:",
    fixes: &[
        fix("nginx", "", "ssl_session_ticket_key FILE, of openssl rand 80; without the directive nginx makes its own"),
        fix("Apache", "", "take SSLSessionTicketKeyFile out of the configuration: OpenSSL makes its own"),
        fix("HAProxy", "", "tls-ticket-keys FILE, each line of openssl rand -base64 80; without the option OpenSSL makes its own"),
        fix("GnuTLS", "", "3.6.14 or later, and the key of gnutls_session_ticket_key_generate"),
        fix("Go", "", "SetSessionTicketKeys with keys of crypto/rand; without it crypto/tls makes its own"),
    ],
    severities: &[Severity::Fault],
    confidences: &[Confidence::Certain],
    security_severity: Some("9.1"),
    measured: Some(Rule { rank: 28, find: MeasuredRule::Once(of_measurement) }),
    fleet: Some(Rule { rank: 12, find: of_fleet }),
    ..Cause::BLANK
};

const TITLE: &str = "The tags of tickets are made with a key of zero bytes: anyone can change them";
const KNOWN: &str =
    "GnuTLS 3.6.4 to 3.6.13 (CVE-2020-13777): anyone can open them too; Apache 2.4.71 with SSLSessionTicketKeyFile: not";

fn gives(seen: &&Observation) -> bool {
    seen.facts().is_some_and(|facts| facts.tickets.count > 0)
}

fn is_zero(seen: &&Observation) -> bool {
    // A session that is resumed without a new ticket keeps the one that it had.
    seen.ticket_key_is_zero && gives(seen)
}

fn of_fleet(case: &FleetCase<'_>) -> Option<FleetFinding> {
    let of = |node: usize| case.examination.crossed.iter().filter(move |it| it.to == node).map(|it| &it.observation);
    let nodes: Vec<usize> = (0..case.nodes.len()).filter(|node| of(*node).any(|seen| is_zero(&seen))).collect();
    let count = |node: &usize| {
        let (zero, all) = (of(*node).filter(is_zero).count(), of(*node).filter(gives).count());
        format!("{}: the tag verifies under zeros on {zero} of {all} connections that gave a ticket", case.list(&[*node]))
    };
    let evidence: Vec<String> = nodes.iter().take(3).map(count).chain([KNOWN.to_owned()]).collect();
    let finding = CAUSE.finding(Severity::Fault, Confidence::Certain, TITLE).because(evidence);
    (!nodes.is_empty()).then_some(FleetFinding { finding, nodes, reason: "a ticket key of zero bytes" })
}

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    let first = case.observations.iter().find(is_zero)?;
    let (count, all) = (case.observations.iter().filter(is_zero).count(), case.observations.iter().filter(gives).count());
    let port = first.local_port().map_or("no port".to_owned(), |port| format!("port {port}"));
    let verified =
        format!("The tag verifies under zeros on {count} of {all} connections that gave a ticket, the first {port}");
    let evidence = [verified, KNOWN.to_owned()];
    Some(case.found(&CAUSE, Severity::Fault, Confidence::Certain, TITLE).because(evidence))
}
