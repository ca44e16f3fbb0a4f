//! Connections of a client, written down as a test needs them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use reprise_model::document::{Diagnosis, Finding};
use reprise_model::{
    Agreed, ClientOffer, FailureClass, Fingerprint, GivenSession, HandshakeEnd, Kind, Nanos, OfferedSession, Version,
    Watched, WatchedConnection, WatchedEnd, WatchedHandshake,
};

use super::case::ClientCase;
use super::software::client_software;
use super::{ClientRun, client_diagnosis};
use crate::causes::Cause;

/// Connections one after another, a second apart, each with one answered request and two tickets.
#[derive(Clone, Default)]
pub(crate) struct Client {
    watched: Watched,
    name: Option<&'static str>,
}

const SECOND: u64 = 1_000_000_000;

/// What all rules say together.
pub(crate) fn judged(client: &Client) -> Diagnosis {
    client_diagnosis(ClientRun::default(), &client.watched)
}

impl Client {
    /// What the cause's rule finds.
    pub(crate) fn only(&self, cause: &Cause) -> Option<Finding> {
        let software = client_software(&[], &self.watched);
        (cause.watched.unwrap().find)(&ClientCase::new(&self.watched, software))
    }

    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// What the server saw.
    pub(crate) fn watched(&self) -> &Watched {
        &self.watched
    }

    /// The name that those connections ask for which follow.
    pub(crate) fn to(self, name: &'static str) -> Self {
        Self { name: Some(name), ..self }
    }

    /// One that offers nothing.
    pub(crate) fn full(self) -> Self {
        self.connection(Vec::new(), Kind::Full)
    }

    /// One that resumes the next unused session of connection `source`.
    pub(crate) fn resumed(self, source: u32) -> Self {
        let session = session(source);
        self.connection(vec![session], Kind::Ticket)
    }

    /// One that offers a session of connection `source` and is refused.
    pub(crate) fn refused(self, source: u32) -> Self {
        let session = session(source);
        self.connection(vec![session], Kind::Full)
    }

    /// All of them begin at the same moment, and end together.
    pub(crate) fn at_once(mut self) -> Self {
        let (mut first, mut last) = (Nanos(u64::MAX), Nanos(0));
        for connection in &self.watched.connections {
            first = first.min(connection.arrived);
            last = last.max(connection.arrived);
        }
        for connection in &mut self.watched.connections {
            connection.arrived = first;
            connection.offer.as_mut().unwrap().at = first;
            connection.first_response = Some(last + Nanos(SECOND / 4));
            connection.end = Some((last + Nanos(SECOND / 2), WatchedEnd::CloseNotify));
        }
        self
    }

    /// These, later.
    pub(crate) fn then(mut self, later: Self) -> Self {
        let shift = self.watched.connections.len() as u32;
        let add = Nanos(u64::from(shift) * SECOND);
        for mut connection in later.watched.connections {
            connection.number += shift;
            connection.arrived = connection.arrived + add;
            connection.first_response = connection.first_response.map(|at| at + add);
            connection.end = connection.end.map(|(at, how)| (at + add, how));
            if let Some(offer) = connection.offer.as_mut() {
                offer.at = offer.at + add;
            }
            self.watched.connections.push(connection);
        }
        self
    }

    /// Every offer changed.
    pub(crate) fn offers(mut self, change: impl Fn(&mut ClientOffer)) -> Self {
        self.watched.connections.iter_mut().filter_map(|it| it.offer.as_mut()).for_each(change);
        self
    }

    /// The offer of one connection changed.
    pub(crate) fn offers_of(mut self, number: usize, change: impl Fn(&mut ClientOffer)) -> Self {
        change(self.watched.connections[number].offer.as_mut().unwrap());
        self
    }

    /// All under TLS 1.2.
    pub(crate) fn tls12(mut self) -> Self {
        for connection in &mut self.watched.connections {
            let offer = connection.offer.as_mut().unwrap();
            offer.sessions.iter_mut().for_each(|session| session.version = Version::Tls12);
            if let WatchedHandshake::Completed(agreed) = &mut connection.handshake {
                agreed.version = Version::Tls12;
            }
        }
        self
    }

    /// How many sessions each was given.
    pub(crate) fn gives(mut self, sessions: u32) -> Self {
        self.watched.connections.iter_mut().for_each(|it| it.sessions_given = sessions);
        self
    }

