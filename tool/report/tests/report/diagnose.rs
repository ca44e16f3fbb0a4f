//! A diagnosis in each format: what is shown, what judges of other makers say of it, and what hostile text does to it.

use quick_junit::{NonSuccessKind, Report as Suites, TestCaseStatus};
use reprise_model::document::{
    Confidence, CpuCost, DiagnoseDocument, Diagnosis, EntryRecord, ExperimentRecord, Finding, IsolationRecord,
    IsolationVerdict, MechanismRecord, Provenance, Remedy, Severity, Subject,
};
use reprise_model::{Asked, Failure, FailureClass, Kind, Nanos, Version};
use reprise_page::Shown;
use reprise_page::terminal::Style;
use reprise_report::{Document, Report, csv, html, junit, markdown, sarif};
use serde_json::Value;

use crate::{terminal, text};

const SCHEMA: &str = include_str!("../diagnose/sarif-2.1.0.json");

/// What drives a terminal, ends a cell, an attribute, a tag, a string and a line.
const HOSTILE: &str = "\u{1b}[2J\u{0}\u{7}a|b\"c'<d>&]]>--\\`*\r\n\u{fffe}\u{202e}e";

fn asked(tls: Version, kind: Kind) -> Asked {
    Asked { tls, kind }
}

fn provenance() -> Provenance {
    Provenance { version: "0.1.0".to_owned(), time: "2026-11-22T12:00:00Z".to_owned(), ..Provenance::default() }
}

fn healthy(target: &str) -> Diagnosis {
    Diagnosis {
        target: target.to_owned(),
        subject: Subject::Server,
        address: Some("127.0.0.1".to_owned()),
        other_addresses: Vec::new(),
        like: None,
        ech_grease: false,
        software: None,
        reached: true,
        failure: None,
        incomplete: false,
        verdict: "resumes everywhere".to_owned(),
        answers_differ: Vec::new(),
        findings: Vec::new(),
        experiments: vec![ExperimentRecord {
            repeats: 0,
            name: "second-use".to_owned(),
            varies: "the same ticket twice".to_owned(),
            asked: Some(asked(Version::Tls13, Kind::Ticket)),
            connections: 3,
            offered: 2,
            resumed: 1,
            failed: 0,
            separates: vec!["single-use".to_owned()],
            outcome: "the second use was refused".to_owned(),
        }],
        connections: 42,
        seconds: 1.25,
        nodes: None,
        matrix: vec![
            MechanismRecord {
                asked: asked(Version::Tls12, Kind::Id),
                given: true,
                lifetime_s: None,
                offered: 4,
                resumed: 1,
            },
            MechanismRecord {
                asked: asked(Version::Tls12, Kind::Ticket),
                given: false,
                lifetime_s: None,
                offered: 0,
                resumed: 0,
            },
        ],
        fingerprints: Vec::new(),
        figures: vec!["TLS 1.3: a request on a new connection takes 1.00 ms".to_owned()],
        warnings: Vec::new(),
    }
}

fn finding(id: &str, severity: Severity, title: &str) -> Finding {
    let finding = Finding::new(id, severity, Confidence::Likely, title).because(["1 of 4 resumed".to_owned()]);
    let remedies = Remedy::table(&[("nginx", "ssl_session_cache shared:SSL:10m;")]);
    let cost_cpu = CpuCost { client_ns: Some(Nanos(400_000)), server_ns: Some(Nanos(600_000)) };
    finding.fixed_by(remedies).costing(Some(Nanos(1_500_000))).costing_cpu(Some(cost_cpu))
}

fn ill(target: &str) -> Diagnosis {
    let findings = vec![
        finding("single-use", Severity::Note, "each ticket serves once"),
        finding("id-cache-per-process", Severity::Fault, "IDs are accepted only sometimes"),
        finding("node-certificate-differs", Severity::Risk, "certificates differ"),
    ];
    Diagnosis { findings, verdict: "IDs are accepted only sometimes".to_owned(), ..healthy(target) }
}

