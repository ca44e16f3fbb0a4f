//! Documents in `documents/` against the texts in `golden/` that they become. `REPRISE_BLESS=1` writes the texts anew: read
//! the difference before it is committed.

use std::fs;

use openmetrics_parser::openmetrics::parse_openmetrics;
use reprise_board::document::BoardDocument;
use reprise_model::document::{Comparison, LabDocument, LoadDocument, MeasureDocument, TraceDocument};
use reprise_model::{Kind, Phase, Version};
use reprise_page::Shown;
use reprise_page::terminal::Style;
use reprise_report::openmetrics::WatchMetrics;
use reprise_report::{Document, FORMATS, Format, Report, csv, json, line, markdown};
use reprise_results::{EarlierResult, Scope};
use serde_json::Value;

use crate::{DOCUMENTS, read, terminal, tests, text, with};

const TRACED: [&str; 2] = ["mutual", "ticket-refused"];
const MEASURED: [&str; 3] = ["nginx", "refused", "away"];

/// Each file of `golden/` says what it is: `nginx.csv`, `nginx.md`, `nginx.80.txt` on a terminal of 80 columns, `nginx.txt` on none,
/// `nginx.color.txt` in colour.
#[test]
fn documents_become_the_golden_pages() {
    for file in fs::read_dir(tests().join("golden")).unwrap() {
        let file = file.unwrap().file_name().into_string().unwrap();
        let parts: Vec<&str> = file.split('.').collect();
        let page = |document: Document<'_>| match parts[1..] {
            ["csv"] => text(&csv::FORMAT, document),
            ["md"] => text(&markdown::FORMAT, document),
            ["txt"] => terminal(document, plain(None)),
            ["line", "txt"] => line::round(&[measured(parts[0])], None),
            ["color", "txt"] => {
                let width = Some(if TRACED.contains(&parts[0]) { 100 } else { 120 });
                let coloured = terminal(document, Style { color: true, width });
                assert_eq!(without_escapes(&coloured), terminal(document, plain(width)), "{file}: colour moves nothing");
                coloured
            }
            [width, "txt"] => terminal(document, plain(width.parse().ok())),
            _ => panic!("{file} is no page"),
        };
        let rendered = match parts[0] {
            "baseline" => page(Document::Measure(&against_an_earlier_one())),
            name => with(read(name), page).unwrap(),
        };
        compare(&file, &rendered);
    }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let measured = MEASURED.into_iter().flat_map(|name| [70, 80, 100, 120].map(|width| (name, width, width)));
    // A ladder that does not fit takes the width of one of its sides.
    let traced = TRACED.into_iter().flat_map(|name| [(name, 60, 64), (name, 100, 100)]);
    for (name, width, most) in measured.chain(traced) {
        let page = with(read(name), |document| terminal(document, plain(Some(width)))).unwrap();
        let widest = page.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= most, "{name}: {widest} columns on a terminal of {width}");
    }
    for (name, width) in DOCUMENTS.into_iter().flat_map(|name| [(name, 0), (name, 1)]) {
        let page = with(read(name), |document| terminal(document, plain(Some(width)))).unwrap();
        assert!(page.lines().count() > 10, "{name} on a terminal of {width}: {page}");
    }
}

/// Pages of usual runs: of one target, or of a few stacks.
const USUAL: [&str; 15] = [
    "nginx",
    "refused",
    "sampled",
    "lab",
    "ticket-refused",
    "diagnose-client",
    "diagnose-haproxy",
    "diagnose-nginx",
    "diagnose-nodes",
    "diagnose-openssl",
    "load",
    "compare",
    "layers",
    "explain",
    "side-by-side",
];

#[test]
fn the_page_of_a_usual_run_fits_a_screen() {
    for name in USUAL {
        let page = page(name, false);
        let widest = page.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(page.lines().count() <= 40 && widest <= 100, "{name}, {} lines of {widest}:\n{page}", page.lines().count());
    }
}

