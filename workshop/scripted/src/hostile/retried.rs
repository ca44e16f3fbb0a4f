//! Another mind after a HelloRetryRequest (RFC 9846 §4.2.4).

use reprise_model::Version;
use reprise_wire::{CipherSuite, ExtensionType};

use super::Expected::{self, Borne, Refused};
use super::HostileServer;
use super::sayings::{cookie, extension, key_share, suite};
use crate::host::Wording;
use crate::play::Deviation as D;
use crate::setting::{Line, Setting};

#[rustfmt::skip]
pub(super) fn cases() -> Vec<HostileServer> {
    vec![
        case("another suite", Line::Hello, suite(CipherSuite::TLS_AES_256_GCM_SHA384),
            Refused("the server misbehaved: it changed its mind after the HelloRetryRequest about the cipher suite")),
        case("another version", Line::Hello, D::Say(Wording::NoExtension(ExtensionType::SUPPORTED_VERSIONS.0)),
            Refused("the server misbehaved: it changed its mind after the HelloRetryRequest about the version")),
        case("another group", Line::Hello, key_share(0x001d, &[9; 32]),
            Refused("the server misbehaved: it changed its mind after the HelloRetryRequest about the group")),
        case("a second retry", Line::Hello, D::Before(Line::Retry),
            Refused("the server misbehaved: it sent a second HelloRetryRequest")),
        case("a retry for the group of the share that it has", Line::Retry, extension(ExtensionType::KEY_SHARE, &[0, 0x1d]),
            Refused("the server misbehaved: its HelloRetryRequest is illegal")),
        case("a retry for a group that nobody offered", Line::Retry, extension(ExtensionType::KEY_SHARE, &[0, 0x1e]),
            Refused("the server misbehaved: ")),
        case("a retry that asks for nothing", Line::Retry, D::Say(Wording::NoExtension(ExtensionType::KEY_SHARE.0)),
            Refused("the server misbehaved: its HelloRetryRequest is illegal")),
        case("a cookie of 60 kB", Line::Retry, extension(ExtensionType::COOKIE, &cookie(60_000)),
            Borne("HelloRetryRequest")),
    ]
}

fn case(name: &str, line: Line, deviation: D, expected: Expected) -> HostileServer {
    HostileServer::at(name, Setting { retry: true, ..Setting::full(Version::Tls13) }, &line, deviation, expected)
}
