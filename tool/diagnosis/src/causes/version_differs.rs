//! `version-differs`: the client's later connections do not speak the version of the sessions that it holds.

use reprise_model::document::{Confidence, Finding, Severity};

use super::{Cause, Rule};
use crate::client::case::{ClientCase, is_one_client, named};

pub(super) static CAUSE: Cause = Cause {
    slug: "version-differs",
    title: "A session needs the version that made it",
    happens: "\
A session of TLS 1.2 does not resume under TLS 1.3, nor the other way round (RFC 9846 §4.7.1, §4.2.2). A client that
falls back to another version, or nodes of different versions, lose it.",
    seen: "\
Of a client that connects to `--listen`: it was given a session of one version, and a later ClientHello to the same name does not
speak that version and offers none. For a server it is not visible from outside, since Reprise asks for each version by itself
and offers each session under its own; where the *server* chooses differently from time to time, look at its log for the
versions of full handshakes, or connect often with `openssl s_client` and neither -tls1_2 nor -tls1_3. By hand the commands
below show the rule.",
    confirm: "\
Offer a TLS 1.2 session under TLS 1.3, which must say `New`:

```sh
openssl s_client -connect HOST:443 -tls1_2 -sess_out session.pem < /dev/null > /dev/null 2>&1
openssl s_client -connect HOST:443 -tls1_3 -sess_in session.pem < /dev/null 2> /dev/null \\
  | grep -E '^(New|Reused)'
```",
    costs: "A full handshake at each change of version.",
    advice: "Let client and nodes settle on one range of versions for all connections: the newest that all of them have.",
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Likely],
    watched: Some(Rule { rank: 10, find: of_client }),
    ..Cause::BLANK
};

fn of_client(case: &ClientCase<'_>) -> Option<Finding> {
    let mut lines = Vec::new();
    for (connection, offer) in case.offers().filter(|(_, offer)| offer.sessions.is_empty()) {
        let before = case
            .completed()
            .filter(|(it, before, _)| is_one_client(it, connection) && before.sni == offer.sni && it.sessions_given > 0);
        let Some((source, _, agreed)) = before.last() else { continue };
        if !offer.speaks(agreed.version) {
            let version = agreed.version;
            lines.push(format!(
                "{}: does not offer {version}, the version of the session of {}",
                named(connection),
                named(source)
            ));
        }
    }
    let severity = if lines.len() > 1 { Severity::Risk } else { Severity::Note };
    let title = "The client changes its versions and cannot resume across them";
    case.found_in(&CAUSE, severity, Confidence::Likely, title, lines)
}
