//! Traces one target: a connection that offers nothing, then one that offers what the first left behind, for each version.

mod secrets;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use reprise_connection::{MessageLog, Target};
use reprise_engine::{Config, ExternalPsk, Session};
use reprise_model::{Asked, Event, FailureClass, Kind, Nanos, Observation, Recording, Version};
use zeroize::Zeroizing;

use crate::addresses::DeadAddress;
use crate::connection_plan::{ConnectionPlan, ConnectionRecord, SessionOffer};
use crate::connector::Connector;
use crate::failed::FailedConnection;
use crate::interrupt::Interrupt;
use crate::options::Options;
use crate::plan::{Plan, VersionPlan};
use crate::saved::Unused;
use crate::session_cache::{SessionCache, version_of};
use crate::survey;
use secrets::Secrets;

/// What tracing came to: whatever could be seen, and why the rest could not.
#[derive(Default)]
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
    pub without_full: Vec<(Version, FailedConnection)>,
    /// The versions that the target refused, where another was traced.
    pub untraced: Vec<(Version, FailedConnection)>,
    /// How many messages of long connections there was no room for, one count a connection.
    pub omitted: Vec<u64>,
    /// Whether a connection was too long to be captured to its end.
    pub capture_is_cut: bool,
    /// The bytes and the secrets, as far as the connections came; `None` unless they were asked for.
    pub capture: Option<Capture>,
    /// What ended it before its time, if anything did.
    pub ended_by: Option<FailedConnection>,
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
#[derive(Default)]
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
        capture: captures.then(Capture::default),
        unused: Unused::nothing_yet(target, &options),
        ..Tracing::default()
    };
    tracing.ended_by = tracing.carry_out(target, &options, interrupt).err();
    if let (Some(capture), Some(secrets)) = (&mut tracing.capture, secrets) {
        capture.secrets = secrets.take();
    }
    tracing
}

impl Tracing {
    fn carry_out(&mut self, target: &Target, options: &Options, interrupt: &Interrupt) -> Result<(), FailedConnection> {
        let mut connector = Connector::new(target, options, interrupt)?;
        connector.settings.keeps_messages = true;
        if let Some(capture) = &mut self.capture {
            capture.origin_unix_ns = unix_ns().saturating_sub(connector.now().0);
        }
        let mut plan = Plan::new(target, options)?;
        plan.keep_messages();
        let ended = self.trace_all(&mut connector, &mut plan, options);
        let is_planned = |session: &Session| plan.versions.iter().any(|plan| plan.version == version_of(session));
        self.unused.sessions.retain(|session| !is_planned(session));
        self.unused.sessions.extend(plan.versions.into_iter().flat_map(VersionPlan::into_sessions));
        self.unused.at = connector.now();
        // Known now: of several addresses, the first that answered.
        self.address = connector.target_address();
        self.dead_addresses = connector.take_dead_addresses();
        ended
    }

    fn trace_all(&mut self, connector: &mut Connector, plan: &mut Plan, options: &Options) -> Result<(), FailedConnection> {
        let kind = options.kinds.first().copied();
        let is_named = !options.versions.is_empty();
        let exists = |plan: &&mut VersionPlan| is_named || kind.is_none_or(|kind| kind.exists_under(plan.version));
        let mut plans: Vec<&mut VersionPlan> = plan.versions.iter_mut().filter(exists).collect();
        if !is_named {
            // The newest that the target speaks.
            plans.reverse();
        }
        let mut refused = Vec::new();
        for plan in plans {
            match self.trace(connector, plan, kind, options.psk.as_ref()) {
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
        if self.traces.is_empty()
            && let Some(failed) = survey::recognise(connector, plan, refused.clone(), |_| ())
        {
            return Err(failed);
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
        plan: &mut VersionPlan,
        kind: Option<Kind>,
        psk: Option<&ExternalPsk>,
    ) -> Result<(), FailedConnection> {
        // Without a kind, a ticket comes before an ID.
        let is_by_id = kind.map_or(!plan.ticket.holds_any() && plan.id.holds_any(), |kind| kind == Kind::Id);
        let by_default = match psk {
            Some(_) if plan.version == Version::Tls13 => Kind::Psk,
            _ if is_by_id => Kind::Id,
            _ => Kind::Ticket,
        };
        let mut asked = Asked { tls: plan.version, kind: kind.unwrap_or(by_default) };
        let (config, cache) = (&plan.config, if is_by_id { &mut plan.id } else { &mut plan.ticket });
        cache.set_psk(psk);
        let offers_loaded = cache.holds_any() && asked.kind != Kind::Psk;
        let early = connector.early_request_length().unwrap_or(usize::MAX);
        let loaded = match offers_loaded {
            true => cache.take_offer(asked, connector.now(), early, None),
            false => None,
        };
        let resumed = loaded.map(|offer| {
            let record = self.make(connector, config, asked, offer, cache);
            self.first = Some(record.observation).filter(|seen| seen.facts().is_some());
            record
        });
        let first = self.make(connector, config, asked, SessionOffer::nothing(asked), cache);
        let facts = first.observation.facts();
        let gave_id_alone = facts.is_some_and(|facts| facts.tickets.count == 0 && facts.session_id_given);
        if kind.is_none() && asked.kind == Kind::Ticket && gave_id_alone {
            asked.kind = Kind::Id;
        }
        // A server that knows PSKs alone refuses the full handshake.
        let goes_on = first.fault.as_ref().is_none_or(|fault| is_about_the_full_handshake(fault.class));
        let second = resumed.or_else(|| {
            let offer = cache.take_offer(asked, connector.now(), early, None).filter(|_| goes_on)?;
            Some(self.make(connector, config, asked, offer, cache))
        });
        self.add(asked, first, second)
    }

    /// What was seen, if anything was. A full handshake that the server refuses may be missing where the other one stands for
    /// itself.
    fn add(
        &mut self,
        asked: Asked,
        full: ConnectionRecord,
        second: Option<ConnectionRecord>,
    ) -> Result<(), FailedConnection> {
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
        offer: SessionOffer,
        cache: &mut SessionCache,
    ) -> ConnectionRecord {
        let mut record = cache.connect(connector, ConnectionPlan::sample(config, asked, offer));
        self.omitted.extend(Some(record.messages.omitted).filter(|count| *count > 0));
        self.capture_is_cut |= record.recording_is_cut;
        if let Some(capture) = &mut self.capture {
            capture.recordings.extend(record.recording.take());
        }
        record
    }
}

/// What was seen, and why nothing was.
fn apart(mut record: ConnectionRecord) -> (Option<Traced>, Option<FailedConnection>) {
    let MessageLog { messages, handshake_bytes, .. } = std::mem::take(&mut record.messages);
    match record.completed() {
        Ok(observation) => (Some(Traced { observation, messages, handshake_bytes }), None),
        Err(failed) => (None, Some(failed)),
    }
}

/// Whether a handshake without a certificate may do better.
fn is_about_the_full_handshake(class: FailureClass) -> bool {
    matches!(class, FailureClass::Tls | FailureClass::Certificate)
}

/// Whether another version may do better.
fn is_about_the_version(failed: &FailedConnection) -> bool {
    failed.fault.class == FailureClass::Tls
}

fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Nanos::from(since).0
}
