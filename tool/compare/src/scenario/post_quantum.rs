//! What do ML-KEM and ML-DSA cost, in CPU time, bytes and round trips, and what does resumption save of it?

use reprise_model::document::{CompareCase, CompareDocument, CompareRow, stack_pair};
use reprise_model::{Kind, Version};
use reprise_pairs::{Case, Key};
use reprise_wire::NamedGroup;

use super::Scenario;
use crate::conclusion::{costs_of, instead_of_full};

pub(super) const SCENARIO: Scenario = Scenario {
    name: "post-quantum",
    help: "ML-KEM and ML-DSA against elliptic curves: CPU time, bytes, round trips; full, retried, resumed",
    versions: &[Version::Tls13],
    keys: &[Key::P256, Key::ML_DSA_44, Key::ML_DSA_65, Key::MlDsa65Chain, Key::P256ByMlDsa65],
    groups: |key| {
        if key.has_ml_dsa() {
            // A key exchange costs the same by each key.
            &[HYBRID]
        } else {
            &[NamedGroup::X25519, NamedGroup::SECP256R1, HYBRID, NamedGroup::SECP256R1MLKEM768, NamedGroup::MLKEM768]
        }
    },
    kinds: &[(Kind::Full, false), (Kind::Ticket, false)],
    beside: |version, key, group| {
        let full = Case::new(version, Kind::Full, key, group, false);
        // Two rounds of the key exchange, or two key shares of the client, whose price the certificate does not change.
        let full = full.filter(|_| !key.has_ml_dsa());
        let retried = full.filter(|_| group == HYBRID).and_then(Case::with_retry);
        retried.into_iter().chain(full.and_then(Case::with_hybrid_share)).collect()
    },
    compares: |from, to| {
        // A field differs from the row that it is measured against, and no other.
        let resumed = Case { kind: Kind::Ticket, ..*from };
        let retried = Case { retried: true, ..*from };
        let with_share = Case { hybrid_share: true, ..*from };
        let with_group = Case { group: to.group, ..*from };
        let with_key = Case { key: to.key, ..*from };
        let post_quantum = classical(to.group()) == Some(from.group());
        from.kind == Kind::Full
            && !from.retried
            && !from.hybrid_share
            && (*to == resumed
                || *to == retried
                || *to == with_share
                || (*to == with_group && post_quantum)
                || (*to == with_key && from.key == Key::P256 && to.key.has_ml_dsa()))
    },
    concludes: |document| {
        let full = |case: &CompareCase| case.kind == Kind::Full && !case.retried && !case.hybrid_share;
        let in_hybrid = |case: &CompareCase| case.group == HYBRID.to_string();
        let key_exchange = costs_of(document, &format!("{HYBRID} instead of {}, full,", NamedGroup::X25519), |from, to| {
            full(from) && full(to) && in_hybrid(to) && from.key == to.key && !in_hybrid(from)
        });
        let retry = costs_of(document, "A HelloRetryRequest before the same handshake", |_, to| to.retried);
        let signatures = costs_of(document, &format!("A chain of ML-DSA instead of {}", Key::P256), |from, to| {
            full(from) && full(to) && from.key != to.key && to.key != Key::P256ByMlDsa65.name()
        });
        let resumption = instead_of_full(document, &format!("By ticket, {HYBRID}"), |from, to| {
            full(from) && in_hybrid(from) && to.kind == Kind::Ticket
        });
        let and = |sentence: Option<String>, more: Option<String>| match (sentence, more) {
            (Some(sentence), Some(more)) => Some(format!("{sentence} {more}")),
            (one, other) => one.or(other),
        };
        let sentences = [
            and(key_exchange, bytes_of_group(document)),
            and(signatures, of_flights(document)),
            and(resumption, of_resumption(document)),
            retry,
        ];
        sentences.into_iter().flatten().collect()
    },
};

/// What browsers and CDNs use (RFC 10024).
const HYBRID: NamedGroup = NamedGroup::X25519MLKEM768;

/// The group that a post-quantum one stands for.
fn classical(group: NamedGroup) -> Option<NamedGroup> {
    match group {
        NamedGroup::X25519MLKEM768 | NamedGroup::MLKEM768 => Some(NamedGroup::X25519),
        NamedGroup::SECP256R1MLKEM768 => Some(NamedGroup::SECP256R1),
        _ => None,
    }
}

