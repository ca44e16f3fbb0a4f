//! `sni-differs`: the client offers a session under another name than the one it was given for.
//!
//! RFC 8446, section 4.6.1: a client should only resume if the name matches. Servers refuse it, and rightly so.

use reprise_model::document::{Confidence, Finding, Severity};

use super::case::{ClientCase, Offered, named, outcome};

pub(super) fn finding(case: &ClientCase<'_>) -> Option<Finding> {
    let differs = |it: &Offered<'_>| it.source.offer.as_ref().is_some_and(|source| source.sni != it.offer.sni);
    let lines = case.offered().filter(differs).map(|it| line(&it));
    let title = "The client offers sessions of one name to another";
    case.found_in("sni-differs", Severity::Risk, Confidence::Certain, title, lines)
}

fn line(offered: &Offered<'_>) -> String {
    let of = offered.source.offer.as_ref().and_then(|offer| offer.sni.as_deref()).unwrap_or("no name");
    format!("{}: a session of {of}; {}", named(offered.connection), outcome(offered.connection))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::example::{Example, found};

    #[test]
    fn a_session_of_another_name_is_told() {
        let other = Example::new().to("a.test").full().to("b.test").refused(0);
        assert!(found(finding, &other).unwrap().evidence[0].contains("a session of a.test"));
        assert_eq!(found(finding, &Example::new().to("a.test").full().resumed(0)), None);
    }
}
