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
pub struct EarlySecret(Expander);

impl EarlySecret {
    /// From the PSK of a ticket or an external one; from zeros where `psk` is `None`.
    pub fn new(hash: Hash, psk: Option<&[u8]>) -> Result<Self, Error> {
        let zeros = [0; 48];
        Ok(Self(Expander::extract(hash, &[], psk.unwrap_or(&zeros[..hash.output_len()]))))
    }

    /// The binder over `transcript`, the hash of the ClientHello up to its binders (RFC 9846 §4.3.11.2). `label` tells a
    /// ticket from an external PSK.
    pub fn binder(&self, label: BinderLabel, transcript: &[u8]) -> Result<hmac::Tag, Error> {
        let empty = digest::digest(self.0.hash.digest(), &[]);
        let binder_key = self.0.derive(label.as_bytes(), empty.as_ref())?;
        Expander::new(self.0.hash, &binder_key).finished(transcript)
    }

    /// `client_early_traffic_secret` over the ClientHello.
    pub fn client_early_traffic(&self, transcript: &[u8]) -> Result<TrafficSecret, Error> {
        self.0.traffic(b"c e traffic", transcript)
    }

    /// The next stage; `shared` is zeros under psk_ke.
    pub fn handshake(self, shared: Option<&[u8]>) -> Result<HandshakeSecret, Error> {
        let zeros = [0; 48];
        self.0.advance(shared.unwrap_or(&zeros[..self.0.hash.output_len()])).map(HandshakeSecret)
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
pub struct HandshakeSecret(Expander);

impl HandshakeSecret {
    /// `client_handshake_traffic_secret` over ClientHello…ServerHello.
    pub fn client_traffic(&self, transcript: &[u8]) -> Result<TrafficSecret, Error> {
        self.0.traffic(b"c hs traffic", transcript)
    }

    /// `server_handshake_traffic_secret` over ClientHello…ServerHello.
    pub fn server_traffic(&self, transcript: &[u8]) -> Result<TrafficSecret, Error> {
        self.0.traffic(b"s hs traffic", transcript)
    }

    /// The last stage.
    pub fn master(self) -> Result<MasterSecret, Error> {
        let zeros = [0; 48];
        self.0.advance(&zeros[..self.0.hash.output_len()]).map(MasterSecret)
    }
}

/// The last stage: application traffic and resumption.
pub struct MasterSecret(Expander);

impl MasterSecret {
    /// `client_application_traffic_secret_0` over ClientHello…server Finished.
    pub fn client_traffic(&self, transcript: &[u8]) -> Result<TrafficSecret, Error> {
        self.0.traffic(b"c ap traffic", transcript)
    }

    /// `server_application_traffic_secret_0` over ClientHello…server Finished.
    pub fn server_traffic(&self, transcript: &[u8]) -> Result<TrafficSecret, Error> {
        self.0.traffic(b"s ap traffic", transcript)
    }

    /// `exporter_master_secret` over ClientHello…server Finished.
    pub fn exporter(&self, transcript: &[u8]) -> Result<Secret, Error> {
        self.0.derive(b"exp master", transcript)
    }

    /// `resumption_master_secret` over ClientHello…client Finished.
    pub fn resumption(self, transcript: &[u8]) -> Result<ResumptionSecret, Error> {
        let secret = self.0.derive(b"res master", transcript)?;
        Ok(ResumptionSecret { hash: self.0.hash, secret })
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
        Expander::new(self.hash, &self.secret).derive(b"resumption", nonce)
    }
}

/// A traffic secret: one direction of one epoch.
#[derive(Clone)]
pub struct TrafficSecret {
    hash: Hash,
    secret: Secret,
}

impl TrafficSecret {
    /// The record key, `key_len` bytes long, and the record IV.
    pub fn key_and_iv(&self, key_len: usize) -> Result<(Secret, [u8; 12]), Error> {
        let expander = Expander::new(self.hash, &self.secret);
        let mut iv = [0; 12];
        iv.copy_from_slice(expander.expand_label(b"iv", &[], 12)?.as_ref());
        Ok((expander.expand_label(b"key", &[], key_len)?, iv))
    }

    /// The verify_data of this side's Finished over `transcript` (RFC 9846 §4.5.3).
    pub fn finished(&self, transcript: &[u8]) -> Result<hmac::Tag, Error> {
        Expander::new(self.hash, &self.secret).finished(transcript)
    }

    /// The secret after a KeyUpdate (RFC 9846 §7.2).
    pub fn next(&self) -> Result<Self, Error> {
        Expander::new(self.hash, &self.secret).traffic(b"traffic upd", &[])
    }

    /// The secret itself, for a key log.
    pub fn as_bytes(&self) -> &[u8] {
        self.secret.as_ref()
    }
}

/// The longest input of an expansion: a label of at most 12 bytes after its prefix, and a ticket's nonce.
const MAX_INFO: usize = 2 + 1 + 6 + 12 + 1 + 255 + 1;

/// A secret as the key of an HMAC, so that expanding it once more costs no setting up of that key.
struct Expander {
    hash: Hash,
    key: hmac::Key,
}

impl Expander {
    fn new(hash: Hash, secret: &Secret) -> Self {
        Self { hash, key: hmac::Key::new(hash.hmac(), secret.as_ref()) }
    }

    /// HKDF-Extract is one HMAC (RFC 5869 §2.2).
    fn extract(hash: Hash, salt: &[u8], input: &[u8]) -> Self {
        let secret = hmac::sign(&hmac::Key::new(hash.hmac(), salt), input);
        Self { hash, key: hmac::Key::new(hash.hmac(), secret.as_ref()) }
    }

    /// HKDF-Extract(Derive-Secret(secret, "derived", ""), input).
    fn advance(&self, input: &[u8]) -> Result<Self, Error> {
        let empty = digest::digest(self.hash.digest(), &[]);
        let salt = self.derive(b"derived", empty.as_ref())?;
        Ok(Self::extract(self.hash, salt.as_ref(), input))
    }

    /// Derive-Secret (RFC 9846 §7.1); `context` is the transcript's hash.
    fn derive(&self, label: &[u8], context: &[u8]) -> Result<Secret, Error> {
        self.expand_label(label, context, self.hash.output_len())
    }

    /// One direction of one epoch.
    fn traffic(&self, label: &[u8], transcript: &[u8]) -> Result<TrafficSecret, Error> {
        Ok(TrafficSecret { hash: self.hash, secret: self.derive(label, transcript)? })
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
        let block = hmac::sign(&self.key, info.get(..end).ok_or(FAILED)?);
        Secret::new(block.as_ref().get(..length).ok_or(FAILED)?).ok_or(FAILED)
    }

    /// The verify_data of a Finished, and a binder (RFC 9846 §4.5.3).
    fn finished(&self, transcript: &[u8]) -> Result<hmac::Tag, Error> {
        let key = self.derive(b"finished", &[])?;
        Ok(hmac::sign(&hmac::Key::new(self.hash.hmac(), key.as_ref()), transcript))
    }
}
