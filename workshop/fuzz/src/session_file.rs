//! A file of saved sessions: any bytes are one or an error. The sum at its end would let no mutant through, so the bytes are
//! taken as they are, and once more with the sum that belongs to them.

use aws_lc_rs::digest::{SHA256, digest};
use reprise_probe::saved::{Parsed, parse};

use crate::session;

pub(crate) fn run(bytes: &[u8]) {
    let _ = parse(bytes);
    let whole = [bytes, digest(&SHA256, bytes).as_ref()].concat();
    if let Ok(Parsed::Open(file)) = parse(&whole) {
        let held: usize = file.sessions.iter().map(|session| session.len()).sum();
        assert!(file.server.len() + held <= bytes.len(), "more than there was");
        file.sessions.iter().for_each(|session| session::run(session));
    }
}
