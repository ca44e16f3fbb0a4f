//! The connections of one client, and what it held when it began each.

use std::collections::BTreeSet;

use reprise_model::document::{Confidence, Finding, Severity};
use reprise_model::{
    Agreed, ClientOffer, Kind, Nanos, OfferedSession, Version, Watched, WatchedConnection, WatchedEnd, WatchedHandshake,
};

use crate::causes::Cause;

/// What the rules judge.
pub(crate) struct ClientCase<'a> {
    connections: &'a [WatchedConnection],
    /// What the client is written with, where it says so.
    pub(crate) software: Option<&'static str>,
    /// The connections of which a session was offered later, found once: each pair of connections asks.
    offered_later: BTreeSet<u32>,
    chances: Vec<Chance<'a>>,
}

/// A connection that began when its client held a session for it.
pub(crate) struct Chance<'a> {
    pub(crate) connection: &'a WatchedConnection,
    pub(crate) offer: &'a ClientOffer,
    /// The earlier connections, of the same client and to the same name, whose sessions it had read by then.
    pub(crate) sources: Vec<&'a WatchedConnection>,
}

/// A response that was sent so long ago has been read, and with it the tickets before it.
const READ_WITHIN: Nanos = Nanos(250_000_000);

/// A server learns of an end by the client somewhat later than the client did, perhaps only after the next ClientHello.
const LEARNT_WITHIN: Nanos = Nanos(5_000_000);

/// So many connections of each kind are enough for a cost.
const ENOUGH: usize = 3;

/// So many lines of evidence are shown.
const LINES: usize = 5;

impl<'a> ClientCase<'a> {
    pub(crate) fn new(watched: &'a Watched, software: Option<&'static str>) -> Self {
        let (offered_later, chances) = (BTreeSet::new(), Vec::new());
        let mut case = Self { connections: &watched.connections, software, offered_later, chances };
        case.offered_later = case.offered().map(|offered| offered.source.number).collect();
        case.chances = case.answered().filter_map(|(connection, offer)| case.chance(connection, offer)).collect();
        case
    }