fn unreached(target: &str) -> Diagnosis {
    let failure = Failure {
        class: FailureClass::Connect,
        name: "connection_refused".to_owned(),
        message: "cannot connect".to_owned(),
        hint: None,
        local_port: None,
    };
    Diagnosis {
        address: None,
        reached: false,
        failure: Some(failure),
        incomplete: true,
        verdict: "not reached".to_owned(),
        experiments: Vec::new(),
        matrix: Vec::new(),
        connections: 1,
        ..healthy(target)
    }
}

fn hostile() -> Diagnosis {
    let text = format!("{HOSTILE}{}", "x".repeat(100_000));
    let bad = Finding { id: HOSTILE.to_owned(), evidence: vec![text.clone()], ..finding("", Severity::Fault, &text) };
    let mut target = ill(HOSTILE);
    target.findings.push(bad.fixed_by(vec![Remedy { software: Some(HOSTILE.to_owned()), text: text.clone() }]));
    target.experiments.push(ExperimentRecord {
        repeats: 2,
        name: HOSTILE.to_owned(),
        varies: HOSTILE.to_owned(),
        separates: vec![HOSTILE.to_owned()],
        outcome: text.clone(),
        ..target.experiments[0].clone()
    });
    Diagnosis { verdict: text.clone(), software: Some(HOSTILE.to_owned()), warnings: vec![text], seconds: -1.0, ..target }
}

fn document(targets: Vec<Diagnosis>) -> DiagnoseDocument {
    DiagnoseDocument::of(targets, provenance())
}

fn isolation(verdict: IsolationVerdict, to: &str) -> IsolationRecord {
    let came_to = vec!["alert certificate_required".to_owned()];
    IsolationRecord {
        from: "open.example.org".to_owned(),
        to: to.to_owned(),
        holder: None,
        asked: Asked { tls: Version::Tls13, kind: Kind::Ticket },
        session_tls: Version::Tls13,
        full: EntryRecord { connections: 9, let_in: 0, asks_for_certificate: Some(true), came_to },
        offered: 3,
        accepted: 3,
        came_to: Some("HTTP 200".to_owned()),
        verdict,
    }
}

#[test]
fn the_page_shows_what_enters_and_counts_the_rest() {
    let records = vec![
        isolation(IsolationVerdict::Broken, "strict.example.org"),
        isolation(IsolationVerdict::Refused, "other.example.org"),
    ];
    let mut document = document(vec![healthy("strict.example.org")]);
    document.isolation = records;
    let page = |in_full| {
        let shown = Shown { in_full, ..Shown::default() };
        terminal(Report { shown, ..Document::Diagnose(&document).into() }, Style::default())
    };
    let short = page(false);
    assert!(
        in_order(&short, &["Who may enter", "alert certificate_required", "offered elsewhere", "HTTP 200  broken"]),
        "{short}"
    );
    assert!(short.contains("1 other combinations: 1 refused") && !short.contains("  refused"), "{short}");
    assert!(short.lines().all(|line| line.chars().count() <= 100), "{short}");
    let full = page(true);
    assert!(full.contains("  refused") && !full.contains("other combinations"), "{full}");
    let json = serde_json::to_value(&document).unwrap();
    assert_eq!((&json["isolation"][0]["verdict"], &json["isolation"][0]["holder"]), (&"broken".into(), &Value::Null));
}

fn page(targets: Vec<Diagnosis>, shows_experiments: bool) -> String {
    terminal(
        Report {
            shown: Shown { experiments: shows_experiments, ..Shown::default() },
            ..Document::Diagnose(&document(targets)).into()
        },
        Style::default(),
    )
}

fn of_sarif(targets: Vec<Diagnosis>) -> Value {
    serde_json::from_str(&text(&sarif::FORMAT, Document::Diagnose(&document(targets)))).unwrap()
}

fn of_junit(targets: Vec<Diagnosis>) -> Suites {
    Suites::deserialize_from_str(&text(&junit::FORMAT, Document::Diagnose(&document(targets)))).unwrap()
}

