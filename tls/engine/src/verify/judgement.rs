//! What the policy makes of the server's certificate and signature.

use reprise_model::{CertificateChain, Verification, Version};
use reprise_wire::SignatureScheme;
use rustls_pki_types::CertificateDer;

use super::leaf_key::is_self_issued;
use super::{CertificateError, CertificatePolicy, LeafKey, verify_signature};
use crate::core::Core;
use crate::error::{Error, Misbehaviour};

impl Core {
    /// Judges the chain by the policy, and notes its key. `None` is a key that cannot be read, under the policy to
    /// accept any chain.
    pub(crate) fn judge_chain(&mut self, chain: &[CertificateDer<'_>]) -> Result<Option<LeafKey>, Error> {
        let leaf = chain.first().ok_or(CertificateError::Empty)?;
        if matches!(self.config.certificates, CertificatePolicy::Unchecked) {
            return Ok(None);
        }
        let key = LeafKey::of(leaf);
        let left = key.as_ref().and_then(|key| Some(key.not_after?.saturating_sub(self.date.as_secs())));
        let sent = chain_facts(chain);
        self.note(|facts| {
            (facts.peer_key, facts.leaf_left_s) = (key.as_ref().map(|key| key.kind), left);
            (facts.chain, facts.certificate_bytes) = (Some(sent), Some(sent.bytes));
        });
        self.leaf = Some(leaf.clone().into_owned());
        let verification = match &self.config.certificates {
            CertificatePolicy::Verify(verifier) => {
                verifier.verify(chain, &self.config.server_name, self.date)?;
                Verification::Verified
            }
            CertificatePolicy::AcceptAnyChain | CertificatePolicy::Unchecked => Verification::ChainSkipped,
        };
        self.note(|facts| facts.verification = verification);
        Ok(key)
    }

    /// Judges the server's signature over the handshake.
    pub(crate) fn judge_signature(
        &mut self,
        version: Version,
        key: Option<&LeafKey>,
        scheme: SignatureScheme,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), Error> {
        self.note(|facts| facts.signature = Some(scheme.0));
        if !self.offered.has_signature_scheme(scheme) {
            return Err(Misbehaviour::UnofferedScheme(scheme).into());
        }
        if matches!(self.config.certificates, CertificatePolicy::Unchecked) {
            return Ok(());
        }
        if key.is_some_and(|key| !key.may_sign) {
            // RFC 9846 §4.5.1.2; for TLS 1.2 RFC 5246 §7.4.2.
            self.complain(Misbehaviour::KeyUsage("sign"))?;
        }
        let verdict = match key {
            Some(key) => verify_signature(version, key, scheme, message, signature),
            None => Err(CertificateError::Unreadable.into()),
        };
        match (verdict, &self.config.certificates) {
            (
                Err(Error::Certificate(CertificateError::UnsupportedKey(_) | CertificateError::Unreadable)),
                CertificatePolicy::AcceptAnyChain,
            ) => {
                self.note(|facts| facts.verification = Verification::SignatureUnverified);
                Ok(())
            }
            (verdict, _) => verdict,
        }
    }
}

fn chain_facts(chain: &[CertificateDer<'_>]) -> CertificateChain {
    let bytes = chain.iter().map(|certificate| certificate.len()).sum::<usize>();
    CertificateChain {
        certificates: u8::try_from(chain.len()).unwrap_or(u8::MAX),
        bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
        has_root: chain.len() > 1 && chain.last().is_some_and(|last| is_self_issued(last)),
    }
}
