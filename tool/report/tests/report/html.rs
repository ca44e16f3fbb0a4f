//! Pages as HTML: what a server says stays text, every part of a page is there, a large result stays a small page, and the
//! colours can be told from their ground.

use std::collections::BTreeMap;
use std::fs;

use reprise_model::document::{MeasureDocument, SampleRecord};
use reprise_report::{Document, cause_page, html, json};
use serde_json::Value;

use crate::{DOCUMENTS, read, tests, text, with};

/// Ends a quoted attribute, a tag, a comment and a style, and turns the direction of text.
const HOSTILE: &str = "\"'></title></style>--><script>alert(1)</script><img src=x onerror=alert(1)>\u{202e}\u{0}";

/// Replaces each string of a document, one at a time, and looks at the page.
#[test]
fn no_string_of_a_document_becomes_markup() {
    let mut tried = 0;
    for name in DOCUMENTS {
        let source: Value = read(name);
        let mut places = Vec::new();
        strings(&source, String::new(), &mut places);
        for place in places {
            let mut value = source.clone();
            *value.pointer_mut(&place).unwrap() = HOSTILE.into();
            // Many are names out of a fixed set.
            let Some(page) = with(value, |document| text(&html::FORMAT, document)) else { continue };
            tried += 1;
            for markup in ["<script", "<img", "-->", "onerror=alert(1)>"] {
                assert!(!page.contains(markup), "{markup} by {place} of {name}");
            }
            let ends = page.matches("</title></head>").count() + page.matches("</style></head>").count();
            assert_eq!(ends, 1, "{place} of {name}");
            assert!(!page.contains(['\u{202e}', '\u{0}']), "{place} of {name}");
        }
    }
    assert!(tried > 200, "only {tried} strings were replaced");
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
    let cases: [(&str, &[&str]); 4] = [
        ("load", &["Connections completed each second", "Latency by percentile", ">p99.9</text>", "latency, ms</text>"]),
        ("load-sweep", &["Server processor time for each connection", "line of least squares"]),
        ("sampled", &["How long handshakes take", "What resuming gains", "% of connections</text>"]),
        ("mutual", &["class=\"arrow skipped\"", "The same as a table"]),
    ];
    for (name, parts) in cases {
        let page = page(name);
        parts.iter().for_each(|part| assert!(page.contains(part), "{part} of {name}: {page}"));
    }
}

#[test]
fn a_chart_says_what_the_table_says_to_the_digit() {
    // Those of these are in no table of the page.
    for name in DOCUMENTS.into_iter().filter(|name| !name.starts_with("diagnose") && *name != "speed") {
        let page = page(name);
        let cells: Vec<String> = after(&page, "<td class=\"figures").into_iter().map(value).collect();
        for shown in after(&page, "<text class=\"value\"") {
            let shown = value(shown);
            let figure = shown.trim_end_matches('×').split(' ').next().unwrap();
            assert!(cells.iter().any(|cell| cell == figure), "{shown} of {name} in none of {cells:?}");
        }
    }
}

/// What stands behind each of these.
fn after<'p>(page: &'p str, mark: &str) -> Vec<&'p str> {
    page.split(mark).skip(1).collect()
}

/// The value of a cell, without its spread.
fn value(cell: &str) -> String {
    let (_, text) = cell.split_once('>').unwrap();
    text.split(['<', '±']).next().unwrap().trim().to_owned()
}

#[test]
fn what_is_worse_is_not_green() {
    for name in ["nginx", "refused", "away", "sampled"] {
        let page = page(name);
        let gains = after(&page, "<td class=\"figures better\"");
        assert!(name == "refused" || !gains.is_empty(), "{name}: {page}");
        gains.into_iter().map(value).for_each(|gain| assert!(!gain.starts_with('−') && gain != "0", "{gain} of {name}"));
        // A row is green but for those that are no gain.
        for row in after(&page, "<tr class=\"gain\">") {
            let row = row.split("</tr>").next().unwrap();
            after(row, "<td class=\"figures\"")
                .into_iter()
                .map(value)
                .for_each(|cell| assert_eq!(cell, "", "{name}: {row}"));
        }
    }
}

#[test]
fn an_axis_of_equal_ratios_says_so() {
    for (name, label) in [("nginx", "full handshake (log scale)"), ("compare", "both sides, µs (log scale)")] {
        assert!(page(name).contains(label), "{label} of {name}");
    }
}

#[test]
fn a_drawing_has_no_empty_bar_and_no_legend_without_one() {
    let page = page("explain");
    let charts = after(&page, "<figure>").into_iter().map(|chart| chart.split("</figure>").next().unwrap());
    for chart in charts {
        for (index, part) in ["the client", "the server", "the network", "meanwhile"].iter().enumerate() {
            let class = format!("<rect class=\"f{index}\" x=");
            assert_eq!(chart.contains(&class), chart.split("legend").nth(1).unwrap().contains(part), "{part}: {chart}");
        }
        after(chart, "<text class=\"value\"").iter().for_each(|shown| assert_ne!(value(shown), "0.0", "{chart}"));
    }
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
    let style = fs::read_to_string(tests().join("../../page/src/html/style.css")).unwrap();
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
    let mut pages: Vec<String> = DOCUMENTS.into_iter().map(page).collect();
    pages.push(reprise_page::html::render(&cause_page::list(reprise_diagnosis::causes())));
    pages.extend(reprise_diagnosis::causes().map(|cause| reprise_page::html::render(&cause_page::page(cause))));
    pages
}

fn page(name: &str) -> String {
    with(read(name), |document| text(&html::FORMAT, document)).unwrap()
}
