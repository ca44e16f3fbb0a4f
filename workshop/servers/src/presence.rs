use std::env;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::unprivileged::is_root;

/// A test cannot run here, because this machine lacks something: a program, most often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotRun {
    needs: String,
}

/// Where daemons stand that an ordinary user's PATH leaves out.
const DAEMON_DIRECTORIES: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// Files without which a program does not do what tests ask of it, where distributions pack them apart; each in one of these folders.
const PARTS: [(&str, &[&str], &[&str]); 2] = [
    ("dovecot", &["imap", "pop3"], &["/usr/lib/dovecot", "/usr/libexec/dovecot", "/usr/local/libexec/dovecot"]),
    ("proftpd", &["mod_tls.so", "mod_tls_shmcache.so"], &["/usr/lib/proftpd", "/usr/libexec/proftpd", "/usr/lib64/proftpd"]),
];

/// Finds a program in PATH or where daemons stand.
#[must_use]
pub fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let directories = env::split_paths(&path).chain(DAEMON_DIRECTORIES.map(PathBuf::from)).chain(postgresql_directories());
    directories.map(|directory| directory.join(program)).find(|candidate| candidate.is_file())
}

/// Debian keeps each version's programs in a folder of their own.
fn postgresql_directories() -> impl Iterator<Item = PathBuf> {
    fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().map(|version| version.path().join("bin"))
}

/// None if the program is installed with all its parts, or this is `root` where that is asked for.
#[must_use]
pub fn missing(program: &str) -> Option<NotRun> {
    let is_there = if program == "root" { is_root() } else { find(program).is_some() };
    if !is_there {
        return Some(NotRun::new(program));
    }
    missing_part(program, |file| file.is_file()).map(|part| NotRun::new(format!("{program} with {part}")))
}

/// The first part of the program that no folder has.
fn missing_part(program: &str, is_file: impl Fn(&Path) -> bool) -> Option<&'static str> {
    let (_, parts, folders) = PARTS.into_iter().find(|(of, ..)| *of == program)?;
    parts.iter().copied().find(|part| !folders.iter().any(|folder| is_file(&Path::new(folder).join(part))))
}

impl NotRun {
    /// A test that needs this.
    pub(crate) fn new(needs: impl Into<String>) -> Self {
        Self { needs: needs.into() }
    }

    /// Says `NOT RUN: needs PROGRAM` on standard error.
    ///
    /// # Panics
    /// If the environment has `REPRISE_REQUIRE_SERVERS=1`: where every server should be installed, a test that did
    /// not run is a failure.
    pub fn announce(&self) {
        let required = env::var_os("REPRISE_REQUIRE_SERVERS").is_some_and(|value| value == "1");
        assert!(!required, "{self}, and REPRISE_REQUIRE_SERVERS is set");
        self.say();
    }

    /// The same, where nothing else is to be expected.
    pub(crate) fn say(&self) {
        let _ = writeln!(io::stderr(), "{self}");
    }
}

impl fmt::Display for NotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NOT RUN: needs {}", self.needs)
    }
}

/// Returns from a test that needs programs which are not installed, and says so; fails instead where the environment
/// has `REPRISE_REQUIRE_SERVERS=1`.
#[macro_export]
macro_rules! require {
    ($($program:expr),+ $(,)?) => {
        $(
            if let Some(not_run) = $crate::missing($program) {
                not_run.announce();
                return;
            }
        )+
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_without_one_of_its_parts_is_missing() {
        let without = |file: &'static str| move |path: &Path| !path.ends_with(file);
        assert_eq!(missing_part("dovecot", without("pop3")), Some("pop3"));
        assert_eq!(missing_part("proftpd", without("mod_tls.so")), Some("mod_tls.so"));
        assert_eq!(missing_part("dovecot", |_| true), None);
        assert_eq!(missing_part("nginx", |_| false), None, "it has no parts of its own");
    }
}
