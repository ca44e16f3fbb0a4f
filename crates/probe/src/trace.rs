//! Traces one target: a connection that offers nothing, then one that offers what the first left behind, for each version.

mod secrets;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use reprise_connection::{MessageLog, Target};
use reprise_engine::{Config, ExternalPsk, Session};
use reprise_model::{Asked, Event, FailureClass, Kind, Nanos, Observation, Purpose, Recording, Version};
use zeroize::Zeroizing;

use crate::addresses::DeadAddress;
use crate::close_behavior::CloseBehavior;
use crate::connector::Connector;
use crate::failed::Failed;
use crate::held_session::HeldSession;
use crate::interrupt::Interrupt;
use crate::offers::{Offers, VersionPlan};
use crate::options::Options;
use crate::saved::Unused;
use crate::session_cache::{SessionCache, Taken, has_ticket, version_of};
use crate::survey;
use crate::trial::{Trial, Tried};
use secrets::Secrets;

/// What tracing came to: whatever could be seen, and why the rest could not.
pub struct Tracing {
    /// The target's address, as far as this machine knows it.
    pub address: Option<SocketAddr>,
    /// The addresses that were tried before it, in vain.
    pub dead_addresses: Vec<DeadAddress>,
    /// Two connections for each version.
    pub traces: Vec<TracedPair>,
    /// This process's first connection, where it offered a session that another had saved.
    pub first: Option<Observation>,
    /// Full handshakes that the server refused, where the other one stands for itself.
    pub without_full: Vec<(Version, Failed)>,
    /// The versions that the target refused, where another was traced.
    pub untraced: Vec<(Version, Failed)>,
    /// How many messages of long connections there was no room for, one count a connection.
    pub omitted: Vec<u64>,
    /// Whether a connection was too long to be captured to its end.
    pub capture_is_cut: bool,
    /// The bytes and the secrets, as far as the connections came; `None` unless they were asked for.
    pub capture: Option<Capture>,
    /// What ended it before its time, if anything did.
    pub ended_by: Option<Failed>,
    /// The sessions that it leaves to another process.
    pub unused: Unused,
}

/// A connection that offered nothing, and one that offered what the first had left behind.
pub struct TracedPair {
    /// What the second connection was made for.
    pub asked: Asked,
    /// The connection that offered nothing.
    pub full: Option<Traced>,
    /// The one that offered something.
    pub resumed: Option<Traced>,
}

/// One connection with every message.
pub struct Traced {
    /// What was seen.
    pub observation: Observation,
    /// Every message in and out.
    pub messages: Vec<Event>,
    /// The bytes of the handshake messages among them, header included, in the same order.
    pub handshake_bytes: Vec<Vec<u8>>,
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
pub fn trace(target: &Target, options: &Options, captures: bool, interrupt: &Interrupt) -> Tracing {
    let secrets = captures.then(|| Arc::new(Secrets::new(options.key_log.clone())));
    let mut options = options.clone();
    if let Some(secrets) = &secrets {
        options.key_log = Some(secrets.clone());
    }
    let mut tracing = Tracing {
        address: None,
        dead_addresses: Vec::new(),
        traces: Vec::new(),
        first: None,
        without_full: Vec::new(),
        untraced: Vec::new(),
        omitted: Vec::new(),
        capture_is_cut: false,
        capture: captures.then(|| Capture { recordings: Vec::new(), secrets: Zeroizing::default(), origin_unix_ns: 0 }),
        ended_by: None,
        unused: Unused::nothing_yet(target, &options),
    };
    tracing.ended_by = tracing.carry_out(target, &options, interrupt).err();
    if let (Some(capture), Some(secrets)) = (&mut tracing.capture, secrets) {
        capture.secrets = secrets.take();
    }
    tracing
}

impl Tracing {
    fn carry_out(&mut self, target: &Target, options: &Options, interrupt: &Interrupt) -> Result<(), Failed> {
        let mut connector = Connector::new(target, options, interrupt)?;
        connector.keep_messages();
        if let Some(capture) = &mut self.capture {
            capture.origin_unix_ns = unix_ns().saturating_sub(connector.now().0);
        }
        let mut offers = Offers::new(target, options)?;
        offers.keep_messages();
        let ended = self.trace_all(&mut connector, &offers, options);
        // Known now: of several addresses, the first that answered.
        self.address = connector.target_address();
        self.dead_addresses = connector.take_dead_addresses();
        ended
    }

    fn trace_all(&mut self, connector: &mut Connector, offers: &Offers, options: &Options) -> Result<(), Failed> {
        let kind = options.kinds.first().copied();
        let psk = options.psk.as_ref();
        let is_named = !options.versions.is_empty();
        let exists = |plan: &&VersionPlan| is_named || kind.is_none_or(|kind| kind.exists_under(plan.version));
        let mut plans: Vec<&VersionPlan> = offers.versions.iter().filter(exists).collect();
        if !is_named {
            // The newest that the target speaks.
            plans.reverse();
        }
        let mut refused = Vec::new();
        for plan in plans {
            match self.trace(connector, plan, kind, psk) {
                Err(failed) if is_about_the_version(&failed) && !self.shows(plan.version) => {
                    refused.push((plan.version, failed));
                }
                Err(failed) => {
                    self.untraced = refused;
                    return Err(failed);
                }
                Ok(()) if is_named => {}
                Ok(()) => break,
            }
        }
        if self.traces.is_empty() && !refused.is_empty() {
            return Err(survey::recognise(connector, &offers.versions, refused, |_| ()));
        }
        self.untraced = refused;
        Ok(())
    }

