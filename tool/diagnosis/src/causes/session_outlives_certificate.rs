//! `session-outlives-certificate`: a session lives longer than the certificate that its server was authenticated by. No resumption shows
//! the certificate again (RFC 9846 §2.2).

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Facts, Kind, Observation, Version};

use super::{Cause, MeasuredRule, Rule, fix};
use crate::figures::duration;
use crate::series::MeasuredCase;

pub(super) static CAUSE: Cause = Cause {
    slug: "session-outlives-certificate",
    title: "Sessions live longer than the server's certificate",
    happens: "\
A resumed handshake shows no certificate: what the first connection verified holds until the session ends. Where its lifetime goes beyond
the certificate's, a client may resume with a server whose certificate has expired or was replaced, and does not notice.",
    seen: "\
A ticket's lifetime is longer than what is left of the leaf's validity; and, worse, a session is resumed that was made under a
certificate which has expired since.",
    confirm: "\
Compare the two:

```sh
openssl s_client -connect HOST:443 -tls1_3 < <(sleep 1) 2> /dev/null \\
  | grep -m1 'lifetime hint'
openssl s_client -connect HOST:443 < /dev/null 2> /dev/null | openssl x509 -noout -enddate
```",
    costs: "No time. Clients trust what they would not trust in a full handshake.",
    advice: "Renew the certificate earlier, or keep the lifetime of sessions below what is left of it:",
    fixes: &[
        fix("nginx", "", "ssl_session_timeout says how long sessions live"),
        fix("Apache", "", "SSLSessionCacheTimeout says how long sessions live"),
        fix("HAProxy", "", "tune.ssl.lifetime says how long sessions live"),
    ],
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Certain],
    security_severity: Some("3.7"),
    measured: Some(Rule { rank: 30, find: MeasuredRule::EachVersion(of_measurement) }),
    ..Cause::BLANK
};

fn of_measurement(case: &MeasuredCase<'_>, version: Version) -> Option<Finding> {
    expired(case, version).or_else(|| outlives(case, version))
}

/// A session that was accepted when its certificate had ended.
fn expired(case: &MeasuredCase<'_>, version: Version) -> Option<Finding> {
    let (resumed, over) = case.observations.iter().find_map(|resumed| {
        let is_resumed = resumed.facts().is_some_and(|facts| facts.version == version && facts.kind != Kind::Full);
        let offered = resumed.offered.filter(|_| is_resumed)?;
        let origin = case.observations.iter().find(|seen| Some(seen.index) == offered.origin.map(|origin| origin.index))?;
        let age_s = offered.age.0 / 1_000_000_000;
        Some((resumed, age_s.checked_sub(left(origin)?).filter(|over| *over > 0)?))
    })?;
    let title = format!("{version}: sessions are resumed whose certificate has expired");
    let port = resumed.local_port().map_or("no port".to_owned(), |port| format!("port {port}"));
    let evidence = [format!("{port}: resumed {} after the end of the certificate that it was made under", seconds(over))];
    Some(case.found(&CAUSE, Severity::Risk, Confidence::Certain, title).because(evidence))
}

/// Tickets that are given for longer than the certificate has left.
fn outlives(case: &MeasuredCase<'_>, version: Version) -> Option<Finding> {
    let (lifetime, left) = case.observations.iter().find_map(|seen| {
        let facts = seen.facts().filter(|facts| facts.version == version)?;
        let left = left(seen)?;
        lifetime(facts).filter(|lifetime| *lifetime > left).map(|lifetime| (lifetime, left))
    })?;
    let title = format!("{version} tickets live longer than the server's certificate");
    let evidence = [format!("They are given for {}; the certificate ends in {}", seconds(lifetime), seconds(left))];
    Some(case.found(&CAUSE, Severity::Note, Confidence::Certain, title).because(evidence))
}

/// Seconds that the certificate had left; `None` for one that had expired before: then nobody relied on it.
fn left(seen: &Observation) -> Option<u64> {
    seen.facts()?.leaf_left_s.filter(|left| *left > 0)
}

/// The longest lifetime of its tickets. Zero is unspecified, or none at all.
fn lifetime(facts: &Facts) -> Option<u64> {
    facts.tickets.iter().map(|ticket| u64::from(ticket.lifetime_s)).max().filter(|lifetime| *lifetime > 0)
}

fn seconds(count: u64) -> String {
    duration(count.saturating_mul(1_000_000_000))
}
