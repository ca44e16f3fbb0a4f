//! The same TLS servers on emulated microcontrollers: handshakes, memory, flash, and how far the model is from a real board.

use crate::document::{BoardCalibration, BoardDocument, BoardHandshake, BuiltImage, CacheCost, Esp8266, Supply};
use crate::{BoardKey, ResponseMode};
use reprise_model::Kind;
use reprise_model::document::cipher_of;
use reprise_page::chart::{Bar, Bars, Chart, Group};
use reprise_page::figures::Figure;
use reprise_page::table::{Rows, Table};
use reprise_page::{Block, Page, source};

mod published;

/// All that is shown of the boards.
pub fn page(document: &BoardDocument) -> Page {
    let answer: Vec<Block> = answer(document).map(Block::Paragraph).collect();
    let mut blocks: Vec<Block> = (!answer.is_empty()).then_some(Block::Summary(answer)).into_iter().collect();
    blocks.extend(chart(document).map(Block::Chart));
    blocks.extend(handshakes(document));
    blocks.extend(parts(document).into_iter().filter_map(Block::secondary));
    if document.interrupted {
        blocks.push(Block::warning("Incomplete: this was measured until then"));
    }
    blocks.extend(document.left_out.iter().map(|why| Block::Aside(format!("Left out: {why}"))));
    blocks.push(source(&document.provenance));
    Page::new("board", "TLS on microcontrollers", blocks)
}

/// The cheapest handshake, what resuming saves, and how much of what was published holds.
fn answer(document: &BoardDocument) -> impl Iterator<Item = String> {
    let pairs = document.handshakes.iter().filter(|row| row.kind == Kind::Full);
    let pairs: Vec<_> = pairs.filter_map(|full| Some((full, resumption(document, full)?))).collect();
    let cheapest = pairs.iter().min_by_key(|(full, _)| full.handshake.instructions).map(|(full, resumed)| {
        let cost = |row: &BoardHandshake| {
            let time = row.modelled_ns.map(|ns| format!(" ({} ms)", milliseconds(ns).text()));
            format!("{} million instructions{}", millions(row.handshake.instructions).text(), time.unwrap_or_default())
        };
        let (image, key) = (image_and_library(document, full), full.key.name());
        format!("The cheapest full handshake is that of {image} with {key}: {}; resumed {}.", cost(full), cost(resumed))
    });
    let ratios = pairs.iter().map(|(full, resumed)| full.handshake.instructions / resumed.handshake.instructions.max(1));
    let saved = ratios.clone().min().zip(ratios.max()).map(|(least, most)| {
        format!("A resumption takes a server from {least} to {most} times fewer instructions than a full handshake with the same key.")
    });
    let judged: Vec<bool> = document.published.iter().filter(|it| !it.fitted).map(|it| it.within).collect();
    let published = (!judged.is_empty()).then(|| {
        let within = judged.iter().filter(|within| **within).count();
        format!("{within} of {} published figures come out here within a quarter.", judged.len())
    });
    [cheapest, saved, published].into_iter().flatten()
}

/// A heading, a table and sentences below it.
fn part(title: impl Into<String>, table: Table, notes: Vec<String>) -> Vec<Block> {
    let table = (!table.rows.is_empty()).then_some(Block::Table(table));
    let notes = notes.into_iter().filter(|note| !note.is_empty()).map(Block::Aside);
    std::iter::once(Block::Heading(title.into())).chain(table).chain(notes).collect()
}

/// A full handshake and a resumed one of each image and key, in instructions.
fn chart(document: &BoardDocument) -> Option<Chart> {
    let full: Vec<&BoardHandshake> = document.handshakes.iter().filter(|row| row.kind == Kind::Full).collect();
    let bar = |name: String, row: &BoardHandshake| {
        let count = row.handshake.instructions;
        Bar { name, begin: 0.0, parts: vec![count as f64 / 1e6], shown: millions(count) }
    };
    let groups: Vec<Group<Bar>> = full
        .iter()
        .map(|row| {
            let resumed = resumption(document, row);
            let bars = [bar("full".to_owned(), row)]
                .into_iter()
                .chain(resumed.map(|it| bar(format!("resumed by {}", it.kind), it)));
            Group { name: format!("{}, {}", image_and_library(document, row), row.key.name()), rows: bars.collect() }
        })
        .collect();
    let bars = Bars { label: "million instructions".to_owned(), parts: Vec::new(), groups, reach: 0.0 };
    bars.into_chart("Instructions of a handshake on the server")
}

