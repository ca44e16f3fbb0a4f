//! `data-channel-session`: an FTP server wants data connections to resume the session of their control connection, or does not resume it
//! there.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Version, WatchedConnection};
use reprise_probe::diagnose::{DataChannel, DataTransfer};

use super::{Cause, ExaminedRule, Rule};
use crate::client::case::{ClientCase, first_lines, named, outcome};
use crate::diagnose::Examined;

pub(crate) static CAUSE: Cause = Cause {
    severities: &[Severity::Fault, Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely],
    examined: Some(Rule { rank: 45, find: ExaminedRule::Several(of_transfers) }),
    watched: Some(Rule { rank: 15, find: of_client }),
    ..page!("data-channel-session")
};

fn of_client(case: &ClientCase<'_>) -> Option<Finding> {
    let all = case.data_connections().count();
    let others: Vec<_> = case.data_connections().filter(|it| !case.offers_control_session(it)).collect();
    if others.is_empty() {
        return None;
    }
    let title = format!("{} of {all} data connections do not offer the session of their control connection", others.len());
    let offered = |it: &WatchedConnection| match it.offer.as_ref().is_some_and(|offer| !offer.sessions.is_empty()) {
        true => "it offered a session of another connection",
        false => "it offered no session",
    };
    let mut evidence = first_lines(others.iter().map(|it| format!("{}: {}, {}", named(it), offered(it), outcome(it))));
    evidence.push(
        "A server that asks for it, as vsftpd and ProFTPD do by default, answers 522 (vsftpd) or 425 (ProFTPD)".to_owned(),
    );
    Some(case.found(&CAUSE, Severity::Fault, Confidence::Certain, title, evidence))
}

/// What transfers under one version show.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// Only who resumes the session gets anything.
    Required,
    /// Only who does not offer it does.
    Breaks,
    /// Nobody does, and the session is not resumed.
    Impossible,
    /// It is not asked for, and not resumed.
    NotResumed,
}

fn of_transfers(examined: &Examined<'_>) -> Vec<Finding> {
    let Some(channel) = &examined.examination.data_channel else { return Vec::new() };
    let versions = [Version::Tls13, Version::Tls12];
    let of = |wanted| versions.into_iter().filter(move |tls| shown(channel, *tls) == Some(wanted)).collect::<Vec<_>>();
    let found =
        [Shown::Breaks, Shown::Impossible, Shown::Required, Shown::NotResumed].map(|what| finding(channel, what, &of(what)));
    found.into_iter().flatten().collect()
}

fn finding(channel: &DataChannel, what: Shown, versions: &[Version]) -> Option<Finding> {
    if versions.is_empty() {
        return None;
    }
    let (severity, confidence, title) = match what {
        Shown::Required => (
            Severity::Note,
            Confidence::Certain,
            "Data connections get nothing unless they resume the control connection's session",
        ),
        Shown::Breaks => (
            Severity::Fault,
            Confidence::Certain,
            "Data connections get nothing where they offer the control connection's session",
        ),
        Shown::Impossible => (
            Severity::Fault,
            Confidence::Likely,
            "No data connection gets anything: the server may ask for a session that it does not resume",
        ),
        Shown::NotResumed => (
            Severity::Note,
            Confidence::Certain,
            "Each data connection makes a full handshake: the control connection's session is not resumed",
        ),
    };
    let evidence = versions.iter().flat_map(|tls| [true, false].map(|offers| evidence(channel, *tls, offers)));
    Some(CAUSE.finding(severity, confidence, title).because(evidence))
}

fn of_kind(channel: &DataChannel, tls: Version, offers: bool) -> Vec<&DataTransfer> {
    channel.transfers.iter().filter(|it| (it.tls, it.offers_session) == (tls, offers)).collect()
}

/// `None` where all is well, where nothing was tried, and where the same was answered now one way and now the other.
fn shown(channel: &DataChannel, tls: Version) -> Option<Shown> {
    let (with, without) = (of_kind(channel, tls, true), of_kind(channel, tls, false));
    let is_all = |transfers: &[&DataTransfer], is_complete| {
        !transfers.is_empty() && transfers.iter().all(|it| it.is_complete == is_complete)
    };
    let is_never_resumed = with.iter().all(|it| it.is_resumed != Some(true));
    match (is_all(&with, true), is_all(&with, false), is_all(&without, true), is_all(&without, false)) {
        (true, _, _, true) if !is_never_resumed => Some(Shown::Required),
        (_, true, true, _) => Some(Shown::Breaks),
        (_, true, _, true) if is_never_resumed => Some(Shown::Impossible),
        (true, _, true, _) if is_never_resumed => Some(Shown::NotResumed),
        _ => None,
    }
}

/// `TLS 1.3: 0 of 2 without the session were complete: 522 SSL connection failed`.
fn evidence(channel: &DataChannel, tls: Version, offers: bool) -> String {
    let transfers = of_kind(channel, tls, offers);
    let complete = transfers.iter().filter(|it| it.is_complete).count();
    let resumed = transfers.iter().filter(|it| it.is_resumed == Some(true)).count();
    let said = transfers.last().map(|it| it.reply.as_str()).unwrap_or_default();
    let how = match offers {
        true => format!("that offered the session ({resumed} resumed it)"),
        false => "without the session".to_owned(),
    };
    format!("{tls}: {complete} of {} listings {how} were complete: {said}", transfers.len())
}
