//! Sessions between a file and a measurement.

use std::time::SystemTime;

use reprise_engine::{Session, SessionError};
use reprise_model::Nanos;

use super::format::SessionFile;
use crate::options::{CertificateTrust, Options, ServerName};
use reprise_connection::Target;

/// So many sessions fit into a file, whatever their size.
const MAX_SESSIONS: usize = 32;

/// Whose sessions they are: `NAME:PORT`. A session is good for the name that its certificate was verified for, and for no
/// other (RFC 9846 §4.7.1).
pub fn server(target: &Target, name: &ServerName) -> String {
    let name = match name {
        ServerName::Host => &target.host,
        ServerName::Name(name) => name,
    };
    format!("{name}:{}", target.port)
}

impl SessionFile {
    /// The sessions that have not expired by `date`, for [`Options::sessions`]; their ages count on from now.
    pub fn fresh(&self, date: SystemTime) -> Result<Vec<Session>, SessionError> {
        let decode = |bytes: &_| Session::decode(bytes, &self.server, Nanos(0), date);
        let sessions = self.sessions.iter().map(|bytes| decode(bytes)).collect::<Result<Vec<_>, _>>()?;
        Ok(sessions.into_iter().filter(|session| !session.is_expired(Nanos(0))).collect())
    }
}

/// What a measurement or a trace leaves behind for another process: what it was given anew, and what it was told to begin
/// with and did not use.
#[derive(Default)]
pub struct Unused {
    pub(crate) server: String,
    pub(crate) verified: bool,
    pub(crate) sessions: Vec<Session>,
    /// When it ended, by its own clock.
    pub(crate) at: Nanos,
}

impl Unused {
    pub(crate) fn nothing_yet(target: &Target, options: &Options) -> Self {
        Self {
            server: server(target, &options.server_name),
            verified: matches!(options.certificates, CertificateTrust::Roots(_)),
            sessions: options.sessions.clone(),
            at: Nanos(0),
        }
    }

    /// The newest of them, oldest first.
    pub fn to_file(&self, date: SystemTime) -> SessionFile {
        let Self { server, verified, sessions, at } = self;
        let mut sessions: Vec<&Session> = sessions.iter().collect();
        sessions.sort_by_key(|session| std::cmp::Reverse(session.age(*at)));
        let newest = sessions.iter().skip(sessions.len().saturating_sub(MAX_SESSIONS));
        let sessions = newest.map(|session| session.encode(server, *at, date)).collect();
        SessionFile { server: server.clone(), verified: *verified, sessions }
    }

    /// What remains of a file when what was used of it is gone: a TLS 1.3 ticket is used once (RFC 9846 §C.4).
    pub fn of_file(&self, loaded: &SessionFile) -> SessionFile {
        let is_left = |bytes: &[u8]| match Session::decode(bytes, &loaded.server, Nanos(0), SystemTime::UNIX_EPOCH) {
            Ok(Session::Tls13(ticket)) => self.sessions.iter().any(|left| match left {
                Session::Tls13(left) => left.ticket == ticket.ticket,
                Session::Tls12(_) => false,
            }),
            Ok(Session::Tls12(_)) => true,
            Err(_) => false,
        };
        let sessions = loaded.sessions.iter().filter(|bytes| is_left(bytes)).cloned().collect();
        SessionFile { sessions, ..loaded.clone() }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reprise_engine::{Receipt, Secret, Tls13Ticket, suite};
    use reprise_wire::CipherSuite;

    use super::*;

    fn left(tickets: u8) -> Unused {
        let ticket = |number: u8| {
            Session::Tls13(Tls13Ticket {
                suite: suite::find(CipherSuite::TLS_AES_128_GCM_SHA256).unwrap(),
                psk: Secret::new(&[7; 32]).unwrap(),
                ticket: vec![number; 4],
                lifetime: 3600,
                age_add: 1,
                max_early_data: None,
                received: Receipt::fresh(Nanos(u64::from(number))),
                alpn: None,
                leaf: Some([number; 32]),
            })
        };
        let sessions = (0..tickets).map(ticket).collect();
        Unused { server: "example.org:443".to_owned(), verified: true, sessions, at: Nanos(1_000) }
    }

    fn date() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
    }

    #[test]
    fn a_ticket_expires_by_the_calendar() {
        let file = left(1).to_file(date());
        let left_after = |seconds| file.fresh(date() + Duration::from_secs(seconds)).unwrap().len();
        assert_eq!([left_after(0), left_after(3_590), left_after(3_601)], [1, 1, 0]);
    }

    #[test]
    fn what_was_used_is_taken_out_and_nothing_else() {
        let all = left(3);
        let file = all.to_file(date());
        let mut after = left(3);
        after.sessions.remove(1);
        let unused = after.of_file(&file);
        assert_eq!(unused.sessions, [file.sessions[0].clone(), file.sessions[2].clone()]);
        assert_eq!(all.of_file(&file), file);
    }

    #[test]
    fn of_many_the_newest_are_kept() {
        let file = left(40).to_file(date());
        let sessions = file.fresh(date()).unwrap();
        assert_eq!(sessions.len(), MAX_SESSIONS);
        assert!(matches!(sessions.last(), Some(Session::Tls13(ticket)) if ticket.ticket == [39; 4]));
    }
}