/// Whether these texts stand one behind the other.
fn in_order(whole: &str, texts: &[&str]) -> bool {
    texts.iter().try_fold(whole, |rest, text| rest.split_once(text).map(|(_, rest)| rest)).is_some()
}

#[test]
fn the_page_says_the_worst_first_and_what_fixes_it() {
    let page = page(vec![ill("a.example")], false);
    assert!(
        in_order(
            &page,
            &[
                "a.example: IDs are",
                "fault",
                "Costs 1.50 ms",
                "600.0 µs of the server",
                "nginx: ssl_session",
                "risk",
                "note"
            ]
        ),
        "{page}"
    );
    assert!(
        in_order(&page, &["resumed  TLS 1.2 id 1 of 4, TLS 1.2 ticket not given", "fault", "42 connections in 1.2 s"]),
        "{page}"
    );
    assert!(!page.contains("target  "), "one target has no summary: {page}");
}

#[test]
fn notes_that_ask_for_nothing_are_counted_and_shown_in_full() {
    let by_design = || finding("tickets-run-out", Severity::Note, "A connection gives 2 tickets").by_design();
    let target = || Diagnosis { findings: vec![by_design(), by_design()], ..healthy("a.example") };
    let shown = |in_full| Shown { in_full, ..Shown::default() };
    let document = document(vec![target()]);
    let usual = terminal(Document::Diagnose(&document), Style::default());
    assert!(usual.contains("-v also shows: 2 notes that ask for nothing") && !usual.contains("gives 2 tickets"), "{usual}");
    assert!(!usual.contains("reprise explain"), "{usual}");
    let html = text(&html::FORMAT, Document::Diagnose(&document));
    assert!(
        in_order(&html, &["<details class=\"more\"><summary><h2>2 notes that ask for nothing", "gives 2 tickets"]),
        "{html}"
    );
    let in_full = terminal(Report { shown: shown(true), ..Document::Diagnose(&document).into() }, Style::default());
    assert!(in_full.contains("gives 2 tickets") && !in_full.contains("ask for nothing"), "{in_full}");
    let risk = Finding { severity: Severity::Risk, ..by_design() };
    assert!(page(vec![Diagnosis { findings: vec![risk], ..target() }], false).contains("gives 2 tickets"));
}

#[test]
fn a_known_software_is_shown_its_own_remedies() {
    let of_all = reprise_diagnosis::cause("not-offered").unwrap().remedies(None);
    let finding = finding("not-offered", Severity::Fault, "nothing is offered").fixed_by(of_all);
    let page = |software: Option<&str>, in_full| {
        let software = software.map(str::to_owned);
        let target = Diagnosis { findings: vec![finding.clone()], software, ..healthy("a.example") };
        terminal(
            Report { shown: Shown { in_full, ..Shown::default() }, ..Document::Diagnose(&document(vec![target])).into() },
            Style::default(),
        )
    };
    let has = |page: &str| [page.contains("nginx: "), page.contains("HAProxy: ")];
    assert_eq!(has(&page(Some("nginx/1.22.1"), false)), [true, false]);
    assert_eq!(has(&page(Some("nginx/1.22.1"), true)), [true, true]);
    assert_eq!(has(&page(None, true)), [true, true]);
    for unknown in [None, Some("nobody's server")] {
        let page = page(unknown, false);
        assert!(in_order(&page, &["nginx: ", " more: -v, or reprise explain not-offered"]), "{page}");
        assert!(!page.contains("GnuTLS: "), "the most common ones alone: {page}");
    }
}

#[test]
fn further_addresses_of_a_name_are_said_with_how_to_ask_them() {
    let others = |count: u8| (1..=count).map(|last| format!("192.0.2.{last}")).collect::<Vec<_>>();
    let of = |count| page(vec![Diagnosis { other_addresses: others(count), ..healthy("a.example") }], false);
    assert!(!of(0).contains("--resolve"));
    assert!(
        in_order(&of(1), &["address", "only 127.0.0.1 of 2: select another with --resolve ADDRESS (192.0.2.1)"]),
        "{}",
        of(1)
    );
    assert!(of(9).contains("of 10:") && of(9).contains('…') && !of(9).contains("192.0.2.5"), "{}", of(9));
}

