//! How fast the operations are that handshakes and records are made of, and the floor of handshakes.

use reprise_model::Operation;
use reprise_model::document::{
    CompareOver, CompareSide, SpeedDocument, SpeedFloor, SpeedHandshake, SpeedHardware, SpeedMissing, SpeedPrediction,
    SpeedRow, SpeedRule, SpeedRuleVerdict, SpeedSkipped,
};
use reprise_page::chart::{Bar, Bars, Chart, Group};
use reprise_page::figures::Figure;
use reprise_page::table::{Rows, Table, Tone};
use reprise_page::{Block, Fact, Item, Page, Shown, grouped, section, source};

use crate::paged_document::PagedDocument;

impl PagedDocument for SpeedDocument {
    fn page(&self, _shown: Shown) -> Page {
        let sentences: Vec<Block> = answers(self).into_iter().map(Block::Paragraph).collect();
        let mut blocks = vec![Block::Facts(facts(self))];
        if !sentences.is_empty() {
            blocks.push(Block::Summary(sentences));
        }
        // Without them, operations were asked for.
        let has_floors = !self.floors.is_empty();
        if self.interrupted {
            blocks.push(Block::warning("Incomplete: these are the samples taken until then"));
        }
        blocks.extend(section("The floor of a handshake", floors(self), [Block::Aside(FLOOR.to_owned())]));
        blocks.extend(chart(self).map(Block::Chart));
        for operation in Operation::ALL {
            let heading = format!("{}, {}", title(operation), unit(operation));
            let table = section(&heading, operations(self, operation), None);
            // Signatures, and what they certify, are most of a full handshake.
            if has_floors && operation != Operation::Sign {
                blocks.extend(Block::secondary(table))
            } else {
                blocks.extend(table)
            }
        }
        blocks.push(Block::Aside(LEGEND.to_owned()));
        for (over, heading, below) in [
            (CompareOver::Memory, "Handshakes, predicted from their operations", PREDICTION),
            (CompareOver::Loopback, "Handshakes over loopback, predicted from their operations", PREDICTION_OVER_LOOPBACK),
        ] {
            let table = section(heading, predictions(self, over), [Block::Aside(below.to_owned())]);
            blocks.extend(Block::secondary(table));
        }
        let below = [Block::Aside(MISSING.to_owned())];
        blocks.extend(Block::secondary(section("What predictions lack that are more than 10 % off", missing(self), below)));
        if !self.rules.is_empty() {
            let heading = Block::Heading("Against what was published".to_owned());
            let rules = self.rules.iter().map(|rule| Block::Item(published(rule)));
            blocks.push(Block::Secondary(std::iter::once(heading).chain(rules).collect()));
        }
        blocks.extend(Block::secondary(section("Without the CPU's instructions for AES and SHA", hardware(self), None)));
        blocks.extend(skipped(self));
        blocks.push(source(&self.provenance));
        Page::new("speed", "How fast the operations of TLS are here".to_owned(), blocks)
    }

    fn is_nothing(&self) -> bool {
        self.rows.is_empty()
    }

    fn is_cut_short(&self) -> bool {
        self.interrupted
    }
}

const LEGEND: &str = "Medians of CPU time. * is the fastest; of ~ half the 95 % interval is over 5 %. Each operation is repeated with what can be \
    made ready: keys are read, algorithms found.";

const FLOOR: &str = "The floor is what the protocol demands of one side, each operation at the least that any stack here takes for it. \
    Hashing of messages and records of the handshake are left out. Handshakes over memory, CPU time.";

/// An error of a prediction above which it is marked.
const FAR_OFF: f64 = 0.1;

/// Half an interval, as a share of the median, above which a figure is marked.
const WIDE: f64 = 0.05;

const PREDICTION: &str = "CPU time of both sides: the handshake's operations as this stack's TLS does them, key exchanges from nothing and \
    certificates' keys read first, and the rest of the handshake that stands under 'from', so that nothing of the handshake itself is in its \
    prediction. Under 'repeated' is what the operations would predict that are repeated, with keys that are there.";

