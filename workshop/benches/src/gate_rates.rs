//! How often a gate against a baseline cries wolf, and how often it finds a slower server.
//!
//! Two servers of the lab, alike but for a loop before each signature of one, are measured in turns by the `reprise` that was
//! built beside this program. Then each result of the unchanged one is held against the one before it (an alarm is false), and each
//! of the slowed one against the unchanged one before it (an alarm is right): by the verdict, and by `--fail-if` conditions as a
//! user gives them.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod slow_key;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, ensure};
use clap::Parser;
use reprise_lab::{Authority, EmbeddedConfig, EmbeddedResumption, EmbeddedServer, KeyKind, ServerSpec};
use reprise_model::document::{ChangeCause, MeasureDocument};
use reprise_model::{Kind, Phase, Version};
use reprise_results::{Condition, ConditionJudgement, ConditionSubject, EarlierResult, Scope, compare};

#[derive(Parser)]
struct Arguments {
    /// Results of each server, at least five
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(5..))]
    runs: u32,
    /// Number of connections per version and kind, as of `reprise measure`
    #[arg(long, default_value_t = 100)]
    count: u32,
    /// By how many per cent of a full handshake the loop slows the other server down
    #[arg(long, default_value_t = 20.0)]
    slower: f64,
    /// Where the results are kept, to be judged again without measuring: `unchanged-N.json` and `slowed-N.json`
    #[arg(long, default_value = "target/gate-rates")]
    results: PathBuf,
    /// Measure nothing: judge the results that are there
    #[arg(long)]
    again: bool,
    /// The conditions to judge by; by default those that the guide recommends, and one that it advises against
    #[arg(long = "fail-if")]
    fail_if: Vec<String>,
}

const CONDITIONS: [&str; 9] = [
    "kinds.ticket < 100%",
    "baseline.tls.slower > 0",
    "baseline.1.3.tls.full.change.low > 0%",
    "baseline.1.3.tls.full.change > 10%",
    "baseline.server_cpu > 15%",
    "baseline.tls.resumed.ratio.low > 5%",
    "baseline.tls.raw_change.low > 0%",
    "baseline.tls.raw_change > 10%",
    "tls.resumed.ratio < 1.5",
];

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    if !arguments.again {
        measure(&arguments)?;
    }
    let unchanged = read(&arguments.results, "unchanged")?;
    let slowed = read(&arguments.results, "slowed")?;
    ensure!(unchanged.len() >= 5, "five results of each server are the least, in {}", arguments.results.display());
    let given = arguments.fail_if;
    let texts = if given.is_empty() { CONDITIONS.map(str::to_owned).to_vec() } else { given };
    let read = |text: &String| Condition::read(text, &ConditionSubject::Measurement);
    let conditions = texts.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    print(&conditions, &unchanged, &slowed);
    Ok(())
}

fn measure(arguments: &Arguments) -> anyhow::Result<()> {
    let reprise = std::env::current_exe()?.with_file_name("reprise");
    ensure!(reprise.exists(), "no {}: build it with 'cargo build --release -p reprise-cli'", reprise.display());
    fs::create_dir_all(&arguments.results)?;
    let authority = Authority::new()?;
    let identity = authority.server(&ServerSpec::new(KeyKind::P256))?;
    let ca = arguments.results.join("ca.pem");
    fs::write(&ca, authority.pem())?;
    let start = |work_before_signature| {
        let config = EmbeddedConfig { resumption: EmbeddedResumption::Ticket, ..EmbeddedConfig::new(identity.clone()) };
        let mut tls = config.to_rustls()?;
        if work_before_signature > 0 {
            slow_key::slow_down(&mut tls, &identity, work_before_signature)?;
        }
        EmbeddedServer::start_with(config, Arc::new(tls)).context("cannot start a server")
    };
    let measure = |server: &EmbeddedServer, name: &str| -> anyhow::Result<MeasureDocument> {
        let file = arguments.results.join(format!("{name}.json"));
        let mut command = Command::new(&reprise);
        command.args(["measure", &server.address().to_string(), "--count", &arguments.count.to_string(), "--ca"]);
        // Both servers are in this process, and one of them has nothing to do.
        command.arg(&ca).args(["--server-pid", &std::process::id().to_string()]);
        let done = command.arg("--json").arg(&file).output()?;
        ensure!(done.status.success(), "reprise: {}", String::from_utf8_lossy(&done.stderr));
        document(&file)
    };
    let unchanged = start(0)?;
    let first = (0..5).map(|_| measure(&unchanged, "first")).collect::<anyhow::Result<Vec<_>>>()?;
    let usual = median(first.iter().filter_map(tls_of_full)).context("no full handshake")?;
    let rounds = (usual * arguments.slower / 100.0 / nanos_of_a_round()) as u64;
    let slowed = start(rounds)?;
    eprintln!("the slowed server does {rounds} rounds more before each signature");
    for run in 0..arguments.runs {
        measure(&unchanged, &format!("unchanged-{run:03}"))?;
        measure(&slowed, &format!("slowed-{run:03}"))?;
        eprintln!("{} of {}", run + 1, arguments.runs);
    }
    Ok(())
}

