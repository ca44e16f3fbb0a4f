//! The same TLS servers on emulated microcontrollers: handshakes, memory, flash, and how far the model is from a real board.

use reprise_board::document::{BoardCalibration, BoardDocument, BoardHandshake, Esp8266};
use reprise_board::{Key, ResponseMode};
use reprise_model::Kind;

use super::{Block, Page, source};
use crate::chart::{Bar, BarGroup, Bars, Chart};
use crate::table::{Column, Line, Table, Tone};

/// All that is shown of the boards.
pub(crate) fn board(document: &BoardDocument) -> Page {
    let mut blocks: Vec<Block> = chart(document).map(Block::Chart).into_iter().collect();
    blocks.extend(parts(document).into_iter().flat_map(Part::into_blocks));
    if document.interrupted {
        blocks.push(Block::warning("Incomplete: this was measured until then"));
    }
    blocks.extend(document.left_out.iter().map(|why| Block::Aside(format!("Left out: {why}"))));
    blocks.push(source(&document.provenance));
    Page::new("board", "TLS on microcontrollers", blocks)
}

/// A heading, a grid and sentences below it.
struct Part {
    title: String,
    head: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    notes: Vec<String>,
}

impl Part {
    fn into_blocks(self) -> Vec<Block> {
        let mut blocks = vec![Block::Heading(self.title)];
        if !self.rows.is_empty() {
            let starts_as_figure =
                |text: &str| text.starts_with(|first: char| first.is_ascii_digit() || "−+–".contains(first));
            let is_figures = |index: usize| {
                self.rows.iter().filter_map(|row| row.get(index)).all(|text| text.is_empty() || starts_as_figure(text))
            };
            let column = |(index, name): (usize, &&str)| match index > 0 && is_figures(index) {
                true => Column::figures(name, ""),
                false => Column::words(name),
            };
            let columns = self.head.iter().enumerate().map(column).collect();
            let row = |cells| Line::row(cells, Tone::Plain);
            blocks.push(Block::Table(Table { columns, lines: self.rows.into_iter().map(row).collect() }));
        }
        let notes = self.notes.into_iter().filter(|note| !note.is_empty());
        blocks.extend(notes.map(Block::Aside));
        blocks
    }
}

/// A full handshake and a resumed one of each image and key, in instructions.
fn chart(document: &BoardDocument) -> Option<Chart> {
    let full: Vec<&BoardHandshake> = document.handshakes.iter().filter(|row| row.kind == Kind::Full).collect();
    let bar = |name: String, row: &BoardHandshake| Bar { name, parts: vec![row.handshake.instructions as f64 / 1e6] };
    let groups: Vec<BarGroup> = full
        .iter()
        .map(|row| {
            let resumed = resumption(document, row);
            let bars = [bar("full".to_owned(), row)]
                .into_iter()
                .chain(resumed.map(|it| bar(format!("resumed by {}", it.kind), it)));
            BarGroup { name: format!("{}, {}", image_and_library(document, row), row.key.name()), bars: bars.collect() }
        })
        .collect();
    let bars = Bars { label: "million instructions".to_owned(), parts: Vec::new(), groups };
    bars.into_chart("Instructions of a handshake on the server")
}

fn parts(document: &BoardDocument) -> Vec<Part> {
    let mut parts = vec![handshakes(document), memory(document), sizes(document)];
    if !document.requests.is_empty() {
        parts.push(requests(document));
    }
    parts.extend(cache(document));
    parts.extend(document.calibration.as_ref().map(|it| calibration(it, document)));
    parts.extend(document.esp8266.as_ref().map(esp8266));
    parts
}

fn handshakes(document: &BoardDocument) -> Part {
    let mut rows = Vec::new();
    for row in document.handshakes.iter().filter(|row| row.kind == Kind::Full) {
        let resumed = resumption(document, row);
        rows.push(vec![
            image_and_library(document, row),
            row.key.name().to_owned(),
            format!("{} · {}", suite(&row.cipher), row.group.as_deref().unwrap_or("–")),
            millions(row.handshake.instructions),
            milliseconds(row.modelled_ns),
            resumed.map_or(String::new(), |row| millions(row.handshake.instructions)),
            resumed.map_or(String::new(), |row| milliseconds(row.modelled_ns)),
            resumed.map_or(String::new(), |resumed| {
                format!("{:.0}", row.handshake.instructions as f64 / resumed.handshake.instructions.max(1) as f64)
            }),
            millions(row.application.instructions),
        ]);
    }
    let runs = document.handshakes.first().map_or(0, |row| row.runs);
    let identical = document.handshakes.iter().all(|row| row.identical);
    Part {
        title: format!("Handshakes on a Cortex-M0+ at {} MHz", document.clock_hz as f64 / 1e6),
        head: vec![
            "image",
            "key",
            "suite · group",
            "full M instr",
            "ms",
            "resumed M instr",
            "ms",
            "ratio",
            "request M instr",
        ],
        rows,
        notes: vec![
            round_trips_note(document),
            format!(
                "{} Milliseconds are modelled: ARM's cycles, zero wait states.",
                match runs {
                    0 => "Nothing was measured.".to_owned(),
                    1 => "Each image was booted once.".to_owned(),
                    _ => format!("Each image was booted {runs} times, and the counts were {}.", same(identical)),
                }
            ),
            witness_note(document),
        ],
    }
}

