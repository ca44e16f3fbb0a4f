//! `SSLKEYLOGFILE`: the secrets of a connection, for whoever may decrypt a capture of it.

/// Takes the secrets of a connection. The labels are those of the key log format
/// (<https://www.ietf.org/archive/id/draft-ietf-tls-keylogfile-05.html>).
pub trait KeyLog: Send + Sync {
    /// One secret, by label and client random.
    fn log(&self, label: &str, client_random: &[u8; 32], secret: &[u8]);
}

/// One line of a key log file, without its newline.
pub fn line(label: &str, client_random: &[u8; 32], secret: &[u8]) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    format!("{label} {} {}", hex(client_random), hex(secret))
}
