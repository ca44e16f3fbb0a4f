//! By what a client is known to rules that match JA4: on a connection that offers nothing, and on one that offers a session.

use reprise_model::Fingerprint;
use reprise_model::document::{FingerprintRecord, Trace, TracedConnection};
use reprise_page::{Block, Fact, counted};

/// Of the two connections of a trace.
pub(super) fn of_trace(trace: &Trace) -> Option<Fact> {
    let of = |connection: &Option<TracedConnection>| connection.as_ref()?.fingerprint.clone();
    let (full, second) = (of(&trace.full), of(&trace.resumed));
    let mut stable: Vec<String> = full.iter().chain(&second).map(|it| it.stable.clone()).collect();
    stable.dedup();
    let ja4 = |of: Option<Fingerprint>| of.map(|it| it.ja4).into_iter().collect::<Vec<_>>();
    (!stable.is_empty()).then(|| Fact::new("JA4", known_by(&ja4(full), &ja4(second), &stable)))
}

/// Of the clients that came to a server, a fact for each form of their ClientHellos.
pub(super) fn of_clients(records: &[FingerprintRecord]) -> Vec<Fact> {
    let shown = records.iter().take(SHOWN).map(|record| {
        let FingerprintRecord { stable, ja4_without_session, ja4_with_session, connections } = record;
        let known_by = known_by(ja4_without_session, ja4_with_session, std::slice::from_ref(stable));
        match records.len() {
            1 => Fact::new("JA4", known_by),
            _ => Fact::new("JA4", format!("{known_by} ({})", counted(u64::from(*connections), "connection"))),
        }
    });
    let left = records.len().saturating_sub(SHOWN) as u64;
    let left = (left > 0).then(|| Fact::new("JA4", format!("and {left} more, which --json has")));
    shown.chain(left).collect()
}

/// What a rule by JA4 makes of clients that it knows by one of the two.
pub(super) fn about_rules(records: &[FingerprintRecord]) -> Option<Block> {
    let differs = |it: &FingerprintRecord| {
        let (without, with) = (&it.ja4_without_session, &it.ja4_with_session);
        !without.is_empty() && with.iter().any(|ja4| !without.contains(ja4))
    };
    records.iter().any(differs).then(|| {
        Block::Paragraph(
            "JA4: a rule that knows this client by its first connection takes it for another one where it offers a session. The \
             stable form, which is JA4 without the extensions 21, 35, 41, 42 and 44 and without their count, stays the same."
                .to_owned(),
        )
    })
}

/// So many forms are shown.
const SHOWN: usize = 4;

/// "t13… new, t13… with a session; stable form t13…".
fn known_by(without: &[String], with: &[String], stable: &[String]) -> String {
    let (without, with, stable) = (without.join(" or "), with.join(" or "), stable.join(", "));
    let ja4 = match (without.as_str(), with.as_str()) {
        (without, with) if without == with => format!("{without} with and without a session"),
        ("", with) => format!("{with} with a session"),
        (without, "") => format!("{without} new"),
        (without, with) => format!("{without} new, {with} with a session"),
    };
    format!("{ja4}; stable form {stable}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(without: &[&str], with: &[&str]) -> FingerprintRecord {
        let names = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect();
        FingerprintRecord {
            stable: "c".to_owned(),
            ja4_without_session: names(without),
            ja4_with_session: names(with),
            connections: 2,
        }
    }

    #[test]
    fn rules_are_spoken_of_where_the_two_differ() {
        for (without, with, shown, is_told) in [
            (&["a"][..], &["b"][..], "a new, b with a session; stable form c", true),
            (&["a"], &["a"], "a with and without a session; stable form c", false),
            (&["a"], &["b", "d"], "a new, b or d with a session; stable form c", true),
            (&["a"], &[], "a new; stable form c", false),
            (&[], &["b"], "b with a session; stable form c", false),
        ] {
            let records = [record(without, with)];
            assert_eq!(of_clients(&records)[0].value, shown);
            assert_eq!(about_rules(&records).is_some(), is_told, "{shown}");
        }
    }

    #[test]
    fn of_many_forms_the_first_are_shown() {
        let facts = of_clients(&vec![record(&["a"], &["b"]); 7]);
        let values: Vec<&str> = facts.iter().map(|fact| fact.value.as_str()).collect();
        assert_eq!(values.len(), 5);
        assert!(values[0].ends_with(" (2 connections)") && values[4] == "and 3 more, which --json has", "{values:?}");
    }
}
