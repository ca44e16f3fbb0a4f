//! What is shown of a load.

mod charts;
mod stages;
mod sweep;

use reprise_model::document::{LoadCpuLimit, LoadDocument, LoadLatency, LoadStep, LoadStepTarget, Verdict};
use reprise_model::{Kind, Phase};

use reprise_diagnosis::answers;
use reprise_page::conditions::conditions;
use reprise_page::figures::Figure;
use reprise_page::table::{Rows, Table, Tone};
use reprise_page::{Block, Fact, Item, Page, Shown, counted, offered_as, responses, section, source, title};

use crate::paged_document::PagedDocument;

impl PagedDocument for LoadDocument {
    fn page(&self, _shown: Shown) -> Page {
        let mut blocks = vec![Block::Facts(facts(self)), Block::Summary(summary(self))];
        let mut of_load: Vec<Block> = charts::charts(self).into_iter().map(Block::Chart).collect();
        of_load.extend(section("Stages", stages::table(self), about_stages(self)));
        // None of them where a load was cut short in its warm-up.
        of_load.extend(section("Connections", connections(self), None));
        let about_queue = reprise_results::about_queue(self).map(Block::Aside);
        of_load.extend(section("Latency", latencies(self), about_queue));
        match &self.sweep {
            Some(sweep) => {
                blocks.extend(sweep::charts(sweep).into_iter().map(Block::Chart));
                blocks.extend(sweep::blocks(sweep, self.plan.as_ref()));
                let share = sweep.shares.last().map_or(0.0, |share| share.asked * 100.0);
                of_load.insert(0, Block::Heading(format!("The load of which {share:.0} % offer a session")));
                blocks.push(Block::Secondary(of_load));
            }
            None => blocks.extend(of_load),
        }
        blocks.extend(Block::secondary(section("Rates tried", steps(self), None)));
        blocks.push(source(&self.provenance));
        Page::new("load", format!("{} under load", title(&self.target)), blocks)
    }

    fn is_nothing(&self) -> bool {
        !self.has_any()
    }

    fn is_cut_short(&self) -> bool {
        self.interrupted
    }
}

/// The answer: the rate, how long connections took at it, and what bounded it.
fn summary(document: &LoadDocument) -> Vec<Block> {
    let mut summary = Vec::new();
    if document.interrupted {
        summary.push(Block::warning(match document.sweep {
            Some(_) => "Incomplete: the share that was under way was cut short, and those that were to come are missing",
            None => "Incomplete: these are the connections made until then",
        }));
    }
    summary.extend(answer(document).map(Block::Paragraph));
    summary.push(Block::Item(verdict(document)));
    summary.extend(conditions(&document.conditions));
    summary.extend(document.warnings.iter().map(Block::warning));
    summary
}

/// "525 connections/s within p99 20 ms, the highest rate tried"; without a search the rate that came about, and the whole connection's
/// latency of each kind.
fn answer(document: &LoadDocument) -> Option<String> {
    if let Some(answer) = document.sweep.as_ref().and_then(|sweep| sweep::answer(sweep, document.plan.as_ref())) {
        return Some(answer);
    }
    if let Some(target) = document.asked.step {
        return Some(format!("{}.", found(target, &document.steps)));
    }
    (document.total_completed() > 0).then(|| {
        let of_kind = |(kind, phases): (&Kind, &std::collections::BTreeMap<Phase, LoadLatency>)| {
            // Where connections began late, what held them up is a part of how long they took.
            let from_intended = document.latency_from_intended_ns.get(kind).filter(|_| document.not_started > 0);
            let total = from_intended.or(phases.get(&Phase::Total))?;
            let [median, p99] = [total.p50, total.p99].map(|ns| duration(ns as f64 / 1e9));
            Some(format!("{kind} takes {median} (median), {p99} (p99)"))
        };
        let kinds: Vec<String> = document.latency_ns.iter().filter_map(of_kind).collect();
        let kinds = match document.answers_differ.first() {
            Some(it) => format!(
                "; but {} of {} resumed connections are answered with {}, full handshakes with {}, so that their times do not compare",
                it.resumed.connections,
                it.resumed.of,
                answers::answer(it, &it.resumed),
                answers::answer(it, &it.full)
            ),
            None if kinds.is_empty() => String::new(),
            None => format!(": {}", kinds.join("; ")),
        };
        let failed = match document.total_errors() {
            0 if !document.answers_differ.is_empty() => "no handshake failed".to_owned(),
            0 => "none failed".to_owned(),
            failed => format!("{failed} failed"),
        };
        let refused = match document.refused {
            0 => String::new(),
            count => format!(", {} that offered a session made a full handshake", counted(count, "connection")),
        };
        let not_started = match document.not_started {
            0 => String::new(),
            count => format!(", {} never began, because every place was taken", counted(count, "more connection")),
        };
        format!("{:.0} connections/s complete, {failed}{refused}{not_started}{kinds}.", document.rate.mean)
    })
}