const PREDICTION_OVER_LOOPBACK: &str = "Time on a clock until the client may send data, with each side in a process of its own: what the \
    other handshake takes, without its operations that somebody waits for, and with those of this one.";

const MISSING: &str = "By how much more, or less, CPU time each side takes beside its operations than in the handshake that stands under \
    'from'. An operation stands here that was measured alone and differs by at least half of that: hkdf-after is HKDF directly behind an \
    exchange or a signature, against HKDF by itself; exchange and verify-new-key, which the prediction has, are those against what is \
    repeated: in a handshake they take still more than alone.";

fn facts(document: &SpeedDocument) -> Vec<Fact> {
    let shown = |stack: &reprise_model::document::ComparedStack| format!("{} ({})", stack.name, stack.version);
    let stacks: Vec<String> = document.stacks.iter().map(shown).collect();
    let mut facts = vec![Fact::new("stacks", stacks.join(" · "))];
    if let Some(tcp) = document.tcp {
        let micros = |ns: f64| format!("{} µs", significant(ns / 1e3));
        let (client, server) = (micros(tcp.client.median_ns), micros(tcp.server.median_ns));
        facts.push(Fact::new(
            "TCP",
            format!(
                "a connection over loopback takes {client} of CPU time where it is begun and {server} where it is accepted"
            ),
        ));
    }
    facts
}

/// The floor of the handshake that is most common today, and what the CPU's instructions bring.
fn answers(document: &SpeedDocument) -> Vec<String> {
    let floor = document.floors.iter().find(|floor| floor.side == CompareSide::Server);
    let of_floor = floor.and_then(|floor| {
        let (nearest, farthest) = (floor.handshakes.first()?, floor.handshakes.last()?);
        let least = significant(floor.floor_ns / 1e3);
        let others = match floor.handshakes.len() {
            1 => String::new(),
            _ => format!(", {} {} times", farthest.stack, times(farthest.ratio)),
        };
        Some(format!(
            "A full {} handshake with a {} certificate costs a server {least} µs here at least: {} takes {} times that{others}.",
            floor.tls,
            floor.key,
            nearest.stack,
            times(nearest.ratio),
        ))
    });
    let sealing = document.hardware.iter().filter(|it| it.operation == Operation::Seal);
    let ratios: Vec<f64> = sealing.map(|it| it.ratio).collect();
    let (low, high) = (ratios.iter().copied().fold(f64::INFINITY, f64::min), ratios.iter().copied().fold(0.0, f64::max));
    let range = if times(low) == times(high) { times(low) } else { format!("{} to {}", times(low), times(high)) };
    let of_hardware = (!ratios.is_empty())
        .then(|| format!("Without the CPU's instructions AES-GCM takes {range} times as long, by library."));
    let of_predictions =
        [(CompareOver::Memory, "in memory, by CPU time,"), (CompareOver::Loopback, "over loopback, on a clock,")];
    let of_predictions = of_predictions.into_iter().filter_map(|(over, words)| {
        let all = || document.predictions.iter().filter(|it| it.over == over);
        let (count, near) = (all().count(), all().filter(|it| it.error.abs() <= FAR_OFF).count());
        (count > 0).then(|| {
            format!(
                "Of {count} handshakes {words} {near} are within 10 % of what their operations and another handshake of the stack predict."
            )
        })
    });
    of_floor.into_iter().chain(of_predictions).chain(of_hardware).collect()
}

