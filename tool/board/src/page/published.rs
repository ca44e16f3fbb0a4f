//! What two reports published for real boards, each figure with its verdict.

use crate::document::PublishedFigure;
use reprise_page::Block;

use super::{Figure, Rows, part};

/// A table of the requests' sums, one of all figures, and why some of them differ.
pub(super) fn published(figures: &[PublishedFigure]) -> Vec<Vec<Block>> {
    let table = Rows::of(figures)
        .words("figure", name)
        .figures("published", "", |it| Figure::plain(amount(it, it.published)))
        .figures("here", "", |it| Figure::plain(amount(it, it.measured)))
        .words("verdict", verdict);
    // One reason may be that of several figures.
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for figure in figures.iter().filter(|it| !it.within && !it.fitted) {
        let why = why(&figure.id);
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(name(figure)),
            None => reasons.push((why, vec![name(figure)])),
        }
    }
    let within = "Within: by a quarter of what was published at most. Fitted: the model takes it for granted.".to_owned();
    let reasons = reasons.into_iter().map(|(why, names)| format!("{}: {why}", names.join("; ")));
    let notes = std::iter::once(within).chain(reasons).collect();
    let all = part("Every published figure, and what it is here", table.table(), notes);
    [sums(figures), all].into_iter().filter(|part| !part.is_empty()).collect()
}

