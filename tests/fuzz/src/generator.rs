//! The client that loads servers, against a scripted server under live keys: any script, in pieces of any size.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use reprise_lab::Actor;
use reprise_load::{Bare, Fault, Options, TlsOptions};
use reprise_scripted::NOW;
use reprise_scripted::play::{Act, Play};
use reprise_scripted::setting::{Ending, Setting};
use reprise_trace::{Kind, Version};

use crate::script::Script;

/// More than any handshake takes.
const MAX_ACTS: usize = 1500;

pub(crate) fn run(bytes: &[u8]) {
    let script = Script::read(bytes);
    let setting = script.setting;
    let mut client = client(&setting);
    let kind = if setting.resumes() { setting.kind } else { Kind::Full };
    let mut outcome = perform(&mut client, &script, kind);
    if script.deviations.is_empty() {
        let retries = setting.retry && setting.version == Version::Tls13;
        let expected = if retries { Err(Fault::HelloRetryRequest) } else { Ok(kind) };
        assert_eq!(outcome, expected, "an honest server was taken for another: {setting:?}");
    }
    // Whatever came of it, the next connection is made with the same memory, and begins anew.
    let honest = Script { setting: Setting::full(setting.version), deviations: Vec::new() };
    outcome = perform(&mut client, &honest, Kind::Full);
    assert_eq!(outcome, Ok(Kind::Full), "what one connection left behind has spoilt the next");
}

fn client(setting: &Setting) -> Bare {
    let mut tls = TlsOptions::new(setting.version);
    tls.alpn = if setting.alpn { vec![b"http/1.1".to_vec()] } else { Vec::new() };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
    let mut client = Bare::new(Options {
        tls: Arc::new(tls),
        mix: vec![(Kind::Full, 1), (setting.kind, 1)],
        sessions: 1,
        ..Options::new(address, b"GET / HTTP/1.1\r\n\r\n".to_vec())
    })
    .expect("there is something to offer");
    if let Some(session) = setting.session() {
        client.hold(&session, setting.kind);
    }
    client
}

/// One connection: the kind that completed, or what went wrong.
fn perform(client: &mut Bare, script: &Script, kind: Kind) -> Result<Kind, Fault> {
    let outcome = converse(client, script, kind);
    assert_ne!(outcome, Err(Fault::Crypto), "the server made us fail");
    assert!(outcome.is_err() || client.is_done(), "it ended well before it was done");
    client.end();
    outcome
}

fn converse(client: &mut Bare, script: &Script, kind: Kind) -> Result<Kind, Fault> {
    let mut play = Play::deviating(script.setting, &script.deviations);
    let mut said = client.begin(kind, NOW)?;
    for _ in 0..MAX_ACTS {
        play.hear(&said);
        said = match play.act() {
            Act::Send(mut bytes) => client.receive(&mut bytes, NOW)?,
            Act::Hear => {
                play.wait_no_longer();
                Vec::new()
            }
            Act::End(Ending::Silence) => return Err(Fault::Timeout),
            Act::End(_) => {
                client.receive_end()?;
                Vec::new()
            }
        };
        if client.is_done() {
            return Ok(client.kind());
        }
    }
    Err(Fault::Timeout)
}
