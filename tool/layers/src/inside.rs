//! A level from *ctx* on, in the child process: requests that this process makes itself.

use std::rc::Rc;
use std::time::{Duration, Instant};

use reprise_connection::{End, Fault};
use reprise_model::{KeyPairs, Level, Nanos, PskMode, Version};
use reprise_pairs::{CpuClock, Failed, FailureKind, words};
use reprise_stack::{Ability, Context, ContextOptions, Pem, SessionMode, Side, Stack, StackSession};
use rustls_pki_types::UnixTime;

use crate::client::{Client, Farewell, Transcript};
use crate::job::{GROUPS, LevelJob, SUITES_12, SUITES_13};
use crate::material::Texts;
use crate::requests::{LevelBatch, Seen};

/// A level from *ctx* on: this process makes the requests itself.
pub(crate) struct Inside {
    job: LevelJob,
    stack: Rc<dyn Stack>,
    /// What is kept: from *bio* on.
    kept: Option<Kept>,
    session: Option<StackSession>,
    /// Whether there is a connection on which the next request may be made, at *ssl* and *msg*.
    is_open: bool,
    counted: Vec<Transcript>,
    uncounted: Vec<Transcript>,
    spare: Vec<Transcript>,
    status: Option<u16>,
    clock: CpuClock,
}

/// Fields are dropped in this order: a context outlives its connections.
struct Kept {
    client: Client,
    _context: Box<dyn Context>,
}

/// Time of a batch, while it runs.
#[derive(Default)]
struct Spent {
    wall: Nanos,
    cpu: Nanos,
}

impl Inside {
    pub(crate) fn new(job: LevelJob, stack: Rc<dyn Stack>) -> Result<Self, Failed> {
        let (about, texts) = (stack.about(), job.material.read().map_err(Failed::because)?);
        // A library without tickets resumes by session ID.
        let sessions = match job.session_mode() {
            SessionMode::Ticket if !about.abilities.has(Ability::Ticket) => SessionMode::Id,
            mode => mode,
        };
        about.check(&ContextOptions { sessions, ..options(&job, &texts) })?;
        let mut inside = Self {
            job,
            stack,
            kept: None,
            session: None,
            is_open: false,
            counted: Vec::new(),
            uncounted: Vec::new(),
            spare: Vec::new(),
            status: None,
            clock: CpuClock::calibrated(),
        };
        if inside.job.level > Level::Ctx {
            inside.kept = Some(inside.make_context()?);
        }
        Ok(inside)
    }

    /// The first requests are not counted: they pay for what is made once, and leave a session.
    pub(crate) fn warm_up(&mut self) -> Result<(Option<u16>, Vec<Seen>), Failed> {
        let requests = if self.job.sessions.is_some() { 2 } else { 1 };
        for _ in 0..requests {
            self.open()?;
            self.request().map_err(|failed| self.not_permitted(failed))?;
            if self.job.level == Level::Ssl {
                // Whether the server permits a second session shows only when one is made.
                self.request().map_err(|failed| self.not_permitted(failed))?;
            }
            self.leave();
        }
        let made = self.uncounted.drain(..).chain(self.counted.drain(..));
        Ok((self.status, observed(made, &mut self.spare)?))
    }

    pub(crate) fn run(&mut self, requests: u32) -> Result<LevelBatch, Failed> {
        let mut spent = Spent::default();
        let mut left = requests;
        while left > 0 {
            self.open()?;
            let clock = self.clock;
            let done = spent.time(clock, || self.requests(left))?;
            left -= done.min(left);
        }
        self.leave();
        Ok(LevelBatch {
            wall_ns: spent.wall.0,
            cpu_ns: spent.cpu.0,
            connections: observed(self.counted.drain(..), &mut self.spare)?,
            uncounted: observed(self.uncounted.drain(..), &mut self.spare)?,
        })
    }

    /// As many requests as there may be before something must be opened that does not count.
    fn requests(&mut self, most: u32) -> Result<u32, Failed> {
        for done in 1..=most {
            self.request()?;
            if !self.is_open && matches!(self.job.level, Level::Ssl | Level::Msg) {
                return Ok(done);
            }
        }
        Ok(most)
    }

    /// What a request at this level takes for granted.
    fn open(&mut self) -> Result<(), Failed> {
        if self.is_open || !matches!(self.job.level, Level::Ssl | Level::Msg) {
            return Ok(());
        }
        let timeout = self.timeout();
        let address = self.job.address;
        let session = if self.job.level == Level::Msg { self.session.take() } else { None };
        let again = session.as_ref().and_then(StackSession::again);
        let is_msg = self.job.level == Level::Msg;
        let Some(Kept { client, .. }) = &mut self.kept else { return Err(nothing_kept()) };
        client.connect(address, timeout).map_err(failed)?;
        if is_msg {
            client.exchange(session).map_err(failed)?;
            self.status = self.status.or(client.status());
            self.session = again;
            if !client.keeps_alive() {
                return Err(Failed::unsupported(
                    "the server closes the connection after each request: there is no next one on it",
                ));
            }
        }
        self.is_open = true;
        Ok(())
    }

