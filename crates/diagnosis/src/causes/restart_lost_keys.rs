//! `restart-lost-keys`: at one moment the name of the ticket key changes for all, and what was sealed before is refused from then
//! on: a restart, a reload or a rotation without overlap. From outside they look alike.

use std::collections::BTreeSet;

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{KeyName, Version};
use reprise_probe::diagnose::{ExperimentRun, ProbeRecord};

use super::shared::SHARE_KEYS;
use super::{Cause, ExaminedRule, Rule};
use crate::diagnose::examined::{Examined, ResumptionOutcome, came, cite};

pub(super) static CAUSE: Cause = Cause {
    slug: "restart-lost-keys",
    title: "A restart made all earlier sessions worthless",
    happens: "\
Keys that a server makes for itself at its start live as long as the process. After a restart, an upgrade or a
rollout every ticket that clients hold is refused once.",
    seen: "\
The key name of tickets changes at one moment for all connections of a version, and every ticket of before is refused from then
on. It is possible only: a reload (`config-rebuilt-on-reload`) and a rotation without overlap (`rotation-no-overlap`) look the same. A run of seconds meets that moment by chance. To see a restart that is planned, save sessions with `reprise measure
--session-out FILE` before it and offer them with `--session-in FILE` after it.",
    confirm: "\
Save a session, restart the server, offer it:

```sh
openssl s_client -connect HOST:443 -tls1_2 -sess_out session.pem < /dev/null > /dev/null 2>&1
# restart the server here
openssl s_client -connect HOST:443 -tls1_2 -sess_in session.pem < /dev/null 2> /dev/null | grep -E '^(New|Reused)'
```",
    costs: "\
One full handshake for each client at each restart, all at once: the load of a rollout is the sum of them.",
    advice: "Keep the ticket keys outside of the process:",
    fixes: SHARE_KEYS,
    separated_by: &["resume-more", "resume-control"],
    severities: &[Severity::Risk],
    confidences: &[Confidence::Possible],
    examined: Some(Rule { rank: 13, find: ExaminedRule::EachVersion(of_experiments) }),
    ..Cause::BLANK
};

fn of_experiments(examined: &Examined<'_>, version: Version) -> Option<Finding> {
    let is_of_version = |seen: &&ProbeRecord| seen.observation.facts().is_some_and(|facts| facts.version == version);
    let mut seen: Vec<&ProbeRecord> =
        examined.examination.runs.iter().flat_map(ExperimentRun::all).filter(is_of_version).collect();
    seen.sort_by_key(|seen| seen.observation.index);
    // One name before the moment, another after it, and neither on the other side.
    let given: Vec<(usize, KeyName)> =
        seen.iter().enumerate().flat_map(|(place, seen)| names(seen).into_iter().map(move |name| (place, name))).collect();
    let first = given.first()?.1;
    let (moment, second) = *given.iter().find(|(_, name)| *name != first)?;
    let others: BTreeSet<KeyName> = given.iter().map(|(_, name)| *name).collect();
    let is_clean = given.iter().all(|(place, name)| *name == if *place < moment { first } else { second });
    let enough = [moment, seen.len() - moment].iter().all(|count| *count >= ENOUGH);
    if others.len() != 2 || !is_clean || !enough {
        return None;
    }
    let refused: Vec<&&ProbeRecord> =
        seen.iter().filter(|seen| came(seen) == Some(ResumptionOutcome::Refused) && offers(seen, first)).collect();
    if refused.is_empty()
        || seen.iter().skip(moment).any(|seen| came(seen) == Some(ResumptionOutcome::Resumed) && offers(seen, first))
    {
        return None;
    }
    let at = seen.get(moment)?.observation.start.0 as f64 / 1e9;
    let title = format!("{version}: the ticket key changed at {at:.1} s, and every earlier ticket is refused");
    let mut evidence = vec![format!("Key name {first} on {moment} connections, then {second} on {}", seen.len() - moment)];
    evidence.extend(refused.into_iter().take(2).map(|seen| cite(seen)));
    evidence.push("A restart, a reload, or a rotation without overlap (rotation-no-overlap)".to_owned());
    let finding = CAUSE.finding(Severity::Risk, Confidence::Possible, title);
    Some(examined.priced(finding.because(evidence), version))
}

/// So many connections on either side of the moment.
const ENOUGH: usize = 3;

fn names(seen: &ProbeRecord) -> Vec<KeyName> {
    seen.observation.facts().map(|facts| facts.tickets.iter().map(|it| it.key_name).collect()).unwrap_or_default()
}

fn offers(seen: &ProbeRecord, name: KeyName) -> bool {
    seen.observation.offered.is_some_and(|offered| offered.key_name == Some(name))
}
