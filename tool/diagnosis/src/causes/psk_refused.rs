//! `psk-refused`: the server does not know the identity of the external PSK.
//!
//! RFC 9846 §4.3.11: a server that does not take a PSK goes on with a full handshake. A known identity with another key would
//! have ended the connection (its binder does not verify), so this is about the identity, the hash or the mode.

use reprise_model::Kind;
use reprise_model::document::{Confidence, Finding, Remedy, Severity};

use super::{Cause, MeasuredRule, Rule, fix};
use crate::figures::connections;
use crate::series::{KindSeries, MeasuredCase};

pub(super) static CAUSE: Cause = Cause {
    slug: "psk-refused",
    title: "The server does not accept the external PSK",
    happens: "\
A server that does not know a PSK's identity goes on with a full handshake (RFC 9846 §4.3.11). A known identity with
another key would have ended the connection, since its binder does not verify: so this is about the identity, the
hash or the mode.",
    seen: "\
Connections that offered the external PSK ended in full handshakes. Where some of them took it, nodes do not share
it.",
    confirm: "\
Offer it with `s_client`:

```sh
openssl s_client -connect HOST:443 -tls1_3 -psk_identity IDENTITY -psk KEYHEX \\
  < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "\
A full handshake instead of one without certificates; where the server has no certificate, a failure.",
    advice: "Compare --psk-identity with the server's, byte by byte; its hash is --psk-hash; if it takes PSKs without key exchange alone, --psk-mode both.",
    fixes: &[
        fix(
            "OpenSSL API",
            "",
            "SSL_CTX_set_psk_find_session_callback for TLS 1.3; SSL_CTX_set_psk_server_callback serves TLS 1.3 with SHA-256 alone",
        ),
        fix("GnuTLS", "", "gnutls_psk_set_server_credentials_file, with +ECDHE-PSK and +PSK in its priority string"),
        fix("Node", "", "pskCallback, and a suite with the PSK's hash first in ciphers"),
    ],
    severities: &[Severity::Fault],
    confidences: &[Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 14, find: MeasuredRule::EachConclusiveSeries(of_measurement) }),
    ..Cause::BLANK
};

fn of_measurement(_: &MeasuredCase<'_>, refused: &KindSeries<'_>) -> Option<Finding> {
    if refused.asked.kind != Kind::Psk || refused.refusals() == 0 {
        return None;
    }
    let is_taken = refused.as_asked() > 0;
    let (title, confidence) = match is_taken {
        true => ("The server accepts the external PSK only sometimes", Confidence::Possible),
        false => ("The server does not accept the external PSK", Confidence::Likely),
    };
    let remedy = match is_taken {
        true => "Give every node behind this address the same PSKs.",
        false => {
            "Compare --psk-identity with the server's, byte by byte; its hash is --psk-hash; if it takes PSKs without key \
             exchange alone, --psk-mode both."
        }
    };
    let offered = connections(refused.offered());
    let evidence = [
        format!("{} of {offered} that offered it ended in a full handshake", refused.refusals()),
        "A wrong key would have caused an alert (RFC 9846, section 4.3.11)".to_owned(),
    ];
    let finding = CAUSE.finding(Severity::Fault, confidence, title).because(evidence);
    Some(finding.fixed_by(vec![Remedy::general(remedy)]))
}
