//! Has the judge examine servers of which the truth is known, and says how often it was right.

mod draw;
mod families;
mod line_protocol;
mod score;
mod spec;
mod world;

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Args;
use reprise_judge::{Budget, ConnectionAnswer, NextConnection, ServerExamination};

use self::score::{Score, Spent, Verdict};
use self::world::{Connected, World};

#[derive(Args)]
pub(crate) struct JudgeArguments {
    /// How many servers are simulated, of all families in turn.
    #[arg(long, default_value_t = 10_000)]
    worlds: u64,
    /// The number of the first; each number is a server.
    #[arg(long, default_value_t = 1_000_000)]
    first: u64,
    /// Connections that an examination may make.
    #[arg(long, default_value_t = 60)]
    connections: usize,
    /// Seconds of the server's time that an examination may take.
    #[arg(long, default_value_t = 40.0)]
    seconds: f64,
    /// Simulate servers of this family alone.
    #[arg(long)]
    family: Option<String>,
    /// Print each wrong conclusion and each cause that was not found.
    #[arg(long)]
    show: bool,
    /// Print each connection.
    #[arg(long)]
    connections_too: bool,
    /// Examine the servers that this program holds, over the line protocol on its standard input and output.
    #[arg(long, value_name = "PROGRAM ARGS")]
    world: Option<String>,
    /// Hold the simulated servers for a judge that speaks the line protocol on standard input and output.
    #[arg(long, conflicts_with = "world")]
    serve: bool,
}

/// Fails where the judge is wrong more often than docs/decisions/0052-judge.md allows.
pub(crate) fn run(arguments: &JudgeArguments) -> anyhow::Result<()> {
    if let Some(program) = &arguments.world {
        return line_protocol::examine(program);
    }
    if arguments.serve {
        return line_protocol::serve(arguments);
    }
    let score = examine_all(arguments)?;
    score.print();
    let faults = score.faults();
    if !faults.is_empty() {
        bail!("the judge is not good enough: {}", faults.join("; "));
    }
    Ok(())
}

impl JudgeArguments {
    fn budget(&self) -> Budget {
        Budget { connections: self.connections, seconds: self.seconds }
    }

    /// The server of this number.
    fn world_of(&self, number: u64) -> anyhow::Result<World> {
        let family = match &self.family {
            Some(name) => families::find(name).with_context(|| {
                format!("no family is called {name}; there are {}", families::names().collect::<Vec<_>>().join(", "))
            })?,
            None => families::of_number(number),
        };
        Ok(World::new(family, number))
    }
}

fn examine_all(arguments: &JudgeArguments) -> anyhow::Result<Score> {
    arguments.world_of(0)?;
    let next = AtomicU64::new(0);
    let work = || -> anyhow::Result<Score> {
        let mut score = Score::default();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            if place >= arguments.worlds {
                return Ok(score);
            }
            let number = arguments.first + place;
            let verdict = examine(&mut arguments.world_of(number)?, arguments);
            if arguments.show {
                verdict.print_if_wrong(number);
            }
            score.add(&verdict);
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut sum = Score::default();
        for worker in workers {
            match worker.join() {
                Ok(score) => sum.merge(score?),
                Err(_) => bail!("an examination panicked"),
            }
        }
        Ok(sum)
    })
}

/// Examines one simulated server.
fn examine(world: &mut World, arguments: &JudgeArguments) -> Verdict {
    let mut spent = Spent::default();
    let mut examination = timed(&mut spent.choosing, || ServerExamination::new(arguments.budget()));
    while let Some(request) = timed(&mut spent.choosing, || examination.next_request()) {
        let answer = world.connect(request.offer, request.variation.name(), request.after);
        if arguments.connections_too {
            println!("{request:?} {answer:?}");
        }
        timed(&mut spent.weighing, || tell(&mut examination, request, &answer));
    }
    let conclusions = examination.conclusions();
    Verdict::new(world, &examination, &conclusions, spent)
}

fn timed<T>(spent: &mut Duration, work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let done = work();
    *spent += began.elapsed();
    done
}

fn tell(examination: &mut ServerExamination, request: NextConnection, answer: &Connected) {
    let Connected { outcome, accepted, answer, key, now, sessions } = answer;
    let (outcome, answered, key) = (outcome.judged(*accepted), (*answer).into(), key.as_deref());
    let answer = ConnectionAnswer { outcome, answered, key, now: *now, sessions: *sessions };
    examination.answer(request, answer);
}
