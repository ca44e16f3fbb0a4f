//! What a handshake costs each side, in each TLS library.

use reprise_trace::Kind;
use reprise_trace::document::{
    CompareCase, CompareDocument, CompareMatrixCell, CompareRatio, CompareRow, CompareSide, CompareSkipped,
};

use super::{Block, Fact, Item, Page, source};
use crate::figures::{Figure, Scale, Unit};
use crate::table::{Column, Draft, Line, Row, Table, Tone};

/// All that is shown of a comparison.
pub(crate) fn compare(document: &CompareDocument) -> Page {
    let mut blocks = vec![Block::Facts(facts(document))];
    let mut section = |heading: &str, content: Vec<Block>| {
        if !content.is_empty() {
            blocks.push(Block::Heading(heading.to_owned()));
            blocks.extend(content);
        }
    };
    if !document.rows.is_empty() {
        section("CPU time of one connection", vec![Block::Table(costs(document)), Block::Aside(LEGEND.to_owned())]);
    }
    if !document.ratios.is_empty() {
        section("Each stack with itself: how many times as cheap", vec![Block::Table(ratios(document))]);
    }
    section("What works with what", matrix(document));
    if !document.claims.is_empty() {
        section("Against what was published", vec![Block::Table(claims(document)), Block::Aside(ONE_THREAD.to_owned())]);
    }
    if !document.skipped.is_empty() {
        section("Skipped", vec![Block::Table(skipped(document))]);
    }
    if document.interrupted {
        blocks.push(Block::Item(Item::warning("Cut short: these are the connections that were made until then")));
    }
    if document.stacks.iter().all(|stack| stack.file.is_none()) {
        blocks.push(Block::Aside(MORE.to_owned()));
    }
    blocks.push(source(&document.provenance));
    Page { title: format!("TLS stacks side by side: {}", document.scenario), blocks }
}

const LEGEND: &str = "Medians, ± half their 95 % interval: CPU time of the thread from making the connection to its end, over memory, \
    the certificate chain verified, nothing waited for. A sample is the mean of connections that were made one after the other.";

const ONE_THREAD: &str = "Ratios of both sides' CPU time, TLS 1.2 by TLS 1.3: below 1, TLS 1.3 costs more. What was published is time on a \
    clock, where client and server also compute at the same time and a round trip less counts: neither is in these figures.";

const MORE: &str = "Only the stacks that are built in were found. 'cargo xtask stacks --system' builds plugins of the TLS libraries \
    that are installed, and 'reprise stacks' says where plugins are looked for.";

fn facts(document: &CompareDocument) -> Vec<Fact> {
    let shown =
        |stack: &reprise_trace::document::ComparedStack| format!("{} ({} {})", stack.name, stack.library, stack.version);
    let stacks: Vec<String> = document.stacks.iter().map(shown).collect();
    let mut facts = vec![Fact::new("stacks", stacks.join(" · "))];
    let clock = &document.clock;
    if clock.thread_ns > 0 {
        let charged = 100.0 * clock.charged_ns as f64 / clock.thread_ns as f64;
        facts.push(Fact::new(
            "clock",
            format!(
                "reading it costs {} ns a turn at most, which is taken off; client and server make up {charged:.1} % of their thread's CPU time",
                clock.reading_ns
            ),
        ));
    }
    facts
}

/// One group of rows for each handshake, the cheapest stack first.
fn costs(document: &CompareDocument) -> Table {
    let rows = &document.rows;
    // A resumption of 20 µs stands beside a handshake of 20 ms.
    let unit = Unit::Micros;
    let scale = |of: fn(&CompareRow) -> &reprise_trace::document::Statistics| Scale::of_column(unit, rows.iter().map(of));
    let (client, server, both) = (scale(|row| &row.client_ns), scale(|row| &row.server_ns), scale(|row| &row.both_ns));
    let columns = vec![
        Column::words("handshake"),
        Column::words("stack"),
        Column::figures("n", "").dispensable(0),
        Column::figures("of", "").dispensable(0),
        Column::figures("client", unit.symbol()),
        Column::figures("server", unit.symbol()),
        Column::figures("both", unit.symbol()),
        Column::figures("bytes", "").dispensable(1),
    ];
    let mut drafts = Vec::new();
    for case in cases(rows) {
        let mut of_case: Vec<&CompareRow> = rows.iter().filter(|row| row.case == *case).collect();
        of_case.sort_by_key(|row| row.both_ns.median_ns);
        if !drafts.is_empty() {
            drafts.push(None);
        }
        for (index, row) in of_case.into_iter().enumerate() {
            let asked = row.kinds.of(row.case.kind);
            let others = row.kinds.total().saturating_sub(asked);
            drafts.push(Some(Draft {
                words: vec![if index == 0 { words(case) } else { String::new() }, stack(&row.client, &row.server)],
                figures: vec![
                    Some(Figure::count(row.n)),
                    Some(Figure::count(row.connections)),
                    Some(client.median(&row.client_ns)),
                    Some(server.median(&row.server_ns)),
                    Some(both.median(&row.both_ns)),
                    Some(Figure::count(row.bytes.sent.0.saturating_add(row.bytes.received.0))),
                ],
                note: (others > 0).then(|| format!("{others} of another kind")),
                tone: if others > 0 { Tone::Warning } else { Tone::Plain },
            }));
        }
    }
    Table::of_drafts(columns, drafts)
}