    /// One request, and what must be made anew for it.
    fn request(&mut self) -> Result<(), Failed> {
        match self.job.level {
            Level::Msg => {
                let Some(Kept { client, .. }) = &mut self.kept else { return Err(nothing_kept()) };
                client.ask_again().map_err(failed)?;
                if !client.keeps_alive() {
                    self.leave();
                }
                Ok(())
            }
            Level::Ssl => {
                let Some(mut kept) = self.kept.take() else { return Err(nothing_kept()) };
                let farewell = self.session(&mut kept.client);
                self.kept = Some(kept);
                match farewell? {
                    Farewell::CloseNotify => Ok(()),
                    Farewell::Fin => Err(transport_closed("answers close_notify by closing the TCP connection")),
                    Farewell::Reset => Err(transport_closed("answers close_notify by resetting the TCP connection")),
                }
            }
            Level::Bio => {
                let Some(mut kept) = self.kept.take() else { return Err(nothing_kept()) };
                let made = self.connection(&mut kept.client);
                self.kept = Some(kept);
                made
            }
            _ => {
                let mut made = self.make_context()?;
                self.connection(&mut made.client)
            }
        }
    }

    /// A TCP connection with one TLS session.
    fn connection(&mut self, client: &mut Client) -> Result<(), Failed> {
        client.connect(self.job.address, self.timeout()).map_err(failed)?;
        self.session(client)?;
        client.disconnect();
        Ok(())
    }

    /// A TLS session with one request, on the TCP connection that is there.
    fn session(&mut self, client: &mut Client) -> Result<Farewell, Failed> {
        let session = self.session.take();
        let again = session.as_ref().and_then(StackSession::again);
        let done = client.exchange(session).and_then(|()| client.leave());
        self.status = self.status.or(client.status());
        let how = if done.is_ok() { End::Completed } else { End::Failed };
        let (newest, transcript) = client.end(how, self.spare.pop().unwrap_or_default());
        self.counted.push(transcript);
        if self.job.sessions.is_some() {
            // TLS 1.2 gives a new session only where it renews the ticket.
            self.session = newest.or(again.filter(|_| self.job.version == Version::Tls12));
        }
        done.map_err(failed)
    }

    /// Ends what is open: no server waits until it is the row's turn again.
    fn leave(&mut self) {
        let was_open = std::mem::take(&mut self.is_open);
        let Some(Kept { client, .. }) = &mut self.kept else { return };
        if self.job.level != Level::Msg || !was_open {
            client.disconnect();
            return;
        }
        let left = client.leave();
        let how = if left.is_ok() { End::Completed } else { End::Failed };
        let (newest, transcript) = client.end(how, self.spare.pop().unwrap_or_default());
        client.disconnect();
        self.uncounted.push(transcript);
        if self.job.sessions.is_some() {
            self.session = newest.or(self.session.take());
        }
    }

    fn make_context(&self) -> Result<Kept, Failed> {
        let job = &self.job;
        let texts = job.material.read().map_err(Failed::because)?;
        let options = options(job, &texts);
        let context = match job.level {
            Level::Libctx => self.stack.context_with_library(&options)?,
            _ => self.stack.context(&options)?,
        };
        let client = Client::new(context.endpoint(), &job.request, job.is_head);
        Ok(Kept { client, _context: context })
    }

    /// At *ssl* the first session works everywhere; where the second does not, the server does not permit the level.
    fn not_permitted(&self, failed: Failed) -> Failed {
        let has_worked = self.status.is_some() && failed.outcome == FailureKind::Failed;
        if self.job.level == Level::Ssl && has_worked {
            return transport_closed("says close_notify, and then closes the TCP connection");
        }
        failed
    }

    fn timeout(&self) -> Duration {
        Duration::from_millis(self.job.timeout_ms)
    }
}

fn options<'a>(job: &'a LevelJob, texts: &'a Texts) -> ContextOptions<'a> {
    ContextOptions {
        side: Side::Client,
        version: job.version,
        sessions: job.session_mode(),
        suites: if job.version == Version::Tls13 { SUITES_13 } else { SUITES_12 },
        groups: GROUPS,
        identity: texts.identity.as_ref().map(|(chain, key)| Pem { chain, key }),
        trust: Some(&texts.trust),
        require_client_certificate: false,
        server_name: &job.server_name,
        psk: None,
        psk_mode: PskMode::PskDheKe,
        max_early_data: 0,
        key_pairs: KeyPairs::Fresh,
        max_fragment: None,
        releases_buffers: false,
        shares_all_groups: false,
        remembers_chains: false,
        date: UnixTime::now(),
    }
}

impl Spent {
    fn time<T>(&mut self, clock: CpuClock, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let result = clock.time(&mut self.cpu, work);
        self.wall = self.wall + Nanos::from(begin.elapsed());
        result
    }
}

/// Reads what the handshakes were; their memory is used again.
fn observed(transcripts: impl Iterator<Item = Transcript>, spare: &mut Vec<Transcript>) -> Result<Vec<Seen>, Failed> {
    let mut connections = Vec::new();
    for transcript in transcripts {
        let seen = transcript.observed().ok_or_else(|| Failed::because("no ServerHello was seen"))?;
        connections.push(seen);
        spare.push(transcript.emptied());
    }
    Ok(connections)
}

fn failed(fault: Fault) -> Failed {
    Failed::because(words(&fault))
}

fn transport_closed(what: &str) -> Failed {
    Failed::unsupported(format!("the server does not permit a second TLS session on a TCP connection: it {what}"))
}

fn nothing_kept() -> Failed {
    Failed::broken("the level has lost its context")
}