#[test]
fn what_a_terminal_leaves_out_is_named_and_shown_in_full() {
    for name in USUAL.into_iter().chain(["speed"]) {
        let (usual, whole) = (page(name, false), page(name, true));
        let words = usual.split_whitespace().collect::<Vec<_>>().join(" ");
        let Some((_, named)) = words.split_once("-v also shows: ") else { continue };
        assert!(!whole.contains("-v also shows"), "{name}: {whole}");
        assert!(whole.lines().count() > usual.lines().count() || whole.len() > usual.len(), "{name}: {whole}");
        for heading in whole.lines().filter(|line| *line == "Rates tried" || *line == "What works with what") {
            assert!(named.contains(heading) && !usual.lines().any(|line| line == heading), "{heading} of {name}: {usual}");
        }
        // A file has all of it; of findings alone it has more with -v.
        let markdown = |in_full| report(name, in_full, |report| bytes(&markdown::FORMAT, report));
        let has_findings =
            ["load", "lab", "compare", "layers", "explain", "speed", "side-by-side"].iter().all(|it| *it != name);
        assert!(has_findings || markdown(false) == markdown(true), "{name}");
    }
}

fn page(name: &str, in_full: bool) -> String {
    report(name, in_full, |report| reprise_page::terminal::render(&report.page(), plain(None)))
}

