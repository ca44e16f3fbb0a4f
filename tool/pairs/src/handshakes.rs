//! Handshakes of pairs of stacks: every pair and case made ready, then measured in turn.

use reprise_model::document::{
    CompareClock, CompareInstructions, CompareOver, CompareRow, CompareSamples, CompareSide, CompareSkipped, CompareThreads,
    Traffic,
};
use reprise_model::{Bytes, KeyPairs, Kind, KindCounts};

use crate::case::Case;
use crate::certificates::{Certificates, Keys};
use crate::children::Children;
use crate::cores;
use crate::cpu_switches::without_aes_instructions;
use crate::describe::Described;
use crate::failed::Failed;
use crate::job::Job;
use crate::run::{Audience, Effort, Row, Run};
use crate::stacks::FoundStack;
use crate::statistics::statistics;
use crate::worker::Launcher;

/// Which handshakes are measured, and how.
#[derive(Clone, Copy)]
pub struct HandshakePlan<'a> {
    /// The handshakes.
    pub cases: &'a [Case],
    /// The stacks.
    pub stacks: &'a [FoundStack],
    /// Whether each client is measured with each server, or each stack with itself alone.
    pub crossed: bool,
    /// Certificates of the keys of all cases.
    pub keys: &'a Keys,
    /// How much.
    pub effort: Effort,
    /// The seed of the order and of the intervals.
    pub seed: u64,
    /// What connections are made over.
    pub over: CompareOver,
}

impl HandshakePlan<'_> {
    /// Each client with the servers that it is measured with.
    pub fn pairs<'d, 'a>(&self, stacks: &[&'d Described<'a>], crossed: bool) -> Vec<(&'d Described<'a>, &'d Described<'a>)> {
        let by_psk = self.cases.iter().any(|case| case.kind == Kind::Psk);
        let servers = || stacks.iter().copied().filter(|stack| stack.can("server"));
        let of_client = |client: &'d Described<'a>| -> Vec<_> {
            let own = servers().filter(|server| crossed || server.found == client.found);
            let mut own: Vec<_> = own.map(|server| (client, server)).collect();
            // Who is no server is measured with the first that there is, and that has what is compared.
            if own.is_empty() {
                let able = servers().find(|server| server.can("psk")).filter(|_| by_psk);
                own.extend(able.or_else(|| servers().next()).map(|server| (client, server)));
            }
            own
        };
        stacks.iter().copied().filter(|stack| stack.can("client")).flat_map(of_client).collect()
    }
}

/// Most connections that a sample is the mean of.
const MOST_CONNECTIONS: u64 = 256;

/// The handshakes, made ready.
pub struct Handshakes<'a> {
    /// Every pair and case.
    pub run: Run<Handshake<'a>>,
    /// The first and the last core, where each side stays on one of them.
    pub cores: Option<[usize; 2]>,
    /// The most that a reading of the clock costs in any child process.
    reading_ns: u64,
}

/// One handshake of one pair.
pub struct Handshake<'a> {
    /// The client.
    pub client: &'a str,
    /// The server.
    pub server: &'a str,
    /// The handshake.
    pub case: Case,
    /// As its processes are asked for it.
    pub job: Job,
    /// The samples that were of the kind asked for.
    pub samples: CompareSamples,
    /// Instructions of each side, once somebody has counted them.
    pub instructions: Option<CompareInstructions>,
    /// The number by which its child processes know it.
    number: usize,
    connections: u64,
    bytes: Traffic,
    server_flight: Option<Bytes>,
    tickets: Option<u64>,
    kinds: KindCounts,
    /// How many samples were taken before this run was resumed.
    taken: u64,
    /// Of all samples, and of those of this run.
    threads: [CompareThreads; 2],
    /// CPU time of key pairs that were made ahead of all these connections.
    ahead_ns: u64,
}

