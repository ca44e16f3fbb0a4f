//! What the figures of one target mean, in a few sentences.

use reprise_model::document::{FirstConnection, HelloRetrySummary, MeasureDocument, Run};
use reprise_model::{Kind, Phase, Version};

use reprise_diagnosis::answers::not_compared;
use reprise_diagnosis::figures::{connections, duration, from_to, means, percent, ratio, ratio_and_interval, span};
use reprise_diagnosis::savings::{
    FEWEST, Saving, bears_a_sentence, best_resumption, completed, median_ns, resumptions, runs, saving, versions,
};
use reprise_diagnosis::slow_connections::about_two_modes;
use reprise_diagnosis::{against_saving, bound};

/// What the figures mean: a sentence for each version, one for connections that were kept alive, and one on what
/// bounds the target. What is refused or not offered is a finding.
pub fn sentences(document: &MeasureDocument) -> Vec<String> {
    if document.runs.is_empty() {
        return vec!["Nothing was measured.".to_owned()];
    }
    if document.runs.iter().all(|run| completed(run) == 0) {
        let failed = connections(document.runs.iter().map(|run| run.failed).fold(0, u64::saturating_add));
        return vec![format!("None of {failed} completed: there is nothing to compare.")];
    }
    let of_version = |version| [about(document, version), not_compared(document, version).map(|why| format!("{why}."))];
    let versions = versions(document).into_iter().flat_map(of_version).flatten();
    let first = document.first_connection.map(about_first_connection);
    first
        .into_iter()
        .chain(about_hello_retry(document))
        .chain(versions)
        .chain(about_psk(document))
        .chain(about_early_data(document))
        .chain(about_kept_connections(document))
        .chain(about_two_modes(document))
        .chain(bound(document))
        .collect()
}

/// What a process meets that has just begun, with a session that another saved.
pub fn about_first_connection(first: FirstConnection) -> String {
    let age = duration(first.session_age_ns);
    let offered = format!("This process's first connection offered a {} session that was {age} old", first.asked.tls);
    match first.kind {
        Kind::Full => format!("{offered}, and the server answered with a full handshake."),
        kind => format!("{offered}, and was resumed by {}.", means(kind)),
    }
}

/// Before what resuming saves: it comes on top of both.
fn about_hello_retry(document: &MeasureDocument) -> Option<String> {
    let HelloRetrySummary { shared, group, comparison, .. } = document.hello_retry.as_ref()?;
    let retried = |kind: Kind| document.run(Version::Tls13, kind).is_some_and(|run| run.observed.hello_retry_requests > 0);
    let which = match (retried(Kind::Full), retried(Kind::Ticket) || retried(Kind::Psk)) {
        (true, true) => "Handshakes of TLS 1.3, full and resumed,",
        (false, true) => "Resumed handshakes of TLS 1.3",
        _ => "Full handshakes of TLS 1.3",
    };
    let takes = comparison.and_then(|compared| compared.shown_cost_ns());
    let takes = takes.map_or_else(|| "a round trip more each".to_owned(), |cost| format!("{} more each", span(cost)));
    Some(format!(
        "{which} start again, since the server asks for {group} where the client shares {shared} (HelloRetryRequest): {takes}."
    ))
}

fn about_psk(document: &MeasureDocument) -> Option<String> {
    let run = document.run(Version::Tls13, Kind::Psk)?;
    Some(about_resuming(document, run, saving(document, run, Phase::Tls)?))
}

/// `tls` ends when application data may first be sent, which early data may at once. What it saves is told of the
/// whole connection.
fn about_early_data(document: &MeasureDocument) -> Option<String> {
    let run = document.run(Version::Tls13, Kind::Early)?;
    let saved = saving(document, run, Phase::Total)?;
    let (full, early) = from_to(saved.full_ns, saved.resumed_ns);
    let leaves = "With early data the request is sent before the handshake is complete";
    if saved.undecided() {
        let n = connections(run.n);
        return Some(format!("{leaves}; {n} show no difference in the whole connection: {full} to {early}."));
    }
    let share = saved.share();
    let verdict = if share > 0.0 { format!("{} less", percent(share)) } else { format!("{} more", percent(-share)) };
    Some(format!("{leaves}: the whole connection takes {early} instead of {full}, {verdict}."))
}

