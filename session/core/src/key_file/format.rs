use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use super::schedule::KeyPeriod;
use crate::key::{KeyError, KeyName, TicketKey};

/// How keys stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyFileFormat {
    /// nginx `ssl_session_ticket_key`: one key a file, 48 or 80 bytes; of several files the first one encrypts.
    Nginx,
    /// HAProxy `tls-ticket-keys`: lines of base64, each 48 or 80 bytes; the last but one encrypts, the last is the next.
    Haproxy,
    /// Apache `SSLSessionTicketKeyFile`: one key, 48 bytes.
    Apache,
    /// Envoy: a file of `session_ticket_keys` for its secret discovery service (SDS), keys of 80 bytes; the first one encrypts.
    Envoy,
    /// This library's own: lines of base64 as HAProxy's, one or more in any order, whose names say the keys' periods.
    Reprise,
}

impl fmt::Display for KeyFileFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nginx => "nginx",
            Self::Haproxy => "HAProxy",
            Self::Apache => "Apache",
            Self::Envoy => "Envoy",
            Self::Reprise => "Reprise",
        })
    }
}

/// Why a key file cannot be used or written, or a key-encryption key in an environment variable. `Debug` says the same as `Display`: it
/// is what a `main` that returns the error prints.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum KeyFileError {
    /// It cannot be opened, read or written.
    #[error("{path}: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Others than its owner and group may read it, or others than its owner may write it.
    #[error("{path}: mode {mode:03o}: others can read or change these keys; use 600, or 440 for a mounted secret")]
    Exposed {
        /// Which file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// All of its keys are over by the periods in their names: handshakes are full.
    #[error("{path}: no key decrypts since {since:?}: rotate the keys")]
    Over {
        /// The first file.
        path: PathBuf,
        /// For how long.
        since: Duration,
    },
    /// Its keys still decrypt, but sessions get no tickets any more.
    #[error("{path}: no key encrypts since {since:?}: rotate the keys")]
    EncryptsNoMore {
        /// The first file.
        path: PathBuf,
        /// For how long.
        since: Duration,
    },
    /// The next key is missing though the last one is half over; nothing is lost yet.
    #[error("{path}: the last key encrypts for {left:?} more: rotate the keys")]
    Overdue {
        /// The first file.
        path: PathBuf,
        /// For how long the last key still encrypts.
        left: Duration,
    },
    /// Keys whose names say no period have been the same for too long. They stay in use.
    #[error("{path}: the keys have not changed for {since:?}: rotate them")]
    Unchanged {
        /// The first file.
        path: PathBuf,
        /// For how long, as far as this process knows.
        since: Duration,
    },
    /// A key's name does not say its period, which this library's own format asks for.
    #[error("{path}: a key's name says no period: make keys with `reprise session-keys new`")]
    NoPeriod {
        /// Which file.
        path: PathBuf,
    },
    /// The environment variable is not set.
    #[error("the environment variable {name} is not set")]
    NotSet {
        /// Which one.
        name: String,
    },
    /// It holds no keys, or bad ones.
    #[error("{path}: {source}")]
    Key {
        /// Which file, or `$NAME` for an environment variable.
        path: PathBuf,
        /// What is wrong.
        source: KeyError,
    },
    /// A line is not base64.
    #[error("{path}: line {line} is not base64")]
    Base64 {
        /// Which file, or `$NAME` for an environment variable.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// HAProxy refuses files of fewer than three keys, and so does this library.
    #[error("{path}: HAProxy's format needs at least 3 keys, not {keys}")]
    TooFew {
        /// Which file.
        path: PathBuf,
        /// How many there are.
        keys: usize,
    },
    /// The format has no room for a key, or for so many.
    #[error("the format of {format} cannot hold {what}")]
    DoesNotFit {
        /// The format.
        format: KeyFileFormat,
        /// What it cannot hold.
        what: &'static str,
    },
}

impl fmt::Debug for KeyFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A name and its secret part, as they stand in a file.
pub(super) type Parsed = (KeyName, Zeroizing<Vec<u8>>);

/// What is wrong with a file's content.
pub(super) enum Fault {
    Key(KeyError),
    Base64 { line: usize },
    TooFew { keys: usize },
    NoPeriod,
}

impl Fault {
    /// The error, in this file or variable.
    pub(super) fn of(self, path: &Path) -> KeyFileError {
        let path = path.to_owned();
        match self {
            Self::Key(source) => KeyFileError::Key { path, source },
            Self::Base64 { line } => KeyFileError::Base64 { path, line },
            Self::TooFew { keys } => KeyFileError::TooFew { path, keys },
            Self::NoPeriod => KeyFileError::NoPeriod { path },
        }
    }
}

/// What stands on the lines that are not empty; each is wiped when dropped.
pub(super) fn base64_lines(content: &[u8]) -> impl Iterator<Item = Result<Zeroizing<Vec<u8>>, Fault>> {
    decoded(lines(content))
}

/// The lines that are not empty, with their numbers.
fn lines(content: &[u8]) -> impl Iterator<Item = (&[u8], usize)> {
    content.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).zip(1..).filter(|(line, _)| !line.is_empty())
}