/// By how much the hybrid makes each side's bytes more, from the first stack that has both groups.
fn bytes_of_group(document: &CompareDocument) -> Option<String> {
    let is_full = |row: &&CompareRow| row.case.kind == Kind::Full && !row.case.retried && !row.case.hybrid_share;
    let of_group =
        |group: NamedGroup| document.rows.iter().filter(is_full).filter(move |it| it.case.group == group.to_string());
    let (before, after) = of_group(NamedGroup::X25519).find_map(|before| {
        let is_like =
            |it: &&CompareRow| (&it.client, &it.server, &it.case.key) == (&before.client, &before.server, &before.case.key);
        Some((before, of_group(HYBRID).find(is_like)?))
    })?;
    let more = |before: u64, after: u64| after.saturating_sub(before);
    Some(format!(
        "{HYBRID} adds {} bytes of the client and {} of the server ({}).",
        more(before.bytes.sent.0, after.bytes.sent.0),
        more(before.bytes.received.0, after.bytes.received.0),
        stack_pair(&after.client, &after.server)
    ))
}

/// The server's longest flight of a full handshake, and what TCP makes of it.
fn of_flights(document: &CompareDocument) -> Option<String> {
    let full = document.rows.iter().filter(|row| row.case.kind == Kind::Full && !row.case.retried);
    let longest = full.max_by_key(|row| row.server_flight)?;
    let flight = longest.server_flight?.0;
    let window = CompareRow::INITIAL_WINDOW;
    let outcome = match longest.further_round_trips()? {
        0 => format!("within the initial window of {window} bytes (RFC 6928)"),
        1 => format!("more than the initial window of {window} bytes (RFC 6928): a round trip more"),
        more => format!("more than the initial window of {window} bytes (RFC 6928): {more} round trips more"),
    };
    let (key, stack) = (&longest.case.key, stack_pair(&longest.client, &longest.server));
    Some(format!("The server's longest flight is {flight} bytes ({key}, {stack}), {outcome}."))
}

/// The full handshake with the most bytes, and how many a resumption of it has.
fn of_resumption(document: &CompareDocument) -> Option<String> {
    let bytes = |row: &CompareRow| row.bytes.sent.0.saturating_add(row.bytes.received.0);
    let resumed = document.rows.iter().filter(|row| row.case.kind == Kind::Ticket && row.case.group == HYBRID.to_string());
    let (full, resumed) = resumed
        .filter_map(|resumed| {
            let case = CompareCase { kind: Kind::Full, psk_mode: None, ..resumed.case.clone() };
            let is_it = |it: &&CompareRow| (&it.client, &it.server, &it.case) == (&resumed.client, &resumed.server, &case);
            Some((document.rows.iter().find(is_it)?, resumed))
        })
        .max_by_key(|(full, _)| bytes(full))?;
    let (key, stack) = (&full.case.key, stack_pair(&full.client, &full.server));
    Some(format!("A ticket takes both sides from {} bytes to {} ({key}, {stack}).", bytes(full), bytes(resumed)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Selection;

    #[test]
    fn what_is_compared_differs_in_one_thing() {
        let cases = SCENARIO.cases(&Selection::default());
        let pairs = || cases.iter().flat_map(|from| cases.iter().map(move |to| (from, to)));
        let compared: Vec<_> = pairs().filter(|(from, to)| (SCENARIO.compares)(from, to)).collect();
        for (from, to) in &compared {
            let of_shares = [from.retried != to.retried, from.hybrid_share != to.hybrid_share];
            let differences =
                [from.kind != to.kind, from.group != to.group, from.key != to.key].into_iter().chain(of_shares);
            assert_eq!(differences.filter(|differs| *differs).count(), 1, "{from} with {to}");
        }
        let count = |is: fn(&Case) -> bool| compared.iter().filter(|(_, to)| is(to)).count();
        assert_eq!(count(|to| to.retried), 1);
        assert_eq!(count(|to| to.kind == Kind::Full && to.key.has_ml_dsa()), 4);
        assert_eq!(count(|to| to.kind == Kind::Ticket), 9);
        assert_eq!(count(|to| to.hybrid_share), 1);
        assert_eq!(compared.len(), 1 + 1 + 4 + 9 + 3, "and three groups");
    }
}
