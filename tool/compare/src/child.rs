//! The child process: it loads stacks, makes connections and says what they cost.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::rc::Rc;

use reprise_model::KeyPairs;
use reprise_model::document::ComparedStack;
use reprise_stack::{Side, Stack};

use serde::Serialize;
use serde_json::Value;

use crate::cell::{Cell, Transport, side_context};
use crate::layers::{LevelCell, LevelReady, random_bytes};
use crate::loopback::{Dialer, Server, Setup};
use crate::memory::{Weighed, brought, mapped_files, weigh};
use crate::message::{Failed, Job, Ready, Request, SideJob, SideReady};
use crate::pair::Connected;
use crate::shares::Shares;
use crate::speed::{PrimitiveCell, PrimitiveReady, tcp_connections};
use crate::stacks::{FoundStack, StackRef};
use crate::{conformance, cores};

/// Answers requests until there are no more.
///
/// # Errors
/// If the requests cannot be read or the answers not be written: then nobody is left to ask.
pub fn serve_requests(requests: impl BufRead, mut answers: impl Write) -> io::Result<()> {
    let mut child = Child::default();
    for request in requests.lines() {
        let answer = match serde_json::from_str(&request?) {
            Ok(request) => child.answer(request),
            Err(error) => Err(Failed::broken(format!("the request cannot be read: {error}"))),
        };
        serde_json::to_writer(&mut answers, &answer)?;
        answers.write_all(b"\n")?;
        answers.flush()?;
    }
    Ok(())
}

#[derive(Default)]
struct Child {
    stacks: HashMap<StackRef, Rc<dyn Stack>>,
    cells: Vec<Prepared>,
}

/// What was made ready.
enum Prepared {
    /// Both sides, over memory.
    Pair(Box<Cell>),
    /// A client over loopback.
    Client(Box<Cell<Dialer>>),
    /// A server over loopback.
    Server(Box<Server>),
    /// Requests that are begun anew at one level.
    Level(Box<LevelCell>),
    /// An operation that is repeated.
    Primitive(PrimitiveCell),
}

impl Child {
    fn answer(&mut self, request: Request) -> Result<Value, Failed> {
        match request {
            Request::Describe(found) => answered(described(&*self.stack(&found.at)?, found)),
            Request::Prepare(job) => answered(self.prepare(&job)?),
            Request::Record(job) => answered(self.cell(&job)?.record()?),
            Request::PrepareSide(job) => answered(self.prepare_side(&job)?),
            Request::PrepareLevel(job) => {
                let mut level = LevelCell::new(*job, |stack| self.stack(stack))?;
                let (status, connections) = level.warm_up()?;
                let cell = self.add(Prepared::Level(Box::new(level)));
                answered(LevelReady { cell, connections, status })
            }
            Request::Run { cell, connections } => match self.prepared(cell)? {
                Prepared::Pair(cell) => answered(cell.run(connections)?),
                _ => Err(nothing_prepared()),
            },
            Request::RunLevel { cell, requests } => match self.prepared(cell)? {
                Prepared::Level(level) => answered(level.run(requests)?),
                _ => Err(nothing_prepared()),
            },
            Request::Listen { cell } => match self.prepared(cell)? {
                Prepared::Server(server) => answered(server.listen().map_err(Failed::broken)?),
                _ => Err(nothing_prepared()),
            },
            Request::Serve { cell } => match self.prepared(cell)? {
                Prepared::Server(server) => answered(server.serve()?),
                _ => Err(nothing_prepared()),
            },
            Request::Dial { cell, port, amount } => match self.prepared(cell)? {
                Prepared::Client(client) => answered(client.dial(port, amount)?),
                _ => Err(nothing_prepared()),
            },
            Request::TimeRandom { stack, helper, times } => answered(random_bytes(&stack, helper.as_deref(), times)?),
            Request::Weigh { job, connections } => answered(self.weigh(&job, connections)?),
            Request::PreparePrimitive(job) => {
                let stack = self.stack(&job.stack)?;
                let mut primitive = PrimitiveCell::new(&*stack, &job)?;
                let once_ns = primitive.warm_up()?;
                answered(PrimitiveReady { cell: self.add(Prepared::Primitive(primitive)), once_ns })
            }
            Request::RunPrimitive { cell, count } => match self.prepared(cell)? {
                Prepared::Primitive(primitive) => answered(primitive.run(count)?),
                _ => Err(nothing_prepared()),
            },
            Request::TcpConnections { count } => answered(tcp_connections(count)?),
            Request::Conform { stack, keys } => answered(conformance::run(&*self.stack(&stack)?, &keys)),
        }
    }

