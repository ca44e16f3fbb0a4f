//! `early-data-offered`: the client sends early data, which anybody on the network can send again.

use reprise_model::document::{Confidence, Finding, Severity};

use super::{Cause, Rule};
use crate::client::case::{ClientCase, named};

pub(super) static CAUSE: Cause = Cause {
    slug: "early-data-offered",
    title: "The client sends early data",
    happens: "\
A client that sends its request as early data saves a round trip, and whoever records the request can send it again
(RFC 9846 §8); it has no forward secrecy either (§2.3). Which requests may be sent so is the client's to decide (RFC
8470 §4).",
    seen: "\
Of a client that connects to `--listen`: its ClientHello has early_data. What of it was accepted is counted. It is a
note.",
    confirm: "\
Watch the client, and look for `early_data` in its ClientHello:

```sh
tshark -r capture.pcapng -Y 'tls.handshake.type == 1 && tls.handshake.extension.type == 42'
```",
    costs: "No time: a risk for requests that change something.",
    advice: "Send as early data only what may safely be done twice, and repeat after the handshake what is answered with 425 (RFC 8470).",
    severities: &[Severity::Note],
    confidences: &[Confidence::Certain],
    watched: Some(Rule { rank: 13, find: of_client }),
    ..Cause::BLANK
};

fn of_client(case: &ClientCase<'_>) -> Option<Finding> {
    let announced = || case.completed().filter(|(_, offer, _)| offer.early_data);
    let count = announced().count();
    let accepted = announced().filter(|(_, _, agreed)| agreed.early_data.is_some()).count();
    let title = format!("The client sends early data: {accepted} of {count} accepted");
    let lines = announced().map(|(connection, _, agreed)| {
        let what = agreed.early_data.map_or_else(|| "rejected".to_owned(), |bytes| format!("{bytes} bytes accepted"));
        format!("{}: {what}", named(connection))
    });
    case.found_in(&CAUSE, Severity::Note, Confidence::Certain, title, lines)
}
