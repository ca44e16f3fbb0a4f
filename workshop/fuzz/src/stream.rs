//! Any bytes on the wire, after so many of an honest server's: the client ends in an error that has a name, or not at all.
//!
//! The first byte says which server, the second and third how many of its bytes come first.

use std::sync::OnceLock;

use reprise_model::{Kind, Version};
use reprise_scripted::NOW;
use reprise_scripted::play::{Act, Play};
use reprise_scripted::setting::Setting;
use reprise_servers::Actor;

use crate::client::Watched;

pub(crate) fn run(bytes: &[u8]) {
    let [which, high, low, bytes @ ..] = bytes else { return };
    let setting = setting(*which);
    let mut client = Watched::new(setting.client());
    // Clients in these settings all say the same, so what was said to one of them suits any of them.
    let recording = recording(*which);
    let prefix = usize::from(u16::from_be_bytes([*high, *low])).min(recording.len());
    let _ = client.connection.take_outgoing(NOW);
    client.receive(&recording[..prefix]);
    let segment = usize::from(which >> 3).pow(2).max(1);
    bytes.chunks(segment).for_each(|part| client.receive(part));
    client.end();
}

pub(crate) fn setting(which: u8) -> Setting {
    let version = if which & 1 == 0 { Version::Tls13 } else { Version::Tls12 };
    let kind = if which & 2 == 0 { Kind::Full } else { Kind::Ticket };
    Setting { kind, offers_both: which & 4 != 0, ..Setting::full(version) }
}

/// What an honest server says until it waits for a client's answer.
pub(crate) fn recording(which: u8) -> &'static [u8] {
    static RECORDINGS: [OnceLock<Vec<u8>>; 8] = [const { OnceLock::new() }; 8];
    let which = which & 7;
    RECORDINGS[usize::from(which)].get_or_init(|| {
        let setting = setting(which);
        let mut play = Play::honest(setting);
        play.hear(&setting.client().take_outgoing(NOW));
        let mut said = Vec::new();
        while let Act::Send(bytes) = play.act() {
            said.extend(bytes);
        }
        said
    })
}
