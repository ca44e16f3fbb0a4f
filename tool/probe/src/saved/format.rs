//! The bytes of a session file: pure, and total over whatever a file may hold.
//!
//! ```text
//! "reprise sessions\n"
//! u8    1                      the version of what follows
//! u8    0 open, 1 sealed
//!   sealed: u8 log2(N), u8[16] salt     scrypt, r = 8, p = 1 (RFC 7914)
//!           u8[12] nonce                AES-256-GCM; all that stands before the body is authenticated with it
//! body, sealed with its tag of 16 bytes behind it:
//!   u16   length, server: NAME:PORT
//!   u8    1 if the server's certificate was verified
//!   u24   length, session      as often as there are sessions
//! u8[32]  SHA-256 of everything above: tells a damaged file from a wrong passphrase. It proves nothing.
//! ```

use std::fmt;

use aws_lc_rs::digest::{SHA256, digest};
use reprise_wire::Reader;
use reprise_wire::codec::{u8 as push_u8, vec16, vec24};
use thiserror::Error;
use zeroize::Zeroizing;

use super::seal::{NONCE, SALT, SealingKey, TAG};

/// No file of ours is larger.
pub(super) const MAX_FILE: usize = 4 << 20;
const MAGIC: &[u8] = b"reprise sessions\n";
const VERSION: u8 = 1;
const OPEN: u8 = 0;
const SEALED: u8 = 1;
const DIGEST: usize = 32;

/// What a session file holds: the sessions of one server, each as the engine encodes it.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionFile {
    /// Whose they are: `NAME:PORT`, where the name is the one that the certificate is for.
    pub server: String,
    /// Whether the server's certificate was verified when the sessions were made.
    pub verified: bool,
    /// The sessions, newest last.
    pub sessions: Vec<Zeroizing<Vec<u8>>>,
}

impl fmt::Debug for SessionFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionFile({} sessions of {})", self.sessions.len(), self.server)
    }
}

/// A session file whose form is sound.
#[derive(Debug)]
pub enum Parsed {
    /// It can be read as it is.
    Open(SessionFile),
    /// It takes a passphrase.
    Sealed(Sealed),
}

/// A session file that takes a passphrase.
pub struct Sealed {
    log_n: u8,
    salt: [u8; SALT],
    nonce: [u8; NONCE],
    /// Everything before the body.
    head: Vec<u8>,
    /// The body and its tag.
    body: Vec<u8>,
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sealed({} bytes)", self.body.len())
    }
}

impl Sealed {
    /// Opens it; the key, to seal it again. Takes a moment on purpose.
    pub fn open(&self, passphrase: &[u8]) -> Result<(SessionFile, SealingKey), FormatError> {
        let key = SealingKey::derive(passphrase, self.log_n, self.salt).ok_or(FormatError::TooCostly(self.log_n))?;
        let body = key.open(self.nonce, &self.head, &self.body).ok_or(FormatError::WrongPassphrase)?;
        Ok((parse_body(&body)?, key))
    }
}

/// Why bytes are no session file that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FormatError {
    /// Something else.
    #[error("not a session file: --session-out writes them")]
    NotSessions,
    /// Written by a later program.
    #[error("it is a session file of version {0}; this program reads version 1")]
    Version(u8),
    /// Cut off or changed.
    #[error("it is damaged: create a new one with --session-out")]
    Damaged,
    /// The sum of the body says that it is whole, and the key does not open it.
    #[error("the passphrase is wrong")]
    WrongPassphrase,
    /// It would take more memory than a passphrase is worth.
    #[error("it needs 2^{0} blocks of memory to check the passphrase; the limit is 2^20")]
    TooCostly(u8),
}

/// Reads a session file. Never fails but with a [`FormatError`], whatever the bytes.
pub fn parse(bytes: &[u8]) -> Result<Parsed, FormatError> {
    let mut reader = Reader::new(bytes);
    if bytes.len() > MAX_FILE || reader.take(MAGIC.len()) != Ok(MAGIC) {
        return Err(FormatError::NotSessions);
    }
    let damaged = |_| FormatError::Damaged;
    match reader.u8().map_err(damaged)? {
        VERSION => {}
        other => return Err(FormatError::Version(other)),
    }
    let (content, sum) =
        bytes.len().checked_sub(DIGEST).and_then(|end| bytes.split_at_checked(end)).ok_or(FormatError::Damaged)?;
    if digest(&SHA256, content).as_ref() != sum {
        return Err(FormatError::Damaged);
    }
    let mut reader = Reader::new(content.get(MAGIC.len() + 1..).unwrap_or_default());
    match reader.u8().map_err(damaged)? {
        OPEN => parse_body(reader.rest()).map(Parsed::Open),
        SEALED => {
            let log_n = reader.u8().map_err(damaged)?;
            let salt = *reader.array::<SALT>().map_err(damaged)?;
            let nonce = *reader.array::<NONCE>().map_err(damaged)?;
            let body = reader.rest().to_vec();
            let head = content.get(..content.len() - body.len()).unwrap_or_default().to_vec();
            if body.len() < TAG {
                return Err(FormatError::Damaged);
            }
            Ok(Parsed::Sealed(Sealed { log_n, salt, nonce, head, body }))
        }
        _ => Err(FormatError::Damaged),
    }
}

