//! `single-use`: a session resumes once, and is refused when it is offered again. Under TLS 1.3 that is how tickets are meant to
//! be used (RFC 9846 §C.4); under TLS 1.2 it surprises.

use reprise_judge::JudgedCause as Concluded;
use reprise_model::document::{Confidence, Severity};

use super::shared::MORE_TICKETS;
use super::{Cause, JudgedRule};
use crate::diagnose::examined::{Examined, is_tls13, mechanism};

pub(super) static CAUSE: Cause = Cause {
    slug: "single-use",
    title: "Each ticket serves once",
    happens: "\
The server accepts a TLS 1.3 ticket once and refuses it the second time. RFC 9846 §8.1 describes this as protection
against replayed early data, and appendix C.4 asks clients to use each ticket once, so that connections cannot be
linked. rustls with a session storage does it, and OpenSSL with early data on.",
    seen: "\
A session that was resumed is refused when it is offered again, each time, while sessions that are offered for the first time
resume. Under TLS 1.3 it is by design, and a note; under TLS 1.2, whose sessions serve any number of
times, a risk. What follows from it for many connections at once is `tickets-run-out`.",
    confirm: "\
Offer one saved session twice under TLS 1.3:

```sh
(sleep 1) | openssl s_client -connect HOST:443 -tls1_3 -sess_out session.pem > /dev/null 2>&1
for i in 1 2; do openssl s_client -connect HOST:443 -tls1_3 -sess_in session.pem < /dev/null 2> /dev/null | grep -E '^(New|Reused)'; done
```",
    costs: "\
Nothing for a client that takes the newest ticket each time. A client with more connections at once than tickets
makes full handshakes.",
    advice: "Give more tickets for each handshake, and let clients ask for as many as they need (RFC 9149):",
    fixes: MORE_TICKETS,
    separated_by: &["history"],
    severities: &[Severity::Risk, Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    judged: Some(JudgedRule::of(Concluded::SingleUse, |asked| if is_tls13(asked) { Severity::Note } else { Severity::Risk }, |judgement| format!("A session of {} is accepted only once", mechanism(judgement.asked)))),
    ..Cause::BLANK
};

/// Whether the judge concludes it of TLS 1.3 tickets.
pub(super) fn is_shown(examined: &Examined<'_>) -> bool {
    let judgements = examined.case.judgements.iter();
    judgements.filter(|it| is_tls13(it.asked)).any(|it| it.of(Concluded::SingleUse).is_some())
}
