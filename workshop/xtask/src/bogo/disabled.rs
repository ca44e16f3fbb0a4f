//! The tests that are out of scope, by patterns of their names.

use anyhow::{Context, bail};
use serde_json::Value;

/// `DisabledTests` of the runner's configuration: pattern and reason, in the order of the file.
pub(super) struct Disabled {
    pub(super) patterns: Vec<Pattern>,
}

pub(super) struct Pattern {
    pub(super) glob: String,
    pub(super) reason: String,
}

impl Disabled {
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let document: Value = serde_json::from_str(text)?;
        let tests = document.get("DisabledTests").and_then(Value::as_object).context("it has no DisabledTests")?;
        let mut patterns = Vec::new();
        for (glob, reason) in tests {
            if glob.contains(['?', '[', '\\']) {
                bail!("{glob:?}: only * is read here");
            }
            let reason = reason.as_str().filter(|reason| !reason.is_empty());
            let reason = reason.with_context(|| format!("{glob:?} has no reason"))?.to_owned();
            patterns.push(Pattern { glob: glob.clone(), reason });
        }
        Ok(Self { patterns })
    }

    /// The first pattern that a name matches.
    pub(super) fn matching(&self, name: &str) -> Option<&Pattern> {
        self.patterns.iter().find(|pattern| pattern.matches(name))
    }
}

impl Pattern {
    /// Whether a name matches, as Go's `filepath.Match` says of patterns with no other wildcard than `*`.
    pub(super) fn matches(&self, name: &str) -> bool {
        let Some((first, rest)) = self.glob.split_once('*') else { return self.glob == name };
        let Some(mut name) = name.strip_prefix(first) else { return false };
        let mut parts: Vec<&str> = rest.split('*').collect();
        let Some(last) = parts.pop() else { return false };
        for part in parts {
            // The earliest place leaves the most for what follows.
            let Some(found) = name.find(part) else { return false };
            name = name.get(found + part.len()..).unwrap_or_default();
        }
        name.ends_with(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(glob: &str, name: &str) -> bool {
        Pattern { glob: glob.to_owned(), reason: String::new() }.matches(name)
    }

    #[test]
    fn a_star_stands_for_anything_or_nothing() {
        for (glob, name) in [("A", "A"), ("A*", "A"), ("A*", "ABC"), ("*C", "ABC"), ("A*C*E", "A-C-C-E"), ("*", "")] {
            assert!(matches(glob, name), "{glob} {name}");
        }
        for (glob, name) in [("A", "AB"), ("A*", "BA"), ("*C", "CA"), ("A*B", "A"), ("AB*BC", "ABC"), ("A*C*E", "A-E-C")] {
            assert!(!matches(glob, name), "{glob} {name}");
        }
    }

    #[test]
    fn a_pattern_has_a_reason() {
        assert!(Disabled::parse(r#"{"DisabledTests": {"A*": ""}}"#).is_err());
        assert!(Disabled::parse(r#"{"DisabledTests": {"A?": "because"}}"#).is_err());
        let disabled = Disabled::parse(r#"{"DisabledTests": {"AB*": "first", "A*": "second"}}"#).unwrap();
        assert_eq!(disabled.matching("ABC").unwrap().reason, "first");
        assert!(disabled.matching("B").is_none());
    }
}
