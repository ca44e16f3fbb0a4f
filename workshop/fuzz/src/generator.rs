//! The client that loads servers, against a scripted server under live keys: any script, in pieces of any size.

use std::sync::Arc;

use reprise_connection::exchange::Http1;
use reprise_connection::{Attempt, Begin, End, Fault, Input, Progress};
use reprise_load::{ConnectionPlan, LoadClient, LoadShared, TlsOptions};
use reprise_model::{FaultName, Kind, Version};
use reprise_scripted::NOW;
use reprise_scripted::play::{Act, Play};
use reprise_scripted::setting::{ConnectionEnd, Setting};
use reprise_servers::Actor;

use crate::script::Script;

/// More than any handshake takes.
const MAX_ACTS: usize = 1500;

pub(crate) fn run(bytes: &[u8]) {
    let script = Script::read(bytes);
    let setting = script.setting;
    let mut client = Client::new(&setting);
    let kind = if setting.resumes() { setting.kind } else { Kind::Full };
    let mut outcome = perform(&mut client, &script, kind);
    if script.deviations.is_empty() {
        let retries = setting.retry && setting.version == Version::Tls13;
        let expected = if retries { Err(FaultName::HelloRetryRequest) } else { Ok(kind) };
        assert_eq!(outcome, expected, "an honest server was taken for another: {setting:?}");
    }
    // Whatever came of it, the next connection is made with the same memory, and begins anew.
    let honest = Script { setting: Setting::full(setting.version), deviations: Vec::new() };
    outcome = perform(&mut client, &honest, Kind::Full);
    assert_eq!(outcome, Ok(Kind::Full), "what one connection left behind has spoilt the next");
}

/// The client with what outlives its connections.
struct Client {
    attempt: Attempt<LoadClient, Http1>,
    shared: LoadShared,
}

impl Client {
    fn new(setting: &Setting) -> Self {
        let mut tls = TlsOptions::new(setting.version);
        tls.alpn = if setting.alpn { vec![b"http/1.1".to_vec()] } else { Vec::new() };
        let shared = LoadShared::new(&tls, 1, &[Kind::Full, setting.kind]);
        let mut shared = shared.expect("there is something to offer");
        if let Some(session) = setting.session() {
            shared.hold(session);
        }
        let request = Arc::from(&b"GET / HTTP/1.1\r\n\r\n"[..]);
        Self { attempt: Attempt::new(LoadClient::default(), Http1::new(request, false)), shared }
    }

    fn begin(&mut self, kind: Kind) -> Result<(), Fault> {
        let begin = Begin { plan: ConnectionPlan { kind, name: 0 }, prologue: None, requests: 1, early: None };
        self.attempt.begin(&mut self.shared, begin, NOW)?;
        self.attempt.connected(NOW, || None)
    }

    fn receive(&mut self, bytes: &mut [u8]) -> Result<(), Fault> {
        let mut input = Input::new(bytes, NOW);
        while self.attempt.receive(&mut self.shared, &mut input, NOW)? == Progress::Boundary {}
        Ok(())
    }

    fn take_outgoing(&mut self) -> Vec<u8> {
        let outgoing = self.attempt.outgoing(NOW).to_vec();
        self.attempt.sent(outgoing.len());
        outgoing
    }
}

/// One connection: the kind that completed, or what went wrong.
fn perform(client: &mut Client, script: &Script, kind: Kind) -> Result<Kind, FaultName> {
    let outcome = converse(client, script, kind).map_err(|fault| fault.name);
    assert_ne!(outcome, Err(FaultName::Crypto), "the server made us fail");
    let is_done = client.attempt.is_done();
    assert!(outcome.is_err() || is_done, "it ended well before it was done");
    client.attempt.end(&mut client.shared, if is_done { End::Completed } else { End::Failed });
    outcome
}

fn converse(client: &mut Client, script: &Script, kind: Kind) -> Result<Kind, Fault> {
    let mut play = Play::deviating(script.setting, &script.deviations);
    client.begin(kind)?;
    for _ in 0..MAX_ACTS {
        play.hear(&client.take_outgoing());
        match play.act() {
            Act::Send(mut bytes) => client.receive(&mut bytes)?,
            Act::Hear => play.wait_no_longer(),
            Act::End(ConnectionEnd::Silence) => return Err(Fault::new(FaultName::Timeout)),
            Act::End(_) => client.attempt.receive_end(NOW)?,
        }
        if let (true, Some(facts)) = (client.attempt.is_done(), client.attempt.facts()) {
            return Ok(facts.kind);
        }
        if client.attempt.is_peer_closed() {
            return Err(Fault::new(FaultName::Unconfirmed));
        }
    }
    Err(Fault::new(FaultName::Timeout))
}
