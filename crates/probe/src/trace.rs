//! Traces one target: a connection that offers nothing, then one that offers what the first left behind, for each version.

mod secrets;

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use reprise_engine::{Config, ExternalPsk, Offer, Session};
use reprise_trace::document::{AllConnections, FirstConnection, Provenance, Trace, TraceDocument, TracedConnection};
use reprise_trace::{Asked, Attempt, Failure, FailureClass, Kind, Nanos, Recording, Version};
use zeroize::Zeroizing;

use crate::approach::{self, Configs, configs, recognise, record, ticket_request, visitor};
use crate::failure;
use crate::interrupt::Interrupt;
use crate::lane::age;
use crate::options::Options;
use crate::saved::Left;
use crate::sessions::{Sessions, full, has_ticket, version_of};
use crate::visit::Visit;
use crate::visitor::Visitor;
use reprise_attempt::Target;
use secrets::Secrets;

/// What tracing came to: the document always, with whatever could be observed.
pub struct Tracing {
    /// The messages.
    pub document: TraceDocument,
    /// The bytes and the secrets, as far as the connections came; `None` unless they were asked for.
    pub capture: Option<Capture>,
    /// What ended it before its time, if anything did.
    pub failure: Option<Failure>,
    /// The sessions that it leaves to another process.
    pub left: Left,
}

/// What went over the wire, and what it takes to read it.
pub struct Capture {
    /// The connections, in the order in which they were made.
    pub recordings: Vec<Recording>,
    /// Their secrets, as lines of a key log file. Who has them reads everything.
    pub secrets: Zeroizing<String>,
    /// When the origin of the recordings' times was: nanoseconds since the Unix epoch.
    pub origin_unix_ns: u64,
}

/// Traces `target`. Of the options, `versions` and the first of `kinds` say what: without a version, the newest that the
/// target speaks; without a kind, whatever it offers. `captures` says whether bytes and secrets are kept. Fails never
/// outright.
pub fn trace(target: &Target, options: &Options, captures: bool, provenance: Provenance, interrupt: &Interrupt) -> Tracing {
    let secrets = captures.then(|| Arc::new(Secrets::new(options.key_log.clone())));
    let mut options = options.clone();
    if let Some(secrets) = &secrets {
        options.key_log = Some(secrets.clone());
    }
    let mut observation = Observation {
        document: TraceDocument {
            schema: TraceDocument::SCHEMA.to_owned(),
            target: record(target, &options),
            traces: Vec::new(),
            client_certificate_given: options.identity.is_some(),
            ticket_request: ticket_request(&options),
            first_connection: None,
            failures: Vec::new(),
            warnings: Vec::new(),
            provenance,
        },
        recordings: Vec::new(),
        origin_unix_ns: 0,
        left: Left::nothing_yet(target, &options),
    };
    let failure = observation.carry_out(target, &options, captures, interrupt).err();
    let Observation { mut document, recordings, origin_unix_ns, left } = observation;
    document.failures.extend(failure.clone().filter(|failure| failure.class != FailureClass::Interrupted));
    let capture = secrets.map(|secrets| Capture { recordings, secrets: secrets.take(), origin_unix_ns });
    Tracing { document, capture, failure, left }
}

/// Tracing under way: whatever ends it, what was observed so far is kept.
struct Observation {
    document: TraceDocument,
    recordings: Vec<Recording>,
    origin_unix_ns: u64,
    left: Left,
}

impl Observation {
    fn carry_out(
        &mut self,
        target: &Target,
        options: &Options,
        captures: bool,
        interrupt: &Interrupt,
    ) -> Result<(), Failure> {
        let route = approach::route(target, options, interrupt)?;
        let mut visitor = visitor(target, options, route, interrupt)?;
        visitor.records = captures;
        self.origin_unix_ns = unix_ns().saturating_sub(visitor.clock.now().0);
        let ended = self.trace_all(&mut visitor, &configs(target, options)?, options);
        // Known now: of several addresses, the first that answered.
        self.document.target.address = visitor.route.target_address().map(|address| address.ip().to_string());
        ended
    }

    fn trace_all(&mut self, visitor: &mut Visitor, configs: &Configs, options: &Options) -> Result<(), Failure> {
        let kind = options.kinds.first().copied();
        if !options.versions.is_empty() {
            for (version, config) in &configs.by_version {
                let traced = self.trace(visitor, *version, config, kind, options.psk.as_ref());
                traced.map_err(|failure| {
                    let failure = failure::of_version(*version, &options.groups, failure);
                    recognise(visitor, &configs.survey, failure, &mut unaccounted())
                })?;
            }
            return Ok(());
        }
        let mut first_failure = None;
        for (version, config) in configs.by_version.iter().rev() {
            if kind.is_some_and(|kind| !kind.exists_under(*version)) {
                continue;
            }
            match self.trace(visitor, *version, config, kind, options.psk.as_ref()) {
                Err(failure) if self.document.traces.is_empty() && is_about_the_version(&failure) => {
                    first_failure.get_or_insert((*version, failure));
                }
                Err(failure) => return Err(failure),
                Ok(()) => {
                    let older = first_failure.map(|(newer, failure)| format!("{newer} is not traced: {failure}"));
                    self.document.warnings.extend(older);
                    return Ok(());
                }
            }
        }
        match first_failure {
            Some((_, failure)) => Err(recognise(visitor, &configs.survey, failure, &mut unaccounted())),
            None => Ok(()),
        }
    }

