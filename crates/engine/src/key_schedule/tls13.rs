//! The key schedule of TLS 1.3, RFC 9846 §7.1.
//!
//! ```text
//!             0
//!   PSK ->  HKDF-Extract = Early Secret ── binder key, client early traffic
//!             Derive-Secret("derived")
//! (EC)DHE -> HKDF-Extract = Handshake Secret ── handshake traffic, both sides
//!             Derive-Secret("derived")
//!   0 ->    HKDF-Extract = Master Secret ── application traffic, both sides; resumption
//! ```
//!
//! Each stage is a type that is consumed by the next, so that no secret is used out of turn.

use aws_lc_rs::{digest, hkdf, hmac};

use crate::error::Error;
use crate::secret::Secret;
use crate::suite::Hash;

/// The first stage: a PSK, or zeros where there is none.
pub struct EarlySecret {
    hash: Hash,
    secret: Secret,
}

impl EarlySecret {
    /// From the PSK of a ticket or an external one; from zeros where `psk` is `None`.
    pub fn new(hash: Hash, psk: Option<&[u8]>) -> Result<Self, Error> {
        let zeros = [0; 48];
        let secret = extract(hash, &[], psk.unwrap_or(&zeros[..hash.output_len()]))?;
        Ok(Self { hash, secret })
    }

    /// The binder over `transcript`, the hash of the ClientHello up to its binders (RFC 9846 §4.3.11.2). `label` tells a
    /// ticket from an external PSK.
    pub fn binder(&self, label: BinderLabel, transcript: &[u8]) -> Result<hmac::Tag, Error> {
        let empty = digest::digest(self.hash.digest(), &[]);
        let binder_key = derive(self.hash, &self.secret, label.as_bytes(), empty.as_ref())?;
        finished(self.hash, &binder_key, transcript)
    }

    /// `client_early_traffic_secret` over the ClientHello.
    pub fn client_early_traffic(&self, transcript: &[u8]) -> Result<TrafficSecret, Error> {
        TrafficSecret::derive(self.hash, &self.secret, b"c e traffic", transcript)
    }

    /// The next stage; `shared` is zeros under psk_ke.
    pub fn handshake(self, shared: Option<&[u8]>) -> Result<HandshakeSecret, Error> {
        let zeros = [0; 48];
        let secret = advance(self.hash, &self.secret, shared.unwrap_or(&zeros[..self.hash.output_len()]))?;
        Ok(HandshakeSecret { hash: self.hash, secret })
    }
}

/// Where a PSK comes from, as its binder says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinderLabel {
    /// From a NewSessionTicket.
    Resumption,
    /// Established outside TLS.
    External,
}

impl BinderLabel {
    fn as_bytes(self) -> &'static [u8] {
        match self {
            Self::Resumption => b"res binder",
            Self::External => b"ext binder",
        }
    }
}

/// The second stage: keyed with the (EC)DHE secret.
pub struct HandshakeSecret {
    hash: Hash,
    secret: Secret,
}

impl HandshakeSecret {
    /// `client_handshake_traffic_secret` over ClientHello…ServerHello.
    pub fn client_traffic(&self, transcript: &[u8]) -> Result<TrafficSecret, Error> {
        TrafficSecret::derive(self.hash, &self.secret, b"c hs traffic", transcript)
    }

    /// `server_handshake_traffic_secret` over ClientHello…ServerHello.
    pub fn server_traffic(&self, transcript: &[u8]) -> Result<TrafficSecret, Error> {
        TrafficSecret::derive(self.hash, &self.secret, b"s hs traffic", transcript)
    }

    /// The last stage.
    pub fn master(self) -> Result<MasterSecret, Error> {
        let zeros = [0; 48];
        let secret = advance(self.hash, &self.secret, &zeros[..self.hash.output_len()])?;
        Ok(MasterSecret { hash: self.hash, secret })
    }
}

/// The last stage: application traffic and resumption.
pub struct MasterSecret {
    hash: Hash,
    secret: Secret,
}

impl MasterSecret {
    /// `client_application_traffic_secret_0` over ClientHello…server Finished.
    pub fn client_traffic(&self, transcript: &[u8]) -> Result<TrafficSecret, Error> {
        TrafficSecret::derive(self.hash, &self.secret, b"c ap traffic", transcript)
    }

    /// `server_application_traffic_secret_0` over ClientHello…server Finished.
    pub fn server_traffic(&self, transcript: &[u8]) -> Result<TrafficSecret, Error> {
        TrafficSecret::derive(self.hash, &self.secret, b"s ap traffic", transcript)
    }

    /// `exporter_master_secret` over ClientHello…server Finished.
    pub fn exporter(&self, transcript: &[u8]) -> Result<Secret, Error> {
        derive(self.hash, &self.secret, b"exp master", transcript)
    }

