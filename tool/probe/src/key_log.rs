//! `SSLKEYLOGFILE`.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use reprise_engine::{KeyLog, key_log_line};

/// Appends secrets to a file that Wireshark reads. A secret that cannot be written is not worth failing a measurement: the
/// log ends there, and its user is told.
pub struct KeyLogFile(Mutex<Option<Log>>);

struct Log {
    file: File,
    on_failure: Box<dyn FnOnce(io::Error) + Send>,
}

impl KeyLogFile {
    /// Opens the file to append to, made readable for its owner alone if it is new. `on_failure` is called once, when a
    /// secret cannot be written; nothing is written after that, since half a line may stand there.
    pub fn open(path: &Path, on_failure: impl FnOnce(io::Error) + Send + 'static) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let log = Log { file: options.open(path)?, on_failure: Box::new(on_failure) };
        Ok(Self(Mutex::new(Some(log))))
    }
}

impl KeyLog for KeyLogFile {
    fn log(&self, label: &str, client_random: &[u8; 32], secret: &[u8]) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = log.as_mut() else { return };
        let line = key_log_line(label, client_random, secret) + "\n";
        if let Err(error) = open.file.write_all(line.as_bytes())
            && let Some(ended) = log.take()
        {
            (ended.on_failure)(error);
        }
    }
}
