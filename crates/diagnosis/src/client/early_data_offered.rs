//! `early-data-offered`: the client sends early data, which anybody on the network can send again.

use reprise_model::document::{Confidence, Finding, Severity};

use super::case::{ClientCase, named};

pub(super) fn finding(case: &ClientCase<'_>) -> Option<Finding> {
    let announced = || case.completed().filter(|(_, offer, _)| offer.early_data);
    let count = announced().count();
    let accepted = announced().filter(|(_, _, agreed)| agreed.early_data.is_some()).count();
    let title = format!("The client sends early data: {accepted} of {count} accepted");
    let lines = announced().map(|(connection, _, agreed)| {
        let what = agreed.early_data.map_or_else(|| "rejected".to_owned(), |bytes| format!("{bytes} bytes accepted"));
        format!("{}: {what}", named(connection))
    });
    case.found_in("early-data-offered", Severity::Note, Confidence::Certain, title, lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::example::{Example, found};

    #[test]
    fn early_data_is_a_note() {
        let example = || Example::new().full().resumed(0);
        assert_eq!(found(finding, &example()), None);
        let early = example().offers_of(1, |offer| offer.early_data = true);
        assert_eq!(found(finding, &early).unwrap().severity, Severity::Note);
    }
}
