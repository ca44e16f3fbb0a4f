//! Where keys stand: `FORMAT:PATH`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Context;
use reprise_session::KeyRing;
use reprise_session::key_file::{Format, KeyFiles};

/// A place of keys, as it is written on the command line.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) format: Format,
    /// `None`: a Secret, on standard input and output.
    path: Option<PathBuf>,
}

const FORMATS: [(&str, Format); 4] =
    [("own", Format::Reprise), ("nginx", Format::Nginx), ("haproxy", Format::Haproxy), ("apache", Format::Apache)];

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let complain = || format!("invalid '{text}': expected FORMAT:PATH, where FORMAT is own, nginx, haproxy or apache");
        let (name, path) = text.split_once(':').ok_or_else(complain)?;
        let plain = name.strip_prefix("secret-");
        let (_, format) = FORMATS.into_iter().find(|(known, _)| *known == plain.unwrap_or(name)).ok_or_else(complain)?;
        match (plain, path) {
            (Some(_), "-") => Ok(Self { format, path: None }),
            (Some(_), _) => Err(format!("a Secret is read from standard input: {name}:-")),
            (None, "" | "-") => Err(complain()),
            (None, path) => Ok(Self { format, path: Some(path.into()) }),
        }
    }
}

impl Place {
    pub(super) fn is_secret(&self) -> bool {
        self.path.is_none()
    }

    /// Whether the next key has no room there, so that nothing can rotate it.
    pub(super) fn holds_one_key(&self) -> bool {
        self.format == Format::Apache
    }

    pub(super) fn file(&self) -> anyhow::Result<&Path> {
        self.path.as_deref().context("a copy of keys goes to a file")
    }

    pub(super) fn files(&self) -> KeyFiles {
        KeyFiles::new(self.format, self.path.iter())
    }

    pub(super) fn read(&self) -> anyhow::Result<KeyRing> {
        Ok(self.files().read()?)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = FORMATS.iter().find(|(_, format)| *format == self.format).map_or("", |(name, _)| name);
        match &self.path {
            Some(path) => write!(f, "{name}:{}", path.display()),
            None => write!(f, "secret-{name}:-"),
        }
    }
}
