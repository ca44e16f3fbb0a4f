//! `early-data-not-allowed`, `early-data-rejected`, `early-data-too-early` and `early-data-replayable`: what became of the
//! request that was to leave with the ClientHello.

use reprise_trace::Kind;
use reprise_trace::document::{Confidence, Finding, MeasureDocument, Remedy, Run, Severity};

use crate::figures::connections;
use crate::observation::completed;

/// RFC 8470 §5.2: the server will not risk to process a request that might be replayed.
const TOO_EARLY: u16 = 425;

pub(super) fn findings(document: &MeasureDocument) -> Vec<Finding> {
    let asked = document.runs.iter().filter(|run| run.asked.kind == Kind::Early && completed(run) > 0);
    asked.flat_map(|run| [not_allowed(run), rejected(run), too_early(run), replayable(run)]).flatten().collect()
}

fn not_allowed(run: &Run) -> Option<Finding> {
    let observed = &run.observed;
    (observed.early_data_sent == 0 && observed.tickets_given > 0).then(|| Finding {
        id: "early-data-not-allowed".to_owned(),
        severity: Severity::Note,
        confidence: Confidence::Certain,
        title: format!("{} tickets arrive, and none allows early data", run.asked.tls),
        evidence: vec![format!(
            "Tickets on {}, max_early_data_size above 0 on {}",
            connections(observed.tickets_given),
            observed.early_data_allowed
        )],
        cost_ns: None,
        remedy: remedy(
            "If requests that may be replayed are to save a round trip:\n\
             nginx: ssl_early_data on;\n\
             HAProxy: allow-0rtt on the bind line\n\
             rustls: ServerConfig with max_early_data_size above 0 and a session_storage",
        ),
    })
}

/// RFC 8446 §4.2.10 has the reasons.
/// A HelloRetryRequest rejects early data whatever the server would have done with it: no replay protection is to blame.
fn rejected(run: &Run) -> Option<Finding> {
    let observed = &run.observed;
    let rejected = observed.early_data_sent.saturating_sub(observed.early_data_accepted);
    let retries = observed.hello_retry_requests;
    let by_retry = (retries > 0).then(|| {
        format!("A HelloRetryRequest came on {}, which rejects early data (RFC 8446, section 4.2.10)", connections(retries))
    });
    (rejected > 0).then(|| Finding {
        id: "early-data-rejected".to_owned(),
        severity: Severity::Risk,
        confidence: Confidence::Certain,
        title: if observed.early_data_accepted == 0 {
            "Tickets allow early data, and the server rejects it".to_owned()
        } else {
            "Early data is accepted now and then".to_owned()
        },
        evidence: [
            format!("Rejected on {rejected} of {} that sent it", connections(observed.early_data_sent)),
            "Each time the request was sent again after the handshake: its bytes were spent twice".to_owned(),
        ]
        .into_iter()
        .chain(by_retry)
        .collect(),
        cost_ns: None,
        remedy: if retries >= rejected {
            remedy("Offer the group that the server takes first: --groups.")
        } else {
            remedy(
                "A server rejects what its replay protection does not know (RFC 8446, section 8): a ticket that was used \
                 before, that another node gave, or that is older than its window. Let the nodes share it, or allow no early \
                 data.",
            )
        },
    })
}

fn too_early(run: &Run) -> Option<Finding> {
    let count = run.http_status.get(&TOO_EARLY).copied().filter(|count| *count > 0)?;
    Some(Finding {
        id: "early-data-too-early".to_owned(),
        severity: Severity::Risk,
        confidence: Confidence::Certain,
        title: "The service answers early data with 425 Too Early".to_owned(),
        evidence: vec![format!(
            "Status 425 on {} of {}: TLS accepted the request, and what stands behind it did not (RFC 8470, section 5.2)",
            count,
            connections(completed(run))
        )],
        cost_ns: None,
        remedy: remedy("Ask for a path that may be replayed with --path, or allow no early data where none may."),
    })
}

fn replayable(run: &Run) -> Option<Finding> {
    let accepted = run.observed.early_data_accepted;
    (accepted > 0).then(|| Finding {
        id: "early-data-replayable".to_owned(),
        severity: Severity::Note,
        confidence: Confidence::Certain,
        title: "Early data is accepted: whoever records such a request can send it again".to_owned(),
        evidence: vec![
            format!("Accepted on {} of {} that sent it", accepted, connections(run.observed.early_data_sent)),
            "RFC 8446, section 8: nothing in TLS prevents a replay between connections, and section 2.3: early data has no \
             forward secrecy"
                .to_owned(),
        ],
        cost_ns: None,
        remedy: remedy(
            "Let the service see which requests came early and answer 425 where one must not be replayed (RFC 8470).\n\
             nginx: proxy_set_header Early-Data $ssl_early_data;",
        ),
    })
}

fn remedy(text: &str) -> Option<Remedy> {
    Some(Remedy { software: None, text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;

    fn ids(example: Example) -> Vec<String> {
        findings(&example.document()).into_iter().map(|finding| finding.id).collect()
    }

    fn early(sent: u64, accepted: u64) -> Example {
        Example::new().run("1.3", Kind::Full, 900).run("1.3", Kind::Early, 20).observed(|it| {
            it.tickets_given = 100;
            it.early_data_allowed = if sent > 0 { 100 } else { 0 };
            it.early_data_sent = sent;
            it.early_data_accepted = accepted;
        })
    }

    #[test]
    fn each_fate_of_early_data_has_its_finding() {
        assert_eq!(ids(early(0, 0)), ["early-data-not-allowed"]);
        assert_eq!(ids(early(100, 0)), ["early-data-rejected"]);
        assert_eq!(ids(early(100, 100)), ["early-data-replayable"]);
        assert_eq!(ids(early(100, 40)), ["early-data-rejected", "early-data-replayable"]);
    }

    #[test]
    fn a_retry_is_told_from_replay_protection() {
        let document = early(100, 0).observed(|it| it.hello_retry_requests = 100).document();
        let [finding] = findings(&document).try_into().unwrap();
        assert!(finding.evidence[2].starts_with("A HelloRetryRequest came on 100 connections"), "{finding:?}");
        assert!(finding.remedy.unwrap().text.contains("--groups"));
        let [without] = findings(&early(100, 0).document()).try_into().unwrap();
        assert!(without.evidence.len() == 2 && without.remedy.unwrap().text.contains("replay protection"));
    }

    #[test]
    fn a_server_without_tickets_is_not_accused_of_tickets() {
        assert_eq!(ids(early(0, 0).observed(|it| it.tickets_given = 0)), [""; 0]);
    }

    #[test]
    fn a_service_that_says_too_early_is_quoted() {
        let mut document = early(100, 100).document();
        document.runs[1].http_status.insert(425, 100);
        let too_early = &findings(&document)[0];
        assert_eq!(too_early.id, "early-data-too-early");
        assert!(too_early.evidence[0].starts_with("Status 425 on 100 of 100 connections"));
    }

    #[test]
    fn who_asked_for_no_early_data_hears_nothing_of_it() {
        let tickets = Example::new().run("1.3", Kind::Full, 900).run("1.3", Kind::Ticket, 300);
        assert_eq!(ids(tickets.observed(|it| it.tickets_given = 100)), [""; 0]);
    }
}