impl<'a> Handshakes<'a> {
    /// Makes each case of each pair ready; `earlier` are rows of the same run, which was interrupted.
    pub fn prepare(
        plan: &HandshakePlan<'_>,
        stacks: &[&Described<'a>],
        earlier: &[CompareRow],
        launcher: &Launcher,
        audience: &mut dyn Audience,
    ) -> Self {
        let cores = if plan.over == CompareOver::Loopback { cores::two() } else { None };
        let mut made = Self { run: Run::default(), cores, reading_ns: 0 };
        let pairs = plan.pairs(stacks, plan.crossed);
        let planned = (pairs.len() * plan.cases.len()) as u64;
        audience.begins("handshakes prepared");
        for (index, (client, server)) in pairs.into_iter().enumerate() {
            // What keeps a library from the AES instructions is in the environment of its process.
            let mut without_hardware = None;
            let with_hardware = made.run.start(Children::new(plan.over, launcher, cores));
            for (place, case) in plan.cases.iter().enumerate() {
                if audience.stops() {
                    return made;
                }
                audience.proceeded((index * plan.cases.len() + place) as u64, planned);
                let Some(certificates) = plan.keys.of(case.key, case.chain) else { continue };
                let of_case = if case.bulk.is_some_and(|bulk| !bulk.hardware) {
                    let begin = || made.begin_without_hardware(plan.over, (client, server), launcher);
                    without_hardware.get_or_insert_with(begin).clone()
                } else {
                    Ok(with_hardware)
                };
                let pair = (client.found, server.found);
                let added = of_case.and_then(|of_case| made.add(plan, pair, *case, certificates, earlier, of_case));
                if let Err(failed) = added {
                    made.run.skipped.push(skip(&client.found.name, &server.found.name, case, &failed));
                }
            }
        }
        made
    }

    /// Samples of all of them, in turn.
    pub fn measure(&mut self, plan: &HandshakePlan<'_>, audience: &mut dyn Audience) {
        audience.begins("samples");
        self.run.measure(plan.effort.samples, plan.seed, audience);
    }

    /// Those that have samples.
    pub fn rows(&self, seed: u64) -> Vec<CompareRow> {
        self.run.rows().filter_map(|handshake| handshake.row(seed)).collect()
    }

    /// How time was taken, in this run.
    pub fn clock(&self) -> CompareClock {
        let mut threads = CompareThreads::default();
        self.run.rows().for_each(|handshake| threads += handshake.threads[1]);
        CompareClock { reading_ns: self.reading_ns, threads }
    }

    /// Child processes of a pair whose libraries are told to leave this CPU's AES instructions alone: their number.
    fn begin_without_hardware(
        &mut self,
        over: CompareOver,
        (client, server): (&Described<'a>, &Described<'a>),
        launcher: &Launcher,
    ) -> Result<usize, Failed> {
        let mut launcher = launcher.clone();
        for side in [client, server] {
            let variables = without_aes_instructions(&side.found.at, side.info.as_ref().map_err(Failed::clone)?)?;
            launcher.environment.extend(variables.iter().map(|&(name, value)| (name, value.into())));
        }
        Ok(self.run.start(Children::new(over, &launcher, self.cores)))
    }

    fn add(
        &mut self,
        plan: &HandshakePlan<'_>,
        (client, server): (&'a FoundStack, &'a FoundStack),
        case: Case,
        certificates: &Certificates,
        earlier: &[CompareRow],
        children: usize,
    ) -> Result<(), Failed> {
        let Self { run, reading_ns, .. } = self;
        run.add(children, |children| {
            let job = Job::new(client, server, case, certificates);
            let ready = children.prepare(job.clone())?;
            let document = case.document();
            let is_it = |row: &&CompareRow| {
                (row.client.as_str(), row.server.as_str(), &row.case) == (&*client.name, &*server.name, &document)
            };
            let earlier = earlier.iter().find(is_it);
            let connections = (plan.effort.sample_ns / ready.connection_ns.max(1)).clamp(1, MOST_CONNECTIONS);
            *reading_ns = (*reading_ns).max(ready.reading_ns);
            let threads = earlier.and_then(|row| row.threads).unwrap_or_default();
            Ok(Handshake {
                client: &client.name,
                server: &server.name,
                case,
                job,
                number: ready.cell,
                connections: earlier.map_or(connections, |row| row.connections),
                bytes: Traffic { sent: Bytes(ready.sent), received: Bytes(ready.received), first_flight: None },
                server_flight: ready.server_flight.map(Bytes),
                tickets: ready.tickets,
                taken: earlier.map(samples_taken).unwrap_or_default(),
                kinds: earlier.map(|row| row.kinds.clone()).unwrap_or_default(),
                samples: earlier.map(|row| row.samples.clone()).unwrap_or_default(),
                instructions: earlier.and_then(|row| row.instructions),
                threads: [threads, CompareThreads::default()],
                ahead_ns: earlier.and_then(|row| Some(row.ahead_ns? * row.kinds.total())).unwrap_or_default(),
            })
        })
    }
}

impl Row for Handshake<'_> {
    type Process = Children;
    type Skipped = CompareSkipped;

