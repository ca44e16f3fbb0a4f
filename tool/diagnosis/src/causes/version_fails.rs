//! `version-fails`: the server chooses a version, and no connection gets to its end under it, while another version works.

use std::collections::BTreeMap;

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Observation, Version};

use super::{Cause, MeasuredRule, Rule, fix};
use crate::diagnose::examined::named;
use crate::figures::connections;
use crate::series::MeasuredCase;

pub(super) static CAUSE: Cause = Cause {
    slug: "version-fails",
    title: "Every connection of one TLS version fails, though the server speaks it",
    happens: "\
The server answers the ClientHello with this version, and then ends the connection, in the handshake or right after it; another
version works. Known in the field: a client certificate chain that is longer than the server's library takes, which TLS 1.3 tells the
client of only after the client has finished; a library that fails on what only one version sends; an application that knows only one.
A client that offers both versions gets the newer one, and fails.",
    seen: "\
A ServerHello of this version came on each connection, and none was answered, while connections of another version were. Three such
connections are likely, six, some of them after the others had completed, certain. A server that refuses the version with an
alert, or does not answer its ClientHello, is not meant: it does not speak it.",
    confirm: "\
Send a request under this version alone:

```sh
printf 'GET / HTTP/1.1\\r\\nHost: HOST\\r\\nConnection: close\\r\\n\\r\\n' | openssl s_client -connect HOST:443 -tls1_3 -ign_eof 2>&1 | tail -3
```",
    costs: "Every client that speaks this version fails, or needs a second connection.",
    advice: "\
Look at the server's log for these connections. Where a client certificate is sent, send a shorter chain (the client's own certificate and the \
intermediate alone), or let the server take longer ones. Until then let the server offer the other version alone:",
    fixes: &[
        fix("nginx", "", "ssl_protocols with the version that works alone"),
        fix("Apache", "", "SSLProtocol with the version that works alone"),
        fix("HAProxy", "", "ssl-min-ver and ssl-max-ver on the bind line, both the version that works"),
        fix("OpenSSL API", "", "SSL_CTX_set_max_cert_list(ctx, bytes) takes longer chains than 100 kB; SSL_CTX_set_min_proto_version and \
             SSL_CTX_set_max_proto_version leave the other version alone"),
    ],
    severities: &[Severity::Fault],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 0, find: MeasuredRule::EachVersion(of_measurement) }),
    ..Cause::BLANK
};

/// So many connections are enough.
const CERTAIN: usize = 6;
const LIKELY: usize = 3;

/// From so many bytes on, most of which are the client's certificate, its length is worth telling.
const LONG: u64 = 16_000;

/// Whether a finding is this one, of this version.
pub(crate) fn is_of(finding: &Finding, version: Version) -> bool {
    finding.id == CAUSE.slug && finding.title.starts_with(&beginning(version))
}

fn beginning(version: Version) -> String {
    format!("Every {version} connection fails")
}

fn of_measurement(case: &MeasuredCase<'_>, version: Version) -> Option<Finding> {
    let of_version: Vec<&Observation> = case.observations.iter().filter(|seen| seen.asked.tls == version).collect();
    let works = case.observations.iter().find(|seen| seen.asked.tls != version && seen.facts().is_some())?;
    let failed: Vec<&Observation> = of_version
        .iter()
        .copied()
        .filter(|seen| seen.chosen == Some(version) && seen.outcome.is_err_and(|name| name.is_the_targets()))
        .collect();
    let last = failed.last()?;
    if of_version.iter().any(|seen| seen.facts().is_some()) {
        return None;
    }
    let was_retried = failed.iter().any(|seen| seen.index > works.index);
    let confidence = match failed.len() {
        CERTAIN.. if was_retried => Confidence::Certain,
        LIKELY.. => Confidence::Likely,
        _ => Confidence::Possible,
    };
    let when = if last.phases.tls.is_some() { "after its handshake" } else { "in its handshake, after the ServerHello" };
    let how = named(last.outcome.err()?);
    let title = format!("{} {when} ({how}), and {} works", beginning(version), works.asked.tls);
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    failed.iter().filter_map(|seen| seen.outcome.err()).for_each(|name| *names.entry(named(name)).or_default() += 1);
    let names: Vec<String> = names.iter().map(|(name, count)| format!("{name} on {count}")).collect();
    let complete = case.observations.iter().filter(|seen| seen.asked.tls != version && seen.facts().is_some()).count();
    let counted = format!(
        "{} of {} in which the server chose {version} failed: {}",
        failed.len(),
        connections(failed.len() as u64),
        names.join(", ")
    );
    let sent = last.sent.0;
    let chain = (sent >= LONG).then(|| {
        format!(
            "The client had sent {sent} bytes by then, most of them its certificate chain: with a shorter one it may work"
        )
    });
    let others = format!("{} of {} completed", connections(complete as u64), works.asked.tls);
    let evidence = [Some(counted), Some(others), chain].into_iter().flatten();
    Some(case.found(&CAUSE, Severity::Fault, confidence, title).because(evidence))
}
