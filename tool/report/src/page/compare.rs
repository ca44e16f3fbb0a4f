//! What a handshake costs each side, in each TLS library.

mod baseline;
mod bulk;
mod charts;
mod link;
mod matrix;
mod memory;
mod scaling;
mod words;

use reprise_model::document::{
    CompareClaim, CompareDocument, CompareOver, CompareRatio, CompareRow, CompareSide, stack_pair,
};
use reprise_model::{KeyPairs, ServerChain, Version};
use reprise_page::conditions::conditions;
use reprise_page::figures::{Figure, Unit};
use reprise_page::table::{Rows, Table, Tone};
use reprise_page::{Block, Fact, Page, Shown, grouped, section, source, stacks};

use self::words::{change, words};
use crate::paged_document::PagedDocument;

impl PagedDocument for CompareDocument {
    fn page(&self, _shown: Shown) -> Page {
        // Who asks for a link is answered by it.
        let answers = self.links.iter().filter_map(link::answer).chain(self.conclusion.iter().cloned());
        let mut blocks: Vec<Block> = answers.map(Block::Paragraph).collect();
        blocks.extend(self.links.iter().flat_map(link::blocks));
        if !self.rows.is_empty() {
            blocks.push(Block::Heading(heading_of_costs(self).to_owned()));
            blocks.extend(charts::costs(self).map(Block::Chart));
            let table = if is_of_bulk(self) { bulk::rates(self) } else { costs(self) };
            blocks.push(Block::Table(table));
            let mut legend = vec![Block::Heading("Legend".to_owned()), Block::Aside(legend(self).to_owned())];
            legend.extend(self.rows.iter().map(|row| row.case.request).find(|request| *request > 0).map(about_requests));
            legend.extend(about_preparation(self));
            legend.extend(about_tickets(self));
            if self.rows.iter().any(|row| row.case.key_pairs == KeyPairs::Reused) {
                blocks.push(Block::warning(REUSED));
            }
            blocks.push(Block::Secondary(legend));
        }
        if self.scenario == "post-quantum" {
            let (heading, below) = match self.over {
                CompareOver::Memory => {
                    ("Bytes of one connection, and round trips", format!("{LEGEND_OF_BYTES} {LEGEND_OF_FLIGHTS}"))
                }
                CompareOver::Loopback => ("Bytes of one connection", LEGEND_OF_BYTES.to_owned()),
            };
            blocks.extend(Block::secondary(section(heading, flights(self), [Block::Aside(below)])));
        }
        blocks.extend(self.scaling.iter().flat_map(scaling::blocks));
        blocks.extend(memory::weights(self));
        blocks.extend(charts::memory(self).map(Block::Chart));
        let counted = Block::Aside(counted(self));
        blocks.extend(Block::secondary(section("Instructions of one connection", instructions(self), [counted])));
        if !self.ratios.is_empty() {
            let mut part = vec![Block::Heading("Each stack with itself: how many times as cheap".to_owned())];
            part.extend(charts::ratios(self).map(Block::Chart));
            part.push(Block::Table(ratios(self)));
            blocks.push(Block::Secondary(part));
        }
        blocks.extend(Block::secondary(matrix::blocks(&self.matrix)));
        blocks.extend(matrix::failures(&self.matrix).into_iter().map(Block::warning));
        if !self.claims.is_empty() {
            let mut part = vec![Block::Heading("Against what was published".to_owned())];
            part.extend(claims(self));
            part.push(Block::Aside(of_claims(self).to_owned()));
            part.extend(reasons(self).map(Block::Paragraph));
            blocks.push(Block::Secondary(part));
        }
        blocks.extend(skipped(self));
        if let Some(baseline) = &self.baseline {
            blocks.extend(baseline::blocks(baseline));
        }
        blocks.extend(conditions(&self.conditions));
        if self.interrupted {
            let words = "Incomplete: these are the connections made until then. To continue from a JSON file, run the same \
                     command with '--json FILE --resume'";
            blocks.push(Block::warning(words));
        }
        blocks.push(Block::Secondary(vec![Block::Heading("How it was measured".to_owned()), Block::Facts(facts(self))]));
        if has_built_in_stacks_alone(self) {
            blocks.push(Block::Aside(MORE.to_owned()));
        }
        blocks.push(source(&self.provenance));
        Page::new("compare", format!("TLS stacks side by side: {}", self.scenario), blocks)
    }

