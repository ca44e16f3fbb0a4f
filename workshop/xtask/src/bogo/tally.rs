//! The counts, and what is wrong with them.

use std::collections::BTreeMap;
use std::fmt;

use super::disabled::Disabled;
use super::runner::Ended;

pub(super) struct Tally {
    passed: usize,
    /// Reasons in the order of the file, with how many tests each disables.
    disabled: Vec<(String, usize)>,
    /// Tests that failed or were not implemented, and are not disabled.
    pub(super) failed: Vec<(String, Ended)>,
    /// Tests that passed and are disabled, with the pattern that does it.
    needless: Vec<(String, String)>,
    /// Patterns that no test matches.
    stale: Vec<String>,
}

impl Tally {
    /// `all` says that every test was run, so that a pattern which matches none is of no use.
    pub(super) fn of(tests: &BTreeMap<String, Ended>, disabled: &Disabled, all: bool) -> Self {
        let mut tally =
            Self { passed: 0, disabled: Vec::new(), failed: Vec::new(), needless: Vec::new(), stale: Vec::new() };
        for pattern in &disabled.patterns {
            if !tally.disabled.iter().any(|(reason, _)| *reason == pattern.reason) {
                tally.disabled.push((pattern.reason.clone(), 0));
            }
            if all && !tests.keys().any(|name| pattern.matches(name)) {
                tally.stale.push(pattern.glob.clone());
            }
        }
        for (name, &ended) in tests {
            match (disabled.matching(name), ended) {
                (None, Ended::Passed) => tally.passed += 1,
                (None, ended) => tally.failed.push((name.clone(), ended)),
                (Some(pattern), Ended::Passed) => tally.needless.push((name.clone(), pattern.glob.clone())),
                (Some(pattern), _) => {
                    let counts = tally.disabled.iter_mut().filter(|(reason, _)| *reason == pattern.reason);
                    counts.for_each(|(_, count)| *count += 1);
                }
            }
        }
        tally
    }

    /// One sentence for each.
    pub(super) fn faults(&self) -> Vec<String> {
        let failed = self.failed.iter().map(|(name, ended)| match ended {
            Ended::Unimplemented => format!("{name}: the shim lacks one of its flags, and it is not disabled"),
            _ => format!("{name} failed"),
        });
        let needless = self.needless.iter().map(|(name, glob)| format!("{name} passes, but {glob:?} disables it"));
        let stale = self.stale.iter().map(|glob| format!("{glob:?} disables no test"));
        failed.chain(needless).chain(stale).collect()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let disabled: usize = self.disabled.iter().map(|(_, count)| count).sum();
        writeln!(f, "{:>6} passed", self.passed)?;
        writeln!(f, "{disabled:>6} disabled")?;
        for (reason, count) in self.disabled.iter().filter(|(_, count)| *count > 0) {
            writeln!(f, "{count:>13} {reason}")?;
        }
        writeln!(f, "{:>6} failed", self.failed.len())?;
        if !self.needless.is_empty() {
            writeln!(f, "{:>6} passed and disabled", self.needless.len())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(config: &str, all: bool) -> Tally {
        let ended = [("Client-A", Ended::Passed), ("Client-B", Ended::Failed), ("Server-A", Ended::Unimplemented)];
        let tests = ended.into_iter().map(|(name, ended)| (name.to_owned(), ended)).collect();
        let disabled = format!(r#"{{"DisabledTests": {{{config}}}}}"#);
        Tally::of(&tests, &Disabled::parse(&disabled).unwrap(), all)
    }

    #[test]
    fn what_does_not_pass_is_disabled_for_a_reason() {
        let tally = tally(r#""Server-*": "server side", "*-B": "why""#, true);
        assert_eq!((tally.passed, tally.failed.len()), (1, 0));
        assert_eq!(tally.disabled, [("server side".to_owned(), 1), ("why".to_owned(), 1)]);
        assert_eq!(tally.faults(), Vec::<String>::new());
    }

    #[test]
    fn what_fails_or_is_not_implemented_is_a_fault() {
        let faults = tally("", true).faults();
        assert_eq!(faults[0], "Client-B failed");
        assert!(faults[1].starts_with("Server-A: the shim lacks"), "{faults:?}");
    }

    #[test]
    fn a_disabled_test_must_fail_and_a_pattern_must_match() {
        let config = r#""Client-*": "broad", "Server-*": "server side", "Nothing": "gone""#;
        let broad = r#"Client-A passes, but "Client-*" disables it"#;
        assert_eq!(tally(config, true).faults(), [broad, r#""Nothing" disables no test"#]);
        // A filtered run says nothing of patterns that it did not touch.
        assert_eq!(tally(config, false).faults(), [broad]);
    }
}
