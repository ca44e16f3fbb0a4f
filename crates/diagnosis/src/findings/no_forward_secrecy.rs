//! `no-forward-secrecy`: a PSK was used without a key exchange.
//!
//! RFC 8446 §2.2: with psk_ke the application data are as secret as the PSK is, for as long as anyone has recorded them.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Facts, Kind, PskMode};

use crate::figures::connections;
use crate::series::{Case, Series};

pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let all = case.every_series();
    let uses: Vec<&Series<'_>> = all.iter().filter(|series| series.with(uses_psk_alone) > 0).collect();
    if uses.is_empty() { Vec::new() } else { vec![finding(case, &uses)] }
}

fn uses_psk_alone(facts: &Facts) -> bool {
    facts.psk_mode == Some(PskMode::PskKe)
}

fn finding(case: &Case<'_>, uses: &[&Series<'_>]) -> Finding {
    let of = |series: &&Series<'_>| {
        let (asked, all) = (series.asked, connections(series.count()));
        format!("{} {}: psk_ke on {} of {all}", asked.tls, asked.kind, series.with(uses_psk_alone))
    };
    let psk = if uses.iter().all(|series| series.asked.kind == Kind::Psk) { "external PSK" } else { "ticket's key" };
    let title = format!("The server accepts psk_ke: a later leak of the {psk} decrypts recorded traffic");
    case.found("no-forward-secrecy", Severity::Risk, Confidence::Certain, title).because(uses.iter().map(of))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{Example, only};

    fn resumed(mode: PskMode) -> Example {
        let example = Example::new().run("1.3", Kind::Full, 900).run("1.3", Kind::Ticket, 200);
        example.facts(|it| it.psk_mode = Some(mode))
    }

    #[test]
    fn a_psk_alone_has_no_forward_secrecy() {
        let finding = only(findings, resumed(PskMode::PskKe)).unwrap();
        assert_eq!((finding.severity, finding.confidence), (Severity::Risk, Confidence::Certain));
        assert_eq!(finding.evidence, ["TLS 1.3 ticket: psk_ke on 100 of 100 connections"]);
    }

    #[test]
    fn with_a_key_exchange_there_is_nothing_to_say() {
        assert_eq!(only(findings, resumed(PskMode::PskDheKe)), None);
    }
}
