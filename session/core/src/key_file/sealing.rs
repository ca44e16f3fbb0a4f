//! Key-encryption keys, from where an operator puts them.

use std::env;
use std::path::Path;

use zeroize::Zeroizing;

use super::format::{Fault, KeyFileError, base64_lines};
use super::read::read_secret;
use crate::key::KeyError;
use crate::sealed_ring::KeyEncryptionKeys;

impl KeyEncryptionKeys {
    /// Reads keys from a file: 32 bytes, as `head -c 32 /dev/urandom` says them, or a line of base64 for each key, as
    /// `openssl rand -base64 32` does. The first one seals, all of them open.
    ///
    /// # Errors
    /// [`KeyFileError`] with the file's name, as for ticket keys: missing, exposed, short and zero keys are all errors, and so are
    /// 32 bytes of text, which nobody drew at random.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, KeyFileError> {
        let content = read_secret(path.as_ref())?;
        parse(&content, path.as_ref())
    }

    /// Reads keys from an environment variable: base64, with white space between several keys. A file is better: whoever may see
    /// this process's environment sees the variable, which stays there.
    ///
    /// # Errors
    /// [`KeyFileError::NotSet`], and those of [`KeyEncryptionKeys::from_file`], with `$NAME` for the path.
    pub fn from_env(name: &str) -> Result<Self, KeyFileError> {
        let value = env::var_os(name).ok_or_else(|| KeyFileError::NotSet { name: name.to_owned() })?;
        let value = Zeroizing::new(value.into_encoded_bytes());
        let lines = value.split(u8::is_ascii_whitespace).collect::<Vec<_>>();
        let lines = Zeroizing::new(lines.join(&b'\n'));
        parse(&lines, format!("${name}").as_ref())
    }
}

fn parse(content: &[u8], origin: &Path) -> Result<KeyEncryptionKeys, KeyFileError> {
    let bad = |source| KeyFileError::Key { path: origin.to_owned(), source };
    let is_text = content.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
    if !is_text {
        return KeyEncryptionKeys::new([content]).map_err(bad);
    }
    if content.len() == KEY_LEN {
        return Err(bad(KeyError::SealingNotRandom));
    }
    let keys = base64_lines(content).collect::<Result<Vec<_>, Fault>>().map_err(|fault| fault.of(origin))?;
    KeyEncryptionKeys::new(keys.iter().map(|key| key.as_slice())).map_err(bad)
}

const KEY_LEN: usize = 32;

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::*;
    use crate::random::{Random, SystemRandom};

    fn random() -> [u8; 32] {
        let mut key = [0x80; 32];
        // A key may look like text, one time in 10^14.
        SystemRandom.fill(&mut key[1..]).unwrap();
        key
    }

    fn read(content: &[u8], mode: u32) -> Result<usize, KeyFileError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), content).unwrap();
        fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).unwrap();
        let keys = KeyEncryptionKeys::from_file(file.path())?;
        Ok(format!("{keys:?}").trim_end_matches(')').rsplit('(').next().unwrap().parse().unwrap())
    }

    #[test]
    fn sealing_keys_are_read_as_bytes_or_as_base64() {
        let [one, other] = [random(), random()];
        let lines = format!("{}\n\n {}\n", STANDARD.encode(one), STANDARD.encode(other));
        assert_eq!(read(&one, 0o600).unwrap(), 1);
        assert_eq!(read(lines.as_bytes(), 0o440).unwrap(), 2);
        assert_eq!(read(lines.lines().next().unwrap().as_bytes(), 0o400).unwrap(), 1);
    }

    #[test]
    fn exposed_short_zero_and_textual_sealing_keys_are_refused() {
        let key = random();
        assert!(matches!(read(&key, 0o644), Err(KeyFileError::Exposed { mode: 0o644, .. })));
        let of = |content: &[u8]| match read(content, 0o600) {
            Err(KeyFileError::Key { source, .. }) => source,
            other => panic!("{other:?}"),
        };
        assert_eq!(of(&key[..31]), KeyError::SealingLength(31));
        assert_eq!(of(&[&key[..], &key[..]].concat()), KeyError::SealingLength(64));
        assert_eq!(of(STANDARD.encode(&key[..16]).as_bytes()), KeyError::SealingLength(16));
        assert_eq!(of(b""), KeyError::None);
        for bad in [&[0; 32][..], STANDARD.encode([0; 32]).as_bytes(), b"correct horse battery staple 123"] {
            assert_eq!(of(bad), KeyError::SealingNotRandom);
        }
        let garbage = read(b"!\n", 0o600);
        assert!(matches!(garbage, Err(KeyFileError::Base64 { line: 1, .. })), "{garbage:?}");
        let missing = KeyEncryptionKeys::from_file("/nonexistent/ring.key");
        assert!(matches!(missing, Err(KeyFileError::Io { .. })));
    }

    #[test]
    fn a_variable_is_held_to_the_same_rules() {
        let missing = KeyEncryptionKeys::from_env("REPRISE_SESSION_NO_SUCH_KEY").unwrap_err();
        assert_eq!(missing.to_string(), "the environment variable REPRISE_SESSION_NO_SUCH_KEY is not set");
        // Cargo sets this one, which is no key.
        let bad = KeyEncryptionKeys::from_env("CARGO_PKG_NAME").unwrap_err();
        assert_eq!(bad.to_string(), "$CARGO_PKG_NAME: line 1 is not base64");
    }
}