#[test]
fn experiments_are_shown_on_request() {
    let targets = || vec![healthy("a.example")];
    assert!(!page(targets(), false).contains("second-use"));
    let shown = page(targets(), true);
    assert!(
        in_order(&shown, &["second-use", "TLS 1.3 ticket", "the same ticket twice", "the second use was refused"]),
        "{shown}"
    );
    assert!(!text(&markdown::FORMAT, Document::Diagnose(&document(targets()))).contains("second-use"));
    assert!(
        text(
            &markdown::FORMAT,
            Report {
                shown: Shown { experiments: true, ..Shown::default() },
                ..Document::Diagnose(&document(targets())).into()
            }
        )
        .contains("(the second use was refused)")
    );
}

#[test]
fn a_chart_shows_what_resumed_of_what_was_offered() {
    let mut target = healthy("a.example");
    let plain = MechanismRecord {
        asked: asked(Version::Tls13, Kind::Ticket),
        given: true,
        lifetime_s: Some([7200, 7200]),
        offered: 6,
        resumed: 6,
    };
    target.matrix.push(plain);
    target.experiments.push(ExperimentRecord {
        name: "no difference".to_owned(),
        offered: 3,
        resumed: 3,
        ..target.experiments[0].clone()
    });
    let page = text(&html::FORMAT, Document::Diagnose(&document(vec![target])));
    let drawn = "Resumed of offered. TLS 1.2 id: nothing varied 1 of 4; TLS 1.3 ticket: nothing varied 6 of 6, \
                 second-use 1 of 2.";
    assert!(page.contains("Offered sessions that resumed") && page.contains(drawn), "{page}");
    assert!(
        !text(&html::FORMAT, Document::Diagnose(&document(vec![unreached("b.example")]))).contains("<svg"),
        "nothing to draw"
    );
    assert!(
        !text(
            &html::FORMAT,
            Report {
                shown: Shown { experiments: true, ..Shown::default() },
                ..Document::Diagnose(&document(vec![hostile()])).into()
            }
        )
        .contains("c'<d>"),
        "text stays text"
    );
}

#[test]
fn several_targets_begin_with_a_row_each() {
    let page = page(vec![ill("a.example"), unreached("b.example"), healthy("c.example")], false);
    let rows: Vec<&str> = page.lines().filter(|line| line.contains(".example") && !line.contains(':')).collect();
    assert_eq!(rows.len(), 3, "{page}");
    assert!(rows[0].split_whitespace().eq(["a.example", "127.0.0.1", "1", "1", "1", "42"]), "{page}");
    assert!(rows[1].contains("not reached"), "{page}");
    assert!(
        in_order(&page, &["not reached", "a.example: ", "b.example: ", "connection_refused", "c.example: resumes"]),
        "{page}"
    );
}

#[test]
fn sarif_is_what_its_schema_asks_for() {
    let mut schema: Value = serde_json::from_str(SCHEMA).unwrap();
    // An unpaired ']', which newer readers of regular expressions refuse; no language is written.
    for language in ["run", "toolComponent"].map(|of| format!("/definitions/{of}/properties/language")) {
        schema.pointer_mut(&language).unwrap().as_object_mut().unwrap().remove("pattern").unwrap();
    }
    let schema = jsonschema::validator_for(&schema).unwrap();
    for targets in [vec![], vec![healthy("a")], vec![ill("a"), unreached("b"), ill("c")], vec![hostile()]] {
        let log = of_sarif(targets);
        let errors: Vec<String> = schema.iter_errors(&log).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0]);
    }
}