fn decoded<'a>(lines: impl Iterator<Item = (&'a [u8], usize)>) -> impl Iterator<Item = Result<Zeroizing<Vec<u8>>, Fault>> {
    lines.map(|(line, number)| {
        // Enough at once: what cannot be decoded is wiped too.
        let mut decoded = Zeroizing::new(vec![0; line.len()]);
        let length = STANDARD.decode_slice(line, &mut decoded).map_err(|_| Fault::Base64 { line: number })?;
        decoded.truncate(length);
        Ok(decoded)
    })
}

impl KeyFileFormat {
    /// HAProxy's own bound.
    const LEAST_HAPROXY: usize = 3;

    /// What comes before the keys in a file for Envoy, and before each of them.
    const ENVOY: [&str; 2] = [
        "resources:\n- \"@type\": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret\n  \
         name: session-ticket-keys\n  session_ticket_keys:\n    keys:\n",
        "- inline_bytes: ",
    ];

    /// The keys of one file in its order.
    pub(super) fn parse(self, content: &[u8]) -> Result<Vec<Parsed>, Fault> {
        let key = |bytes: &[u8]| {
            let (name, material) = bytes.split_first_chunk().ok_or(KeyError::Length(bytes.len()))?;
            let expected: &[usize] = match self {
                Self::Nginx | Self::Haproxy | Self::Reprise => &[TicketKey::SHORT_MATERIAL_LEN, TicketKey::MATERIAL_LEN],
                Self::Apache => &[TicketKey::SHORT_MATERIAL_LEN],
                Self::Envoy => &[TicketKey::MATERIAL_LEN],
            };
            if expected.contains(&material.len()) {
                Ok((KeyName(*name), Zeroizing::new(material.to_vec())))
            } else {
                Err(KeyError::Length(bytes.len()))
            }
        };
        if matches!(self, Self::Nginx | Self::Apache) {
            return key(content).map(|parsed| vec![parsed]).map_err(Fault::Key);
        }
        let of_envoy = |(line, number)| Some((<[u8]>::strip_prefix(line, Self::ENVOY[1].as_bytes())?, number));
        let lines = lines(content).filter_map(|line| if self == Self::Envoy { of_envoy(line) } else { Some(line) });
        let mut keys = Vec::new();
        for decoded in decoded(lines) {
            keys.push(key(&decoded?).map_err(Fault::Key)?);
        }
        match self {
            Self::Haproxy if keys.len() < Self::LEAST_HAPROXY => Err(Fault::TooFew { keys: keys.len() }),
            Self::Reprise if keys.iter().any(|(name, _)| KeyPeriod::of(*name).is_none()) => Err(Fault::NoPeriod),
            _ => Ok(keys),
        }
    }

    /// The content of a file with these keys, the current one and then the next ones first to last in time.
    pub(super) fn emit(self, keys: &[&TicketKey]) -> Result<Zeroizing<Vec<u8>>, KeyFileError> {
        let does_not_fit = |what| Err(KeyFileError::DoesNotFit { format: self, what });
        let joined = |key: &TicketKey| {
            let mut bytes = Zeroizing::new(Vec::with_capacity(KeyName::LEN + TicketKey::MATERIAL_LEN));
            bytes.extend_from_slice(&key.name().0);
            bytes.extend_from_slice(key.material());
            bytes
        };
        match (self, keys) {
            (Self::Haproxy, keys) if keys.len() < Self::LEAST_HAPROXY => does_not_fit("fewer than three keys"),
            (Self::Envoy, keys) if keys.iter().any(|key| key.material().len() != TicketKey::MATERIAL_LEN) => {
                does_not_fit("a key of less than 80 bytes")
            }
            (Self::Envoy | Self::Haproxy | Self::Reprise, keys) => {
                let [head, before] = if self == Self::Envoy { Self::ENVOY } else { ["", ""] };
                let indent = if self == Self::Envoy { "    " } else { "" };
                let length = keys.len().saturating_mul(136).saturating_add(head.len());
                let mut content = Zeroizing::new(Vec::with_capacity(length));
                content.extend_from_slice(head.as_bytes());
                for key in keys {
                    content.extend_from_slice(indent.as_bytes());
                    content.extend_from_slice(before.as_bytes());
                    content.extend_from_slice(Zeroizing::new(STANDARD.encode(&*joined(key))).as_bytes());
                    content.push(b'\n');
                }
                Ok(content)
            }
            (Self::Apache, [key]) if key.material().len() != TicketKey::SHORT_MATERIAL_LEN => {
                does_not_fit("a key of more than 48 bytes")
            }
            (Self::Nginx | Self::Apache, [key]) => Ok(joined(key)),
            (Self::Nginx | Self::Apache, _) => does_not_fit("more or fewer keys than one"),
        }
    }
}