    /// All connections, in the order in which they came.
    pub(crate) fn connections(&self) -> &'a [WatchedConnection] {
        self.connections
    }

    /// Those whose ClientHello was read.
    pub(crate) fn offers(&self) -> impl Iterator<Item = (&'a WatchedConnection, &'a ClientOffer)> + use<'a> {
        self.connections.iter().filter_map(|it| Some((it, it.offer.as_ref()?)))
    }

    /// Those whose handshake came to an end: not those that the client left in the middle of it, as a load tool does that stops.
    pub(crate) fn answered(&self) -> impl Iterator<Item = (&'a WatchedConnection, &'a ClientOffer)> + use<'a> {
        self.offers().filter(|(connection, _)| match &connection.handshake {
            WatchedHandshake::Completed(_) => true,
            WatchedHandshake::Failed(end) => !end.is_left,
            WatchedHandshake::Unfinished => false,
        })
    }

    /// Those whose handshake completed.
    pub(crate) fn completed(&self) -> impl Iterator<Item = (&'a WatchedConnection, &'a ClientOffer, &'a Agreed)> + use<'a> {
        self.offers().filter_map(|(connection, offer)| Some((connection, offer, connection.agreed()?)))
    }

    /// Those that came to an end and could have offered a session.
    pub(crate) fn chances(&self) -> &[Chance<'a>] {
        &self.chances
    }

    /// Those that could have and did not offer any.
    pub(crate) fn misses(&self) -> impl Iterator<Item = &Chance<'a>> {
        self.chances.iter().filter(|chance| chance.offer.sessions.is_empty())
    }

    /// FTP's data connections, whose handshake completed and whose control connection gave a session.
    pub(crate) fn data_connections(&self) -> impl Iterator<Item = &'a WatchedConnection> + use<'a> {
        let connections = self.connections;
        let control_of = |it: &WatchedConnection| connections.get(usize::try_from(it.data_of?).ok()?);
        self.completed().map(|(it, _, _)| it).filter(move |it| control_of(it).is_some_and(|it| it.sessions_given > 0))
    }

    /// Whether a data connection offers a session of its control connection, or of another data connection of that. This server accepts
    /// a ticket once, where FTP's servers do as often as it is offered: what is offered counts.
    pub(crate) fn offers_control_session(&self, data: &WatchedConnection) -> bool {
        let control_of = |number: u32| usize::try_from(number).ok().and_then(|at| self.connections.get(at)?.data_of);
        let given = data.offer.iter().flat_map(|offer| &offer.sessions).filter_map(|session| session.given);
        let mut sources = given.map(|given| given.connection);
        sources.any(|source| Some(source) == data.data_of || control_of(source) == data.data_of)
    }

    /// Whether any connection offered any session.
    pub(crate) fn offers_any(&self) -> bool {
        self.offers().any(|(_, offer)| !offer.sessions.is_empty())
    }

    /// Every offer of a session that the server gave: the connection, the session, the connection that it was given on.
    pub(crate) fn offered(&self) -> impl Iterator<Item = Offered<'a>> + use<'a> {
        let connections = self.connections;
        self.offers().flat_map(move |(connection, offer)| {
            offer.sessions.iter().filter_map(move |session| {
                let source = connections.get(usize::try_from(session.given?.connection).ok()?)?;
                Some(Offered { connection, offer, session, source })
            })
        })
    }

    /// Whether this connection's client offered one of its sessions later.
    pub(crate) fn is_offered_later(&self, source: &WatchedConnection) -> bool {
        self.offered_later.contains(&source.number)
    }

    /// How many different processes called; none where that is not known of all.
    pub(crate) fn processes(&self) -> Option<usize> {
        let processes: BTreeSet<u32> = self.offers().map(|(it, _)| it.process).collect::<Option<_>>()?;
        Some(processes.len())
    }

    /// A finding that is more than a note costs what a resumption saves, as this server saw it.
    pub(crate) fn cost_of(&self, finding: Finding) -> Finding {
        if finding.severity == Severity::Note {
            return finding;
        }
        let median = |is_resumed: bool| {
            let is_kind = |agreed: &&Agreed| (agreed.kind != Kind::Full) == is_resumed;
            let spans = self.completed().filter(|(_, _, agreed)| is_kind(agreed));
            let mut spans: Vec<Nanos> = spans.map(|(_, offer, agreed)| agreed.at.since(offer.at)).collect();
            spans.sort_unstable();
            if spans.len() < ENOUGH { None } else { spans.get(spans.len() / 2).copied() }
        };
        let cost = median(false).zip(median(true)).map(|(full, resumed)| full.since(resumed));
        Finding { cost_ns: cost.filter(|cost| cost.0 > 0), ..finding }
    }

    /// A finding with what fixes its cause in a client: in what this one is written with first.
    pub(crate) fn found(
        &self,
        cause: &Cause,
        severity: Severity,
        confidence: Confidence,
        title: impl Into<String>,
        evidence: Vec<String>,
    ) -> Finding {
        let remedies = cause.client_remedies(self.software);
        cause.finding(severity, confidence, title).because(evidence).fixed_by(remedies)
    }

    /// The same with a line for each connection that shows it; none where no connection does.
    pub(crate) fn found_in(
        &self,
        cause: &Cause,
        severity: Severity,
        confidence: Confidence,
        title: impl Into<String>,
        lines: impl IntoIterator<Item = String>,
    ) -> Option<Finding> {
        let evidence = first_lines(lines);
        (!evidence.is_empty()).then(|| self.found(cause, severity, confidence, title, evidence))
    }

    /// How many other connections were open when this one began.
    pub(crate) fn open_beside(&self, chance: &Chance<'_>) -> usize {
        let is_open = |(it, offer): &(&WatchedConnection, &ClientOffer)| {
            let is_begun = offer.at <= chance.offer.at && it.number != chance.connection.number;
            is_begun && it.end.is_none_or(|(at, _)| at > chance.offer.at + LEARNT_WITHIN)
        };
        self.offers().filter(is_open).count()
    }

    fn chance(&self, connection: &'a WatchedConnection, offer: &'a ClientOffer) -> Option<Chance<'a>> {
        // FTP's data connections are another matter: a client that resumes on none of them may resume all else.
        if connection.data_of.is_some() {
            return None;
        }
        let sources = self.completed().filter(|(source, before, agreed)| {
            is_one_client(source, connection)
                && before.sni == offer.sni
                && offer.speaks(agreed.version)
                && self
                    .read_at(source, agreed)
                    .is_some_and(|at| at <= offer.at + LEARNT_WITHIN && is_answered_before(source, offer))
        });
        let sources: Vec<_> = sources.map(|(source, _, _)| source).collect();
        if sources.is_empty() { None } else { Some(Chance { connection, offer, sources }) }
    }

    /// When the client had surely read a session of this connection.
    ///
    /// Under TLS 1.3 tickets follow the handshake, so only what is read after them shows it: a response. Under TLS 1.2 they
    /// stand before the server's Finished.
    fn read_at(&self, source: &WatchedConnection, agreed: &Agreed) -> Option<Nanos> {
        if source.sessions_given == 0 {
            return None;
        }
        let end = source.end.map(|(at, _)| at);
        if self.is_offered_later(source) {
            return end.or(Some(agreed.at));
        }
        // What the client read before it sent an alert is not known, nor what it left unread.
        if source.alert.is_some() || source.left_before_tickets {
            return None;
        }
        if let Some(second) = source.request_times.get(1) {
            return Some(*second);
        }
        let is_read_at_end = |how| match how {
            WatchedEnd::CloseNotify | WatchedEnd::Fin | WatchedEnd::Server => true,
            WatchedEnd::Reset | WatchedEnd::Idle | WatchedEnd::Broken | WatchedEnd::Stopped => false,
        };
        let ended = source.end.filter(|(_, how)| is_read_at_end(*how)).map(|(at, _)| at);
        match (agreed.version, source.first_response) {
            (_, Some(response)) => match source.end {
                // It may have closed with the response unread.
                Some((_, WatchedEnd::Reset)) => None,
                _ => Some(ended.unwrap_or(response + READ_WITHIN).min(response + READ_WITHIN)),
            },
            (Version::Tls12, None) => source.request_times.first().copied().or(ended),
            (Version::Tls13, None) => waited_until(source, agreed),
        }
    }
}