    fn is_nothing(&self) -> bool {
        let scales = self.scaling.as_ref().is_some_and(|scaling| !scaling.rows.is_empty());
        self.rows.is_empty() && self.memory.is_empty() && !scales
    }

    fn is_cut_short(&self) -> bool {
        self.interrupted
    }
}

fn is_of_bulk(document: &CompareDocument) -> bool {
    document.rows.iter().all(|row| row.case.bulk.is_some())
}

fn heading_of_costs(document: &CompareDocument) -> &'static str {
    match document.over {
        _ if is_of_bulk(document) => "Bulk data by CPU time of one core",
        CompareOver::Memory => "CPU time of one connection",
        CompareOver::Loopback => "One connection: CPU time of each side, and time on a clock",
    }
}

fn about_requests(bytes: u64) -> Block {
    Block::Aside(format!(
        "early: the client's first {bytes} bytes are in its first flight. + request: it sends as many after the handshake, with \
         its Finished. Both sides' work on them is in these rows and in no other."
    ))
}

/// What servers of TLS 1.3 issue; of TLS 1.2 a ticket comes with the full handshake alone.
fn about_tickets(document: &CompareDocument) -> Option<Block> {
    let resumes =
        |row: &CompareRow| row.case.tls == Version::Tls13 && row.case.kind.is_resumption() && row.tickets.is_some();
    document.rows.iter().any(resumes).then(|| Block::Aside(TICKETS.to_owned()))
}

const TICKETS: &str = "Tickets of TLS 1.3: the server sends one in each connection of a row that resumes, and none in other rows; a row in \
    which others were counted on the wire says so.";

/// What keys that were made ahead or are reused, and certificates that are known, mean: each where there is a row of it.
fn about_preparation(document: &CompareDocument) -> Vec<Block> {
    let is_there = |is_it: fn(&CompareRow) -> bool| document.rows.iter().any(is_it);
    let words = [
        (is_there(|row| row.case.key_pairs == KeyPairs::Ahead), Block::Aside(AHEAD.to_owned())),
        (is_there(|row| row.case.chain != ServerChain::One), Block::Aside(CHAINS.to_owned())),
    ];
    words.into_iter().filter(|(is_there, _)| *is_there).map(|(_, block)| block).collect()
}

const AHEAD: &str = "keys ahead: the server's ephemeral key pair is made before the client's first byte, and used once. The work is \
    moved, not saved: the column ahead has its CPU time, which is in no other figure. wolfSSL keeps the pair in the connection's object, which is \
    made ahead too.";

const REUSED: &str = "keys reused: one ephemeral key pair serves all connections, here for comparison alone. While its private key exists, \
    whoever learns it reads all of them: they have no forward secrecy, and RFC 9846 §4.3.8 forbids it";

const CHAINS: &str = "chain of 2, of 3: certificates that the server sends, all with the leaf's kind of key; else 1. issuer stored: the leaf of a \
    chain of 2 alone is sent, and the client trusts its issuer as it does the root. chain cached: a chain of 2 that the client has \
    verified before, so that it verifies the signature of the handshake alone.";

const LEGEND: &str = "Medians, ± half their 95 % interval: CPU time of the thread from making the connection to its end, over memory, \
    the certificate chain verified, nothing waited for. A sample is the mean of connections that were made one after the other. \
    harness: CPU time of Reprise itself for each connection, which is in neither figure, and its share of all; * above 5 %.";

const LEGEND_OF_LOOPBACK: &str = "Medians, ± half their 95 % interval. client, server: CPU time of the library alone, \
    without sockets. wall: from when the client's TCP connection is established until both handshakes are complete and \
    the client has read the tickets and the end of the stream that the server sends then. ready: until the client may \
    send data. A sample is the mean of connections that were made one after the other, of wall and ready the median.";

fn legend(document: &CompareDocument) -> &'static str {
    match document.over {
        _ if is_of_bulk(document) => bulk::LEGEND,
        CompareOver::Memory => LEGEND,
        CompareOver::Loopback => LEGEND_OF_LOOPBACK,
    }
}

const ONE_THREAD: &str = "Ratios of both sides' CPU time, TLS 1.2 by TLS 1.3: below 1, TLS 1.3 costs more. What was \
    published is time on a clock, where client and server also compute at the same time and a round trip less counts: \
    neither is in these figures; '--over loopback' has both.";

const TWO_PROCESSES: &str = "Ratios of wall, TLS 1.2 by TLS 1.3: below 1, TLS 1.3 takes longer. Both sides are on this machine, each in a process \
    of its own, as in what was published.";

