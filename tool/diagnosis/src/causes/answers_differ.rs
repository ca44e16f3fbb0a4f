//! `answers-differ`: the application answers resumed connections otherwise than full ones.

use reprise_model::Kind;
use reprise_model::document::{AnswerDifference, AnswerPart, Confidence, Finding, Severity};

use super::{Cause, MeasuredRule, Rule, fix};
use crate::answers::{answer, is_of_resumption};
use crate::figures::means;
use crate::series::MeasuredCase;

pub(crate) static CAUSE: Cause = Cause {
    slug: "answers-differ",
    title: "Resumed connections are answered otherwise than full ones",
    happens: "\
The application, or the proxy before it, decides by something that only a full handshake shows: a client certificate, a server name,
whether the request came as early data. On a resumed connection no certificate is sent, and the one of the first connection stands in
the session. Who asks the handshake instead of the session takes the same client for another: an error page, a login page, a smaller
page, a connection that is closed. TLS itself resumes as it should.",
    seen: "\
The responses of full and of resumed connections, made in turn, differ in their status, in where they redirect, in the size of the body by
more than a factor of two, or in whether the connection stays open after them. The difference has to follow the kind: full handshakes
before and after are answered alike, and the connections between them otherwise. An application that answers at random, by node, by time
or by a limit on the rate is not meant. Of a few connections it is possible, of six turns certain. It is a fault where resumed connections get an
error and full ones do not. Connections that are closed without an answer are failures, which other causes name.",
    confirm: "\
Ask twice, with one session, and look at the status:

```sh
R='GET / HTTP/1.1\\r\\nHost: HOST\\r\\nConnection: close\\r\\n\\r\\n'
(printf \"$R\"; sleep 3) | openssl s_client -connect HOST:443 -tls1_2 -sess_out session.pem -cert client.pem -key client.key 2>&1 | grep HTTP/
(printf \"$R\"; sleep 3) | openssl s_client -connect HOST:443 -tls1_2 -sess_in session.pem -cert client.pem -key client.key 2>&1 | grep HTTP/
```",
    costs: "Clients that come back get another answer than on their first visit, sometimes, and nobody can reproduce it.",
    advice: "\
Decide by what the session keeps, not by what this handshake has shown: HAProxy ssl_c_used instead of ssl_fc_has_crt, nginx \
$ssl_client_verify, OpenSSL SSL_get0_peer_certificate and SSL_get_verify_result hold on a resumed connection too, where no certificate is \
sent. What the library does not keep, the application has to keep with the session:",
    fixes: &[
        fix(
            "HAProxy",
            "http-request deny deny_status 403 unless { ssl_c_used }",
            "ssl_c_used holds wherever the session has a certificate; ssl_fc_has_crt only where the handshake has sent one, so \
             never on a resumed connection",
        ),
        fix("nginx", "", "decide by $ssl_client_verify, which holds on resumed connections too"),
        fix("Apache", "", "decide by SSL_CLIENT_VERIFY, which holds on resumed connections too"),
        fix(
            "OpenSSL API",
            "",
            "SSL_get0_peer_certificate(ssl) and SSL_get_verify_result(ssl) answer from the session; a flag that a verify callback sets \
             is missing on a resumed connection, where no callback is called",
        ),
        fix("Go", "", "r.TLS.VerifiedChains and r.TLS.PeerCertificates hold on resumed connections too; VerifyPeerCertificate is called \
             for full handshakes alone, VerifyConnection for all"),
    ],
    separated_by: &["answers"],
    severities: &[Severity::Fault, Severity::Risk, Severity::Note],
    confidences: &[Confidence::Certain, Confidence::Likely, Confidence::Possible],
    measured: Some(Rule { rank: 42, find: MeasuredRule::Once(of_measurement) }),
    ..Cause::BLANK
};

/// RFC 8470 §5.2: the server will not risk to process a request that might be replayed, and the client asks again.
const TOO_EARLY: u16 = 425;

/// What has a cause of its own, and is not meant here.
fn is_too_early(difference: &AnswerDifference) -> bool {
    difference.kind == Kind::Early && difference.resumed.status == Some(TOO_EARLY)
}

fn of_measurement(case: &MeasuredCase<'_>) -> Option<Finding> {
    let mut differences: Vec<&AnswerDifference> =
        case.figures.answers_differ.iter().filter(|difference| !is_too_early(difference)).collect();
    differences.sort_by_key(|difference| (severity(difference), difference.confidence, !is_of_resumption(difference)));
    let first = differences.first()?;
    let kinds = match is_of_resumption(first) {
        true => "Resumed connections are",
        false => "Early data is",
    };
    let title = format!(
        "{kinds} answered with {}, full handshakes with {}",
        answer(first, &first.resumed),
        answer(first, &first.full)
    );
    let evidence = differences.iter().map(|it| {
        format!(
            "{} by {}: {} on {} of {}; full handshakes, made in turn with them: {} on {} of {}",
            it.tls,
            means(it.kind),
            answer(it, &it.resumed),
            it.resumed.connections,
            it.resumed.of,
            answer(it, &it.full),
            it.full.connections,
            it.full.of
        )
    });
    Some(case.found(&CAUSE, severity(first), first.confidence, title).because(evidence))
}

fn severity(difference: &AnswerDifference) -> Severity {
    match difference.part {
        _ if difference.is_error() => Severity::Fault,
        AnswerPart::Status | AnswerPart::Location | AnswerPart::Size => Severity::Risk,
        AnswerPart::Close => Severity::Note,
    }
}
