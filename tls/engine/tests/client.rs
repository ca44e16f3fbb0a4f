//! The client's side: configurations, seeded randomness, a key log that remembers.

use std::sync::Mutex;

use reprise_engine::{KeyLog, key_log_line};
pub(crate) use reprise_scripted::client::{client, identity, start, trusting_client};

/// Remembers the lines of a key log.
#[derive(Debug, Default)]
pub(crate) struct Lines(Mutex<Vec<String>>);

impl Lines {
    pub(crate) fn sorted(&self) -> Vec<String> {
        let mut lines = self.0.lock().unwrap().clone();
        lines.sort();
        lines
    }

    pub(crate) fn add(&self, label: &str, client_random: &[u8; 32], secret: &[u8]) {
        self.0.lock().unwrap().push(key_log_line(label, client_random, secret));
    }
}

impl KeyLog for Lines {
    fn log(&self, label: &str, client_random: &[u8; 32], secret: &[u8]) {
        self.add(label, client_random, secret);
    }
}

impl rustls::KeyLog for Lines {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        self.add(label, client_random.try_into().unwrap(), secret);
    }
}
