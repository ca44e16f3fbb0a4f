//! The child process: it loads stacks, makes connections and says what they cost.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::rc::Rc;

use reprise_stack::{Context, KeptBy, Options, Pem, Session, SessionMode, Side, Stack, StackError};
use reprise_trace::{Kind, Nanos, Version};

use crate::case::Case;
use crate::conformance;
use crate::keys::{Certificates, SERVER_NAME};
use crate::message::{Answer, Batch, Failed, Job, Outcome, Request, StackInfo};
use crate::pair::{Connected, Pair};
use crate::stacks::StackRef;

/// Answers requests until there are no more.
///
/// # Errors
/// If the requests cannot be read or the answers not be written: then nobody is left to ask.
pub fn serve_requests(requests: impl BufRead, mut answers: impl Write) -> io::Result<()> {
    let mut child = Child::default();
    for request in requests.lines() {
        let answer = match serde_json::from_str(&request?) {
            Ok(request) => child.answer(request).unwrap_or_else(|failed| failed.into_answer()),
            Err(error) => Failed::new(Outcome::Broken, format!("the request cannot be read: {error}")).into_answer(),
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
    cells: Vec<Cell>,
}

impl From<StackError> for Failed {
    fn from(error: StackError) -> Self {
        let outcome = match &error {
            StackError::Unsupported { .. } => Outcome::Unsupported,
            StackError::Refused { .. } => Outcome::Failed,
            _ => Outcome::Broken,
        };
        Self::new(outcome, error)
    }
}

impl Child {
    fn answer(&mut self, request: Request) -> Result<Answer, Failed> {
        match request {
            Request::Describe(stack) => Ok(Answer::Described(info(&*self.stack(&stack)?))),
            Request::Prepare(job) => self.prepare(&job),
            Request::Run { cell, connections } => {
                let unknown = || Failed::new(Outcome::Broken, "nothing is prepared under this number");
                self.cells.get_mut(cell).ok_or_else(unknown)?.run(connections).map(Answer::Ran)
            }
            Request::Conform { stack, keys } => {
                let stack = self.stack(&stack)?;
                Ok(Answer::Conforms(conformance::run(&*stack, &keys)))
            }
        }
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
        self.cells.push(cell);
        Ok(Answer::Prepared {
            cell: self.cells.len() - 1,
            connection_ns: connection.0,
            reading_ns: last.reading.0,
            observed: last.connected.observed.into(),
            sent: last.connected.sent,
            received: last.connected.received,
        })
    }
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
    ];
    StackInfo {
        library: about.name.clone(),
        version: about.version.clone(),
        flags: about.flags.clone(),
        abilities: abilities.iter().filter(|(_, can)| *can).map(|(name, _)| (*name).to_owned()).collect(),
        sha256: about.sha256.clone(),
    }
}

/// Both contexts of a case and a pair of endpoints.
pub(crate) struct Cell {
    pub(crate) case: Case,
    pub(crate) pair: Pair,
    pub(crate) contexts: [Box<dyn Context>; 2],
    session: Option<Session>,
}

/// How long a case is warmed up, at most this many connections.
const WARM_UP: Nanos = Nanos(20_000_000);
const WARM_UP_CONNECTIONS: u64 = 200;

struct Last {
    connected: Connected,
    reading: Nanos,
}

impl Cell {
    pub(crate) fn new(
        client: &dyn Stack,
        server: &dyn Stack,
        case: Case,
        certificates: &Certificates,
    ) -> Result<Self, Failed> {
        Self::of_unlike(client, server, [case, case], certificates)
    }

    /// The same where the client is configured for another case than the server, which is the case that is checked.
    pub(crate) fn of_unlike(
        client: &dyn Stack,
        server: &dyn Stack,
        [of_client, case]: [Case; 2],
        certificates: &Certificates,
    ) -> Result<Self, Failed> {
        check_abilities(client, server, case)?;
        if case.mutual && certificates.client_chain.is_empty() {
            return Err(Failed::new(Outcome::Unsupported, format!("there is no client certificate with {}", case.key)));
        }
        let at = |side: &'static str| {
            move |error: StackError| {
                let Failed { outcome, reason } = error.into();
                Failed::new(outcome, format!("the {side}: {reason}"))
            }
        };
        let client = context(client, Side::Client, of_client, certificates).map_err(at("client"))?;
        let server = context(server, Side::Server, case, certificates).map_err(at("server"))?;
        let pair = Pair::new(client.endpoint(), server.endpoint());
        Ok(Self { case, pair, contexts: [client, server], session: None })
    }

    /// One connection of the case, whatever must come before it.
    pub(crate) fn connect(&mut self) -> Result<Connected, Failed> {
        let is_resumed = self.case.kind != Kind::Full;
        if is_resumed && self.session.is_none() {
            let first = self.make(None)?;
            if self.session.is_none() {
                return Err(Failed::new(Outcome::Failed, "a full handshake leaves the client no session to resume"));
            }
            self.check(&first, false)?;
        }
        let session = if is_resumed { self.session.take() } else { None };
        let again = session.as_ref().and_then(Session::again);
        let connected = self.make(session)?;
        // TLS 1.2 gives a new session only where it renews the ticket.
        self.session = self.session.take().or(again.filter(|_| self.case.version == Version::Tls12));
        self.check(&connected, is_resumed)?;
        Ok(connected)
    }

    fn make(&mut self, session: Option<Session>) -> Result<Connected, Failed> {
        let connected = self.pair.connect(session).map_err(|error| Failed::new(Outcome::Failed, error))?;
        self.session = self.pair.take_session();
        Ok(connected)
    }

    /// Holds what was asked for against the wire, and what the libraries say against it as well.
    fn check(&self, connected: &Connected, resumes: bool) -> Result<(), Failed> {
        let (case, seen) = (self.case, connected.observed);
        let other = |what: &str, seen: String, asked: String| {
            Err(Failed::new(Outcome::Failed, format!("{what} {seen} was negotiated where only {asked} was allowed")))
        };
        if seen.version != case.version {
            return other("the version", seen.version.to_string(), case.version.to_string());
        }
        if seen.suite != case.suite() {
            return other("the suite", seen.suite.to_string(), case.suite().to_string());
        }
        if let Some(group) = seen.group.filter(|group| *group != case.group()) {
            return other("the group", group.to_string(), case.group().to_string());
        }
        let accounts = [("the client", connected.client_account), ("the server", connected.server_account)];
        for (side, account) in accounts {
            let contradicts = |what: &str, said: &dyn std::fmt::Display, seen: &dyn std::fmt::Display| {
                Err(Failed::new(Outcome::Contradicted, format!("{side} says {what} {said}, the wire {seen}")))
            };
            let was_resumed = seen.kind != Kind::Full;
            if let Some(resumed) = account.resumed.filter(|resumed| *resumed != was_resumed) {
                return contradicts("resumed:", &resumed, &was_resumed);
            }
            let kept_by = match seen.kind {
                Kind::Id => Some(KeptBy::Cache),
                Kind::Ticket => Some(KeptBy::Ticket),
                _ => None,
            };
            if let (Some(said), Some(seen)) = (account.resumed_by, kept_by)
                && said != seen
            {
                return contradicts("resumed by", &format!("{said:?}"), &format!("{seen:?}"));
            }
            if account.suite != seen.suite.0 {
                return contradicts("suite", &format!("{:#06x}", account.suite), &seen.suite);
            }
            // A resumed TLS 1.2 connection has no group on the wire; libraries may remember the session's.
            if let (Some(said), Some(seen)) = (account.group, seen.group)
                && said != seen.0
            {
                return contradicts("group", &reprise_wire::NamedGroup(said), &seen);
            }
            if side == "the server"
                && !resumes
                && let Some(certificate) = account.client_certificate.filter(|it| *it != case.mutual)
            {
                return contradicts("client certificate:", &certificate, &case.mutual);
            }
        }
        Ok(())
    }

    /// Connections until they are warm: what one costs both sides then, and the last.
    fn warm_up(&mut self) -> Result<(Nanos, Last), Failed> {
        let (mut spent, mut count) = (Nanos(0), 0);
        loop {
            let connected = self.connect()?;
            if connected.observed.kind != self.case.kind {
                let asked = self.case.kind;
                return Err(Failed::new(
                    Outcome::Failed,
                    format!("{asked} was asked for, {} observed", connected.observed.kind),
                ));
            }
            count += 1;
            // The first connections pay for what is made once.
            if count > 2 {
                spent = spent + connected.client + connected.server;
            }
            if count > 3 && (spent.0 > WARM_UP.0 || count >= WARM_UP_CONNECTIONS) {
                return Ok((Nanos(spent.0 / (count - 2)), Last { connected, reading: self.pair.clock().reading }));
            }
        }
    }

    /// So many connections that are counted, after one that is not where that is cheap: the caches are another's.
    fn run(&mut self, connections: u32) -> Result<Batch, Failed> {
        if connections > 1 {
            self.connect()?;
        }
        let mut batch = Batch::default();
        let clock = self.pair.clock();
        let mut thread = Nanos(0);
        for _ in 0..connections {
            let connected = clock.time(&mut thread, || self.connect())?;
            batch.client_ns += connected.client.0;
            batch.server_ns += connected.server.0;
            match batch.kinds.iter_mut().find(|(kind, _)| *kind == connected.observed.kind) {
                Some((_, count)) => *count += 1,
                None => batch.kinds.push((connected.observed.kind, 1)),
            }
        }
        batch.thread_ns = thread.0;
        Ok(batch)
    }
}

