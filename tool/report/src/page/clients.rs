//! One target and several clients: who pays what.

use reprise_model::document::{ClientsDocument, Finding, MeasureDocument, Run};
use reprise_model::{Kind, Phase, Version};
use reprise_page::conditions::conditions;
use reprise_page::figures::{Figure, Unit};
use reprise_page::table::{Rows, Table, Tone};
use reprise_page::{Block, Fact, Page, Shown, grouped, source, title};

use reprise_diagnosis::cause;

use crate::paged_document::PagedDocument;

impl PagedDocument for ClientsDocument {
    fn page(&self, shown: Shown) -> Page {
        let rows: Vec<ClientRow<'_>> = self.results.iter().flat_map(rows).collect();
        let mut blocks = vec![Block::Facts(vec![Fact::new("samples", samples(&rows))])];
        let mut summary: Vec<Block> = sentences(&rows).into_iter().map(Block::Paragraph).collect();
        if self.is_cut_short() {
            summary.push(Block::warning("Incomplete: these are the connections made until then"));
        }
        let warnings = self.results.iter().flat_map(|result| result.warnings.iter().map(move |it| (it, result)));
        let warnings: Vec<(&String, &MeasureDocument)> = warnings.collect();
        summary.extend(grouped(&warnings, |(warning, _)| (*warning).clone()).into_iter().map(|(warning, of)| {
            Block::warning(format!("{}: {warning}", of_clients(&of.iter().map(|(_, it)| *it).collect::<Vec<_>>(), self)))
        }));
        let failures = self.results.iter().flat_map(|result| &result.failures);
        let each_once = grouped(failures, |failure| (failure.name.clone(), failure.message.clone())).into_iter();
        summary.extend(each_once.filter_map(|(_, same)| Some(Block::Item(same.into_iter().next()?.into()))));
        blocks.push(Block::Summary(summary));
        if !rows.is_empty() {
            blocks.extend([Block::Table(table(&rows)), Block::Aside(LEGEND.to_owned())]);
        }
        blocks.push(Block::Secondary(vec![Block::Heading("The clients".to_owned()), Block::Table(clients(self))]));
        let findings: Vec<(&Finding, &MeasureDocument)> =
            self.results.iter().flat_map(|result| result.findings.iter().map(move |it| (it, result))).collect();
        let mut found = Vec::new();
        for (id, of) in grouped(&findings, |(finding, _)| finding.id.clone()) {
            let Some((first, _)) = of.first() else { continue };
            let clients = of_clients(&of.iter().map(|(_, it)| *it).collect::<Vec<_>>(), self);
            if shown.shows(first) {
                // Where the titles name what differs from client to client, the cause's own.
                let is_same = of.iter().all(|(finding, _)| finding.title == first.title);
                let of_cause = cause(&id).map(|cause| cause.page.title);
                let title = of_cause.filter(|_| !is_same).unwrap_or(&first.title);
                found.push(Block::Paragraph(format!("{clients}: {title} [{id}]")));
            }
        }
        if !found.is_empty() {
            blocks.push(Block::Heading("Found".to_owned()));
            blocks.extend(found);
            blocks.push(Block::Aside("--like CLIENT shows a finding with its evidence and its remedies".to_owned()));
        }
        blocks.extend(conditions(&self.conditions));
        blocks.push(source(&self.provenance));
        Page::new("measure", format!("What each client meets at {}", title(&self.target)), blocks)
    }

    fn is_nothing(&self) -> bool {
        self.results.iter().all(|it| it.samples.is_empty())
    }

    fn is_cut_short(&self) -> bool {
        self.results.iter().any(|it| it.interrupted)
    }
}

const LEGEND: &str = "\
Medians of the handshake, ± half their 95 % interval; round trips and bytes of a full connection, and behind the slash of the resumed \
one. retried: full connections that a HelloRetryRequest made start again.";

/// One version that a client would speak.
#[derive(Clone, Copy)]
struct ClientRow<'a> {
    result: &'a MeasureDocument,
    version: Version,
    full: Option<&'a Run>,
    /// The best way of resuming that was tried: by ticket, else by ID.
    resumed: Option<&'a Run>,
    early: Option<&'a Run>,
}

fn rows(result: &MeasureDocument) -> Vec<ClientRow<'_>> {
    let row = |version| {
        let run = |kind| result.run(version, kind);
        let (full, early) = (run(Kind::Full), run(Kind::Early));
        let resumed = run(Kind::Ticket).or_else(|| run(Kind::Id));
        (full.is_some() || resumed.is_some()).then_some(ClientRow { result, version, full, resumed, early })
    };
    [Version::Tls12, Version::Tls13].into_iter().filter_map(row).collect()
}

impl ClientRow<'_> {
    fn name(&self) -> &str {
        &self.result.label
    }

    /// Full connections that were made to start again, and all of them.
    fn retried(&self) -> (u64, u64) {
        self.full.map_or((0, 0), |run| (run.observed.hello_retry_requests, run.made()))
    }

    /// "20 of 20": connections that resumed of those that were to.
    fn accepted(&self) -> String {
        self.resumed.map_or_else(|| "none given".to_owned(), |run| format!("{} of {}", run.n, run.made()))
    }
}