/// A row for each stack, a column for each algorithm.
fn operations(document: &SpeedDocument, operation: Operation) -> Table {
    let rows: Vec<&SpeedRow> = document.rows.iter().filter(|row| row.operation == operation && row.instructions).collect();
    let stacks = grouped(rows.iter().copied(), |row| row.stack.as_str());
    let algorithms = grouped(rows.iter().copied(), |row| row.algorithm.as_str());
    let mut table = Rows::of(&stacks).words("stack", |(stack, _)| *stack);
    for (algorithm, of_algorithm) in &algorithms {
        let best = of_algorithm.iter().map(|row| row.once.median_ns).fold(f64::INFINITY, f64::min);
        table = table.figures(algorithm, "", |(_, of_stack)| {
            let row = of_stack.iter().find(|row| row.algorithm == **algorithm)?;
            let fastest = if row.once.median_ns <= best { "*" } else { "" };
            let wide = if is_wide(row) { "~" } else { "" };
            Some(Figure::plain(format!("{fastest}{wide}{}", value(row))))
        });
    }
    table.table()
}

/// What one takes, or how much of it a second has.
fn value(row: &SpeedRow) -> String {
    match row.bytes.filter(|_| is_by_bytes(row.operation)) {
        Some(bytes) => significant(bytes as f64 / row.once.median_ns.max(0.1) * 1e3),
        None => significant(row.once.median_ns / 1e3),
    }
}

/// Whether half the interval is more of the median than [`WIDE`].
fn is_wide(row: &SpeedRow) -> bool {
    row.once.ci95_ns.is_some_and(|[low, high]| (high - low) / 2.0 > WIDE * row.once.median_ns)
}

fn is_by_bytes(operation: Operation) -> bool {
    matches!(operation, Operation::Seal | Operation::Open | Operation::Hash)
}

fn unit(operation: Operation) -> &'static str {
    if is_by_bytes(operation) { "MB/s of 16384 bytes" } else { "µs" }
}

fn title(operation: Operation) -> &'static str {
    match operation {
        Operation::Sign => "Sign",
        Operation::Verify => "Verify",
        Operation::KeyPair => "Make a key pair",
        Operation::Agree => "Compute the shared secret",
        Operation::Encapsulate => "Encapsulate",
        Operation::Decapsulate => "Decapsulate",
        Operation::Seal => "Encrypt and authenticate",
        Operation::Open => "Decrypt and check",
        Operation::Hash => "Hash",
        Operation::Hkdf => "HKDF-Expand",
        Operation::Prf => "TLS 1.2's PRF, 48 bytes",
        Operation::Random => "32 random bytes",
        Operation::Exchange => "A whole key exchange, both sides, from nothing",
        Operation::VerifyNewKey => "Verify, with the key read first",
        Operation::HkdfAfter => "An exchange or a signature, and 32 times HKDF-Expand behind it",
    }
}

fn floors(document: &SpeedDocument) -> Table {
    let shown = |it: &SpeedHandshake| format!("{} {}", times(it.ratio), it.stack);
    let last = |floor: &SpeedFloor| floor.handshakes.last().filter(|_| floor.handshakes.len() > 1).map(shown);
    Rows::of(&document.floors)
        .words("TLS", |it| it.tls.number())
        .grouped(|it| it.tls)
        .words("kind", |it| it.kind.name())
        .once(|it| it.kind)
        .words("key", |it| it.key.as_str())
        .once(|it| &it.key)
        .words("group", |it| it.group.as_str())
        .once(|it| &it.group)
        .words("side", |it| it.side.name())
        .figures("floor", "µs", |it| Figure::plain(significant(it.floor_ns / 1e3)))
        .words("nearest, times", |it| it.handshakes.first().map(shown).unwrap_or_default())
        .words("farthest", |it| last(it).unwrap_or_default())
        .table()
}

/// The first floor's server: what of each stack's handshake is the floor, what its own operations are above it, and what is left.
fn chart(document: &SpeedDocument) -> Option<Chart> {
    let floor = document.floors.iter().find(|floor| floor.side == CompareSide::Server)?;
    let micros = |ns: f64| (ns / 1e3).max(0.0);
    let bar = |it: &SpeedHandshake| {
        let whole = it.median_ns as f64;
        let own = it.own_operations_ns.unwrap_or(floor.floor_ns).clamp(floor.floor_ns, whole.max(floor.floor_ns));
        let parts = vec![micros(floor.floor_ns.min(whole)), micros(own - floor.floor_ns), micros(whole - own)];
        Bar { name: it.stack.clone(), begin: 0.0, parts, shown: Figure::plain(significant(whole / 1e3)) }
    };
    let bars = floor.handshakes.iter().map(bar).collect();
    let parts = ["the floor", "its operations, above the floor", "the rest"].map(str::to_owned).to_vec();
    let title = format!("A server's full {} handshake, {}, {}", floor.tls, floor.key, floor.group);
    Bars { label: "CPU time, µs".to_owned(), parts, groups: vec![Group { name: String::new(), rows: bars }], reach: 0.0 }
        .into_chart(&title)
}

