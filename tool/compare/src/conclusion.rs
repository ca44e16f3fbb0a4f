//! What the figures answer to a scenario's question, in a few sentences, each with its interval.

use reprise_model::document::{
    CompareCase, CompareClaim, CompareDocument, CompareRatio, CompareRow, CompareSide, stack_pair,
};
use reprise_model::{Kind, PskMode, Version};

use crate::claims::NOT_DECIDED;
use crate::scenario::Scenario;

/// The scenario's own sentences, the most important first, and what became of what was published.
pub(crate) fn conclusion(scenario: &Scenario, document: &CompareDocument) -> Vec<String> {
    (scenario.concludes)(document).into_iter().take(MOST).chain(of_claims(&document.claims)).collect()
}

/// Sentences of a scenario's own.
const MOST: usize = 4;

/// Each claim counts once, whatever number of stacks decides it.
fn of_claims(claims: &[CompareClaim]) -> Option<String> {
    let mut texts: Vec<&str> = claims.iter().map(|claim| claim.claim.as_str()).collect();
    texts.dedup();
    let verdicts = |text: &str| -> Vec<&str> {
        let of_it = claims.iter().filter(|claim| claim.claim == text && claim.verdict != NOT_DECIDED);
        of_it.map(|claim| claim.verdict.as_str()).collect()
    };
    let all_texts = texts.len();
    texts.retain(|text| !verdicts(text).is_empty());
    let undecided = all_texts - texts.len();
    let all = |verdict: &'static str| {
        texts.iter().filter(move |text| verdicts(text).iter().all(|it| *it == verdict)).copied().collect::<Vec<&str>>()
    };
    let (hold, do_not) = (all("same direction"), all("other direction"));
    let open = texts.len() - hold.len() - do_not.len();
    let quoted = |texts: &[&str]| texts.iter().map(|it| format!("\u{201c}{it}\u{201d}")).collect::<Vec<_>>().join(", ");
    let named = |what: &str, texts: &[&str]| (!texts.is_empty()).then(|| format!("{what} {}", quoted(texts)));
    let claims = |count: usize| if count == 1 { "one claim".to_owned() } else { format!("{count} claims") };
    let open =
        (open > 0).then(|| format!("{} can be neither confirmed nor denied, since stacks or samples differ", claims(open)));
    let undecided = (undecided > 0).then(|| format!("{} can be decided by none of these stacks", claims(undecided)));
    let parts: Vec<String> =
        [named("this run points the same way as", &hold), named("it points the other way than", &do_not), open, undecided]
            .into_iter()
            .flatten()
            .collect();
    (!parts.is_empty()).then(|| format!("Held against what was published, {}.", parts.join("; ")))
}

/// How many times as much time one handshake takes as another, with these stacks.
struct Times {
    median: f64,
    ci95: [f64; 2],
    stacks: String,
}

impl Times {
    /// The first handshake's time by the second's. `None` without an interval.
    fn of(document: &CompareDocument, ratio: &CompareRatio) -> Option<Self> {
        let mut stacks = stack_pair(&ratio.client, &ratio.server);
        if keys(document).len() > 1 {
            // A PSK has none.
            let key = if ratio.to.key == "none" { &ratio.from.key } else { &ratio.to.key };
            stacks += &format!(", {key}");
        }
        Some(Self { median: ratio.median, ci95: ratio.ci95?, stacks })
    }

    /// The second's by the first's.
    fn inverse(self) -> Self {
        let [low, high] = self.ci95;
        Self { median: 1.0 / self.median, ci95: [1.0 / high, 1.0 / low], ..self }
    }
}

/// "5.0 times (4.8–5.2, rustls-ring) to 6.7 times (6.4–7.0, engine → rustls-ring)": the least and the most of all stacks.
fn spread(mut all: Vec<Times>) -> Option<String> {
    all.sort_by(|one, other| one.median.total_cmp(&other.median));
    let one =
        |Times { median, ci95: [low, high], stacks }: &Times| format!("{median:.2} times ({low:.2}–{high:.2}, {stacks})");
    match all.as_slice() {
        [] => None,
        [only] => Some(one(only)),
        [least, .., most] => Some(format!("{} to {}", one(least), one(most))),
    }
}

/// What the server and the client take, by the ratios of which both handshakes are such.
fn of_sides(
    document: &CompareDocument,
    is_inverse: bool,
    is_such: impl Fn(&CompareCase, &CompareCase) -> bool,
) -> Option<[String; 2]> {
    let of = |side| {
        let ratios = document.ratios.iter().filter(|ratio| ratio.side == side && is_such(&ratio.from, &ratio.to));
        let all = ratios.filter_map(|ratio| Times::of(document, ratio));
        spread(if is_inverse { all.map(Times::inverse).collect() } else { all.collect() })
    };
    Some([of(CompareSide::Server)?, of(CompareSide::Client)?])
}

