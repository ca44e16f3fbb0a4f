//! The figures that two reports published for real boards, each beside what is measured and modelled here.
//!
//! The ESP8266 report timed whole requests. A request here is a sum:
//!
//! ```text
//! computing  instructions × cycles an instruction, at 160 MHz
//! waiting    round trips × the link's: TCP, TLS, request
//! network    what remains of one reused request: framework, radio, the client
//! ```
//!
//! Cycles an instruction and the network are fitted on the two times of one row, RSA with the raw server; the other rows are predicted.
//! For the RP2040 report there is one factor: see [`calibration`](crate::calibration).

use reprise_model::Kind;

use crate::calibration;
use crate::document::{BoardCalibration, BoardHandshake, CacheCost, Esp8266, Esp8266Requests, PublishedFigure, RequestTime};
use crate::image::{BoardStack, Cpu, Image, Optimization};
use crate::keys::BoardKey;
use crate::line::ResponseMode;

/// A published figure and ours may differ by this much of it.
const TOLERANCE: f64 = 0.25;
/// One round trip of the ESP8266's link, in milliseconds: the report's own `connect`.
const LINK_MS: f64 = 6.0;
/// The milliseconds of a request of the ESP8266 report's first row, new and reused: 100 took 184.680 s and 6.986 s.
const FITTED_MS: [f64; 2] = [1846.80, 69.86];

/// A phase, and its milliseconds before and after.
type BrowserRow = (&'static str, [f64; 2]);

/// What a browser's panel showed of one request to the raw server, in milliseconds: before the change, and in a cached session. The report
/// has a table for each key, of set-up, waiting and their total, with the ratios 44.359, 6.4 and 33.815, and 3.679, 2.923 and 3.577.
const BROWSER_MS: [(BoardKey, [BrowserRow; 3]); 2] = [
    (BoardKey::Rsa2048, [("setup", [1730.0, 39.0]), ("wait", [96.0, 15.0]), ("total", [1826.0, 54.0])]),
    (BoardKey::P256, [("setup", [309.0, 84.0]), ("wait", [38.0, 13.0]), ("total", [347.0, 97.0])]),
];

/// What is measured of each figure that can be, of these results.
pub struct MeasuredFigures<'m> {
    /// The handshakes on the Cortex-M0+.
    pub handshakes: &'m [BoardHandshake],
    /// The factor for the RP2040.
    pub calibration: Option<&'m BoardCalibration>,
    /// What the cache costs.
    pub cache: Option<&'m CacheCost>,
    /// The requests to the ESP8266's CPU.
    pub esp8266: Option<&'m Esp8266>,
}

/// The images that figures are of, beside those of [`calibration::images`].
pub fn images() -> [Image; 3] {
    let bearssl = Image::usual(Cpu::CortexM0, BoardStack::BearSsl, Optimization::Size);
    [
        Image { optimization: Optimization::Speed, ..bearssl },
        Image { two_way: true, ..bearssl },
        Image::usual(Cpu::CortexM0, BoardStack::MbedTls3, Optimization::Size),
    ]
}

/// The figures of both reports for which something was measured.
pub fn published(measured: &MeasuredFigures<'_>) -> Vec<PublishedFigure> {
    let mut figures = measured.esp8266.map(requests).unwrap_or_default();
    figures.extend(measured.cache.into_iter().flat_map(switched_off));
    figures.extend(measured.calibration.into_iter().flat_map(seconds));
    figures.extend(versions(measured.handshakes));
    figures.extend(the_rest_of_a_session(measured));
    figures.extend(memory(measured.handshakes));
    figures
}

fn figure(id: &str, key: Option<BoardKey>, unit: &str, published: f64, measured: f64) -> PublishedFigure {
    let error = measured / published - 1.0;
    PublishedFigure {
        id: id.to_owned(),
        key,
        unit: unit.to_owned(),
        published,
        measured,
        error,
        within: error.abs() <= TOLERANCE,
        fitted: false,
        times: Vec::new(),
    }
}

