//! `connection-closed-after-response`: a second request was wanted, and the server ended the connection with the first. What was
//! asked for and not measured must not be missing in silence.

use reprise_model::document::{Confidence, Finding, Severity};

use crate::figures::connections;
use crate::series::Case;

pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let closed = case.samples().filter(|(observation, _)| observation.next_request.is_none()).count();
    if !case.keeps_alive || closed == 0 {
        return Vec::new();
    }
    let all = connections(case.samples().count() as u64);
    let title = format!(
        "The server closes {closed} of {all} after the first response: no further request is possible on \
        them"
    );
    vec![case.found("connection-closed-after-response", Severity::Note, Confidence::Certain, title)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{Example, only};
    use reprise_model::Kind;

    #[test]
    fn a_next_request_that_was_asked_for_is_not_missing_in_silence() {
        let closed = || Example::new().refused("1.3", Kind::Full, 4);
        assert_eq!(only(findings, closed()), None);
        let title = only(findings, closed().keep_alive()).unwrap().title;
        assert!(title.starts_with("The server closes 4 of 4 connections after the first response"), "{title}");
    }
}