fn facts(document: &LoadDocument) -> Vec<Fact> {
    let asked = &document.asked;
    let shape = match (asked.connections, asked.rate) {
        (Some(connections), _) => format!("{} at once", counted(connections, "connection")),
        (None, Some(_)) if !document.stages.is_empty() => stages::asked(&document.stages),
        (None, Some(rate)) => format!("{rate} connections/s"),
        (None, None) => "not said".to_owned(),
    };
    let mix: Vec<String> = asked
        .mix
        .iter()
        .map(|(kind, weight)| if asked.mix.len() > 1 { format!("{kind}={weight}") } else { kind.to_string() })
        .collect();
    let generators = if document.generators > 1 { format!("{} generators, ", document.generators) } else { String::new() };
    let mut facts = vec![
        Fact::new(
            "asked",
            format!(
                "TLS {}, {}, {shape}, {} each",
                asked.tls.number(),
                mix.join(" "),
                counted(asked.requests.into(), "request")
            ),
        ),
        Fact::new(
            "client",
            format!(
                "{generators}{}, {} key shares{}{}",
                counted(asked.threads, "thread"),
                asked.key_shares,
                if asked.verify { ", certificates verified" } else { "" },
                limited(document.bottleneck.client_limit.as_ref())
            ),
        ),
        Fact::new("rate", format!("{:.0} connections/s over {}", document.rate.mean, duration(document.seconds))),
    ];
    facts.extend(offered_as(document.target.like.as_ref(), document.target.ech_grease));
    facts.extend(document.sweep.as_ref().map(|sweep| Fact::new("sweep", sweep::asked(sweep))));
    facts.extend(responses(&document.http_status));
    if !document.alpn.is_empty() {
        let protocols: Vec<String> = document.alpn.iter().map(|(name, count)| format!("{name} × {count}")).collect();
        facts.push(Fact::new("ALPN", protocols.join(", ")));
    }
    if document.primed > 0 || document.refused > 0 || document.failed_offers > 0 {
        let full = counted(document.primed, "full handshake");
        let failed = match document.failed_offers {
            0 => String::new(),
            failed => format!(", {} failed that offered one", counted(failed, "connection")),
        };
        facts.push(Fact::new("sessions", format!("{full} for lack of one, {} refused{failed}", document.refused)));
    }
    let (completed, failed) = (document.warmup_completed, document.total_warmup_errors());
    if completed > 0 || failed > 0 {
        facts.push(Fact::new("warm-up", format!("{completed} completed, {failed} failed, excluded from the counts below")));
    }
    let each = document.completed_at_any_time();
    if each > 0 {
        let micros = |ns: u64| ns as f64 / 1e3 / each as f64;
        let client = document.client_cpu_ns;
        let text = format!(
            "{:.0} µs a connection: {:.0} in the program, {:.0} in the kernel",
            micros(client.user.saturating_add(client.system)),
            micros(client.user),
            micros(client.system)
        );
        facts.push(Fact::new("client CPU", text));
        if let Some(server) = document.server_cpu_ns {
            let limit = limited(document.bottleneck.server_limit.as_ref());
            facts.push(Fact::new("server CPU", format!("{:.0} µs a connection{limit}", micros(server))));
        }
    }
    facts
}

/// The highest rate that held, and the lowest above it that did not.
fn found(target: LoadStepTarget, steps: &[LoadStep]) -> String {
    let rates = |passed| steps.iter().filter(move |step| step.passed == passed).map(|step| step.rate);
    let held = rates(true).reduce(f64::max);
    let missed = rates(false).filter(|rate| held.is_none_or(|held| *rate > held)).reduce(f64::min);
    let limit = format!("{} within {}", quantile(target), duration(target.latency_ns as f64 / 1e9));
    match (held, missed) {
        (Some(held), Some(missed)) => format!("{limit}: held at {held:.1} connections/s, not at {missed:.1}"),
        (Some(held), None) => format!("{limit}: held at {held:.1} connections/s, the highest rate tried"),
        (None, _) => {
            let lowest = steps.iter().map(|step| step.rate).reduce(f64::min).unwrap_or_default();
            format!("{limit}: not held at any rate tried, down to {lowest:.1} connections/s")
        }
    }
}

/// As `--step` takes it: p99.9.
fn quantile(target: LoadStepTarget) -> String {
    format!("p{}", (target.quantile * 1e8).round() / 1e6)
}

/// Of a second or more, or less than one.
fn duration(seconds: f64) -> String {
    if seconds < 0.95 { format!("{} ms", (seconds * 1e4).round() / 10.0) } else { format!("{seconds:.1} s") }
}

/// A limit that did not run out is worth knowing too.
fn limited(limit: Option<&LoadCpuLimit>) -> String {
    limit.map(|limit| format!(", limited to {}", limit.in_words())).unwrap_or_default()
}