fn samples(rows: &[ClientRow<'_>]) -> String {
    let mut counts: Vec<u64> = rows.iter().filter_map(|row| Some(row.full?.n)).collect();
    counts.sort_unstable();
    match (counts.first(), counts.last()) {
        (Some(few), Some(many)) if few == many => format!("{few} connections behind each figure, interleaved"),
        (Some(few), Some(many)) => format!("{few} to {many} connections behind each figure, interleaved"),
        _ => "none: no connection completed".to_owned(),
    }
}

/// Who pays for what others do not: a retry, a resumption that is refused.
fn sentences(rows: &[ClientRow<'_>]) -> Vec<String> {
    let mut sentences = Vec::new();
    let names = |of: &[&ClientRow<'_>]| of.iter().map(|row| row.name().to_owned()).collect::<Vec<_>>();
    for version in [Version::Tls12, Version::Tls13] {
        let of_version: Vec<&ClientRow<'_>> = rows.iter().filter(|row| row.version == version).collect();
        let retried: Vec<&ClientRow<'_>> = of_version.iter().copied().filter(|row| row.retried().0 > 0).collect();
        if !retried.is_empty() {
            let (listed, more) = (names(&retried), of_version.len() > retried.len());
            let others = if more { "; on the others it does not" } else { "" };
            let listed = if more { listed_names(&listed) } else { "every client".to_owned() };
            sentences.push(format!(
                "The server has {listed} start again with a HelloRetryRequest, which costs a round trip on each full connection{others}.",
            ));
        }
        let refused = of_version.iter().copied().filter(|row| row.resumed.is_none_or(|run| run.n == 0));
        let refused: Vec<&ClientRow<'_>> = refused.collect();
        sentences.extend(match refused.len() {
            0 => None,
            all if all == of_version.len() => Some(format!("Under {version} no client resumes.")),
            1 => Some(format!("Under {version} {} does not resume.", listed_names(&names(&refused)))),
            _ => Some(format!("Under {version} {} do not resume.", listed_names(&names(&refused)))),
        });
    }
    sentences
}

fn listed_names(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [begin @ .., last] => format!("{} and {last}", begin.join(", ")),
    }
}

/// "chrome and go", or "all clients".
fn of_clients(of: &[&MeasureDocument], document: &ClientsDocument) -> String {
    if of.len() == document.results.len() {
        return "all clients".to_owned();
    }
    listed_names(&of.iter().map(|result| result.label.clone()).collect::<Vec<_>>())
}

fn table(rows: &[ClientRow<'_>]) -> Table {
    let times = |run: Option<&Run>| Some(run?.phases.get(&Phase::Tls)?.median_ns);
    let unit = Unit::of_all(rows.iter().flat_map(|row| [times(row.full), times(row.resumed)]).flatten());
    let mut sorted: Vec<&ClientRow<'_>> = rows.iter().collect();
    sorted.sort_by_key(|row| row.version);
    fn of(run: Option<&Run>) -> Option<&reprise_model::document::Statistics> {
        run?.phases.get(&Phase::Tls)
    }
    let both = |row: &ClientRow<'_>, of: fn(&Run) -> Option<u64>| {
        let shown = |run: Option<&Run>| run.and_then(of).map_or_else(|| "–".to_owned(), |value| value.to_string());
        Figure::plain(format!("{} / {}", shown(row.full), shown(row.resumed)))
    };
    Rows::of(sorted)
        .words("TLS", |row| row.version.number())
        .once(|row| row.version.number())
        .grouped(|row| row.version)
        .words("client", |row| row.name())
        .words("group", |row| row.full.and_then(|run| run.observed.group.clone()).unwrap_or_default())
        .dispensable(1)
        .medians("full", unit, |row| of(row.full))
        .medians("resumed", unit, |row| of(row.resumed))
        .medians("early", unit, |row| of(row.early))
        .dispensable(0)
        .words("accepted", |row| row.accepted())
        .words("retried", |row| match row.retried() {
            (0, _) => String::new(),
            (retried, all) => format!("{retried} of {all}"),
        })
        .figures("round", "trips", |row| both(row, |run| run.round_trips))
        .figures("sent", "bytes", |row| both(row, |run| Some(run.bytes?.sent.0)))
        .dispensable(2)
        .figures("received", "bytes", |row| both(row, |run| Some(run.bytes?.received.0)))
        .dispensable(1)
        .toned(|row| match (row.retried(), row.resumed) {
            ((0, _), Some(run)) if run.n > 0 => Tone::Plain,
            _ => Tone::Warning,
        })
        .table()
}

/// Which program each name stands for.
fn clients(document: &ClientsDocument) -> Table {
    let rows: Vec<_> = document.results.iter().filter_map(|result| result.target.like.as_ref()).collect();
    Rows::of(rows)
        .words("name", |like| like.name.as_str())
        .words("client", |like| like.client.as_str())
        .words("captured", |like| like.captured.as_str())
        .table()
}
