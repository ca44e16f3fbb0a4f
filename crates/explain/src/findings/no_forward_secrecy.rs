//! `no-forward-secrecy`: a PSK was used without a key exchange.
//!
//! RFC 8446 §2.2: with psk_ke the application data are as secret as the PSK is, for as long as anyone has recorded them.

use reprise_trace::document::{Confidence, Finding, MeasureDocument, Remedy, Run, Severity};
use reprise_trace::{Kind, PskMode};

use crate::figures::connections;
use crate::observation::{as_asked, completed};

pub(super) fn findings(document: &MeasureDocument) -> Vec<Finding> {
    let alone = |run: &&Run| run.observed.psk_mode == Some(PskMode::PskKe) && as_asked(run) > 0;
    let runs: Vec<&Run> = document.runs.iter().filter(alone).collect();
    if runs.is_empty() { Vec::new() } else { vec![finding(&runs)] }
}

fn finding(runs: &[&Run]) -> Finding {
    let of = |run: &&Run| {
        let (asked, all) = (run.asked, connections(completed(run)));
        format!("{} {}: psk_ke on {} of {all}", asked.tls, asked.kind, as_asked(run))
    };
    let psk = if runs.iter().all(|run| run.asked.kind == Kind::Psk) { "external PSK" } else { "ticket's key" };
    Finding {
        id: "no-forward-secrecy".to_owned(),
        severity: Severity::Risk,
        confidence: Confidence::Certain,
        title: format!("The server takes psk_ke: whoever learns the {psk} later can read what was recorded"),
        evidence: runs.iter().map(of).collect(),
        cost_ns: None,
        remedy: Some(Remedy {
            software: None,
            text: "Let the server insist on psk_dhe_ke (OpenSSL: without -allow_no_dhe_kex and SSL_OP_ALLOW_NO_DHE_KEX), \
                unless a device cannot afford the key exchange."
                .to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;

    fn resumed(mode: PskMode) -> MeasureDocument {
        let example = Example::new().run("1.3", Kind::Full, 900).run("1.3", Kind::Ticket, 200);
        example.observed(|it| it.psk_mode = Some(mode)).document()
    }

    #[test]
    fn a_psk_alone_has_no_forward_secrecy() {
        let [finding] = findings(&resumed(PskMode::PskKe)).try_into().unwrap();
        assert_eq!((finding.severity, finding.confidence), (Severity::Risk, Confidence::Certain));
        assert_eq!(finding.evidence, ["TLS 1.3 ticket: psk_ke on 100 of 100 connections"]);
    }

    #[test]
    fn with_a_key_exchange_there_is_nothing_to_say() {
        assert_eq!(findings(&resumed(PskMode::PskDheKe)), []);
    }
}
