//! What was published about libraries, held against each other's servers here.

use reprise_model::document::{CompareClaim, ComparedStack};
use reprise_model::{Kind, Version};

use crate::case::{Case, Key};
use crate::claims::verdict;

const SOURCE: &str = "Fast HTTPS server on Arduino Nano RP2040 (Cortex-M0+)";

/// All that a run on this machine can say to it.
const ANOTHER_PROCESSOR: &str = "this processor is not the report's, a Cortex-M0+: 'reprise board' measures on such a one";

/// What that report ran. Of the builds of such a library that are here, the first of these optimizations counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Build {
    library: &'static str,
    versions: &'static str,
    optimizations: &'static [&'static str],
}

/// "Pretty old": the board's own, built for size.
const OLD: Build = Build { library: "Mbed TLS", versions: "2.", optimizations: &["-Os", ""] };
const NEW_SMALL: Build = Build { library: "Mbed TLS", versions: "3.", optimizations: &["-Os"] };
const NEW_FAST: Build = Build { library: "Mbed TLS", versions: "3.", optimizations: &["-O3"] };
const BEARSSL: Build = Build { library: "BearSSL", versions: "", optimizations: &["-Os", ""] };
const BEARSSL_FAST: Build = Build { library: "BearSSL", versions: "", optimizations: &["-O3"] };

/// A published comparison of one server with another.
struct Published {
    claim: &'static str,
    key: Key,
    from: Build,
    to: Build,
    /// Time of a handshake of the first by that of the second.
    ratio: f64,
}

/// Its figures: RSA-1024 2.6 s (the board's own), 1.3 s (3.6, -O3), 0.7 s (BearSSL); P-384 3.2, 1.0 and 1.6 s.
const PUBLISHED: [Published; 9] = [
    of(
        "with RSA-1024, BearSSL takes 0.7 s where the board's own Mbed TLS takes 2.6 s",
        Key::Rsa1024,
        OLD,
        BEARSSL,
        2.6 / 0.7,
    ),
    of("with RSA-1024, BearSSL takes 0.7 s where Mbed TLS 3.6 takes 1.3 s", Key::Rsa1024, NEW_FAST, BEARSSL, 1.3 / 0.7),
    of("with RSA-1024, Mbed TLS 3.6 takes 1.3 s where the board's own takes 2.6 s", Key::Rsa1024, OLD, NEW_FAST, 2.0),
    of("with P-384, Mbed TLS 3.6 takes 1.0 s where the board's own takes 3.2 s", Key::P384, OLD, NEW_FAST, 3.2),
    of("with P-384, Mbed TLS 3.6 takes 1.0 s where BearSSL takes 1.6 s", Key::P384, BEARSSL, NEW_FAST, 1.6),
    of("with P-384, BearSSL takes 1.6 s where the board's own Mbed TLS takes 3.2 s", Key::P384, OLD, BEARSSL, 2.0),
    of("-Os alike, Mbed TLS 3.6 is twice as fast as the board's own", Key::P384, OLD, NEW_SMALL, 2.0),
    of("-O3 makes Mbed TLS 3.6 faster by 50 %", Key::P384, NEW_SMALL, NEW_FAST, 1.5),
    of("-O3 makes no difference to BearSSL", Key::Rsa1024, BEARSSL, BEARSSL_FAST, 1.0),
];

const fn of(claim: &'static str, key: Key, from: Build, to: Build, ratio: f64) -> Published {
    Published { claim, key, from, to, ratio }
}

/// What the server of a stack took for a handshake: each sample.
pub(crate) struct ServerTime {
    pub(crate) stack: String,
    pub(crate) case: Case,
    pub(crate) samples: Vec<u64>,
}

/// Each claim whose two builds were measured.
pub(crate) fn held_against(stacks: &[ComparedStack], times: &[ServerTime], seed: u64) -> Vec<CompareClaim> {
    let judged = |published: &Published| {
        let time = |build: &Build| {
            let stack = build.among(stacks)?;
            let is_it = |time: &&ServerTime| time.stack == stack.name && is_about(&time.case, published.key);
            times.iter().find(is_it)
        };
        let (from, to) = (time(&published.from)?, time(&published.to)?);
        let ratio = reprise_stats::ratio(&from.samples, &to.samples, seed)?;
        let ci95 = ratio.ci95.map(|(low, high)| [low, high]);
        let verdict = judge(published.ratio, ratio.median, ci95);
        Some(CompareClaim {
            source: SOURCE.to_owned(),
            claim: published.claim.to_owned(),
            stack: format!("{} → {}, {}, full, server", from.stack, to.stack, published.key),
            published: Some(published.ratio),
            measured: ratio.median,
            ci95,
            verdict: verdict.to_owned(),
            why: (verdict == "other direction").then(|| ANOTHER_PROCESSOR.to_owned()),
        })
    };
    PUBLISHED.iter().filter_map(judged).collect()
}