/// In the order in which they first occur.
fn cases(rows: &[CompareRow]) -> Vec<&CompareCase> {
    let mut cases: Vec<&CompareCase> = Vec::new();
    for row in rows {
        if !cases.contains(&&row.case) {
            cases.push(&row.case);
        }
    }
    cases
}

fn ratios(document: &CompareDocument) -> Table {
    let columns = vec![
        Column::words("stack"),
        Column::words("from"),
        Column::words("to"),
        Column::figures("client", "×"),
        Column::figures("server", "×"),
        Column::figures("both", "×"),
    ];
    let of_side = |side: CompareSide| document.ratios.iter().filter(move |ratio| ratio.side == side);
    let mut drafts = Vec::new();
    let mut previous: Option<&CompareRatio> = None;
    for both in of_side(CompareSide::Both) {
        let same = |ratio: &&CompareRatio| {
            (&ratio.client, &ratio.server, &ratio.from, &ratio.to) == (&both.client, &both.server, &both.from, &both.to)
        };
        let figure = |side| of_side(side).find(same).map(|ratio| Figure::ratio(ratio.median, ratio.ci95));
        let again = previous.is_some_and(|it| (&it.client, &it.server) == (&both.client, &both.server));
        if previous.is_some() && !again {
            drafts.push(None);
        }
        drafts.push(Some(Draft {
            words: vec![
                if again { String::new() } else { stack(&both.client, &both.server) },
                words(&both.from),
                words(&both.to),
            ],
            figures: vec![figure(CompareSide::Client), figure(CompareSide::Server), figure(CompareSide::Both)],
            note: None,
            tone: if both.median > 1.0 { Tone::Gain } else { Tone::Plain },
        }));
        previous = Some(both);
    }
    Table::of_drafts(columns, drafts)
}

/// A line for each client, a column for each server: what works of all that was tried.
fn matrix(document: &CompareDocument) -> Vec<Block> {
    let names = |of: fn(&CompareMatrixCell) -> &String| {
        let mut names: Vec<&String> = Vec::new();
        document.matrix.iter().map(of).for_each(|name| {
            if !names.contains(&name) {
                names.push(name);
            }
        });
        names
    };
    let (clients, servers) = (names(|cell| &cell.client), names(|cell| &cell.server));
    if clients.is_empty() {
        return Vec::new();
    }
    let columns = std::iter::once(Column::words("client \\ server")).chain(servers.iter().map(|name| Column::words(name)));
    let lines = clients.iter().map(|client| {
        let cells = servers.iter().map(|server| {
            let of_pair = document.matrix.iter().filter(|cell| cell.client == **client && cell.server == **server);
            let shown: Vec<String> = of_pair.map(shown).collect();
            shown.join(" ")
        });
        let cells = std::iter::once((*client).clone()).chain(cells).collect();
        Line::Row(Row { cells, note: None, tone: Tone::Plain })
    });
    let mut blocks = vec![
        Block::Table(Table { columns: columns.collect(), lines: lines.collect() }),
        Block::Aside("f full, i session ID, t ticket; 2 and 3 for TLS 1.2 and 1.3; – unsupported; ✗ fails.".to_owned()),
    ];
    blocks.extend(failures(&document.matrix).into_iter().map(|text| Block::Item(Item::warning(text))));
    blocks
}