const OF_SERVERS: &str = "Ratios of the servers' CPU time, each with its own client, in TLS 1.2: above 1, the second is cheaper. What was published is \
    time on a 133 MHz CPU whose registers have 32 bits, without assembler for it.";

const OF_PAIRS_AHEAD: &str = "Ratios of both sides' CPU time under TLS 1.3, fresh by ahead: above 1, ahead is cheaper. What was published is time \
    on a clock of client and server on one computer, where the server makes the pair while the client makes its own.";

const OF_SHARES: &str = "Ratios of both sides' CPU time, one key share of the client by two, of which the server takes the same: below 1, two cost \
    more. What was published is handshakes a second on a clock, of 'openssl s_time' with 's_server', each version with its own defaults.";

fn of_claims(document: &CompareDocument) -> &'static str {
    match document.over {
        _ if document.scenario == "stacks" => OF_SERVERS,
        _ if is_of_bulk(document) => bulk::OF_CLAIMS,
        _ if document.scenario == "pregenerate" => OF_PAIRS_AHEAD,
        _ if document.scenario == "post-quantum" => OF_SHARES,
        CompareOver::Memory => ONE_THREAD,
        CompareOver::Loopback => TWO_PROCESSES,
    }
}

const MORE: &str = "These stacks are built in. 'reprise stacks install' builds plugins of the installed TLS libraries; \
    'reprise stacks' shows the plugin directories and what is in them.";

/// A plugin that could not be loaded was there too: it is among what was skipped, and not among the stacks.
fn has_built_in_stacks_alone(document: &CompareDocument) -> bool {
    let is_built_in = |name: &String| document.stacks.iter().any(|it| it.name == *name && it.file.is_none());
    document.stacks.iter().all(|stack| stack.file.is_none())
        && document.skipped.iter().all(|it| is_built_in(&it.client) && is_built_in(&it.server))
}

fn facts(document: &CompareDocument) -> Vec<Fact> {
    let mut facts = vec![stacks(&document.stacks)];
    if document.over == CompareOver::Loopback {
        let each = match document.cores {
            Some([client, server]) => format!("the clients on core {client}, the servers on core {server}"),
            None => "on any free core: both share one if there is no other".to_owned(),
        };
        facts.push(Fact::new("over", format!("TCP on 127.0.0.1, each side in a process of its own, {each}")));
    }
    if let Some((_, share)) = document.clock.threads.harness() {
        let charged = 100.0 * (1.0 - share);
        facts.push(Fact::new(
            "clock",
            format!(
                "reading it costs {} ns a turn at most, which is taken off; client and server make up {charged:.1} % of {} CPU time",
                document.clock.reading_ns,
                match document.over {
                    CompareOver::Memory => "their thread's",
                    CompareOver::Loopback => "their threads'",
                }
            ),
        ));
    }
    facts
}

/// One group of rows for each handshake, the cheapest stack first.
fn costs(document: &CompareDocument) -> Table {
    // A resumption of 20 µs stands beside a handshake of 20 ms.
    let unit = Unit::Micros;
    let others = |row: &CompareRow| row.kinds.total().saturating_sub(row.kinds.of(row.case.kind));
    let rows = Rows::of(by_case(&document.rows, |row| row.wall_ns.unwrap_or(row.both_ns).median_ns))
        .words("handshake", |row| words(&row.case))
        .grouped(|row| &row.case)
        .words("stack", |row| stack_pair(&row.client, &row.server))
        .figures("n", "", |row| Figure::count(row.n))
        .dispensable(0)
        .secondary()
        .figures("of", "", |row| Figure::count(row.connections))
        .dispensable(0)
        .secondary()
        .medians("client", unit, |row| Some(&row.client_ns))
        .medians("server", unit, |row| Some(&row.server_ns))
        .medians("both", unit, |row| Some(&row.both_ns))
        .medians("wall", unit, |row| row.wall_ns.as_ref())
        .medians("ready", unit, |row| row.ready_ns.as_ref())
        .figures("bytes", "", |row| Figure::count(row.bytes.sent.0.saturating_add(row.bytes.received.0)))
        .dispensable(1)
        .figures("ahead", "µs", |row| row.ahead_ns.map(|ns| Figure::plain(format!("{:.1}", ns as f64 / 1e3))))
        .figures("harness", "µs", |row| harness(document, row))
        .dispensable(1)
        .secondary();
    let unlike = |row: &CompareRow| {
        let of_another_kind = (others(row) > 0).then(|| format!("{} of another kind", others(row)));
        of_another_kind.or_else(|| other_tickets(row).map(|tickets| format!("{tickets} tickets")))
    };
    let rows = rows.noted(unlike);
    rows.toned(|row| if others(row) > 0 { Tone::Warning } else { Tone::Plain }).table()
}

