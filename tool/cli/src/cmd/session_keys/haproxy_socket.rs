//! Keys for a running HAProxy, by its runtime API: `show tls-keys` and `set ssl tls-key`. It needs no reload then.

use std::path::Path;

use anyhow::ensure;
use reprise_session::KeyRing;
use reprise_session::key_file::{KeyFileFormat, files};
use rustls_pki_types::UnixTime;
use zeroize::Zeroizing;

/// Tells the HAProxy that listens at `socket` (`stats socket … level admin`) each key that it does not know, in the order of time: the last one
/// becomes its next, and the one before encrypts.
pub(super) fn update(socket: &Path, ring: &KeyRing, now: UnixTime) -> anyhow::Result<()> {
    let content = files(KeyFileFormat::Haproxy, ring, now)?;
    let content = content.first().map_or(&[][..], |(_, content)| content);
    let keys: Vec<&str> = std::str::from_utf8(content)?.lines().collect();
    let shown = show(socket)?;
    for (reference, last) in references(&shown) {
        // Where none is known, all of them are new.
        let known = keys.iter().position(|key| *key == last).map_or(0, |place| place.saturating_add(1));
        for key in keys.iter().skip(known) {
            let command = Zeroizing::new(format!("set ssl tls-key #{reference} {key}"));
            let said = ask(socket, &command)?;
            ensure!(said.contains("updated"), "{}: HAProxy refuses a key: {}", socket.display(), first_line(&said));
        }
    }
    Ok(())
}

/// Whether a HAProxy is there that can be told.
pub(super) fn check(socket: &Path) -> anyhow::Result<()> {
    show(socket).map(drop)
}

fn show(socket: &Path) -> anyhow::Result<Zeroizing<String>> {
    let shown = ask(socket, "show tls-keys *")?;
    let has_keys = !references(&shown).is_empty();
    ensure!(has_keys, "{}: HAProxy has no tls-ticket-keys: {}", socket.display(), first_line(&shown));
    Ok(shown)
}

/// Each file of keys by its number, with the last key that it has.
fn references(shown: &str) -> Vec<(u32, &str)> {
    let mut references: Vec<(u32, &str)> = Vec::new();
    for line in shown.lines() {
        // `0.2 KEY`: the third key of the first file.
        let Some((place, key)) = line.split_once(' ') else { continue };
        let Some(number) = place.split_once('.').and_then(|(number, _)| number.parse().ok()) else { continue };
        match references.last_mut() {
            Some((last, held)) if *last == number => *held = key,
            _ => references.push((number, key)),
        }
    }
    references
}

#[cfg(unix)]
fn ask(socket: &Path, command: &str) -> anyhow::Result<Zeroizing<String>> {
    use anyhow::Context;
    use std::io::{Read, Write};
    use std::time::Duration;

    const PATIENCE: Duration = Duration::from_secs(5);
    /// More than HAProxy says of a thousand files of keys.
    const MOST: u64 = 1 << 20;
    let asked = || {
        let mut stream = std::os::unix::net::UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        writeln!(stream, "{command}")?;
        let mut said = Zeroizing::new(String::new());
        stream.take(MOST).read_to_string(&mut said)?;
        std::io::Result::Ok(said)
    };
    asked().with_context(|| format!("cannot ask HAProxy at {}", socket.display()))
}

#[cfg(not(unix))]
fn ask(socket: &Path, _: &str) -> anyhow::Result<Zeroizing<String>> {
    anyhow::bail!("{}: this system has no such sockets", socket.display())
}

fn first_line(said: &str) -> &str {
    said.trim().lines().next().unwrap_or("it says nothing")
}

#[cfg(test)]
mod tests {
    use super::references;

    #[test]
    fn the_last_key_of_each_file_is_found() {
        let shown = "# id (file)\n# 0 (/a)\n0.0 one\n0.1 two\n0.2 three\n# 1 (/b)\n1.0 four\nnonsense\n";
        assert_eq!(references(shown), [(0, "three"), (1, "four")]);
        assert_eq!(references("Permission denied\n"), []);
    }
}
