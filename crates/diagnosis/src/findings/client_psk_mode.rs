//! `client-psk-mode`: this client offers psk_ke alone, and no server took it.
//!
//! RFC 8446 §4.2.9: a server neither uses a mode that was not offered nor sends tickets that could not be used. What then looks
//! like its own setting is this client's.

use reprise_model::document::{Confidence, Finding, Remedy, Severity};
use reprise_model::{Facts, PskMode, Version};

use crate::figures::connections;
use crate::series::Case;

pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    if is_the_cause(case) { vec![finding(case)] } else { Vec::new() }
}

/// Whether sessions of TLS 1.3 could only be resumed in a way in which none was.
pub(super) fn is_the_cause(case: &Case<'_>) -> bool {
    let is_used = |facts: &Facts| facts.psk_mode == Some(PskMode::PskKe);
    // Tickets that nothing offered again show that the server knows the mode.
    let shows_it = |facts: &Facts| facts.session_offered || facts.tickets.count == 0;
    case.psk_modes == [PskMode::PskKe] && tls13(case).any(shows_it) && !tls13(case).any(is_used)
}

/// Those whose response was no error: an error page says nothing of resumption.
fn tls13<'a>(case: &Case<'a>) -> impl Iterator<Item = &'a Facts> {
    let well = case.samples().filter(|(observation, _)| observation.is_answered_well());
    well.map(|(_, facts)| facts).filter(|facts| facts.version == Version::Tls13)
}

fn finding(case: &Case<'_>) -> Finding {
    let title = "No TLS 1.3 connection used psk_ke, the only mode offered";
    let all = connections(tls13(case).count() as u64);
    Finding::new("client-psk-mode", Severity::Note, Confidence::Certain, title)
        .because([
            format!("psk_ke on 0 of {all}"),
            "A server without psk_ke issues no ticket, or refuses it (RFC 8446, section 4.2.9)".to_owned(),
        ])
        .fixed_by(vec![Remedy::general("--psk-mode both lets the server choose")])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{Example, only, ticket};
    use reprise_model::Kind;

    #[test]
    fn a_mode_that_no_server_took_is_told_as_what_was_offered() {
        let resumed = |mode| {
            let example = Example::new().run("1.3", Kind::Full, 9).run("1.3", Kind::Ticket, 3);
            example.facts(|it| it.psk_mode = mode).psk_modes(&[PskMode::PskKe])
        };
        assert_eq!(only(findings, resumed(Some(PskMode::PskKe))), None);
        assert!(only(findings, resumed(None)).unwrap().title.starts_with("No TLS 1.3 connection used psk_ke"));
        assert_eq!(only(findings, resumed(None).psk_modes(&[PskMode::PskDheKe])), None);
        assert_eq!(only(findings, Example::new().run("1.2", Kind::Full, 9).psk_modes(&[PskMode::PskKe])), None);
    }

    /// `--kinds full`: tickets came, and no connection offered one.
    #[test]
    fn tickets_that_nothing_offered_accuse_nobody() {
        let full = Example::new().run("1.3", Kind::Full, 9).psk_modes(&[PskMode::PskKe]);
        assert!(only(findings, full).is_some(), "no ticket came");
        let full = Example::new().run("1.3", Kind::Full, 9).psk_modes(&[PskMode::PskKe]);
        assert_eq!(only(findings, full.facts(|it| it.tickets.add(ticket(None)))), None);
    }
}