/// The ratio of a new request to a reused one, and of their phases in a browser.
fn requests(esp8266: &Esp8266) -> Vec<PublishedFigure> {
    let of = |key, answer| esp8266.requests.iter().find(|row| (row.key, row.answer) == (key, answer));
    let Some(fitted) = of(BoardKey::Rsa2048, ResponseMode::Fixed) else { return Vec::new() };
    let counts = |row: &Esp8266Requests| [row.new, row.reused].map(|it| (it.sum() as f64, (it.round_trips + 2) as f64));
    let [new, reused] = counts(fitted);
    let computing_ms = FITTED_MS[0] - FITTED_MS[1] - LINK_MS * (new.1 - reused.1);
    let ms_an_instruction = computing_ms / (new.0 - reused.0);
    let network_ms = FITTED_MS[1] - LINK_MS * reused.1 - ms_an_instruction * reused.0;
    let time = |(instructions, round_trips): (f64, f64)| RequestTime {
        computing_ms: instructions * ms_an_instruction,
        waiting_ms: round_trips * LINK_MS,
        network_ms,
    };
    let rows = [
        ("esp8266-raw", BoardKey::Rsa2048, ResponseMode::Fixed, 26.4),
        ("esp8266-raw", BoardKey::P256, ResponseMode::Fixed, 6.1),
        ("esp8266-web", BoardKey::Rsa2048, ResponseMode::Http, 23.4),
    ];
    let mut figures: Vec<PublishedFigure> = Vec::new();
    for (id, key, answer, published) in rows {
        let Some(row) = of(key, answer) else { continue };
        let times = counts(row).map(time);
        let ratio = times[0].sum_ms() / times[1].sum_ms();
        let fitted = figures.is_empty();
        figures.push(PublishedFigure { fitted, times: times.to_vec(), ..figure(id, Some(key), "ratio", published, ratio) });
    }
    for (key, phases) in BROWSER_MS {
        let Some(row) = of(key, ResponseMode::Fixed) else { continue };
        let sessions = [row.new, row.reused];
        let setup = sessions.map(|it| it.handshake as f64 * ms_an_instruction + it.round_trips as f64 * LINK_MS);
        let wait = sessions.map(|it| it.request as f64 * ms_an_instruction + LINK_MS);
        let total = [setup[0] + wait[0], setup[1] + wait[1]];
        for ((phase, published), ours) in phases.into_iter().zip([setup, wait, total]) {
            let id = format!("esp8266-{phase}");
            figures.push(figure(&id, Some(key), "ratio", published[0] / published[1], ours[0] / ours[1]));
            for (name, at) in [("new", 0), ("reused", 1)] {
                figures.push(figure(&format!("{id}-{name}"), Some(key), "ms", published[at], ours[at]));
            }
        }
    }
    figures
}

/// New requests with the cache compiled in, off and on, against those before: seconds for 100, of each server.
fn switched_off(cache: &CacheCost) -> Vec<PublishedFigure> {
    let before = cache.without_instructions as f64;
    let rows = [
        ("raw", BoardKey::Rsa2048, [183.731719, 183.834841, 184.679486]),
        ("raw", BoardKey::P256, [35.997831, 36.511242, 36.216895]),
        ("web", BoardKey::Rsa2048, [184.723887, 187.112183, 185.611363]),
    ];
    let states = [("off", 1, cache.off_instructions), ("on", 2, cache.on_instructions)];
    let figures = rows.into_iter().flat_map(|(server, key, seconds)| {
        states.map(|(state, at, instructions)| {
            let id = format!("esp8266-{server}-{state}");
            figure(&id, Some(key), "ratio", seconds[at] / seconds[0], instructions as f64 / before)
        })
    });
    figures.collect()
}

/// The six handshakes of the RP2040 report.
fn seconds(calibration: &BoardCalibration) -> Vec<PublishedFigure> {
    let six = calibration.figures.iter().filter(|it| !it.is_alternative);
    let figures = six.map(|it| PublishedFigure {
        fitted: it.fitted,
        ..figure(
            &format!("rp2040-{}", it.image.trim_start_matches("mps2-")),
            Some(it.key),
            "s",
            it.reported_s,
            it.predicted_s,
        )
    });
    figures.collect()
}

