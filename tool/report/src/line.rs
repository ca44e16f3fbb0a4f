//! A round of a watch on one line, for logs.

use reprise_model::document::{MeasureDocument, Run};
use reprise_model::{Nanos, Phase, Version};
use reprise_page::terminal::{in_lines, visible};

/// When, and for each result its median handshakes, what resuming saves, what was refused, what failed: one line without
/// colour. On a terminal of `width` columns it says less where it would not fit, and breaks where that is still too long.
pub fn round(results: &[MeasureDocument], width: Option<usize>) -> String {
    let forms = [Form::Whole, Form::TimeOfDay, Form::WithoutRatios].map(|form| visible(&in_form(results, form)));
    let fits = |line: &&String| width.is_none_or(|width| line.chars().count() <= width);
    let [.., shortest] = &forms;
    match forms.iter().find(fits) {
        Some(line) => line.clone(),
        None => in_lines(shortest, "", "    ", width.unwrap_or(usize::MAX)).join("\n"),
    }
}

/// How much a line says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Whole,
    TimeOfDay,
    WithoutRatios,
}

fn in_form(results: &[MeasureDocument], form: Form) -> String {
    let time = results.first().map_or("", |result| &result.provenance.time);
    let time = match time.split_once('T') {
        Some((_, of_day)) if form != Form::Whole => of_day,
        _ => time,
    };
    let told: Vec<String> = results.iter().map(|result| of_result(result, form)).collect();
    format!("{time}  {}", told.join("  |  "))
}

fn of_result(result: &MeasureDocument, form: Form) -> String {
    let label = &result.label;
    if result.runs.iter().all(|run| run.observed.kinds.total() == 0) {
        let why = result.failures.last().map_or("was not measured", |failure| &failure.message);
        return format!("{label} down: {why}");
    }
    let of_version = |tls: Version| {
        let runs: Vec<String> =
            result.runs.iter().filter(|run| run.asked.tls == tls).map(|run| of_run(result, run, form)).collect();
        (!runs.is_empty()).then(|| format!("{}: {}", tls.number(), runs.join(", ")))
    };
    let versions: Vec<String> = [Version::Tls12, Version::Tls13].into_iter().filter_map(of_version).collect();
    let failed = match result.all_connections.failed {
        0 => String::new(),
        failed => format!("  {failed} failed"),
    };
    let changed = result.baseline.as_ref().map(|baseline| {
        use reprise_model::document::Change::{Faster, Slower};
        let of =
            |wanted| baseline.phases.iter().filter(|it| it.phase.is_after_connecting() && it.judged().2 == wanted).count();
        let (slower, faster, other) = (of(Slower), of(Faster), baseline.differences.len());
        format!("  against the baseline: {slower} slower, {faster} faster, {other} different")
    });
    let cut_short = if result.interrupted { "  cut short" } else { "" };
    format!("{label}  {}{failed}{}{cut_short}", versions.join("; "), changed.unwrap_or_default())
}

fn of_run(result: &MeasureDocument, run: &Run, form: Form) -> String {
    let kind = run.asked.kind;
    let all = run.made();
    let Some(tls) = run.phases.get(&Phase::Tls) else { return format!("{kind} 0 of {all}") };
    let ratio = result
        .ratio(run.asked, Phase::Tls)
        .filter(|_| form != Form::WithoutRatios)
        .map(|it| format!(" ×{:.1}", it.median))
        .unwrap_or_default();
    let missed = if run.n < all { format!(" {} of {all}", run.n) } else { String::new() };
    format!("{kind} {}{ratio}{missed}", Nanos(tls.median_ns))
}