/// The resumed handshake that belongs to a full one.
fn resumption<'d>(document: &'d BoardDocument, full: &BoardHandshake) -> Option<&'d BoardHandshake> {
    let belongs = |it: &&BoardHandshake| it.kind != Kind::Full && it.key == full.key && is_of_same_code(it, full);
    document.handshakes.iter().find(belongs)
}

/// Whether the same library in the same image computed both.
fn is_of_same_code(one: &BoardHandshake, other: &BoardHandshake) -> bool {
    (&one.image, &one.stack) == (&other.image, &other.stack)
}

/// An image's short name, and which of its libraries this is, where it has several.
fn image_and_library(document: &BoardDocument, row: &BoardHandshake) -> String {
    let image = short(&row.image);
    let has_several = document.handshakes.iter().any(|other| other.image == row.image && other.stack != row.stack);
    if has_several { format!("{image}: {}", row.stack) } else { image }
}

fn same(identical: bool) -> &'static str {
    if identical { "the same" } else { "NOT the same" }
}

fn round_trips_note(document: &BoardDocument) -> String {
    let of = |full: bool| {
        document.handshakes.iter().filter(move |row| (row.kind == Kind::Full) == full).map(|row| row.round_trips)
    };
    match (of(true).max(), of(false).max()) {
        (Some(full), Some(resumed)) => {
            format!("A client may send its request after {full} round trips, resumed after {resumed}.")
        }
        (Some(full), None) => format!("A client may send its request after {full} round trips."),
        _ => String::new(),
    }
}

fn witness_note(document: &BoardDocument) -> String {
    let difference = |model: u64, qemu: u64| (model as f64 / qemu.max(1) as f64 - 1.0).abs();
    let worst =
        document.witnesses.iter().map(|it| difference(it.model_instructions, it.qemu_instructions)).fold(0.0, f64::max);
    match document.witnesses.len() {
        0 => "No second emulator has counted the same.".to_owned(),
        counts => format!("QEMU counted {counts} of these as well; its counts differ by {:.3} % at most.", worst * 100.0),
    }
}

fn memory(document: &BoardDocument) -> Part {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for image in &document.images {
        let of_it = || document.handshakes.iter().filter(|row| row.image == image.name);
        let most = |of: fn(&BoardHandshake) -> u32| of_it().map(of).max().unwrap_or_default();
        let connection = most(|row| row.memory.connection) + most(|row| row.memory.heap_of_connection);
        rows.push(vec![
            short(&image.name),
            kilobytes(connection.into()),
            kilobytes(most(|row| row.memory.connection).into()),
            kilobytes(most(|row| row.memory.heap_of_connection).into()),
            kilobytes(most(|row| row.memory.heap_peak).into()),
            kilobytes(most(|row| row.memory.stack).into()),
            kilobytes(most(|row| row.memory.server).into()),
            kilobytes(image.sizes.total.ram),
        ]);
    }
    Part {
        title: "Memory, kB".to_owned(),
        head: vec!["image", "a connection", "its own memory", "its heap", "heap peak", "stack peak", "server", "static RAM"],
        rows,
        notes: vec!["kB are 1,000 bytes. Peaks are high-water marks of all connections measured.".to_owned()],
    }
}

