//! What published articles claim, and which figures of a run decide it. The verdicts are computed, in the files below; a further
//! claim of these kinds is one more row here.

mod ahead;
mod hardware;
mod servers;
mod shares;
mod versions;

use reprise_model::document::{CompareCase, CompareClaim};
use reprise_model::{Kind, PskMode};
use reprise_pairs::Key;

pub(crate) use ahead::of_pairs_ahead;
pub(crate) use hardware::of_hardware;
pub(crate) use servers::{ServerTime, of_servers};
pub(crate) use shares::of_shares;
pub(crate) use versions::of_versions;

/// A published claim.
struct Claim<D> {
    source: &'static str,
    claim: &'static str,
    decided_by: D,
}

/// The verdict where a stack cannot do what was measured.
pub(crate) const NOT_DECIDED: &str = "not decided";

impl<D> Claim<D> {
    /// The claim about these stacks, not decided.
    fn about(&self, stack: String, published: Option<f64>) -> CompareClaim {
        CompareClaim {
            source: self.source.to_owned(),
            claim: self.claim.to_owned(),
            stack,
            published,
            measured: None,
            ci95: None,
            verdict: NOT_DECIDED.to_owned(),
            why: None,
        }
    }
}

const fn claim<D>(source: &'static str, claim: &'static str, decided_by: D) -> Claim<D> {
    Claim { source, claim, decided_by }
}

/// By time under TLS 1.2 and 1.3: the ratios of `reprise compare`.
struct Versions {
    /// Time of the TLS 1.2 handshake by that of the TLS 1.3 one, where there is a figure: below 1 where 1.3 is slower.
    ratio: Option<f64>,
    is_faster: bool,
    holds_for: fn(&CompareCase, &CompareCase) -> bool,
}

/// By time without what a processor has for a cipher, and with it.
struct Hardware {
    /// What the suite's name has.
    cipher: &'static str,
    ratio: f64,
}

/// wolfSSL's figures of an ARMv8 board, of the ciphers alone, in MB/s: 6.2 and 393, 26.5 and 649; of SHA-256 38.8 and 533.
const OF_HARDWARE: [Claim<Hardware>; 2] = [
    claim(
        WOLFSSL,
        "AES-128-GCM is 63 times as fast with the processor's instructions for it",
        Hardware { cipher: "AES_128_GCM", ratio: 393.0 / 6.2 },
    ),
    claim(
        WOLFSSL,
        "AES-128-CBC is 24 times as fast with the processor's instructions for it",
        Hardware { cipher: "AES_128_CBC", ratio: 649.0 / 26.5 },
    ),
];

const OF_SHA256: Claim<f64> =
    claim(WOLFSSL, "SHA-256 is 14 times as fast with the processor's instructions for it", 533.0 / 38.8);

/// wolfSSL's series of 2018, parts 1, 2, 3 and 5; what it gives without a figure has none here.
const WOLFSSL: &str = "wolfSSL, TLS 1.3 Performance, client and server on one computer";

const OF_VERSIONS: [Claim<Versions>; 8] = [
    claim(
        WOLFSSL,
        "a resumption with DH-2048 takes up to 13 times as long under TLS 1.3 as one without under 1.2",
        Versions {
            ratio: Some(1.0 / 13.0),
            is_faster: false,
            holds_for: |from, to| is_resumed(from, to) && to.group == "ffdhe2048",
        },
    ),
    claim(
        WOLFSSL,
        "a resumption with ECDH takes at least twice as long under TLS 1.3 as one without under 1.2",
        Versions { ratio: Some(0.5), is_faster: false, holds_for: |from, to| is_resumed(from, to) && is_curve(to) },
    ),
    claim(
        WOLFSSL,
        "a full handshake with DHE and RSA is 15 % faster under TLS 1.3",
        Versions {
            ratio: Some(1.15),
            is_faster: true,
            holds_for: |from, to| is_full(from) && to.key.starts_with("rsa-") && to.group == "ffdhe2048",
        },
    ),
    claim(
        WOLFSSL,
        "a full handshake with ECDHE is 6 % (RSA) and 7 % (ECDSA) faster under TLS 1.3",
        Versions { ratio: Some(1.06), is_faster: true, holds_for: |from, to| is_full(from) && is_curve(to) },
    ),
    claim(
        WOLFSSL,
        "a full handshake with a client certificate is slightly slower, or about as fast, under TLS 1.3",
        Versions {
            ratio: None,
            is_faster: false,
            holds_for: |from, to| from.kind == Kind::Full && from.mutual && to.mutual,
        },
    ),
    claim(
        WOLFSSL,
        "a handshake by PSK with DH is 25 % faster under TLS 1.3",
        Versions {
            ratio: Some(1.25),
            is_faster: true,
            holds_for: |from, to| is_by_psk(from, to) && to.group == "ffdhe2048",
        },
    ),
    claim(
        WOLFSSL,
        "a handshake by PSK with ECDH P-256 is 15 % faster under TLS 1.3",
        Versions {
            ratio: Some(1.15),
            is_faster: true,
            holds_for: |from, to| is_by_psk(from, to) && to.group == "secp256r1",
        },
    ),
    claim(
        WOLFSSL,
        "a handshake by PSK without DH or ECDH is slightly slower under TLS 1.3",
        Versions {
            ratio: None,
            is_faster: false,
            holds_for: |from, to| from.kind == Kind::Psk && to.psk_mode == Some(PskMode::PskKe),
        },
    ),
];

fn is_full(case: &CompareCase) -> bool {
    case.kind == Kind::Full && !case.mutual
}

/// Under TLS 1.3 with a key exchange.
fn is_resumed(from: &CompareCase, to: &CompareCase) -> bool {
    from.kind.is_resumption() && to.psk_mode == Some(PskMode::PskDheKe)
}