    fn sample(&mut self, children: &mut Children) -> Result<(), Failed> {
        if self.taken > 0 {
            self.taken -= 1;
            return Ok(());
        }
        let connections = self.connections as u32;
        let batch = children.run(self.number, connections)?;
        let threads = CompareThreads { thread_ns: batch.thread_ns, charged_ns: batch.charged_ns };
        self.threads.iter_mut().for_each(|all| *all += threads);
        self.ahead_ns += batch.ahead_ns;
        for &(kind, count) in &batch.kinds {
            (0..count).for_each(|_| self.kinds.add(kind));
        }
        // A mean over kinds would hide the one that was not asked for: such a sample is counted, and not among the figures.
        if batch.kinds == [(self.case.kind, connections)] {
            self.samples.client_ns.push(batch.client_ns / self.connections);
            self.samples.server_ns.push(batch.server_ns / self.connections);
            self.samples.wall_ns.extend(batch.on_a_clock.map(|it| it.wall_ns));
            self.samples.ready_ns.extend(batch.on_a_clock.map(|it| it.ready_ns));
        }
        Ok(())
    }

    fn skipped(&self, failed: &Failed) -> CompareSkipped {
        skip(self.client, self.server, &self.case, failed)
    }
}

impl Handshake<'_> {
    fn row(&self, seed: u64) -> Option<CompareRow> {
        let of = |side| reprise_stats::summarize(&self.samples.of(side), seed).map(statistics);
        Some(CompareRow {
            client: self.client.to_owned(),
            server: self.server.to_owned(),
            case: self.case.document(),
            n: self.samples.client_ns.len() as u64,
            connections: self.connections,
            kinds: self.kinds.clone(),
            client_ns: of(CompareSide::Client)?,
            server_ns: of(CompareSide::Server)?,
            both_ns: of(CompareSide::Both)?,
            wall_ns: of(CompareSide::Wall),
            ready_ns: of(CompareSide::Ready),
            instructions: self.instructions,
            bytes: self.bytes,
            threads: (self.threads[0].thread_ns > 0).then_some(self.threads[0]),
            samples: self.samples.clone(),
            ahead_ns: (self.case.key_pairs == KeyPairs::Ahead).then(|| self.ahead_ns / self.kinds.total().max(1)),
            server_flight: self.server_flight,
            tickets: self.tickets,
        })
    }
}

/// A case of a pair without figures.
pub fn skip(client: &str, server: &str, case: &Case, failed: &Failed) -> CompareSkipped {
    CompareSkipped {
        client: client.to_owned(),
        server: server.to_owned(),
        case: case.document(),
        outcome: failed.outcome.name().to_owned(),
        reason: failed.reason.clone(),
    }
}

/// How many samples of this row were taken, those of another kind included.
fn samples_taken(row: &CompareRow) -> u64 {
    row.kinds.total() / row.connections.max(1)
}
