//! `--version -v`: what this program is made of, for a report of a bug.

use std::ffi::OsString;

use crate::provenance::{ENGINE_LIBRARIES, Library, RING};

const RUSTLS: Library = ("rustls", env!("REPRISE_RUSTLS"));

/// Whether nothing but this is asked for, in any order or as `-vV`.
pub(crate) fn is_asked_for(arguments: &[OsString]) -> bool {
    let words: Option<Vec<&str>> = arguments.iter().skip(1).map(|argument| argument.to_str()).collect();
    match words.as_deref() {
        Some(["-vV" | "-Vv"]) => true,
        Some([one, other]) => {
            let (version, verbose) = (["-V", "--version"], ["-v", "--verbose"]);
            version.contains(one) && verbose.contains(other) || version.contains(other) && verbose.contains(one)
        }
        _ => false,
    }
}

/// A line for each part.
pub(crate) fn in_full() -> String {
    let mut lines = vec![
        format!("reprise {}", env!("CARGO_PKG_VERSION")),
        format!("commit: {}", option_env!("REPRISE_COMMIT").unwrap_or("unknown")),
        format!("host: {}", env!("REPRISE_TARGET")),
    ];
    let libraries = ENGINE_LIBRARIES.into_iter().chain([RING, RUSTLS]);
    lines.extend(libraries.map(|(name, version)| format!("{name}: {version}")));
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_in_full_is_asked_for_in_several_ways() {
        let asked = |words: &[&str]| is_asked_for(&words.iter().map(OsString::from).collect::<Vec<_>>());
        for words in [&["reprise", "--version", "-v"][..], &["reprise", "-v", "-V"], &["reprise", "-vV"]] {
            assert!(asked(words), "{words:?}");
        }
        for words in [&["reprise"][..], &["reprise", "-V"], &["reprise", "trace", "-v"], &["reprise", "-V", "-V"]] {
            assert!(!asked(words), "{words:?}");
        }
    }
}