/// What fails for one reason between two stacks is said once.
fn failures(matrix: &[CompareMatrixCell]) -> Vec<String> {
    let fails = |cell: &&CompareMatrixCell| !["works", "unsupported"].contains(&cell.outcome.as_str());
    let mut groups: Vec<(&CompareMatrixCell, String)> = Vec::new();
    for cell in matrix.iter().filter(fails) {
        let same = |known: &CompareMatrixCell| {
            (&known.client, &known.server, &known.outcome, &known.reason)
                == (&cell.client, &cell.server, &cell.outcome, &cell.reason)
        };
        let handshake = format!("{} {}", cell.tls.number(), cell.kind);
        match groups.iter_mut().find(|(known, _)| same(known)) {
            Some((_, handshakes)) => *handshakes = format!("{handshakes}, {handshake}"),
            None => groups.push((cell, handshake)),
        }
    }
    let words = |(cell, handshakes): (&CompareMatrixCell, String)| {
        let reason = cell.reason.as_deref().unwrap_or_default();
        format!("{} with {}, {handshakes}: {}, {reason}", cell.client, cell.server, cell.outcome)
    };
    groups.into_iter().map(words).collect()
}

/// `f2`, `t3✗`, `i2–`.
fn shown(cell: &CompareMatrixCell) -> String {
    let kind = cell.kind.name().get(..1).unwrap_or_default();
    let version = cell.tls.number().get(2..).unwrap_or_default();
    match cell.outcome.as_str() {
        "works" => format!("{kind}{version}"),
        "unsupported" => format!("{kind}{version}–"),
        _ => format!("{kind}{version}✗"),
    }
}

fn claims(document: &CompareDocument) -> Table {
    let columns = vec![
        Column::words("claim"),
        Column::words("stack"),
        Column::figures("published", "×"),
        Column::figures("measured", "×"),
        Column::words("verdict"),
    ];
    let mut lines = Vec::new();
    let mut previous = None;
    for claim in &document.claims {
        let again = previous == Some(&claim.claim);
        if previous.is_some() && !again {
            lines.push(Line::Gap);
        }
        previous = Some(&claim.claim);
        let decimals = if claim.measured < 0.0995 { 3 } else { 2 };
        let interval = claim.ci95.map(|[low, high]| format!(" ±{:.decimals$}", (high - low) / 2.0)).unwrap_or_default();
        lines.push(Line::Row(Row {
            cells: vec![
                if again { String::new() } else { claim.claim.clone() },
                claim.stack.clone(),
                claim.published.map(|published| format!("{published:.2}")).unwrap_or_default(),
                format!("{:.decimals$}{interval}", claim.measured),
                claim.verdict.clone(),
            ],
            note: None,
            tone: if claim.verdict == "other direction" { Tone::Warning } else { Tone::Plain },
        }));
    }
    Table { columns, lines }
}

/// What several handshakes were skipped for is said once.
fn skipped(document: &CompareDocument) -> Table {
    let mut groups: Vec<(&CompareSkipped, usize)> = Vec::new();
    for skipped in &document.skipped {
        let same = |known: &CompareSkipped| {
            (&known.client, &known.server, &known.outcome, &known.reason)
                == (&skipped.client, &skipped.server, &skipped.outcome, &skipped.reason)
        };
        match groups.iter_mut().find(|(known, _)| same(known)) {
            Some((_, count)) => *count += 1,
            None => groups.push((skipped, 1)),
        }
    }
    let columns = ["stack", "handshake", "outcome", "reason"].map(Column::words).to_vec();
    let lines = groups.into_iter().map(|(skipped, count)| {
        let more = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
        let is_fault = skipped.outcome != "unsupported";
        Line::Row(Row {
            cells: vec![
                stack(&skipped.client, &skipped.server),
                format!("{}{more}", words(&skipped.case)),
                skipped.outcome.clone(),
                skipped.reason.clone(),
            ],
            note: None,
            tone: if is_fault { Tone::Warning } else { Tone::Quiet },
        })
    });
    Table { columns, lines: lines.collect() }
}

fn stack(client: &str, server: &str) -> String {
    if client == server { client.to_owned() } else { format!("{client} → {server}") }
}

/// `1.3 ticket p-256 x25519 mutual`.
fn words(case: &CompareCase) -> String {
    let mutual = if case.mutual { " mutual" } else { "" };
    let resumed_without = case.kind != Kind::Full && case.tls == reprise_trace::Version::Tls12;
    // TLS 1.2 resumes without a key exchange.
    let group = if resumed_without { String::new() } else { format!(" {}", case.group) };
    format!("{} {} {}{group}{mutual}", case.tls.number(), case.kind, case.key)
}
