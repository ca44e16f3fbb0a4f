//! `certificate-uncompressed`: a long chain that is sent as it is to a client that offers to take it compressed.

use reprise_clients::ClientRow;
use reprise_model::Version;
use reprise_model::document::{Confidence, Finding, Severity};
use reprise_wire::ExtensionType;

use super::{Cause, MeasuredRule, Rule};
use crate::figures::connections;
use crate::series::MeasuredCase;

pub(super) static CAUSE: Cause = Cause {
    severities: &[Severity::Note],
    confidences: &[Confidence::Certain],
    measured: Some(Rule { rank: 26, find: MeasuredRule::Once(of_measurement) }),
    ..page!("certificate-uncompressed")
};

/// Shorter chains gain little.
const LONG: u32 = 3000;

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    let row = ClientRow::named(&case.figures.target.like.as_ref()?.name)?;
    let offered = row.hello.lists(ExtensionType::COMPRESS_CERTIFICATE);
    let full = case.full_handshakes(Version::Tls13);
    let bytes = full.iter().find_map(|facts| facts.certificate_bytes).filter(|bytes| *bytes > LONG)?;
    if offered.is_empty() || full.iter().any(|facts| facts.certificate_compression.is_some()) {
        return None;
    }
    let title = format!("The chain of {bytes} bytes is sent uncompressed to a client that takes {}", offered.join(", "));
    let evidence = format!(
        "{} offers compress_certificate ({}); none of {} answered to it",
        row.client,
        offered.join(", "),
        connections(full.len() as u64),
    );
    Some(case.found(&CAUSE, Severity::Note, Confidence::Certain, title).because([evidence]))
}