/// A rule: where it holds here, where not, and which operation decides.
fn published(rule: &SpeedRule) -> Item {
    let (holds, fails): (Vec<_>, Vec<_>) = rule.stacks.iter().partition(|it| it.holds);
    let with_figures = |it: &&SpeedRuleVerdict| {
        let [more, less] = [it.more_ns, it.less_ns].map(|ns| significant(ns / 1e3));
        format!("{} ({more} against {less} µs: {})", it.stack, it.decided_by)
    };
    let names = |verdicts: &[&SpeedRuleVerdict]| verdicts.iter().map(|it| it.stack.as_str()).collect::<Vec<_>>().join(", ");
    // The one that is nearest to the other side shows best what decides.
    let margin = |it: &&&SpeedRuleVerdict| it.more_ns / it.less_ns.max(1.0);
    let nearest = holds.iter().min_by(|one, other| margin(one).total_cmp(&margin(other)));
    let holds_in =
        nearest.map(|nearest| format!("holds here in {}; the nearest is {}", names(&holds), with_figures(nearest)));
    let failing: Vec<String> = fails.iter().map(with_figures).collect();
    let fails_in = (!failing.is_empty()).then(|| format!("does not in {}", failing.join(", ")));
    let decided = format!("{} against {}", rule.more, rule.less);
    let tone = if fails.is_empty() { Tone::Plain } else { Tone::Warning };
    let text = format!("{} ({})", rule.rule, rule.source);
    let evidence = std::iter::once(decided).chain(holds_in).chain(fails_in).collect();
    Item { evidence, ..Item::new("rule", tone, text) }
}

/// The largest error first.
fn predictions(document: &SpeedDocument, over: CompareOver) -> Table {
    let micros = |ns: f64| Figure::plain(significant(ns / 1e3));
    let mut rows: Vec<&SpeedPrediction> = document.predictions.iter().filter(|it| it.over == over).collect();
    rows.sort_by(|one, other| other.error.abs().total_cmp(&one.error.abs()));
    Rows::of(rows)
        .words("stack", |it| it.stack.as_str())
        .words("TLS", |it| format!("{} {}", it.tls.number(), it.kind))
        .words("handshake", |it| format!("{}, {}", it.key, it.group))
        .words("from", |it| format!("{}, {}", it.from_key, it.from_group))
        .figures("repeated", "µs", |it| micros(it.repeated_ns))
        .dispensable(1)
        .figures("predicted", "µs", |it| micros(it.predicted_ns))
        .figures("measured", "µs", |it| micros(it.measured_ns))
        .figures("error", "%", |it| Figure::change(1.0 + it.error, None))
        .toned(|it| if it.error.abs() > FAR_OFF { Tone::Warning } else { Tone::Plain })
        .table()
}