    /// `resumption_master_secret` over ClientHello…client Finished.
    pub fn resumption(self, transcript: &[u8]) -> Result<ResumptionSecret, Error> {
        let secret = derive(self.hash, &self.secret, b"res master", transcript)?;
        Ok(ResumptionSecret { hash: self.hash, secret })
    }
}

/// What tickets' PSKs are made from.
pub struct ResumptionSecret {
    hash: Hash,
    secret: Secret,
}

impl ResumptionSecret {
    /// The PSK of the ticket with this nonce (RFC 9846 §4.7.1).
    pub fn psk(&self, nonce: &[u8]) -> Result<Secret, Error> {
        derive(self.hash, &self.secret, b"resumption", nonce)
    }
}

/// A traffic secret: one direction of one epoch.
#[derive(Clone)]
pub struct TrafficSecret {
    hash: Hash,
    secret: Secret,
}

impl TrafficSecret {
    fn derive(hash: Hash, from: &Secret, label: &[u8], transcript: &[u8]) -> Result<Self, Error> {
        Ok(Self { hash, secret: derive(hash, from, label, transcript)? })
    }

    /// The record key, `length` bytes long.
    pub fn key(&self, length: usize) -> Result<Secret, Error> {
        expand_label(self.hash, &self.secret, b"key", &[], length)
    }

    /// The record IV.
    pub fn iv(&self) -> Result<[u8; 12], Error> {
        let mut iv = [0; 12];
        iv.copy_from_slice(expand_label(self.hash, &self.secret, b"iv", &[], 12)?.as_ref());
        Ok(iv)
    }

    /// The verify_data of this side's Finished over `transcript` (RFC 9846 §4.5.3).
    pub fn finished(&self, transcript: &[u8]) -> Result<hmac::Tag, Error> {
        finished(self.hash, &self.secret, transcript)
    }

    /// The secret after a KeyUpdate (RFC 9846 §7.2).
    pub fn next(&self) -> Result<Self, Error> {
        let secret = expand_label(self.hash, &self.secret, b"traffic upd", &[], self.hash.output_len())?;
        Ok(Self { hash: self.hash, secret })
    }

    /// The secret itself, for a key log.
    pub fn as_bytes(&self) -> &[u8] {
        self.secret.as_ref()
    }
}

/// HKDF-Extract(salt, HKDF-Expand-Label(secret, "derived", Hash(""), Hash.length)).
fn advance(hash: Hash, secret: &Secret, input: &[u8]) -> Result<Secret, Error> {
    let empty = digest::digest(hash.digest(), &[]);
    let salt = derive(hash, secret, b"derived", empty.as_ref())?;
    extract(hash, salt.as_ref(), input)
}

/// HKDF-Extract is one HMAC (RFC 5869 §2.2): the library's own type would hide the output that the next stage needs.
fn extract(hash: Hash, salt: &[u8], input: &[u8]) -> Result<Secret, Error> {
    let tag = hmac::sign(&hmac::Key::new(hash.hmac(), salt), input);
    Secret::new(tag.as_ref()).ok_or(Error::Crypto("HKDF-Extract"))
}

/// Derive-Secret (RFC 9846 §7.1); `context` is the transcript's hash.
fn derive(hash: Hash, secret: &Secret, label: &[u8], context: &[u8]) -> Result<Secret, Error> {
    expand_label(hash, secret, label, context, hash.output_len())
}

/// HKDF-Expand-Label (RFC 9846 §7.1).
///
/// ```text
/// uint16 length | opaque label<7..255> = "tls13 " + Label | opaque context<0..255>
/// ```
fn expand_label(hash: Hash, secret: &Secret, label: &[u8], context: &[u8], length: usize) -> Result<Secret, Error> {
    const FAILED: Error = Error::Crypto("HKDF-Expand-Label");
    const PREFIX: &[u8] = b"tls13 ";
    let length_bytes = u16::try_from(length).map_err(|_| FAILED)?.to_be_bytes();
    let label_len = [u8::try_from(PREFIX.len() + label.len()).map_err(|_| FAILED)?];
    let context_len = [u8::try_from(context.len()).map_err(|_| FAILED)?];
    let info = [&length_bytes, &label_len[..], PREFIX, label, &context_len, context];

    let mut output = Secret::zeroed(length).ok_or(FAILED)?;
    hkdf::Prk::new_less_safe(hash.hkdf(), secret.as_ref())
        .expand(&info, OutputLength(length))
        .and_then(|okm| okm.fill(output.as_mut()))
        .map_err(|_| FAILED)?;
    Ok(output)
}

fn finished(hash: Hash, base: &Secret, transcript: &[u8]) -> Result<hmac::Tag, Error> {
    let key = expand_label(hash, base, b"finished", &[], hash.output_len())?;
    Ok(hmac::sign(&hmac::Key::new(hash.hmac(), key.as_ref()), transcript))
}

/// How the library wants to be told a length.
struct OutputLength(usize);

impl hkdf::KeyType for OutputLength {
    fn len(&self) -> usize {
        self.0
    }
}

#[cfg(test)]
mod rfc8448;