/// Writes a session file: open, or sealed under `key` with a nonce that was never used with it.
pub(super) fn emit(file: &SessionFile, seal: Option<(&SealingKey, [u8; NONCE])>) -> Option<Zeroizing<Vec<u8>>> {
    let mut out = Zeroizing::new(Vec::with_capacity(MAX_FILE));
    out.extend_from_slice(MAGIC);
    out.push(VERSION);
    match seal {
        None => {
            out.push(OPEN);
            emit_body(file, &mut out);
        }
        Some((key, nonce)) => {
            out.push(SEALED);
            out.push(key.log_n);
            out.extend_from_slice(&key.salt);
            out.extend_from_slice(&nonce);
            let mut body = Zeroizing::new(Vec::with_capacity(MAX_FILE));
            emit_body(file, &mut body);
            key.seal(nonce, &out, &mut body)?;
            out.extend_from_slice(&body);
        }
    }
    let sum = digest(&SHA256, &out);
    out.extend_from_slice(sum.as_ref());
    (out.len() <= MAX_FILE).then_some(out)
}

fn parse_body(body: &[u8]) -> Result<SessionFile, FormatError> {
    parse_fields(body).ok_or(FormatError::Damaged)
}

fn parse_fields(body: &[u8]) -> Option<SessionFile> {
    let mut reader = Reader::new(body);
    let server = std::str::from_utf8(reader.vec16().ok()?).ok()?.to_owned();
    let verified = match reader.u8().ok()? {
        0 => false,
        1 => true,
        _ => return None,
    };
    let mut sessions = Vec::new();
    let mut reader = Reader::new(reader.rest());
    while !reader.is_empty() {
        sessions.push(Zeroizing::new(reader.vec24().ok()?.to_vec()));
    }
    Some(SessionFile { server, verified, sessions })
}

fn emit_body(file: &SessionFile, out: &mut Vec<u8>) {
    vec16(out, |out| out.extend_from_slice(file.server.as_bytes()));
    push_u8(out, u8::from(file.verified));
    for session in &file.sessions {
        vec24(out, |out| out.extend_from_slice(session));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> SessionFile {
        let sessions = vec![Zeroizing::new(b"one".to_vec()), Zeroizing::new(vec![7; 3000])];
        SessionFile { server: "example.org:8443".to_owned(), verified: true, sessions }
    }

    fn sealed() -> Vec<u8> {
        let key = SealingKey::derive(b"correct horse", 10, [3; SALT]).unwrap();
        emit(&file(), Some((&key, [5; NONCE]))).unwrap().to_vec()
    }

    #[test]
    fn what_was_written_is_read() {
        let Parsed::Open(read) = parse(&emit(&file(), None).unwrap()).unwrap() else { panic!("sealed") };
        assert_eq!(read, file());
        let Parsed::Sealed(closed) = parse(&sealed()).unwrap() else { panic!("open") };
        assert_eq!(closed.open(b"correct horse").unwrap().0, file());
    }

    #[test]
    fn a_wrong_passphrase_and_a_damaged_file_are_told_apart() {
        let Parsed::Sealed(closed) = parse(&sealed()).unwrap() else { panic!("open") };
        assert_eq!(closed.open(b"incorrect horse").unwrap_err(), FormatError::WrongPassphrase);
        let mut damaged = sealed();
        damaged[60] ^= 1;
        assert_eq!(parse(&damaged).unwrap_err(), FormatError::Damaged);
    }

    #[test]
    fn no_session_shows_in_a_sealed_file() {
        let bytes = sealed();
        assert!(!bytes.windows(11).any(|window| window == b"example.org"));
        assert!(!bytes.windows(16).any(|window| window == [7; 16]));
    }

    #[test]
    fn a_file_cut_anywhere_or_changed_anywhere_is_refused() {
        for whole in [emit(&file(), None).unwrap().to_vec(), sealed()] {
            for end in 0..whole.len() {
                assert!(parse(&whole[..end]).is_err(), "cut at {end}");
            }
            for index in 0..whole.len() {
                let mut changed = whole.clone();
                changed[index] ^= 0x40;
                assert!(parse(&changed).is_err(), "changed at {index}");
            }
        }
    }

    #[test]
    fn a_sound_sum_over_nonsense_is_damage_and_no_more() {
        let reseal = |mut content: Vec<u8>| {
            let sum = digest(&SHA256, &content).as_ref().to_vec();
            content.extend(sum);
            parse(&content).map(drop)
        };
        let begun = |rest: &[u8]| [MAGIC, &[VERSION], rest].concat();
        for rest in [&[][..], &[2], &[OPEN], &[OPEN, 0, 9, 1], &[OPEN, 0, 1, b'a', 2], &[OPEN, 0, 1, 0xFF, 1]] {
            assert_eq!(reseal(begun(rest)), Err(FormatError::Damaged), "{rest:?}");
        }
        assert_eq!(reseal(begun(&[OPEN, 0, 1, b'a', 1, 0, 0, 9])), Err(FormatError::Damaged), "a session cut off");
        assert_eq!(reseal(begun(&[&[SEALED, 10][..], &[0; SALT + NONCE + TAG - 1]].concat())), Err(FormatError::Damaged));
        assert_eq!(reseal([MAGIC, &[2]].concat()), Err(FormatError::Version(2)));
        assert_eq!(reseal(b"another file".to_vec()), Err(FormatError::NotSessions));
    }

    #[test]
    fn a_file_cannot_ask_for_all_the_memory_there_is() {
        for log_n in [0, 21, 63, 255] {
            let key = SealingKey::derive(b"x", 10, [3; SALT]).unwrap();
            let key = SealingKey { log_n, ..key };
            let bytes = emit(&file(), Some((&key, [5; NONCE]))).unwrap();
            let Parsed::Sealed(closed) = parse(&bytes).unwrap() else { panic!("open") };
            assert_eq!(closed.open(b"x").unwrap_err(), FormatError::TooCostly(log_n));
        }
    }
}
