//! `connection-closed-after-response`: a second request was wanted, and the server ended the connection with the first. What was
//! asked for and not measured must not be missing in silence.

use reprise_model::document::{Confidence, Finding, Severity};

use super::{Cause, ExaminedRule, MeasuredRule, Rule, fix};
use crate::diagnose::examined::Examined;
use crate::figures::connections;
use crate::series::MeasuredCase;

pub(super) static CAUSE: Cause = Cause {
    slug: "connection-closed-after-response",
    title: "The server ends each connection with the first response",
    happens: "\
A second request on the same connection was wanted, and the server closed after the first, by `Connection: close` or
a limit on requests.",
    seen: "The response was complete and the connection ended before the next request could be sent.",
    confirm: "\
Two requests, one connection: the second must say that it re-uses it:

```sh
curl -sv -o /dev/null -o /dev/null https://HOST/ https://HOST/ 2>&1 | grep -i 're-us'
```",
    costs: "Each request pays for a connection and a handshake of its own.",
    advice: "If that is not wanted, keep connections open:",
    fixes: &[
        fix("nginx", "keepalive_timeout 75s; keepalive_requests 1000;", "their defaults"),
        fix("Apache", "KeepAlive On", "its default"),
        fix("HAProxy", "", "option http-keep-alive, its default, and no option httpclose"),
        fix("Node", "", "a server.keepAliveTimeout above 0; its default is 5000"),
        fix("Go", "", "no server.SetKeepAlivesEnabled(false)"),
    ],
    severities: &[Severity::Note],
    confidences: &[Confidence::Certain],
    separated_by: &["keep-alive", "reset"],
    examined: Some(Rule { rank: 41, find: ExaminedRule::Once(of_experiments) }),
    measured: Some(Rule { rank: 23, find: MeasuredRule::Once(of_measurement) }),
    ..Cause::BLANK
};

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    let closed = case.samples().filter(|(observation, _)| observation.next_request.is_none()).count();
    if !case.keeps_alive || closed == 0 {
        return None;
    }
    Some(case.found(&CAUSE, Severity::Note, Confidence::Certain, title(closed, case.samples().count())))
}

fn of_experiments(examined: &Examined<'_>) -> Option<Finding> {
    let closed = examined.asked_again().filter(|it| it.next_request.is_none()).count();
    let title = title(closed, examined.asked_again().count());
    (closed > 0).then(|| CAUSE.finding(Severity::Note, Confidence::Certain, title))
}

fn title(closed: usize, all: usize) -> String {
    let all = connections(all as u64);
    format!("The server closes {closed} of {all} after the first response: no further request is possible")
}
