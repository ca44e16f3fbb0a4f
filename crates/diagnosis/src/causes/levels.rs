//! How bad and how sure the findings of each cause can be: what the catalogue says, and what conditions may ask for.

use reprise_model::document::Confidence::{self, Certain, Likely, Possible};
use reprise_model::document::Severity::{self, Fault, Note, Risk};

use super::Cause;

impl Cause {
    /// The severities that its findings may have, the worst first; none where nothing finds it.
    pub fn severities(&self) -> &'static [Severity] {
        self.levels().map_or(&[], |(_, severities, _)| severities)
    }

    /// The confidences that they may have, the surest first.
    pub fn confidences(&self) -> &'static [Confidence] {
        self.levels().map_or(&[], |(.., confidences)| confidences)
    }

    fn levels(&self) -> Option<&'static Levels> {
        LEVELS.iter().find(|(slug, ..)| *slug == self.slug)
    }
}

type Levels = (&'static str, &'static [Severity], &'static [Confidence]);

/// By the names of the causes. A test holds it against the rules.
static LEVELS: &[Levels] = &[
    ("alpn-differs", &[Note], &[Certain]),
    ("cache-too-small", &[Risk, Note], &[Likely, Possible]),
    ("client-authentication-inherited", &[Note], &[Certain]),
    ("client-cache-small", &[Fault, Risk], &[Likely, Possible]),
    ("client-certificate-missing", &[Risk], &[Likely]),
    ("client-closes-early", &[Fault, Risk], &[Certain, Likely, Possible]),
    ("client-config-rebuilt", &[Fault, Risk, Note], &[Certain, Likely, Possible]),
    ("client-never-offers", &[Fault, Note], &[Certain, Likely, Possible]),
    ("client-psk-mode", &[Fault, Note], &[Certain, Likely, Possible]),
    ("client-reuses-ticket", &[Risk], &[Certain]),
    ("connection-closed-after-response", &[Note], &[Certain]),
    ("early-data-hrr", &[Risk], &[Certain]),
    ("early-data-off", &[Note], &[Certain]),
    ("early-data-offered", &[Note], &[Certain]),
    ("early-data-rejected", &[Risk], &[Certain]),
    ("early-data-replayable", &[Note], &[Certain]),
    ("early-data-stateful", &[Note], &[Likely]),
    ("early-data-too-early", &[Risk], &[Certain]),
    ("early-data-unanswered", &[Fault], &[Likely, Possible]),
    ("ems-differs", &[Fault, Risk, Note], &[Certain, Likely, Possible]),
    ("error-responses", &[Note], &[Certain]),
    ("hidden-nodes", &[Risk], &[Certain, Likely, Possible]),
    ("id-cache-per-process", &[Risk], &[Likely, Possible]),
    ("id-never-accepted", &[Fault, Risk], &[Likely, Possible]),
    ("large-client-hello", &[Risk], &[Likely, Possible]),
    ("latency-rules", &[Note], &[Likely]),
    ("lifetime-invalid", &[Fault, Risk], &[Certain]),
    ("lifetime-short", &[Risk, Note], &[Certain, Possible]),
    ("little-to-save", &[Note], &[Likely, Possible]),
    ("nagle", &[Risk], &[Likely]),
    ("no-forward-secrecy", &[Risk], &[Certain]),
    ("no-ticket-on-resumption", &[Risk, Note], &[Likely, Possible]),
    ("node-certificate-differs", &[Risk], &[Likely, Possible]),
    ("node-protocol-differs", &[Risk], &[Likely, Possible]),
    ("not-offered", &[Fault, Risk], &[Likely, Possible]),
    ("offer-breaks-connection", &[Fault, Risk], &[Certain, Likely, Possible]),
    ("psk-refused", &[Fault], &[Likely, Possible]),
    ("restart-lost-keys", &[Risk], &[Possible]),
    ("resumed-ticket-refused", &[Fault], &[Likely]),
    ("rotation-stalled", &[Fault], &[Possible]),
    ("session-context-unset", &[Fault], &[Likely]),
    ("session-too-large", &[Fault, Note], &[Likely, Possible]),
    ("signature-unverified", &[Risk], &[Certain]),
    ("single-use", &[Risk, Note], &[Likely, Possible]),
    ("sni-differs", &[Risk, Note], &[Certain, Likely, Possible]),
    ("suite-differs", &[Risk, Note], &[Certain, Likely, Possible]),
    ("ticket-dearer-than-signature", &[Note], &[Likely]),
    ("tickets-run-out", &[Risk, Note], &[Certain, Likely, Possible]),
    ("unclean-close-evicts", &[Risk, Note], &[Likely, Possible]),
    ("version-differs", &[Risk, Note], &[Likely]),
    ("vhost-directives", &[Fault, Note], &[Likely, Possible]),
];

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::super::causes;
    use super::super::tests::slugs_of;
    use super::*;

    /// What computes a confidence for several rules, and what it may come to.
    const LIKELY_OR_POSSIBLE: [&str; 5] = [".loses(", ".gains(", "each_time(", "confidence_of_refusal(", "resumes_without"];

    /// One file has two causes, of which it says each level in turn.
    const OF_TWO: &str = "lifetime.rs";

    #[test]
    fn the_catalogue_has_every_level_that_a_rule_names() {
        let mut of_rules: BTreeMap<String, (BTreeSet<Severity>, BTreeSet<Confidence>)> = BTreeMap::new();
        for folder in ["findings", "diagnose", "client"] {
            let folder = format!("{}/src/{folder}", env!("CARGO_MANIFEST_DIR"));
            for file in std::fs::read_dir(folder).unwrap() {
                let file = file.unwrap().path();
                let text = std::fs::read_to_string(&file).unwrap();
                let text =
                    text.split("#[cfg(test)]").next().unwrap().replace("!= Severity::", "").replace("== Severity::", "");
                let slugs: BTreeSet<&str> = slugs_of(&text).collect();
                if file.ends_with(OF_TWO) {
                    assert_eq!(slugs.len(), 2);
                    continue;
                }
                let severities = Severity::ALL.into_iter().filter(|it| text.contains(&format!("Severity::{it:?}")));
                let named = Confidence::ALL.into_iter().filter(|it| text.contains(&format!("Confidence::{it:?}")));
                let computed = LIKELY_OR_POSSIBLE.iter().any(|name| text.contains(name));
                let confidences: BTreeSet<_> =
                    named.chain(computed.then_some([Likely, Possible]).into_iter().flatten()).collect();
                let severities: BTreeSet<_> = severities.collect();
                for slug in slugs {
                    let levels = of_rules.entry(slug.to_owned()).or_default();
                    levels.0.extend(&severities);
                    levels.1.extend(&confidences);
                }
            }
        }
        assert!(of_rules.len() > 40);
        for (slug, (severities, confidences)) in of_rules {
            let cause = causes().find(|cause| cause.slug == slug).unwrap();
            assert_eq!(cause.severities().iter().copied().collect::<BTreeSet<_>>(), severities, "{slug}");
            assert_eq!(cause.confidences().iter().copied().collect::<BTreeSet<_>>(), confidences, "{slug}");
        }
    }

    #[test]
    fn what_is_found_has_levels_and_what_is_not_has_none() {
        for cause in causes() {
            assert_eq!(cause.found_by.is_empty(), cause.severities().is_empty(), "{}", cause.slug);
            assert_eq!(cause.found_by.is_empty(), cause.confidences().is_empty(), "{}", cause.slug);
        }
    }
}