    /// Sessions where the handshake was full, and none where it resumed.
    pub(crate) fn gives_where_full(mut self) -> Self {
        for connection in &mut self.watched.connections {
            let is_full = connection.agreed().is_some_and(|agreed| agreed.kind == Kind::Full);
            connection.sessions_given = u32::from(is_full);
        }
        self
    }

    /// The client ended each with this alert.
    pub(crate) fn alerts(mut self, alert: &str) -> Self {
        self.watched.connections.iter_mut().for_each(|it| it.alert = Some(alert.to_owned()));
        self
    }

    /// It had gone when the tickets were sent.
    pub(crate) fn leaves_before_tickets(mut self) -> Self {
        self.watched.connections.iter_mut().for_each(|it| it.left_before_tickets = true);
        self
    }

    /// None asks for a name.
    pub(crate) fn nameless(self) -> Self {
        self.offers(|offer| offer.sni = None)
    }

    pub(crate) fn agent(mut self, agent: &str) -> Self {
        self.watched.connections.iter_mut().for_each(|it| it.user_agent = Some(agent.to_owned()));
        self
    }

    pub(crate) fn in_processes(mut self, processes: &[u32]) -> Self {
        for (connection, process) in self.watched.connections.iter_mut().zip(processes) {
            connection.process = Some(*process);
        }
        self
    }

    /// No request came, and so they ended.
    pub(crate) fn unanswered(mut self, end: WatchedEnd) -> Self {
        for connection in &mut self.watched.connections {
            connection.requests = 0;
            connection.request_times.clear();
            connection.first_response = None;
            connection.end = connection.end.map(|(at, _)| (at, end));
        }
        self
    }

    /// They ended so.
    pub(crate) fn ended_by(mut self, end: WatchedEnd) -> Self {
        self.watched.connections.iter_mut().for_each(|it| it.end = it.end.map(|(at, _)| (at, end)));
        self
    }

    /// The last was given up in the middle of its handshake.
    pub(crate) fn given_up(mut self) -> Self {
        let end = HandshakeEnd { class: FailureClass::Tls, alert: None, reason: "closed".to_owned(), is_left: true };
        self.watched.connections.last_mut().unwrap().handshake = WatchedHandshake::Failed(end);
        self
    }

    /// Each ended so long after its handshake.
    pub(crate) fn ended_after(mut self, stay: Nanos) -> Self {
        for connection in &mut self.watched.connections {
            if let (WatchedHandshake::Completed(agreed), Some((at, _))) = (&connection.handshake, &mut connection.end) {
                *at = agreed.at + stay;
            }
        }
        self
    }

    /// The last transfers data for the FTP connection of this number.
    pub(crate) fn data_of(mut self, control: u32) -> Self {
        self.watched.connections.last_mut().unwrap().data_of = Some(control);
        self
    }

    fn connection(mut self, sessions: Vec<OfferedSession>, kind: Kind) -> Self {
        let number = self.watched.connections.len() as u32;
        let at = |milliseconds: u64| Nanos(u64::from(number) * SECOND + milliseconds * 1_000_000);
        let peer = SocketAddr::from((IpAddr::from(Ipv4Addr::LOCALHOST), 50_000 + number as u16));
        let agreed = Agreed { at: at(3), version: Version::Tls13, kind, suite: 0x1301, early_data: None };
        let ja4 = if sessions.is_empty() { "new" } else { "resuming" };
        let offer = ClientOffer {
            at: at(1),
            sni: Some(self.name.unwrap_or("localhost").to_owned()),
            alpn: vec!["http/1.1".to_owned()],
            versions: vec![Version::Tls13, Version::Tls12],
            suites: vec![0x1301, 0x1302, 0xc02b],
            groups: vec![29],
            psk_modes: Some(vec![1]),
            session_ticket: true,
            extended_master_secret: true,
            early_data: false,
            fingerprint: Fingerprint { ja4: ja4.to_owned(), stable: "stable".to_owned() },
            sessions,
        };
        self.watched.connections.push(WatchedConnection {
            offer: Some(offer),
            handshake: WatchedHandshake::Completed(agreed),
            sessions_given: 2,
            request_times: vec![at(4)],
            requests: 1,
            first_response: Some(at(5)),
            end: Some((at(6), WatchedEnd::CloseNotify)),
            ..WatchedConnection::new(number, peer, at(0))
        });
        self
    }
}

fn session(source: u32) -> OfferedSession {
    let given = Some(GivenSession { connection: source, nth: 1 });
    OfferedSession { version: Version::Tls13, mechanism: Kind::Ticket, given }
}
