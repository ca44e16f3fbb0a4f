//! What is offered to which server.

use std::fmt;
use std::net::SocketAddr;

use reprise_model::Version;

use crate::differential::servers::{Server, Servers};

/// One offer to one server.
#[derive(Clone, Debug)]
pub(crate) struct Combination {
    pub(crate) server: &'static str,
    pub(crate) address: SocketAddr,
    pub(crate) version: Version,
    pub(crate) suite: &'static Suite,
    /// IANA's name.
    pub(crate) group: &'static str,
    /// Whether `http/1.1` is offered.
    pub(crate) alpn: bool,
    /// Whether the client has a certificate.
    pub(crate) certificate: bool,
    /// Whether the server can be expected to leave a session behind.
    pub(crate) resumes: bool,
    /// Whether the second connection sends its request as early data.
    pub(crate) early_data: bool,
}

/// A cipher suite by the names that the clients have for it.
#[derive(Debug)]
pub(crate) struct Suite {
    pub(crate) iana: &'static str,
    pub(crate) openssl: &'static str,
    /// GnuTLS chooses by parts: the cipher, and under TLS 1.2 the key exchange.
    pub(crate) gnutls: (&'static str, &'static str),
}

const TLS13: [Suite; 3] = [
    suite("TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256", "AES-128-GCM", ""),
    suite("TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384", "AES-256-GCM", ""),
    suite("TLS_CHACHA20_POLY1305_SHA256", "TLS_CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305", ""),
];

const TLS12: [Suite; 8] = [
    suite("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256", "AES-128-GCM", "ECDHE-ECDSA"),
    suite("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384", "AES-256-GCM", "ECDHE-ECDSA"),
    suite(
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        "ECDHE-ECDSA-CHACHA20-POLY1305",
        "CHACHA20-POLY1305",
        "ECDHE-ECDSA",
    ),
    suite("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "AES-128-GCM", "ECDHE-RSA"),
    suite("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384", "AES-256-GCM", "ECDHE-RSA"),
    suite("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305", "CHACHA20-POLY1305", "ECDHE-RSA"),
    suite("TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256", "AES-128-GCM", "RSA"),
    suite("TLS_RSA_WITH_AES_256_GCM_SHA384", "AES256-GCM-SHA384", "AES-256-GCM", "RSA"),
];

const fn suite(iana: &'static str, openssl: &'static str, cipher: &'static str, exchange: &'static str) -> Suite {
    Suite { iana, openssl, gnutls: (cipher, exchange) }
}

const GROUPS: [&str; 3] = ["x25519", "secp256r1", "secp384r1"];
/// Under TLS 1.3 alone; of these clients, rustls' has it too, and of these servers.
const HYBRID: &str = "X25519MLKEM768";

/// Every suite and group of either version to every server, ALPN and the client's certificate taking turns.
pub(crate) fn combinations(servers: &Servers) -> Vec<Combination> {
    let mut combinations = Vec::new();
    for &Server { name, address, asks_for_certificate, resumes, early_data } in servers.all() {
        let hybrid = [GROUPS.as_slice(), &[HYBRID]].concat();
        let offers = [(Version::Tls12, &TLS12[..], GROUPS.to_vec()), (Version::Tls13, &TLS13[..], hybrid)];
        for (version, suites, groups) in offers {
            for suite in suites {
                for &group in &groups {
                    let turn = combinations.len();
                    combinations.push(Combination {
                        server: name,
                        address,
                        version,
                        suite,
                        group,
                        alpn: turn.is_multiple_of(3),
                        certificate: asks_for_certificate && turn.is_multiple_of(2),
                        resumes,
                        early_data: early_data && version == Version::Tls13,
                    });
                }
            }
        }
    }
    combinations
}

impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} · {} · {} · {}", self.server, self.version, self.suite.iana, self.group)?;
        f.write_str(if self.alpn { " · http/1.1" } else { "" })?;
        f.write_str(if self.early_data { " · early data" } else { "" })?;
        f.write_str(if self.certificate { " · with a certificate" } else { "" })
    }
}