    fn add(&mut self, prepared: Prepared) -> usize {
        self.cells.push(prepared);
        self.cells.len() - 1
    }

    fn prepared(&mut self, cell: usize) -> Result<&mut Prepared, Failed> {
        self.cells.get_mut(cell).ok_or_else(nothing_prepared)
    }

    fn stack(&mut self, stack: &StackRef) -> Result<Rc<dyn Stack>, Failed> {
        if let Some(known) = self.stacks.get(stack) {
            return Ok(Rc::clone(known));
        }
        let opened: Rc<dyn Stack> = Rc::from(stack.open()?);
        self.stacks.insert(stack.clone(), Rc::clone(&opened));
        Ok(opened)
    }

    fn cell(&mut self, job: &Job) -> Result<Cell, Failed> {
        let (client, server) = (self.stack(&job.client)?, self.stack(&job.server)?);
        Cell::new(&*client, &*server, job.case, &job.certificates)
    }

    fn prepare(&mut self, job: &Job) -> Result<Ready, Failed> {
        let mut cell = self.cell(job)?;
        let (connection, last) = cell.warm()?;
        let reading_ns = cell.transport.clock().reading.0;
        let cell = self.add(Prepared::Pair(Box::new(cell)));
        let Connected { sent, received, server_flight, observed, .. } = last;
        let tickets = observed.map(|observed| observed.tickets);
        Ok(Ready { cell, connection_ns: connection.0, reading_ns, sent, received, server_flight, tickets })
    }

    fn weigh(&mut self, job: &Job, connections: u32) -> Result<Weighed, Failed> {
        let before = mapped_files();
        let client = self.stack(&job.client)?;
        let of_client = brought(&before);
        let before = mapped_files();
        let server = self.stack(&job.server)?;
        let of_server = if job.client == job.server { of_client } else { brought(&before) };
        let mut weighed = weigh([&*client, &*server], job, connections)?;
        (weighed.client.code, weighed.server.code) = (of_client, of_server);
        Ok(weighed)
    }

    fn prepare_side(&mut self, side: &SideJob) -> Result<SideReady, Failed> {
        if let Some(core) = side.core {
            cores::stay_on(core);
        }
        let case = side.job.case;
        if case.bulk.is_some() {
            return Err(Failed::unsupported("data in bulk is measured over memory alone"));
        }
        if case.key_pairs == KeyPairs::Ahead {
            // Its server serves without a pause in which pairs could be made.
            return Err(Failed::unsupported("over loopback, no key pairs are made ahead: measure it over memory"));
        }
        let (at, which) = if side.is_client { (&side.job.client, Side::Client) } else { (&side.job.server, Side::Server) };
        let stack = self.stack(at)?;
        let context = side_context(&*stack, which, case, &side.job.certificates)?;
        let setup = Setup { context, case, patience: side.patience, witnesses: side.witnesses };
        let (prepared, clock) = if side.is_client {
            let cell =
                Cell { case, transport: Dialer::new(setup), contexts: Vec::new(), session: None, shares: Shares::default() };
            let clock = cell.transport.clock();
            (Prepared::Client(Box::new(cell)), clock)
        } else {
            let server = Server::new(setup);
            let clock = server.clock();
            (Prepared::Server(Box::new(server)), clock)
        };
        Ok(SideReady { cell: self.add(prepared), reading_ns: clock.reading.0 })
    }
}

fn answered(answer: impl Serialize) -> Result<Value, Failed> {
    serde_json::to_value(answer).map_err(Failed::broken)
}

fn nothing_prepared() -> Failed {
    Failed::broken("nothing is prepared under this number")
}

fn described(stack: &dyn Stack, found: FoundStack) -> ComparedStack {
    let about = stack.about();
    ComparedStack {
        name: found.name,
        library: about.name.clone(),
        version: about.version.clone(),
        flags: about.flags.clone(),
        optimised: about.optimised.clone(),
        abilities: about.abilities.names().into_iter().map(str::to_owned).collect(),
        file: match found.at {
            StackRef::BuiltIn(_) => None,
            StackRef::Plugin(path) => Some(path.display().to_string()),
        },
        sha256: about.sha256.clone(),
    }
}
