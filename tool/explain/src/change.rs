//! What is to be other than it was measured.

use std::time::Duration;

use reprise_model::{Kind, Nanos, Operation, Version};
use reprise_speed::{Primitive, catalogue};

use crate::seen::Seen;

/// What is to be other than it was measured: `key=p-256,group=x25519mlkem768,rtt=80ms,kind=ticket,tls=1.3`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    key: Option<String>,
    group: Option<String>,
    round_trip: Option<Duration>,
    kind: Option<Kind>,
    version: Option<Version>,
}

impl Change {
    /// From `NAME=VALUE,…`; `duration` reads a round trip.
    ///
    /// # Errors
    /// What is no such change, in words.
    pub fn read(text: &str, duration: impl Fn(&str) -> Result<Duration, String>) -> Result<Self, String> {
        let mut change = Self::default();
        for part in text.split(',') {
            let (name, value) = part.split_once('=').ok_or_else(|| format!("invalid change '{part}': use NAME=VALUE"))?;
            match name {
                "key" => change.key = Some(algorithm(value, |it| it.key.is_some())?),
                "group" => change.group = Some(algorithm(value, |it| it.operation == Operation::KeyPair)?),
                "rtt" => change.round_trip = Some(duration(value)?),
                "kind" => change.kind = Some(kind(value)?),
                "tls" => change.version = Some(value.parse()?),
                _ => return Err(format!("unknown change '{name}'; known: key, group, rtt, kind, tls")),
            }
        }
        Ok(change)
    }
}

fn algorithm(name: &str, fits: impl Fn(&Primitive) -> bool) -> Result<String, String> {
    let mut known: Vec<&str> = catalogue().iter().filter(|it| fits(it)).map(|it| it.algorithm).collect();
    known.dedup();
    let name = name.to_lowercase();
    if known.contains(&name.as_str()) { Ok(name) } else { Err(format!("unknown '{name}'; known: {}", known.join(", "))) }
}

/// Early data has no path of its own: it is sent at once.
fn kind(name: &str) -> Result<Kind, String> {
    let known = [Kind::Full, Kind::Id, Kind::Ticket, Kind::Psk];
    known
        .into_iter()
        .find(|kind| kind.name() == name)
        .ok_or_else(|| format!("unknown kind '{name}'; known: {}", known.map(Kind::name).join(", ")))
}

impl Change {
    /// As it was asked for, one by one.
    pub(crate) fn words(&self) -> Vec<String> {
        let round_trip = self.round_trip.map(|it| format!("rtt={}", Nanos::from(it)));
        let parts = [
            self.version.map(|it| format!("tls={}", it.number())),
            self.kind.map(|it| format!("kind={it}")),
            self.key.as_ref().map(|it| format!("key={it}")),
            self.group.as_ref().map(|it| format!("group={it}")),
            round_trip,
        ];
        parts.into_iter().flatten().collect()
    }

    /// What of it changes nothing in that handshake.
    pub(crate) fn without_effect(&self, base: &Seen, changed: &Seen) -> Vec<String> {
        let handshake = &changed.handshake;
        let is_same = |asked: &Option<String>, before: &Option<String>| asked.is_some() && asked == before;
        let same = [("key", &self.key, &base.handshake.key), ("group", &self.group, &base.handshake.group)];
        let same = same.into_iter().filter(|(_, asked, before)| is_same(asked, before));
        let same = same
            .filter_map(|(name, asked, _)| Some(format!("{name}={} changes nothing: it was measured so", asked.as_ref()?)));
        let key = self.key.as_ref().filter(|_| handshake.key.is_none());
        let group = self.group.as_ref().filter(|_| handshake.group.is_none());
        let key = key.map(|key| format!("key={key} changes nothing: this handshake sends no certificate"));
        key.into_iter()
            .chain(group.map(|group| format!("group={group} changes nothing: this handshake has no key exchange")))
            .chain(same)
            .collect()
    }

    /// A handshake with it.
    pub(crate) fn of(&self, base: &Seen) -> Seen {
        let mut changed = base.clone();
        let handshake = &mut changed.handshake;
        handshake.version = self.version.unwrap_or(handshake.version);
        handshake.kind = self.kind.unwrap_or(handshake.kind);
        if handshake.kind == Kind::Full {
            handshake.key = self.key.clone().or(handshake.key.take());
        } else {
            // Who resumes or has a PSK sends no certificate, and under TLS 1.2 there is no key exchange either.
            handshake.key = None;
            handshake.mutual = false;
        }
        let has_exchange = handshake.version == Version::Tls13 || !handshake.kind.is_resumption();
        handshake.group = self.group.clone().or(handshake.group.take()).filter(|_| has_exchange);
        if let Some(round_trip) = self.round_trip {
            changed.round_trip_ns = round_trip.as_nanos() as u64;
        }
        if (self.version, self.kind) != (None, None) {
            changed.round_trips = None;
        }
        changed
    }
}

/// The handshake that a change is derived from: that of the version and kind that is asked for, else the full one of that version, else of any.
pub(crate) fn base<'a>(seen: &'a [Seen], change: &Change) -> Option<&'a Seen> {
    let newest = seen.iter().map(|it| it.handshake.version).max();
    let version = change.version.or(newest);
    let of = |version: Option<Version>, kind: Kind| {
        seen.iter().find(|it| Some(it.handshake.version) == version && it.handshake.kind == kind)
    };
    let wanted = of(version, change.kind.unwrap_or(Kind::Full));
    wanted.or_else(|| of(version, Kind::Full)).or_else(|| of(newest, Kind::Full)).or(seen.first())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seen::example;

    fn duration(text: &str) -> Result<Duration, String> {
        if text == "1us" { Ok(Duration::from_micros(1)) } else { Err(format!("no duration: {text}")) }
    }

    fn change(text: &str) -> Change {
        Change::read(text, duration).unwrap()
    }

    #[test]
    fn a_change_that_is_none_has_a_clear_error() {
        for (text, words) in [
            ("p-256", "invalid change 'p-256': use NAME=VALUE"),
            ("colour=red", "unknown change 'colour'; known: key, group, rtt, kind, tls"),
            ("key=dsa", "unknown 'dsa'; known: rsa-2048"),
            ("group=p-256", "unknown 'p-256'; known: x25519"),
            ("rtt=fast", "no duration: fast"),
            ("kind=early", "unknown kind 'early'; known: full, id, ticket, psk"),
            ("tls=1.1", "unknown"),
        ] {
            let error = Change::read(text, duration).unwrap_err();
            assert!(error.starts_with(words), "{text}: {error}");
        }
    }

    #[test]
    fn a_change_is_derived_from_the_nearest_handshake() {
        let both = [example(Kind::Full, 200, 2000), example(Kind::Ticket, 200, 500)];
        let of = |text: &str| base(&both, &change(text)).unwrap().handshake.kind;
        assert_eq!((of("rtt=1us"), of("kind=ticket"), of("kind=psk")), (Kind::Full, Kind::Ticket, Kind::Full));
    }
}
