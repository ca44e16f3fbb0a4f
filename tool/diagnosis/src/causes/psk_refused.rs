//! `psk-refused`: the server does not know the identity of the external PSK.
//!
//! RFC 9846 §4.3.11: a server that does not take a PSK goes on with a full handshake. A known identity with another key would
//! have ended the connection (its binder does not verify), so this is about the identity, the hash or the mode.

use reprise_model::Kind;
use reprise_model::document::{Confidence, Finding, Remedy, Severity};

use super::{Cause, MeasuredRule, Rule};
use crate::figures::connections;
use crate::series::{KindSeries, MeasuredCase};

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Fault],
    confidences: &[Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 14, find: MeasuredRule::EachConclusiveSeries(of_measurement) }),
    ..page!("psk-refused")
};

fn of_measurement(_: &MeasuredCase<'_>, refused: &KindSeries<'_>) -> Option<Finding> {
    if refused.asked.kind != Kind::Psk || refused.refusals() == 0 {
        return None;
    }
    let is_taken = refused.as_asked() > 0;
    let (title, confidence) = match is_taken {
        true => ("The server accepts the external PSK only sometimes", Confidence::Possible),
        false => ("The server does not accept the external PSK", Confidence::Likely),
    };
    let remedy = match is_taken {
        true => "Give every node behind this address the same PSKs.",
        false => {
            "Compare --psk-identity with the server's, byte by byte; its hash is --psk-hash; if it takes PSKs without key \
             exchange alone, --psk-mode both."
        }
    };
    let offered = connections(refused.offered());
    let evidence = [
        format!("{} of {offered} that offered it ended in a full handshake", refused.refusals()),
        "A wrong key would have caused an alert (RFC 9846, section 4.3.11)".to_owned(),
    ];
    let finding = CAUSE.finding(Severity::Fault, confidence, title).because(evidence);
    Some(finding.fixed_by(vec![Remedy::general(remedy)]))
}
