//! Keying material for the application (RFC 9846 §7.5, RFC 5705), computed from what the engine's key log gives. That the
//! runner finds the same says that the log is right, full and resumed.

use std::sync::Mutex;

use aws_lc_rs::{digest, hkdf, tls_prf};
use reprise_engine::KeyLog;
use reprise_engine::suite::{self, Hash};
use reprise_model::{Outcome, Version};
use reprise_wire::CipherSuite;

use crate::failure::Failure;
use crate::settings::Settings;

/// Keeps the secrets of one connection.
#[derive(Default)]
pub(crate) struct Exporter(Mutex<Vec<Logged>>);

struct Logged {
    label: String,
    client_random: [u8; 32],
    secret: Vec<u8>,
}

impl KeyLog for Exporter {
    fn log(&self, label: &str, client_random: &[u8; 32], secret: &[u8]) {
        if let Ok(mut logged) = self.0.lock() {
            logged.push(Logged { label: label.to_owned(), client_random: *client_random, secret: secret.to_vec() });
        }
    }
}

impl Exporter {
    /// What the flags ask for. `server_random` is that of the ServerHello.
    pub(crate) fn export(&self, settings: &Settings, outcome: &Outcome, server_random: &[u8]) -> Result<Vec<u8>, Failure> {
        let missing = || Failure::Expectation("a secret in the key log".to_owned());
        let suite = CipherSuite::from_name(&outcome.cipher).and_then(suite::find).ok_or_else(missing)?;
        let wanted = match outcome.version {
            Version::Tls12 => "CLIENT_RANDOM",
            Version::Tls13 => "EXPORTER_SECRET",
        };
        let logged = self.0.lock().map_err(|_| missing())?;
        let logged = logged.iter().find(|logged| logged.label == wanted).ok_or_else(missing)?;
        let (label, context) = (settings.export_label.as_bytes(), settings.export_context.as_bytes());
        let length = settings.export_keying_material;
        let material = match outcome.version {
            Version::Tls13 => tls13(suite.hash, &logged.secret, label, context, length),
            Version::Tls12 => {
                let mut seed = [&logged.client_random, server_random].concat();
                if settings.use_export_context {
                    seed.extend_from_slice(&(context.len() as u16).to_be_bytes());
                    seed.extend_from_slice(context);
                }
                tls12(suite.hash, &logged.secret, label, &seed, length)
            }
        };
        material.ok_or_else(|| Failure::Expectation("keying material".to_owned()))
    }
}

fn tls13(hash: Hash, secret: &[u8], label: &[u8], context: &[u8], length: usize) -> Option<Vec<u8>> {
    let (hkdf, digest_of) = match hash {
        Hash::Sha256 => (hkdf::HKDF_SHA256, &digest::SHA256),
        Hash::Sha384 => (hkdf::HKDF_SHA384, &digest::SHA384),
    };
    let empty = digest::digest(digest_of, &[]);
    let derived = expand_label(hkdf, secret, label, empty.as_ref(), hash.output_len())?;
    expand_label(hkdf, &derived, b"exporter", digest::digest(digest_of, context).as_ref(), length)
}

/// HKDF-Expand-Label (RFC 9846 §7.1).
fn expand_label(hkdf: hkdf::Algorithm, secret: &[u8], label: &[u8], context: &[u8], length: usize) -> Option<Vec<u8>> {
    const PREFIX: &[u8] = b"tls13 ";
    let length_bytes = u16::try_from(length).ok()?.to_be_bytes();
    let label_len = [u8::try_from(PREFIX.len() + label.len()).ok()?];
    let context_len = [u8::try_from(context.len()).ok()?];
    let info = [&length_bytes, &label_len[..], PREFIX, label, &context_len, context];
    let mut output = vec![0; length];
    let secret = hkdf::Prk::new_less_safe(hkdf, secret);
    secret.expand(&info, Length(length)).and_then(|material| material.fill(&mut output)).ok()?;
    Some(output)
}

fn tls12(hash: Hash, secret: &[u8], label: &[u8], seed: &[u8], length: usize) -> Option<Vec<u8>> {
    let prf = match hash {
        Hash::Sha256 => &tls_prf::P_SHA256,
        Hash::Sha384 => &tls_prf::P_SHA384,
    };
    let material = tls_prf::Secret::new(prf, secret).and_then(|secret| secret.derive(label, seed, length)).ok()?;
    Some(material.as_ref().to_vec())
}

struct Length(usize);

impl hkdf::KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}
