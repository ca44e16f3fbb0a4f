//! Claims that one library's server is faster than another's.

use reprise_model::document::{CompareClaim, ComparedStack};
use reprise_model::{Kind, Version};
use reprise_pairs::{Case, Key};

use super::versions::verdict;
use super::{Build, Claim, OF_SERVERS, Servers};

/// All that a run on this machine can say against such a claim.
const ANOTHER_PROCESSOR: &str = "this processor is not the report's, a Cortex-M0+: 'reprise board' measures on such a one";

/// What the server of a stack took for a handshake: each sample.
pub(crate) struct ServerTime {
    pub(crate) stack: String,
    pub(crate) case: Case,
    pub(crate) samples: Vec<u64>,
}

/// Each claim whose two builds were measured.
pub(crate) fn of_servers(stacks: &[ComparedStack], times: &[ServerTime], seed: u64) -> Vec<CompareClaim> {
    let judged = |claim: &Claim<Servers>| {
        let published = &claim.decided_by;
        let time = |build: &Build| {
            let stack = build.among(stacks)?;
            let is_it = |time: &&ServerTime| time.stack == stack.name && is_about(&time.case, published.key);
            times.iter().find(is_it)
        };
        let (from, to) = (time(&published.from)?, time(&published.to)?);
        let ratio = reprise_stats::ratio(&from.samples, &to.samples, seed)?;
        let ci95 = ratio.ci95;
        let verdict = judge(published.ratio, ratio.median, ci95);
        let stack = format!("{} → {}, {}, full, server", from.stack, to.stack, published.key);
        Some(CompareClaim {
            measured: Some(ratio.median),
            ci95,
            verdict: verdict.to_owned(),
            why: (verdict == "other direction").then(|| ANOTHER_PROCESSOR.to_owned()),
            ..claim.about(stack, Some(published.ratio))
        })
    };
    OF_SERVERS.iter().filter_map(judged).collect()
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

    use super::super::{NEW_FAST, NEW_SMALL, OLD};
    use super::*;

    fn stack(name: &str, library: &str, version: &str, flags: &str) -> ComparedStack {
        ComparedStack {
            name: name.to_owned(),
            library: library.to_owned(),
            version: version.to_owned(),
            flags: flags.to_owned(),
            abilities: Vec::new(),
            file: None,
            optimised: Vec::new(),
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
        let claims = of_servers(&stacks, &[rsa("mbedtls", 3_000_000), rsa("bearssl", 1_000_000)], 1);
        let [claim] = &claims[..] else { panic!("{claims:#?}") };
        assert_eq!((claim.verdict.as_str(), claim.measured.unwrap().round()), ("same direction", 3.0));
        assert_eq!(claim.stack, "mbedtls → bearssl, rsa-1024, full, server");
        let claims = of_servers(&stacks, &[rsa("mbedtls", 1_000_000), rsa("bearssl", 3_000_000)], 1);
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