/// How many tickets a server of TLS 1.3 sends, where that is not what it was asked for: one in a row that resumes, and none elsewhere.
fn other_tickets(row: &CompareRow) -> Option<u64> {
    let asked = u64::from(row.case.kind.is_resumption());
    row.tickets.filter(|tickets| row.case.tls == Version::Tls13 && *tickets != asked)
}

/// From this share of the thread's CPU time on, a row is marked for what the harness takes beside the libraries.
const LARGE_HARNESS: f64 = 0.05;

/// What the harness itself takes of one connection over memory, with its share of the thread's CPU time. It is in neither side's
/// figure.
fn harness(document: &CompareDocument, row: &CompareRow) -> Option<Figure> {
    let threads = row.threads.filter(|_| document.over == CompareOver::Memory)?;
    let (ns, share) = threads.harness()?;
    let each = ns as f64 / 1e3 / row.kinds.total().max(1) as f64;
    let mark = if share > LARGE_HARNESS { "* " } else { "" };
    Some(Figure::plain(format!("{mark}{each:.1}, {:.0} %", 100.0 * share)))
}

/// The rows of each handshake together, in the order of this.
fn by_case<K: Ord>(rows: &[CompareRow], order: impl Fn(&CompareRow) -> K) -> Vec<&CompareRow> {
    let cases = grouped(rows, |row| &row.case).into_iter().map(|(_, mut of_case)| {
        of_case.sort_by_key(|row| order(row));
        of_case
    });
    cases.flatten().collect()
}

const LEGEND_OF_BYTES: &str = "client, server: all bytes that each sends, tickets among them.";

const LEGEND_OF_FLIGHTS: &str = "flight: those of the server's flight that its \
    ServerHello begins. + RTT: further round trips, one for a HelloRetryRequest, and one each time that the flight fills the window of TCP: \
    14,600 bytes at first (ten segments of 1460 bytes, RFC 6928), then twice as much.";

/// One group of rows for each handshake, the fewest bytes first.
fn flights(document: &CompareDocument) -> Table {
    Rows::of(by_case(&document.rows, |row| row.bytes.sent.0.saturating_add(row.bytes.received.0)))
        .words("handshake", |row| words(&row.case))
        .grouped(|row| &row.case)
        .words("stack", |row| stack_pair(&row.client, &row.server))
        .figures("client", "", |row| Figure::count(row.bytes.sent.0))
        .figures("server", "", |row| Figure::count(row.bytes.received.0))
        .figures("flight", "", |row| row.server_flight.map(|flight| Figure::count(flight.0)))
        .figures("+ RTT", "", |row| row.further_round_trips().map(Figure::count))
        .toned(|row| if row.further_round_trips() > Some(0) { Tone::Warning } else { Tone::Plain })
        .table()
}

/// One group of rows for each handshake, the fewest first.
fn instructions(document: &CompareDocument) -> Table {
    let of = |row: &CompareRow, side| row.instructions.and_then(|count| count.of(side));
    let mut counted = by_case(&document.rows, |row| of(row, CompareSide::Both));
    counted.retain(|row| row.instructions.is_some());
    let mut rows = Rows::of(counted)
        .words("handshake", |row| words(&row.case))
        .grouped(|row| &row.case)
        .words("stack", |row| stack_pair(&row.client, &row.server));
    for side in [CompareSide::Client, CompareSide::Server, CompareSide::Both] {
        rows = rows.figures(side.name(), "k", |row| of(row, side).map(|count| Figure::count(count.div_ceil(1000))));
    }
    rows.table()
}

fn counted(document: &CompareDocument) -> String {
    let tool = document.counting.as_ref().map_or("callgrind", |counting| counting.tool.as_str());
    format!(
        "Thousands of instructions in user space of each side's process, by {tool}: the difference of two runs, by the \
         connections in which they differ. It repeats where times do not, and it is no time: instructions take unlike \
         long, and valgrind may hide instructions of this CPU, for which libraries choose other code."
    )
}

