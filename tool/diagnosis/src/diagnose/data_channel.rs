//! What FTP's data connections came to, for people.

use reprise_model::document::ExperimentRecord;
use reprise_probe::Options;
use reprise_probe::diagnose::{DataChannel, DataTransfer, NoTransfer};

use super::examined::named;
use crate::causes::data_channel_session;

/// In one sentence; none where nothing was transferred.
pub(super) fn sentence(channel: &DataChannel) -> Option<String> {
    let of = |offers| channel.transfers.iter().filter(move |it| it.offers_session == offers);
    let complete = |offers| of(offers).filter(|it| it.is_complete).count();
    let (with, without) = (of(true).count(), of(false).count());
    let resumed = of(true).filter(|it| it.is_resumed == Some(true)).count();
    (with + without > 0).then(|| {
        format!(
            "FTP's data connections: {} of {with} listings were complete that offered the control connection's session ({resumed} \
             resumed it), and {} of {without} without it",
            complete(true),
            complete(false)
        )
    })
}

/// As an experiment among the others.
pub(super) fn record(channel: &DataChannel) -> Option<ExperimentRecord> {
    let count = |of: fn(&&DataTransfer) -> bool| channel.transfers.iter().filter(of).count() as u32;
    Some(ExperimentRecord {
        name: "data-channel".to_owned(),
        varies: "whether FTP's data connection offers the session of its control connection".to_owned(),
        asked: None,
        repeats: 0,
        connections: 2 * channel.transfers.len() as u32,
        offered: count(|it| it.offers_session),
        resumed: count(|it| it.is_resumed == Some(true)),
        failed: count(|it| !it.is_complete),
        separates: vec![data_channel_session::CAUSE.slug.to_owned()],
        outcome: sentence(channel)?,
    })
}

/// Why there was nothing to see, or not all.
pub(super) fn warning(channel: &DataChannel, options: &Options) -> Option<String> {
    let why = match (channel.ended_by.as_ref()?, &options.ftp_login) {
        (NoTransfer::Login(reply), Some(login)) => format!("{} is not let in ({reply})", login.user),
        (NoTransfer::Login(reply), None) => format!(
            "anonymous is not let in ({reply}): name a user with --ftp-user, and give the password in REPRISE_FTP_PASSWORD"
        ),
        (NoTransfer::Refused(command, reply), _) => format!("the server refuses {command} ({reply})"),
        (NoTransfer::InTheClear(reply), _) => format!("the server answers outside of TLS ({reply})"),
        (NoTransfer::Failed(fault), _) => format!("a connection failed: {}", named(fault.name)),
    };
    let part = if channel.transfers.is_empty() { "" } else { " to the end" };
    Some(format!("FTP's data channel was not tried{part}: {why}"))
}