#[test]
fn sarif_has_a_rule_a_cause_and_a_result_a_finding() {
    let log = of_sarif(vec![ill("a.example:443"), ill("b.example"), unreached("c.example")]);
    let run = &log["runs"][0];
    let (rules, results) = (run["tool"]["driver"]["rules"].as_array().unwrap(), run["results"].as_array().unwrap());
    assert_eq!((rules.len(), results.len()), (3, 6));
    for result in results {
        assert_eq!(rules[result["ruleIndex"].as_u64().unwrap() as usize]["id"], result["ruleId"]);
    }
    let levels: Vec<&str> = results.iter().take(3).map(|result| result["level"].as_str().unwrap()).collect();
    assert_eq!(levels, ["note", "error", "warning"]);
    assert_eq!(results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "tls://a.example:443");
    assert!(rules[0]["helpUri"].as_str().unwrap().ends_with("/docs/causes/single-use.md"));
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    assert_eq!(run["invocations"][0]["toolExecutionNotifications"].as_array().unwrap().len(), 1);
}

/// As the exit code has it.
#[test]
fn junit_passes_a_possible_fault_but_no_dead_target() {
    let possible = Finding { confidence: Confidence::Possible, ..finding("sni-differs", Severity::Fault, "names differ") };
    let report = of_junit(vec![Diagnosis { findings: vec![possible], ..healthy("a.example") }]);
    assert_eq!((report.failures, report.errors), (0, 0));
    let died = Diagnosis { failure: unreached("").failure, incomplete: true, ..healthy("a.example") };
    assert_eq!(of_junit(vec![died.clone()]).errors, 1);
    assert_eq!(of_sarif(vec![died.clone()])["runs"][0]["invocations"][0]["executionSuccessful"], false);
    assert!(page(vec![died], false).contains("Incomplete"));
}

#[test]
fn junit_fails_faults_and_nothing_else() {
    let report = of_junit(vec![ill("a.example"), unreached("b.example"), healthy("c.example")]);
    assert_eq!((report.tests, report.failures, report.errors), (4 + 1 + 2, 1, 1));
    let [ill, unreached, healthy] = report.test_suites.as_slice() else { panic!("{report:?}") };
    let names: Vec<&str> = ill.test_cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names, ["reached", "id-cache-per-process", "node-certificate-differs", "single-use"]);
    let TestCaseStatus::NonSuccess { kind, message, ty, .. } = &ill.test_cases[1].status else { panic!("{ill:?}") };
    assert_eq!((kind, ty.as_ref().unwrap().as_str()), (&NonSuccessKind::Failure, "likely"));
    assert_eq!(message.as_ref().unwrap().as_str(), "IDs are accepted only sometimes");
    assert!(ill.test_cases[2].system_out.as_ref().unwrap().as_str().starts_with("risk, likely: certificates differ"));
    assert!(matches!(&unreached.test_cases[0].status, TestCaseStatus::NonSuccess { kind: NonSuccessKind::Error, .. }));
    assert!(healthy.test_cases.iter().all(|case| matches!(case.status, TestCaseStatus::Success { .. })));
}

#[test]
fn hostile_text_stays_text_in_every_format() {
    let targets = || vec![hostile(), healthy("b")];
    let terminal = page(targets(), true);
    assert!(!terminal.contains(|letter: char| letter.is_control() && letter != '\n'));
    let markdown = text(
        &markdown::FORMAT,
        Report { shown: Shown { experiments: true, ..Shown::default() }, ..Document::Diagnose(&document(targets())).into() },
    );
    assert!(!markdown.contains(|letter: char| letter.is_control() && letter != '\n') && !markdown.contains("<d>"));
    assert_eq!(of_sarif(targets())["runs"][0]["results"].as_array().unwrap().len(), 4);
    assert_eq!(of_junit(targets()).test_suites.len(), 2);
    let table = text(&csv::FORMAT, Document::Diagnose(&document(targets())));
    let rows = ::csv::Reader::from_reader(table.as_bytes()).records().collect::<Result<Vec<_>, _>>().unwrap();
    assert_eq!((rows.len(), rows[3].len(), &rows[3][0]), (4, 6, HOSTILE));
}