/// Under TLS 1.3 with a key exchange; such a handshake is compared with one of TLS 1.2 that has one too.
fn is_by_psk(from: &CompareCase, to: &CompareCase) -> bool {
    from.kind == Kind::Psk && to.psk_mode == Some(PskMode::PskDheKe)
}

fn is_curve(case: &CompareCase) -> bool {
    !case.group.starts_with("ffdhe") && !case.group.contains("MLKEM")
}

/// By time with a fresh key pair of the server and with one that was made ahead, under TLS 1.3.
struct PairsAhead {
    /// Time of the first by that of the second.
    ratio: f64,
    holds_for: fn(&CompareCase) -> bool,
}

/// Part 4 of the same series.
const OF_PAIRS_AHEAD: [Claim<PairsAhead>; 4] = [
    ahead("a full handshake with DH and RSA is 20 % faster where the server's key pair was made ahead", 1.2, |case| {
        case.kind == Kind::Full && case.key.starts_with("rsa-") && case.group == "ffdhe2048"
    }),
    ahead("a handshake by PSK with DH is 30 % faster where the server's key pair was made ahead", 1.3, |case| {
        case.kind == Kind::Psk && case.group == "ffdhe2048"
    }),
    ahead("a full handshake with ECDH and ECDSA is 4 % faster where the server's key pair was made ahead", 1.04, |case| {
        case.kind == Kind::Full && case.key == "p-256" && is_curve(case)
    }),
    ahead("a handshake by PSK with ECDH is 7 % faster where the server's key pair was made ahead", 1.07, |case| {
        case.kind == Kind::Psk && is_curve(case)
    }),
];

const fn ahead(words: &'static str, ratio: f64, holds_for: fn(&CompareCase) -> bool) -> Claim<PairsAhead> {
    claim(WOLFSSL, words, PairsAhead { ratio, holds_for })
}

/// Handshakes a second with two key shares by those with one.
const OF_SHARES: Claim<f64> = claim(
    "OpenSSL 3.5/3.6 vs 3.4: Performance Analysis, \
     https://enterprise-tim.github.io/openssl-performance-benchmark/openssl_version_analysis.html",
    "handshake performance of OpenSSL 3.5 is about 13 % below that of 3.4, because the client makes two key shares, ML-KEM-768 and X25519, \
     even when the server does not support ML-KEM",
    0.87,
);

/// By the CPU time of two builds' servers in a full handshake of TLS 1.2: the samples of `reprise compare`.
struct Servers {
    key: Key,
    from: Build,
    to: Build,
    /// Time of a handshake of the first by that of the second.
    ratio: f64,
}

/// What an article ran. Of the builds of such a library that are here, the first of these optimizations counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Build {
    library: &'static str,
    versions: &'static str,
    optimizations: &'static [&'static str],
}

const fn build(library: &'static str, versions: &'static str, optimizations: &'static [&'static str]) -> Build {
    Build { library, versions, optimizations }
}

const RP2040: &str = "Fast HTTPS server on Arduino Nano RP2040 (Cortex-M0+)";

/// "Pretty old": the board's own, built for size.
const OLD: Build = build("Mbed TLS", "2.", &["-Os", ""]);
const NEW_SMALL: Build = build("Mbed TLS", "3.", &["-Os"]);
const NEW_FAST: Build = build("Mbed TLS", "3.", &["-O3"]);
const BEARSSL: Build = build("BearSSL", "", &["-Os", ""]);
const BEARSSL_FAST: Build = build("BearSSL", "", &["-O3"]);

/// Its figures: RSA-1024 2.6 s (the board's own), 1.3 s (3.6, -O3), 0.7 s (BearSSL); P-384 3.2, 1.0 and 1.6 s.
const OF_SERVERS: [Claim<Servers>; 9] = [
    rp2040(
        "with RSA-1024, BearSSL takes 0.7 s where the board's own Mbed TLS takes 2.6 s",
        Key::Rsa1024,
        [OLD, BEARSSL],
        2.6 / 0.7,
    ),
    rp2040(
        "with RSA-1024, BearSSL takes 0.7 s where Mbed TLS 3.6 takes 1.3 s",
        Key::Rsa1024,
        [NEW_FAST, BEARSSL],
        1.3 / 0.7,
    ),
    rp2040("with RSA-1024, Mbed TLS 3.6 takes 1.3 s where the board's own takes 2.6 s", Key::Rsa1024, [OLD, NEW_FAST], 2.0),
    rp2040("with P-384, Mbed TLS 3.6 takes 1.0 s where the board's own takes 3.2 s", Key::P384, [OLD, NEW_FAST], 3.2),
    rp2040("with P-384, Mbed TLS 3.6 takes 1.0 s where BearSSL takes 1.6 s", Key::P384, [BEARSSL, NEW_FAST], 1.6),
    rp2040("with P-384, BearSSL takes 1.6 s where the board's own Mbed TLS takes 3.2 s", Key::P384, [OLD, BEARSSL], 2.0),
    rp2040("-Os alike, Mbed TLS 3.6 is twice as fast as the board's own", Key::P384, [OLD, NEW_SMALL], 2.0),
    rp2040("-O3 makes Mbed TLS 3.6 faster by 50 %", Key::P384, [NEW_SMALL, NEW_FAST], 1.5),
    rp2040("-O3 makes no difference to BearSSL", Key::Rsa1024, [BEARSSL, BEARSSL_FAST], 1.0),
];

const fn rp2040(words: &'static str, key: Key, [from, to]: [Build; 2], ratio: f64) -> Claim<Servers> {
    claim(RP2040, words, Servers { key, from, to, ratio })
}
