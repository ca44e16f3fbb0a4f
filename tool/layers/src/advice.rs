//! What a program should change, from the figures of one stack.

use reprise_model::document::{LayersDifference, LayersRow};
use reprise_model::{Level, Nanos, Version};

use crate::claims::shown;

/// One paragraph for each stack and version.
pub(crate) fn of(rows: &[LayersRow], differences: &[LayersDifference]) -> Vec<String> {
    let mut subjects: Vec<(&str, Version)> = rows.iter().map(|row| (row.stack.as_str(), row.tls)).collect();
    subjects.dedup();
    subjects.into_iter().filter_map(|(stack, tls)| paragraph(rows, differences, stack, tls)).collect()
}

fn paragraph(rows: &[LayersRow], differences: &[LayersDifference], stack: &str, tls: Version) -> Option<String> {
    let own = |sessions: bool| {
        let of_stack = differences.iter().filter(move |it| (it.stack.as_str(), it.tls) == (stack, tls));
        of_stack.filter(move |it| it.sessions == sessions)
    };
    let steps: Vec<String> = own(false).map(step).collect();
    if steps.is_empty() {
        return None;
    }
    let mut text = format!("{stack}, {tls}: a request that {}.", steps.join("; one that "));
    let largest = own(false).filter(|it| is_certain(it)).max_by_key(|it| it.wall_ns.median_ns);
    if let Some(largest) = largest {
        text.push_str(&format!(
            " The largest step is from {} to {}: {}, and each request takes {} less.",
            largest.from,
            largest.to,
            kept(largest.from),
            shown(largest.wall_ns.median_ns)
        ));
    }
    if let Some(session) = session_saving(rows, stack, tls) {
        text.push_str(&session);
    }
    Some(text)
}

/// "begins again at ctx would take 1.2 ms less at bio, …".
fn step(difference: &LayersDifference) -> String {
    let LayersDifference { from, to, wall_ns, cpu_ns, .. } = difference;
    if !is_certain(difference) {
        return format!("begins again at {from} gains nothing certain at {to}");
    }
    let (wall, cpu) = (shown(wall_ns.median_ns), shown(cpu_ns.median_ns));
    format!("begins again at {from} would take {wall} less at {to}, of which {cpu} is the client's CPU")
}

/// What a program does that no longer begins at this level.
fn kept(level: Level) -> &'static str {
    match level {
        Level::Load | Level::Run => "make all requests in one process",
        Level::Lib | Level::Libctx => "initialise the library once",
        Level::Ctx => "keep the context",
        Level::Bio => "keep the TCP connection",
        Level::Ssl | Level::Msg => "keep the connection open",
    }
}

fn is_certain(difference: &LayersDifference) -> bool {
    difference.wall_ns.ci95_ns.is_some_and(|[low, _]| low > 0)
}

/// What a session saves where a TCP connection is made for each request.
fn session_saving(rows: &[LayersRow], stack: &str, tls: Version) -> Option<String> {
    let at = |sessions: bool| {
        rows.iter().find(|row| (row.stack.as_str(), row.tls, row.level, row.sessions) == (stack, tls, Level::Bio, sessions))
    };
    let (without, with) = (at(false)?, at(true)?);
    if with.refused > 0 {
        return Some(format!(
            " The server refused {} of {} sessions: 'reprise diagnose' says why.",
            with.refused, with.handshakes
        ));
    }
    let (without, with) = (&without.wall_ns, &with.wall_ns);
    let is_certain = with.ci95_ns.zip(without.ci95_ns).is_some_and(|([_, most], [least, _])| most < least);
    is_certain.then(|| {
        format!(
            " Where a connection is made for each request, keeping its session takes it from {} to {}.",
            Nanos(without.median_ns),
            Nanos(with.median_ns)
        )
    })
}
