//! `hidden-nodes` and `id-cache-per-process`: sessions are accepted now and then, as by nodes that do not share them.

use reprise_trace::document::{Confidence, Finding, MeasureDocument, Remedy, Run, Severity};
use reprise_trace::{Kind, Nanos, Phase};

use crate::figures::{connections, percent};
use crate::observation::{FEWEST, Saving, as_asked, completed, refusals, saving};

pub(super) fn findings(document: &MeasureDocument) -> Vec<Finding> {
    let sometimes = |run: &&Run| as_asked(run) > 0 && refusals(run) > 0;
    document
        .runs
        .iter()
        .filter(|run| matches!(run.asked.kind, Kind::Id | Kind::Ticket))
        .filter(sometimes)
        .map(|run| finding(document, run))
        .collect()
}

fn finding(document: &MeasureDocument, run: &Run) -> Finding {
    let (id, what, remedy) = match run.asked.kind {
        Kind::Id => ("id-cache-per-process", "session IDs", SHARE_THE_CACHE),
        _ => ("hidden-nodes", "tickets", SHARE_THE_KEYS),
    };
    let mut evidence = vec![counts(run), as_many_nodes(run)];
    let tickets = document
        .run(run.asked.tls, Kind::Ticket)
        .filter(|tickets| run.asked.kind == Kind::Id && completed(tickets) > 0 && as_asked(tickets) == completed(tickets));
    evidence.extend(tickets.map(|tickets| format!("Tickets resumed {} of {}", as_asked(tickets), completed(tickets))));
    Finding {
        id: id.to_owned(),
        severity: Severity::Fault,
        // Where tickets always work, the nodes share keys and only the cache is left.
        confidence: if tickets.is_some() { Confidence::Likely } else { Confidence::Possible },
        title: format!("{} {what} are accepted only sometimes", run.asked.tls),
        evidence,
        cost_ns: average_cost(document, run),
        remedy: Some(Remedy { software: None, text: remedy.to_owned() }),
    }
}

fn counts(run: &Run) -> String {
    let offered = run.observed.sessions_offered;
    let share = as_asked(run) as f64 / offered as f64;
    format!("{} of {} that offered one resumed ({})", as_asked(run), connections(offered), percent(share))
}

fn as_many_nodes(run: &Run) -> String {
    if as_asked(run) < FEWEST {
        return format!("Under {FEWEST} resumed: too few to tell how many nodes without shared state would do it");
    }
    let nodes = (run.observed.sessions_offered as f64 / as_asked(run) as f64).round() as u64;
    match nodes {
        0 | 1 => "Rarer than two nodes without shared state would: a small cache or a change of keys may do it".to_owned(),
        nodes => format!("About 1 in {nodes}, as {nodes} nodes without shared state would"),
    }
}

/// What the refusals cost a connection on average, where it is shown that resuming saves anything.
fn average_cost(document: &MeasureDocument, run: &Run) -> Option<Nanos> {
    let saved = saving(document, run, Phase::Tls).filter(Saving::is_shown)?.saved();
    let refused = refusals(run) as f64 / completed(run) as f64;
    Some(Nanos((saved.0 as f64 * refused).round() as u64))
}

const SHARE_THE_KEYS: &str = "Give every node behind this address the same ticket keys:\n\
    nginx: ssl_session_ticket_key FILE;\n\
    Apache: SSLSessionTicketKeyFile FILE\n\
    HAProxy: tls-ticket-keys FILE on the bind line\n\
    Envoy: session_ticket_keys";

const SHARE_THE_CACHE: &str = "Share the session cache between processes and nodes, or use tickets:\n\
    nginx: ssl_session_cache shared:SSL:10m; (builtin is per worker)\n\
    Apache: SSLSessionCache shmcb:… for one node, socache redis or memcache for several\n\
    HAProxy: without tune.ssl.force-private-cache";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;

    #[test]
    fn tickets_that_hit_one_in_two_look_like_two_nodes() {
        let document = Example::new().run("1.3", Kind::Full, 900).run("1.3", Kind::Ticket, 300).of_which_full(52).document();
        let [finding] = findings(&document).try_into().unwrap();
        assert_eq!((finding.id.as_str(), finding.confidence), ("hidden-nodes", Confidence::Possible));
        assert_eq!(finding.evidence[0], "48 of 100 connections that offered one resumed (48 %)");
        assert_eq!(finding.evidence[1], "About 1 in 2, as 2 nodes without shared state would");
        assert_eq!(finding.cost_ns, Some(Nanos(312_000)));
    }

    #[test]
    fn ids_that_hit_sometimes_while_tickets_always_do_are_a_cache_of_its_own_per_process() {
        let document = Example::new()
            .run("1.2", Kind::Full, 900)
            .run("1.2", Kind::Id, 300)
            .of_which_full(75)
            .run("1.2", Kind::Ticket, 300)
            .document();
        let [finding] = findings(&document).try_into().unwrap();
        assert_eq!((finding.id.as_str(), finding.confidence), ("id-cache-per-process", Confidence::Likely));
        assert_eq!(finding.evidence[2], "Tickets resumed 100 of 100");
    }

    #[test]
    fn of_a_few_resumptions_no_nodes_are_counted() {
        let document = Example::new().run("1.3", Kind::Full, 900).run("1.3", Kind::Ticket, 300).of_which_full(95).document();
        assert!(findings(&document)[0].evidence[1].starts_with("Under 6 resumed"));
    }

    #[test]
    fn a_rare_refusal_is_not_called_two_nodes() {
        let document = Example::new().run("1.3", Kind::Full, 900).run("1.3", Kind::Ticket, 300).of_which_full(2).document();
        assert!(findings(&document)[0].evidence[1].starts_with("Rarer"));
    }
}
