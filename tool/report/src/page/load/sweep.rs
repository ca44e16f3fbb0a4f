//! A sweep over the share of resumed connections, and the plan that follows from it.

use reprise_model::document::{LoadCosts, LoadPlan, LoadShare, LoadSweep};
use reprise_page::chart::{Axis, Chart, Lines, Plot, Series};
use reprise_page::figures::Figure;
use reprise_page::table::{Rows, Table, Tone};
use reprise_page::{Block, section};

use super::duration;

/// Columns of the longest bar.
const WIDTH: f64 = 16.0;

/// The table of the shares, what a connection costs, and the plan.
pub(super) fn blocks(sweep: &LoadSweep, plan: Option<&LoadPlan>) -> Vec<Block> {
    let mut blocks = section("Shares of resumed connections", shares(sweep), None);
    if let Some(plan) = plan {
        let sentences = recovery(plan).into_iter().chain([model(plan)]).map(Block::Paragraph);
        blocks.extend(section(&format!("Plan for {} connections/s", plan.rate), capacity(plan), sentences));
    }
    blocks
}

/// The answer in a sentence or two; `None` where neither costs nor a plan are known.
pub(super) fn answer(sweep: &LoadSweep, plan: Option<&LoadPlan>) -> Option<String> {
    let costs = sweep.costs.map(cost)?;
    let plan = plan.map(|plan| {
        format!(
            " {} connections/s need {:.2} processors{} at {} % resumed, and {:.2}{} after a restart without sessions.",
            plan.rate,
            plan.processors,
            ends(plan.processors_ci95),
            percent(plan.share),
            plan.restart_processors,
            ends(plan.restart_processors_ci95)
        )
    });
    Some(costs + &plan.unwrap_or_default())
}

fn ends(ci95: Option<[f64; 2]>) -> String {
    ci95.map(|[low, high]| format!(" ({low:.2}–{high:.2})")).unwrap_or_default()
}

/// "A full connection costs the server 512 µs (480–540), a resumed one 190 µs (170–210)."
fn cost(costs: LoadCosts) -> String {
    let micros = |ns: u64, ends: Option<[u64; 2]>| {
        let shown = |ns: u64| format!("{:.0}", ns as f64 / 1e3);
        let ends = ends.map(|[low, high]| format!(" ({}–{})", shown(low), shown(high)));
        format!("{} µs{}", shown(ns), ends.unwrap_or_default())
    };
    format!(
        "A full connection costs the server {} of processor time, a resumed one {}.",
        micros(costs.full_ns, costs.full_ci95_ns),
        micros(costs.resumed_ns, costs.resumed_ci95_ns)
    )
}

/// "0, 50, 100 % of the connections offered a session".
pub(super) fn asked(sweep: &LoadSweep) -> String {
    let shares = sweep.shares.iter().map(|share| format!("{:.0}", share.asked * 100.0));
    let highest = sweep.shares.last().map_or(0.0, |share| share.asked * 100.0);
    let shares = shares.collect::<Vec<_>>().join(", ");
    format!("{shares} % of the connections offered a session; what stands here is of {highest:.0} %")
}

fn percent(share: f64) -> f64 {
    (share * 1e3).round() / 10.0
}

fn shares(sweep: &LoadSweep) -> Table {
    let bar = |value: fn(&LoadShare) -> Option<f64>| {
        let most = sweep.shares.iter().filter_map(value).fold(f64::MIN_POSITIVE, f64::max);
        move |share: &LoadShare| "█".repeat((value(share).unwrap_or_default() / most * WIDTH).round() as usize)
    };
    let cpu = |share: &LoadShare| share.server_cpu_ns.map(|ns| ns as f64 / 1e3);
    Rows::of(&sweep.shares)
        .figures("offered", "%", |it| Figure::percent(it.asked))
        .figures("resumed", "%", |it| it.resumed.map(|share| Figure::plain(format!("{:.1}", percent(share)))))
        .figures("n", "", |it| Figure::count(it.connections))
        .dispensable(0)
        .figures("failed", "", |it| Figure::count(it.failed))
        .figures("rate", "/s", |it| Figure::plain(format!("{:.1}", it.rate)))
        .words("", bar(|it| Some(it.rate)))
        .dispensable(1)
        .figures("server CPU", "µs", |it| cpu(it).map(|micros| Figure::plain(format!("{micros:.0}"))))
        .words("", bar(cpu))
        .dispensable(2)
        .words("bottleneck", |it| it.bottleneck.name())
        .toned(|it| if it.failed > 0 { Tone::Fault } else { Tone::Plain })
        .table()
}

