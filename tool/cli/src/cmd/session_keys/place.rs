//! Where keys stand: `FORMAT:PATH`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::bail;
use reprise_session::KeyRing;
use reprise_session::key_file::{KeyFileFormat, KeyFiles};

/// A place of keys, as it is written on the command line.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) format: KeyFileFormat,
    pub(super) medium: Medium,
}

/// On what the keys stand.
#[derive(Clone, Debug)]
pub(super) enum Medium {
    File(PathBuf),
    /// On standard input and output.
    Secret,
    /// Of a running HAProxy, which takes them over its socket.
    Socket(PathBuf),
}

const FORMATS: [(&str, KeyFileFormat); 5] = [
    ("own", KeyFileFormat::Reprise),
    ("nginx", KeyFileFormat::Nginx),
    ("haproxy", KeyFileFormat::Haproxy),
    ("apache", KeyFileFormat::Apache),
    ("envoy", KeyFileFormat::Envoy),
];

const SOCKET: &str = "haproxy-socket";

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let complain = || {
            format!(
                "invalid '{text}': expected FORMAT:PATH, where FORMAT is own, nginx, haproxy, haproxy-socket, apache or envoy"
            )
        };
        let (name, path) = text.split_once(':').ok_or_else(complain)?;
        if name == SOCKET && !path.is_empty() {
            return Ok(Self { format: KeyFileFormat::Haproxy, medium: Medium::Socket(path.into()) });
        }
        let plain = name.strip_prefix("secret-");
        let (_, format) = FORMATS.into_iter().find(|(known, _)| *known == plain.unwrap_or(name)).ok_or_else(complain)?;
        match (plain, path) {
            (Some(_), "-") => Ok(Self { format, medium: Medium::Secret }),
            (Some(_), _) => Err(format!("a Secret is read from standard input: {name}:-")),
            (None, "" | "-") => Err(complain()),
            (None, path) => Ok(Self { format, medium: Medium::File(path.into()) }),
        }
    }
}

impl Place {
    pub(super) fn is_secret(&self) -> bool {
        matches!(self.medium, Medium::Secret)
    }

    /// Whether the next key has no room there, so that nothing can rotate it.
    pub(super) fn holds_one_key(&self) -> bool {
        self.format == KeyFileFormat::Apache
    }

    pub(super) fn file(&self) -> anyhow::Result<&Path> {
        match &self.medium {
            Medium::File(path) => Ok(path),
            Medium::Secret => bail!("a copy of keys goes to a file"),
            Medium::Socket(_) => bail!("HAProxy's socket takes copies of keys: name a file, and --also {self}"),
        }
    }

    pub(super) fn files(&self) -> KeyFiles {
        KeyFiles::new(self.format, self.file().ok())
    }

    pub(super) fn read(&self) -> anyhow::Result<KeyRing> {
        self.file()?;
        Ok(self.files().read()?)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = FORMATS.iter().find(|(_, format)| *format == self.format).map_or("", |(name, _)| name);
        match &self.medium {
            Medium::File(path) => write!(f, "{name}:{}", path.display()),
            Medium::Secret => write!(f, "secret-{name}:-"),
            Medium::Socket(path) => write!(f, "{SOCKET}:{}", path.display()),
        }
    }
}