fn about(document: &MeasureDocument, version: Version) -> Option<String> {
    if let Some((run, saved)) = best_resumption(document, version) {
        return Some(about_resuming(document, run, saved));
    }
    let full = document.run(version, Kind::Full)?;
    let resumed: u64 = resumptions(document, version).map(|run| run.n).fold(0, u64::saturating_add);
    let are_apart = not_compared(document, version).is_some();
    if !are_apart && resumed > 0 && resumed.min(full.n) < FEWEST {
        let few = connections(resumed.min(full.n));
        return Some(format!(
            "{version} sessions are resumed; {few} are too few to say what that saves: use --count {FEWEST}."
        ));
    }
    let is_all = resumed == 0 || are_apart;
    let full_ns = median_ns(full, Phase::Tls).filter(|_| is_all && bears_a_sentence(document, full, Phase::Tls))?;
    let was_tried = resumptions(document, version).next().is_some();
    if are_apart {
        return Some(format!("A full {version} handshake takes {}.", span(full_ns)));
    }
    let remark = if was_tried { "no session was resumed" } else { "no resumption was measured" };
    Some(format!("A full {version} handshake takes {}; {remark}.", span(full_ns)))
}

fn about_resuming(document: &MeasureDocument, run: &Run, saved: Saving) -> String {
    let takes = about_its_time(document, run, saved);
    against_saving(document, run, saved).map_or_else(|| takes.clone(), |against| format!("{takes} {against}."))
}

fn about_its_time(document: &MeasureDocument, run: &Run, saved: Saving) -> String {
    let Saving { full_ns, resumed_ns, .. } = saved;
    let (full, resumed) = from_to(full_ns, resumed_ns);
    let resuming = match run.asked.kind {
        Kind::Psk => format!("Starting {} with the external PSK", run.asked.tls),
        kind => format!("Resuming a {} session by {}", run.asked.tls, means(kind)),
    };
    if saved.undecided() {
        return format!("{resuming} makes no measurable difference in {}: {full} to {resumed}.", connections(run.n));
    }
    let ratio = match saved.ci95 {
        Some(ci95) => {
            let (ratio, interval) = ratio_and_interval(saved.ratio, ci95);
            format!("{ratio} times as fast (95 % interval {interval})")
        }
        None => format!("{} times as fast", ratio(saved.ratio)),
    };
    if saved.ratio < 1.0 {
        return format!("{resuming} lengthens the handshake from {full} to {resumed}, {ratio}.");
    }
    let whole = match saving(document, run, Phase::Total) {
        // Half of one per cent and more, or it would be called 0 %.
        Some(total) if total.is_shown() && total.share() >= 0.005 => {
            format!("; the whole connection takes {} less time", percent(total.share()))
        }
        _ => String::new(),
    };
    format!("{resuming} shortens the handshake from {full} to {resumed}, {ratio}{whole}.")
}