fn capacity(plan: &LoadPlan) -> Table {
    let share = if plan.share_is_measured { "as the load with most sessions" } else { "today" };
    let rows = [
        (share, plan.share, plan.processors, plan.processors_ci95),
        ("after a restart without sessions", 0.0, plan.restart_processors, plan.restart_processors_ci95),
    ];
    Rows::of(&rows)
        .words("", |(when, ..)| *when)
        .figures("resumed", "%", |(_, share, ..)| Figure::plain(format!("{:.1}", percent(*share))))
        .figures("processors", "", |(_, _, processors, _)| Figure::plain(format!("{processors:.2}")))
        .words("95 %", |(.., ends)| ends.map(|[low, high]| format!("{low:.2}–{high:.2}")).unwrap_or_default())
        .table()
}

/// How long the recovery takes, or why it never ends; `None` where nobody asked.
fn recovery(plan: &LoadPlan) -> Option<String> {
    let (gap, clients) = (plan.gap_ns? as f64 / 1e9, plan.clients?);
    let has = if plan.server_processors_are_given { "The server has" } else { "The measured server can use" };
    let has = format!("{has} {:.2} processors", plan.server_processors);
    Some(match plan.recovery_ns.map(|ns| ns as f64 / 1e9) {
        None => format!(
            "{has}, too few for {} connections/s even at {} % resumed: the backlog grows without end. --cores sets how many it is to have.",
            plan.rate,
            percent(plan.share)
        ),
        Some(0.0) => {
            format!("{has}. A restart costs it nothing, since resuming saves nothing at {} %.", percent(plan.share))
        }
        Some(recovery) if recovery > gap => format!(
            "{has}, too few for {:.2}: connections wait after the restart, and it takes {} until {clients} clients resume as before and \
             the backlog is gone.",
            plan.restart_processors,
            duration(recovery)
        ),
        Some(recovery) if plan.restart_processors_ci95.is_some_and(|[_, high]| high > plan.server_processors) => format!(
            "{has}, enough for the restart by the estimate and not by its interval: if they are, each of the {clients} clients has connected \
             once after {}. A longer --duration and more shares make the interval narrower.",
            duration(recovery)
        ),
        Some(recovery) => format!(
            "{has}, enough for the restart: after {} each of the {clients} clients has connected once and resumes as before.",
            duration(recovery)
        ),
    })
}

/// What the figures assume.
fn model(plan: &LoadPlan) -> String {
    let gap = plan.gap_ns.map(|gap| format!(" every {}", duration(gap as f64 / 1e9))).unwrap_or_default();
    let assumed = match plan.share_is_measured {
        true => "The share of resumed connections is that of this load: --share says what yours is. ",
        false => "",
    };
    format!(
        "{assumed}The model: clients connect{gap}, each makes one full handshake after the restart, and none gives up. Processors are those of this \
         machine, busy all the time: leave room."
    )
}

/// The rate and the server's processor time over the share.
pub(super) fn charts(sweep: &LoadSweep) -> Vec<Chart> {
    let points = |value: &dyn Fn(&LoadShare) -> Option<f64>| -> Vec<(f64, f64)> {
        let mut points: Vec<(f64, f64)> =
            sweep.shares.iter().filter_map(|it| Some((it.resumed? * 100.0, value(it)?))).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        points
    };
    let chart = |title: &str, unit: &str, measured: Vec<(f64, f64)>, fit: Option<Series>| {
        let described = measured.iter().map(|(share, value)| format!("{share:.1} %: {value:.1}"));
        let description = format!("In {unit}. {}.", described.collect::<Vec<_>>().join("; "));
        // Two points at least make a line.
        (measured.len() > 1).then(|| Chart {
            title: title.to_owned(),
            description,
            plot: Plot::Lines(Lines {
                x: Axis::from_zero("% of connections that resumed"),
                y: Axis::from_zero(unit),
                series: [Series { name: "measured".to_owned(), points: measured }].into_iter().chain(fit).collect(),
                is_stepped: false,
            }),
        })
    };
    let fit = sweep.costs.map(|costs| Series {
        name: "line of least squares".to_owned(),
        points: vec![(0.0, costs.full_ns as f64 / 1e3), (100.0, costs.resumed_ns as f64 / 1e3)],
    });
    let cpu = points(&|it| Some(it.server_cpu_ns? as f64 / 1e3));
    let rate = points(&|it| Some(it.rate));
    let charts = [
        chart("Server processor time for each connection", "µs", cpu, fit),
        chart("Connections completed each second, by the share that resumed", "connections/s", rate, None),
    ];
    charts.into_iter().flatten().collect()
}
