//! The stages of a rate that changes.

use reprise_model::document::{LoadDocument, LoadLatency, LoadStage};
use reprise_page::figures::Figure;
use reprise_page::table::{Rows, Table, Tone};

use super::duration;

/// "500/s for 30.0 s, 2000/s for 60.0 s".
pub(super) fn asked(stages: &[LoadStage]) -> String {
    let stage = |stage: &LoadStage| format!("{}/s for {}", stage.rate, duration(stage.duration_ns as f64 / 1e9));
    stages.iter().map(stage).collect::<Vec<_>>().join(", ")
}

/// A row for each.
pub(super) fn table(document: &LoadDocument) -> Table {
    let millis = |ns: fn(LoadLatency) -> u64| {
        move |(_, stage): (usize, &LoadStage)| {
            stage.latency_from_intended_ns.map(|latency| Figure::plain(format!("{:.3}", ns(latency) as f64 / 1e6)))
        }
    };
    Rows::of(document.stages.iter().enumerate())
        .words("stage", |(place, _)| (place + 1).to_string())
        .figures("asked", "/s", |(_, stage)| Figure::plain(format!("{:.1}", stage.rate)))
        .figures("for", "s", |(_, stage)| Figure::plain(format!("{:.1}", stage.seconds)))
        .dispensable(0)
        .figures("offered", "", |(_, stage)| Figure::count(stage.offered))
        .figures("done", "", |(_, stage)| Figure::count(stage.total_completed()))
        .figures("failed", "", |(_, stage)| Figure::count(stage.failed))
        .figures("not started", "", |(_, stage)| (stage.not_started > 0).then(|| Figure::count(stage.not_started)))
        .figures("p50", "ms", millis(|latency| latency.p50))
        .figures("p99", "ms", millis(|latency| latency.p99))
        .figures("resumed", "%", |(_, stage)| stage.resumed.map(Figure::percent))
        .figures("server CPU", "%", |(_, stage)| stage.server_processors().map(Figure::percent))
        .toned(|(_, stage)| if stage.failed > 0 { Tone::Fault } else { Tone::Plain })
        .table()
}
