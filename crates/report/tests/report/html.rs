//! Pages as HTML: what a server says stays text, every part of a page is there, a large result stays a small page, and the
//! colours can be told from their ground.

use std::collections::BTreeMap;
use std::fs;

use reprise_board::document::BoardDocument;
use reprise_model::document::{
    CompareDocument, LabDocument, LayersDocument, LoadDocument, MeasureDocument, SampleRecord, TraceDocument,
};
use reprise_report::{Document, html, json};
use serde_json::Value;

use crate::{read, source, tests, text};

const MEASURED: [&str; 4] = ["nginx", "refused", "away", "sampled"];
const TRACED: [&str; 2] = ["mutual", "ticket-refused"];

/// Ends a quoted attribute, a tag, a comment and a style, and turns the direction of text.
const HOSTILE: &str = "\"'></title></style>--><script>alert(1)</script><img src=x onerror=alert(1)>\u{202e}\u{0}";

#[test]
fn no_string_of_a_document_becomes_markup() {
    let mut tried = 0;
    for name in MEASURED {
        tried += assert_inert(&source(name), |it: MeasureDocument| text(&html::FORMAT, Document::Measure(&it)));
    }
    for name in TRACED {
        tried += assert_inert(&source(name), |it: TraceDocument| text(&html::FORMAT, Document::Trace(&it)));
    }
    tried += assert_inert(&source("lab"), |it: LabDocument| text(&html::FORMAT, Document::Lab(&it)));
    tried += assert_inert(&source("load"), |it: LoadDocument| text(&html::FORMAT, Document::Load(&it)));
    tried += assert_inert(&source("compare"), |it: CompareDocument| text(&html::FORMAT, Document::Compare(&it)));
    tried += assert_inert(&source("board"), |it: BoardDocument| text(&html::FORMAT, Document::Board(&it)));
    tried += assert_inert(&source("layers"), |it: LayersDocument| text(&html::FORMAT, Document::Layers(&it)));
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
fn charts_show_what_was_read() {
    let page = text(&html::FORMAT, Document::Load(&read("load")));
    for part in ["Connections completed each second", "Latency by percentile", ">p99.9</text>", "latency, ms</text>"] {
        assert!(page.contains(part), "{part}");
    }
    let page = text(&html::FORMAT, Document::Measure(&read("sampled")));
    for part in ["How long handshakes take", "What resuming gains", "% of connections</text>"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let page = text(&html::FORMAT, Document::Trace(&read("mutual")));
    assert!(page.contains("class=\"arrow skipped\"") && page.contains("The same as a table"), "{page}");
}

#[test]
fn a_result_of_ten_megabytes_is_a_small_page() {
    let mut document: MeasureDocument = read("sampled");
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
    let saved = text(&json::FORMAT, Document::Measure(&document));
    assert!(saved.len() > 10_000_000, "{} bytes of JSON", saved.len());
    let page = text(&html::FORMAT, Document::Measure(&document));
    assert!(page.len() < 100_000, "{} bytes of HTML", page.len());
}

/// Every colour of text against what it stands on, by WCAG 2.2, 1.4.3 and 1.4.11, in both modes.
#[test]
fn colours_can_be_told_from_their_ground() {
    let style = fs::read_to_string(tests().join("../src/html/style.css")).unwrap();
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

fn pages() -> Vec<String> {
    let mut pages: Vec<String> = MEASURED.iter().map(|name| text(&html::FORMAT, Document::Measure(&read(name)))).collect();
    pages.extend(TRACED.iter().map(|name| text(&html::FORMAT, Document::Trace(&read(name)))));
    pages.push(text(&html::FORMAT, Document::Lab(&read("lab"))));
    pages.push(text(&html::FORMAT, Document::Load(&read("load"))));
    pages.push(text(&html::FORMAT, Document::Compare(&read("compare"))));
    pages.push(text(&html::FORMAT, Document::Board(&read("board"))));
    pages.push(text(&html::FORMAT, Document::Layers(&read("layers"))));
    pages.push(html::causes(reprise_diagnosis::causes()));
    pages.extend(reprise_diagnosis::causes().map(html::cause));
    pages
}
