//! `alpn-differs`: the client offers a session with other application protocols than it was given with.
//!
//! It resumes all the same, but early data is only accepted under the protocol of the session (RFC 8446, section 4.2.10).

use reprise_model::document::{Confidence, Finding, Severity};

use super::case::{ClientCase, Offered, named};

pub(super) fn finding(case: &ClientCase<'_>) -> Option<Finding> {
    let differs = |it: &Offered<'_>| it.source.offer.as_ref().is_some_and(|source| source.alpn != it.offer.alpn);
    let lines = case.offered().filter(differs).map(|it| line(&it));
    let title = "The client changes its application protocols between the connections of one session";
    case.found_in("alpn-differs", Severity::Note, Confidence::Certain, title, lines)
}

fn line(offered: &Offered<'_>) -> String {
    let list = |alpn: &[String]| if alpn.is_empty() { "none".to_owned() } else { alpn.join(", ") };
    let before = offered.source.offer.as_ref().map_or_else(String::new, |offer| list(&offer.alpn));
    format!("{}: {}, and {before} in the connection of the session", named(offered.connection), list(&offered.offer.alpn))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::example::{Example, found};

    #[test]
    fn another_list_of_protocols_is_told() {
        let example = || Example::new().full().resumed(0);
        assert_eq!(found(finding, &example()), None);
        let changed = example().offers_of(1, |offer| offer.alpn = vec!["h2".to_owned()]);
        assert_eq!(found(finding, &changed).unwrap().severity, Severity::Note);
    }
}