fn report(name: &str, in_full: bool, of: impl FnOnce(Report<'_>) -> String) -> String {
    let shown = Shown { in_full, ..Shown::default() };
    if name != "side-by-side" {
        return with(read(name), |document| of(Report { shown, ..document.into() })).unwrap();
    }
    let files = ["refused.json", "nginx.json"].map(str::to_owned);
    let both = reprise_results::measurements_side_by_side(&files, &["refused", "nginx"].map(measured)).unwrap();
    of(Report { shown, ..Document::SideBySide(&both).into() })
}

fn bytes(format: &Format, report: Report<'_>) -> String {
    let mut bytes = Vec::new();
    format.write(&report, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn every_document_has_the_formats_that_say_so() {
    for name in DOCUMENTS {
        for format in FORMATS {
            let of = |document: Document<'_>| (!text(format, document).is_empty(), format.writes(document.schema()));
            let (is_written, is_said) = with(read(name), of).unwrap();
            assert_eq!(is_written, is_said, "{} of {name}", format.name);
        }
    }
    assert!(Format::of(LabDocument::SCHEMA).any(|format| format.name == "junit"));
}

#[test]
fn json_loses_nothing_to_the_last_digit() {
    let mut document = measured("nginx");
    // One that a parser gets wrong by its last digit unless it takes care.
    document.ratios[0].median = 0.990_779_763_209_298_5;
    let saved = text(&json::FORMAT, Document::Measure(&document));
    let again: MeasureDocument = serde_json::from_str(&saved).unwrap();
    assert_eq!(text(&json::FORMAT, Document::Measure(&again)), saved);
    let lab = text(&json::FORMAT, Document::Lab(&lab()));
    assert_eq!(serde_json::from_str::<Value>(&lab).unwrap(), read::<Value>("lab"));
    assert!(lab.ends_with("}\n"));
}

#[test]
fn a_result_without_a_run_has_no_table_and_says_why() {
    let mut document = measured("away");
    document.runs.clear();
    document.ratios.clear();
    let page = terminal(Document::Measure(&document), plain(None));
    assert!(page.contains("Nothing was measured.") && !page.contains("Medians"), "{page}");
    assert!(!page.contains("\n\n\n"), "no empty table: {page}");
    let table = |document: &MeasureDocument| text(&csv::FORMAT, Document::Measure(document));
    assert_eq!(table(&document).lines().collect::<Vec<_>>(), table(&measured("away")).lines().take(1).collect::<Vec<_>>());
}

#[test]
fn each_handshake_of_a_board_has_a_row() {
    let board: BoardDocument = read("board");
    let table = text(&csv::FORMAT, Document::Board(&board));
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 1 + board.handshakes.len());
    for (row, handshake) in rows.iter().skip(1).zip(&board.handshakes) {
        let named = [&handshake.image, &handshake.stack].map(String::as_str);
        assert_eq!((&row[..2], row.len()), (&named[..], rows[0].len()), "{table}");
    }
}

#[test]
fn counts_that_no_measurement_has_do_not_overflow() {
    for name in MEASURED {
        let mut document = measured(name);
        for run in &mut document.runs {
            run.observed.kinds.0.insert(Kind::Full, u64::MAX);
            run.observed.kinds.0.insert(Kind::Psk, u64::MAX);
            (run.failed, run.observed.sessions_offered) = (u64::MAX, u64::MAX);
        }
        assert!(terminal(Document::Measure(&document), plain(None)).contains("Medians"));
    }
}

#[test]
fn an_empty_or_contradictory_trace_does_not_crash() {
    let nothing = TraceDocument { traces: Vec::new(), ..traced("mutual") };
    assert!(terminal(Document::Trace(&nothing), plain(None)).starts_with("https://"));
    let mut odd = traced("mutual");
    for trace in &mut odd.traces {
        let full = trace.full.as_mut().unwrap();
        full.handshake_events = 1_000;
        trace.skipped.iter_mut().for_each(|skipped| skipped.index += 1_000);
        full.events.truncate(2);
    }
    for width in [None, Some(0), Some(1)] {
        assert!(terminal(Document::Trace(&odd), plain(width)).contains("ClientHello"));
    }
}

#[test]
fn the_lab_against_a_baseline_names_its_servers() {
    let earlier = lab();
    let mut now = lab();
    for (result, earlier) in now.results.iter_mut().zip(&earlier.results) {
        result.baseline = Some(Box::new(against(result, earlier, "lab.json")));
    }
    let missing = reprise_results::no_such_result(&now.results[0], "lab.json");
    now.results[0].baseline = Some(Box::new(missing));
    let page = terminal(Document::Lab(&now), plain(Some(100)));
    assert!(page.contains("changed beyond its interval"), "{page}");
    assert!(page.contains(&format!("The baseline has no result of {}", now.results[0].label)), "{page}");
    let labels = now.results.iter().skip(1).filter(|result| page.contains(&result.label)).count();
    assert_eq!(labels, now.results.len() - 1, "{page}");
}

#[test]
fn not_measured_is_not_reported_as_not_offered() {
    let earlier = measured("nginx");
    let mut document = measured("nginx");
    document.runs.retain(|run| run.asked.tls == Version::Tls12);
    document.warnings.push("TLS 1.3 is not measured: the server closed the connection".to_owned());
    document.baseline = Some(Box::new(against(&document, &earlier, "nginx.json")));
    let page = terminal(Document::Measure(&document), plain(None));
    assert!(page.contains("changed  TLS 1.3 full: was measured before, is not now\n"), "{page}");
    assert!(!page.contains("offered now"), "{page}");
}

fn against(now: &MeasureDocument, earlier: &MeasureDocument, file: &str) -> Comparison {
    reprise_results::compare(now, &[EarlierResult { result: earlier, file }], &Scope::default(), 1).unwrap()
}

/// The target of `nginx.json` before its handshakes became slower and its tickets went unused.
fn against_an_earlier_one() -> MeasureDocument {
    let mut earlier = measured("nginx");
    for run in &mut earlier.runs {
        for statistics in run.phases.get_mut(&Phase::Tls).into_iter().filter(|_| run.asked.kind == Kind::Full) {
            statistics.median_ns = statistics.median_ns * 8 / 10;
            statistics.ci95_ns = statistics.ci95_ns.map(|ends| ends.map(|end| end * 8 / 10));
        }
    }
    earlier.runs[0].observed.cipher = Some("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384".to_owned());
    earlier.provenance.time = "2026-10-01T08:00:00Z".to_owned();
    earlier.provenance.kernel = Some("Linux 6.1.0".to_owned());
    let mut document = measured("nginx");
    let last = document.runs.last_mut().unwrap();
    (last.n, last.failed) = (last.n - 3, 3);
    document.baseline = Some(Box::new(against(&document, &earlier, "nginx.json")));
    document
}

#[test]
fn a_round_is_one_line() {
    let mut document = measured("nginx");
    let line = line::round(std::slice::from_ref(&document), None);
    assert!(!line.contains('\n'), "{line}");
    document.label = "a\nb\u{1b}[2J".to_owned();
    assert!(!line::round(&[document, measured("refused")], None).contains(char::is_control));
    assert_eq!(line::round(&lab().results, None).lines().count(), 1);
    for width in 30..100 {
        let narrow = line::round(&lab().results, Some(width));
        assert!(narrow.lines().all(|line| line.trim() != "µs" && !line.trim_start().starts_with("µs")), "{width}: {narrow}");
        assert!(width < 80 || narrow.lines().all(|line| line.chars().count() <= width), "{width}: {narrow}");
    }
    assert_eq!(line::round(&[], None).trim(), "");
}

#[test]
fn openmetrics_of_several_rounds_add_up_and_parse() {
    let mut metrics = WatchMetrics::new("0.0.0");
    let parse = |metrics: &WatchMetrics| {
        let text = metrics.to_text();
        parse_openmetrics(&text).unwrap_or_else(|error| panic!("{error:?} in\n{text}"))
    };
    assert!(parse(&metrics).families.contains_key("reprise_build"), "before the first round");
    let mut odd = measured("nginx");
    odd.label = "a\"b\\c\nd".to_owned();
    metrics.observe(&[odd, measured("nginx")], 1.5);
    metrics.observe(&[measured("nginx")], 2.5);
    metrics.observe(&lab().results, 3.5);
    metrics.observe_condition("tls.full > \"1ms\"");
    let parsed = parse(&metrics);
    let rounds = &parsed.families["reprise_rounds"];
    assert_eq!(rounds.iter_samples().count(), 2 + lab().results.len());
    let size = metrics.to_text().len();
    for round in 0..1000 {
        metrics.observe(&lab().results, f64::from(round));
    }
    assert!(metrics.to_text().len() < size + 1000, "no round leaves more than its counts");
}

#[test]
fn a_document_without_runs_still_makes_a_page() {
    let mut document = measured("nginx");
    document.runs.clear();
    document.ratios.clear();
    document.findings.clear();
    let page = terminal(Document::Measure(&document), plain(Some(80)));
    assert!(page.starts_with("https://localhost:8443/ at 127.0.0.1\n"));
    assert!(text(&markdown::FORMAT, Document::Measure(&document)).starts_with("# https://localhost:8443/"));
    let nothing = LabDocument { results: Vec::new(), ..lab() };
    assert!(terminal(Document::Lab(&nothing), plain(None)).starts_with("What resuming a TLS session saves"));
}

#[test]
fn a_target_on_which_nothing_completed_is_told_row_by_row() {
    let mut document = measured("refused");
    document.findings.clear();
    for run in &mut document.runs {
        run.observed.kinds.0.clear();
        run.phases.clear();
        (run.n, run.failed) = (0, 100);
    }
    let page = terminal(Document::Measure(&document), plain(Some(80)));
    assert_eq!(page.matches("none completed").count(), 3);
    assert_eq!(page.matches("failed  100 of 100").count(), 3);
    assert!(page.contains("None of 300 connections completed"));
}

/// Where no golden page shows it.
#[test]
fn the_answer_comes_before_the_figures() {
    let in_order = |page: &str, parts: &[&str]| {
        let places: Vec<usize> =
            parts.iter().map(|part| page.find(part).unwrap_or_else(|| panic!("{part}: {page}"))).collect();
        assert!(places.is_sorted(), "{parts:?} at {places:?} in\n{page}");
    };
    let page = |document: Document<'_>| terminal(document, plain(None));
    let (refused, nginx) = (measured("refused"), measured("nginx"));
    let load: LoadDocument = read("load");
    let rate = "212 connections/s complete, none failed: full takes 171.7 ms (median), 743.4 ms (p99); ticket takes";
    in_order(&page(Document::Load(&load)), &[rate, "verdict  The bottleneck is unknown", "outcome    n"]);
    let files = ["refused.json", "nginx.json"].map(str::to_owned);
    let both = reprise_results::measurements_side_by_side(&files, &[refused, nginx]).unwrap();
    in_order(
        &page(Document::SideBySide(&both)),
        &["TLS 1.2 id, TLS 1.2 ticket, TLS 1.3 ticket resumed in", "2.16 times as long (95 %", "TLS  kind"],
    );
}

fn plain(width: Option<usize>) -> Style {
    Style { color: false, width }
}

fn measured(name: &str) -> MeasureDocument {
    read(name)
}

fn traced(name: &str) -> TraceDocument {
    read(name)
}

fn lab() -> LabDocument {
    read("lab")
}

fn compare(name: &str, rendered: &str) {
    let file = tests().join("golden").join(name);
    if std::env::var_os("REPRISE_BLESS").is_some_and(|value| value == "1") {
        fs::write(&file, rendered).unwrap();
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    assert!(rendered == expected, "{name} differs; REPRISE_BLESS=1 writes it anew. It is now:\n{rendered}");
}

/// Colours alone: from ESC to `m`.
fn without_escapes(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |out, part| out + part.split_once('m').map_or(part, |(_, rest)| rest))
}