fn about_kept_connections(document: &MeasureDocument) -> Option<String> {
    // The newest version's: it is the one that a client would get.
    let version = versions(document).into_iter().next_back()?;
    let next = runs(document, version).filter_map(|run| run.next_request).find(|next| next.n >= FEWEST)?;
    let takes = span(next.wait.median_ns.saturating_add(next.receive.median_ns));
    Some(format!("On a kept-alive connection the next request takes {takes}, without a handshake."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reprise_diagnosis::example::{Example, another_status};
    use reprise_model::document::Confidence;

    #[test]
    fn a_saving_has_its_interval_and_its_overall_effect() {
        let document = Example::new().run("1.2", Kind::Full, 3_000).run("1.2", Kind::Ticket, 600).document();
        assert_eq!(
            sentences(&document),
            ["Resuming a TLS 1.2 session by ticket shortens the handshake from 3.00 to 0.60 ms, 5.0 times as fast (95 % \
              interval 4.8–5.2); the whole connection takes 76 % less time."]
        );
    }

    #[test]
    fn each_version_has_its_sentence() {
        let document = Example::new()
            .run("1.2", Kind::Full, 900)
            .run("1.3", Kind::Full, 900)
            .refused("1.3", Kind::Ticket, 100)
            .document();
        assert_eq!(
            sentences(&document),
            [
                "A full TLS 1.2 handshake takes 900.0 µs; no resumption was measured.",
                "A full TLS 1.3 handshake takes 900.0 µs; no session was resumed."
            ]
        );
    }

    #[test]
    fn times_of_different_answers_are_not_compared() {
        let both = Example::new().run("1.2", Kind::Full, 3_000).run("1.2", Kind::Id, 700).run("1.2", Kind::Ticket, 600);
        let differs = |kind| another_status("1.2", kind, 496, Confidence::Certain);
        let why = "Connections that begin by ticket are answered otherwise (HTTP status 496, full handshakes HTTP status 200), so \
                   their times are not compared.";
        let told = sentences(&both.answering_otherwise(differs(Kind::Ticket)).document());
        assert!(told[0].starts_with("Resuming a TLS 1.2 session by session ID shortens") && told[1] == why, "{told:?}");
        let one = Example::new().run("1.2", Kind::Full, 3_000).run("1.2", Kind::Ticket, 600);
        assert_eq!(
            sentences(&one.answering_otherwise(differs(Kind::Ticket)).document()),
            ["A full TLS 1.2 handshake takes 3.00 ms.", why]
        );
    }

    #[test]
    fn a_psk_and_early_data_have_sentences_of_their_own() {
        let document = Example::new()
            .run("1.3", Kind::Full, 900)
            .run("1.3", Kind::Ticket, 300)
            .run("1.3", Kind::Psk, 300)
            .timed_run("1.3", Kind::Early, [50, 5, 400])
            .document();
        let sentences = sentences(&document);
        assert!(sentences[0].starts_with("Resuming a TLS 1.3 session by ticket shortens the handshake from 900 to 300 µs"));
        assert!(
            sentences[1].starts_with("Starting TLS 1.3 with the external PSK shortens the handshake from 900 to 300 µs")
        );
        assert_eq!(
            sentences[2],
            "With early data the request is sent before the handshake is complete: the whole connection takes 0.46 ms \
                instead of 1.05, 57 % less."
        );
    }

    #[test]
    fn a_new_processs_first_connection_is_told() {
        let mut document = Example::new().run("1.3", Kind::Full, 900).run("1.3", Kind::Ticket, 300).document();
        let mut first = |kind, age_s: u64| {
            let asked = reprise_model::Asked { tls: Version::Tls13, kind: Kind::Ticket };
            let phases = reprise_model::Phases::default();
            let first = FirstConnection { local_port: 1, asked, kind, session_age_ns: age_s * 1_000_000_000, phases };
            document.first_connection = Some(first);
            sentences(&document).remove(0)
        };
        let begins = "This process's first connection offered a TLS 1.3 session that was";
        assert_eq!(first(Kind::Ticket, 200), format!("{begins} 3 minutes old, and was resumed by ticket."));
        let refused = first(Kind::Full, 0);
        assert_eq!(refused, format!("{begins} less than a second old, and the server answered with a full handshake."));
    }

    #[test]
    fn what_the_samples_do_not_show_is_not_claimed() {
        let open = Example::new().run("1.3", Kind::Full, 400).run("1.3", Kind::Ticket, 390).interval([0.9, 1.1]);
        assert!(sentences(&open.document())[0].contains("no measurable difference in 100 connections"));
        let slower = Example::new().run("1.3", Kind::Full, 400).run("1.3", Kind::Ticket, 800).interval([0.4, 0.6]);
        assert!(sentences(&slower.document())[0].contains("lengthens the handshake from 400 to 800 µs"));
    }

    #[test]
    fn what_a_retry_costs_stands_before_what_resuming_saves() {
        let retried = |example: Example| example.observed(|it| it.hello_retry_requests = 100);
        let both = retried(retried(Example::new().run("1.3", Kind::Full, 400)).run("1.3", Kind::Ticket, 390));
        let open = both.interval([0.9, 1.1]);
        let compared = sentences(&open.hello_retry("x25519", "secp384r1", Some(22_400)).document());
        assert_eq!(
            compared[0],
            "Handshakes of TLS 1.3, full and resumed, start again, since the server asks for secp384r1 where the client shares \
             x25519 (HelloRetryRequest): 22.40 ms more each."
        );
        assert!(compared[1].contains("no measurable difference"), "{compared:?}");
        let full = retried(Example::new().run("1.3", Kind::Full, 400)).hello_retry("x25519", "secp384r1", None);
        let alone = sentences(&full.document()).remove(0);
        assert!(
            alone.starts_with("Full handshakes of TLS 1.3 start again") && alone.ends_with(": a round trip more each."),
            "{alone}"
        );
    }

    #[test]
    fn bytes_that_speak_against_a_saving_stand_beside_it() {
        let full = Example::new().run("1.3", Kind::Full, 900).bytes([234, 1_300, 3_000]);
        let heavier = full.run("1.3", Kind::Ticket, 500).bytes([4_855, 5_100, 4_200]);
        let sentence = sentences(&heavier.document()).remove(0);
        assert!(sentence.contains("less time. But it moves 5000 bytes more than a full handshake"), "{sentence}");
        assert!(sentence.ends_with("more than it saves here."), "{sentence}");
    }

    #[test]
    fn of_few_samples_no_time_is_told() {
        let document = Example::new()
            .run("1.3", Kind::Full, 900)
            .run("1.3", Kind::Ticket, 300)
            .timed_run("1.3", Kind::Early, [50, 5, 400])
            .without_intervals("1.3", Kind::Full)
            .without_intervals("1.3", Kind::Ticket)
            .without_intervals("1.3", Kind::Early);
        assert_eq!(
            sentences(&document.document()),
            ["TLS 1.3 sessions are resumed; 4 connections are too few to say what that saves: use --count 8."]
        );
    }

    #[test]
    fn of_two_modes_no_saving_is_told() {
        let full = || Example::new().run("1.3", Kind::Full, 900).slow(3, Phase::Tls, 1_000_000);
        let slow = "34 of 100 connections take 1.00 s longer in the handshake: a median tells neither kind, so nothing is computed from \
                    these times.";
        assert_eq!(sentences(&full().run("1.3", Kind::Ticket, 300).document()), [slow]);
        assert_eq!(sentences(&full().document()), [slow]);
    }

    #[test]
    fn only_full_handshakes_asked_for_is_no_accusation() {
        let document = Example::new().run("1.3", Kind::Full, 400).observed(|it| it.tickets_given = 100).document();
        assert_eq!(sentences(&document), ["A full TLS 1.3 handshake takes 400.0 µs; no resumption was measured."]);
    }

    #[test]
    fn a_kept_connection_and_a_dead_target_are_told() {
        let kept = Example::new().run("1.3", Kind::Full, 400).run("1.3", Kind::Ticket, 100).next_request(90).document();
        assert!(sentences(&kept)[1].ends_with("the next request takes 91.0 µs, without a handshake."));
        let mut dead = Example::new().refused("1.3", Kind::Full, 0).document();
        dead.runs[0].failed = 10;
        assert_eq!(sentences(&dead), ["None of 10 connections completed: there is nothing to compare."]);
    }
}
