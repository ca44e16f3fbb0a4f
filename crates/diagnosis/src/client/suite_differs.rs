//! `suite-differs`: the client offers a session without the cipher suite that it was made with.
//!
//! TLS 1.2 wants the same suite, TLS 1.3 one of the same hash (RFC 8446, section 4.2.11).

use reprise_model::Version;
use reprise_model::document::{Confidence, Finding, Severity};

use super::case::{ClientCase, Offered, named, outcome};

/// The only suite of TLS 1.3 with SHA-384.
const AES_256_GCM_SHA384: u16 = 0x1302;
const TLS13_SUITES: std::ops::RangeInclusive<u16> = 0x1301..=0x1305;

pub(super) fn finding(case: &ClientCase<'_>) -> Option<Finding> {
    let lines = case.offered().filter(is_unusable).map(|it| line(&it));
    let title = "The client offers sessions without their cipher suite";
    case.found_in("suite-differs", Severity::Risk, Confidence::Certain, title, lines)
}

fn is_unusable(offered: &Offered<'_>) -> bool {
    let Some(agreed) = offered.source.agreed() else { return false };
    let hash = |suite: u16| suite == AES_256_GCM_SHA384;
    match agreed.version {
        Version::Tls12 => !offered.offer.suites.contains(&agreed.suite),
        Version::Tls13 => {
            let mut suites = offered.offer.suites.iter().filter(|suite| TLS13_SUITES.contains(suite));
            !suites.any(|suite| hash(*suite) == hash(agreed.suite))
        }
    }
}

fn line(offered: &Offered<'_>) -> String {
    let suite = offered.source.agreed().map_or(0, |agreed| agreed.suite);
    let suite = reprise_wire::CipherSuite(suite);
    format!("{}: offers a session of {suite} and not this suite; {}", named(offered.connection), outcome(offered.connection))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::example::{Example, found};

    #[test]
    fn a_session_without_its_hash_is_told() {
        let example = || Example::new().full().refused(0);
        assert_eq!(found(finding, &example()), None);
        let other_hash = example().offers_of(1, |offer| offer.suites = vec![0x1302]);
        assert!(found(finding, &other_hash).unwrap().evidence[0].contains("TLS_AES_128_GCM_SHA256"));
        let same_hash = example().offers_of(1, |offer| offer.suites = vec![0x1303]);
        assert_eq!(found(finding, &same_hash), None);
    }
}