fn sizes(document: &BoardDocument) -> Part {
    let rows = document.images.iter().map(|image| {
        let of = |name: &str| image.sizes.components.get(name).map_or(0, |size| size.flash);
        let rest: u64 = ["board", "c library", "compiler", "alignment", "other"].into_iter().map(of).sum();
        vec![
            short(&image.name),
            kilobytes(image.sizes.total.flash),
            kilobytes(of("tls")),
            kilobytes(of("session cache")),
            kilobytes(of("server")),
            kilobytes(rest),
        ]
    });
    Part {
        title: "Flash, kB".to_owned(),
        head: vec!["image", "all", "TLS", "session cache", "server", "board and libraries"],
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

fn requests(document: &BoardDocument) -> Part {
    let rows = document.requests.iter().map(|it| {
        vec![
            it.key.name().to_owned(),
            server(it.answer).to_owned(),
            it.requests.to_string(),
            millions(it.new_instructions),
            millions(it.reused_instructions),
            format!("{:.1}", it.ratio),
        ]
    });
    Part {
        title: "Requests, each on its own connection: new sessions against reused (BearSSL, M instructions in all)"
            .to_owned(),
        head: vec!["key", "server", "requests", "new", "reused", "ratio"],
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

fn cache(document: &BoardDocument) -> Option<Part> {
    let cache = document.cache.as_ref()?;
    let more = |instructions: u64| instructions as i64 - cache.without_instructions as i64;
    Some(Part {
        title: "What the session cache costs a full handshake".to_owned(),
        head: Vec::new(),
        rows: Vec::new(),
        notes: vec![format!(
            "Against an image without it (BearSSL, {}, {} instructions): {:+} instructions where it is compiled in and off, {:+} \
             where it is on. It takes {} bytes of flash and {} of RAM with 16 sessions of {} bytes in slots.",
            cache.key.name(),
            cache.without_instructions,
            more(cache.off_instructions),
            more(cache.on_instructions),
            cache.flash,
            cache.ram,
            cache.session,
        )],
    })
}

fn calibration(calibration: &BoardCalibration, document: &BoardDocument) -> Part {
    let rows = calibration.figures.iter().map(|it| {
        let error = if it.fitted { "fitted".to_owned() } else { format!("{:+.0} %", it.error * 100.0) };
        vec![
            it.board.clone(),
            it.key.name().to_owned(),
            it.group.clone().unwrap_or_default(),
            format!("{:.2}", it.reported_s),
            format!("{:.2}", it.predicted_s),
            error,
            busiest(document, &it.image, it.key),
        ]
    });
    let order = if calibration.same_order { "the same" } else { "not the same" };
    let mut notes = vec![format!(
        "One factor, {:.2}, turns modelled time into that board's. The order of the six is {order}. Taken for granted beforehand:",
        calibration.factor
    )];
    notes.extend(calibration.assumptions.iter().map(|it| format!("- {it}")));
    Part {
        title: "Against a real RP2040: a full handshake, seconds".to_owned(),
        head: vec!["stack", "key", "group", "reported", "predicted", "error", "most instructions in"],
        rows: rows.collect(),
        notes,
    }
}

/// The two functions that a full handshake spends most instructions in.
fn busiest(document: &BoardDocument, image: &str, key: Key) -> String {
    let row = document.handshakes.iter().find(|row| row.image == image && row.key == key && row.kind == Kind::Full);
    let share = |instructions: u64, of: u64| 100.0 * instructions as f64 / of.max(1) as f64;
    let functions = row.into_iter().flat_map(|row| row.functions.iter().map(move |it| (row.handshake.instructions, it)));
    let shown = functions.take(2).map(|(of, it)| format!("{} {:.0} %", it.name, share(it.instructions, of)));
    shown.collect::<Vec<_>>().join(", ")
}

fn esp8266(esp8266: &Esp8266) -> Part {
    let rows = esp8266.requests.iter().map(|it| {
        vec![
            it.key.name().to_owned(),
            it.group.clone(),
            server(it.answer).to_owned(),
            millions(it.new.handshake),
            millions(it.new.request),
            millions(it.reused.handshake),
            millions(it.reused.request),
            format!("{:.0}", it.new.sum() as f64 / it.reused.sum().max(1) as f64),
            format!("{:.0}", it.modelled_saving_ms),
            it.reported_saving_ms.map_or("–".to_owned(), |reported| format!("{reported:.0}")),
            it.cycles_per_instruction.map_or("–".to_owned(), |cycles| format!("{cycles:.2}")),
        ]
    });
    let ratios = esp8266.ratios.iter().map(|it| format!("{:.1} ({}, {})", it.ratio, it.group, server(it.answer)));
    let identical = esp8266.requests.iter().all(|it| it.identical);
    let (requests, runs) = esp8266.requests.first().map_or((0, 0), |it| (it.requests, it.runs));
    Part {
        title: "A request to the ESP8266's CPU (BearSSL, AES-256-GCM, M instructions)".to_owned(),
        head: vec![
            "key",
            "group",
            "server",
            "new TLS",
            "wait",
            "reused TLS",
            "wait",
            "ratio",
            "saved ms",
            "reported ms",
            "cycles an instr",
        ],
        rows: rows.collect(),
        notes: vec![
            format!(
                "Means of {requests} requests new and as many reused, all in one boot; {}. TLS is the handshake, wait the request and its response, as a \
                 browser's panel divides them. Saved is new less reused, modelled at 160 MHz and one \
                 cycle an instruction; reported is what the ESP8266 saved, and the last column the cycles an instruction at which \
                 the CPU explains all of that.",
                if runs < 2 {
                    "there was one".to_owned()
                } else {
                    format!("the counts of {runs} boots were {}", same(identical))
                }
            ),
            format!(
                "RSA saves {} times as much as EC; the ESP8266 reported 5.9. What remains of its reused requests, about 60 ms, is \
                 network and framework, which are not modelled.",
                ratios.collect::<Vec<_>>().join(", ")
            ),
        ],
    }
}

fn server(answer: ResponseMode) -> &'static str {
    match answer {
        ResponseMode::Fixed => "fixed",
        ResponseMode::Http => "http",
    }
}

/// An image's name without the machine.
fn short(image: &str) -> String {
    image.split_once('-').map_or(image, |(_, name)| name).to_owned()
}

fn suite(cipher: &str) -> &str {
    cipher.split_once("_WITH_").map_or(cipher, |(_, name)| name)
}

fn millions(count: u64) -> String {
    let millions = count as f64 / 1e6;
    if millions < 10.0 { format!("{millions:.2}") } else { format!("{millions:.1}") }
}

fn milliseconds(nanoseconds: Option<u64>) -> String {
    nanoseconds.map_or(String::new(), |ns| {
        let ms = ns as f64 / 1e6;
        if ms < 100.0 { format!("{ms:.1}") } else { format!("{ms:.0}") }
    })
}

fn kilobytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use reprise_model::document::Provenance;
    use serde_json::json;

    use super::*;

    /// One row, as JSON has it.
    fn row(stack: &str, kind: Kind, instructions: u64) -> BoardHandshake {
        let count = json!({ "instructions": instructions, "cycles": instructions });
        let memory =
            json!({ "stack": 1, "connection": 1, "heap_of_connection": 1, "heap_peak": 1, "server": 1, "session": 1 });
        let row = json!({
            "image": "mps2-both-Os", "stack": stack, "key": "p-256", "kind": kind, "cipher": "TLS_X_WITH_Y", "group": null,
            "signature": null, "round_trips": 2, "handshake": count, "application": count, "modelled_ns": null, "runs": 1,
            "identical": true, "functions": [], "memory": memory,
        });
        serde_json::from_value(row).unwrap()
    }

    fn document() -> BoardDocument {
        let handshakes = [("Mbed TLS 2.28.10", 30, 3), ("Mbed TLS 3.6.5", 50, 2)].map(|(stack, full, resumed)| {
            [row(stack, Kind::Full, full * 1_000_000), row(stack, Kind::Id, resumed * 1_000_000)]
        });
        BoardDocument {
            schema: BoardDocument::SCHEMA.to_owned(),
            clock_hz: 133_000_000,
            images: Vec::new(),
            handshakes: handshakes.into_iter().flatten().collect(),
            requests: Vec::new(),
            cache: None,
            witnesses: Vec::new(),
            calibration: None,
            esp8266: None,
            left_out: Vec::new(),
            interrupted: false,
            provenance: Provenance::default(),
        }
    }

    #[test]
    fn each_library_of_an_image_has_its_own_resumption() {
        let rows = handshakes(&document()).rows;
        let cells = |row: &[String]| [row[0].clone(), row[5].clone(), row[7].clone()];
        let shown: Vec<_> = rows.iter().map(|row| cells(row)).collect();
        assert_eq!(shown[0], ["both-Os: Mbed TLS 2.28.10", "3.00", "10"]);
        assert_eq!(shown[1], ["both-Os: Mbed TLS 3.6.5", "2.00", "25"]);
        let mut csv = Vec::new();
        crate::Report::from(crate::Document::Board(&document())).write(&crate::csv::FORMAT, &mut csv).unwrap();
        let csv = String::from_utf8(csv).unwrap();
        let second = csv.lines().nth(3).unwrap();
        assert!(second.starts_with("mps2-both-Os,Mbed TLS 3.6.5,p-256,full,"), "{csv}");
        assert_eq!(csv.lines().next().unwrap().split(',').count(), second.split(',').count());
    }

    #[test]
    fn one_boot_says_nothing_of_others() {
        let mut document = document();
        let note = |document: &BoardDocument| handshakes(document).notes[1].clone();
        assert!(note(&document).starts_with("Each image was booted once. "), "{}", note(&document));
        document.handshakes.iter_mut().for_each(|row| row.runs = 3);
        document.handshakes[1].identical = false;
        assert!(note(&document).contains("3 times, and the counts were NOT the same."), "{}", note(&document));
    }
}
