//! What all of it comes to: one sentence, and a table.

use itertools::Itertools;
use reprise_model::document::{ExperimentRecord, Finding, MechanismRecord};
use reprise_model::{Asked, Failure, Kind, Version, WatchedConnection, WatchedEnd};

use super::case::{ClientCase, wants_another_protocol};
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
    let healthy = match case.offers().count() - case.answered().count() {
        0 => healthy,
        left => format!("{healthy}; {left} more were given up in the handshake"),
    };
    verdict(findings, &healthy)
}

pub(super) fn warnings(case: &ClientCase<'_>, findings: &[Finding]) -> Vec<String> {
    let mut warnings = if case.chances().is_empty() && !case.offers_any() { of_unread_sessions(case) } else { Vec::new() };
    if !warnings.is_empty() {
        return warnings;
    }
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

/// Why it is not known whether the client has read any session.
fn of_unread_sessions(case: &ClientCase<'_>) -> Vec<String> {
    let all = case.completed().count();
    let mut warnings = Vec::new();
    let alerts = case.completed().filter_map(|(it, _, _)| it.alert.as_deref()).counts();
    for (alert, count) in alerts.into_iter().sorted() {
        warnings.push(format!(
            "The client ended {count} of {all} connections with the alert {alert} after the handshake: it may refuse the tickets of this \
                server, whose nonces have 32 bytes, where those of OpenSSL have 8. Whether it resumes elsewhere is not known"
        ));
    }
    let is_unanswered = |it: &WatchedConnection| it.first_response.is_none() && it.alert.is_none();
    let others = case.completed().filter(|(it, offer, _)| is_unanswered(it) && wants_another_protocol(offer));
    let protocols = others.map(|(_, offer, _)| offer.alpn.join(", ")).counts();
    for (protocols, count) in protocols.into_iter().sorted() {
        warnings.push(format!(
            "The client asked for {protocols} by ALPN on {count} of {all} connections, and left: this server speaks http/1.1 alone. \
                Whether it resumes where it is given that protocol is not known"
        ));
    }
    let is_reset = |it: &WatchedConnection| matches!(it.end, Some((_, WatchedEnd::Reset))) && it.alert.is_none();
    let resets = case.completed().filter(|(it, _, _)| is_reset(it) && it.first_response.is_some()).count();
    if resets > 0 {
        warnings.push(format!(
            "The client left {resets} of {all} connections with the response, a part of it, or the close_notify after it unread. If it \
                refuses the tickets before it (their nonces have 32 bytes here, and 8 with OpenSSL), or reads nothing at all, it has no \
                session to offer: let it read the whole response"
        ));
    }
    warnings
}

/// What FTP's data connections came to; none where there were none.
pub(super) fn of_data_connections(case: &ClientCase<'_>) -> Option<String> {
    let all = case.data_connections().count();
    let offered = case.data_connections().filter(|it| case.offers_control_session(it)).count();
    (all > 0).then(|| format!("FTP's data connections: {offered} of {all} offered the session of their control connection"))
}

/// What was watched, name by name.
pub(super) fn experiments(case: &ClientCase<'_>) -> Vec<ExperimentRecord> {
    let names = case.offers().map(|(_, offer)| offer.sni.as_deref()).unique().take(64);
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let record = |name: Option<&str>| {
        let all = || case.offers().filter(move |(_, offer)| offer.sni.as_deref() == name);
        let offered =
            case.answered().filter(|(_, offer)| offer.sni.as_deref() == name && !offer.sessions.is_empty()).count();
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
        let offers = case.answered().filter(|(_, offer)| offer.sessions.iter().any(|it| is_it(it.version, it.mechanism)));
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
        MechanismRecord { asked: Asked { tls, kind }, given, lifetime_s: None, offered, resumed }
    };
    of.into_iter().map(record).filter(|record| record.given || record.offered > 0).collect()
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use reprise_model::WatchedEnd;
    use reprise_model::document::Diagnosis;

    use crate::client::example::{Client, judged};

    #[test]
    fn what_is_found_without_a_chance_to_resume_is_the_verdict() {
        let mute = Client::new().full().offers(|offer| offer.psk_modes = None).gives(0);
        assert!(judged(&mute).verdict.starts_with("The client does not ask for sessions"), "{:?}", judged(&mute));
        let processes = Client::new().full().full().in_processes(&[10, 11]);
        assert!(judged(&processes).verdict.starts_with("2 processes made the connections"), "{:?}", judged(&processes));
        assert!(judged(&Client::new().full()).verdict.starts_with("No verdict"), "{:?}", judged(&Client::new().full()));
    }

    #[test]
    fn what_a_load_tool_cuts_off_was_no_refused_offer() {
        let cut = Client::new().full().resumed(0).refused(0).given_up();
        let Diagnosis { verdict, matrix, experiments, .. } = judged(&cut);
        assert!(verdict.starts_with("It resumes: 1 of 1 connections"), "{verdict}");
        assert!(verdict.ends_with("; 1 more were given up in the handshake"), "{verdict}");
        assert_eq!((matrix[0].offered, matrix[0].resumed), (1, 1));
        assert_eq!((experiments[0].offered, experiments[0].failed), (1, 1));
    }

    #[test]
    fn a_client_that_may_have_read_nothing_is_not_judged() {
        let full = || Client::new().full().full().full();
        let grpc = full().unanswered(WatchedEnd::Fin).offers(|offer| offer.alpn = vec!["h2".to_owned()]);
        for (client, reason) in [
            (full().alerts("decode_error"), "ended 3 of 3 connections with the alert decode_error"),
            (
                full().ended_by(WatchedEnd::Reset),
                "left 3 of 3 connections with the response, a part of it, or the close_notify after it unread",
            ),
            (grpc, "asked for h2 by ALPN on 3 of 3 connections"),
        ] {
            let Diagnosis { verdict, warnings, findings, .. } = judged(&client);
            assert!(verdict.starts_with("No verdict") && findings.is_empty(), "{verdict}: {findings:#?}");
            assert!(warnings[0].contains(reason), "{warnings:#?}");
        }
    }
}
