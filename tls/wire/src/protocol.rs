use crate::{AlertDescription, AlertLevel, Error, Reader};

/// An alert: the content of a record of that type (RFC 9846, section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alert {
    /// `warning` or `fatal`; TLS 1.3 goes by the description alone.
    pub level: AlertLevel,
    /// What went wrong, or `close_notify`.
    pub description: AlertDescription,
}

impl Alert {
    /// Reads the two bytes of an alert.
    pub fn parse(fragment: &[u8]) -> Result<Self, Error> {
        Reader::whole(fragment, |reader| {
            Ok(Alert { level: AlertLevel(reader.u8()?), description: AlertDescription(reader.u8()?) })
        })
    }

    /// Appends the two bytes.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.level.0, self.description.0]);
    }
}

/// The one message of its protocol: a single byte of 1 (RFC 5246, section 7.1; RFC 9846, section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeCipherSpec;

impl ChangeCipherSpec {
    /// Reads it.
    pub fn parse(fragment: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(fragment);
        let value = reader.u8()?;
        reader.finish()?;
        if value == 1 { Ok(ChangeCipherSpec) } else { Err(Error::Illegal("change_cipher_spec is not 1")) }
    }

    /// Appends it.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.push(1);
    }
}