/// What a request to the ESP8266 is made of.
fn sums(figures: &[PublishedFigure]) -> Vec<Block> {
    let mut rows = Vec::new();
    for figure in figures {
        rows.extend(["new", "reused"].into_iter().zip(&figure.times).map(|(session, time)| (figure, session, time)));
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let rounded = |ms: f64| Figure::plain(format!("{ms:.1}"));
    let table = Rows::of(rows)
        .words("request", |(figure, _, _)| name(figure))
        .words("session", |(_, session, _)| (*session).to_owned())
        .figures("computing", "", |(_, _, time)| rounded(time.computing_ms))
        .figures("waiting", "", |(_, _, time)| rounded(time.waiting_ms))
        .figures("network", "", |(_, _, time)| rounded(time.network_ms))
        .figures("sum", "", |(_, _, time)| rounded(time.sum_ms()));
    let note = "Computing is instructions at one factor, waiting is round trips of 6 ms, as that board's connections took, and \
                network what else one reused request took: framework, radio, client. Factor and network are fitted on RSA with the raw server. The group is X25519.";
    part("A request to a real ESP8266, ms", table.table(), vec![note.to_owned()])
}

/// The row of the report.
fn name(figure: &PublishedFigure) -> String {
    let known = NAMES.iter().find(|(id, _)| *id == figure.id).map_or(figure.id.as_str(), |(_, name)| name);
    match figure.key {
        Some(key) => format!("{known}, {}", key.name()),
        None => known.to_owned(),
    }
}

const NAMES: &[(&str, &str)] = &[
    ("esp8266-raw", "ESP8266: new against reused, raw server"),
    ("esp8266-web", "ESP8266: new against reused, web server"),
    ("esp8266-setup", "ESP8266: TLS setup, new against reused"),
    ("esp8266-setup-new", "ESP8266: TLS setup, new"),
    ("esp8266-setup-reused", "ESP8266: TLS setup, reused"),
    ("esp8266-wait", "ESP8266: waiting, new against reused"),
    ("esp8266-wait-new", "ESP8266: waiting, new"),
    ("esp8266-wait-reused", "ESP8266: waiting, reused"),
    ("esp8266-total", "ESP8266: without connecting, new against reused"),
    ("esp8266-total-new", "ESP8266: without connecting, new"),
    ("esp8266-total-reused", "ESP8266: without connecting, reused"),
    ("esp8266-raw-off", "ESP8266: cache off against before, raw server"),
    ("esp8266-raw-on", "ESP8266: cache on against before, new sessions, raw server"),
    ("esp8266-web-off", "ESP8266: cache off against before, web server"),
    ("esp8266-web-on", "ESP8266: cache on against before, new sessions, web server"),
    ("rp2040-bearssl-Os", "RP2040: BearSSL"),
    ("rp2040-mbedtls2-Os", "RP2040: the board's own Mbed TLS, -Os"),
    ("rp2040-mbedtls3-O3-rom-tables", "RP2040: Mbed TLS 3.6, -O3, tables in ROM"),
    ("rp2040-newer", "RP2040: Mbed TLS, old against new, both -Os"),
    ("rp2040-faster", "RP2040: Mbed TLS 3.6, -Os against -O3"),
    ("rp2040-newer-and-faster", "RP2040: Mbed TLS, old at -Os against new at -O3"),
    ("rp2040-bearssl-faster", "RP2040: BearSSL, -Os against -O3"),
    ("rp2040-rest", "RP2040: the rest of a session, at most"),
    ("rp2040-memory-bearssl", "RP2040: a connection, BearSSL"),
    ("rp2040-memory-bearssl-half", "RP2040: a connection, BearSSL with one buffer"),
    ("rp2040-memory-mbedtls2", "RP2040: a connection, the board's own Mbed TLS"),
    ("rp2040-memory-mbedtls3", "RP2040: a connection, Mbed TLS 3.6"),
];

fn amount(figure: &PublishedFigure, value: f64) -> String {
    match figure.unit.as_str() {
        "ratio" if value < 1.5 => format!("{value:.3}"),
        "ratio" => format!("{value:.1}"),
        "s" => format!("{value:.2} s"),
        unit => format!("{value:.1} {unit}"),
    }
}

fn verdict(figure: &PublishedFigure) -> String {
    // No zero has a sign.
    let percent = (figure.error * 100.0).round() + 0.0;
    match (figure.fitted, figure.within) {
        (true, _) => "fitted".to_owned(),
        // The report says no more than a bound.
        (_, true) if figure.id == "rp2040-rest" => "within".to_owned(),
        (_, true) => format!("within, {percent:+.0} %"),
        _ => format!("differs, {percent:+.0} %"),
    }
}

/// Why a figure differs, and what was tried.
fn why(id: &str) -> &'static str {
    match id {
        "esp8266-web" => {
            "that web server takes its request apart with strings on the heap: a reused request took 9 ms longer than the raw server's. \
             Ours takes a fraction of a millisecond."
        }
        "esp8266-setup" | "esp8266-setup-reused" | "esp8266-total" | "esp8266-total-reused" => {
            "a browser's panel, read off once for each key. With RSA a cached session's set-up took 39 ms, with P-256 84, though both skip \
             the key; 84 ms are more than the 59 ms of the same report's whole reused requests, of which its script made a hundred. \
             What is modelled here is one round trip and the instructions."
        }
        "esp8266-wait" | "esp8266-wait-new" => {
            "the instructions for a request are the same in a new session and in a reused one. What a new one took longer, 81 ms with RSA and \
             25 with P-256, is not computed, and no round trip of that link takes as long. It was read off a browser once."
        }
        "esp8266-wait-reused" => "one request of a browser, read off once, on a link that is not modelled.",
        "rp2040-faster" => {
            "the report's own seconds do not have it for RSA: twice by the version and 1.5 times by -O3 would be 3, and 2.6 s to 1.3 s is 2. \
             Nor is it the flash cache: the few functions that have most of the instructions are smaller together than its 16 kB."
        }
        "rp2040-newer" => {
            "the report says twice for both keys. They are further apart here, RSA below and the curve above. The board's own version and \
             its settings are not known. The two steps together, version and -O3, are within."
        }
        "rp2040-mbedtls2-Os" => {
            "version and settings of the board's own Mbed TLS are not known. Without its assembler P-384 fits, and RSA-1024 does not: see \
             the alternative above."
        }
        _ => "no explanation was found.",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn figure(id: &str, published: f64, measured: f64) -> PublishedFigure {
        let error = measured / published - 1.0;
        let figure = json!({
            "id": id, "key": "rsa-1024", "unit": "ratio", "published": published, "measured": measured, "error": error,
            "within": error.abs() < 0.25, "fitted": false,
        });
        serde_json::from_value(figure).unwrap()
    }

    #[test]
    fn what_differs_has_its_reason_once() {
        let figures =
            [figure("rp2040-newer", 2.0, 1.4), figure("rp2040-newer", 2.0, 2.6), figure("rp2040-faster", 1.5, 1.4)];
        let blocks = published(&figures);
        let notes: Vec<&String> =
            blocks.iter().flatten().filter_map(|it| if let Block::Aside(note) = it { Some(note) } else { None }).collect();
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert!(notes[1].contains("the report says twice"), "{notes:?}");
        assert_eq!(verdict(&figures[0]), "differs, -30 %");
        assert_eq!(verdict(&figures[2]), "within, -7 %");
    }

    /// Whoever adds a figure names it, and says why it differs, should it.
    #[test]
    fn every_figure_has_a_name_of_its_own() {
        let mut ids: Vec<&str> = NAMES.iter().map(|(id, _)| *id).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }
}
