//! What all of it comes to: one sentence, and a table.

use itertools::Itertools;
use reprise_model::document::{ExperimentRecord, Finding, MechanismRecord};
use reprise_model::{Asked, Failure, Kind, Version};

use super::case::ClientCase;
use crate::verdict::verdict;

pub(super) fn sentence(case: &ClientCase<'_>, findings: &[Finding], failure: Option<&Failure>) -> String {
    let completed = case.completed().count();
    if completed == 0 {
        return failure.map_or_else(|| "No handshake completed".to_owned(), |failure| capitalised(&failure.message));
    }
    let (chances, missed) = (case.chances().len(), case.misses().count());
    let resumed = case.completed().filter(|(_, _, agreed)| agreed.kind != Kind::Full).count();
    if let Some(found) = findings.first().filter(|_| (chances, resumed) == (0, 0)) {
        return verdict(findings, &found.title);
    }
    let healthy = match (completed, chances) {
        (1, _) if resumed == 0 => "No verdict: the client made one connection, and only a second can resume".to_owned(),
        (_, 0) if resumed == 0 => {
            format!(
                "No verdict: none of {completed} connections started after the client had certainly read a session for \
                it"
            )
        }
        (_, 0) => format!("It resumes: {resumed} of {completed} connections"),
        _ => format!(
            "It resumes: {} of {chances} connections that could offer a session did, {resumed} resumed",
            chances - missed
        ),
    };
    verdict(findings, &healthy)
}

pub(super) fn warnings(case: &ClientCase<'_>, findings: &[Finding]) -> Vec<String> {
    let mut warnings = Vec::new();
    let completed = case.completed().count();
    if !findings.is_empty() {
        return warnings;
    }
    if completed == 1 {
        let requests = case.completed().map(|(it, _, _)| it.requests).sum::<u32>();
        let kept = if requests > 1 {
            format!(" It served {requests} requests: keep-alive, which is better still.")
        } else {
            String::new()
        };
        warnings.push(format!(
            "One connection shows nothing about resumption.{kept} Let the client connect again: run its work twice in one \
                process, close the connection in between ('Connection: close'), or add several names with --name"
        ));
    } else if completed > 1 && case.chances().is_empty() && !case.offers_any() {
        warnings.push(
            "No connection started after another had been answered: let the client send requests one after another"
                .to_owned(),
        );
    }
    warnings
}

/// What was watched, name by name.
pub(super) fn experiments(case: &ClientCase<'_>) -> Vec<ExperimentRecord> {
    let names = case.offers().map(|(_, offer)| offer.sni.as_deref()).unique().take(64);
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let record = |name: Option<&str>| {
        let all = || case.offers().filter(move |(_, offer)| offer.sni.as_deref() == name);
        let offered = all().filter(|(_, offer)| !offer.sessions.is_empty()).count();
        let completed = all().filter(|(it, _)| it.agreed().is_some()).count();
        let resumed = all().filter(|(it, _)| it.agreed().is_some_and(|agreed| agreed.kind != Kind::Full)).count();
        let chances = case.chances().iter().filter(|chance| chance.offer.sni.as_deref() == name).count();
        let to = name.map_or_else(|| "without a name".to_owned(), |name| format!("to {name}"));
        ExperimentRecord {
            repeats: 0,
            name: "watched".to_owned(),
            varies: format!("nothing: connections {to}, as the client makes them"),
            asked: None,
            connections: count(all().count()),
            offered: count(offered),
            resumed: count(resumed),
            failed: count(all().count() - completed),
            separates: Vec::new(),
            outcome: format!("{chances} could offer a session, {offered} did, {resumed} resumed"),
        }
    };
    names.map(record).collect()
}

/// What each mechanism came to.
pub(super) fn matrix(case: &ClientCase<'_>) -> Vec<MechanismRecord> {
    let of = [(Version::Tls12, Kind::Id), (Version::Tls12, Kind::Ticket), (Version::Tls13, Kind::Ticket)];
    let record = |(tls, kind): (Version, Kind)| {
        let is_it = |version, mechanism| (version, mechanism) == (tls, kind);
        let offers = case.offers().filter(|(_, offer)| offer.sessions.iter().any(|it| is_it(it.version, it.mechanism)));
        let mut offered: u32 = 0;
        let mut resumed: u32 = 0;
        for (connection, _) in offers {
            offered += 1;
            resumed +=
                u32::from(connection.agreed().is_some_and(|agreed| agreed.kind != Kind::Full && agreed.version == tls));
        }
        let given = case.completed().any(|(it, offer, agreed)| {
            let by = if tls == Version::Tls12 && !offer.session_ticket { Kind::Id } else { Kind::Ticket };
            it.sessions_given > 0 && is_it(agreed.version, by)
        });
        MechanismRecord { asked: Asked { tls, kind }, given, offered, resumed }
    };
    of.into_iter().map(record).filter(|record| record.given || record.offered > 0).collect()
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use crate::client::example::{Client, judged};

    #[test]
    fn what_is_found_without_a_chance_to_resume_is_the_verdict() {
        let mute = Client::new().full().offers(|offer| offer.psk_modes = None).gives(0);
        assert_eq!(judged(&mute).verdict, "The client does not ask for sessions, so no server issues any");
        let processes = Client::new().full().full().in_processes(&[10, 11]);
        assert!(judged(&processes).verdict.starts_with("2 processes made the connections"), "{:?}", judged(&processes));
        assert!(judged(&Client::new().full()).verdict.starts_with("No verdict"), "{:?}", judged(&Client::new().full()));
    }
}
