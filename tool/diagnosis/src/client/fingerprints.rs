//! By what the ClientHellos that came are known, with a session in them and without.

use itertools::Itertools;
use reprise_model::ClientOffer;
use reprise_model::document::FingerprintRecord;

use super::case::ClientCase;

/// So many forms are kept: a client that varies its ClientHellos at random has as many as it makes connections.
const MAX_FORMS: usize = 64;

/// One for each stable form, in the order in which they came.
pub(super) fn records(case: &ClientCase<'_>) -> Vec<FingerprintRecord> {
    let offers = || case.offers().map(|(_, offer)| offer);
    let forms = offers().map(|offer| &offer.fingerprint.stable).unique().take(MAX_FORMS);
    let record = |stable: &String| {
        let alike = || offers().filter(move |offer| offer.fingerprint.stable == *stable);
        let ja4 = |offers_session: bool| {
            let is_it = move |offer: &&ClientOffer| offer.sessions.is_empty() != offers_session;
            alike().filter(is_it).map(|offer| offer.fingerprint.ja4.clone()).unique().collect()
        };
        FingerprintRecord {
            stable: stable.clone(),
            ja4_without_session: ja4(false),
            ja4_with_session: ja4(true),
            connections: u32::try_from(alike().count()).unwrap_or(u32::MAX),
        }
    };
    forms.map(record).collect()
}

#[cfg(test)]
mod tests {
    use reprise_model::document::FingerprintRecord;

    use crate::client::example::{Client, judged};

    #[test]
    fn hellos_of_one_stable_form_are_one_record() {
        let client = Client::new().full().resumed(0).resumed(1).full();
        let client = client.offers_of(3, |offer| offer.fingerprint.stable = "another".to_owned());
        let names = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let record = |stable: &str, without: &[&str], with: &[&str], connections| FingerprintRecord {
            stable: stable.to_owned(),
            ja4_without_session: names(without),
            ja4_with_session: names(with),
            connections,
        };
        let expected = [record("stable", &["new"], &["resuming"], 3), record("another", &["new"], &[], 1)];
        assert_eq!(judged(&client).fingerprints, expected);
    }
}