/// Of each that is far off, what each side takes more than the other handshake's, and the operation that explains it.
fn missing(document: &SpeedDocument) -> Table {
    let micros = |ns: f64| Figure::plain(format!("{:+.1}", ns / 1e3));
    let lacking: Vec<(&SpeedPrediction, &SpeedMissing)> =
        document.predictions.iter().filter_map(|it| Some((it, it.missing.as_ref()?))).collect();
    let named = |it: &SpeedMissing| Some(format!("{} {}", it.operation?, it.algorithm.as_deref()?));
    Rows::of(lacking)
        .words("stack", |(it, _)| it.stack.as_str())
        .words("over", |(it, _)| it.over.name())
        .words("TLS", |(it, _)| format!("{} {}", it.tls.number(), it.kind))
        .words("handshake", |(it, _)| format!("{}, {}", it.key, it.group))
        .figures("client", "µs", |(_, lacks)| Some(micros(lacks.client_ns)))
        .figures("server", "µs", |(_, lacks)| Some(micros(lacks.server_ns)))
        .words("operation", |(_, lacks)| named(lacks).unwrap_or_default())
        .figures("alone", "µs", |(_, lacks)| lacks.alone_ns.map(micros))
        .table()
}

fn hardware(document: &SpeedDocument) -> Table {
    let cost = |it: &SpeedHardware, instructions| {
        let row = document.row(&it.stack, it.operation, &it.algorithm, instructions)?;
        let unit = if is_by_bytes(it.operation) { "MB/s" } else { "µs" };
        Some(Figure::plain(format!("{} {unit}", value(row))))
    };
    let mut rows: Vec<&SpeedHardware> = document.hardware.iter().collect();
    rows.sort_by_key(|it| it.operation);
    let algorithms = grouped(rows, |it| (it.operation, it.algorithm.as_str()));
    let rows: Vec<&SpeedHardware> = algorithms.into_iter().flat_map(|(_, group)| group).collect();
    Rows::of(rows)
        .words("operation", |it| it.operation.name())
        .grouped(|it| it.operation)
        .words("algorithm", |it| it.algorithm.as_str())
        .once(|it| &it.algorithm)
        .words("stack", |it| it.stack.as_str())
        .figures("with", "", |it| cost(it, true))
        .figures("without", "", |it| cost(it, false))
        .figures("without / with", "", |it| Figure::ratio(it.ratio, it.ci95))
        .table()
}

/// What a stack has not; what went wrong is a warning.
fn skipped(document: &SpeedDocument) -> Vec<Block> {
    let (absent, failed): (Vec<_>, Vec<_>) = document.skipped.iter().partition(|it| it.outcome == "unsupported");
    let of_stack = |(stack, group): (&String, Vec<&SpeedSkipped>)| {
        let by_reason = grouped(group, |it| (it.instructions, it.reason.as_str()));
        let said = by_reason.into_iter().map(|((instructions, reason), group)| {
            let without = if instructions { "" } else { "without the CPU's instructions: " };
            format!("{without}{} ({reason})", operations_of(&group))
        });
        Fact::new(stack, said.collect::<Vec<_>>().join("; "))
    };
    let facts: Vec<Fact> = grouped(absent, |it| &it.stack).into_iter().map(of_stack).collect();
    let failed = failed.into_iter().map(|it| {
        let what = operations_of(&[it]);
        Block::warning(format!("{}: {what}: {}: {}", it.stack, it.outcome, it.reason))
    });
    let heading = || Block::Heading("Not measured".to_owned());
    let absent = (!facts.is_empty()).then(|| Block::Secondary(vec![heading(), Block::Facts(facts)]));
    failed.chain(absent).collect()
}

/// `key-pair ffdhe2048, ffdhe3072; sign ed25519`.
fn operations_of(skipped: &[&SpeedSkipped]) -> String {
    let of_operation = grouped(skipped.iter().copied(), |it| it.operation);
    let named = of_operation.into_iter().map(|(operation, group)| {
        let algorithms: Vec<&str> = group.iter().filter_map(|it| it.algorithm.as_deref()).collect();
        operation.map_or_else(|| "all".to_owned(), |operation| format!("{operation} {}", algorithms.join(", ")))
    });
    named.collect::<Vec<_>>().join("; ")
}

/// Three significant figures; integers from a hundred on.
fn significant(value: f64) -> String {
    let decimals = match value {
        ..0.9995 => 3,
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

fn times(ratio: f64) -> String {
    if ratio < 9.95 { format!("{ratio:.1}") } else { format!("{ratio:.0}") }
}