/// Its server spoke TLS 1.2, and each connection was a full handshake.
fn is_about(case: &Case, key: Key) -> bool {
    case.key == key && case.version == Version::Tls12 && case.kind == Kind::Full && !case.mutual
}

/// Where no difference was published, one of less than a tenth is none.
fn judge(published: f64, median: f64, ci95: Option<[f64; 2]>) -> &'static str {
    match ci95 {
        Some([low, high]) if published == 1.0 && low > 0.9 && high < 1.1 => "no difference",
        Some(_) if published == 1.0 && !(0.9..1.1).contains(&median) => "other direction",
        _ => verdict(published > 1.0, median, ci95),
    }
}

impl Build {
    fn among<'a>(&self, stacks: &'a [ComparedStack]) -> Option<&'a ComparedStack> {
        let of_optimization = |optimization: &&str| {
            stacks.iter().find(|stack| {
                let is_built = optimization.is_empty() || stack.flags.ends_with(*optimization);
                stack.library == self.library && stack.version.starts_with(self.versions) && is_built
            })
        };
        self.optimizations.iter().find_map(of_optimization)
    }
}

#[cfg(test)]
mod tests {
    use reprise_wire::NamedGroup;

    use super::*;

    fn stack(name: &str, library: &str, version: &str, flags: &str) -> ComparedStack {
        ComparedStack {
            name: name.to_owned(),
            library: library.to_owned(),
            version: version.to_owned(),
            flags: flags.to_owned(),
            abilities: Vec::new(),
            file: None,
            sha256: None,
        }
    }

    fn time(stack: &str, key: Key, group: NamedGroup, ns: u64) -> ServerTime {
        let case = Case::new(Version::Tls12, Kind::Full, key, group, false).unwrap();
        ServerTime { stack: stack.to_owned(), case, samples: (0..30).map(|index| ns + index).collect() }
    }

    #[test]
    fn a_verdict_is_of_what_was_measured() {
        let stacks =
            [stack("mbedtls", "Mbed TLS", "2.28.3", "system, static"), stack("bearssl", "BearSSL", "0.6", "system, static")];
        let rsa = |stack, ns| time(stack, Key::Rsa1024, NamedGroup::SECP256R1, ns);
        let claims = held_against(&stacks, &[rsa("mbedtls", 3_000_000), rsa("bearssl", 1_000_000)], 1);
        let [claim] = &claims[..] else { panic!("{claims:#?}") };
        assert_eq!((claim.verdict.as_str(), claim.measured.round()), ("same direction", 3.0));
        assert_eq!(claim.stack, "mbedtls → bearssl, rsa-1024, full, server");
        let claims = held_against(&stacks, &[rsa("mbedtls", 1_000_000), rsa("bearssl", 3_000_000)], 1);
        assert_eq!((claims[0].verdict.as_str(), claims[0].why.as_deref()), ("other direction", Some(ANOTHER_PROCESSOR)));
    }

    #[test]
    fn builds_for_size_stand_for_what_the_board_ran() {
        let stacks = [
            stack("mbedtls", "Mbed TLS", "2.28.3", "system, static"),
            stack("mbedtls-2.28-O3", "Mbed TLS", "2.28.10", "source, static, -O3"),
            stack("mbedtls-2.28-Os", "Mbed TLS", "2.28.10", "source, static, -Os"),
            stack("mbedtls-3.6-O3", "Mbed TLS", "3.6.5", "source, static, -O3"),
        ];
        assert_eq!(OLD.among(&stacks).unwrap().name, "mbedtls-2.28-Os");
        assert_eq!(NEW_FAST.among(&stacks).unwrap().name, "mbedtls-3.6-O3");
        assert!(NEW_SMALL.among(&stacks).is_none(), "another optimization does not stand for it");
    }

    #[test]
    fn no_difference_may_be_what_was_published() {
        assert_eq!(judge(1.0, 1.02, Some([1.01, 1.03])), "no difference");
        assert_eq!(judge(1.0, 1.4, Some([1.3, 1.5])), "other direction");
        assert_eq!(judge(1.5, 1.02, Some([1.01, 1.03])), "same direction");
    }
}