fn context(stack: &dyn Stack, side: Side, case: Case, certificates: &Certificates) -> Result<Box<dyn Context>, StackError> {
    let own = match side {
        Side::Server => Some(Pem { chain: &certificates.server_chain, key: &certificates.server_key }),
        Side::Client => case.mutual.then_some(Pem { chain: &certificates.client_chain, key: &certificates.client_key }),
    };
    // Under TLS 1.2 the list also says which curves a key may be on (RFC 8422 §5.1): the key's own stands last in it. Which group was
    // used is observed.
    let mut groups = vec![case.group];
    groups.extend(
        case.key.curve().map(|curve| curve.0).filter(|curve| case.version == Version::Tls12 && *curve != case.group),
    );
    stack.context(&Options {
        side,
        version: case.version,
        sessions: match case.kind {
            Kind::Full | Kind::Psk => SessionMode::Off,
            Kind::Id => SessionMode::Id,
            Kind::Ticket | Kind::Early => SessionMode::Ticket,
        },
        suites: &[case.suite],
        groups: &groups,
        identity: own,
        trust: (side == Side::Client || case.mutual).then_some(certificates.root.as_str()),
        require_client_certificate: case.mutual,
        server_name: SERVER_NAME,
    })
}

fn check_abilities(client: &dyn Stack, server: &dyn Stack, case: Case) -> Result<(), Failed> {
    let (client, server) = (client.about(), server.about());
    let cannot = |who: &str, what: &str| Err(Failed::new(Outcome::Unsupported, format!("{who} has no {what}")));
    if !client.abilities.client {
        return cannot(&client.name, "client");
    }
    if !server.abilities.server {
        return cannot(&server.name, "server");
    }
    for about in [client, server] {
        let can = about.abilities;
        let missing = match (case.version, case.kind) {
            (Version::Tls12, _) if !can.tls12 => "TLS 1.2",
            (Version::Tls13, _) if !can.tls13 => "TLS 1.3",
            (_, Kind::Id) if !can.id => "session IDs",
            (_, Kind::Ticket) if !can.ticket => "tickets",
            _ if case.mutual && !can.client_auth => "client authentication",
            _ => continue,
        };
        return cannot(&about.name, missing);
    }
    Ok(())
}
