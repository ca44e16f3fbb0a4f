//! `ems-differs`: the client offers a TLS 1.2 session with extended master secret in one connection and without in the other.
//!
//! RFC 7627, section 5.3: a session that had it must not be resumed without it, and the server aborts.

use reprise_model::Version;
use reprise_model::document::{Confidence, Finding, Severity};

use super::case::{ClientCase, Offered, named, outcome};

pub(super) fn finding(case: &ClientCase<'_>) -> Option<Finding> {
    let differs = |it: &Offered<'_>| {
        let source = it.source.offer.as_ref().map(|source| source.extended_master_secret);
        it.session.version == Version::Tls12 && source.is_some_and(|source| source != it.offer.extended_master_secret)
    };
    let lines = case.offered().filter(differs).map(|it| line(&it));
    let title = "The client changes extended_master_secret between the connections of one session: servers refuse or abort";
    case.found_in("ems-differs", Severity::Fault, Confidence::Certain, title, lines)
}

fn line(offered: &Offered<'_>) -> String {
    let word = |has: bool| if has { "with" } else { "without" };
    let now = word(offered.offer.extended_master_secret);
    format!("{}: {now} it, unlike the session's connection; {}", named(offered.connection), outcome(offered.connection))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::example::{Example, found};

    #[test]
    fn a_session_with_it_in_a_connection_without_is_told() {
        let example = || Example::new().full().refused(0).tls12();
        assert_eq!(found(finding, &example()), None);
        let changed = example().offers_of(1, |offer| offer.extended_master_secret = false);
        assert_eq!(found(finding, &changed).unwrap().confidence, Confidence::Certain);
    }
}