/// What resuming such a handshake saves over the full one of its version, with the first group of the scenario.
pub(crate) fn saved_by(document: &CompareDocument, how: &str, is_resumed: impl Fn(&CompareCase) -> bool) -> Option<String> {
    let group = document.rows.first().map(|row| row.case.group.clone())?;
    instead_of_full(document, &format!("{how}, {group}"), |from, to| {
        (from.tls, &from.group, from.mutual) == (to.tls, &group, to.mutual) && is_resumed(to)
    })
}

/// What a handshake saves on the full one that it stands for.
pub(crate) fn instead_of_full(
    document: &CompareDocument,
    how: &str,
    is_such: impl Fn(&CompareCase, &CompareCase) -> bool,
) -> Option<String> {
    let [server, client] = of_sides(document, false, |from, to| from.kind == Kind::Full && is_such(from, to))?;
    Some(format!("{how}: a full handshake takes the server {server} as much CPU time, and the client {client}."))
}

/// How many times as much the second of such handshakes takes as the first.
pub(crate) fn costs_of(
    document: &CompareDocument,
    what: &str,
    is_such: impl Fn(&CompareCase, &CompareCase) -> bool,
) -> Option<String> {
    of_sides(document, true, is_such).map(|sides| takes(what, sides))
}

/// How many times as much the first of such rows takes as the second.
pub(crate) fn times_as_much(
    document: &CompareDocument,
    what: &str,
    is_such: impl Fn(&CompareCase, &CompareCase) -> bool,
) -> Option<String> {
    of_sides(document, false, is_such).map(|sides| takes(what, sides))
}

fn takes(what: &str, [server, client]: [String; 2]) -> String {
    format!("{what} takes the server {server} as much CPU time, and the client {client}.")
}

/// How many times as much a handshake takes without something that the second has.
pub(crate) fn saves(
    document: &CompareDocument,
    what: &str,
    is_such: impl Fn(&CompareCase, &CompareCase) -> bool,
) -> Option<String> {
    let [server, client] = of_sides(document, false, is_such)?;
    Some(format!("{what}: without it, the server takes {server} as much CPU time, and the client {client}."))
}

/// The cheapest server of a full handshake with each key, and how many times as much the next stack's takes.
pub(crate) fn cheapest_servers(document: &CompareDocument) -> impl Iterator<Item = String> {
    let of_key = |key: &str| Some(format!("{key}: the cheapest server is {}.", cheapest_server(document, key)?));
    keys(document).into_iter().filter_map(of_key)
}

fn keys(document: &CompareDocument) -> Vec<&str> {
    let mut keys: Vec<&str> = Vec::new();
    for row in &document.rows {
        if !keys.contains(&row.case.key.as_str()) {
            keys.push(&row.case.key);
        }
    }
    keys
}

fn cheapest_server(document: &CompareDocument, key: &str) -> Option<String> {
    let is_such = |case: &CompareCase| case.key == key && case.kind == Kind::Full && !case.mutual;
    let mut rows: Vec<&CompareRow> =
        document.rows.iter().filter(|row| row.client == row.server && is_such(&row.case)).collect();
    rows.sort_by_key(|row| row.server_ns.median_ns);
    let first = rows.first()?;
    let cheapest = format!("{}'s, {}", first.server, micros(first));
    let Some(next) = rows.iter().find(|row| row.server != first.server) else { return Some(cheapest) };
    let [first, of_next] = [first, next].map(|row| row.samples.of(CompareSide::Server));
    let ratio = reprise_stats::ratio(&of_next, &first, document.seed)?;
    Some(match ratio.ci95 {
        Some([low, high]) if low > 1.0 => {
            format!("{cheapest}; {}'s takes {:.2} times ({low:.2}–{high:.2}) as much", next.server, ratio.median)
        }
        _ => format!("{cheapest}; {}'s is not distinguishable from it", next.server),
    })
}

/// "128.3 ±2.1 µs with x25519 under TLS 1.3".
fn micros(row: &CompareRow) -> String {
    let micros = |ns: u64| ns as f64 / 1000.0;
    let spread = row.server_ns.ci95_ns.map(|[low, high]| format!(" ±{:.1}", micros(high - low) / 2.0)).unwrap_or_default();
    format!("{:.1}{spread} µs with {} under {}", micros(row.server_ns.median_ns), row.case.group, row.case.tls)
}

/// A resumption under this version by this kind, with the usual key exchange.
pub(crate) fn by(tls: Version, kind: Kind) -> impl Fn(&CompareCase) -> bool {
    move |case| (case.tls, case.kind) == (tls, kind) && case.psk_mode != Some(PskMode::PskKe)
}
