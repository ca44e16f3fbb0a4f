//! What the lab's tables mean: what a key costs and what a version leaves to save.

use reprise_model::document::{LabDocument, MeasureDocument};
use reprise_model::{Kind, Phase, PskMode, Version};

use reprise_diagnosis::figures::{in_one_unit, ratio_rounded_down};
use reprise_diagnosis::savings::{bears_a_sentence, best_resumption, median_ns, runs};

/// What the lab's figures mean: what new sessions cost by key, and what resuming saves under each version.
pub fn lab_sentences(document: &LabDocument) -> Vec<String> {
    let versions = [Version::Tls12, Version::Tls13];
    let new = versions.iter().rev().find_map(|version| about_new_sessions(document, *version));
    new.into_iter().chain(versions.iter().filter_map(|version| about_resuming(document, *version))).collect()
}

/// The key in a label of the lab, `rsa-2048` in `rsa-2048/off`.
fn key(result: &MeasureDocument) -> &str {
    result.label.split_once('/').map_or(result.label.as_str(), |(key, _)| key)
}

/// One figure for each key, in the order of the document: `choose` says which of two to keep.
fn by_key<T: Copy>(
    document: &LabDocument,
    figure: impl Fn(&MeasureDocument) -> Option<T>,
    choose: impl Fn(T, T) -> T,
) -> Vec<(&str, T)> {
    let mut figures: Vec<(&str, T)> = Vec::new();
    for result in &document.results {
        let Some(one) = figure(result) else { continue };
        match figures.iter_mut().find(|(known, _)| *known == key(result)) {
            Some((_, known)) => *known = choose(*known, one),
            None => figures.push((key(result), one)),
        }
    }
    figures
}

fn about_new_sessions(document: &LabDocument, version: Version) -> Option<String> {
    // Every server of a key makes the same new sessions: the first is as good as any.
    let full = |result: &MeasureDocument| {
        let run = result.run(version, Kind::Full).filter(|run| bears_a_sentence(result, run, Phase::Tls))?;
        median_ns(run, Phase::Tls)
    };
    let costs = by_key(document, full, |first, _| first);
    if costs.is_empty() {
        return None;
    }
    let (spans, unit) = in_one_unit(&costs.iter().map(|(_, ns)| *ns).collect::<Vec<u64>>());
    let listed = costs.iter().zip(spans).map(|((key, _), span)| format!("{span} {unit} with {key}"));
    Some(format!("A new {version} session costs {}.", list(listed.collect())))
}

fn about_resuming(document: &LabDocument, version: Version) -> Option<String> {
    // What is said of resuming must hold by ID and by ticket: of several servers, the least.
    let best = |result: &MeasureDocument| best_resumption(result, version)?.1.ci95.map(|[low, _]| low);
    let floors = by_key(document, best, f64::min);
    if floors.is_empty() {
        return None;
    }
    let listed = floors.iter().map(|(key, floor)| format!("{} with {key}", in_words(*floor)));
    let fresh_exchange = document
        .results
        .iter()
        .flat_map(|result| runs(result, version))
        .any(|run| run.n > 0 && run.observed.psk_mode == Some(PskMode::PskDheKe));
    let remains =
        if fresh_exchange { ": it keeps a fresh key exchange and saves only the certificate and its signature" } else { "" };
    Some(format!("Resuming makes the {version} handshake {}{remains}.", list(listed.collect())))
}

/// How many times as fast a resumption is at least: the lower end of the interval.
fn in_words(floor: f64) -> String {
    match floor {
        low if low <= 1.0 => "not measurably faster".to_owned(),
        low => format!("at least {} times as fast", ratio_rounded_down(low)),
    }
}

/// "a", "a and b", "a, b and c".
fn list(mut items: Vec<String>) -> String {
    let Some(last) = items.pop() else { return String::new() };
    if items.is_empty() { last } else { format!("{} and {last}", items.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reprise_diagnosis::example::Example;

    fn result(label: &str, [full12, id12, full13, ticket13]: [u64; 4]) -> MeasureDocument {
        Example::new()
            .label(label)
            .run("1.2", Kind::Full, full12)
            .run("1.2", Kind::Id, id12)
            .run("1.3", Kind::Full, full13)
            .run("1.3", Kind::Ticket, ticket13)
            .observed(|it| it.psk_mode = Some(PskMode::PskDheKe))
            .document()
    }

    fn lab(results: Vec<MeasureDocument>) -> LabDocument {
        let provenance = Example::new().document().provenance;
        LabDocument { schema: LabDocument::SCHEMA.to_owned(), results, conditions: Vec::new(), provenance }
    }

    #[test]
    fn keys_and_versions_are_set_side_by_side() {
        let off = Example::new().label("rsa-2048/off").run("1.3", Kind::Full, 900).document();
        let document =
            lab(vec![off, result("rsa-2048/id", [1_000, 100, 900, 300]), result("p-256/id", [400, 100, 380, 290])]);
        assert_eq!(
            lab_sentences(&document),
            [
                "A new TLS 1.3 session costs 900 µs with rsa-2048 and 380 µs with p-256.",
                "Resuming makes the TLS 1.2 handshake at least 9.5 times as fast with rsa-2048 and at least 3.8 times as fast \
                 with p-256.",
                "Resuming makes the TLS 1.3 handshake at least 2.8 times as fast with rsa-2048 and at least 1.24 times as \
                 fast with p-256: it keeps a fresh key exchange and saves only the certificate and its signature.",
            ]
        );
    }

    #[test]
    fn what_is_said_of_a_key_holds_for_all_of_its_servers() {
        let document = lab(vec![result("p-256/id", [400, 100, 400, 200]), result("p-256/ticket", [400, 80, 400, 100])]);
        assert!(lab_sentences(&document)[1].contains("at least 3.8 times"), "by ID, where a ticket has 4.7");
    }

    #[test]
    fn what_is_quoted_is_what_is_sure() {
        let with_interval = |ci95| {
            let result = Example::new().label("p-256/id").run("1.3", Kind::Full, 400).run("1.3", Kind::Ticket, 200);
            lab_sentences(&lab(vec![result.interval(ci95).document()]))[1].clone()
        };
        assert!(with_interval([1.599, 2.4]).contains("handshake at least 1.59 times as fast with"), "rounded down");
        assert!(with_interval([0.97, 2.4]).contains("handshake not measurably faster with"));
    }

    #[test]
    fn of_few_connections_nothing_is_told() {
        let few = |it: Example| it.without_intervals("1.3", Kind::Full).document();
        let document = Example::new().label("p-256/id").run("1.3", Kind::Full, 400).run("1.3", Kind::Ticket, 200);
        assert_eq!(lab_sentences(&lab(vec![few(document)])), [""; 0]);
    }

    #[test]
    fn an_empty_lab_says_nothing() {
        assert_eq!(lab_sentences(&lab(Vec::new())), Vec::<String>::new());
    }
}
