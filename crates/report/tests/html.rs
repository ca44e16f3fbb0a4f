//! Pages as HTML: what a server says stays text, every part of a page is there, a large result stays a small page, and the
//! colours can be told from their ground.

// What a helper of a test unwraps is as good as an assertion.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use reprise_board::document::BoardDocument;
use reprise_model::document::{
    CompareDocument, LabDocument, LayersDocument, LoadDocument, MeasureDocument, SampleRecord, TraceDocument,
};
use reprise_report::{Shown, har, html, json};
use serde_json::Value;

const MEASURED: [&str; 4] = ["nginx", "refused", "away", "sampled"];
const TRACED: [&str; 2] = ["mutual", "ticket-refused"];

/// Ends a quoted attribute, a tag, a comment and a style, and turns the direction of text.
const HOSTILE: &str = "\"'></title></style>--><script>alert(1)</script><img src=x onerror=alert(1)>\u{202e}\u{0}";

#[test]
fn no_string_of_a_document_becomes_markup() {
    let mut tried = 0;
    for name in MEASURED {
        tried += assert_inert(&source(name), |it: MeasureDocument| html::measure(&it, Shown::default()));
    }
    for name in TRACED {
        tried += assert_inert(&source(name), |it: TraceDocument| html::trace(&it));
    }
    tried += assert_inert(&source("lab"), |it: LabDocument| html::lab(&it));
    tried += assert_inert(&source("load"), |it: LoadDocument| html::load(&it));
    tried += assert_inert(&source("compare"), |it: CompareDocument| html::compare(&it));
    tried += assert_inert(&source("board"), |it: BoardDocument| html::board(&it));
    tried += assert_inert(&source("layers"), |it: LayersDocument| html::layers(&it));
    assert!(tried > 200, "only {tried} strings were replaced");
}

/// Replaces each string of a document, one at a time, and looks at the page. Returns how many of them the document took.
fn assert_inert<T: serde::de::DeserializeOwned>(source: &str, page: impl Fn(T) -> String) -> usize {
    let document: Value = serde_json::from_str(source).unwrap();
    let mut places = Vec::new();
    strings(&document, String::new(), &mut places);
    let mut tried = 0;
    for place in places {
        let mut document = document.clone();
        *document.pointer_mut(&place).unwrap() = HOSTILE.into();
        // Many are names out of a fixed set.
        let Ok(document) = serde_json::from_value(document) else { continue };
        let page = page(document);
        tried += 1;
        for markup in ["<script", "<img", "-->", "onerror=alert(1)>"] {
            assert!(!page.contains(markup), "{markup} by {place}");
        }
        assert_eq!(page.matches("</title></head>").count() + page.matches("</style></head>").count(), 1, "{place}");
        assert!(!page.contains(['\u{202e}', '\u{0}']), "{place}");
    }
    tried
}

/// The places of strings, in the first two of each list: the rest is as they are.
fn strings(value: &Value, place: String, places: &mut Vec<String>) {
    match value {
        Value::String(_) => places.push(place),
        Value::Array(items) => {
            let shown = items.iter().enumerate().take(2);
            shown.for_each(|(index, item)| strings(item, format!("{place}/{index}"), places));
        }
        Value::Object(fields) => {
            let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
            fields.iter().for_each(|(name, item)| strings(item, format!("{place}/{}", escaped(name)), places));
        }
        _ => {}
    }
}

#[test]
fn a_page_loads_and_runs_nothing() {
    for page in pages() {
        assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\">"), "{page}");
        assert!(page.contains("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';"), "{page}");
        for what in ["<script", "<link", "<iframe", "<object", " src=", " href=", "url(", "@import"] {
            assert!(!page.contains(what), "{what}: {page}");
        }
    }
}

#[test]
fn headings_go_down_by_one() {
    for page in pages() {
        let levels: Vec<u32> =
            page.match_indices("<h").filter_map(|(at, _)| page[at + 2..].chars().next()?.to_digit(10)).collect();
        assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1, "{page}");
        assert_eq!(levels.first(), Some(&1));
        assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}: {page}");
    }
}

#[test]
fn every_drawing_has_a_name_and_a_description() {
    for page in pages() {
        for drawing in page.split("<svg").skip(1).map(|rest| rest.split("</svg>").next().unwrap()) {
            let is_named = drawing.contains("role=\"img\"") && drawing.contains("<title") && drawing.contains("<desc");
            assert!(is_named || drawing.contains("aria-hidden=\"true\""), "{drawing}");
        }
        let ids: Vec<&str> = page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        assert!(ids.iter().all(|id| ids.iter().filter(|other| *other == id).count() == 1), "{ids:?}");
    }
}

