//! `data-channel-session`: an FTP server wants data connections to resume the session of their control connection, or does not resume it
//! there.

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{Version, WatchedConnection};
use reprise_probe::diagnose::{DataChannel, DataTransfer};

use super::{Cause, ExaminedRule, Rule, client_fix, fix};
use crate::client::case::{ClientCase, first_lines, named, outcome};
use crate::diagnose::Examined;

pub(crate) static CAUSE: Cause = Cause {
    slug: "data-channel-session",
    title: "FTP data connections must resume the control connection's session",
    happens: "\
FTP transfers each listing and file over a connection of its own (RFC 4217 §9). Who connects to its port first could take it, so servers
may ask that its TLS handshake resumes the session of the control connection, which nobody else has: vsftpd and ProFTPD do so by default. A
client that makes a full handshake there logs in, and then gets nothing: 522 from vsftpd, 425 from ProFTPD. Where the server asks
for it and cannot resume the session, no client gets anything.",
    seen: "\
`reprise diagnose --starttls ftp` logs in as anonymous, or as `--ftp-user`, and asks for a listing under each version, twice on a data
connection that resumes the session of its control connection and twice on one that does not. If only the first get it, the server asks for
the session (a note); if only the second do, it fails where it is offered (a fault). If none do, though the session is offered, it may ask
for what it cannot resume (a fault, likely).

`reprise diagnose --listen PORT --starttls ftp` lets a client log in and transfer empty files. A data connection that does not
offer the session of its control connection gets nothing from such servers (a fault).",
    confirm: "\
curl resumes the session on the data connection, unless it is told not to:

```sh
curl --ssl-reqd -k -u USER ftp://HOST/
curl --ssl-reqd -k -u USER --no-sessionid ftp://HOST/
```",
    costs: "Every transfer of a client that does not resume there; and a full handshake for each transfer where the server does not.",
    advice: "Let clients resume the session, which shows whose the data connection is, or let the server do without it:",
    fixes: &[
        fix("vsftpd", "", "require_ssl_reuse=NO; a data connection is then known by its port alone"),
        fix("ProFTPD", "", "TLSOptions NoSessionReuseRequired; a data connection is then known by its port alone"),
        client_fix("curl", "", "resumes it, unless --no-sessionid is given"),
        client_fix(
            "Python ssl",
            "",
            "a subclass of ftplib.FTP_TLS whose ntransfercmd calls ftplib.FTP.ntransfercmd and wraps the socket with \
             self.context.wrap_socket(conn, server_hostname=self.host, session=self.sock.session): ftplib itself offers none",
        ),
    ],
    severities: &[Severity::Fault, Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely],
    examined: Some(Rule { rank: 45, find: ExaminedRule::Several(of_transfers) }),
    watched: Some(Rule { rank: 15, find: of_client }),
    ..Cause::BLANK
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