    /// One version: the first connection, and the second if there is something to offer. A session of another process is
    /// offered on the first, and the second is the full handshake to compare it with. An external PSK and a session that was
    /// taken are shown without a full handshake, where the server grants none.
    fn trace(
        &mut self,
        visitor: &mut Visitor,
        version: Version,
        config: &Arc<Config>,
        kind: Option<Kind>,
        psk: Option<&ExternalPsk>,
    ) -> Result<(), Failure> {
        let by_default = if psk.is_some() && version == Version::Tls13 { Kind::Psk } else { Kind::Ticket };
        let mut asked = Asked { tls: version, kind: kind.unwrap_or(by_default) };
        let mut sessions = psk.cloned().map(Sessions::of_psk).unwrap_or_default();
        let all = std::mem::take(&mut self.left.sessions);
        let fits = |session: &Session| version_of(session) == version && has_ticket(session) != (kind == Some(Kind::Id));
        // Without a kind, a ticket comes before an ID.
        let any_fits = kind.is_some() || all.iter().any(fits);
        let (loaded, others) =
            all.into_iter().partition(|session| if any_fits { fits(session) } else { version_of(session) == version });
        self.left.sessions = others;
        sessions.keep(loaded);

        let offers_loaded = sessions.holds_any() && asked.kind != Kind::Psk;
        if offers_loaded && kind.is_none() && sessions.holds_id_alone() {
            asked.kind = Kind::Id;
        }
        let early = visitor.early_data().unwrap_or(usize::MAX);
        let loaded = match offers_loaded {
            true => sessions.take_offer(asked, visitor.clock.now(), early),
            false => None,
        };
        let resumed = loaded.map(|offer| self.visit_first(visitor, config, asked, offer));
        let first = self.visit(visitor, config, asked, full(asked));
        sessions.keep(first.sessions);
        let outcome = first.attempt.as_ref().ok().map(|sample| &sample.outcome);
        let gave_id_alone = outcome.is_some_and(|outcome| outcome.tickets == 0 && outcome.session_id_given);
        if kind.is_none() && asked.kind == Kind::Ticket && gave_id_alone {
            asked.kind = Kind::Id;
        }
        // A server that knows PSKs alone refuses the full handshake.
        let goes_on = first.attempt.as_ref().err().is_none_or(is_about_the_full_handshake);
        let resumed = resumed.or_else(|| {
            let offer = sessions.take_offer(asked, visitor.clock.now(), early).filter(|_| goes_on)?;
            Some(self.visit(visitor, config, asked, offer))
        });
        let second = resumed.map(|visit| {
            sessions.keep(visit.sessions);
            visit.attempt
        });
        self.left.sessions.extend(sessions.into_sessions());
        self.left.at = visitor.clock.now();
        self.add(asked, first.attempt, second)
    }

    /// What was observed, if anything was. A full handshake that the server refuses may be missing where the other one
    /// stands for itself.
    fn add(&mut self, asked: Asked, full: Attempt, second: Option<Attempt>) -> Result<(), Failure> {
        let (full, missing) = apart(full);
        let (second, failure) = second.map(apart).unwrap_or_default();
        let failure = match missing {
            Some(missing) if second.is_some() && failure::is_refusal(&missing) => {
                let why = format!("A full {} handshake is not shown: {missing}", asked.tls);
                self.document.warnings.push(why);
                None
            }
            missing => failure.or(missing),
        };
        if full.is_some() || second.is_some() {
            self.document.traces.push(Trace::new(asked, full, second));
        }
        failure.map_or(Ok(()), Err)
    }

    /// The process's first connection, with a session that another left behind.
    fn visit_first(&mut self, visitor: &mut Visitor, config: &Arc<Config>, asked: Asked, offer: Offer) -> Visit {
        let session_age_ns = age(&offer, visitor.clock.now()).0;
        let visit = self.visit(visitor, config, asked, offer);
        if let Ok(sample) = &visit.attempt {
            let (local_port, kind, phases) = (sample.local_port, sample.outcome.kind, sample.phases);
            self.document.first_connection = Some(FirstConnection { local_port, asked, kind, session_age_ns, phases });
        }
        visit
    }

    fn visit(&mut self, visitor: &mut Visitor, config: &Arc<Config>, asked: Asked, offer: Offer) -> Visit {
        let mut visit = visitor.visit(config, asked, offer);
        if visit.omitted_events > 0 {
            let omitted = format!("{} further messages of a long connection are not shown", visit.omitted_events);
            self.document.warnings.push(omitted);
        }
        if visit.recording_is_cut {
            self.document.warnings.push("A long connection is captured in its beginning alone".to_owned());
        }
        self.recordings.extend(visit.recording.take());
        visit
    }
}

/// What was observed, and why nothing was.
fn apart(attempt: Attempt) -> (Option<TracedConnection>, Option<Failure>) {
    match attempt {
        Ok(sample) => (Some(sample.into()), None),
        Err(failure) => (None, Some(failure)),
    }
}

/// Whether a handshake without a certificate may do better.
fn is_about_the_full_handshake(failure: &Failure) -> bool {
    matches!(failure.class, FailureClass::Tls | FailureClass::Certificate)
}

/// Whether another version may do better.
fn is_about_the_version(failure: &Failure) -> bool {
    matches!(failure.class, FailureClass::Tls)
}

/// A trace counts no connections: it shows them.
fn unaccounted() -> AllConnections {
    AllConnections::default()
}

fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Nanos::from(since).0
}
