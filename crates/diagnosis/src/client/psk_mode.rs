//! `client-psk-mode`: the client offers psk_ke alone, which hardly any server takes.

use reprise_model::Version;
use reprise_model::document::{Confidence, Finding, Severity};

use super::case::{ClientCase, named};

/// RFC 8446, section 4.2.9.
const PSK_DHE_KE: u8 = 1;

pub(super) fn finding(case: &ClientCase<'_>) -> Option<Finding> {
    let tls13 = case.completed().filter(|(_, _, agreed)| agreed.version == Version::Tls13);
    let lines = tls13
        .filter(|(_, offer, _)| offer.psk_modes.as_ref().is_some_and(|modes| !modes.contains(&PSK_DHE_KE)))
        .map(|(connection, _, _)| format!("{}: psk_key_exchange_modes without psk_dhe_ke", named(connection)));
    let severity = if case.completed().count() > 1 { Severity::Fault } else { Severity::Note };
    let title = "The client offers psk_ke alone: servers that want forward secrecy give it no ticket";
    case.found_in("client-psk-mode", severity, Confidence::Certain, title, lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::example::{Example, found};

    #[test]
    fn psk_ke_alone_is_told_and_both_are_not() {
        let with =
            |modes: &'static [u8]| Example::new().full().full().offers(|offer| offer.psk_modes = Some(modes.to_vec()));
        assert_eq!(found(finding, &with(&[0])).unwrap().severity, Severity::Fault);
        assert_eq!(found(finding, &with(&[0, 1])), None);
        assert_eq!(found(finding, &with(&[1])), None);
    }
}
