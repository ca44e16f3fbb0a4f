//! The title of findings about nodes that do not share their sessions.

use reprise_probe::diagnose::Judgement;

/// The title where nodes that do not share explain what became of these sessions. Where all were refused, others may explain it too.
pub(super) fn parted_title(judgement: &Judgement, sessions: &str) -> String {
    let version = judgement.asked.tls;
    match judgement.offers().all(|seen| seen.is_refusal()) {
        true => format!("{version} {sessions} are refused, as by nodes or processes that take turns"),
        false => format!("{version} {sessions} are accepted only sometimes"),
    }
}
