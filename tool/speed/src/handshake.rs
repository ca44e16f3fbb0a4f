//! Which operations a handshake demands of each side, in the order of time: the protocol's, whatever the library.

use reprise_model::document::CompareSide;
use reprise_model::{Kind, Operation, Version};

use crate::catalogue::catalogue;

/// A handshake, as far as its operations depend on it. Algorithms are called as in the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// The version.
    pub version: Version,
    /// The kind.
    pub kind: Kind,
    /// The server's key; `None` where no certificate is sent.
    pub key: Option<String>,
    /// The group; `None` where there is no key exchange.
    pub group: Option<String>,
    /// The hash of the suite.
    pub hash: &'static str,
    /// Signatures of certificates that the client verifies.
    pub certificates: u64,
    /// Whether the client signs too, by a key of the same kind.
    pub mutual: bool,
}

/// An operation of one side, and what it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A message is on its way: half a round trip.
    Network {
        /// Which.
        message: &'static str,
    },
    /// An operation.
    Operation(Work),
}

impl Step {
    /// The operation, where it is one.
    pub fn work(self) -> Option<Work> {
        match self {
            Self::Network { .. } => None,
            Self::Operation(work) => Some(work),
        }
    }
}

/// An operation, and how often it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// Who does it.
    pub side: CompareSide,
    /// The operation.
    pub operation: Operation,
    /// Its algorithm.
    pub algorithm: String,
    /// How often.
    pub times: u64,
    /// The message that it waits for.
    pub after: &'static str,
    /// Whether nobody waits for it: the other side goes on meanwhile.
    pub overlaps: bool,
}

/// HKDF-Expand-Label until the server's Finished: the secret that the handshake's is derived from, two traffic secrets of the handshake, a
/// key and a nonce of each, two keys for Finished (RFC 9846 §7.1, §7.3, §4.5.3).
const EXPANSIONS_OF_THE_HANDSHAKE: u64 = 9;
/// Thereafter: the secret that the master secret is derived from, two traffic secrets, a key and a nonce of each.
const EXPANSIONS_OF_APPLICATION_DATA: u64 = 7;
/// Of a PSK's binder (RFC 9846 §4.3.11.2).
const EXPANSIONS_OF_A_BINDER: u64 = 2;

impl Handshake {
    /// Of a suite and a group by IANA's names, without a certificate of either side.
    pub fn of(version: Version, kind: Kind, cipher: &str, group: Option<&str>, certificates: u64) -> Self {
        let hash = if cipher.ends_with("SHA384") { "sha-384" } else { "sha-256" };
        let group = group.map(str::to_lowercase);
        Self { version, kind, key: None, group, hash, certificates, mutual: false }
    }

    /// Whether the client encrypts the secret to the server's key (RFC 5246 §7.4.7.1).
    pub fn is_static_rsa(&self) -> bool {
        let is_rsa = self.key.as_deref().is_some_and(|key| key.starts_with("rsa"));
        self.version == Version::Tls12 && self.kind == Kind::Full && self.group.is_none() && is_rsa
    }

    /// Everything that both sides do, until the client may send application data, and what overlaps with that. Hashes of messages, and
    /// records of the handshake, are left out.
    pub fn steps(&self) -> Vec<Step> {
        match self.version {
            Version::Tls13 => self.steps_of_13(),
            Version::Tls12 if self.kind.is_resumption() => self.steps_of_12_resumed(),
            Version::Tls12 => self.steps_of_12(),
        }
    }

    fn steps_of_13(&self) -> Vec<Step> {
        let (client, server) = (CompareSide::Client, CompareSide::Server);
        let (hello, flight) = ("ClientHello", "the server's flight");
        let by_psk = self.kind != Kind::Full;
        let mut steps = Steps::of(self);
        steps.exchange(client, "", &[Operation::KeyPair]);
        if by_psk {
            steps.expand(client, "", EXPANSIONS_OF_A_BINDER);
        }
        steps.network(hello);
        match self.group.as_deref().is_some_and(is_kem_by_name) {
            true => steps.exchange(server, hello, &[Operation::Encapsulate]),
            false => steps.exchange(server, hello, &[Operation::KeyPair, Operation::Agree]),
        }
        let binder = if by_psk { EXPANSIONS_OF_A_BINDER } else { 0 };
        steps.expand(server, hello, EXPANSIONS_OF_THE_HANDSHAKE + binder);
        steps.sign(server, hello);
        // The server's flight is written before the secrets of application data are needed.
        steps.expand_meanwhile(server, hello, EXPANSIONS_OF_APPLICATION_DATA);
        steps.network(flight);
        match self.group.as_deref().is_some_and(is_kem_by_name) {
            true => steps.exchange(client, flight, &[Operation::Decapsulate]),
            false => steps.exchange(client, flight, &[Operation::Agree]),
        }
        steps.expand(client, flight, EXPANSIONS_OF_THE_HANDSHAKE);
        steps.verify(client, flight);
        if self.mutual {
            steps.sign(client, flight);
        }
        steps.expand(client, flight, EXPANSIONS_OF_APPLICATION_DATA);
        if self.mutual {
            steps.verify_meanwhile(server, "the client's flight");
        }
        steps.list
    }

