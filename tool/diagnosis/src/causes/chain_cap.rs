//! `chain-cap`: sessions are refused after so many resumptions since the full handshake.

use reprise_judge::JudgedCause as Concluded;
use reprise_model::document::{Confidence, Severity};
use reprise_probe::diagnose::Judgement;

use super::resumed_ticket_refused::is_cap_of_one;
use super::{Cause, JudgedRule};
use crate::diagnose::examined::mechanism;

pub(super) static CAUSE: Cause = Cause {
    slug: "chain-cap",
    title: "A lineage of sessions has reached its cap",
    happens: "\
A resumption gives new tickets, and so sessions descend from one full handshake. RFC 9846 §4.7.1 asks that the
lifetime be counted from that handshake, at most seven days, and some servers end it with the certificate. Then a
full handshake is right. An alert instead is `offer-breaks-connection`.",
    seen: "\
Sessions that follow one another from one full handshake are refused after so many resumptions, each time, and accepted again after the
next full handshake. A cap in time, a day or a week, is not seen in a short run: there it is one refused ticket
after many accepted ones. A cap of one resumption is `resumed-ticket-refused`.",
    confirm: "\
Keep a chain of sessions going from a timer, and note when it breaks:

```sh
reprise measure HOST --kinds ticket --session-in chain.json --session-out chain.json
```",
    costs: "One full handshake for each lineage.",
    advice: "Nothing needs to be fixed. Where the cap is shorter than wanted, raise the session timeout, up to seven days.",
    separated_by: &["history"],
    severities: &[Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    // Where the cap is one resumption, it is a fault, and has a name of its own.
    judged: Some(
        JudgedRule::of(Concluded::ChainCap, |_| Severity::Note, title).if_it(|judgement| !is_cap_of_one(judgement)),
    ),
    ..Cause::BLANK
};

fn title(judgement: &Judgement) -> String {
    format!("{}: sessions are refused after so many resumptions since the full handshake", mechanism(judgement.asked))
}