/// One group of rows for each pair of handshakes, the stack first whose server gains the most.
fn ratios(document: &CompareDocument) -> Table {
    let of_side = |side: CompareSide| document.ratios.iter().filter(move |ratio| ratio.side == side);
    let of_this = |server: &CompareRatio, side| {
        let is_it = |it: &&CompareRatio| {
            (&it.client, &it.server, &it.from, &it.to) == (&server.client, &server.server, &server.from, &server.to)
        };
        of_side(side).find(is_it)
    };
    let pairs = grouped(of_side(CompareSide::Server), |it| (&it.from, &it.to)).into_iter().flat_map(|(_, mut of_pair)| {
        of_pair.sort_by(|one, other| other.median.total_cmp(&one.median));
        of_pair
    });
    let mut rows = Rows::of(pairs)
        .words("handshakes", |it| change(&it.from, &it.to))
        .grouped(|it| (&it.from, &it.to))
        .words("stack", |it| stack_pair(&it.client, &it.server));
    for side in CompareSide::ALL {
        rows = rows.figures(side.name(), "×", |it| of_this(it, side).map(gain));
        rows = rows.dispensable(match side {
            CompareSide::Client => Some(0),
            CompareSide::Both => Some(1),
            CompareSide::Server | CompareSide::Wall | CompareSide::Ready => None,
        });
    }
    rows.toned(|server| if server.median > 1.0 { Tone::Gain } else { Tone::Plain }).table()
}

/// A ratio that is a gain where its whole interval is above 1.
fn gain(ratio: &CompareRatio) -> Figure {
    Figure::ratio(ratio.median, ratio.ci95).gained(ratio.ci95.map_or(ratio.median, |[low, _]| low) > 1.0)
}

/// Each claim, and below it what each stack says to it.
fn claims(document: &CompareDocument) -> impl Iterator<Item = Block> {
    grouped(&document.claims, |claim| &claim.claim)
        .into_iter()
        .flat_map(|(claim, of_stacks)| [Block::Paragraph(claim.clone()), Block::Table(of_claim(of_stacks))])
}

fn of_claim(claims: Vec<&CompareClaim>) -> Table {
    Rows::of(claims)
        .words("stack", |claim| &claim.stack)
        .figures("published", "×", |claim| claim.published.map(|published| Figure::plain(format!("{published:.2}"))))
        .figures("measured", "×", |claim| {
            let measured = claim.measured?;
            let decimals = if measured < 0.0995 { 3 } else { 2 };
            let spread = claim.ci95.map(|[low, high]| format!(" ±{:.decimals$}", (high - low) / 2.0)).unwrap_or_default();
            Some(Figure::plain(format!("{measured:.decimals$}{spread}")))
        })
        .words("verdict", |claim| &claim.verdict)
        .toned(|claim| if claim.verdict == "other direction" { Tone::Warning } else { Tone::Plain })
        .table()
}

/// Why figures are not as published, each reason once.
fn reasons(document: &CompareDocument) -> impl Iterator<Item = String> {
    grouped(&document.claims, |claim| claim.why.as_ref()).into_iter().filter_map(|(why, claims)| {
        let stacks: Vec<&str> = claims.iter().map(|claim| claim.stack.as_str()).collect();
        Some(format!("{}: {}.", stacks.join("; "), why?))
    })
}

/// What several handshakes were skipped for is said once.
fn skipped(document: &CompareDocument) -> Vec<Block> {
    let groups = grouped(&document.skipped, |it| (&it.client, &it.server, &it.outcome, &it.reason));
    let said = groups.into_iter().map(|((client, server, outcome, reason), group)| {
        let handshake = group.first().map(|skipped| words(&skipped.case)).unwrap_or_default();
        let more = if group.len() > 1 { format!(" and {} more", group.len() - 1) } else { String::new() };
        (outcome == "unsupported", Fact::new(stack_pair(client, server), format!("{handshake}{more}: {outcome}, {reason}")))
    });
    let (unsupported, failed): (Vec<_>, Vec<_>) = said.partition(|(is_unsupported, _)| *is_unsupported);
    let failed = failed.into_iter().map(|(_, Fact { name, value, .. })| Block::warning(format!("{name}, {value}")));
    let facts: Vec<Fact> = unsupported.into_iter().map(|(_, fact)| fact).collect();
    let unsupported =
        (!facts.is_empty()).then(|| Block::Secondary(vec![Block::Heading("Skipped".to_owned()), Block::Facts(facts)]));
    failed.chain(unsupported).collect()
}
