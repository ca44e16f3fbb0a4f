//! Worlds that another program holds: one JSON value a line, in virtual time.
//!
//! ```text
//! program  {"world": 7, "connections": 60, "seconds": 40}
//! judge    {"connect": 0, "after": null, "offer": null, "variation": "plain"}
//! program  {"outcome": "full", "key": "a1", "now": 0.031}
//! ...
//! judge    {"conclude": [{"cause": "hidden-nodes", "confidence": "certain", "odds": 5000.0}]}
//! program  {"world": 8, ...}, or at the end {"done": {"worlds": 500, "false_certain": 0, ...}}
//! ```
//!
//! Of a connection the program may say besides what the application answered, `"answer": "well"`, `"error"` or `"unavailable"`, and of one that
//! failed, `"accepted": true`: the server had accepted the session by then. Without them it was answered well, and nothing had been accepted.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use reprise_judge::{Budget, ConnectionAnswer, ServerExamination};
use reprise_model::document::Confidence;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::JudgeArguments;
use super::world::{Answer, Connected, Outcome};

#[derive(Deserialize)]
struct Begin {
    connections: usize,
    seconds: f64,
}

#[derive(Serialize, Deserialize)]
struct Connect {
    connect: usize,
    after: Option<f64>,
    offer: Option<usize>,
    variation: String,
}

#[derive(Serialize, Deserialize)]
struct Became {
    outcome: Outcome,
    #[serde(default)]
    accepted: bool,
    #[serde(default)]
    answer: Answer,
    #[serde(default)]
    key: Option<String>,
    now: f64,
}

#[derive(Deserialize)]
struct Said {
    cause: String,
    confidence: String,
}

/// Examines every server that `program` holds, and prints its last line.
pub(crate) fn examine(program: &str) -> anyhow::Result<()> {
    let mut words = program.split_whitespace();
    let name = words.next().context("no program is named")?;
    let mut child = Command::new(name)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {name}"))?;
    let (input, output) =
        child.stdin.take().zip(child.stdout.take()).context("the program has no standard input or output")?;
    let done = Lines { input: BufReader::new(output), output: input }.examine_all()?;
    println!("{done}");
    let status = child.wait()?;
    if !status.success() {
        bail!("{name} ended with {status}");
    }
    Ok(())
}

/// The other side, by lines.
struct Lines<R, W> {
    input: R,
    output: W,
}

impl<R: BufRead, W: Write> Lines<R, W> {
    fn send(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        serde_json::to_writer(&mut self.output, value)?;
        writeln!(self.output)?;
        Ok(self.output.flush()?)
    }

    /// The next value; `None` at the end.
    fn receive(&mut self) -> anyhow::Result<Option<Value>> {
        let mut line = String::new();
        if self.input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        Ok(Some(serde_json::from_str(&line).with_context(|| format!("not a JSON value: {}", line.trim_end()))?))
    }

    /// What the program says of all in the end.
    fn examine_all(&mut self) -> anyhow::Result<Value> {
        loop {
            let value = self.receive()?.context("the program ended without a line of what it found")?;
            if value.get("done").is_some() {
                return Ok(value);
            }
            let Begin { connections, seconds } =
                serde_json::from_value(value.clone()).with_context(|| format!("not the beginning of a world: {value}"))?;
            self.examine_one(Budget { connections, seconds })?;
        }
    }

    fn examine_one(&mut self, budget: Budget) -> anyhow::Result<()> {
        let mut examination = ServerExamination::new(budget);
        while let Some(request) = examination.next_request() {
            let variation = request.variation.name().to_owned();
            self.send(&Connect { connect: request.connection, after: request.after, offer: request.offer, variation })?;
            let value = self.receive()?.context("the program ended within a world")?;
            let became: Became = serde_json::from_value(value.clone())
                .with_context(|| format!("not what became of a connection: {value}"))?;
            let Became { outcome, accepted, answer, key, now } = became;
            let (outcome, answered, key) = (outcome.judged(accepted), answer.into(), key.as_deref());
            examination.answer(request, ConnectionAnswer { outcome, answered, key, now, sessions: 1 });
        }
        let said = examination.conclusions();
        let said = said.iter().filter(|it| it.confidence != Confidence::Possible);
        let said: Vec<Value> =
            said.map(|it| json!({"cause": it.cause.slug(), "confidence": it.confidence, "odds": it.odds})).collect();
        self.send(&json!({ "conclude": said }))
    }
}

/// Holds the simulated servers for a judge on standard input and output.
pub(crate) fn serve(arguments: &JudgeArguments) -> anyhow::Result<()> {
    let mut lines = Lines { input: std::io::stdin().lock(), output: std::io::stdout().lock() };
    let [mut false_certain, mut false_likely, mut found, mut needed] = [0; 4];
    for number in arguments.first..arguments.first + arguments.worlds {
        let mut world = arguments.world_of(number)?;
        lines.send(&json!({"world": number, "connections": arguments.connections, "seconds": arguments.seconds}))?;
        let said = loop {
            let value = lines.receive()?.context("the judge ended within a world")?;
            if let Some(said) = value.get("conclude") {
                break serde_json::from_value::<Vec<Said>>(said.clone())?;
            }
            let Connect { after, offer, variation, .. } = serde_json::from_value(value)?;
            let Connected { outcome, accepted, answer, key, now, .. } = world.connect(offer, &variation, after);
            lines.send(&Became { outcome, accepted, answer, key, now })?;
        };
        let is_false = |confidence: &str| {
            said.iter().any(|it| {
                it.confidence == confidence && !world.spec.right.iter().any(|group| group.contains(&it.cause.as_str()))
            })
        };
        false_certain += usize::from(is_false("certain"));
        false_likely += usize::from(is_false("likely"));
        if world.spec.is_decidable {
            needed += 1;
            let is_found = |group: &&[&str]| said.iter().any(|it| group.contains(&it.cause.as_str()));
            found += usize::from(world.spec.right.iter().all(is_found));
        }
    }
    lines.send(&json!({"done": {
        "worlds": arguments.worlds,
        "false_certain": false_certain,
        "false_likely": false_likely,
        "found": found,
        "needed": needed,
    }}))
}
