//! The child process: it loads stacks, makes connections and says what they cost.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::rc::Rc;

use reprise_stack::{Side, Stack, StackError};

use crate::cell::{Cell, Transport, side_context};
use crate::loopback::{Dialer, Server, Setup};
use crate::message::{Answer, Failed, FailureKind, Job, Request, SideJob, StackInfo};
use crate::stacks::StackRef;
use crate::{conformance, cores};

/// Answers requests until there are no more.
///
/// # Errors
/// If the requests cannot be read or the answers not be written: then nobody is left to ask.
pub fn serve_requests(requests: impl BufRead, mut answers: impl Write) -> io::Result<()> {
    let mut child = Child::default();
    for request in requests.lines() {
        let answer = match serde_json::from_str(&request?) {
            Ok(request) => child.answer(request).unwrap_or_else(|failed| failed.into_answer()),
            Err(error) => Failed::new(FailureKind::Broken, format!("the request cannot be read: {error}")).into_answer(),
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
    layers: crate::layers::Child,
}

/// What was made ready.
enum Prepared {
    /// Both sides, over memory.
    Pair(Box<Cell>),
    /// A client over loopback.
    Client(Box<Cell<Dialer>>),
    /// A server over loopback.
    Server(Box<Server>),
}

impl From<StackError> for Failed {
    fn from(error: StackError) -> Self {
        let outcome = match &error {
            StackError::Unsupported { .. } => FailureKind::Unsupported,
            StackError::Refused { .. } => FailureKind::Failed,
            _ => FailureKind::Broken,
        };
        Self::new(outcome, error)
    }
}

impl Child {
    fn answer(&mut self, request: Request) -> Result<Answer, Failed> {
        match request {
            Request::Describe(stack) => Ok(Answer::Described(info(&*self.stack(&stack)?))),
            Request::Prepare(job) => self.prepare(&job),
            Request::Run { cell, connections } => match self.prepared(cell)? {
                Prepared::Pair(cell) => cell.run(connections).map(Answer::Ran),
                _ => Err(nothing_prepared()),
            },
            Request::PrepareSide(job) => self.prepare_side(&job),
            Request::Listen { cell } => match self.prepared(cell)? {
                Prepared::Server(server) => {
                    let port = server.listen().map_err(|error| Failed::new(FailureKind::Broken, error))?;
                    Ok(Answer::Listening { port })
                }
                _ => Err(nothing_prepared()),
            },
            Request::Serve { cell } => match self.prepared(cell)? {
                Prepared::Server(server) => {
                    server.serve().map(|(connections, thread_ns)| Answer::Served { connections, thread_ns })
                }
                _ => Err(nothing_prepared()),
            },
            Request::Dial { cell, port, amount } => match self.prepared(cell)? {
                Prepared::Client(client) => client.dial(port, amount),
                _ => Err(nothing_prepared()),
            },
            Request::Layer(ask) => {
                let mut layers = std::mem::take(&mut self.layers);
                let told = layers.answer(ask, |job| self.stack(&job.stack));
                self.layers = layers;
                told.map(Answer::Layer)
            }
            Request::Conform { stack, keys } => {
                let stack = self.stack(&stack)?;
                Ok(Answer::Conforms(conformance::run(&*stack, &keys)))
            }
        }
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

    fn prepare(&mut self, job: &Job) -> Result<Answer, Failed> {
        let (client, server) = (self.stack(&job.client)?, self.stack(&job.server)?);
        let mut cell = Cell::new(&*client, &*server, job.case, &job.certificates)?;
        let (connection, last) = cell.warm_up()?;
        let reading_ns = cell.transport.clock().reading.0;
        self.cells.push(Prepared::Pair(Box::new(cell)));
        Ok(Answer::Prepared {
            cell: self.cells.len() - 1,
            connection_ns: connection.0,
            reading_ns,
            sent: last.sent,
            received: last.received,
        })
    }

    fn prepare_side(&mut self, side: &SideJob) -> Result<Answer, Failed> {
        if let Some(core) = side.core {
            cores::stay_on(core);
        }
        let case = side.job.case;
        let (at, which) = if side.is_client { (&side.job.client, Side::Client) } else { (&side.job.server, Side::Server) };
        let stack = self.stack(at)?;
        let context = side_context(&*stack, which, case, &side.job.certificates)?;
        let setup = Setup { context, case, patience: side.patience, witnesses: side.witnesses };
        let (prepared, clock) = if side.is_client {
            let dialer = Dialer::new(setup);
            let clock = dialer.clock();
            (Prepared::Client(Box::new(Cell { case, transport: dialer, contexts: Vec::new(), session: None })), clock)
        } else {
            let server = Server::new(setup);
            let clock = server.clock();
            (Prepared::Server(Box::new(server)), clock)
        };
        self.cells.push(prepared);
        Ok(Answer::SideReady { cell: self.cells.len() - 1, reading_ns: clock.reading.0 })
    }
}

fn nothing_prepared() -> Failed {
    Failed::new(FailureKind::Broken, "nothing is prepared under this number")
}

fn info(stack: &dyn Stack) -> StackInfo {
    let about = stack.about();
    let can = about.abilities;
    let abilities = [
        ("client", can.client),
        ("server", can.server),
        ("1.2", can.tls12),
        ("1.3", can.tls13),
        ("id", can.id),
        ("ticket", can.ticket),
        ("client-auth", can.client_auth),
        ("export", can.export),
        ("psk-ke", can.psk_ke),
        ("early-data", can.early_data),
    ];
    StackInfo {
        library: about.name.clone(),
        version: about.version.clone(),
        flags: about.flags.clone(),
        abilities: abilities.iter().filter(|(_, can)| *can).map(|(name, _)| (*name).to_owned()).collect(),
        sha256: about.sha256.clone(),
    }
}