/// Whether a client asks for other protocols than the one that this server speaks: one that insists on them leaves after the handshake.
pub(crate) fn wants_another_protocol(offer: &ClientOffer) -> bool {
    !offer.alpn.is_empty() && offer.alpn.iter().all(|protocol| protocol != "http/1.1")
}

/// When a client left in order that had waited so long for the server to speak first that it has read its tickets: one of SMTP does.
pub(crate) fn waited_until(source: &WatchedConnection, agreed: &Agreed) -> Option<Nanos> {
    let (at, how) = source.end.filter(|_| !source.left_before_tickets)?;
    let is_in_order = matches!(how, WatchedEnd::CloseNotify | WatchedEnd::Fin);
    (is_in_order && at > agreed.at + READ_WITHIN).then_some(at)
}

fn is_answered_before(source: &WatchedConnection, offer: &ClientOffer) -> bool {
    source.first_response.is_none_or(|at| at <= offer.at)
}

/// One offer of a session that is known.
pub(crate) struct Offered<'a> {
    pub(crate) connection: &'a WatchedConnection,
    pub(crate) offer: &'a ClientOffer,
    pub(crate) session: &'a OfferedSession,
    pub(crate) source: &'a WatchedConnection,
}

impl Chance<'_> {
    /// The latest connection that left a session for this one.
    pub(crate) fn latest(&self) -> Option<&WatchedConnection> {
        self.sources.last().copied()
    }
}

/// Whether two connections can share sessions. Of a process that is not known it is assumed.
pub(crate) fn is_one_client(one: &WatchedConnection, other: &WatchedConnection) -> bool {
    one.peer.ip() == other.peer.ip() && one.number < other.number && !is_other_process(one, other)
}

pub(crate) fn is_other_process(one: &WatchedConnection, other: &WatchedConnection) -> bool {
    one.process.zip(other.process).is_some_and(|(one, other)| one != other)
}

/// A connection, as evidence names it.
pub(crate) fn named(connection: &WatchedConnection) -> String {
    let at = connection.offer.as_ref().map_or(connection.arrived, |offer| offer.at);
    let name = connection.offer.as_ref().and_then(|offer| offer.sni.as_deref());
    let to = name.map_or_else(String::new, |name| format!(" to {name}"));
    format!("port {} at {:.3} s{to}", connection.peer.port(), at.as_millis_f64() / 1e3)
}

/// What became of a connection.
pub(crate) fn outcome(connection: &WatchedConnection) -> &'static str {
    match &connection.handshake {
        WatchedHandshake::Completed(Agreed { kind: Kind::Full, .. }) => "a full handshake",
        WatchedHandshake::Completed(_) => "resumed",
        WatchedHandshake::Failed(_) => "the handshake failed",
        WatchedHandshake::Unfinished => "the handshake was not finished",
    }
}

/// The first few lines, and how many more there are.
pub(crate) fn first_lines(lines: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = lines.into_iter().collect();
    let more = lines.len().saturating_sub(LINES);
    if more > 0 {
        lines.truncate(LINES);
        lines.push(format!("and {more} more"));
    }
    lines
}