    fn shows(&self, version: Version) -> bool {
        self.traces.iter().any(|pair| pair.asked.tls == version)
    }

    /// One version: the first connection, and the second if there is something to offer. A session of another process is
    /// offered on the first, and the second is the full handshake to compare it with. An external PSK and a session that was
    /// taken are shown without a full handshake, where the server grants none.
    fn trace(
        &mut self,
        connector: &mut Connector,
        plan: &VersionPlan,
        kind: Option<Kind>,
        psk: Option<&ExternalPsk>,
    ) -> Result<(), Failed> {
        let (version, config) = (plan.version, &plan.config);
        let by_default = if psk.is_some() && version == Version::Tls13 { Kind::Psk } else { Kind::Ticket };
        let mut asked = Asked { tls: version, kind: kind.unwrap_or(by_default) };
        let mut stock = psk.cloned().map(SessionCache::of_psk).unwrap_or_default();
        let all = std::mem::take(&mut self.unused.sessions);
        let fits = |session: &Session| version_of(session) == version && has_ticket(session) != (kind == Some(Kind::Id));
        // Without a kind, a ticket comes before an ID.
        let any_fits = kind.is_some() || all.iter().any(fits);
        let (loaded, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|session| if any_fits { fits(session) } else { version_of(session) == version });
        self.unused.sessions = others;
        stock.keep(loaded.into_iter().map(|session| HeldSession { session, origin: None }));

        let offers_loaded = stock.holds_any() && asked.kind != Kind::Psk;
        if offers_loaded && kind.is_none() && stock.holds_id_alone() {
            asked.kind = Kind::Id;
        }
        let early = connector.early_request_length().unwrap_or(usize::MAX);
        let loaded = match offers_loaded {
            true => stock.take_offer(asked, connector.now(), early, None),
            false => None,
        };
        let resumed = loaded.map(|taken| {
            let tried = self.make(connector, config, asked, taken, &mut stock);
            self.first = Some(tried.observation).filter(|seen| seen.facts().is_some());
            tried
        });
        let first = self.make(connector, config, asked, Taken::nothing(asked), &mut stock);
        let facts = first.observation.facts();
        let gave_id_alone = facts.is_some_and(|facts| facts.tickets.count == 0 && facts.session_id_given);
        if kind.is_none() && asked.kind == Kind::Ticket && gave_id_alone {
            asked.kind = Kind::Id;
        }
        // A server that knows PSKs alone refuses the full handshake.
        let goes_on = first.fault.as_ref().is_none_or(|fault| is_about_the_full_handshake(fault.class));
        let second = resumed.or_else(|| {
            let taken = stock.take_offer(asked, connector.now(), early, None).filter(|_| goes_on)?;
            Some(self.make(connector, config, asked, taken, &mut stock))
        });
        self.unused.sessions.extend(stock.into_sessions());
        self.unused.at = connector.now();
        self.add(asked, first, second)
    }

    /// What was seen, if anything was. A full handshake that the server refuses may be missing where the other one stands for
    /// itself.
    fn add(&mut self, asked: Asked, full: Tried, second: Option<Tried>) -> Result<(), Failed> {
        let (full, missing) = apart(full);
        let (second, failed) = second.map(apart).unwrap_or_default();
        let failed = match missing {
            Some(missing) if second.is_some() && missing.fault.name.is_refusal() => {
                self.without_full.push((asked.tls, missing));
                None
            }
            missing => failed.or(missing),
        };
        if full.is_some() || second.is_some() {
            self.traces.push(TracedPair { asked, full, resumed: second });
        }
        failed.map_or(Ok(()), Err)
    }

    fn make(
        &mut self,
        connector: &mut Connector,
        config: &Arc<Config>,
        asked: Asked,
        taken: Taken,
        stock: &mut SessionCache,
    ) -> Tried {
        let (origin, purpose) = (taken.origin(), Purpose::Sample);
        let mut tried = connector.connect(Trial {
            config: config.clone(),
            asked,
            purpose,
            offer: taken.offer,
            origin,
            manner: CloseBehavior::default(),
        });
        stock.settle(taken.held, &mut tried);
        self.omitted.extend(Some(tried.messages.omitted).filter(|count| *count > 0));
        self.capture_is_cut |= tried.recording_is_cut;
        if let Some(capture) = &mut self.capture {
            capture.recordings.extend(tried.recording.take());
        }
        tried
    }
}

/// What was seen, and why nothing was.
fn apart(tried: Tried) -> (Option<Traced>, Option<Failed>) {
    let MessageLog { messages, handshake_bytes, .. } = tried.messages.clone();
    match tried.completed() {
        Ok(observation) => (Some(Traced { observation, messages, handshake_bytes }), None),
        Err(failed) => (None, Some(failed)),
    }
}

/// Whether a handshake without a certificate may do better.
fn is_about_the_full_handshake(class: FailureClass) -> bool {
    matches!(class, FailureClass::Tls | FailureClass::Certificate)
}

/// Whether another version may do better.
fn is_about_the_version(failed: &Failed) -> bool {
    failed.fault.class == FailureClass::Tls
}

fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Nanos::from(since).0
}
