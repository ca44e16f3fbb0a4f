//! What a library can do.

use reprise_model::{KeyPairs, PskMode, Version};

use crate::{ContextOptions, SessionMode, Side};

/// One thing that a library can do: its number is its bit in the `capabilities` of `reprise_stack.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ability {
    /// Be a client.
    Client = 0,
    /// Be a server.
    Server = 1,
    /// Speak TLS 1.2.
    Tls12 = 2,
    /// Speak TLS 1.3.
    Tls13 = 3,
    /// Resume by session ID.
    Id = 4,
    /// Resume by ticket.
    Ticket = 5,
    /// Authenticate clients.
    ClientAuth = 6,
    /// Give sessions as bytes, and take them.
    Export = 7,
    /// Use a PSK of TLS 1.3, from a ticket or external, without a key exchange.
    PskKe = 8,
    /// Send early data, or accept it.
    EarlyData = 9,
    /// Authenticate by an external PSK.
    Psk = 10,
    /// Make a server's key pairs ahead of its connections.
    KeysAhead = 13,
    /// Use one key pair of a server for all of its connections.
    KeysReused = 14,
    /// Skip the verification of a chain that was verified before.
    ChainMemory = 15,
    /// Make a context with the library's whole state for itself.
    LibraryContext = 16,
    /// Agree with its peer on small records.
    MaxFragment = 18,
    /// Give back the buffers of idle connections.
    ReleaseBuffers = 19,
    /// Use one context in several threads at once.
    SharedContext = 20,
    /// Have a client make a key share of each of its groups.
    AllShares = 21,
}

/// Those that documents name.
const NAMES: [(Ability, &str); 18] = [
    (Ability::Client, "client"),
    (Ability::Server, "server"),
    (Ability::Tls12, "1.2"),
    (Ability::Tls13, "1.3"),
    (Ability::Id, "id"),
    (Ability::Ticket, "ticket"),
    (Ability::ClientAuth, "client-auth"),
    (Ability::Export, "export"),
    (Ability::PskKe, "psk-ke"),
    (Ability::EarlyData, "early-data"),
    (Ability::Psk, "psk"),
    (Ability::KeysAhead, "keys-ahead"),
    (Ability::KeysReused, "keys-reused"),
    (Ability::ChainMemory, "chain-memory"),
    (Ability::MaxFragment, "max-fragment"),
    (Ability::ReleaseBuffers, "release-buffers"),
    (Ability::SharedContext, "shared-context"),
    (Ability::AllShares, "all-shares"),
];

/// What a library can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abilities(u32);

impl Abilities {
    /// These and no others.
    pub fn of(abilities: &[Ability]) -> Self {
        Self(abilities.iter().fold(0, |bits, ability| bits | ability.bit()))
    }

    /// As a plugin has them.
    pub(crate) fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// All but this one.
    pub(crate) fn without(self, ability: Ability) -> Self {
        Self(self.0 & !ability.bit())
    }

    /// Whether it is among them.
    pub fn has(self, ability: Ability) -> bool {
        self.0 & ability.bit() != 0
    }

    /// By the names that documents have for them.
    pub fn names(self) -> Vec<&'static str> {
        NAMES.iter().filter(|(ability, _)| self.has(*ability)).map(|(_, name)| *name).collect()
    }

    /// The first thing that a context of these options needs and a library with these abilities lacks, in words.
    pub(crate) fn missing(self, options: &ContextOptions<'_>) -> Option<&'static str> {
        let authenticates = match options.side {
            Side::Client => options.identity.is_some(),
            Side::Server => options.require_client_certificate,
        };
        let is_server = options.side == Side::Server;
        let needs = [
            (options.side == Side::Client, Ability::Client, "client"),
            (options.side == Side::Server, Ability::Server, "server"),
            (options.version == Version::Tls12, Ability::Tls12, "TLS 1.2"),
            (options.version == Version::Tls13, Ability::Tls13, "TLS 1.3"),
            (options.sessions == SessionMode::Id, Ability::Id, "session IDs"),
            (options.max_early_data > 0, Ability::EarlyData, "early data"),
            (options.sessions == SessionMode::Ticket, Ability::Ticket, "tickets"),
            (options.psk.is_some(), Ability::Psk, "external PSKs that Reprise uses"),
            (options.psk_mode == PskMode::PskKe, Ability::PskKe, "PSK without a key exchange that Reprise uses"),
            (authenticates, Ability::ClientAuth, "client authentication"),
            (
                is_server && options.key_pairs == KeyPairs::Ahead,
                Ability::KeysAhead,
                "call that makes a server's key pair before the ClientHello",
            ),
            (
                is_server && options.key_pairs == KeyPairs::Reused,
                Ability::KeysReused,
                "call, in this build, that lets a server use one key pair for several connections",
            ),
            (
                !is_server && options.remembers_chains,
                Ability::ChainMemory,
                "call by which a client skips a chain that it has verified before",
            ),
            (options.max_fragment.is_some(), Ability::MaxFragment, "max_fragment_length or record_size_limit"),
            (
                !is_server && options.shares_all_groups,
                Ability::AllShares,
                "call, in this build, by which a client makes key shares of two groups that Reprise uses",
            ),
            (options.releases_buffers, Ability::ReleaseBuffers, "call that releases the buffers of an idle connection"),
        ];
        needs.into_iter().find(|(needed, ability, _)| *needed && !self.has(*ability)).map(|(_, _, words)| words)
    }
}

impl Ability {
    fn bit(self) -> u32 {
        1 << self as u32
    }
}
