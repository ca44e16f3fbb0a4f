//! `SSLKEYLOGFILE`.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use reprise_engine::{KeyLog, key_log_line};

/// Appends secrets to a file that Wireshark reads. A secret that cannot be written is not worth failing a measurement.
pub struct KeyLogFile(Mutex<File>);

impl KeyLogFile {
    /// Opens the file to append to, made readable for its owner alone if it is new.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Self(Mutex::new(options.open(path)?)))
    }
}

impl KeyLog for KeyLogFile {
    fn log(&self, label: &str, client_random: &[u8; 32], secret: &[u8]) {
        let line = key_log_line(label, client_random, secret) + "\n";
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = file.write_all(line.as_bytes());
    }
}