/// What can wait: each with its heading.
fn parts(document: &BoardDocument) -> Vec<Vec<Block>> {
    let mut parts = vec![memory(document), sizes(document)];
    if !document.requests.is_empty() {
        parts.push(requests(document));
    }
    parts.extend(document.cache.iter().map(cache));
    parts.extend(document.calibration.iter().map(|it| calibration(it, document)));
    parts.extend(document.esp8266.iter().map(esp8266));
    if !document.published.is_empty() {
        parts.extend(published::published(&document.published));
    }
    parts
}

fn handshakes(document: &BoardDocument) -> Vec<Block> {
    let runs = document.handshakes.first().map_or(0, |row| row.runs);
    let identical = document.handshakes.iter().all(|row| row.identical);
    let booted = match runs {
        0 => "Nothing was measured.".to_owned(),
        1 => "Each image was booted once.".to_owned(),
        _ => format!("Each image was booted {runs} times, and the counts were {}.", same(identical)),
    };
    let notes = vec![
        round_trips_note(document),
        format!("{booted} Milliseconds are modelled: ARM's cycles, zero wait states."),
        document.supply.map_or_else(String::new, energy_note),
        witness_note(document),
    ];
    let title = format!("Handshakes on a Cortex-M0+ at {} MHz", document.clock_hz as f64 / 1e6);
    part(title, table_of_handshakes(document), notes)
}

