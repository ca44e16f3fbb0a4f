//! `psk-refused`: the server does not know the identity of the external PSK.
//!
//! RFC 9846 §4.3.11: a server that does not take a PSK goes on with a full handshake. A known identity with another key would
//! have ended the connection (its binder does not verify), so this is about the identity, the hash or the mode.

use reprise_model::Kind;
use reprise_model::document::{Confidence, Finding, Remedy, Severity};

use super::{Cause, Rule, fix, MeasuredRule};
use crate::figures::connections;
use crate::series::{Case, Series};

pub(super) static CAUSE: Cause = Cause {
    slug: "psk-refused",
    title: "The server does not accept the external PSK",
    happens: "\
A server that does not know a PSK's identity goes on with a full handshake (RFC 8446 §4.2.11). A known identity with
another key would have ended the connection, since its binder does not verify: so this is about the identity, the
hash or the mode.",
    seen: "\
Connections that offered the external PSK ended in full handshakes. Where some of them took it, nodes do not share
it.",
    confirm: "\
Offer it with `s_client`:

```sh
openssl s_client -connect HOST:443 -tls1_3 -psk_identity IDENTITY -psk KEYHEX < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "\
A full handshake instead of one without certificates; where the server has no certificate, a failure.",
    advice: "Compare --psk-identity with the server's, byte by byte; its hash is --psk-hash; if it takes PSKs without key exchange alone, --psk-mode both.",
    fixes: &[fix("OpenSSL API", "", "SSL_CTX_set_psk_find_session_callback for TLS 1.3; SSL_CTX_set_psk_server_callback serves TLS 1.3 with SHA-256 alone"),
fix("GnuTLS", "", "gnutls_psk_set_server_credentials_file, with +ECDHE-PSK and +PSK in its priority string"),
fix("Node", "", "pskCallback, and a suite with the PSK's hash first in ciphers"),],
    severities: &[Severity::Fault],
    confidences: &[Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 14, find: MeasuredRule::EachConclusiveSeries(of_measurement) }),
    ..Cause::BLANK
};

fn of_measurement(_: &Case<'_>, refused: &Series<'_>) -> Option<Finding> {
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
        "A wrong key would have caused an alert (RFC 8446, section 4.2.11)".to_owned(),
    ];
    let finding = CAUSE.finding(Severity::Fault, confidence, title).because(evidence);
    Some(finding.fixed_by(vec![Remedy::general(remedy)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;

    #[test]
    fn an_unknown_identity_is_told_from_a_wrong_key() {
        let finding = Example::new().run("1.3", Kind::Full, 900).refused("1.3", Kind::Psk, 10).only(&CAUSE).unwrap();
        assert_eq!(finding.evidence[0], "10 of 10 connections that offered it ended in a full handshake");
        assert!(finding.remedy.unwrap().text.contains("--psk-identity"));
    }

    #[test]
    fn a_psk_that_is_taken_sometimes_is_known_to_some_node() {
        let finding = Example::new().run("1.3", Kind::Psk, 200).of_which_full(10).only(&CAUSE).unwrap();
        assert_eq!(finding.title, "The server accepts the external PSK only sometimes");
        assert_eq!(finding.confidence, Confidence::Possible);
        assert!(!finding.remedy.unwrap().text.contains("--psk-identity"));
    }

    #[test]
    fn a_psk_that_is_taken_is_no_finding() {
        assert_eq!(Example::new().run("1.3", Kind::Psk, 200).only(&CAUSE), None);
    }
}
