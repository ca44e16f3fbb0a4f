//! The whole client against a scripted server under live keys: any script.

use reprise_engine::{Connection, Error};
use reprise_model::Kind;
use reprise_scripted::NOW;
use reprise_scripted::play::{Act, Play};
use reprise_scripted::setting::ConnectionEnd;
use reprise_servers::Actor;

use crate::script::Script;

/// More than any limit of the client on what comes again and again.
const MAX_ACTS: usize = 1500;

pub(crate) fn run(bytes: &[u8]) {
    let script = Script::read(bytes);
    let mut play = Play::deviating(script.setting, &script.deviations);
    let mut client = Watched::new(script.setting.client());
    let mut asked = false;
    for _ in 0..MAX_ACTS {
        play.hear(&client.connection.take_outgoing(NOW));
        match play.act() {
            Act::Send(bytes) => client.receive(&bytes),
            Act::Hear if client.failed => break,
            Act::Hear if client.connection.ready().is_some() && !asked => {
                asked = true;
                client.connection.send(NOW, b"GET / HTTP/1.1\r\n\r\n").expect("a client that is ready can send");
            }
            Act::Hear => play.wait_no_longer(),
            Act::End(ConnectionEnd::Silence) => break,
            Act::End(_) => {
                client.end();
                break;
            }
        }
    }
    if script.deviations.is_empty() {
        let kind = if script.setting.resumes() { script.setting.kind } else { Kind::Full };
        let observed = client.connection.outcome().map(|outcome| outcome.kind);
        assert_eq!(observed, Some(kind), "an honest server was taken for another");
        assert!(client.connection.is_confirmed() && !client.failed);
    }
}

/// A client, and what must hold of it whatever a server says.
pub(crate) struct Watched {
    pub(crate) connection: Connection,
    pub(crate) failed: bool,
}

impl Watched {
    pub(crate) fn new(connection: Connection) -> Self {
        Self { connection, failed: false }
    }

    pub(crate) fn receive(&mut self, bytes: &[u8]) {
        let closed = self.connection.is_peer_closed();
        let sessions = self.connection.take_sessions().len();
        assert!(sessions <= 16, "{sessions} sessions are held");
        let result = self.connection.receive(NOW, bytes);
        self.judge(result);
        let data = self.connection.take_application_data();
        assert!(data.len() <= bytes.len() + 0x4800, "more data came out than went in");
        assert!(data.is_empty() || self.connection.ready().is_some() && !closed, "data before its time");
    }

    pub(crate) fn end(&mut self) {
        let failed = self.failed;
        let result = self.connection.receive_end(NOW);
        assert!(!failed || result.is_ok(), "an end is no news after an error: {result:?}");
        if failed {
            return;
        }
        let ended_well = result.is_ok();
        self.judge(result);
        assert!(!ended_well || self.connection.ready().is_some(), "the handshake is not done, and nothing is wrong");
    }

    fn judge(&mut self, result: Result<(), Error>) {
        if let Err(error) = result {
            assert!(!error.to_string().is_empty());
            assert!(!matches!(error, Error::Crypto(_) | Error::NothingToOffer(_)), "the server made us fail: {error}");
            assert!(!self.failed || error == Error::Closed, "it fails twice: {error}");
            assert!(self.failed || error != Error::Closed || self.connection.is_peer_closed());
            self.failed = true;
        } else {
            assert!(!self.failed, "it recovered from an error");
        }
        let connection = &self.connection;
        assert!(connection.ready().is_none() || connection.outcome().is_some(), "it is ready for nothing");
        assert!(!connection.is_confirmed() || connection.ready().is_some(), "it is confirmed and not ready");
        assert!(connection.events().len() <= 4096 + 8, "it holds {} events", connection.events().len());
        assert!(connection.events().is_sorted_by_key(|event| event.at));
    }
}
