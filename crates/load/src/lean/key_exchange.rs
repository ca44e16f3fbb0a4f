//! Where key shares come from: unit, reused or fresh.

use aws_lc_rs::agreement::{self, ECDH_P256, ECDH_P384, PrivateKey, UnparsedPublicKey, agree};
use aws_lc_rs::kem::{Ciphertext, DecapsulationKey, ML_KEM_768};
use reprise_wire::NamedGroup;
use zeroize::Zeroizing;

use crate::mlkem_unit::{self, CIPHERTEXT_LEN};
use crate::options::KeyShareMode;
use crate::unit_share;
use reprise_model::FaultName;

/// The key shares of one thread.
pub(crate) struct KeyExchanges {
    mode: KeyShareMode,
    mlkem: mlkem_unit::Reader,
    /// For `reused`: one pair for each group.
    kept: Vec<KeyPair>,
}

/// A key pair that is a real one.
pub(crate) struct KeyPair {
    group: NamedGroup,
    curve: PrivateKey,
    decapsulation: Option<DecapsulationKey>,
    public: Vec<u8>,
}

/// The result of a key exchange; the hybrid's is the longest.
pub(crate) struct SharedSecret {
    bytes: Zeroizing<[u8; 64]>,
    length: usize,
}

impl KeyExchanges {
    pub(crate) fn new(mode: KeyShareMode, groups: &[NamedGroup]) -> Result<Self, FaultName> {
        let kept = match mode {
            KeyShareMode::Reused => groups.iter().map(|&group| KeyPair::generate(group)).collect::<Result<_, _>>()?,
            _ => Vec::new(),
        };
        Ok(Self { mode, mlkem: mlkem_unit::Reader::new(), kept })
    }

    pub(crate) fn is_fresh(&self) -> bool {
        self.mode == KeyShareMode::Fresh
    }

    /// The public value that stands in every prepared hello; under `fresh`, one of the right length to be overwritten.
    pub(crate) fn public(&self, group: NamedGroup) -> Result<Vec<u8>, FaultName> {
        if let Some(pair) = self.kept(group) {
            return Ok(pair.public.clone());
        }
        match (group, unit_share::public(group)) {
            (_, Some(public)) => Ok(public.to_vec()),
            (NamedGroup::X25519MLKEM768, None) => Ok(unit_share::hybrid_public()),
            _ => Err(FaultName::Unspoken),
        }
    }

    /// Puts this thread's public value for `group` behind `out`, for a TLS 1.2 ClientKeyExchange.
    pub(crate) fn append_public(
        &self,
        group: NamedGroup,
        own: Option<&KeyPair>,
        out: &mut Vec<u8>,
    ) -> Result<(), FaultName> {
        let public = match own.filter(|own| own.group == group).or_else(|| self.kept(group)) {
            Some(pair) => pair.public.as_slice(),
            None => unit_share::public(group).ok_or(FaultName::Unspoken)?,
        };
        out.extend_from_slice(public);
        Ok(())
    }

    /// The shared secret with the server's share. `own` is the connection's own pair under `fresh`.
    pub(crate) fn agree(&self, group: NamedGroup, own: Option<&KeyPair>, peer: &[u8]) -> Result<SharedSecret, FaultName> {
        if let Some(pair) = own.filter(|own| own.group == group).or_else(|| self.kept(group)) {
            return pair.agree(peer);
        }
        if group == NamedGroup::X25519MLKEM768 {
            let (ciphertext, point) = split_hybrid(peer)?;
            let secret = self.mlkem.shared_secret(ciphertext).ok_or(FaultName::PeerMisbehaved)?;
            return SharedSecret::of(
                &secret,
                unit_share::shared(NamedGroup::X25519, point).ok_or(FaultName::PeerMisbehaved)?,
            );
        }
        SharedSecret::of(unit_share::shared(group, peer).ok_or(FaultName::PeerMisbehaved)?, &[])
    }

    fn kept(&self, group: NamedGroup) -> Option<&KeyPair> {
        self.kept.iter().find(|pair| pair.group == group)
    }
}

impl KeyPair {
    pub(crate) fn generate(group: NamedGroup) -> Result<Self, FaultName> {
        let curve = PrivateKey::generate(algorithm(group)?).map_err(|_| FaultName::Crypto)?;
        let point = curve.compute_public_key().map_err(|_| FaultName::Crypto)?;
        let (decapsulation, public) = if group == NamedGroup::X25519MLKEM768 {
            let key = DecapsulationKey::generate(&ML_KEM_768).map_err(|_| FaultName::Crypto)?;
            let public = key.encapsulation_key().and_then(|key| Ok(key.key_bytes()?.as_ref().to_vec()));
            (Some(key), [&public.map_err(|_| FaultName::Crypto)?, point.as_ref()].concat())
        } else {
            (None, point.as_ref().to_vec())
        };
        Ok(Self { group, curve, decapsulation, public })
    }

    pub(crate) fn public(&self) -> &[u8] {
        &self.public
    }

    fn agree(&self, peer: &[u8]) -> Result<SharedSecret, FaultName> {
        let (before, point) = match &self.decapsulation {
            None => (Zeroizing::new([0; 32]), peer),
            Some(key) => {
                let (ciphertext, point) = split_hybrid(peer)?;
                let secret = key.decapsulate(Ciphertext::from(ciphertext)).map_err(|_| FaultName::PeerMisbehaved)?;
                (Zeroizing::new(*secret.as_ref().first_chunk::<32>().ok_or(FaultName::Crypto)?), point)
            }
        };
        let before: &[u8] = if self.decapsulation.is_some() { &*before } else { &[] };
        // RFC 8446 §4.2.8.2: the uncompressed form alone.
        let is_curve = matches!(self.group, NamedGroup::SECP256R1 | NamedGroup::SECP384R1);
        if is_curve && point.first() != Some(&4) {
            return Err(FaultName::PeerMisbehaved);
        }
        let peer = UnparsedPublicKey::new(algorithm(self.group)?, point);
        agree(&self.curve, peer, FaultName::PeerMisbehaved, |secret| SharedSecret::of(before, secret))
    }
}

impl SharedSecret {
    fn of(first: &[u8], second: &[u8]) -> Result<Self, FaultName> {
        let mut bytes = Zeroizing::new([0; 64]);
        let length = first.len() + second.len();
        for (to, from) in bytes.get_mut(..length).ok_or(FaultName::Crypto)?.iter_mut().zip(first.iter().chain(second)) {
            *to = *from;
        }
        Ok(Self { bytes, length })
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// The server's hybrid share: ciphertext, then point.
fn split_hybrid(peer: &[u8]) -> Result<(&[u8], &[u8]), FaultName> {
    peer.split_at_checked(CIPHERTEXT_LEN).ok_or(FaultName::PeerMisbehaved)
}

fn algorithm(group: NamedGroup) -> Result<&'static agreement::Algorithm, FaultName> {
    match group {
        NamedGroup::X25519 | NamedGroup::X25519MLKEM768 => Ok(&agreement::X25519),
        NamedGroup::SECP256R1 => Ok(&ECDH_P256),
        NamedGroup::SECP384R1 => Ok(&ECDH_P384),
        _ => Err(FaultName::Unspoken),
    }
}