/// How much faster a newer version is, and another optimization.
fn versions(rows: &[BoardHandshake]) -> Vec<PublishedFigure> {
    let [bearssl_fast, _, newer] = images();
    let [bearssl, older, fastest, _] = calibration::images();
    let cycles = |image: Image, key| {
        let name = image.to_string();
        let row = rows.iter().find(|row| row.image == name && row.key == key && row.kind == Kind::Full);
        row.and_then(|row| row.handshake.cycles).map(|cycles| cycles as f64)
    };
    let cases = [
        ("rp2040-newer", older, newer, [2.0, 2.0]),
        ("rp2040-faster", newer, fastest, [1.5, 1.5]),
        ("rp2040-newer-and-faster", older, fastest, [2.6 / 1.3, 3.2 / 1.0]),
        ("rp2040-bearssl-faster", bearssl, bearssl_fast, [1.0, 1.0]),
    ];
    let mut figures = Vec::new();
    for (id, from, to, published) in cases {
        for (key, published) in calibration::KEYS.into_iter().zip(published) {
            let ratio = cycles(from, key).zip(cycles(to, key)).map(|(from, to)| from / to);
            figures.extend(ratio.map(|ratio| figure(id, Some(key), "ratio", published, ratio)));
        }
    }
    figures
}

/// What follows the handshake took less than 50 ms: it is within, if it is less.
fn the_rest_of_a_session(measured: &MeasuredFigures<'_>) -> Option<PublishedFigure> {
    let factor = measured.calibration?.factor;
    let image = calibration::images()[1].to_string();
    let of_image = measured.handshakes.iter().filter(|row| row.image == image);
    let most = of_image.filter_map(|row| row.application.cycles).max()?;
    let ms = most as f64 / (calibration::CLOCK_HZ / 1e3) * factor;
    let figure = figure("rp2040-rest", None, "ms", 50.0, ms);
    Some(PublishedFigure { within: ms <= 50.0, ..figure })
}

/// The kilobytes that a connection takes: about 40, and about 20 with one buffer for both directions.
fn memory(rows: &[BoardHandshake]) -> Vec<PublishedFigure> {
    let [_, two_way, newer] = images();
    let [bearssl, older, ..] = calibration::images();
    let cases = [
        ("rp2040-memory-bearssl", two_way, 40.0),
        ("rp2040-memory-bearssl-half", bearssl, 20.0),
        ("rp2040-memory-mbedtls2", older, 40.0),
        ("rp2040-memory-mbedtls3", newer, 40.0),
    ];
    let figures = cases.into_iter().filter_map(|(id, image, published)| {
        let name = image.to_string();
        let of_image = rows.iter().filter(|row| row.image == name);
        let bytes = of_image.map(|row| row.memory.connection + row.memory.heap_of_connection).max()?;
        Some(figure(id, None, "kB", published, f64::from(bytes) / 1e3))
    });
    figures.collect()
}

impl RequestTime {
    /// All of it.
    pub fn sum_ms(&self) -> f64 {
        self.computing_ms + self.waiting_ms + self.network_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The report prints each ratio beside the milliseconds: a figure that was misread would not have it.
    #[test]
    fn the_browsers_figures_have_the_ratios_that_the_report_prints() {
        let printed = [[44.359, 6.4, 33.815], [3.679, 2.923, 3.577]];
        for ((key, phases), printed) in BROWSER_MS.into_iter().zip(printed) {
            for ((phase, [before, cached]), printed) in phases.into_iter().zip(printed) {
                assert!((before / cached - printed).abs() < 0.001, "{key:?} {phase}: {}", before / cached);
            }
            let [setup, wait, total] = phases.map(|(_, times)| times);
            assert_eq!([setup[0] + wait[0], setup[1] + wait[1]], total, "{key:?}");
        }
    }
}