#[test]
fn charts_show_what_was_measured() {
    let page = html::load(&serde_json::from_str(&source("load")).unwrap());
    for part in ["Connections completed each second", "Latency by percentile", ">p99.9</text>", "latency, ms</text>"] {
        assert!(page.contains(part), "{part}");
    }
    let page = html::measure(&measured("sampled"), Shown::default());
    for part in ["How long handshakes take", "What resuming gains", "% of connections</text>"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let page = html::trace(&serde_json::from_str(&source("mutual")).unwrap());
    assert!(page.contains("class=\"arrow skipped\"") && page.contains("The same as a table"), "{page}");
}

#[test]
fn a_result_of_ten_megabytes_is_a_small_page() {
    let mut document = measured("sampled");
    let asked = document.runs[0].asked;
    let sample = |index: u32| SampleRecord {
        index: Some(index),
        asked,
        kind: asked.kind,
        phases: reprise_model::Phases {
            tls: Some(reprise_model::Nanos(1_000_000 + u64::from(index))),
            ..document.samples[0].phases
        },
        ..document.samples[0].clone()
    };
    document.samples = (0..30_000).map(sample).collect();
    let mut saved = Vec::new();
    json::write(&document, &mut saved).unwrap();
    assert!(saved.len() > 10_000_000, "{} bytes of JSON", saved.len());
    let page = html::measure(&document, Shown::default());
    assert!(page.len() < 100_000, "{} bytes of HTML", page.len());
}

/// Every colour of text against what it stands on, by WCAG 2.2, 1.4.3 and 1.4.11, in both modes.
#[test]
fn colours_can_be_told_from_their_ground() {
    let style = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/html/style.css")).unwrap();
    let modes: Vec<BTreeMap<&str, &str>> = style.split(":root {").skip(1).map(variables).collect();
    assert_eq!(modes.len(), 3, "light, dark, print");
    for colors in modes {
        for text in ["text", "quiet", "fault", "warning", "gain", "accent"] {
            for ground in ["page", "shade"] {
                let contrast = contrast(colors[text], colors[ground]);
                assert!(contrast >= 4.5, "--{text} on --{ground}: {contrast:.2}");
            }
        }
        for line in ["c0", "c1", "c2", "c3", "c4", "c5"] {
            let contrast = contrast(colors[line], colors["page"]);
            assert!(contrast >= 3.0, "--{line}: {contrast:.2}");
        }
    }
}

/// `--name: #value` up to the closing brace.
fn variables(rule: &str) -> BTreeMap<&str, &str> {
    let declarations = rule.split('}').next().unwrap().split(';');
    let pairs = declarations.filter_map(|it| it.trim().strip_prefix("--")?.split_once(": #"));
    pairs.collect()
}

fn contrast(one: &str, other: &str) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// Relative luminance of `rrggbb` or `rgb` in sRGB, as WCAG defines it.
fn luminance(color: &str) -> f64 {
    let digits: String = if color.len() == 3 { color.chars().flat_map(|it| [it, it]).collect() } else { color.to_owned() };
    let channel = |at: usize| {
        let value = f64::from(u8::from_str_radix(&digits[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(0) + 0.7152 * channel(2) + 0.0722 * channel(4)
}

#[test]
fn an_archive_has_what_was_observed_and_nothing_else() {
    let mut archive = Vec::new();
    let document = measured("sampled");
    har::measure(&document, &mut archive).unwrap();
    let archive: Value = serde_json::from_slice(&archive).unwrap();
    assert_valid(&archive);
    let entries = archive["log"]["entries"].as_array().unwrap();
    assert_eq!(entries.len(), document.samples.len());
    let ports: Vec<String> = document.samples.iter().map(|sample| sample.local_port.to_string()).collect();
    for (entry, sample) in entries.iter().zip(&document.samples) {
        assert!(ports.iter().any(|port| entry["connection"] == port.as_str()));
        let timings = &entry["timings"];
        let [connect, ssl] = ["connect", "ssl"].map(|name| timings[name].as_f64().unwrap());
        assert!(connect > ssl && ssl > 0.0, "{timings}");
        assert_eq!(timings["dns"].as_f64() == Some(-1.0), sample.phases.resolve.is_none());
        assert_eq!(entry["response"]["headersSize"], -1);
    }
}

#[test]
fn both_connections_of_a_trace_are_entries() {
    for name in TRACED {
        let mut document: TraceDocument = serde_json::from_str(&source(name)).unwrap();
        for (place, trace) in document.traces.iter_mut().enumerate() {
            for (after, connection) in [&mut trace.full, &mut trace.resumed].into_iter().flatten().enumerate() {
                connection.start_ns = Some((2 * place + after) as u64 * 7_000_000);
            }
        }
        let mut archive = Vec::new();
        har::trace(&document, &mut archive).unwrap();
        let archive: Value = serde_json::from_slice(&archive).unwrap();
        assert_valid(&archive);
        let entries = archive["log"]["entries"].as_array().unwrap();
        assert_eq!(entries.len(), 2 * document.traces.len());
        let starts: Vec<&str> = entries.iter().map(|entry| entry["startedDateTime"].as_str().unwrap()).collect();
        assert!(starts.windows(2).all(|pair| pair[0] != pair[1]), "each begins at its own time: {starts:?}");
        assert!(archive["log"]["entries"][0]["comment"].as_str().unwrap().contains("observed: full"));
    }
}

/// Against the published JSON Schema of HAR 1.2.
fn assert_valid(archive: &Value) {
    let schema = fs::read_to_string(tests().join("har-1.2/schema.json")).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(archive).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert_eq!(errors, [""; 0]);
}

fn pages() -> Vec<String> {
    let mut pages: Vec<String> = MEASURED.iter().map(|name| html::measure(&measured(name), Shown::default())).collect();
    pages.extend(TRACED.iter().map(|name| html::trace(&serde_json::from_str(&source(name)).unwrap())));
    pages.push(html::lab(&serde_json::from_str(&source("lab")).unwrap()));
    pages.push(html::load(&serde_json::from_str(&source("load")).unwrap()));
    pages.push(html::compare(&serde_json::from_str(&source("compare")).unwrap()));
    pages.push(html::board(&serde_json::from_str(&source("board")).unwrap()));
    pages.push(html::layers(&serde_json::from_str(&source("layers")).unwrap()));
    pages.push(html::causes(reprise_diagnosis::causes()));
    pages.extend(reprise_diagnosis::causes().map(html::cause));
    pages
}

fn measured(name: &str) -> MeasureDocument {
    serde_json::from_str(&source(name)).unwrap()
}

fn source(name: &str) -> String {
    fs::read_to_string(tests().join(format!("documents/{name}.json"))).unwrap()
}

fn tests() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"))
}