fn table_of_handshakes(document: &BoardDocument) -> Table {
    let full = document.handshakes.iter().filter(|row| row.kind == Kind::Full);
    let ratio = |full: u64, resumed: u64| Figure::plain(format!("{:.0}", full as f64 / resumed.max(1) as f64));
    let rows = Rows::of(full.map(|full| (full, resumption(document, full))))
        .words("image", |(full, _)| image_and_library(document, full))
        .words("key", |(full, _)| full.key.name())
        .words("suite · group", |(full, _)| {
            format!("{} · {}", cipher_of(&full.cipher), full.group.as_deref().unwrap_or("–"))
        })
        .dispensable(0)
        .figures("full M instr", "", |(full, _)| millions(full.handshake.instructions))
        .figures("ms", "", |(full, _)| full.modelled_ns.map(milliseconds))
        .figures("resumed M instr", "", |(_, resumed)| resumed.map(|it| millions(it.handshake.instructions)))
        .figures("ms", "", |(_, resumed)| resumed?.modelled_ns.map(milliseconds))
        .figures("ratio", "", |(full, resumed)| {
            resumed.map(|resumed| ratio(full.handshake.instructions, resumed.handshake.instructions))
        })
        .figures("request M instr", "", |(full, _)| millions(full.application.instructions));
    if document.supply.is_none() {
        return rows.table();
    }
    rows.figures("full mJ", "", |(full, _)| full.energy_uj.map(millijoules))
        .figures("resumed mJ", "", |(_, resumed)| resumed?.energy_uj.map(millijoules))
        .table()
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

fn energy_note(Supply { milliamperes, volts }: Supply) -> String {
    format!("Energy is {milliamperes} mA at {volts} V, as stated, over those milliseconds; the radio is not part of it.")
}

fn memory(document: &BoardDocument) -> Vec<Block> {
    let most = |image: &BuiltImage, of: fn(&BoardHandshake) -> u32| {
        document.handshakes.iter().filter(|row| row.image == image.name).map(of).max().unwrap_or_default()
    };
    let own = |image| most(image, |row| row.memory.connection);
    let heap = |image| most(image, |row| row.memory.heap_of_connection);
    let table = Rows::of(&document.images)
        .words("image", |image| short(&image.name))
        .figures("a connection", "", |image| kilobytes(own(image) + heap(image)))
        .figures("its own memory", "", |image| kilobytes(own(image)))
        .figures("its heap", "", |image| kilobytes(heap(image)))
        .figures("heap peak", "", |image| kilobytes(most(image, |row| row.memory.heap_peak)))
        .figures("stack peak", "", |image| kilobytes(most(image, |row| row.memory.stack)))
        .figures("server", "", |image| kilobytes(most(image, |row| row.memory.server)))
        .figures("static RAM", "", |image| kilobytes(image.sizes.total.ram))
        .table();
    let note = "kB are 1,000 bytes. Peaks are high-water marks of all connections measured.".to_owned();
    part("Memory, kB", table, vec![note])
}

fn sizes(document: &BoardDocument) -> Vec<Block> {
    let of = |image: &BuiltImage, names: &[&str]| {
        let sizes = names.iter().filter_map(|name| image.sizes.components.get(*name));
        kilobytes(sizes.map(|size| size.flash).sum::<u64>())
    };
    let rest = ["board", "c library", "compiler", "alignment", "other"];
    let table = Rows::of(&document.images)
        .words("image", |image| short(&image.name))
        .figures("all", "", |image| kilobytes(image.sizes.total.flash))
        .figures("TLS", "", |image| of(image, &["tls"]))
        .figures("session cache", "", |image| of(image, &["session cache"]))
        .figures("server", "", |image| of(image, &["server"]))
        .figures("board and libraries", "", |image| of(image, &rest));
    part("Flash, kB", table.table(), Vec::new())
}

fn requests(document: &BoardDocument) -> Vec<Block> {
    let table = Rows::of(&document.requests)
        .words("key", |it| it.key.name())
        .words("server", |it| server(it.answer))
        .figures("requests", "", |it| Figure::count(it.requests.into()))
        .figures("new", "", |it| millions(it.new_instructions))
        .figures("reused", "", |it| millions(it.reused_instructions))
        .figures("ratio", "", |it| Figure::plain(format!("{:.1}", it.ratio)));
    let title = "Requests, each on its own connection: new sessions against reused (BearSSL, M instructions in all)";
    part(title, table.table(), Vec::new())
}

fn cache(cache: &CacheCost) -> Vec<Block> {
    let more = |instructions: u64| instructions as i64 - cache.without_instructions as i64;
    let note = format!(
        "Against an image without it (BearSSL, {}, {} instructions): {:+} instructions where it is compiled in and off, {:+} \
         where it is on. It takes {} bytes of flash and {} of RAM with 16 sessions of {} bytes in slots.",
        cache.key.name(),
        cache.without_instructions,
        more(cache.off_instructions),
        more(cache.on_instructions),
        cache.flash,
        cache.ram,
        cache.session,
    );
    part("What the session cache costs a full handshake", Table::default(), vec![note])
}

fn calibration(calibration: &BoardCalibration, document: &BoardDocument) -> Vec<Block> {
    let table = Rows::of(&calibration.figures)
        .words("stack", |it| &it.board)
        .words("key", |it| it.key.name())
        .words("group", |it| it.group.clone().unwrap_or_default())
        .figures("reported", "", |it| Figure::plain(format!("{:.2}", it.reported_s)))
        .figures("predicted", "", |it| Figure::plain(format!("{:.2}", it.predicted_s)))
        .words("error", |it| if it.fitted { "fitted".to_owned() } else { format!("{:+.0} %", it.error * 100.0) })
        .words("most instructions in", |it| busiest(document, &it.image, it.key));
    let order = if calibration.same_order { "the same" } else { "not the same" };
    let mut notes = vec![format!(
        "One factor, {:.2}, turns modelled time into that board's. The order of the six is {order}. Taken for granted beforehand:",
        calibration.factor
    )];
    notes.extend(calibration.assumptions.iter().map(|it| format!("- {it}")));
    part("Against a real RP2040: a full handshake, seconds", table.table(), notes)
}

/// The two functions that a full handshake spends most instructions in.
fn busiest(document: &BoardDocument, image: &str, key: BoardKey) -> String {
    let row = document.handshakes.iter().find(|row| row.image == image && row.key == key && row.kind == Kind::Full);
    let share = |instructions: u64, of: u64| 100.0 * instructions as f64 / of.max(1) as f64;
    let functions = row.into_iter().flat_map(|row| row.functions.iter().map(move |it| (row.handshake.instructions, it)));
    let shown = functions.take(2).map(|(of, it)| format!("{} {:.0} %", it.name, share(it.instructions, of)));
    shown.collect::<Vec<_>>().join(", ")
}

fn esp8266(esp8266: &Esp8266) -> Vec<Block> {
    let rounded = |value: f64| Figure::plain(format!("{value:.0}"));
    let table = Rows::of(&esp8266.requests)
        .words("key", |it| it.key.name())
        .words("group", |it| &it.group)
        .words("server", |it| server(it.answer))
        .figures("new TLS", "", |it| millions(it.new.handshake))
        .figures("wait", "", |it| millions(it.new.request))
        .figures("reused TLS", "", |it| millions(it.reused.handshake))
        .figures("wait", "", |it| millions(it.reused.request))
        .figures("ratio", "", |it| rounded(it.new.sum() as f64 / it.reused.sum().max(1) as f64))
        .figures("saved ms", "", |it| rounded(it.modelled_saving_ms))
        .figures("reported ms", "", |it| it.reported_saving_ms.map_or(Figure::plain("–"), rounded))
        .figures("cycles an instr", "", |it| {
            Figure::plain(it.cycles_per_instruction.map_or("–".to_owned(), |cycles| format!("{cycles:.2}")))
        });
    let ratios = esp8266.ratios.iter().map(|it| format!("{:.1} ({}, {})", it.ratio, it.group, server(it.answer)));
    let identical = esp8266.requests.iter().all(|it| it.identical);
    let (requests, runs) = esp8266.requests.first().map_or((0, 0), |it| (it.requests, it.runs));
    let boots = match runs {
        ..2 => "there was one".to_owned(),
        _ => format!("the counts of {runs} boots were {}", same(identical)),
    };
    let notes = vec![
        format!(
            "Means of {requests} requests new and as many reused, all in one boot; {boots}. TLS is the handshake, wait the request \
             and its response, as a browser's panel divides them. Saved is new less reused, modelled at 160 MHz and one \
             cycle an instruction; reported is what the ESP8266 saved, and the last column the cycles an instruction at which \
             the CPU explains all of that."
        ),
        format!(
            "RSA saves {} times as much as EC; the ESP8266 reported 5.9. What remains of its reused requests, about 60 ms, is \
             network and framework, which are not modelled.",
            ratios.collect::<Vec<_>>().join(", ")
        ),
    ];
    part("A request to the ESP8266's CPU (BearSSL, AES-256-GCM, M instructions)", table.table(), notes)
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

fn millions(count: u64) -> Figure {
    let millions = count as f64 / 1e6;
    Figure::plain(if millions < 10.0 { format!("{millions:.2}") } else { format!("{millions:.1}") })
}

fn milliseconds(nanoseconds: u64) -> Figure {
    let ms = nanoseconds as f64 / 1e6;
    Figure::plain(if ms < 100.0 { format!("{ms:.1}") } else { format!("{ms:.0}") })
}

fn millijoules(microjoules: f64) -> Figure {
    Figure::plain(if microjoules < 1e5 { format!("{:.2}", microjoules / 1e3) } else { format!("{:.0}", microjoules / 1e3) })
}

fn kilobytes(bytes: impl Into<u64>) -> Figure {
    Figure::plain(format!("{:.1}", bytes.into() as f64 / 1e3))
}

#[cfg(test)]
mod tests {
    use reprise_model::document::Provenance;
    use serde_json::json;

    use super::*;
    use reprise_page::table::Row;

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
            supply: None,
            images: Vec::new(),
            handshakes: handshakes.into_iter().flatten().collect(),
            requests: Vec::new(),
            cache: None,
            witnesses: Vec::new(),
            calibration: None,
            esp8266: None,
            published: Vec::new(),
            left_out: Vec::new(),
            interrupted: false,
            provenance: Provenance::default(),
        }
    }

    #[test]
    fn each_library_of_an_image_has_its_own_resumption() {
        let rows = table_of_handshakes(&document()).rows;
        // No time is modelled: these columns are left out.
        let cells = |row: &Row| [row.cells[0].clone(), row.cells[4].clone(), row.cells[5].clone()];
        let shown: Vec<_> = rows.iter().map(cells).collect();
        assert_eq!(shown[0], ["both-Os: Mbed TLS 2.28.10", "3.00", "10"]);
        assert_eq!(shown[1], ["both-Os: Mbed TLS 3.6.5", "2.00", "25"]);
    }

    #[test]
    fn one_boot_says_nothing_of_others() {
        let mut document = document();
        let note = |document: &BoardDocument| match &handshakes(document)[3] {
            Block::Aside(note) => note.clone(),
            _ => String::new(),
        };
        assert!(note(&document).starts_with("Each image was booted once. "), "{}", note(&document));
        document.handshakes.iter_mut().for_each(|row| row.runs = 3);
        document.handshakes[1].identical = false;
        assert!(note(&document).contains("3 times, and the counts were NOT the same."), "{}", note(&document));
    }
}