    fn steps_of_12(&self) -> Vec<Step> {
        let (client, server) = (CompareSide::Client, CompareSide::Server);
        let (hello, done, exchange) = ("ClientHello", "ServerHelloDone", "ClientKeyExchange");
        let mut steps = Steps::of(self);
        steps.network(hello);
        steps.exchange(server, hello, &[Operation::KeyPair]);
        steps.sign(server, hello);
        steps.network("the server's flight");
        steps.verify(client, done);
        steps.exchange(client, done, &[Operation::KeyPair, Operation::Agree]);
        if self.mutual {
            steps.sign(client, done);
        }
        // The master secret and the keys. The two Finished are shorter: they are left out.
        steps.derive(client, done, 2);
        steps.network("ClientKeyExchange, Finished");
        steps.exchange(server, exchange, &[Operation::Agree]);
        if self.mutual {
            steps.verify(server, exchange);
        }
        steps.derive(server, exchange, 2);
        steps.network("the server's Finished");
        steps.list
    }

    fn steps_of_12_resumed(&self) -> Vec<Step> {
        let mut steps = Steps::of(self);
        steps.network("ClientHello");
        steps.derive(CompareSide::Server, "ClientHello", 1);
        steps.network("the server's Finished");
        steps.derive(CompareSide::Client, "the server's Finished", 1);
        steps.list
    }
}

/// Steps in the making.
struct Steps<'a> {
    handshake: &'a Handshake,
    list: Vec<Step>,
}

impl<'a> Steps<'a> {
    fn of(handshake: &'a Handshake) -> Self {
        Self { handshake, list: Vec::new() }
    }

    fn network(&mut self, message: &'static str) {
        self.list.push(Step::Network { message });
    }

    fn add(&mut self, side: CompareSide, operation: Operation, algorithm: &str, times: u64, after: &'static str) {
        let algorithm = algorithm.to_owned();
        self.list.push(Step::Operation(Work { side, operation, algorithm, times, after, overlaps: false }));
    }

    fn overlaps(&mut self) {
        if let Some(Step::Operation(work)) = self.list.last_mut() {
            work.overlaps = true;
        }
    }

    fn exchange(&mut self, side: CompareSide, after: &'static str, operations: &[Operation]) {
        let Some(group) = self.handshake.group.as_deref() else { return };
        operations.iter().for_each(|operation| self.add(side, *operation, group, 1, after));
    }

    fn sign(&mut self, side: CompareSide, after: &'static str) {
        let Some(key) = self.handshake.key.as_deref() else { return };
        self.add(side, Operation::Sign, key, 1, after);
    }

    /// The certificates' signatures, and that over the handshake.
    fn verify(&mut self, side: CompareSide, after: &'static str) {
        let Some(key) = self.handshake.key.as_deref() else { return };
        self.add(side, Operation::Verify, key, self.handshake.certificates + 1, after);
    }

    fn verify_meanwhile(&mut self, side: CompareSide, after: &'static str) {
        self.verify(side, after);
        self.overlaps();
    }

    fn expand(&mut self, side: CompareSide, after: &'static str, times: u64) {
        self.add(side, Operation::Hkdf, self.handshake.hash, times, after);
    }

    fn expand_meanwhile(&mut self, side: CompareSide, after: &'static str, times: u64) {
        self.expand(side, after, times);
        self.overlaps();
    }

    fn derive(&mut self, side: CompareSide, after: &'static str, times: u64) {
        self.add(side, Operation::Prf, self.handshake.hash, times, after);
    }
}

/// Whether a group that is called so is a KEM.
fn is_kem_by_name(group: &str) -> bool {
    catalogue().iter().any(|it| it.operation == Operation::Encapsulate && it.algorithm == group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_are_those_of_the_protocol() {
        let halves = |version, kind| {
            let handshake = Handshake {
                version,
                kind,
                key: Some("p-256".to_owned()),
                group: Some("x25519".to_owned()),
                hash: "sha-256",
                certificates: 1,
                mutual: true,
            };
            handshake.steps().iter().filter(|step| matches!(step, Step::Network { .. })).count()
        };
        assert_eq!(halves(Version::Tls13, Kind::Full), 2);
        assert_eq!(halves(Version::Tls12, Kind::Full), 4);
        assert_eq!(halves(Version::Tls12, Kind::Ticket), 2);
    }
}
