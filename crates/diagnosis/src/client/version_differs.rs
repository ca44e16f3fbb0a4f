//! `version-differs`: the client's later connections do not speak the version of the sessions that it holds.

use reprise_model::document::{Confidence, Finding, Severity};

use super::case::{ClientCase, is_one_client, named};

pub(super) fn finding(case: &ClientCase<'_>) -> Option<Finding> {
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
    case.found_in("version-differs", severity, Confidence::Likely, title, lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::example::{Example, found};
    use reprise_model::Version;

    #[test]
    fn a_connection_without_the_sessions_version_is_told() {
        let changed = Example::new().full().full().full().offers_of(1, |offer| offer.versions = vec![Version::Tls12]);
        assert_eq!(found(finding, &changed).unwrap().severity, Severity::Note);
        assert_eq!(found(finding, &Example::new().full().full()), None);
    }
}