/// The least of several, since whatever disturbs it makes it longer.
fn nanos_of_a_round() -> f64 {
    const ROUNDS: u64 = 2_000_000;
    let timed = || {
        let begun = Instant::now();
        slow_key::spin(ROUNDS);
        begun.elapsed().as_nanos() as f64 / ROUNDS as f64
    };
    (0..20).map(|_| timed()).fold(f64::INFINITY, f64::min)
}

fn tls_of_full(document: &MeasureDocument) -> Option<f64> {
    let run = document.run(Version::Tls13, Kind::Full)?;
    run.phases.get(&Phase::Tls).map(|statistics| statistics.median_ns as f64)
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn read(folder: &Path, name: &str) -> anyhow::Result<Vec<MeasureDocument>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .with_context(|| folder.display().to_string())?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_name().and_then(|it| it.to_str()).is_some_and(|it| it.starts_with(&format!("{name}-"))))
        .collect();
    files.sort();
    files.iter().map(|file| document(file)).collect()
}

fn document(file: &Path) -> anyhow::Result<MeasureDocument> {
    serde_json::from_slice(&fs::read(file)?).with_context(|| file.display().to_string())
}

/// One result, and the earlier ones that it is held against.
type Case<'a> = (&'a MeasureDocument, Vec<&'a MeasureDocument>);

/// So many results make a baseline of several.
const SEVERAL: usize = 5;

fn print(conditions: &[Condition], unchanged: &[MeasureDocument], slowed: &[MeasureDocument]) {
    let medians = |results: &[MeasureDocument]| median(results.iter().filter_map(tls_of_full)).unwrap_or(f64::NAN) / 1e3;
    let (before, after) = (medians(unchanged), medians(slowed));
    println!(
        "{} results of each server; TLS 1.3 full, median of the medians: {before:.0} and {after:.0} µs ({:+.1} %)\n",
        unchanged.len(),
        (after / before - 1.0) * 100.0
    );
    let one: Vec<Case<'_>> = unchanged.windows(2).map(|pair| (&pair[1], vec![&pair[0]])).collect();
    let several = |now: &[MeasureDocument]| -> usize { now.len().saturating_sub(SEVERAL) };
    let before = |place: usize| unchanged[place..place + SEVERAL].iter().collect::<Vec<_>>();
    let unchanged_several: Vec<Case<'_>> =
        (0..several(unchanged)).map(|place| (&unchanged[place + SEVERAL], before(place))).collect();
    let slowed_one: Vec<Case<'_>> = slowed.iter().zip(unchanged).map(|(now, before)| (now, vec![before])).collect();
    let slowed_several: Vec<Case<'_>> =
        (0..several(slowed)).map(|place| (&slowed[place + SEVERAL], before(place))).collect();
    println!("| | unchanged, one baseline | {SEVERAL} baselines | slowed, one baseline | {SEVERAL} baselines |");
    println!("| --- | --- | --- | --- | --- |");
    let columns = [one, unchanged_several, slowed_one, slowed_several].map(|cases| alarms(conditions, &cases));
    for (place, name) in names(conditions).enumerate() {
        let cells = columns.iter().map(|(alarms, of)| format!("{} of {of}", alarms[place]));
        println!("| `{name}` | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
}

/// The verdict's first, as the page and the JSON have it.
fn names(conditions: &[Condition]) -> impl Iterator<Item = String> {
    std::iter::once("verdict.cause = tls".to_owned()).chain(conditions.iter().map(Condition::to_string))
}

/// How many alarms the verdict and each condition raise, of how many.
fn alarms(conditions: &[Condition], cases: &[Case<'_>]) -> (Vec<usize>, usize) {
    let mut alarms = vec![0; conditions.len() + 1];
    for (now, earlier) in cases {
        let earlier: Vec<EarlierResult<'_>> = earlier.iter().map(|result| EarlierResult { result, file: "" }).collect();
        let mut now = (*now).clone();
        now.baseline = compare(&now, &earlier, &Scope::default(), 1).map(Box::new);
        let verdict = now.baseline.as_ref().and_then(|it| it.verdict.as_ref());
        let by_verdict = verdict.is_some_and(|it| it.cause == ChangeCause::Tls);
        let by_condition = conditions.iter().map(|it| matches!(it.judge(&now), ConditionJudgement::Met(_)));
        for (alarms, is_raised) in alarms.iter_mut().zip(std::iter::once(by_verdict).chain(by_condition)) {
            *alarms += usize::from(is_raised);
        }
    }
    (alarms, cases.len())
}