fn connections(document: &LoadDocument) -> Table {
    let seconds = document.seconds.max(1e-9);
    let mean = |kind: &Kind, count: u64| document.rate.mean_by_kind.get(kind).copied().unwrap_or(count as f64 / seconds);
    let completed =
        document.completed.iter().map(|(kind, count)| (kind.name(), *count, Some(mean(kind, *count)), Tone::Plain));
    let errors =
        document.errors.iter().map(|(name, count)| (name.as_str(), *count, Some(*count as f64 / seconds), Tone::Fault));
    // What is in no rate has none.
    let beside = [("late", document.late), ("not started", document.not_started)];
    let beside = beside.into_iter().filter(|(_, count)| *count > 0).map(|(name, count)| (name, count, None, Tone::Plain));
    Rows::of(completed.chain(errors).chain(beside))
        .words("outcome", |(name, ..)| name)
        .figures("n", "", |(_, count, ..)| Figure::count(count))
        .figures("a second", "", |(_, _, rate, _)| {
            Figure::plain(rate.map_or("–".to_owned(), |rate: f64| format!("{rate:.1}")))
        })
        .toned(|(.., tone)| tone)
        .table()
}

/// Of fewer connections, p99.9 is the maximum under another name.
const FEWEST_FOR_P999: u64 = 1000;

/// The p99.9 of a kind that has enough connections.
fn p999(document: &LoadDocument, kind: Kind, latency: &LoadLatency) -> Option<u64> {
    let completed = document.completed.get(&kind).copied().unwrap_or_default();
    (completed >= FEWEST_FOR_P999).then_some(latency.p999)
}

fn latencies(document: &LoadDocument) -> Table {
    let latencies = document.latency_ns.iter().flat_map(|(kind, phases)| {
        let phases = Phase::ALL.into_iter().filter_map(|phase| Some((*kind, phase.name(), phases.get(&phase)?)));
        phases.chain(document.latency_from_intended_ns.get(kind).map(|latency| (*kind, "from intended", latency)))
    });
    let shown = |ns: Option<u64>| Figure::plain(ns.map_or("–".to_owned(), |ns| format!("{:.3}", ns as f64 / 1e6)));
    Rows::of(latencies)
        .words("kind", |(kind, ..)| kind.name())
        .words("phase", |(_, phase, _)| phase)
        .figures("p50", "ms", |(.., it)| shown(Some(it.p50)))
        .figures("p90", "ms", |(.., it)| shown(Some(it.p90)))
        .figures("p95", "ms", |(.., it)| shown(it.p95))
        .dispensable(0)
        .figures("p99", "ms", |(.., it)| shown(Some(it.p99)))
        .figures("p99.9", "ms", |(kind, _, it)| shown(p999(document, kind, it)))
        .figures("max", "ms", |(.., it)| shown(Some(it.max)))
        .secondary_rows(|(_, phase, _)| ["resolve", "connect", "wait", "receive"].contains(&phase))
        .table()
}

fn steps(document: &LoadDocument) -> Table {
    Rows::of(&document.steps)
        .figures("asked", "/s", |step| Figure::plain(format!("{:.1}", step.rate)))
        .figures("held", "/s", |step| Figure::plain(format!("{:.1}", step.held)))
        .figures(&document.asked.step.map_or("latency".to_owned(), quantile), "ms", |step| {
            Figure::plain(format!("{:.3}", step.latency_ns as f64 / 1e6))
        })
        .figures("n", "", |step| Figure::count(step.samples))
        .figures("errors", "", |step| Figure::count(step.errors))
        .figures("not started", "", |step| Figure::count(step.not_started))
        .words("held?", |step| if step.passed { "yes" } else { "no" })
        .toned(|step| if step.passed { Tone::Gain } else { Tone::Plain })
        .table()
}

fn about_stages(document: &LoadDocument) -> Option<Block> {
    let server =
        if document.server_cpu_ns.is_some() { " Server CPU: of one processor, while the stage lasted." } else { "" };
    let text = format!(
        "A connection counts in the stage in which it was due, whenever it ended. Latency: from the intended start.{server}"
    );
    (!document.stages.is_empty()).then_some(Block::Aside(text))
}

fn verdict(document: &LoadDocument) -> Item {
    let bottleneck = &document.bottleneck;
    // One that waits more than it runs is held up by those with whom it shares the processors, or by its CPU limit.
    let is_starved = bottleneck.server_waiting > bottleneck.server_busy;
    let (slug, text) = match bottleneck.verdict {
        Verdict::Server if is_starved => ("server-bound", "The server had too few processors to itself"),
        Verdict::Server => ("server-bound", "The server was the bottleneck"),
        Verdict::Client => ("client-bound", "The generator was the bottleneck"),
        Verdict::Network => ("network-bound", "Neither server nor generator was the bottleneck"),
        Verdict::None => ("not-bound", "There was no bottleneck"),
        Verdict::Unknown => ("bound-unknown", "The bottleneck is unknown"),
    };
    let tone = if bottleneck.verdict == Verdict::Client { Tone::Warning } else { Tone::Plain };
    let evidence = vec![bottleneck.reason.clone()];
    Item { slug: Some(slug.to_owned()), evidence, ..Item::new("verdict", tone, text) }
}
