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

use aws_lc_rs::{digest, hmac};

use crate::error::Error;
use crate::secret::Secret;
use crate::suite::Hash;

/// The first stage: a PSK, or zeros where there is none.
pub struct EarlySecret {
    hash: Hash,
    secret: Expander,
}

impl EarlySecret {
    /// From the PSK of a ticket or an external one; from zeros where `psk` is `None`.
    pub fn new(hash: Hash, psk: Option<&[u8]>) -> Result<Self, Error> {
        let zeros = [0; 48];
        let secret = Expander::extract(hash, &[], psk.unwrap_or(&zeros[..hash.output_len()]));
        Ok(Self { hash, secret })
    }

    /// The binder over `transcript`, the hash of the ClientHello up to its binders (RFC 9846 §4.3.11.2). `label` tells a
    /// ticket from an external PSK.
    pub fn binder(&self, label: BinderLabel, transcript: &[u8]) -> Result<hmac::Tag, Error> {
        let empty = digest::digest(self.hash.digest(), &[]);
        let binder_key = self.secret.derive(self.hash, label.as_bytes(), empty.as_ref())?;
        Expander::new(self.hash, &binder_key).finished(self.hash, transcript)
    }

    /// `client_early_traffic_secret` over the ClientHello.
    pub fn client_early_traffic(&self, transcript: &[u8]) -> Result<TrafficSecret, Error> {
        TrafficSecret::derive(self.hash, &self.secret, b"c e traffic", transcript)
    }

    /// The next stage; `shared` is zeros under psk_ke.
    pub fn handshake(self, shared: Option<&[u8]>) -> Result<HandshakeSecret, Error> {
        let zeros = [0; 48];
        let secret = self.secret.advance(self.hash, shared.unwrap_or(&zeros[..self.hash.output_len()]))?;
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
    secret: Expander,
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
        let secret = self.secret.advance(self.hash, &zeros[..self.hash.output_len()])?;
        Ok(MasterSecret { hash: self.hash, secret })
    }
}

/// The last stage: application traffic and resumption.
pub struct MasterSecret {
    hash: Hash,
    secret: Expander,
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
        self.secret.derive(self.hash, b"exp master", transcript)
    }

    /// `resumption_master_secret` over ClientHello…client Finished.
    pub fn resumption(self, transcript: &[u8]) -> Result<ResumptionSecret, Error> {
        let secret = self.secret.derive(self.hash, b"res master", transcript)?;
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
        Expander::new(self.hash, &self.secret).derive(self.hash, b"resumption", nonce)
    }
}

/// A traffic secret: one direction of one epoch.
#[derive(Clone)]
pub struct TrafficSecret {
    hash: Hash,
    secret: Secret,
}

impl TrafficSecret {
    fn derive(hash: Hash, from: &Expander, label: &[u8], transcript: &[u8]) -> Result<Self, Error> {
        Ok(Self { hash, secret: from.derive(hash, label, transcript)? })
    }

    /// The record key, `key_len` bytes long, and the record IV.
    pub fn key_and_iv(&self, key_len: usize) -> Result<(Secret, [u8; 12]), Error> {
        let expander = Expander::new(self.hash, &self.secret);
        let mut iv = [0; 12];
        iv.copy_from_slice(expander.expand_label(b"iv", &[], 12)?.as_ref());
        Ok((expander.expand_label(b"key", &[], key_len)?, iv))
    }

    /// The verify_data of this side's Finished over `transcript` (RFC 9846 §4.5.3).
    pub fn finished(&self, transcript: &[u8]) -> Result<hmac::Tag, Error> {
        Expander::new(self.hash, &self.secret).finished(self.hash, transcript)
    }

    /// The secret after a KeyUpdate (RFC 9846 §7.2).
    pub fn next(&self) -> Result<Self, Error> {
        let secret = Expander::new(self.hash, &self.secret).expand_label(b"traffic upd", &[], self.hash.output_len())?;
        Ok(Self { hash: self.hash, secret })
    }

    /// The secret itself, for a key log.
    pub fn as_bytes(&self) -> &[u8] {
        self.secret.as_ref()
    }
}

/// The longest input of an expansion: a label of at most 12 bytes after its prefix, and a ticket's nonce.
const MAX_INFO: usize = 2 + 1 + 6 + 12 + 1 + 255 + 1;

/// A secret as the key of an HMAC, so that expanding it once more costs no setting up of that key.
struct Expander(hmac::Key);

impl Expander {
    fn new(hash: Hash, secret: &Secret) -> Self {
        Self(hmac::Key::new(hash.hmac(), secret.as_ref()))
    }

    /// HKDF-Extract is one HMAC (RFC 5869 §2.2).
    fn extract(hash: Hash, salt: &[u8], input: &[u8]) -> Self {
        let secret = hmac::sign(&hmac::Key::new(hash.hmac(), salt), input);
        Self(hmac::Key::new(hash.hmac(), secret.as_ref()))
    }

    /// HKDF-Extract(Derive-Secret(secret, "derived", ""), input).
    fn advance(&self, hash: Hash, input: &[u8]) -> Result<Self, Error> {
        let empty = digest::digest(hash.digest(), &[]);
        let salt = self.derive(hash, b"derived", empty.as_ref())?;
        Ok(Self::extract(hash, salt.as_ref(), input))
    }

    /// Derive-Secret (RFC 9846 §7.1); `context` is the transcript's hash.
    fn derive(&self, hash: Hash, label: &[u8], context: &[u8]) -> Result<Secret, Error> {
        self.expand_label(label, context, hash.output_len())
    }

    /// HKDF-Expand-Label (RFC 9846 §7.1). No secret is longer than the hash, so one block of HKDF's output holds it, whose
    /// number is 1 (RFC 5869 §2.3).
    ///
    /// ```text
    /// uint16 length | opaque label<7..255> = "tls13 " + Label | opaque context<0..255> | 1
    /// ```
    fn expand_label(&self, label: &[u8], context: &[u8], length: usize) -> Result<Secret, Error> {
        const FAILED: Error = Error::Crypto("HKDF-Expand-Label");
        const PREFIX: &[u8] = b"tls13 ";
        let length_bytes = u16::try_from(length).map_err(|_| FAILED)?.to_be_bytes();
        let label_len = [u8::try_from(PREFIX.len() + label.len()).map_err(|_| FAILED)?];
        let context_len = [u8::try_from(context.len()).map_err(|_| FAILED)?];

        let mut info = [0; MAX_INFO];
        let mut end = 0;
        for part in [&length_bytes, &label_len[..], PREFIX, label, &context_len, context, &[1]] {
            info.get_mut(end..end + part.len()).ok_or(FAILED)?.copy_from_slice(part);
            end += part.len();
        }
        let block = hmac::sign(&self.0, info.get(..end).ok_or(FAILED)?);
        Secret::new(block.as_ref().get(..length).ok_or(FAILED)?).ok_or(FAILED)
    }

    /// The verify_data of a Finished, and a binder (RFC 9846 §4.5.3).
    fn finished(&self, hash: Hash, transcript: &[u8]) -> Result<hmac::Tag, Error> {
        let key = self.expand_label(b"finished", &[], hash.output_len())?;
        Ok(hmac::sign(&hmac::Key::new(hash.hmac(), key.as_ref()), transcript))
    }
}
